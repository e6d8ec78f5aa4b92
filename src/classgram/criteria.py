"""The two criteria: what a good partition is, as numbers for the kernels and as plain definitions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from classgram.errors import InputError
from classgram.kernels.criterion import (
    HALF_RANGE,
    LEVELS,
    MIDDLE_LEVELS,
    SHORT_COUNTS,
    Ready,
    Terms,
)
from classgram.options import ClusterOptions

VALUES = SHORT_COUNTS + MIDDLE_LEVELS
"""Counts below this have ready values."""

READY_COUNTS = 4096
"""Counts below this have ready differences."""

DISCOUNT_LIMITS = (0.1, 0.9)
"""An estimated discount stays within these: clustering itself removes the pairs seen twice."""

Counts = npt.NDArray[Any]


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
    # |f(N+n) - f(N)| is at most n (log(N+n) + 1), and below 4 n where leaving-one-out dips.
    largest = [level * (np.log(total + level) + 2.0) for level in range(1, LEVELS + 1)]
    steps = (np.maximum(largest, 6.0) / HALF_RANGE).astype(np.float32)
    values = small_values(criterion.pair_shift)
    quantised = np.empty((READY_COUNTS, LEVELS), np.int16)
    for level in range(1, LEVELS + 1):
        differences = values[level : level + READY_COUNTS] - values[:READY_COUNTS]
        quantised[:, level - 1] = np.rint(differences / steps[level - 1])
    # The last column stays 0: it stands for all larger counts, which the kernels add themselves.
    middling = np.zeros((MIDDLE_LEVELS + 1, SHORT_COUNTS + 1), np.float32)
    for amount in range(1, MIDDLE_LEVELS + 1):
        middling[amount, :-1] = values[amount : amount + SHORT_COUNTS] - values[:SHORT_COUNTS]
    terms = Terms(
        values,
        small_values(criterion.total_shift),
        criterion.pair_shift,
        criterion.total_shift,
        criterion.discount,
    )
    return terms, Ready(steps, quantised, middling)


def small_values(shift: float) -> npt.NDArray[np.float64]:
    """Give n log(n - shift) for small n, 0 for n < 2."""
    counts = np.arange(2, VALUES, dtype=np.float64)
    return np.concatenate([np.zeros(2), counts * np.log(counts - shift)])
