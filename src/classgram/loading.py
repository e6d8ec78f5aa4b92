"""Models from disk: a folder of any class of models, or an ARPA file."""

import dataclasses
from pathlib import Path

import numpy as np

from classgram.errors import InputError
from classgram.files.folders import read_folder
from classgram.models.class_based.class_model import ClassModel
from classgram.models.class_based.class_ngrams import ClassNgramModel
from classgram.models.class_based.interleaved import InterleavedModel
from classgram.models.factored.model import FactoredModel
from classgram.models.language_model import LanguageModel, component_from_files, register
from classgram.models.mixtures.mixture import MixtureModel
from classgram.models.mixtures.wider_vocabulary import AdaptedModel
from classgram.models.ngram.ngram_model import NgramModel
from classgram.options import TextOptions
from classgram.text.vocabulary import Vocabulary

register(NgramModel, ClassModel, ClassNgramModel, InterleavedModel, MixtureModel, AdaptedModel, FactoredModel)


def load(path: str | Path, text: TextOptions | None = None) -> LanguageModel:
    """Load a model that ``save`` wrote, memory-mapped, or any ARPA file (.arpa, .arpa.gz).

    ``text`` says how to tokenise text for an ARPA file, which does not record it.
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
        raise InputError(f"{path}: word_counts.npy does not belong to this model; recreate the folder")
    return dataclasses.replace(model, word_counts=counts)  # type: ignore[type-var]
