"""Models from disk: a folder of any form of model, or an ARPA file."""

import dataclasses
from pathlib import Path

import numpy as np

# Imported for the forms of models that they make known.
from classgram import adapted as adapted
from classgram import class_lm as class_lm
from classgram import class_ngram_lm as class_ngram_lm
from classgram import interleaved_lm as interleaved_lm
from classgram import mixture as mixture
from classgram.errors import InputError
from classgram.folders import read_folder
from classgram.language_model import LanguageModel, component_from_files
from classgram.options import TextOptions
from classgram.vocabulary import Vocabulary


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
    model = component_from_files(folder, folder.config, vocabulary)
    if "word_counts" not in folder.config["arrays"]:
        return model
    counts = folder.array("word_counts", np.int64)
    if counts.size != len(vocabulary):
        raise InputError(f"{path}: word_counts.npy does not belong to this model; make the folder again")
    return dataclasses.replace(model, word_counts=counts)  # type: ignore[type-var]
