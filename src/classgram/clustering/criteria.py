"""The criteria: what a good partition is, defined once, and the tables that kernels take.

Both are F = sum f(N(g1,g2)) - sum h(N(g1)) - sum h(N(g2)) + a global term, with f(n) = n log(n - s) and
h(n) = n log(n - t) (paper, section 2; leaving-one-out: section 2.1, and appendix A for more than bigrams).
A new criterion is a class here, its terms in _kernels/criterion.py, and its name in the options.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import ClassVar, NamedTuple

import numpy as np

from classgram.clustering._kernels.criterion import (
    LARGEST_NODE,
    LEVELS,
    MOST_STEPS,
    NODES,
    SHARE_UNIT,
    KernelCriterion,
    Precomputed,
    Terms,
)
from classgram.errors import InputError
from classgram.options import ClusterOptions
from classgram.runtime.compiled.arrays import AnyArray, Float64Array, Int64Array, UInt16Matrix

_VALUE_COUNTS = 8192
"""Counts below this have precomputed values."""

_DIFFERENCE_COUNTS = 4096
"""Counts below this have precomputed differences."""

_DISCOUNT_LIMITS = (0.1, 0.9)
"""An estimated discount stays within these: clustering itself removes the pairs seen twice."""

_FLOOR_ERROR = 0.04
"""In steps: where a step times its share is cut, 0 to 15/254 are lost and 1/32 is added; 1/32 is less."""

_DOUBLE_ROUNDING = 2.0**-53
_FEWEST_GRID_COUNTS, _MOST_GRID_COUNTS, _GRID_POINTS = 256, 1e9, 128
"""Counts at which combinations of nodes are compared: all up to the first, then so many up to the second."""


class PairSums(NamedTuple):
    """What F needs of the counts of class pairs."""

    value: float
    """The sum of f."""
    once: int
    """n1, the pairs seen once."""
    seen: int
    """n+, the pairs seen at all."""


@dataclass(frozen=True)
class Criterion:
    """F for some shifts; without a global term, it is maximum likelihood."""

    name: ClassVar[str]
    counts_pairs: ClassVar[bool] = False
    """Whether there is a global term, in the numbers of class pairs seen once and seen at all."""
    forbids_single_counts: ClassVar[bool] = False
    """Whether no class may have a count of 1."""
    discount: float = 0.0

    @property
    def pair_shift(self) -> float:
        """What is taken off a pair's count inside its logarithm (s)."""
        return 0.0

    @property
    def class_shift(self) -> float:
        """What is taken off a class's count inside its logarithm (t)."""
        return 0.0

    def global_term(self, once: int, seen: int, cells: int) -> float:
        """Return what n1 and n+ of so many cells add to F."""
        return 0.0

    def value(self, table: AnyArray) -> float:
        """Return F of a table of class pairs (context classes by word classes)."""
        return self.value_of(table, table.sum(0), table.sum(1))

    def value_of(self, pairs: AnyArray, words: AnyArray, contexts: AnyArray) -> float:
        """Return F of the counts of class pairs, of word classes and of context classes."""
        value = float(_log_terms(pairs[pairs > 1], self.pair_shift).sum())
        return self.value_from(
            PairSums(value, int((pairs == 1).sum()), int((pairs > 0).sum())), words, contexts
        )

    def value_from(self, pairs: PairSums, words: AnyArray, contexts: AnyArray) -> float:
        """Return F of sums over the class pairs, and the counts of word classes and of context classes."""
        result, cells = pairs.value, 1
        for totals in (words, contexts):
            result -= float(_log_terms(totals[totals > 1], self.class_shift).sum())
            cells *= int((totals > 0).sum())
        return result + self.global_term(pairs.once, pairs.seen, cells)

    def kernel_form(self, total: int) -> KernelCriterion:
        """Return the criterion as the tables that kernels take; no count exceeds ``total``."""
        terms = Terms(
            small_values(self.pair_shift),
            small_values(self.class_shift),
            self.pair_shift,
            self.class_shift,
            self.discount,
            self.counts_pairs,
            self.forbids_single_counts,
            max(_largest_gain(self.pair_shift, total), _largest_gain(self.class_shift, total)),
        )
        return KernelCriterion(terms, _precomputed(terms, total))


@dataclass(frozen=True)
class MaximumLikelihood(Criterion):
    """Maximum likelihood: s = t = 0 and no global term (paper, section 2)."""

    name = "ml"


