"""Kernels that write the lines of ARPA files, digit by digit, into a buffer of bytes."""

import numpy as np

from classgram.runtime.compiled import lean_kernel

TAB, NEWLINE, SPACE, MINUS, POINT, ZERO = 9, 10, 32, 45, 46, 48
DIGITS = 7
"""Decimals written: what single precision holds of a logarithm."""
LINE_NUMBERS = 48
"""More bytes than the numbers and separators of a line need."""


@lean_kernel
def write_number(value: float, out: np.ndarray, at: int) -> int:
    """Write a number with up to seven decimals, without trailing zeros, and return its end."""
    scaled = np.int64(np.rint(abs(value) * 10.0**DIGITS))
    if value < 0 and scaled > 0:
        out[at] = MINUS
        at += 1
    whole = scaled // 10**DIGITS
    fraction = scaled - whole * 10**DIGITS
    length = 1
    while whole >= 10**length:
        length += 1
    for place in range(length):
        out[at + length - 1 - place] = ZERO + whole % 10
        whole //= 10
    at += length
    if fraction == 0:
        return at
    out[at] = POINT
    at += 1
    places = DIGITS
    while fraction % 10 == 0:
        fraction //= 10
        places -= 1
    for place in range(places):
        out[at + places - 1 - place] = ZERO + fraction % 10
        fraction //= 10
    return at + places


@lean_kernel
def write_lines(
    paths: np.ndarray,
    numbers: tuple[np.ndarray, np.ndarray],
    letters: np.ndarray,
    ends: np.ndarray,
    out: np.ndarray,
) -> int:
    """Write one line for each n-gram, and return the number of bytes.

    ``paths`` holds the words of each n-gram, a row each; ``numbers`` the log10-probabilities and the
    back-offs, the latter empty at the highest order. Word w's bytes are letters[ends[w - 1]:ends[w] - 1].
    """
    log_probabilities, log_backoffs = numbers
    at = 0
    for row in range(paths.shape[0]):
        at = write_number(log_probabilities[row], out, at)
        for column in range(paths.shape[1]):
            out[at] = TAB if column == 0 else SPACE
            at += 1
            word = paths[row, column]
            start = ends[word - 1] if word > 0 else 0
            for letter in range(start, ends[word] - 1):
                out[at] = letters[letter]
                at += 1
        if log_backoffs.size:
            out[at] = TAB
            at = write_number(log_backoffs[row], out, at + 1)
        out[at] = NEWLINE
        at += 1
    return at
