"""Work shared among the threads of this process, with the same result for any number of them."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

from classgram.errors import InputError

T = TypeVar("T")
R = TypeVar("R")

LEAST_TOKENS = 1 << 16
"""Tokens for each thread below which sharing costs more than it saves."""

_WAITING_ITEMS = 4
"""Items that may wait to be worked on: some take longer to make, others to be worked on."""

Span = tuple[int, int]
"""What is worked on: from the first to the last, that one not included."""


def available_threads() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class Threads:
    """Threads that live until the block they are made for ends; a single one is the caller's own.

    None means as many as there are cores for this process.
    """

    def __init__(self, count: int | None = 1) -> None:
        self._count = available_threads() if count is None else count
        if self._count < 1:
            raise InputError("--threads must be 1 or more")
        self._pool = ThreadPoolExecutor(self._count) if self._count > 1 else None

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Return the results of a function for all items, worked on side by side."""
        if self._pool is None:
            return [function(item) for item in items]
        return list(self._pool.map(function, items))

    def map_behind(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Return the results for one item after another, while the caller's thread makes the next item.

        Items are made there because they may be long in coming, and Ctrl-C is only noticed there.
        """
        if self._pool is None:
            yield from map(function, items)
            return
        with ThreadPoolExecutor(1) as behind:
            for future in _submitted(behind, function, items):
                yield future.result()

    def shares(self, first: int, last: int, least: int = 0) -> list[Span]:
        """Return a span cut into one for each thread, or fewer where these would be short; at least one."""
        pieces = max(min(self._count, (last - first) // max(least, LEAST_TOKENS)), 1)
        cuts = [first + (last - first) * piece // pieces for piece in range(pieces + 1)]
        return list(pairwise(cuts))


def _submitted(
    pool: ThreadPoolExecutor, function: Callable[[T], R], items: Iterable[T]
) -> Iterator[Future[R]]:
    """Return what a pool will make of items, in order."""
    pending: deque[Future[R]] = deque()
    try:
        for item in items:
            pending.append(pool.submit(function, item))
            while pending and (len(pending) > _WAITING_ITEMS or pending[0].done()):
                yield pending.popleft()
    except Exception:
        # An error of an earlier item is raised before that of making the next one.
        yield from pending
        raise
    yield from pending


ALONE = Threads()
"""The caller's thread, and no other."""
