"""Class pairs: how often each class followed each context class in a text, and what that is worth."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from classgram.classes.partition import Partition
from classgram.clustering.criteria import Criterion
from classgram.counts.ngram_counts import NgramCounts, gram_words, parents_of
from classgram.errors import InputError

Int64s = npt.NDArray[np.int64]


class ClassPairs(NamedTuple):
    """How often each class followed each context of one length: sorted, each pair once.

    Contexts are numbered through the lengths; ``end`` is one past the last of this length.
    """

    contexts: Int64s
    classes: Int64s
    counts: Int64s
    end: int


def add_up(contexts: Int64s, classes: Int64s, counts: Int64s, end: int) -> ClassPairs:
    """Triples with repeated pairs as pairs with their total counts, those never seen left out."""
    seen = counts > 0
    contexts, classes, counts = contexts[seen], classes[seen], counts[seen]
    class_count = int(classes.max(initial=0)) + 1
    keys = contexts.astype(np.int64) * class_count + classes
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    totals = np.add.reduceat(counts[order], first) if keys.size else counts[:0]
    return ClassPairs(keys[first] // class_count, keys[first] % class_count, totals, end)


def count_pairs(partition: Partition, counts: NgramCounts) -> ClassPairs:
    """Count the pairs of a partition's classes in a text of the same vocabulary."""
    if partition.vocabulary.words != counts.vocabulary.words:
        raise InputError("the classes and the counts have different vocabularies; give the text itself")
    if partition.order > counts.order:
        raise InputError(
            f"the classes are of order {partition.order}; count the text with --order {partition.order}"
        )
    level = counts.levels[partition.order - 1]
    context_classes = partition.context_map
    if partition.contexts is not None:
        elements = partition.contexts.elements_of(gram_words(counts.levels, partition.order - 1))
        context_classes = context_classes[elements]
    contexts = context_classes[parents_of(level)].astype(np.int64)
    classes = partition.words[level.words].astype(np.int64)
    return add_up(contexts, classes, level.counts, partition.context_class_count)


def pair_value(pairs: ClassPairs, criterion: Criterion) -> float:
    """F of counted pairs under a criterion."""
    contexts, classes = side_totals(pairs)
    return criterion.value_of(pairs.counts, classes, contexts)


def side_totals(pairs: ClassPairs) -> tuple[Int64s, Int64s]:
    """The counts of context classes and of word classes."""
    # Doubles hold every count below 2**53 exactly.
    sides = (np.bincount(side, pairs.counts).astype(np.int64) for side in (pairs.contexts, pairs.classes))
    contexts, classes = sides
    return contexts, classes
