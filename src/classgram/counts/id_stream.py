"""A stream of ids, in memory up to a limit and in a temporary file beyond it."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import numpy as np

from classgram.counts._kernels.counting import renumber
from classgram.files.atomic import write_error
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Int32Array
from classgram.runtime.threads import ALONE, Span, Threads

FIRST_IDS = 1 << 20
"""Ids that the memory of a stream can hold at first."""


@contextmanager
def temporary_files() -> Iterator[None]:
    """Run a block that writes temporary files; where the disk is full, the error names their folder."""
    try:
        yield
    except OSError as error:
        raise write_error(Path(tempfile.gettempdir()), error) from None


class IdStream:
    """A stream of ids, kept in memory up to a limit of bytes and in a temporary file beyond it.

    A buffer for ``expected`` ids is made at once: what stays unused takes no memory.
    """

    def __init__(self, limit: int, expected: int = 0) -> None:
        self.size = 0
        self._limit = limit
        self._ids = np.empty(max(min(expected, limit // 4), FIRST_IDS), np.int32)
        self._held = 0
        self._file: IO[bytes] | None = None

    def __enter__(self) -> "IdStream":
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.close()

    def append(self, ids: Int32Array) -> None:
        """Add ids at the end."""
        self.buffer(ids.size)[: ids.size] = ids
        self.keep(ids.size)

    def buffer(self, most: int) -> Int32Array:
        """Return the memory behind the last id, for so many more; ``keep`` adds those written there."""
        # One more, for the <s> that counting writes behind the last.
        self._enlarge(self._held + most + 1)
        return self._ids[self._held :]

    def keep(self, count: int) -> None:
        """Add so many ids, which were written behind the last."""
        self._held += count
        self.size += count
        if 4 * self._held > self._limit:
            self._spill()

    def _enlarge(self, wanted: int) -> None:
        if wanted > self._ids.size:
            larger = np.empty(max(wanted, 2 * self._ids.size), np.int32)
            larger[: self._held] = self._ids[: self._held]
            self._ids = larger

    def _spill(self) -> None:
        with temporary_files():
            if self._file is None:
                self._file = cast(IO[bytes], tempfile.TemporaryFile(prefix="classgram-"))
            self._file.write(self._ids[: self._held].data)
            self._file.flush()
        self._held = 0

    def renumbered(self, new_ids: Int32Array, span: Span, threads: Threads = ALONE) -> Int32Array:
        """Return the new ids of a span, and one more element behind them."""
        first, last = span[0], min(span[1], self.size)
        ids = self._all_ids()[first:last]
        out = np.empty(ids.size + 1, np.int32)
        _renumber_into(ids, new_ids, out, threads)
        return out

    def taken(self, new_ids: Int32Array, threads: Threads = ALONE) -> Int32Array:
        """Return all new ids, and one more element behind them; the stream is empty after that.

        Those in memory stay where they are: other memory costs time at its first use.
        """
        if self._file is not None:
            return self.renumbered(new_ids, (0, self.size), threads)
        out = self._ids[: self.size + 1]
        _renumber_into(out[:-1], new_ids, out, threads)
        self._ids, self._held, self.size = np.empty(0, np.int32), 0, 0
        return out

    def _all_ids(self) -> Int32Array:
        """Return all ids in order, memory-mapped where they went to a file."""
        if self._file is None:
            return self._ids[: self.size]
        self._spill()
        return np.memmap(self._file, np.int32, "r", shape=(self.size,))


def _renumber_into(ids: Int32Array, new_ids: Int32Array, out: Int32Array, threads: Threads) -> None:
    """Write the new id of every id; ``out`` may be the ids themselves."""

    def write(share: Span) -> None:
        first, last = share
        renumber(frozen(ids[first:last]), frozen(new_ids), out[first:last])

    threads.map(write, threads.shares(0, ids.size))
