"""The two criteria: what a good partition is, as numbers for the kernels and as plain definitions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from classgram.clustering._kernels.criterion import (
    LEVELS,
    MOST,
    NODES,
    ONE,
    STEPS,
    Ready,
    Terms,
)
from classgram.errors import InputError
from classgram.options import ClusterOptions

VALUES = 8192
"""Counts below this have ready values."""

READY_COUNTS = 4096
"""Counts below this have ready differences."""

DISCOUNT_LIMITS = (0.1, 0.9)
"""An estimated discount stays within these: clustering itself removes the pairs seen twice."""

Counts = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class MaximumLikelihood:
    """F = sum f(N(g1,g2)) - sum h(N(g1)) - sum h(N(g2)), f(n) = h(n) = n log n."""

    name = "ml"
    pair_shift: float = 0.0
    total_shift: float = 0.0
    discount: float = 0.0

    def value(self, table: Counts) -> float:
        """Give F of a table of class pairs (context classes by word classes)."""
        return self.value_of(table, table.sum(0), table.sum(1))

    def value_of(self, pairs: Counts, words: Counts, contexts: Counts) -> float:
        """Give F of the counts of class pairs, of word classes and of context classes."""
        return sum_logs(pairs, 0.0) - sum_logs(words, 0.0) - sum_logs(contexts, 0.0)


@dataclass(frozen=True)
class LeavingOneOut:
    """The likelihood of each event when the classes' counts are taken from all other events.

    F = sum over N > 1 of N log(N-1-b) + n1 log(b (n+ - 1) / (n0 + 1))
    - sum N(g1) log(N(g1)-1) - sum N(g2) log(N(g2)-1).
    """

    name = "loo"
    discount: float = 0.75

    def __post_init__(self) -> None:
        if not 0 < self.discount < 1:
            raise InputError("--discount must lie between 0 and 1, or be estimate")

    @property
    def pair_shift(self) -> float:
        """What is taken off a pair's count inside its logarithm: itself, and the discount."""
        return 1.0 + self.discount

    @property
    def total_shift(self) -> float:
        """What is taken off a class's count inside its logarithm: the event itself."""
        return 1.0

    def value(self, table: Counts) -> float:
        """Give F of a table of class pairs (context classes by word classes)."""
        return self.value_of(table, table.sum(0), table.sum(1))

    def value_of(self, pairs: Counts, words: Counts, contexts: Counts) -> float:
        """Give F of the counts of class pairs, of word classes and of context classes."""
        once, seen = int((pairs == 1).sum()), int((pairs > 0).sum())
        unseen = int((words > 0).sum()) * int((contexts > 0).sum()) - seen
        result = sum_logs(pairs, self.pair_shift) - sum_logs(words, 1.0) - sum_logs(contexts, 1.0)
        if once:
            result += once * np.log(self.discount * max(seen - 1, 1) / (unseen + 1))
        return float(result)


Criterion = MaximumLikelihood | LeavingOneOut


def sum_logs(counts: Counts, shift: float) -> float:
    """Give the sum of n log(n - shift) over the counts above 1."""
    several = counts[counts > 1].astype(np.float64)
    return float((several * np.log(several - shift)).sum())


def choose_criterion(options: ClusterOptions) -> Criterion:
    """Give the criterion that the options name, with the discount it starts from."""
    if options.criterion == "ml":
        return MaximumLikelihood()
    return LeavingOneOut(0.75 if options.discount == "estimate" else options.discount)


def estimated_discount(once: int, twice: int) -> float:
    """Give b = n1 / (n1 + 2 n2), within its limits."""
    low, high = DISCOUNT_LIMITS
    return min(max(once / max(once + 2 * twice, 1), low), high)


