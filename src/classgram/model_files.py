"""Models from disk: a folder of any form of model, or an ARPA file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from classgram.class_lm import ClassModel
from classgram.class_ngram_lm import ClassNgramModel
from classgram.errors import InputError
from classgram.folders import Folder, read_folder
from classgram.language_model import LanguageModel
from classgram.ngram_lm import NgramModel
from classgram.vocabulary import Vocabulary

FORMS: dict[str, type[LanguageModel]] = {
    model.form: model for model in (NgramModel, ClassModel, ClassNgramModel)
}


def load_model(path: str | Path) -> LanguageModel:
    """Load a model that ``save`` wrote, memory-mapped, or any ARPA file (.arpa, .arpa.gz)."""
    path = Path(path)
    if path.name.endswith((".arpa", ".arpa.gz", ".lm", ".lm.gz")):
        from classgram.arpa_reading import read_arpa

        return read_arpa(path)
    folder = read_folder(path, "model")
    return component(folder, folder.config, Vocabulary.from_folder(folder))


def component(
    folder: Folder, config: Mapping[str, Any], vocabulary: Vocabulary, prefix: str = ""
) -> LanguageModel:
    """The model that a folder, or a part of it under a prefix, holds."""
    form = config.get("form")
    if form not in FORMS:
        raise InputError(f"{folder.path}: unknown form of model {form!r}; install a newer classgram")
    return FORMS[form].from_files(folder, config, vocabulary, prefix)
