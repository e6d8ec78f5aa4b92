"""Engines: who finds the best classes of a round of elements. They never change the result."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from classgram.errors import InputError
from classgram.kernels.class_table import ClassTable, renew_cells
from classgram.kernels.criterion import Ready, Terms
from classgram.kernels.exchange import apply_proposals
from classgram.kernels.problem import Problem, Rule, Scratch
from classgram.kernels.proposals import propose_classes
from classgram.kernels.rivals import propose_rivals
from classgram.state import State
from classgram.tables import change_count, empty_table, forget_changes

Elements = npt.NDArray[np.int32]

LEAST_SHARE = 32
"""Fewer elements than this for each thread are not worth handing out."""


LEAST_CELLS = 4096
"""The same for changed cells."""


class Rounds(NamedTuple):
    """How rounds are run."""

    batch: int
    """Elements a round."""
    rule: Rule
    rivals: bool
    """Whether only rivals are tried (see Memory), instead of all classes."""
    narrow: ClassTable | None
    """A narrowed table, where only the classes that it ranks are tried."""


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
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        self._scratch: dict[int, list[Scratch]] = {}
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
        self._scratch.clear()
        self._state = None

    def sweep(self, state: State, number: int, elements: Elements, rounds: Rounds) -> int:
        """Propose and apply rounds of elements of a side; give how many elements moved."""
        scratch = self._scratch_for(state, number)
        side = state.sides[number]
        problem, criterion = side.problem, (state.terms, state.ready)
        narrow = rounds.narrow or empty_table(problem.table)
        # The other side's moves have changed cells of this one's table.
        self._renew(problem.table, narrow, criterion)
        looked_at = problem if rounds.narrow is None else problem._replace(table=narrow)
        batch, rule, slots = rounds.batch, rounds.rule, scratch[0].slots
        others = (side.mirror, narrow)
        proposals = np.zeros(max(min(batch, elements.size), 1), np.int64)
        moved = 0
        for first in range(0, elements.size, batch):
            chosen = elements[first : first + batch]
            self._propose(looked_at, criterion, scratch, (chosen, proposals), rounds)
            moved += apply_proposals(problem, others, criterion, slots, chosen, proposals, rule)
            self._renew(problem.table, narrow, criterion)
        return int(moved)

    def _renew(self, table: ClassTable, narrow: ClassTable, criterion: tuple[Terms, Ready]) -> None:
        """Bring up to date what is derived from changed cells, shared among the threads, too."""
        length = change_count(table)
        if self._pool is None or length < 2 * LEAST_CELLS:
            if length > 0:
                renew_cells(table, narrow, criterion, 0, length)
        else:
            share = -(-length // self.threads)
            calls = [
                self._pool.submit(renew_cells, table, narrow, criterion, first, min(first + share, length))
                for first in range(0, length, share)
            ]
            for call in calls:
                call.result()
        forget_changes(table)

    def _propose(
        self,
        problem: Problem,
        criterion: tuple[Terms, Ready],
        scratch: Sequence[Scratch],
        chosen: tuple[Elements, npt.NDArray[np.int64]],
        rounds: Rounds,
    ) -> None:
        """Find the best classes of a round, shared among the threads where it is worth it."""
        elements, proposals = chosen
        propose = propose_rivals if rounds.rivals else propose_classes
        if self._pool is None or elements.size < 2 * LEAST_SHARE:
            propose(problem, criterion, scratch[0], elements, proposals, rounds.rule)
            return
        share = max(-(-elements.size // self.threads), LEAST_SHARE)
        calls = [
            self._pool.submit(
                propose,
                problem,
                criterion,
                scratch[number],
                elements[first : first + share],
                proposals[first : first + share],
                rounds.rule,
            )
            for number, first in enumerate(range(0, elements.size, share))
        ]
        for call in calls:
            call.result()

    def _scratch_for(self, state: State, side: int) -> list[Scratch]:
        """Give working memory for every thread, made once for a state."""
        if self._state is not state:
            self._state = state
            self._scratch.clear()
        if side not in self._scratch:
            self._scratch[side] = [state.sides[side].scratch() for _ in range(self.threads)]
        return self._scratch[side]


def available_threads() -> int:
    """Give the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
