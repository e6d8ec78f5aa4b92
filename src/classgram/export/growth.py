"""Growth: the unseen n-grams that bring a back-off model nearest to the model it is made from."""

from typing import NamedTuple

import numpy as np

from classgram.counts._kernels.counting import Level
from classgram.counts.ngram_counts import parents_of
from classgram.export._kernels.batch_stepping import Wanted
from classgram.export._kernels.growth import (
    CandidateValues,
    KnownEntries,
    LowerRows,
    choose_words,
    count_candidates,
    list_candidates,
)
from classgram.export.batch_stepping import BatchStepper, States
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import BoolArray, Float64Array, Int32Array, Int64Array
from classgram.runtime.progress import Report

_BLOCK_CANDIDATES = 1 << 20
"""Candidates evaluated at a time."""

_FIRST_GUESS = 0.015
"""The first guess of the least gain, times the number of n-grams wanted; lowered as needed."""

_SEARCH_FACTOR = 6.0
"""Gains are searched down to the guess divided by this, so that the right threshold is among them."""

_LARGEST_RATIO = 20.0
"""Words that the model raises by more than this factor may be missed: it bounds the candidates."""

_MASS_FACTOR = 25.0
"""A context is tried if its probability is at least this many times the least gain."""

_LIKELY_CONTEXTS, _SAMPLED_CONTEXTS = 2000, 20000
"""Bigrams tried as contexts to find the threshold: so many likeliest ones, and a sample of others."""

_HIGHER_ORDERS = 1.08
"""N-grams added in all orders from 3 up, for each added in order 3; measured."""

_THRESHOLD_FACTOR = 0.7
"""Factor on the threshold above order 2, where the best are taken: it was found on a sample."""

_ORDER_SHARE = 0.94
"""The share of the remaining n-grams that an order above 2 may take, if orders follow; measured."""


class Front(NamedTuple):
    """The n-grams of the order made last, as contexts of the next order."""

    states: States
    masses: Float64Array
    """The probability of meeting each of them in a text."""
    rows: Int64Array
    """The row of ``below`` that holds the words after each one's suffix."""
    below: Level
    lower: Float64Array
    """The probability of each entry of ``below``."""


class _Candidates(NamedTuple):
    """N-grams worth adding: context, word, probability by the model, and gain."""

    contexts: Int64Array
    words: Int32Array
    probabilities: Float64Array
    gains: Float64Array

    def take(self, chosen: BoolArray | Int64Array) -> "_Candidates":
        """Return the chosen ones."""
        return _Candidates(
            self.contexts[chosen], self.words[chosen], self.probabilities[chosen], self.gains[chosen]
        )

    def best(self, number: int) -> "_Candidates":
        """Return the ``number`` that gain most."""
        if self.gains.size <= number:
            return self
        return self.take(np.sort(np.argsort(-self.gains, kind="stable")[: max(number, 0)]))


