"""Training by recipe: counts, and classes for class models, become a language model."""

import numpy as np

from classgram.classes.partition import Partition
from classgram.clustering.exchange import exchange
from classgram.counts.contexts import Contexts
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.models.class_based.class_model import ClassMaps, estimate_class_model
from classgram.models.class_based.class_ngrams import train_class_ngrams
from classgram.models.language_model import LanguageModel, Note, silent
from classgram.models.ngram.ngram_model import train_backoff, train_katz, train_kneser_ney
from classgram.options import (
    ClusterOptions,
    ModelOptions,
    RunOptions,
    SearchOptions,
    TrainClassesOptions,
)
from classgram.runtime.compiled.arrays import BoolArray
from classgram.runtime.progress import Report
from classgram.runtime.progress import silent as unseen
from classgram.text.vocabulary import Vocabulary

_MOST_CLASSES = 1000
"""What a class model asks for at most where no number is given."""

_DEFAULT_ORDERS = {"mixture": 5, "factored": 2, "kneser-ney": 5, "katz": 3, "backoff": 3, "class": 5}


def training_order(options: ModelOptions, classes: Partition | str | None = None) -> int:
    """Return the order that a recipe counts and trains; ``classes`` are given, or a shape to be made."""
    if options.order is not None and not 2 <= options.order <= 32:
        raise InputError(f"--order {options.order}: models have an order from 2 to 32")
    if isinstance(classes, Partition) and classes.shape != "tied":
        if options.order not in (None, classes.order):
            raise InputError(
                f"--order {options.order}: the {classes.shape} classes are of order {classes.order}; "
                "cluster again with the other order"
            )
        return classes.order
    other_shape = isinstance(classes, str) and classes != "tied"
    # The paper's estimate is one of class pairs: over longer tuples of classes it is poor.
    if options.recipe == "class" and (other_shape or options.smoothing == "paper"):
        return options.order or 2
    return options.order or _DEFAULT_ORDERS[options.recipe]


def make_classes(
    counts: NgramCounts,
    options: TrainClassesOptions,
    order: int | None = None,
    note: Note = silent,
    report: Report = unseen,
) -> Partition:
    """Cluster the words of a text for a class model; ``order`` is that of joint contexts."""
    seen = int(np.count_nonzero(counts.levels[0].counts))
    # The sentence end has a class of its own.
    most = max(1, seen - 1)
    classes = options.classes
    if classes is not None and classes > most:
        note(f"{most} classes instead of {classes}: there are no more words to cluster")
        classes = most
    if classes is None:
        classes = max(2, min(_MOST_CLASSES, seen // 10))
        note(f"{classes} classes; choose another number with --classes")
    wanted = ClusterOptions(
        classes,
        options.context_classes,
        options.contexts,
        options.criterion,
        options.shape,
        2 if options.shape == "tied" else order or 2,
        move_min_count=options.move_min_count,
    )
    search = SearchOptions(seed=options.seed, sweeps=options.sweeps, effort=options.effort or "low")
    return exchange(counts, wanted, search, RunOptions(options.threads), report=report).partition


def train_model(
    counts: NgramCounts,
    options: ModelOptions | None = None,
    partition: Partition | None = None,
    note: Note = silent,
) -> LanguageModel:
    """Train the model that the options ask for; ``note`` is called with what had to be decided."""
    options = options or ModelOptions()
    order = min(training_order(options, partition), counts.order)
    if options.order is not None and options.order > counts.order:
        raise InputError(
            f"the counts go up to order {counts.order}; count again with --order {options.order}"
        )
    if options.recipe in ("mixture", "factored"):
        raise InputError(
            f"a {options.recipe} model is trained by train_{options.recipe}, on sentences; "
            "name another recipe here"
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
    counts: NgramCounts, partition: Partition, options: ModelOptions, note: Note = silent
) -> LanguageModel:
    """Train a class model: Kneser-Ney over tied classes by default, ``interpolated`` for others."""
    order = training_order(options, partition)
    tied = partition.shape == "tied"
    smoothing = options.smoothing or ("kneser-ney" if tied else "interpolated")
    if smoothing == "kneser-ney" and partition.shape == "positional" and order > 2:
        raise InputError("--smoothing kneser-ney: not for positional classes; use interpolated or paper")
    if tied:
        order = min(order, counts.order)
    maps = class_maps(partition, counts.vocabulary, order)
    if smoothing == "kneser-ney" and tied:
        return train_class_ngrams(counts, maps.predicted, order, note)
    model = estimate_class_model(counts, order, maps, smoothing)
    model.info["shape"] = partition.shape
    return model


def class_maps(partition: Partition, vocabulary: Vocabulary, order: int) -> ClassMaps:
    """Return a partition's maps over the words of a vocabulary.

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
    elements, kept = _translated(partition.contexts, old, vocabulary)
    return ClassMaps(np.concatenate([words, contexts[len(old) :][kept]])[None], predicted, elements)


def _translated(contexts: Contexts, old: Vocabulary, new: Vocabulary) -> tuple[Contexts, BoolArray]:
    """Return the context elements in the ids of another vocabulary, and which of the tuples remain."""
    if old.words == new.words:
        return contexts, np.ones(len(contexts.tuples), dtype=np.bool_)
    missing = -2
    ids = np.array([*(new.id(word) if word in new else missing for word in old.words), -1])
    tuples = ids[contexts.tuples].astype(np.int32)
    kept = (tuples != missing).all(axis=1)
    return Contexts(len(new), contexts.length, tuples[kept]), kept
