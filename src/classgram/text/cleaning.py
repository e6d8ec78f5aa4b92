"""Cleaning of a text's bytes as its options say: lower case, punctuation verbalised or stripped."""

import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from classgram.options import TextOptions
from classgram.runtime.compiled.arrays import ByteArray, Int32Array

PIECE = re.compile(b".{1,65536}[^ \t\n\r\x0b\x0c]*", re.DOTALL)
"""A piece of text that ends between two words."""

_Step = Callable[[ByteArray], ByteArray]

# Their lower case depends on their neighbours (final sigma) or is two characters (dotted I).
_IRREGULAR = [ord("Σ"), ord("İ")]


def cleaner(options: TextOptions) -> Callable[[bytes], bytes]:
    """Return the function that cleans a chunk's bytes as the options say."""
    steps: list[_Step] = []
    if options.lowercase:
        steps.append(_lowering())
    if options.punctuation != "keep":
        steps.append(_rewriting(options.punctuation == "verbalise"))
    if not steps:
        return lambda data: data

    def clean(data: bytes) -> bytes:
        array = np.frombuffer(data, np.uint8)
        for step in steps:
            array = step(array)
        return array.tobytes()

    return clean


class _Buffer:
    """Memory that is used again for every chunk: new memory costs more than what is done in it."""

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def at_least(self, size: int) -> ByteArray:
        """Return so many bytes, or more."""
        if self._bytes.size < size:
            self._bytes = np.empty(size, np.uint8)
        return self._bytes


def _lowering() -> _Step:
    """Return a step that makes text lower case, as ``str.lower``."""
    # Kernels are imported where a text needs them: most texts need none.
    from classgram.runtime.compiled import frozen
    from classgram.text._kernels.letters import lower_letters

    buffer, table = _Buffer(), frozen(_lower_table())

    def lower(data: ByteArray) -> ByteArray:
        out = buffer.at_least(data.size * 3 // 2 + 16)
        written = 0
        for piece in PIECE.finditer(data.data):
            made = lower_letters(data[piece.start() : piece.end()], table, out[written:])
            if made < 0:
                lowered = data[piece.start() : piece.end()].tobytes().decode().lower().encode()
                made = len(lowered)
                out[written : written + made] = np.frombuffer(lowered, np.uint8)
            written += made
        return frozen(out[:written])

    return lower


@lru_cache
def _lower_table() -> Int32Array:
    """Return the lower case of every code point up to the last that has one; -1 where it is irregular."""
    table = np.arange(0x20000, dtype=np.int32)
    # Surrogates are no characters.
    codes = np.delete(table, [*range(0xD800, 0xE000), *_IRREGULAR])
    table[codes] = np.frombuffer(codes.tobytes().decode("utf-32").lower().encode("utf-32-le"), np.int32)
    table = table[: np.flatnonzero(table != np.arange(table.size))[-1] + 1]
    table[_IRREGULAR] = -1
    return table


def _rewriting(verbalise: bool) -> _Step:
    """Return a step that verbalises or strips punctuation."""
    from classgram.runtime.compiled import frozen
    from classgram.text._kernels.punctuation import rewrite_punctuation
    from classgram.text.punctuation import punctuation_table

    buffer, table = _Buffer(), punctuation_table(verbalise)
    # How many times as long a text of nothing but punctuation may become.
    growth = int(np.ceil(np.max(np.diff(table.new_starts) / np.diff(table.starts))))

    def rewrite(data: ByteArray) -> ByteArray:
        # Bytes of the buffer that stay unused take no memory.
        out = buffer.at_least(data.size * growth + 16)
        return frozen(out[: rewrite_punctuation(data, table, out)])

    return rewrite
