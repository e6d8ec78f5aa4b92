"""Which classes stand before and after each class, and which classes have the same neighbours."""

from dataclasses import dataclass

import numpy as np

from classgram.classes.partition import Partition
from classgram.counts.ngram_counts import NgramCounts, parents_of
from classgram.errors import InputError
from classgram.models.language_model import LanguageModel
from classgram.options import CountOptions, ReadOptions
from classgram.pipelines.counting import Reading, load_or_count
from classgram.runtime.compiled.arrays import Float64Array, Float64Matrix, Int64Array
from classgram.text.vocabulary import BOS, EOS

MAX_CLASSES = 4000
"""Above this number of classes the table of all pairs is not made."""

_WORDS_ASKED = 2
"""The words of each class after which a model is asked what follows: the most frequent ones."""


@dataclass(frozen=True)
class Neighbours:
    """How often each class (row) stood before each other (column), counted or as a model expects it."""

    pairs: Float64Matrix
    bigrams: tuple[Int64Array, Int64Array, Int64Array] | None = None
    """First words, second words and counts, where a text was counted."""

    def typical(self, number: int, before: bool, most: int) -> list[tuple[int, float]]:
        """Return the classes whose pairs with a class add most to F, each with its share of the pairs.

        A pair adds N(g1, g2) log(N(g1, g2) N / (N(g1) N(g2))), section 2: more often than by chance.
        """
        row = self.pairs[:, number] if before else self.pairs[number]
        total = row.sum()
        if total <= 0:
            return []
        others = self._totals[0 if before else 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = np.where(row > 0, row * np.log(row * self._all / (others * total)), -np.inf)
        chosen = np.argsort(-worth, kind="stable")[:most]
        return [(int(one), float(row[one] / total)) for one in chosen if worth[one] > 0]

    def words_beside(self, partition: Partition, most: int) -> dict[tuple[int, int, bool], list[int]]:
        """Return the words that most often stood before or after a class, by the class of these words."""
        if self.bigrams is None:
            return {}
        first, second, counts = self.bigrams
        found: dict[tuple[int, int, bool], list[int]] = {}
        for before, words, inside in ((True, first, second), (False, second, first)):
            keys = partition.words[inside].astype(np.int64) * len(partition.vocabulary) + words
            unique, places = np.unique(keys, return_inverse=True)
            totals = np.bincount(places, counts)
            for place in np.argsort(-totals, kind="stable").tolist():
                number, word = divmod(int(unique[place]), len(partition.vocabulary))
                listed = found.setdefault((number, int(partition.words[word]), before), [])
                if len(listed) < most:
                    listed.append(word)
        return found

    def similarities(self) -> Float64Matrix:
        """Return how alike the neighbours of every two classes are: 0 to 1, Bhattacharyya's coefficient."""
        sides = [np.sqrt(_rows_to_one(side)) for side in (self.pairs, self.pairs.T)]
        alike: Float64Matrix = (sides[0] @ sides[0].T + sides[1] @ sides[1].T) / 2
        return alike

    @property
    def _totals(self) -> tuple[Float64Array, Float64Array]:
        """N(g1) and N(g2)."""
        return self.pairs.sum(axis=1), self.pairs.sum(axis=0)

    @property
    def _all(self) -> float:
        """N."""
        return float(self.pairs.sum())


def _rows_to_one(table: Float64Matrix) -> Float64Matrix:
    """Return the rows divided by their sums; rows of zeros stay."""
    sums = table.sum(axis=1, keepdims=True)
    divided: Float64Matrix = table / np.where(sums > 0, sums, 1.0)
    return divided


def _counted(partition: Partition, counts: NgramCounts) -> Neighbours | None:
    """Return the neighbours of classes in a text of any vocabulary; None for too many classes."""
    size = partition.class_count
    if size > MAX_CLASSES:
        return None
    level = counts.levels[1]
    own = np.array([partition.vocabulary.id(word) for word in counts.vocabulary.words], np.int64)
    first, second = own[parents_of(level)], own[level.words]
    keys = partition.words[first].astype(np.int64) * size + partition.words[second]
    table = np.bincount(keys, level.counts, size * size).astype(np.float64).reshape(size, size)
    return Neighbours(table, (first, second, np.asarray(level.counts)))


def _expected(partition: Partition, model: LanguageModel) -> Neighbours | None:
    """Return what a model expects after the most frequent words of each class; None for too many classes."""
    size = partition.class_count
    if size > MAX_CLASSES:
        return None
    counts = partition.counts[-1]
    totals = np.bincount(partition.words, counts, size)
    # As many sentences begin as end.
    totals[partition.words[BOS]] = max(int(counts[EOS]), 1)
    order = np.argsort(-counts, kind="stable")
    table = np.zeros((size, size))
    for number in range(size):
        words = order[partition.words[order] == number][:_WORDS_ASKED]
        weights = np.maximum(counts[words], 1) / np.maximum(counts[words], 1).sum()
        for word, weight in zip(words.tolist(), weights.tolist(), strict=True):
            start = model.start(bos=word == BOS)
            state = start if word == BOS else model.advance(start, word)
            if word == EOS:
                continue
            expected = np.bincount(partition.words, model.distribution(state), size)
            table[number] += totals[number] * weight * expected
    return Neighbours(table)


def neighbours_of(
    partition: Partition,
    model: LanguageModel | None,
    counted: tuple[str, ...] | NgramCounts,
    read: ReadOptions,
) -> Neighbours | None:
    """Return the neighbours of classes, as their model expects them or counted in a text; None without."""
    if model is not None:
        return _expected(partition, model)
    if not counted:
        return None
    source = counted if isinstance(counted, tuple) else (counted,)
    counts = load_or_count(source, CountOptions(2), Reading(partition.vocabulary, read=read))
    if counts.tokens == 0:
        raise InputError(f"{', '.join(map(str, source))}: the text is empty: it holds no words")
    return _counted(partition, counts.up_to(2))
