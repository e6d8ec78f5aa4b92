"""Kernels that format the lines of ARPA files into a buffer of bytes."""

import numpy as np

from classgram.runtime.compiled import kernel, part
from classgram.runtime.compiled.arrays import ByteArray, Float64Array, Int32Matrix, Int64Array

_TAB, _NEWLINE, _SPACE, _MINUS, _POINT, _ZERO = 9, 10, 32, 45, 46, 48
_DECIMALS = 7
"""The decimals written: what single precision holds of a logarithm."""
LINE_OVERHEAD = 48
"""An upper bound of the bytes of a line besides its words: numbers and separators."""


@part
def write_number(value: float, out: ByteArray, at: int) -> int:
    """Write a number with up to seven decimals, without trailing zeros, and return its end."""
    scaled = np.int64(np.rint(abs(value) * 10.0**_DECIMALS))
    if value < 0 and scaled > 0:
        out[at] = _MINUS
        at += 1
    whole = scaled // 10**_DECIMALS
    fraction = scaled - whole * 10**_DECIMALS
    length = 1
    while whole >= 10**length:
        length += 1
    for digit in range(length):
        out[at + length - 1 - digit] = _ZERO + whole % 10
        whole //= 10
    at += length
    if fraction == 0:
        return at
    out[at] = _POINT
    at += 1
    length = _DECIMALS
    while fraction % 10 == 0:
        fraction //= 10
        length -= 1
    for digit in range(length):
        out[at + length - 1 - digit] = _ZERO + fraction % 10
        fraction //= 10
    return at + length


@kernel
def write_lines(
    paths: Int32Matrix,
    log_probabilities: Float64Array,
    log_backoffs: Float64Array,
    letters: ByteArray,
    ends: Int64Array,
    out: ByteArray,
) -> int:
    """Write one line for each n-gram into ``out``, and return the number of bytes.

    Reads the rest: ``paths`` holds the words of each n-gram, a row each; both logarithms are of base
    10, and there are no back-offs at the highest order. Word w is letters[ends[w - 1]:ends[w] - 1].
    """
    at = 0
    for row in range(paths.shape[0]):
        at = write_number(log_probabilities[row], out, at)
        for column in range(paths.shape[1]):
            out[at] = _TAB if column == 0 else _SPACE
            at += 1
            word = paths[row, column]
            start = ends[word - 1] if word > 0 else 0
            for letter in range(start, ends[word] - 1):
                out[at] = letters[letter]
                at += 1
        if log_backoffs.size:
            out[at] = _TAB
            at = write_number(log_backoffs[row], out, at + 1)
        out[at] = _NEWLINE
        at += 1
    return at
