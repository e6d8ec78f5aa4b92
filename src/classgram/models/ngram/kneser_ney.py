"""Modified Kneser-Ney smoothing, interpolated, by the conventions of lmplz."""

from collections.abc import Callable, Sequence

import numpy as np

from classgram.counts.ngram_counts import Level
from classgram.models._kernels.estimation import count_continuations, interpolate
from classgram.models.ngram.discounts import Discounts, modified_kneser_ney_discounts
from classgram.models.ngram.trie import (
    BackoffTrie,
    LevelEstimates,
    assemble,
    link_levels,
    without_double_starts,
)
from classgram.runtime.compiled import frozen
from classgram.text.vocabulary import BOS


def estimate_kneser_ney(
    levels: Sequence[Level], predicted: np.ndarray, note: Callable[[str], None] = lambda text: None
) -> BackoffTrie:
    """Estimate a modified Kneser-Ney model from the counts of all its orders.

    ``predicted`` tells the words (or classes) that share the uniform distribution under the unigrams.
    It may have several rows, for kinds of symbols of which a context always tells which one follows:
    each kind then has a unigram distribution of its own.
    ``note`` is told where discounts could not be estimated.
    """
    levels = without_double_starts(levels)
    links = link_levels(levels)
    counts = _adjusted_counts(levels, links)
    discounts = [modified_kneser_ney_discounts(level) for level in counts]
    _report_fallbacks(discounts, note)
    unigrams = np.zeros(len(counts[0]))
    for kind in np.atleast_2d(predicted):
        own = _interpolated_unigrams(frozen(counts[0] * kind), discounts[0].values, kind)
        unigrams[kind] = own[kind]
    estimates: list[LevelEstimates] = []
    lower = unigrams
    for index, (level, suffixes) in enumerate(zip(levels[1:], links, strict=True), start=1):
        probabilities = np.empty(len(level.words))
        backoffs = np.empty(len(level.starts) - 1)
        interpolate(
            level.starts,
            counts[index],
            frozen(lower[suffixes]),
            frozen(discounts[index].values),
            probabilities,
            backoffs,
        )
        estimates.append(LevelEstimates(level, suffixes, probabilities, backoffs))
        lower = probabilities
    return assemble(unigrams, estimates)


def _adjusted_counts(levels: Sequence[Level], links: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the counts of the highest order, and below it the numbers of different words before.

    N-grams that begin with <s> have no word before them, and keep their counts.
    """
    adjusted = [levels[-1].counts]
    first, last = BOS, BOS + 1
    raw = [(first, last)]
    for level in levels[1:]:
        first, last = int(level.starts[first]), int(level.starts[last])
        raw.append((first, last))
    for level, suffixes, (first, last) in zip(levels[-2::-1], links[::-1], raw[-2::-1], strict=True):
        counts = np.zeros(len(level.words), np.int64)
        count_continuations(suffixes, counts)
        counts[first:last] = level.counts[first:last]
        adjusted.insert(0, frozen(counts))
    return adjusted


def _interpolated_unigrams(counts: np.ndarray, discounts: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return unigram probabilities, interpolated with the uniform distribution."""
    probabilities = np.empty(len(counts))
    uniform = predicted / predicted.sum()
    starts = np.array([0, len(counts)], dtype=np.int64)
    interpolate(frozen(starts), counts, frozen(uniform), frozen(discounts), probabilities, np.empty(1))
    return probabilities


def _report_fallbacks(discounts: Sequence[Discounts], note: Callable[[str], None]) -> None:
    """Tell the orders whose discounts are not estimates, in one line each."""
    for order, (values, problem) in enumerate(discounts, start=1):
        if problem:
            given = ", ".join(f"{value:g}" for value in values[1:])
            note(f"Kneser-Ney, order {order}: {problem}, so the discounts are {given}")
