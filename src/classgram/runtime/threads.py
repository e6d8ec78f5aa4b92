"""Work shared among the threads of this process, with the same result for any number of them."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

LEAST_SHARE = 1 << 16
"""Fewer tokens than this for each thread are not worth handing out."""

AHEAD = 4
"""Items that may wait to be worked on: some take longer to make, others to be worked on."""

Span = tuple[int, int]
"""What is worked on from the first on, up to the last, that one not included."""


class Threads:
    """So many threads, which live until the block that they are made for ends; one is the caller itself."""

    def __init__(self, number: int = 1) -> None:
        self.number = max(number, 1)
        self._pool = ThreadPoolExecutor(self.number) if self.number > 1 else None

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """The results of a function for all items, worked on side by side."""
        if self._pool is None:
            return [function(item) for item in items]
        return list(self._pool.map(function, items))

    def map_behind(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """The results of a function for one item after another, while the caller's thread makes the next.

        Items are made there because they may be long in coming, and Ctrl-C is only noticed there.
        """
        if self._pool is None:
            yield from map(function, items)
            return
        with ThreadPoolExecutor(1) as behind:
            for future in submitted(behind, function, items):
                yield future.result()

    def shares(self, first: int, last: int, least: int = 0) -> list[Span]:
        """A span cut into one for each thread, or fewer where these would be short; at least one."""
        pieces = max(min(self.number, (last - first) // max(least, LEAST_SHARE)), 1)
        cuts = [first + (last - first) * piece // pieces for piece in range(pieces + 1)]
        return list(pairwise(cuts))


def submitted(
    pool: ThreadPoolExecutor, function: Callable[[T], R], items: Iterable[T]
) -> Iterator[Future[R]]:
    """What a pool will make of items, in order."""
    pending: deque[Future[R]] = deque()
    try:
        for item in items:
            pending.append(pool.submit(function, item))
            while pending and (len(pending) > AHEAD or pending[0].done()):
                yield pending.popleft()
    except Exception:
        # What is wrong with an item is said before what is wrong with the next one.
        yield from pending
        raise
    yield from pending


def available_threads() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


ALONE = Threads()
"""The caller's thread, and no other."""
