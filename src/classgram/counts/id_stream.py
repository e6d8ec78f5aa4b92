"""A stream of ids, in memory up to a limit and in a temporary file beyond it."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import numpy as np
import numpy.typing as npt

from classgram.counts._kernels.counting import renumber
from classgram.files.folders import write_error
from classgram.runtime.compiled import frozen
from classgram.runtime.threads import ALONE, Span, Threads

Int32s = npt.NDArray[np.int32]

LEAST_ROOM = 1 << 20
"""Ids that there is room for at first."""


@contextmanager
def temporary_room() -> Iterator[None]:
    """A block that writes temporary files; if there is no room, their folder is named."""
    try:
        yield
    except OSError as error:
        raise write_error(Path(tempfile.gettempdir()), error) from None


class Spool:
    """A stream of ids, kept in memory up to a limit of bytes and in a temporary file beyond it.

    With ``expected`` ids in sight, room is made for these at once: what stays unused takes no memory.
    """

    def __init__(self, limit: int, expected: int = 0) -> None:
        self.size = 0
        self._limit = limit
        self._ids = np.empty(max(min(expected, limit // 4), LEAST_ROOM), np.int32)
        self._held = 0
        self._file: IO[bytes] | None = None

    def __enter__(self) -> "Spool":
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.close()

    def append(self, ids: Int32s) -> None:
        """Add ids at the end."""
        self.room(ids.size)[: ids.size] = ids
        self.keep(ids.size)

    def room(self, most: int) -> Int32s:
        """The memory behind the last id, for so many more; ``keep`` adds those that were written there."""
        # One more, so that there is room behind the last.
        self._make_room(self._held + most + 1)
        return self._ids[self._held :]

    def keep(self, number: int) -> None:
        """Add so many ids, which were written behind the last."""
        self._held += number
        self.size += number
        if 4 * self._held > self._limit:
            self._spill()

    def _make_room(self, wanted: int) -> None:
        if wanted > self._ids.size:
            larger = np.empty(max(wanted, 2 * self._ids.size), np.int32)
            larger[: self._held] = self._ids[: self._held]
            self._ids = larger

    def _spill(self) -> None:
        with temporary_room():
            if self._file is None:
                self._file = cast(IO[bytes], tempfile.TemporaryFile(prefix="classgram-"))
            self._file.write(self._ids[: self._held].data)
            self._file.flush()
        self._held = 0

    def renumbered(self, numbers: Int32s, span: Span, threads: Threads = ALONE) -> Int32s:
        """The ids of a span, each as its number, and one more place behind them."""
        first, last = span[0], min(span[1], self.size)
        ids = self._all_ids()[first:last]
        out = np.empty(ids.size + 1, np.int32)
        renumber_into(ids, numbers, out, threads)
        return out

    def taken(self, numbers: Int32s, threads: Threads = ALONE) -> Int32s:
        """All ids, each as its number, and one more place behind them; the spool is empty after that.

        Those in memory stay where they are: other memory costs time at its first use.
        """
        if self._file is not None:
            return self.renumbered(numbers, (0, self.size), threads)
        out = self._ids[: self.size + 1]
        renumber_into(out[:-1], numbers, out, threads)
        self._ids, self._held, self.size = np.empty(0, np.int32), 0, 0
        return out

    def _all_ids(self) -> Int32s:
        """All ids in order, memory-mapped where they went to a file."""
        if self._file is None:
            return self._ids[: self.size]
        self._spill()
        return np.memmap(self._file, np.int32, "r", shape=(self.size,))


def renumber_into(ids: Int32s, numbers: Int32s, out: Int32s, threads: Threads) -> None:
    """Write the number of every id; ``out`` may be where the ids lie."""

    def write(share: Span) -> None:
        first, last = share
        renumber(frozen(ids[first:last]), frozen(numbers), out[first:last])

    threads.map(write, threads.shares(0, ids.size))
