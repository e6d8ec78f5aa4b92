"""A kernel that takes one argument of every kind: run when a library is loaded, and compared with itself.

What a change of compilers or of the way in could break is then told at once, instead of spoiling numbers.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from classgram.runtime.compiled.arrays import (
    BoolArray,
    ByteArray,
    Float32Array,
    Float64Matrix,
    Int16Array,
    Int32Cube,
    Int64Matrix,
    UInt16Array,
    UInt64Array,
)
from classgram.runtime.compiled.results import KernelError


class Narrow(NamedTuple):
    """Arrays of short numbers."""

    marks: BoolArray
    letters: ByteArray
    shorts: Int16Array
    shares: UInt16Array


class Sample(NamedTuple):
    """Something of every kind that kernels take."""

    narrow: Narrow
    cube: Int32Cube
    matrix: Int64Matrix
    bits: UInt64Array
    singles: Float32Array
    reals: Float64Matrix
    whole: int
    flag: bool
    real: float
    single: np.float32
    highest: np.uint64


def mixed(sample: Sample, pair: tuple[int, float], out: Float64Matrix) -> tuple[int, float, bool, np.uint64]:
    """Use all arguments, so that whatever arrives wrong changes the result."""
    narrow, cube, total = sample.narrow, sample.cube, 0.0
    for k in range(2):
        total = 3.0 * total + float(narrow.letters[k]) - float(narrow.shorts[k]) + float(narrow.shares[k])
        total += 0.5 if narrow.marks[k] else 0.25
        for i in range(cube.shape[1]):
            for j in range(cube.shape[2]):
                total = 1.5 * total + float(cube[k, i, j])
        for j in range(sample.matrix.shape[1]):
            out[k, j] = float(sample.matrix[k, j]) + sample.reals[j, k] + pair[1]
        total += float(sample.singles[k]) * float(sample.single) + sample.real
    bits = (sample.bits[0] ^ sample.highest) >> np.uint64(1)
    return sample.whole + pair[0], total, not sample.flag, bits


def sample_arguments() -> tuple[Any, ...]:
    """Give arguments for the kernel: numbers whose products are exact in single precision, too."""
    narrow = Narrow(
        np.array([True, False]),
        np.array([200, 7], np.uint8),
        np.array([-300, 5], np.int16),
        np.array([60000, 1], np.uint16),
    )
    sample = Sample(
        narrow,
        np.arange(12, dtype=np.int32).reshape(2, 2, 3) - np.int32(5),
        np.arange(6, dtype=np.int64).reshape(2, 3) << np.int64(40),
        np.array([1 << 63], np.uint64),
        np.array([0.25, -2.5], np.float32),
        np.arange(6, dtype=np.float64).reshape(3, 2) / 3,
        -(1 << 62),
        True,
        0.0625,
        np.float32(1.125),
        np.uint64((1 << 64) - 1),
    )
    return sample, (7, -0.125), np.zeros((2, 3))


def check_calls(kernel: Callable[..., Any]) -> None:
    """Raise an error where machine code gives another result than the plain function."""
    given, expected = sample_arguments(), sample_arguments()
    results = kernel(*given), mixed(*expected)
    if results[0] != results[1] or given[-1].tolist() != expected[-1].tolist():
        raise KernelError(f"compiled kernels give {results[0]} where {results[1]} is right")
