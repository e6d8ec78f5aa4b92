"""Engines: who finds the best classes of a round of elements. They never change the result."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Protocol

import numpy as np
import numpy.typing as npt

from classgram.errors import InputError
from classgram.kernels.exchange import apply_proposals
from classgram.kernels.problem import Rule, Scratch
from classgram.kernels.proposals import propose_classes
from classgram.state import Side, State

Elements = npt.NDArray[np.int32]

LEAST_SHARE = 32
"""Fewer elements than this for each thread are not worth handing out."""


class Engine(Protocol):
    """What a search asks of an engine."""

    def sweep(self, state: State, side: int, elements: Elements, batch: int, rule: Rule) -> int:
        """Propose and apply rounds of ``batch`` elements; give how many elements moved."""
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

    def sweep(self, state: State, side: int, elements: Elements, batch: int, rule: Rule) -> int:
        """Propose and apply rounds of ``batch`` elements; give how many elements moved."""
        scratch = self._scratch_for(state, side)
        part = state.sides[side]
        proposals = np.zeros(max(min(batch, elements.size), 1), np.int64)
        criterion = (state.terms, state.ready)
        slots = scratch[0].slots
        moved = 0
        for first in range(0, elements.size, batch):
            chosen = elements[first : first + batch]
            self._propose(state, part, scratch, chosen, (proposals, rule))
            moved += apply_proposals(part.problem, part.mirror, criterion, slots, chosen, proposals, rule)
        return int(moved)

    def _propose(
        self,
        state: State,
        side: Side,
        scratch: Sequence[Scratch],
        elements: Elements,
        into: tuple[npt.NDArray[np.int64], Rule],
    ) -> None:
        """Find the best classes of a round, shared among the threads where it is worth it."""
        proposals, rule = into
        criterion = (state.terms, state.ready)
        if self._pool is None or elements.size < 2 * LEAST_SHARE:
            propose_classes(side.problem, criterion, scratch[0], elements, proposals, rule)
            return
        share = max(-(-elements.size // self.threads), LEAST_SHARE)
        calls = [
            self._pool.submit(
                propose_classes,
                side.problem,
                criterion,
                scratch[number],
                elements[first : first + share],
                proposals[first : first + share],
                rule,
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
