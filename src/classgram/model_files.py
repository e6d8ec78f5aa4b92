"""Models from disk: a folder of any form of model, or an ARPA file."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from classgram.class_lm import ClassModel
from classgram.class_ngram_lm import ClassNgramModel
from classgram.errors import InputError
from classgram.folders import Folder, read_folder
from classgram.language_model import LanguageModel
from classgram.ngram_lm import NgramModel
from classgram.options import TextOptions
from classgram.vocabulary import Vocabulary

FORMS: dict[str, type[LanguageModel]] = {
    model.form: model for model in (NgramModel, ClassModel, ClassNgramModel)
}


def load(path: str | Path, text: TextOptions | None = None) -> LanguageModel:
    """Load a model that ``save`` wrote, memory-mapped, or any ARPA file (.arpa, .arpa.gz).

    ``text`` tells how text is made into words for an ARPA file, which does not say so itself.
    """
    path = Path(path)
    if path.name.endswith((".arpa", ".arpa.gz", ".lm", ".lm.gz")):
        from classgram.arpa_reading import read_arpa

        return read_arpa(path, text)
    folder = read_folder(path, "model")
    vocabulary = Vocabulary.from_folder(folder)
    model = component(folder, folder.config, vocabulary)
    if "word_counts" not in folder.config["arrays"]:
        return model
    counts = folder.array("word_counts", np.int64)
    if counts.size != len(vocabulary):
        raise InputError(f"{path}: word_counts.npy does not belong to this model; make the folder again")
    return dataclasses.replace(model, word_counts=counts)  # type: ignore[type-var]


def component(
    folder: Folder, config: Mapping[str, Any], vocabulary: Vocabulary, prefix: str = ""
) -> LanguageModel:
    """The model that a folder, or a part of it under a prefix, holds."""
    form = config.get("form")
    if form not in FORMS:
        raise InputError(f"{folder.path}: unknown form of model {form!r}; install a newer classgram")
    return FORMS[form].from_files(folder, config, vocabulary, prefix)
