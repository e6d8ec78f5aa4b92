"""Which sweep of a search comes next, until nothing is left to try.

A search ends when a full sweep moves nothing, so that a converged result is a certified local optimum. In
between it spends its time where something may move: on the classes that came near to being an element's best
(its runners-up), tried again once the changes since may have made up for what they were worse by; on the
elements that have any; and finally on the elements that are uncertain of their class.
"""

from collections.abc import Iterator
from enum import StrEnum

from classgram.clustering._kernels.side_arrays import N_ONCE
from classgram.clustering.criteria import LeavingOneOut, estimated_discount
from classgram.clustering.search.annealing import is_annealing, keep_best
from classgram.clustering.search.merge_split import merge_and_split
from classgram.clustering.search.sweep import (
    Cursor,
    SearchProgress,
    SweepKind,
    few_classes_touched,
    open_sweep,
)


class Ending(StrEnum):
    """Why a search ended."""

    CONVERGED = "converged"
    """A full sweep moved nothing: no single move raises F."""
    HEURISTIC = "heuristic"
    """No class that the heuristic selected was better."""
    SWEEPS = "sweeps"
    TIME_LIMIT = "time limit"
    INTERRUPTED = "interrupted"
    ANNEALING = "annealing"
    """The best classes were met on the way, before the sweep that ended the search."""


class StopSearch(Exception):  # noqa: N818 - it reports no error
    """The search must end here."""

    def __init__(self, ending: Ending) -> None:
        self.ending = ending


def schedule(progress: SearchProgress) -> Iterator[Cursor]:
    """Yield the sweeps of a search, beginning with the one that a checkpoint left open."""
    limit = progress.options.sweeps
    while True:
        if progress.cursor is None:
            if limit is not None and len(progress.history) >= limit:
                raise StopSearch(Ending.SWEEPS)
            kind = next_kind(progress)
            if kind is None:
                if not merge_and_split(progress):
                    return
                continue
            progress.cursor = open_sweep(progress, kind)
            keep_best(progress, progress.cursor.value)
        yield progress.cursor


def next_kind(progress: SearchProgress) -> SweepKind | None:
    """Return the kind of the next sweep, or None where nothing is left to try."""
    last = progress.history[-1] if progress.history else None
    if progress.neighbour_lists:
        return None if last is not None and last.moved == 0 else SweepKind.HEURISTIC
    if is_annealing(progress):
        return SweepKind.ANNEALING
    if last is None or last.kind is SweepKind.ANNEALING:
        return SweepKind.FULL
    if last.kind is SweepKind.FULL and last.moved == 0:
        return SweepKind.FULL if _better_discount(progress) else None
    return _between_full_sweeps(progress) if _is_fast(progress) else SweepKind.FULL


def _between_full_sweeps(progress: SearchProgress) -> SweepKind:
    """Return the kind of the sweep after one that moved something, or was not a full one."""
    history, tuning = progress.history, progress.problem.tuning
    last = history[-1]
    if last.kind is SweepKind.MERGE_SPLIT or (last.kind is SweepKind.FULL and len(history) == 1):
        return SweepKind.CONTESTED
    if last.kind is SweepKind.FULL:
        return SweepKind.RUNNERS_UP
    if last.kind in (SweepKind.CONTESTED, SweepKind.UNCERTAIN):
        return SweepKind.RUNNERS_UP if last.moved > 0 else SweepKind.FULL
    near = last.kind is SweepKind.NEAR_RUNNERS_UP
    if last.moved > (tuning.near_share if near else tuning.settled_share) * progress.movable:
        return SweepKind.RUNNERS_UP
    full = sum(sweep.kind is SweepKind.FULL for sweep in history)
    if not near and full >= tuning.full_before_near and _near_ones_move(progress):
        return SweepKind.NEAR_RUNNERS_UP
    few = full >= tuning.full_before_uncertain and few_classes_touched(progress)
    return SweepKind.UNCERTAIN if few else SweepKind.FULL


def _near_ones_move(progress: SearchProgress) -> bool:
    """Tell whether near runners-up are worth a try: not if few moved last time, with the same lists."""
    for sweep in reversed(progress.history):
        if sweep.kind is SweepKind.NEAR_RUNNERS_UP:
            return sweep.moved > progress.problem.tuning.near_share * progress.movable
        if sweep.kind is not SweepKind.RUNNERS_UP:
            break
    return True


def _is_fast(progress: SearchProgress) -> bool:
    """Tell whether other sweeps come between full ones: not in the paper's algorithm, nor in small tasks."""
    options = progress.options
    if progress.batch == 1 or options.sweeps is not None or options.heuristic:
        return False
    work = sum(side.movable.size * side.arrays.candidates for side in progress.state.sides)
    return work >= progress.problem.tuning.small_search


def _better_discount(progress: SearchProgress) -> bool:
    """Estimate the discount b again, keep it if F rises with it, and tell whether it did."""
    state, problem = progress.state, progress.problem
    criterion = state.criterion
    if problem.options.discount != "estimate" or not isinstance(criterion, LeavingOneOut):
        return False
    before = state.value()
    once = int(state.sides[0].arrays.pair_numbers[N_ONCE])
    total = problem.events.total
    state.use_criterion(LeavingOneOut(estimated_discount(once, state.seen_twice())), total)
    if state.value() > before + problem.tuning.smallest_gain * abs(before):
        return True
    state.use_criterion(criterion, total)
    return False
