"""Where a search starts: by frequency, in turn, at random, or from classes found earlier."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from classgram.classes.class_list import ClassList
from classgram.classes.partition import Partition
from classgram.clustering.search.state import ClassMap, Counts, falling_order
from classgram.errors import InputError
from classgram.text.vocabulary import Vocabulary

STARTS = ("frequency", "round-robin", "random")


class Elements(NamedTuple):
    """How often the elements of one map occurred, which are free, and from which count on they move."""

    sizes: Counts
    free: npt.NDArray[np.bool_]
    least: int


def simple_start(kind: str, elements: Elements, candidates: int, seed: int) -> ClassMap:
    """Give each free element a class from 0 on; all others get 0.

    frequency: the C-1 most frequent elements alone and the rest together, with all those that are too
    rare to be moved; round-robin: in turn by falling frequency; random: each class equally likely.
    """
    sizes, free, least = elements
    order = falling_order(sizes, free)
    classes = np.zeros(sizes.size, np.int32)
    ranks = np.arange(order.size)
    if kind == "frequency":
        # A rare word alone in a class could never leave it.
        classes[order] = np.where(sizes[order] < least, candidates - 1, np.minimum(ranks, candidates - 1))
    elif kind == "round-robin":
        classes[order] = ranks % candidates
    else:
        classes[order] = np.random.default_rng(seed).integers(0, candidates, order.size)
    return classes


def merge_single_counts(
    classes: ClassMap, sizes: tuple[Counts, ...], free: npt.NDArray[np.bool_], candidates: int
) -> int:
    """Merge classes that occur once, which leaving-one-out cannot value; give how many there were.

    Each is joined with the smallest other class that has some count.
    """
    merged = 0
    for _ in range(candidates):
        totals = [np.bincount(classes[free], of[free], candidates).astype(np.int64) for of in sizes]
        single = np.flatnonzero(np.any([total == 1 for total in totals], axis=0))
        if single.size == 0:
            break
        weight = np.max(totals, axis=0)
        others = np.flatnonzero((weight > 0) & (np.arange(candidates) != single[0]))
        if others.size == 0:
            break
        target = others[np.argmin(weight[others])]
        classes[free & (classes == single[0])] = target
        merged += 1
    return merged


def given_start(given: Partition | ClassList, vocabulary: Vocabulary) -> dict[str, ClassMap]:
    """Give classes found earlier, for words and (from a partition) for contexts.

    Words without a class get -1. The classes of a list are numbered in the order of their first word.
    """
    if isinstance(given, Partition):
        found = {"words": carried_over(given, vocabulary)}
        same = given.vocabulary.words == vocabulary.words
        if same and not given.tied:
            found["contexts"] = np.array(given.context_map)
        return found
    classes = np.full(len(vocabulary), -1, np.int32)
    numbers: dict[str, int] = {}
    for member in given.members:
        if member.word in vocabulary:
            classes[vocabulary.id(member.word)] = numbers.setdefault(member.name, len(numbers))
    if (classes < 0).all():
        raise InputError(f"{given.source}: none of its words occurs in this text")
    return {"words": classes}


def carried_over(partition: Partition, vocabulary: Vocabulary) -> ClassMap:
    """Give the classes of the words that both vocabularies hold, -1 for the others."""
    known = partition.vocabulary
    return np.array(
        [partition.words[known.id(word)] if word in known else -1 for word in vocabulary.words],
        np.int32,
    )


def fitted_start(classes: ClassMap, sizes: Counts, free: npt.NDArray[np.bool_], candidates: int) -> ClassMap:
    """Make given classes fit: numbered from 0 by falling count, the rest all in the last one.

    Where there are more classes than asked for, the rarest are joined in the last one.
    """
    fitted = np.zeros(classes.size, np.int32)
    known = free & (classes >= 0)
    highest = int(classes[known].max()) + 1 if known.any() else 0
    weights = np.bincount(classes[known], sizes[known], highest)
    present = np.flatnonzero(np.bincount(classes[known], minlength=highest))
    # Classes that already have a number of their own keep it, so that a run can be continued.
    if highest <= candidates:
        fitted[known] = classes[known]
    else:
        order = present[np.argsort(-weights[present], kind="stable")]
        renumbered = np.zeros(highest, np.int32)
        renumbered[order] = np.minimum(np.arange(order.size), candidates - 1)
        fitted[known] = renumbered[classes[known]]
    fitted[free & (classes < 0)] = candidates - 1
    return fitted