@dataclass(frozen=True)
class LeavingOneOut(Criterion):
    """The likelihood of each event when the classes' counts are taken from all other events.

    F = sum over N > 1 of N log(N-1-b) + n1 log(b (n+ - 1) / (n0 + 1))
    - sum N(g1) log(N(g1)-1) - sum N(g2) log(N(g2)-1) (paper, section 2.1, the last equation).
    """

    name = "loo"
    counts_pairs = True
    forbids_single_counts = True
    discount: float = 0.75

    def __post_init__(self) -> None:
        if not 0 < self.discount < 1:
            raise InputError("--discount must lie between 0 and 1, or be estimate")

    @property
    def pair_shift(self) -> float:
        """What is taken off a pair's count inside its logarithm: the event itself, and the discount."""
        return 1.0 + self.discount

    @property
    def class_shift(self) -> float:
        """What is taken off a class's count inside its logarithm: the event itself."""
        return 1.0

    def global_term(self, once: int, seen: int, cells: int) -> float:
        """Return n1 log(b (n+ - 1) / (n0 + 1)): what the pairs seen once are given when left out."""
        # A single pair seen once is the whole text: there is nothing to estimate from.
        return once * log(self.discount * max(seen - 1, 1) / (cells - seen + 1)) if once else 0.0


def choose_criterion(options: ClusterOptions) -> Criterion:
    """Return the criterion that the options name, with the discount it starts from."""
    if options.criterion == "ml":
        return MaximumLikelihood()
    return LeavingOneOut(0.75 if options.discount == "estimate" else options.discount)


def estimated_discount(once: int, twice: int) -> float:
    """Return b = n1 / (n1 + 2 n2), within its limits (paper, section 2.1)."""
    low, high = _DISCOUNT_LIMITS
    return min(max(once / max(once + 2 * twice, 1), low), high)


def _log_terms(counts: AnyArray, shift: float) -> Float64Array:
    """Return n log(n - shift) of each count n > 1."""
    numbers = counts.astype(np.float64)
    terms: Float64Array = numbers * np.log(numbers - shift)
    return terms


def small_values(shift: float) -> Float64Array:
    """Return n log(n - shift) for small n, 0 for n < 2."""
    return np.concatenate([np.zeros(2), _log_terms(np.arange(2, _VALUE_COUNTS), shift)])


def differences(amounts: AnyArray, counts: AnyArray, shift: float) -> AnyArray:
    """Return f(N+n) - f(N) for amounts n and counts N."""

    def values(numbers: AnyArray) -> AnyArray:
        return np.where(numbers > 1, _log_terms(np.maximum(numbers, 2), shift), 0.0)

    return values(amounts + counts) - values(counts)


def _extreme_counts(total: int) -> Float64Array:
    """Return counts N among which f(N+n) - f(N) is lowest and highest of all counts up to the total.

    f''(x) = (x - 2 s) / (x - s)^2 is positive from x = 4 on, as s < 2: from there on differences rise with N.
    """
    return np.array([0.0, 1.0, 2.0, 3.0, min(4, total), total])


def _largest_gain(shift: float, total: int) -> float:
    """Return the most by which one event changes f of a count up to the total, or 1 where that is less.

    So f(N+n) - f(N), the sum of n such changes, is at most n times this.
    """
    return max(float(np.abs(differences(np.array(1.0), _extreme_counts(total), shift)).max()), 1.0)


def _precomputed(terms: Terms, total: int) -> Precomputed:
    """Return the 8-bit differences of the nodes, and how those of other amounts are combined from them."""
    shift, values = terms.pair_shift, terms.pair_values
    extremes = differences(np.array(NODES, np.float64)[:, None], _extreme_counts(total), shift)
    lowest, highest = extremes.min(axis=1), extremes.max(axis=1)
    steps = np.maximum(highest - lowest, 1.0) / MOST_STEPS
    quantised = np.empty((_DIFFERENCE_COUNTS, LEVELS), np.uint8)
    for level, node in enumerate(NODES):
        exact = values[node : node + _DIFFERENCE_COUNTS] - values[:_DIFFERENCE_COUNTS] - lowest[level]
        # No count exceeds the total: what lies beyond is never looked up.
        quantised[:, level] = np.minimum(np.rint(exact / steps[level]), MOST_STEPS)
    firsts, shares, excesses, errors = _combinations(shift, max(total, int(_MOST_GRID_COUNTS)))
    both, weights = firsts[:, None] + np.arange(2), shares / SHARE_UNIT
    constants = (weights * lowest[both]).sum(axis=1) - excesses
    # Differences are rounded to whole steps, and each times its weight is cut.
    errors = errors + ((0.5 * weights + _FLOOR_ERROR * (shares > 0)) * steps[both]).sum(axis=1)
    # Six values in double precision, of at most f(2 total), with weights up to 3, err by two roundings each.
    rounding = 36 * _DOUBLE_ROUNDING * 2 * max(total, 2) * log(2 * max(total, 2))
    steps_by_count = quantised.view(np.uint64).ravel()
    node_errors = 0.5 * steps + rounding
    return Precomputed(
        lowest, steps, node_errors, steps_by_count, firsts, shares, constants, errors + rounding
    )


