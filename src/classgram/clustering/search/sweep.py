"""One sweep: which elements it visits, where it is, and what is recorded of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from classgram.clustering._kernels.heuristic import Candidates
from classgram.clustering._kernels.runners_up import (
    TouchedClasses,
    mark_uncertain,
    mark_worth_retrying,
)
from classgram.clustering.problem import ClusteringProblem
from classgram.clustering.search.state import State
from classgram.options import SearchOptions
from classgram.runtime.compiled.arrays import BoolArray, ByteArray, Float32Array, Int32Array


class SweepKind(StrEnum):
    """Which elements a sweep visits, and which classes it tries for them."""

    FULL = "full"
    """All elements, all classes: the paper's sweep. One that moves nothing certifies an optimum."""
    CONTESTED = "contested"
    """The elements that have runners-up, all classes."""
    RUNNERS_UP = "runners-up"
    """The elements with a runner-up that is worth retrying, and no other classes."""
    NEAR_RUNNERS_UP = "near runners-up"
    """The same, with runners-up that are nearly worth retrying."""
    UNCERTAIN = "uncertain"
    """The elements of touched classes, and those that may prefer another since; all classes."""
    MERGE_SPLIT = "merge and split"
    """Whole classes are merged and split."""
    ANNEALING = "annealing"
    """All elements, all classes, with noise added to F."""
    HEURISTIC = "heuristic"
    """All elements, the classes that the paper's heuristic selects (section 4)."""

    @property
    def tries_runners_up(self) -> bool:
        """Whether no classes but runners-up are tried."""
        return self in (SweepKind.RUNNERS_UP, SweepKind.NEAR_RUNNERS_UP)

    @property
    def adds_gains(self) -> bool:
        """Whether the gains are added to F: to compute it anew may take longer than the sweep."""
        return self not in (SweepKind.MERGE_SPLIT, SweepKind.ANNEALING, SweepKind.HEURISTIC)


@dataclass(frozen=True)
class Sweep:
    """The record of one sweep."""

    sweep: int
    moved: int
    F: float
    seconds: float
    kind: SweepKind


@dataclass
class Cursor:
    """Where an open sweep is: ``position`` in the elements of ``side``."""

    kind: SweepKind
    elements: tuple[Int32Array, ...]
    """The elements to be visited on each side, in order."""
    value: float
    """F before the sweep."""
    threshold: float
    """What a move must gain."""
    side: int = 0
    position: int = 0
    moved: int = 0
    seconds: float = 0.0

    @property
    def visited(self) -> int:
        """How many elements have been visited."""
        return sum(part.size for part in self.elements[: self.side]) + self.position

    def next_elements(self, most: int) -> Int32Array | None:
        """Return the next elements of one side, at most so many; None at the end of the sweep."""
        while self.side < len(self.elements):
            rest: Int32Array = self.elements[self.side][self.position : self.position + most]
            if rest.size:
                return rest
            self.side, self.position = self.side + 1, 0
        return None


@dataclass(frozen=True)
class Best:
    """The highest F so far and its classes, where F may fall on the way."""

    value: float
    maps: tuple[Int32Array, ...]


@dataclass
class SearchProgress:
    """How far a search has come: what a checkpoint holds, and what it can be made from again."""

    problem: ClusteringProblem
    options: SearchOptions
    state: State
    batch: int
    noise: Float32Array
    """Gumbel noise for annealing."""
    neighbour_lists: tuple[Candidates, ...] = ()
    """What the heuristic keeps for each side; empty for the exact algorithm."""
    history: list[Sweep] = field(default_factory=list)
    cursor: Cursor | None = None
    """The open sweep."""
    visited_classes: tuple[Int32Array, ...] = ()
    """The classes of each side's elements before the last sweep over full or uncertain elements."""
    best: Best | None = None

    @property
    def movable(self) -> int:
        """How many elements may move."""
        return sum(side.movable.size for side in self.state.sides)