def kernel_terms(criterion: Criterion, total: int) -> tuple[Terms, Ready]:
    """Give a criterion as the tables that the kernels take; no count exceeds ``total``."""
    values = small_values(criterion.pair_shift)
    nodes = np.array(NODES, np.float64)
    # f(N+n) - f(N) rises with N, but for the first ones where leaving-one-out dips.
    extremes = differences(nodes[:, None], np.array([0.0, 1.0, 2.0, 3.0, total]), criterion.pair_shift)
    lowest, highest = extremes.min(axis=1), extremes.max(axis=1)
    steps = np.maximum(highest - lowest, 1.0) / STEPS
    quantised = np.empty((READY_COUNTS, LEVELS), np.uint8)
    for level, node in enumerate(NODES):
        ready = values[node : node + READY_COUNTS] - values[:READY_COUNTS] - lowest[level]
        # No count exceeds the total: what lies beyond is never looked up.
        quantised[:, level] = np.minimum(np.rint(ready / steps[level]), STEPS)
    terms = Terms(
        values,
        small_values(criterion.total_shift),
        criterion.pair_shift,
        criterion.total_shift,
        criterion.discount,
    )
    firsts, shares, excesses, errors = combinations(criterion.pair_shift)
    both, weights = firsts[:, None] + np.arange(2), shares / ONE
    # Ready differences are rounded to whole steps, and each times its weight to 1/16 of one.
    errors += ((0.5 * weights + 0.04 * (shares > 0)) * steps[both]).sum(axis=1)
    constants = (weights * lowest[both]).sum(axis=1) - excesses
    return terms, Ready(lowest, steps, quantised.view(np.uint64).ravel(), firsts, shares, constants, errors)


def combinations(shift: float) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint16], Floats, Floats]:
    """Give, for amounts n up to MOST, how two nodes are combined.

    That is the first of them, the shares of both, by how much the sum is too large, and the largest error
    that is left. f(N+n) - f(N) hardly bends between nodes: a combination of two that is right for N = 0
    and in the limit of large N is nearly right everywhere.
    """
    amounts, nodes = np.arange(MOST + 1, dtype=np.float64), np.array(NODES, np.float64)
    firsts = np.clip(np.searchsorted(nodes, amounts) - 1, 0, nodes.size - 2)
    low, high = nodes[firsts], nodes[firsts + 1]
    low_value, high_value, value = (differences(n, 0.0, shift) for n in (low, high, amounts))
    # In the limit f(N+n) - f(N) is n (log N + 1): the weighted nodes must sum to n.
    of_high = (value * low - low_value * amounts) / (high_value * low - low_value * high)
    of_high = np.rint(of_high * ONE) / ONE
    shares = np.rint(np.stack([(amounts - of_high * high) / low, of_high], axis=1) * ONE).astype(np.uint16)
    counts = np.concatenate([np.arange(256), np.geomspace(256, 1e9, 128).round()])
    fitted = np.zeros((amounts.size, counts.size))
    of_nodes = differences(nodes[:, None], counts, shift)
    for which in (0, 1):
        fitted += shares[:, which, None] / ONE * of_nodes[firsts + which]
    excess = fitted - differences(amounts[:, None], counts, shift)
    highest, lowest = excess.max(axis=1), excess.min(axis=1)
    # Between the counts looked at the error is hardly larger.
    return firsts, shares, 0.5 * (highest + lowest), 0.55 * (highest - lowest) + 1e-6 * amounts


def differences(amounts: Floats, counts: Floats | float, shift: float) -> Floats:
    """Give f(N+n) - f(N) for amounts n and counts N."""

    def values(numbers: Floats) -> Floats:
        result: Floats = np.where(numbers > 1, numbers * np.log(np.maximum(numbers, 2.0) - shift), 0.0)
        return result

    return values(amounts + counts) - values(np.asarray(counts, np.float64))


def small_values(shift: float) -> npt.NDArray[np.float64]:
    """Give n log(n - shift) for small n, 0 for n < 2."""
    counts = np.arange(2, VALUES, dtype=np.float64)
    return np.concatenate([np.zeros(2), counts * np.log(counts - shift)])
