"""Models from disk: a folder of any form of model, or an ARPA file."""

import dataclasses
from pathlib import Path

import numpy as np

from classgram.errors import InputError
from classgram.files.folders import read_folder
from classgram.models.language_model import LanguageModel, component_from_files
from classgram.models.mixtures import mixture as mixture

# Imported for the forms of models that they make known.
from classgram.options import TextOptions
from classgram.text.vocabulary import Vocabulary


def load(path: str | Path, text: TextOptions | None = None) -> LanguageModel:
    """Load a model that ``save`` wrote, memory-mapped, or any ARPA file (.arpa, .arpa.gz).

    ``text`` tells how text is made into words for an ARPA file, which does not say so itself.
    """
    path = Path(path)
    if path.name.endswith((".arpa", ".arpa.gz", ".lm", ".lm.gz")):
        from classgram.arpa.reading import read_arpa

        return read_arpa(path, text)
    folder = read_folder(path, "model")
    vocabulary = Vocabulary.from_folder(folder)
    model = component_from_files(folder, folder.config, vocabulary)
    if "word_counts" not in folder.config["arrays"]:
        return model
    counts = folder.array("word_counts", np.int64)
    if counts.size != len(vocabulary):
        raise InputError(f"{path}: word_counts.npy does not belong to this model; make the folder again")
    return dataclasses.replace(model, word_counts=counts)  # type: ignore[type-var]
