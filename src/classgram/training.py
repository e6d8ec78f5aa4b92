"""Training by recipe: counts, and classes for class models, become a language model."""

from typing import TYPE_CHECKING

import numpy as np

from classgram.class_lm import ClassMaps, estimate_class_model
from classgram.class_ngram_lm import train_class_ngrams
from classgram.errors import InputError
from classgram.events import Contexts
from classgram.language_model import LanguageModel
from classgram.ngram_lm import Note, silent, train_backoff, train_katz, train_kneser_ney
from classgram.ngrams import NgramCounts
from classgram.options import ModelOptions
from classgram.vocabulary import Vocabulary

if TYPE_CHECKING:
    from classgram.partition import Partition

DEFAULT_ORDERS = {"kneser-ney": 5, "katz": 3, "backoff": 3, "class": 5}


def training_order(options: ModelOptions, partition: "Partition | None" = None) -> int:
    """The order that a recipe counts and trains."""
    if options.order is not None and not 2 <= options.order <= 32:
        raise InputError(f"--order {options.order}: models have an order from 2 to 32")
    if partition is None or partition.shape == "tied":
        return options.order or DEFAULT_ORDERS[options.recipe]
    if options.order not in (None, partition.order):
        raise InputError(
            f"--order {options.order}: the {partition.shape} classes are of order {partition.order}; "
            "cluster again with the other order"
        )
    return partition.order


def train_model(
    counts: NgramCounts,
    options: ModelOptions | None = None,
    partition: "Partition | None" = None,
    note: Note = silent,
) -> LanguageModel:
    """Train the model that the options ask for; ``note`` is told what had to be decided."""
    options = options or ModelOptions()
    order = min(training_order(options, partition), counts.order)
    if options.order is not None and options.order > counts.order:
        raise InputError(
            f"the counts go up to order {counts.order}; count again with --order {options.order}"
        )
    if options.recipe == "class":
        if partition is None:
            raise InputError("a class model needs classes; name them with --use-classes")
        return train_class_model(counts, partition, options, note)
    if options.smoothing is not None:
        raise InputError("--smoothing is for class models; leave it out, or use --recipe class")
    if options.recipe == "backoff":
        return train_backoff(counts, order, options.cutoff)
    if options.recipe == "katz":
        return train_katz(counts, order, note)
    return train_kneser_ney(counts, order, note)


def train_class_model(
    counts: NgramCounts, partition: "Partition", options: ModelOptions, note: Note = silent
) -> LanguageModel:
    """Train a class model: Kneser-Ney over tied classes by default, ``interpolated`` for others."""
    order = training_order(options, partition)
    tied = partition.shape == "tied"
    smoothing = options.smoothing or ("kneser-ney" if tied else "interpolated")
    if smoothing == "kneser-ney" and not tied:
        raise InputError(
            f"--smoothing kneser-ney needs tied classes, and these are {partition.shape}; "
            "use interpolated or paper"
        )
    if tied:
        order = min(order, counts.order)
    maps = class_maps(partition, counts.vocabulary, order)
    if smoothing == "kneser-ney":
        return train_class_ngrams(counts, maps.predicted, order, note)
    model = estimate_class_model(counts, order, maps, smoothing)
    model.info["shape"] = partition.shape
    return model


def class_maps(partition: "Partition", vocabulary: Vocabulary, order: int) -> ClassMaps:
    """A partition's maps over the words of a vocabulary.

    A word that the classes were not made for is in the class of <unk>.
    """
    old = partition.vocabulary
    ids = np.arange(len(vocabulary))
    if old.words != vocabulary.words:
        ids = np.array([old.id(word) for word in vocabulary.words])
    maps = [np.asarray(one, dtype=np.int32) for one in partition.maps]
    if partition.shape == "tied":
        return ClassMaps(np.stack([maps[0][ids]] * (order - 1)), maps[0][ids])
    if partition.shape == "positional":
        # G_1 is for the word just before, G_M for the one furthest back, the last for the prediction.
        return ClassMaps(np.stack([one[ids] for one in maps[:-1]]), maps[-1][ids])
    contexts, predicted = maps[0], maps[-1][ids]
    if partition.contexts is None:
        return ClassMaps(contexts[ids][None], predicted)
    words = contexts[: len(old)][ids]
    elements, kept = translated(partition.contexts, old, vocabulary)
    return ClassMaps(np.concatenate([words, contexts[len(old) :][kept]])[None], predicted, elements)


def translated(contexts: Contexts, old: Vocabulary, new: Vocabulary) -> tuple[Contexts, "np.ndarray"]:
    """The context elements in the ids of another vocabulary, and which of the tuples remain."""
    if old.words == new.words:
        return contexts, np.ones(len(contexts.tuples), dtype=np.bool_)
    missing = -2
    ids = np.array([*(new.id(word) if word in new else missing for word in old.words), -1])
    tuples = ids[contexts.tuples].astype(np.int32)
    kept = (tuples != missing).all(axis=1)
    return Contexts(len(new), contexts.length, tuples[kept]), kept
