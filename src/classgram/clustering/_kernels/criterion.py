"""The criteria for kernels: f of class pairs, h of classes, the global term, and their approximations.

F is defined in criteria.py: f(n) = n log(n - s), h(n) = n log(n - t), and under leaving-one-out a global term
in n1 and n+, the numbers of class pairs seen once and seen at all (paper, section 2.1 and appendix A).
Nothing else in the kernels knows how these are computed.
"""

from typing import NamedTuple

import numpy as np

from classgram.runtime.compiled import kernel_part
from classgram.runtime.compiled.arrays import Float64Array, Int64Array, UInt16Matrix, UInt64Array

NODES = (1, 2, 3, 6, 14, 36, 100, 300)
"""The amounts n whose differences f(N+n) - f(N) are precomputed for every cell."""

LEVELS = len(NODES)

MOST_STEPS = 255
"""Differences are stored as 8-bit steps."""

SHARE_UNIT = 254
"""Shares are stored in units of 1/SHARE_UNIT: the largest, just above 1, times a step must fit in 16 bits."""

LARGEST_NODE = NODES[-1]
"""The differences of any amount up to here are combined from those of the nodes around it."""

SINGLE_ROUNDING = 2.0**-24
"""By which share of its result an operation in single precision errs at most."""

APPROXIMATION = 128 * SINGLE_ROUNDING
"""By which share of n L a difference in single precision errs at most (see approximate_difference)."""


class Terms(NamedTuple):
    """A criterion as numbers: values of small counts, and the shifts for all others."""

    pair_values: Float64Array
    """f(n) for small n."""
    class_values: Float64Array
    """h(n) for small n."""
    pair_shift: float
    """s."""
    class_shift: float
    """t."""
    discount: float
    """b of leaving-one-out."""
    counts_pairs: bool
    """Whether there is a global term."""
    forbids_single_counts: bool
    """Whether no class may have a count of 1."""
    largest_gain: float
    """L: one event more never changes f or h of a count by more than this (and L is at least 1)."""


class Precomputed(NamedTuple):
    """Precomputed differences f(N+n) - f(N) of the nodes, and how those of other amounts follow from them."""

    lowest: Float64Array
    """The lowest difference of each node: steps are counted from there."""
    steps: Float64Array
    """The unit of the 8-bit differences for each node."""
    node_errors: Float64Array
    """By how much the stored differences of each node may err."""
    quantised: UInt64Array
    """Differences as steps, indexed [N]: a byte for each node, the first lowest. Tables are filled eight
    bytes at a time, so the lowest must be the first in memory."""
    firsts: Int64Array
    """The first of the two nodes that an amount is combined from."""
    shares: UInt16Matrix
    """What their steps are multiplied by, in units of 1/SHARE_UNIT, indexed [n, 0 or 1]."""
    constants: Float64Array
    """What is added besides: the weighted lowest differences."""
    errors: Float64Array
    """By how much the difference of an amount may err, whatever N is, before anything is rounded to single
    precision."""


class KernelCriterion(NamedTuple):
    """A criterion as kernels take it."""

    terms: Terms
    precomputed: Precomputed


@kernel_part
def log_term(values: Float64Array, shift: float, n: int) -> float:
    """Return n log(n - shift), from the table where it reaches; 0 for n < 2."""
    if n < values.size:
        return values[n]  # type: ignore[no-any-return]
    return n * np.log(n - shift)  # type: ignore[no-any-return]


@kernel_part
def pair_gain(terms: Terms, count: int, amount: int) -> float:
    """Return f(count + amount) - f(count)."""
    values, shift = terms.pair_values, terms.pair_shift
    return log_term(values, shift, count + amount) - log_term(values, shift, count)


@kernel_part
def class_gain(terms: Terms, count: int, amount: int) -> float:
    """Return h(count + amount) - h(count)."""
    values, shift = terms.class_values, terms.class_shift
    return log_term(values, shift, count + amount) - log_term(values, shift, count)


@kernel_part
def seen_change(count: int, amount: int) -> int:
    """Return the change of n+ (times 65536) plus that of n1 when a cell grows."""
    if count == 0:
        return 65537 if amount == 1 else 65536
    return -1 if count == 1 else 0