def open_sweep(progress: SearchProgress, kind: SweepKind) -> Cursor:
    """Begin a sweep: choose its elements and fix its threshold."""
    state, tuning = progress.state, progress.problem.tuning
    known = kind.adds_gains and _value_is_known(progress.history)
    value = progress.history[-1].F if known else state.value()
    for side in state.sides:
        side.arrays.memory.gained[0] = 0.0
    elements = tuple(_chosen_elements(progress, number, kind) for number in range(len(state.sides)))
    if kind in (SweepKind.FULL, SweepKind.UNCERTAIN):
        progress.visited_classes = tuple(np.array(side.arrays.classes) for side in state.sides)
    return Cursor(kind, elements, value, tuning.smallest_gain * abs(value))


def value_after(progress: SearchProgress, cursor: Cursor) -> float:
    """Return F after a sweep."""
    if not cursor.kind.adds_gains:
        return progress.state.value()
    return cursor.value + sum(float(side.arrays.memory.gained[0]) for side in progress.state.sides)


def few_classes_touched(progress: SearchProgress) -> bool:
    """Tell whether elements have left or joined few classes since all elements were visited."""
    share = progress.problem.tuning.touched_share
    return all(
        _touched(progress, number).sum() <= share * side.arrays.candidates
        for number, side in enumerate(progress.state.sides)
    )


def touched_classes(then: Int32Array, now: Int32Array, width: int) -> ByteArray:
    """Mark the classes that elements have left or joined."""
    marks = np.zeros(width, np.uint8)
    moved = now != then
    marks[then[moved]] = 1
    marks[now[moved]] = 1
    return marks


def _value_is_known(history: Sequence[Sweep]) -> bool:
    """Tell whether the last sweep's F is that of the state: not if the criterion has changed since."""
    # After a full sweep without a move only another discount makes a search go on.
    return bool(history) and not (history[-1].kind is SweepKind.FULL and history[-1].moved == 0)


def _chosen_elements(progress: SearchProgress, number: int, kind: SweepKind) -> Int32Array:
    """Return what a sweep visits on one side, in order."""
    side = progress.state.sides[number]
    if kind.tries_runners_up:
        marks = np.zeros(side.movable.size, np.uint8)
        mark_worth_retrying(side.arrays, side.movable, retry_slack(progress, kind), marks)
        return side.movable[marks > 0]
    if kind is SweepKind.CONTESTED:
        contested: BoolArray = side.arrays.memory.runners_up[side.movable, 0] >= 0
        return side.movable[contested]
    if kind is SweepKind.UNCERTAIN:
        return side.movable[_uncertain(progress, number)]
    return side.movable


def retry_slack(progress: SearchProgress, kind: SweepKind) -> float:
    """Return how far from being worth retrying a runner-up may be in a sweep."""
    return progress.problem.tuning.retry_slack if kind is SweepKind.NEAR_RUNNERS_UP else 0.0


def _uncertain(progress: SearchProgress, number: int) -> BoolArray:
    """Tell which of the movable elements of a side are uncertain of their class."""
    sides = progress.state.sides
    side = sides[number]
    marks = _touched(progress, number)
    # Tied classes stand opposite themselves; contexts that never move stand opposite as they were.
    if side.arrays.tied > 0:
        opposite = np.tile(marks[: side.arrays.tied], 2)
    elif len(sides) > 1:
        opposite = _touched(progress, 1 - number)
    else:
        opposite = np.zeros(side.rows, np.uint8)
    uncertain = np.zeros(side.movable.size, np.uint8)
    margin = progress.problem.tuning.uncertain_margin
    mark_uncertain(side.arrays, TouchedClasses(marks, opposite), side.movable, margin, uncertain)
    return uncertain > 0


def _touched(progress: SearchProgress, number: int) -> ByteArray:
    """Mark the classes of a side that were touched since all elements were visited."""
    side = progress.state.sides[number]
    return touched_classes(progress.visited_classes[number], side.arrays.classes, side.width)
