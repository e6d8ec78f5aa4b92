"""Engines: who finds the best classes of a round of elements. They never change the result."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Protocol

import numpy as np

from classgram.clustering._kernels.class_table import renew_rows
from classgram.clustering._kernels.moves import apply_proposals
from classgram.clustering._kernels.proposals import propose_classes
from classgram.clustering._kernels.runners_up import propose_runners_up
from classgram.clustering._kernels.side_arrays import Buffers, MoveRule
from classgram.clustering.search.state import State
from classgram.clustering.tuning import TUNING, SearchTuning
from classgram.errors import InputError
from classgram.runtime.compiled import packed
from classgram.runtime.compiled.arrays import Int32Array, Int64Array
from classgram.runtime.signals import signals_put_off
from classgram.runtime.threads import available_threads


class Rounds(Protocol):
    """The two halves of a round of elements of one side."""

    def propose(self, elements: Int32Array) -> Int64Array:
        """Return the best class of each element against the table as it is."""
        ...

    def apply(self, elements: Int32Array, proposals: Int64Array) -> int:
        """Move each element, in order, if its gain still holds; return how many moved."""
        ...


class Engine(Protocol):
    """What a search asks of an engine."""

    def rounds(self, state: State, side: int, rule: MoveRule, runners_up: bool) -> Rounds:
        """Return the rounds of a sweep; ``runners_up``: whether no other classes are tried."""
        ...


class LocalEngine:
    """The engine of this process: one or several threads."""

    def __init__(self, threads: int | None = None, tuning: SearchTuning = TUNING) -> None:
        self.threads = available_threads() if threads is None else threads
        if self.threads < 1:
            raise InputError("--threads must be 1 or more")
        self.tuning = tuning
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None
        self._buffers: dict[int, list[Buffers]] = {}
        self._state: State | None = None

    def __enter__(self) -> "LocalEngine":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
        self._buffers.clear()
        self._state = None

    def rounds(self, state: State, side: int, rule: MoveRule, runners_up: bool) -> "LocalRounds":
        """Return the rounds of a sweep; ``runners_up``: whether no other classes are tried."""
        return LocalRounds(self, state, side, rule, runners_up)

    def run(self, calls: Sequence[Callable[[], object]]) -> None:
        """Make calls side by side, the first of them in this thread."""
        if self._pool is None or len(calls) < 2:
            for call in calls:
                call()
            return
        # Nothing may go on here while a thread still works on what is shared.
        with signals_put_off():
            others = [self._pool.submit(call) for call in calls[1:]]
            try:
                calls[0]()
            finally:
                # This waits, and raises nothing.
                errors = [other.exception() for other in others]
        for error in errors:
            if error is not None:
                raise error

    def buffers(self, state: State, side: int) -> list[Buffers]:
        """Return working memory for every thread, made once for a state."""
        if self._state is not state:
            self._state = state
            self._buffers.clear()
        if side not in self._buffers:
            self._buffers[side] = [packed(state.sides[side].buffers()) for _ in range(self.threads)]
        return self._buffers[side]


class LocalRounds:
    """Rounds on the threads of this process; what kernels are handed again and again is prepared once."""

    def __init__(
        self, engine: LocalEngine, state: State, number: int, rule: MoveRule, runners_up: bool
    ) -> None:
        side, buffers = state.sides[number], engine.buffers(state, number)
        self._engine, self._rule, self._runners_up = engine, packed(rule), runners_up
        arrays, criterion = packed(side.arrays), packed(state.kernel_criterion)
        self._table, self._criterion = packed(arrays.table), criterion
        profile, mirror, terms = packed(buffers[0].profile), packed(side.mirror), packed(criterion.terms)
        self._apply = partial(apply_proposals, arrays, mirror, terms, profile)
        if runners_up:
            self._propose = [partial(propose_runners_up, arrays, terms, each.profile) for each in buffers]
        else:
            self._propose = [partial(propose_classes, arrays, criterion, each) for each in buffers]
        # Sweeps over runners-up, and over the other side, leave derived numbers stale: as if all had moved.
        self._moved = side.movable.size

    def propose(self, elements: Int32Array) -> Int64Array:
        """Return the best class of each element, shared among the threads where it is worth it."""
        if not self._runners_up:
            self.renew()
        proposals = np.zeros(elements.size, np.int64)
        shares = min(self._engine.threads, max(elements.size // self._engine.tuning.elements_per_thread, 1))
        if shares == 1:
            self._propose[0](elements, proposals, self._rule)
            return proposals
        # Elements that come first take longest, so they are dealt out.
        dealt = [np.ascontiguousarray(elements[number::shares]) for number in range(shares)]
        found = [np.zeros(part.size, np.int64) for part in dealt]
        self._engine.run(
            [
                partial(propose, part, best, self._rule)
                for propose, part, best in zip(self._propose, dealt, found, strict=False)
            ]
        )
        for number, best in enumerate(found):
            proposals[number::shares] = best
        return proposals

    def apply(self, elements: Int32Array, proposals: Int64Array) -> int:
        """Move each element, in order, if its gain still holds; return how many moved."""
        self._moved = int(self._apply(elements, proposals, self._rule))
        return self._moved

    def renew(self) -> None:
        """Bring up to date what is derived from the counts that the last moves have changed."""
        if self._moved == 0 or self._table.stale.size == 0:
            return
        shares = min(self._engine.threads, max(self._moved // self._engine.tuning.moves_per_thread, 1))
        # Frequent classes have the lowest numbers and the most changes, so rows are dealt out.
        self._engine.run(
            [partial(renew_rows, self._table, self._criterion, first, shares) for first in range(shares)]
        )
