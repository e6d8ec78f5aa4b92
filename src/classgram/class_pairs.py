"""Class pairs: how often each class followed each context class in a text, and what that is worth."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from classgram.criteria import Criterion
from classgram.errors import InputError
from classgram.ngrams import NgramCounts, gram_words, parents_of
from classgram.partition import Partition

Int64s = npt.NDArray[np.int64]


class PairCounts(NamedTuple):
    """The pairs of classes that occurred: context classes, word classes and counts."""

    contexts: Int64s
    words: Int64s
    counts: Int64s


def count_pairs(partition: Partition, counts: NgramCounts) -> PairCounts:
    """Count the pairs of a partition's classes in a text of the same vocabulary."""
    if partition.vocabulary.words != counts.vocabulary.words:
        raise InputError("the classes are of another vocabulary than the text; count it with that of the classes")
    if partition.order > counts.order:
        raise InputError(
            f"the classes are of order {partition.order}; count the text with --order {partition.order}"
        )
    level = counts.levels[partition.order - 1]
    elements = parents_of(level)
    if partition.contexts is not None:
        elements = partition.contexts.elements_of(gram_words(counts.levels, partition.order - 1))[elements]
    width = partition.class_count
    keys = partition.context_map[elements].astype(np.int64) * width + partition.words[level.words]
    found, places = np.unique(keys, return_inverse=True)
    # Doubles hold every count below 2**53 exactly.
    totals = np.bincount(places, level.counts, found.size).astype(np.int64)
    seen = totals > 0
    return PairCounts(found[seen] // width, found[seen] % width, totals[seen])


def pair_value(pairs: PairCounts, criterion: Criterion) -> float:
    """F of counted pairs under a criterion."""
    words = np.bincount(pairs.words, pairs.counts).astype(np.int64)
    contexts = np.bincount(pairs.contexts, pairs.counts).astype(np.int64)
    return criterion.value_of(pairs.counts, words, contexts)


def single_classes(pairs: PairCounts) -> int:
    """The number of classes that occur once on a side, which leaving-one-out cannot value."""
    sides = (np.bincount(side, pairs.counts) for side in (pairs.words, pairs.contexts))
    return sum(int((totals == 1).sum()) for totals in sides)
