"""Eight bytes at a time, in one 64-bit number: the first byte lowest.

A byte's answer to a question is its top bit. Sums never carry into the next byte, because they are made of
the lower seven bits.
"""

import numpy as np

from classgram.runtime.compiled import part
from classgram.runtime.compiled.arrays import ByteArray

ZERO = np.uint64(0)
ONE = np.uint64(1)
_ONES = np.uint64(0x0101010101010101)
_LOW_BITS = np.uint64(0x7F7F7F7F7F7F7F7F)
TOP_BITS = np.uint64(0x8080808080808080)
_CASE_BITS = np.uint64(0x2020202020202020)
_BYTE = np.uint64(0xFF)
# Times 1 << 8k, its top byte is k.
_COUNT_BYTES = np.uint64(0x0001020304050607)


@part
def load_eight(data: ByteArray, position: np.uint64) -> np.uint64:
    """Return the eight bytes from a position on; compiles to one load."""
    return (
        np.uint64(data[position])
        | np.uint64(data[position + np.uint64(1)]) << np.uint64(8)
        | np.uint64(data[position + np.uint64(2)]) << np.uint64(16)
        | np.uint64(data[position + np.uint64(3)]) << np.uint64(24)
        | np.uint64(data[position + np.uint64(4)]) << np.uint64(32)
        | np.uint64(data[position + np.uint64(5)]) << np.uint64(40)
        | np.uint64(data[position + np.uint64(6)]) << np.uint64(48)
        | np.uint64(data[position + np.uint64(7)]) << np.uint64(56)
    )


@part
def store_eight(out: ByteArray, position: np.uint64, eight: np.uint64) -> None:
    """Write eight bytes from a position on; compiles to one store."""
    out[position] = np.uint8(eight & _BYTE)
    out[position + np.uint64(1)] = np.uint8((eight >> np.uint64(8)) & _BYTE)
    out[position + np.uint64(2)] = np.uint8((eight >> np.uint64(16)) & _BYTE)
    out[position + np.uint64(3)] = np.uint8((eight >> np.uint64(24)) & _BYTE)
    out[position + np.uint64(4)] = np.uint8((eight >> np.uint64(32)) & _BYTE)
    out[position + np.uint64(5)] = np.uint8((eight >> np.uint64(40)) & _BYTE)
    out[position + np.uint64(6)] = np.uint8((eight >> np.uint64(48)) & _BYTE)
    out[position + np.uint64(7)] = np.uint8((eight >> np.uint64(56)) & _BYTE)


@part
def _between(seven: np.uint64, least: int, most: int) -> np.uint64:
    """Return which of eight bytes, given by their lower seven bits, lie in a range."""
    above = seven + _ONES * np.uint64(0x80 - least)
    beyond = seven + _ONES * np.uint64(0x7F - most)
    return above & ~beyond & TOP_BITS


@part
def first_marked(marked: np.uint64) -> int:
    """Return the index of the first byte whose top bit is set; at least one is."""
    bit = marked & (~marked + ONE)
    index = ((bit >> np.uint64(7)) * _COUNT_BYTES) >> np.uint64(56)
    return np.int64(index)  # type: ignore[return-value]


@part
def plain_bytes(eight: np.uint64) -> np.uint64:
    """Return which of eight bytes are letters, digits or spaces of ASCII."""
    seven = eight & _LOW_BITS
    letters = _between(seven | _CASE_BITS, 97, 122)
    return (letters | _between(seven, 48, 57) | _between(seven, 32, 32)) & ~eight


@part
def lower_eight(eight: np.uint64) -> np.uint64:
    """Return eight bytes with the letters of ASCII in lower case."""
    capitals = _between(eight & _LOW_BITS, 65, 90) & ~eight
    return eight | (capitals >> np.uint64(2))
