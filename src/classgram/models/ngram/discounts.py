"""Discounts of counts: modified Kneser-Ney, Good-Turing and absolute."""

from typing import NamedTuple

import numpy as np

from classgram.models._kernels.estimation import count_counts
from classgram.runtime.compiled.arrays import BoolArray, Float64Array, Int64Array

_FALLBACK_DISCOUNTS = (0.5, 1.0, 1.5)
"""For counts 1, 2 and 3 or more, where the text is too small or too regular to estimate them."""

ABSOLUTE_DISCOUNT = 0.75
"""The b of the paper's leaving-one-out estimate (section 2.1), in counts."""

_GOOD_TURING_LIMIT = 5
"""The highest count that Katz discounts; higher ones are taken as reliable."""


class Discounts(NamedTuple):
    """Discounts by count, the last one for all higher counts; a note says where they are no estimates."""

    values: Float64Array
    note: str | None = None


def _count_of_counts(counts: Int64Array, highest: int) -> Float64Array:
    """Return n_1 to n_highest, the numbers of n-grams with these counts, at their index."""
    totals = np.zeros(highest + 1, np.int64)
    count_counts(counts, totals)
    return totals.astype(np.float64)


def modified_kneser_ney_discounts(counts: Int64Array) -> Discounts:
    """Estimate three discounts from the numbers of n-grams seen once to four times (Chen and Goodman)."""
    n = _count_of_counts(counts, 4)
    fallback = np.array([0.0, *_FALLBACK_DISCOUNTS])
    if not n[1:].all():
        missing = next(count for count in range(1, 5) if not n[count])
        return Discounts(fallback, f"no n-gram has count {missing}")
    y = n[1] / (n[1] + 2 * n[2])
    values = np.array([0.0, *(c - (c + 1) * y * n[c + 1] / n[c] for c in (1, 2, 3))])
    for count in (1, 2, 3):
        # A discount of 0 would leave nothing for words unseen after a context.
        if not 0 < values[count] <= count:
            return Discounts(fallback, f"the discount of count {count} would be {values[count]:.3g}")
    return Discounts(values)


def good_turing_factors(counts: Int64Array) -> Discounts:
    """Return the factors that Katz multiplies counts by: [r] for r up to the limit, then 1.

    Where the numbers of n-grams are too irregular for a factor between 0 and 1, absolute discounting
    gives all factors of the order.
    """
    limit = _GOOD_TURING_LIMIT
    n = _count_of_counts(counts, limit + 1)
    factors = np.ones(limit + 2)
    if n[1:].all():
        common = (limit + 1) * n[limit + 1] / n[1]
        for r in range(1, limit + 1):
            factors[r] = ((r + 1) * n[r + 1] / n[r] / r - common) / (1 - common) if common != 1 else 0.0
        if ((factors[1:-1] > 0) & (factors[1:-1] < 1)).all():
            return Discounts(factors)
    discount = _absolute_discount(n)
    factors[1:-1] = [(r - discount) / r for r in range(1, limit + 1)]
    return Discounts(factors, f"Good-Turing fails on these counts; absolute discounting with {discount:.2f}")


def _absolute_discount(n: Float64Array) -> float:
    """Estimate b = n1 / (n1 + 2 n2), limited to [0.1, 0.9]; 0.75 where nothing was seen once."""
    if n[1] == 0:
        return ABSOLUTE_DISCOUNT
    return float(np.clip(n[1] / (n[1] + 2 * n[2]), 0.1, 0.9))


def relative_frequencies(counts: Int64Array, predicted: BoolArray) -> Float64Array:
    """Return relative frequencies of the predicted words; unseen ones share what seen ones give up.

    Seen words get (N(w) - b) / N, and b s / N is shared equally (s: number of seen words).
    """
    seen = counts > 0
    unseen = predicted & ~seen
    total = int(counts.sum())
    if not total:
        return predicted / int(predicted.sum())
    if not unseen.any():
        return counts / total
    shared = ABSOLUTE_DISCOUNT * int(seen.sum()) / total / int(unseen.sum())
    return np.where(seen, (counts - ABSOLUTE_DISCOUNT) / total, np.where(unseen, shared, 0.0))