@lru_cache(maxsize=8)
def _combinations(shift: float, most: int) -> tuple[Int64Array, UInt16Matrix, Float64Array, Float64Array]:
    """Return, for amounts n up to the largest node, how two nodes are combined, for counts up to ``most``.

    That is the first of them, the shares of both, by how much the sum is too large, and the largest error
    that is left. f(N+n) - f(N) hardly bends between nodes: a combination of two that is right for N = 0
    and in the limit of large N is nearly right everywhere.
    """
    amounts, nodes = np.arange(LARGEST_NODE + 1, dtype=np.float64), np.array(NODES, np.float64)
    firsts = np.clip(np.searchsorted(nodes, amounts) - 1, 0, nodes.size - 2).astype(np.int64)
    low, high = nodes[firsts], nodes[firsts + 1]
    none = np.array(0.0)
    low_value, high_value, value = (differences(n, none, shift) for n in (low, high, amounts))
    # In the limit f(N+n) - f(N) is n (log N + 1): the weighted nodes must sum to n.
    of_high = (value * low - low_value * amounts) / (high_value * low - low_value * high)
    of_high = np.rint(of_high * SHARE_UNIT) / SHARE_UNIT
    exact_shares = np.stack([(amounts - of_high * high) / low, of_high], axis=1)
    shares: UInt16Matrix = np.rint(exact_shares * SHARE_UNIT).astype(np.uint16)

    def excess(grid: Float64Array) -> AnyArray:
        """Return by how much combinations are too large at the first counts and at those of a grid."""
        counts = np.concatenate([np.arange(_FEWEST_GRID_COUNTS), grid])
        of_nodes = differences(nodes[:, None], counts, shift)
        fitted = np.zeros((amounts.size, counts.size))
        for which in (0, 1):
            fitted += shares[:, which, None] / SHARE_UNIT * of_nodes[firsts + which]
        return fitted - differences(amounts[:, None], counts, shift)

    coarse = excess(np.geomspace(_FEWEST_GRID_COUNTS, most, _GRID_POINTS).round())
    highest, lowest = coarse.max(axis=1), coarse.min(axis=1)
    centres = 0.5 * (highest + lowest)
    fine_grid = np.geomspace(_FEWEST_GRID_COUNTS, most, 8 * _GRID_POINTS).round()
    summed = (shares / SHARE_UNIT * nodes[firsts[:, None] + np.arange(2)]).sum(axis=1)
    proven = np.abs(excess(fine_grid) - centres[:, None]).max(axis=1)
    proven += np.maximum(summed, amounts) * _largest_bend(fine_grid, shift)
    # A tenth more than the coarse grid tells mostly suffices; the fine one tells where it does not.
    return firsts, shares, centres, np.maximum(0.55 * (highest - lowest) + 1e-6 * amounts, proven)


def _largest_bend(grid: Float64Array, shift: float) -> float:
    """Return by how much, for each unit of amount, a combination's excess can leave the grid of counts.

    Between counts a and b a function leaves the straight line by at most (b - a)^2 / 8 times its second
    derivative. Of f(N+n) - f(N) that is f''(N+n) - f''(N), and f'''(x) = (3 s - x) / (x - s)^3 is negative
    from x = 6 on, as s < 2, and no lower than -1 / (x - s)^2: it lies between -n / (a - s)^2 and 0. The
    excess is a weighted sum of two such differences less a third, so that of either sign only one part
    counts.
    """
    starts, widths = grid[:-1], np.diff(grid)
    return float((widths**2 / 8 / (starts - shift) ** 2).max())