class Growth:
    """The choice of at most so many unseen n-grams, order by order."""

    def __init__(self, stepper: BatchStepper, number: int, report: Report) -> None:
        self.walker, self.left, self.report = stepper, number, report
        self.grown = 0
        self.threshold = 0.0

    def additions(self, front: Front, known: Level, longer: Level | None) -> _Candidates:
        """Return the n-grams to add to the known ones of an order; ``longer`` are those of the next order."""
        if self.left <= 0:
            return _no_candidates()
        if self.threshold == 0.0:
            found = self._first(front, known, longer).best(self.left)
        else:
            found = self.candidates(front, known, _THRESHOLD_FACTOR * self.threshold)
            found = found.best(round(self.left * (1.0 if longer is None else _ORDER_SHARE)))
        self.left -= found.gains.size
        self.grown += found.gains.size
        return found

    def _first(self, front: Front, known: Level, longer: Level | None) -> _Candidates:
        """Return the bigrams to add, and set the threshold of gain for all orders."""
        low = _FIRST_GUESS / self.left / _SEARCH_FACTOR
        while True:
            found = self.candidates(front, known, low)
            gains, weights = found.gains, np.ones(found.gains.size)
            if longer is not None:
                more, scale = self._sample_trigrams(front, (known, longer), found, low)
                gains = np.concatenate([gains, more])
                weights = np.concatenate([weights, scale * _HIGHER_ORDERS])
            order = np.argsort(-gains, kind="stable")
            reached = np.flatnonzero(np.cumsum(weights[order]) > self.left)
            if reached.size or low < np.finfo(float).eps * _FIRST_GUESS / self.left:
                break
            # At the lowest threshold only rounding is left to gain.
            low /= _SEARCH_FACTOR * _SEARCH_FACTOR
        self.threshold = float(gains[order[reached[0]]]) if reached.size else low
        return found.take(found.gains > self.threshold)

    def _sample_trigrams(
        self, front: Front, known: tuple[Level, Level], found: _Candidates, threshold: float
    ) -> tuple[Float64Array, Float64Array]:
        """Return the gains of a sample of the trigrams worth adding, and how many each represents."""
        bigrams, trigrams = known
        level, places = merged(bigrams, found.contexts, found.words)
        trigrams = under_new_parents(trigrams, places, level.words.size)
        lower = self._probabilities(front, bigrams, found, places)
        masses = front.masses[parents_of(level)] * lower
        ids = np.flatnonzero(masses >= _MASS_FACTOR * threshold)
        by_mass = ids[np.argsort(-masses[ids], kind="stable")]
        others = np.sort(by_mass[_LIKELY_CONTEXTS:])
        step = max(1, others.size // _SAMPLED_CONTEXTS)
        samples = []
        for chosen, scale in ((np.sort(by_mass[:_LIKELY_CONTEXTS]), 1), (others[::step], step)):
            parents = parents_of(level)[chosen]
            states, _ = self.walker.step(front.states[parents], level.words[chosen])
            rows = level.words[chosen].astype(np.int64)
            sample = Front(states, masses[chosen], rows, level, lower)
            gains = self.candidates(sample, _rows_of(trigrams, chosen), threshold).gains
            samples.append((gains, np.full(gains.size, float(scale))))
        return np.concatenate([gains for gains, _ in samples]), np.concatenate([one for _, one in samples])

    def _probabilities(
        self, front: Front, bigrams: Level, found: _Candidates, places: Int64Array
    ) -> Float64Array:
        """Return the probabilities of all bigrams: the known ones, now at ``places``, and those found."""
        _, logs = self.walker.step(front.states[parents_of(bigrams)], bigrams.words)
        lower = np.empty(places.size + found.gains.size)
        others = np.ones(lower.size, bool)
        lower[places], others[places] = np.exp(logs), False
        lower[others] = found.probabilities
        return frozen(lower)

    def candidates(self, front: Front, known: Level, threshold: float) -> _Candidates:
        """Return all n-grams that gain more than a threshold and whose suffixes are known."""
        ids = np.flatnonzero(front.masses >= _MASS_FACTOR * threshold)
        # What a word gains is bounded by what it is raised from, and by how much it may be raised.
        most = _LARGEST_RATIO * np.log(_LARGEST_RATIO)
        least = threshold / (front.masses[ids] * most)
        counts = np.empty(ids.size, np.int64)
        below = LowerRows(front.below.starts, frozen(front.lower))
        count_candidates(below, frozen(front.rows[ids]), frozen(least), counts)
        ids, least, counts = ids[counts > 0], least[counts > 0], counts[counts > 0]
        ends = np.cumsum(counts)
        blocks = [_no_candidates()]
        begin = 0
        while begin < ids.size:
            done = ends[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, done + _BLOCK_CANDIDATES, side="right")))
            block = slice(begin, end)
            blocks.append(self._block(front, known, ids[block], (counts[block], least[block]), threshold))
            self.report(int(ends[end - 1]), f"{known.starts.size - 1:,} contexts")
            begin = end
        return _Candidates(*(np.concatenate(column) for column in zip(*blocks, strict=True)))

    def _block(
        self,
        front: Front,
        known: Level,
        ids: Int64Array,
        filters: tuple[Int64Array, Float64Array],
        threshold: float,
    ) -> _Candidates:
        """Return the n-grams worth adding after some contexts."""
        counts, least = filters
        starts = frozen(np.concatenate([[0], np.cumsum(counts)]))
        places = np.empty(starts[-1], np.int64)
        rows = LowerRows(front.below.starts, frozen(front.lower))
        list_candidates(rows, frozen(front.rows[ids]), frozen(least), places)
        wanted = Wanted(starts, frozen(front.below.words[places]))
        probabilities = np.zeros(places.size)
        self.walker.add(front.states[ids], wanted, np.ones(ids.size), probabilities)
        gains = np.empty(places.size)
        choose_words(
            wanted,
            CandidateValues(frozen(probabilities), frozen(front.lower[places])),
            KnownEntries(frozen(known.starts[ids]), frozen(known.starts[ids + 1]), known.words),
            frozen(front.masses[ids]),
            threshold,
            gains,
        )
        chosen = np.flatnonzero(gains > 0)
        contexts = ids[np.searchsorted(starts, chosen, side="right") - 1]
        return _Candidates(contexts, wanted.words[chosen], probabilities[chosen], gains[chosen])


def _no_candidates() -> _Candidates:
    """Return an empty list of candidates."""
    return _Candidates(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0), np.empty(0))


def merged(level: Level, contexts: Int64Array, words: Int32Array) -> tuple[Level, Int64Array]:
    """Return a level with further, new entries, and the places of its own entries among them."""
    size = np.int64(max(int(level.words.max(initial=0)), int(words.max(initial=0))) + 1)
    own = parents_of(level) * size + level.words
    keys = np.concatenate([own, contexts * size + words])
    order = np.argsort(keys, kind="stable")
    places = np.empty(order.size, np.int64)
    places[order] = np.arange(order.size)
    keys = keys[order]
    starts = np.searchsorted(keys, np.arange(level.starts.size) * size)
    counts = np.zeros(keys.size, np.int64)
    made = Level(frozen(starts.astype(np.int64)), frozen((keys % size).astype(np.int32)), frozen(counts))
    return made, places[: own.size]


def _rows_of(level: Level, chosen: Int64Array) -> Level:
    """Return only the rows of some parents."""
    sizes = np.diff(level.starts)[chosen]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    entries = np.arange(starts[-1]) + np.repeat(level.starts[chosen] - starts[:-1], sizes)
    return Level(frozen(starts), frozen(level.words[entries]), frozen(level.counts[entries]))


def under_new_parents(level: Level, places: Int64Array, parents: int) -> Level:
    """Return a level whose parents moved to new places among ``parents`` others, in the same order."""
    sizes = np.zeros(parents, np.int64)
    sizes[places] = np.diff(level.starts)
    return level._replace(starts=frozen(np.concatenate([[0], np.cumsum(sizes)])))