@kernel_part
def seen_part(change: int) -> int:
    """Return the change of n+ in a sum of such changes; the rest, less this times 65536, is that of n1."""
    return (change + 32768) >> 16


@kernel_part
def global_logarithm(terms: Terms, seen: int, cells: int) -> float:
    """Return log(b (n+ - 1) / (n0 + 1)) for n+ of so many cells; n+ = 1 leaves the pair no share."""
    # A single pair seen once is the whole text: there is nothing to estimate from.
    return np.log(terms.discount * max(seen - 1, 1) / max(cells - seen + 1, 1))  # type: ignore[no-any-return]


@kernel_part
def global_term(terms: Terms, once: int, seen: int, cells: int) -> float:
    """Return n1 log(b (n+ - 1) / (n0 + 1)) of leaving-one-out, and 0 for a criterion that counts no pairs."""
    if once == 0 or not terms.counts_pairs:
        return 0.0
    return once * global_logarithm(terms, seen, cells)


@kernel_part
def approximate_log(x: np.float32) -> np.float32:
    """Return log(x) for a positive normal float32, in operations that vectorise.

    The error is at most 10 u of the result, u = SINGLE_ROUNDING. For the series: z is rounded twice, the sum
    and the products three times, and what the series leaves out is below 2e-9 of it: 6 u of at most 0.3466.
    The exponent's part is rounded twice. Where the exponent is not 0, the result is at least 0.3466, so that
    the parts, whose sizes sum to at most the result and twice 0.3466, err by at most 9 u of it; one sum
    follows.
    """
    bits = np.float32(x).view(np.int32)
    # A mantissa in [0.707, 1.414) keeps the argument of the series below 0.172. Every step is cut
    # to 32 bits, because Numba's integers widen and wide ones do not convert in vectors.
    exponent = np.int32(np.int32(bits - np.int32(0x3F3504F3)) >> np.int32(23))
    mantissa = np.int32(bits - np.int32(exponent << np.int32(23))).view(np.float32)
    z = (mantissa - np.float32(1)) / (mantissa + np.float32(1))
    return np.float32(exponent) * np.float32(0.69314718) + inverse_tanh_series(z)


@kernel_part
def inverse_tanh_series(z: np.float32) -> np.float32:
    """Return 2 artanh(z) = log((1+z)/(1-z)) for |z| < 0.2, where the terms left out are below 1e-8 of it."""
    square = z * z
    tail = np.float32(1 / 5) + square * (np.float32(1 / 7) + square * np.float32(1 / 9))
    return np.float32(2) * z * (np.float32(1) + square * (np.float32(1 / 3) + square * tail))


@kernel_part
def approximate_difference(n: np.float32, amount: np.float32, shift: np.float32) -> np.float32:
    """Return f(n + amount) - f(n) in float32, as amount log(y) + n log(y / x), where n - shift >= 1 or n < 2.

    The second logarithm comes from y - x = amount, so nothing cancels for large counts. The error is at most
    APPROXIMATION times amount L. With u = SINGLE_ROUNDING: x and y are within 4 u of themselves, so that
    amount log(y) is within amount (4 u + 11 u log(y)), or twice that for n = 1. Near, z is within 7 u and its
    logarithm within 16 u of themselves, and n log(y / x) <= 2 amount. Far, y >= 1.5 x, so that n <= 3 amount,
    and the logarithm is within 8 u + 21 u log(y). As log(y) <= L and 1 <= L, that is at most 15 u + 87 u, and
    8 u for all that is rounded afterwards.
    """
    several = n >= np.float32(2)  # f(0) = f(1) = 0
    y = n - shift + amount
    x = n - shift if several else np.float32(1)
    log_y = approximate_log(y)
    z = (amount if several else y - x) / (y + x)
    near = inverse_tanh_series(z)
    far = log_y - approximate_log(x)
    ratio = near if z < np.float32(0.2) else far
    kept = n if several else np.float32(0)
    moved = amount if several else n + amount
    return moved * log_y + kept * ratio
