"""Engines: who finds the best classes of a round of elements. They never change the result."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from classgram.clustering._kernels.class_table import ClassTable, renew_rows
from classgram.clustering._kernels.criterion import KernelCriterion
from classgram.clustering._kernels.moves import apply_proposals
from classgram.clustering._kernels.proposals import propose_classes
from classgram.clustering._kernels.runners_up import propose_runners_up
from classgram.clustering._kernels.side_arrays import Buffers, MoveRule, SideArrays
from classgram.clustering.search.state import State
from classgram.errors import InputError
from classgram.runtime.compiled import packed
from classgram.runtime.signals import signals_put_off

Elements = npt.NDArray[np.int32]

LEAST_SHARE = 32
"""Fewer elements than this for each thread are not worth handing out."""

LEAST_MOVED = 32
"""The same for elements that have moved, when what has changed is renewed."""


class Rounds(NamedTuple):
    """How rounds are run."""

    batch: int
    """Elements a round."""
    rule: MoveRule
    runners_up: bool
    """Whether only runners-up are tried (see Memory), instead of all classes."""


class Engine(Protocol):
    """What a search asks of an engine."""

    def sweep(self, state: State, number: int, elements: Elements, rounds: Rounds) -> int:
        """Propose and apply rounds of elements of a side; give how many elements moved."""
        ...

    def close(self) -> None:
        """Free what the engine holds."""
        ...


class LocalEngine:
    """The engine of this process: one or several threads."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = available_threads() if threads is None else threads
        if self.threads < 1:
            raise InputError("--threads must be 1 or more")
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

    def sweep(self, state: State, number: int, elements: Elements, rounds: Rounds) -> int:
        """Propose and apply rounds of elements of a side; give how many elements moved."""
        buffers = self._buffers_for(state, number)
        side = state.sides[number]
        arrays, criterion = packed(side.arrays), packed(state.kernel_criterion)
        table, mirror = packed(arrays.table), packed(side.mirror)
        terms = packed(criterion.terms)
        batch, rule, profile_buffers = rounds.batch, packed(rounds.rule), packed(buffers[0].profile)
        rounds = rounds._replace(rule=rule)
        # Sweeps over runners-up, and over the other side, leave rows stale: as if all had moved.
        changes = elements.size
        moved = 0
        for first in range(0, elements.size, batch):
            chosen = elements[first : first + batch]
            if not rounds.runners_up:
                self.renew(table, criterion, changes)
            proposals = self._propose(arrays, criterion, buffers, chosen, rounds)
            changes = apply_proposals(arrays, mirror, terms, profile_buffers, chosen, proposals, rule)
            moved += changes
        return int(moved)

    def renew(self, table: ClassTable, criterion: KernelCriterion, moved: int) -> None:
        """Bring up to date what is derived from cells that so many moves have changed, by all threads."""
        if moved == 0 or table.stale.size == 0:
            return
        shares = min(self.threads, max(moved // LEAST_MOVED, 1))
        # Frequent classes have the lowest numbers and the most changes, so rows are dealt out.
        self._run([partial(renew_rows, table, criterion, first, shares) for first in range(shares)])

    def _propose(
        self,
        arrays: SideArrays,
        criterion: KernelCriterion,
        buffers: Sequence[Buffers],
        elements: Elements,
        rounds: Rounds,
    ) -> npt.NDArray[np.int64]:
        """Find the best classes of a round, shared among the threads where it is worth it."""
        if rounds.runners_up:
            propose = [partial(propose_runners_up, arrays, criterion.terms, each.profile) for each in buffers]
        else:
            propose = [partial(propose_classes, arrays, criterion, each) for each in buffers]
        proposals = np.zeros(elements.size, np.int64)
        shares = min(self.threads, max(elements.size // LEAST_SHARE, 1))
        if shares == 1:
            propose[0](elements, proposals, rounds.rule)
            return proposals
        # Elements that come first take longest, so they are dealt out.
        dealt = [np.ascontiguousarray(elements[number::shares]) for number in range(shares)]
        found = [np.zeros(part.size, np.int64) for part in dealt]
        self._run(
            [
                partial(call, part, best, rounds.rule)
                for call, part, best in zip(propose, dealt, found, strict=False)
            ]
        )
        for number, best in enumerate(found):
            proposals[number::shares] = best
        return proposals

    def _run(self, calls: Sequence[Callable[[], object]]) -> None:
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

    def _buffers_for(self, state: State, side: int) -> list[Buffers]:
        """Give working memory for every thread, made once for a state."""
        if self._state is not state:
            self._state = state
            self._buffers.clear()
        if side not in self._buffers:
            self._buffers[side] = [packed(state.sides[side].buffers()) for _ in range(self.threads)]
        return self._buffers[side]


def available_threads() -> int:
    """Give the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
