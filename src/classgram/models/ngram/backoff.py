"""Back-off models: the paper's, with cut-offs and unsmoothed counts, and Katz's with Good-Turing.

The paper's model is the yardstick of its section 5 (tables 5 to 8). Counts are not smoothed: the mass
for unseen words comes only from events below the cut-off C. Where no event after a context is below
C, the cut-off of that context is set to the lowest value that gains some mass.
"""

from collections.abc import Callable, Sequence

import numpy as np

from classgram.counts._kernels.counting import Level
from classgram.counts.suffixes import link_levels
from classgram.errors import InputError
from classgram.models._kernels.estimation import LevelCounts, LevelOutput, back_off, raise_cutoffs
from classgram.models.language_model import Note, silent
from classgram.models.ngram.discounts import good_turing_factors, relative_frequencies
from classgram.models.ngram.trie import BackoffTrie, LevelEstimates, assemble, without_double_starts
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import BoolArray, Float64Array

_Shares = Callable[[int, Level], Float64Array]
"""Gives, for the order of a level and the level, the discounted counts, 0 where an n-gram is dropped."""


def estimate_backoff(
    levels: Sequence[Level], predicted: BoolArray, cutoffs: Sequence[int] = (2,)
) -> BackoffTrie:
    """Estimate the paper's back-off model (section 5).

    ``cutoffs`` gives C, the least count to keep, for each order from 2 up; the last holds for all above.
    """
    if not cutoffs or min(cutoffs) < 1:
        raise InputError("cut-offs are counts of 1 or more; give at least one")

    def shares(order: int, level: Level) -> Float64Array:
        cutoff = cutoffs[min(order - 2, len(cutoffs) - 1)]
        kept = np.empty(level.counts.size, np.bool_)
        raise_cutoffs(level.starts, level.counts, cutoff, kept)
        return np.where(kept, level.counts, 0.0)

    return _estimate_by_shares(levels, predicted, shares)


def estimate_katz(levels: Sequence[Level], predicted: BoolArray, note: Note = silent) -> BackoffTrie:
    """Estimate a Katz back-off model: Good-Turing discounts for counts up to 5, higher ones kept."""

    def shares(order: int, level: Level) -> Float64Array:
        factors, problem = good_turing_factors(level.counts)
        if problem:
            note(f"Katz, order {order}: {problem}")
        kept: Float64Array = level.counts * factors[np.minimum(level.counts, len(factors) - 1)]
        return kept

    return _estimate_by_shares(levels, predicted, shares)


def _estimate_by_shares(levels: Sequence[Level], predicted: BoolArray, shares: _Shares) -> BackoffTrie:
    """Estimate a back-off model from the counts that are kept of each level."""
    levels = without_double_starts(levels)
    unigrams = relative_frequencies(levels[0].counts, predicted)
    estimates: list[LevelEstimates] = []
    kept = []
    lower = unigrams
    for order, (level, suffixes) in enumerate(zip(levels[1:], link_levels(levels), strict=True), start=2):
        kept_counts = shares(order, level)
        out = LevelOutput(np.empty(len(level.words)), np.empty(len(level.starts) - 1))
        known = LevelCounts(level.starts, level.counts, frozen(lower[suffixes]))
        back_off(known, frozen(kept_counts), out)
        estimates.append(LevelEstimates(level, suffixes, *out))
        kept.append(kept_counts > 0)
        lower = out.probabilities
    return assemble(unigrams, estimates, kept)
