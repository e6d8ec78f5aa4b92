"""The terms of both criteria: f(n) = n log(n - s) of class pairs and h(n) = n log(n - t) of classes.

Maximum likelihood has s = t = 0, leaving-one-out s = 1 + b and t = 1 besides a global term in the
number of pairs seen once and seen at all.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classgram.runtime.compiled import kernel_part, lean_kernel

FloatArray = NDArray[np.float64]

NODES = (1, 2, 3, 6, 14, 36, 100, 300)
"""The amounts n whose differences f(N+n) - f(N) are kept ready for every cell."""

LEVELS = len(NODES)

STEPS = 255
"""Differences are stored as 8-bit steps."""

ONE = 254
"""Weights are stored in units of 1/ONE: the largest, just above 1, fits in 8 bits, and times a step in 16."""

MOST = NODES[-1]
"""The differences of any amount up to MOST are combined from those of the nodes around it."""


class Terms(NamedTuple):
    """A criterion as numbers: ready values of small counts, and the shifts for all others."""

    pair_values: FloatArray
    """f(n) for small n."""
    total_values: FloatArray
    """h(n) for small n."""
    pair_shift: float
    total_shift: float
    discount: float
    """b of leaving-one-out; 0 means maximum likelihood."""


class Ready(NamedTuple):
    """Ready differences f(N+n) - f(N) of the nodes, and how those of other amounts follow from them."""

    lowest: NDArray[np.float64]
    """The lowest difference of each node: steps are counted from there."""
    steps: NDArray[np.float64]
    """The unit of the 8-bit differences for each node."""
    quantised: NDArray[np.uint64]
    """Differences as steps, indexed [N]: a byte for each node, the first lowest. Tables are filled eight
    bytes at a time, so the lowest must be the first in memory."""
    firsts: NDArray[np.int64]
    """The first of the two nodes that an amount is combined from."""
    shares: NDArray[np.uint16]
    """What their steps are multiplied by, in units of 1/ONE, indexed [n, 0 or 1]."""
    constants: NDArray[np.float64]
    """What is added besides: the weighted lowest differences."""
    errors: NDArray[np.float64]
    """By how much the combination may err, whatever N is."""


@kernel_part
def logarithmic(values: FloatArray, shift: float, n: int) -> float:
    """Give n log(n - shift), from the table where it reaches; 0 for n < 2."""
    if n < values.size:
        return values[n]  # type: ignore[no-any-return]
    return n * np.log(n - shift)  # type: ignore[no-any-return]


@kernel_part
def difference(values: FloatArray, shift: float, count: int, amount: int) -> float:
    """Give f(count + amount) - f(count), or the same of h, whose values and shift are given."""
    return logarithmic(values, shift, count + amount) - logarithmic(values, shift, count)


@kernel_part
def seen_change(count: int, amount: int) -> int:
    """Give the change of the pairs seen at all (times 65536) and seen once when a cell grows."""
    if count == 0:
        return 65537 if amount == 1 else 65536
    return -1 if count == 1 else 0


@lean_kernel
def global_term(discount: float, once: int, seen: int, cells: int) -> float:
    """Give n1 log(b (n+ - 1) / (n0 + 1)) of leaving-one-out; n+ = 1 leaves the pair no share."""
    if once == 0 or discount == 0.0:
        return 0.0
    # A single pair seen once is the whole text: there is nothing to estimate from.
    return once * np.log(discount * max(seen - 1, 1) / (cells - seen + 1))  # type: ignore[no-any-return]


@kernel_part
def approximate_log(x: np.float32) -> np.float32:
    """Give log(x) for a positive normal float32 to about 1e-7, in operations that vectorise."""
    bits = np.float32(x).view(np.int32)
    # A mantissa in [0.707, 1.414) keeps the argument of the series below 0.172. Every step is cut
    # to 32 bits, because Numba's integers widen and wide ones do not convert in vectors.
    exponent = np.int32(np.int32(bits - np.int32(0x3F3504F3)) >> np.int32(23))
    mantissa = np.int32(bits - np.int32(exponent << np.int32(23))).view(np.float32)
    z = (mantissa - np.float32(1)) / (mantissa + np.float32(1))
    return np.float32(exponent) * np.float32(0.69314718) + inverse_tanh_series(z)


@kernel_part
def inverse_tanh_series(z: np.float32) -> np.float32:
    """Give 2 artanh(z) = log((1+z)/(1-z)) for |z| < 0.2."""
    square = z * z
    tail = np.float32(1 / 5) + square * (np.float32(1 / 7) + square * np.float32(1 / 9))
    return np.float32(2) * z * (np.float32(1) + square * (np.float32(1 / 3) + square * tail))


@kernel_part
def approximate_difference(n: np.float32, amount: np.float32, shift: np.float32) -> np.float32:
    """Give f(n + amount) - f(n) in float32, as amount log(y) + n log(y / x).

    The second logarithm comes from y - x, which is exact, so nothing cancels for large counts.
    """
    several = n >= np.float32(2)  # f(0) = f(1) = 0
    y = n - shift + amount
    x = n - shift if several else np.float32(1)
    log_y = approximate_log(y)
    z = (y - x) / (y + x)
    near = inverse_tanh_series(z)
    far = log_y - approximate_log(x)
    ratio = near if z < np.float32(0.2) else far
    kept = n if several else np.float32(0)
    moved = amount if several else n + amount
    return moved * log_y + kept * ratio
