"""Back-off models: the paper's, with cut-offs and unsmoothed counts, and Katz's with Good-Turing."""

from collections.abc import Callable, Sequence

import numpy as np

from classgram.counts.ngram_counts import Level
from classgram.errors import InputError
from classgram.models._kernels.estimation import back_off, raise_cutoffs
from classgram.models.ngram.discounts import good_turing_factors, relative_frequencies
from classgram.models.ngram.trie import (
    BackoffTrie,
    LevelEstimates,
    assemble,
    link_levels,
    without_double_starts,
)
from classgram.runtime.compiled import frozen

Note = Callable[[str], None]
_Shares = Callable[[int, Level], np.ndarray]


def estimate_backoff(
    levels: Sequence[Level], predicted: np.ndarray, cutoffs: Sequence[int] = (2,)
) -> BackoffTrie:
    """Estimate the paper's back-off model (section 5).

    ``cutoffs`` gives the least count to keep for each order from 2 up; the last holds for all above.
    """
    if not cutoffs or min(cutoffs) < 1:
        raise InputError("cut-offs are counts of 1 or more; give at least one")

    def shares(order: int, level: Level) -> np.ndarray:
        cutoff = cutoffs[min(order - 2, len(cutoffs) - 1)]
        kept = np.empty(level.counts.size, np.bool_)
        raise_cutoffs(level.starts, level.counts, cutoff, kept)
        return np.where(kept, level.counts, 0.0)

    return _estimate_by_shares(levels, predicted, shares)


def estimate_katz(
    levels: Sequence[Level], predicted: np.ndarray, note: Note = lambda text: None
) -> BackoffTrie:
    """Estimate a Katz back-off model: Good-Turing discounts for counts up to 5, higher ones kept."""

    def shares(order: int, level: Level) -> np.ndarray:
        factors, problem = good_turing_factors(level.counts)
        if problem:
            note(f"Katz, order {order}: {problem}")
        kept: np.ndarray = level.counts * factors[np.minimum(level.counts, len(factors) - 1)]
        return kept

    return _estimate_by_shares(levels, predicted, shares)


def _estimate_by_shares(levels: Sequence[Level], predicted: np.ndarray, shares: _Shares) -> BackoffTrie:
    """Estimate a back-off model whose kept counts are given, 0 where an n-gram is dropped."""
    levels = without_double_starts(levels)
    unigrams = relative_frequencies(levels[0].counts, predicted)
    estimates: list[LevelEstimates] = []
    kept = []
    lower = unigrams
    for order, (level, suffixes) in enumerate(zip(levels[1:], link_levels(levels), strict=True), start=2):
        kept_counts = shares(order, level)
        probabilities = np.empty(len(level.words))
        backoffs = np.empty(len(level.starts) - 1)
        back_off(
            level.starts,
            level.counts,
            frozen(kept_counts),
            frozen(lower[suffixes]),
            probabilities,
            backoffs,
        )
        estimates.append(LevelEstimates(level, suffixes, probabilities, backoffs))
        kept.append(kept_counts > 0)
        lower = probabilities
    return assemble(unigrams, estimates, kept)
