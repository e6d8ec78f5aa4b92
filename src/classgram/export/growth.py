"""Which unseen n-grams a back-off model should hold: those that bring it nearest to the model behind it."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from classgram.counts._kernels.counting import Level
from classgram.counts.ngram_counts import parents_of
from classgram.export._kernels.growth import choose_words, count_candidates, list_candidates
from classgram.export.batch_stepping import States, Walker, Wanted
from classgram.runtime.compiled import frozen
from classgram.runtime.progress import Report

Floats = npt.NDArray[np.float64]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

PLACES = 1 << 20
"""Candidates rated at a time."""

FIRST_GUESS = 0.015
"""The least gain, times the number of n-grams wanted, that is tried first; it is lowered as needed."""

SLACK = 6.0
"""How far below the guess gains are looked for, so that the right threshold is among them."""

MOST_RAISED = 20.0
"""Words that a model would have to raise by more than this factor are not looked at."""

LEAST_MASS = 25.0
"""A context is looked at if its probability is this many times the least gain."""

SURE, SAMPLED = 2000, 20000
"""To find the threshold the contexts of so many likely bigrams and so many others are tried."""

HIGHER_SHARE = 1.08
"""How many n-grams all orders from 3 up gain, for each that order 3 gains; measured."""


RELAXED = 0.7
"""Above order 2 the threshold is lowered by so much, and the best are taken: it was found on a sample."""

THIS_SHARE = 0.94
"""What an order above 2 may take of the n-grams left, if orders follow; measured."""


class Front(NamedTuple):
    """The n-grams of the order made last, as contexts of the next order."""

    states: States
    masses: Floats
    """The probability of meeting each of them in a text."""
    rows: Int64s
    """The row of ``below`` that holds the words after each one's suffix."""
    below: Level
    lower: Floats
    """The probability of each entry of ``below``."""


class Candidates(NamedTuple):
    """N-grams worth having: context, word, probability by the model, and what they gain."""

    contexts: Int64s
    words: Int32s
    probabilities: Floats
    gains: Floats

    def take(self, chosen: npt.NDArray[np.bool_] | Int64s) -> "Candidates":
        """Just the chosen ones."""
        return Candidates(
            self.contexts[chosen], self.words[chosen], self.probabilities[chosen], self.gains[chosen]
        )

    def best(self, number: int) -> "Candidates":
        """The ones that gain most."""
        if self.gains.size <= number:
            return self
        return self.take(np.sort(np.argsort(-self.gains, kind="stable")[: max(number, 0)]))


class Growth:
    """The choice of at most so many unseen n-grams, order by order."""

    def __init__(self, walker: Walker, number: int, report: Report) -> None:
        self.walker, self.left, self.report = walker, number, report
        self.grown = 0
        self.threshold = 0.0

    def additions(self, front: Front, known: Level, longer: Level | None) -> Candidates:
        """The n-grams to add to those known of an order; ``longer`` are those known of the next."""
        if self.left <= 0:
            return nothing()
        if self.threshold == 0.0:
            found = self._first(front, known, longer).best(self.left)
        else:
            found = self.candidates(front, known, RELAXED * self.threshold)
            found = found.best(round(self.left * (1.0 if longer is None else THIS_SHARE)))
        self.left -= found.gains.size
        self.grown += found.gains.size
        return found

    def _first(self, front: Front, known: Level, longer: Level | None) -> Candidates:
        """The bigrams to add; on the way it is found what an n-gram must gain to be worth its place."""
        low = FIRST_GUESS / self.left / SLACK
        while True:
            found = self.candidates(front, known, low)
            gains, weights = found.gains, np.ones(found.gains.size)
            if longer is not None:
                more, scale = self._sample_trigrams(front, (known, longer), found, low)
                gains = np.concatenate([gains, more])
                weights = np.concatenate([weights, scale * HIGHER_SHARE])
            order = np.argsort(-gains, kind="stable")
            reached = np.flatnonzero(np.cumsum(weights[order]) > self.left)
            if reached.size or low < np.finfo(float).eps * FIRST_GUESS / self.left:
                break
            # At the lowest threshold only rounding is left to gain.
            low /= SLACK * SLACK
        self.threshold = float(gains[order[reached[0]]]) if reached.size else low
        return found.take(found.gains > self.threshold)

    def _sample_trigrams(
        self, front: Front, known: tuple[Level, Level], found: Candidates, threshold: float
    ) -> tuple[Floats, Floats]:
        """The gains of a sample of the trigrams worth having, and how many each stands for."""
        bigrams, trigrams = known
        level, places = merged(bigrams, found.contexts, found.words)
        trigrams = under_new_parents(trigrams, places, level.words.size)
        lower = self._probabilities(front, bigrams, found, places)
        masses = front.masses[parents_of(level)] * lower
        ids = np.flatnonzero(masses >= LEAST_MASS * threshold)
        by_mass = ids[np.argsort(-masses[ids], kind="stable")]
        others = np.sort(by_mass[SURE:])
        step = max(1, others.size // SAMPLED)
        parts = []
        for chosen, scale in ((np.sort(by_mass[:SURE]), 1), (others[::step], step)):
            parents = parents_of(level)[chosen]
            states, _ = self.walker.step(front.states[parents], level.words[chosen])
            rows = level.words[chosen].astype(np.int64)
            sample = Front(states, masses[chosen], rows, level, lower)
            gains = self.candidates(sample, rows_of(trigrams, chosen), threshold).gains
            parts.append((gains, np.full(gains.size, float(scale))))
        return np.concatenate([gains for gains, _ in parts]), np.concatenate([one for _, one in parts])

    def _probabilities(self, front: Front, bigrams: Level, found: Candidates, places: Int64s) -> Floats:
        """The probabilities of all bigrams, those known, now at the places given, and those found."""
        _, logs = self.walker.step(front.states[parents_of(bigrams)], bigrams.words)
        lower = np.empty(places.size + found.gains.size)
        others = np.ones(lower.size, bool)
        lower[places], others[places] = np.exp(logs), False
        lower[others] = found.probabilities
        return frozen(lower)

    def candidates(self, front: Front, known: Level, threshold: float) -> Candidates:
        """All n-grams that gain more than a threshold and whose suffixes are known."""
        ids = np.flatnonzero(front.masses >= LEAST_MASS * threshold)
        # What a word gains is bounded by what it is raised from, and by how much it may be raised.
        most = MOST_RAISED * np.log(MOST_RAISED)
        least = threshold / (front.masses[ids] * most)
        counts = np.empty(ids.size, np.int64)
        below = (front.below.starts, frozen(front.lower))
        count_candidates(below, frozen(front.rows[ids]), frozen(least), counts)
        ids, least, counts = ids[counts > 0], least[counts > 0], counts[counts > 0]
        ends = np.cumsum(counts)
        parts = [nothing()]
        begin = 0
        while begin < ids.size:
            done = ends[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, done + PLACES, side="right")))
            block = slice(begin, end)
            parts.append(self._block(front, known, ids[block], (counts[block], least[block]), threshold))
            self.report(int(ends[end - 1]), f"{known.starts.size - 1:,} contexts")
            begin = end
        return Candidates(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _block(
        self, front: Front, known: Level, ids: Int64s, filters: tuple[Int64s, Floats], threshold: float
    ) -> Candidates:
        """The n-grams worth having after some contexts."""
        counts, least = filters
        starts = frozen(np.concatenate([[0], np.cumsum(counts)]))
        places = np.empty(starts[-1], np.int64)
        list_candidates(
            (front.below.starts, frozen(front.lower)), frozen(front.rows[ids]), frozen(least), places
        )
        wanted = Wanted(starts, frozen(front.below.words[places]))
        probabilities = np.zeros(places.size)
        self.walker.add(front.states[ids], wanted, np.ones(ids.size), probabilities)
        gains = np.empty(places.size)
        choose_words(
            (wanted.starts, wanted.words),
            (frozen(probabilities), frozen(front.lower[places])),
            (frozen(known.starts[ids]), frozen(known.starts[ids + 1]), known.words),
            frozen(front.masses[ids]),
            threshold,
            gains,
        )
        chosen = np.flatnonzero(gains > 0)
        contexts = ids[np.searchsorted(starts, chosen, side="right") - 1]
        return Candidates(contexts, wanted.words[chosen], probabilities[chosen], gains[chosen])


def nothing() -> Candidates:
    """No candidates."""
    return Candidates(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0), np.empty(0))


def merged(level: Level, contexts: Int64s, words: Int32s) -> tuple[Level, Int64s]:
    """A level with further entries that it lacked, and where its own entries are in it."""
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


def rows_of(level: Level, chosen: Int64s) -> Level:
    """Just the rows of some parents."""
    sizes = np.diff(level.starts)[chosen]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    entries = np.arange(starts[-1]) + np.repeat(level.starts[chosen] - starts[:-1], sizes)
    return Level(frozen(starts), frozen(level.words[entries]), frozen(level.counts[entries]))


def under_new_parents(level: Level, places: Int64s, parents: int) -> Level:
    """A level whose parents were given new places among others, in the same order."""
    sizes = np.zeros(parents, np.int64)
    sizes[places] = np.diff(level.starts)
    return level._replace(starts=frozen(np.concatenate([[0], np.cumsum(sizes)])))
