"""How many classes? The number that leaving-one-out likes best, found by growing it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from classgram.criteria import LeavingOneOut
from classgram.options import SearchOptions
from classgram.progress import Report
from classgram.state import ClassMap, Counts, Numbering, State, falling_order
from classgram.task import Task, class_numbers, start_state, state_from_maps

FIRST = 8
"""The number of classes to begin with."""

SWEEPS = 2
"""Sweeps at each number; enough to tell the numbers apart."""

SMALLEST_RISE = 0.002
"""Doubling ends where it raises F by less than this share: the curve is flat, the classes tiny."""

REFINEMENTS = (0.75, 1.5)
"""Numbers beside the best power that are tried too."""

Curve = tuple[tuple[int, float], ...]
Climb = Callable[[Task, State, int], State]


def choose_class_number(task: Task, climb: Climb, report: Report) -> tuple[int, Curve]:
    """Give the number of classes with the highest leaving-one-out criterion, and all that were tried.

    Each number starts from the classes of a smaller one, whose most frequent words get classes of
    their own: doubling until F hardly rises or falls, then numbers around the best.
    """
    judged = judging_task(task)
    most = judged.elements[-1]
    if not (judged.sizes[-1][judged.free[-1]] >= 2).any():
        return 1, ((1, 0.0),)
    criterion = LeavingOneOut(0.75 if task.options.discount == "estimate" else task.options.discount)
    number = min(FIRST, most)
    state, _ = start_state(judged, criterion, class_numbers(judged, number), SearchOptions())
    states = {number: climb(judged, state, SWEEPS)}
    values = {number: state.value()}

    def attempt(wanted: int) -> None:
        base = max(known for known in states if known < wanted)
        states[wanted] = climb(judged, grown_state(judged, states[base], wanted), SWEEPS)
        values[wanted] = states[wanted].value()
        report(0, f"{wanted} classes: leaving-one-out {values[wanted]:,.0f}")

    rise = np.inf
    while number < most and rise > SMALLEST_RISE * abs(values[number]):
        before = values[number]
        number = min(2 * number, most)
        attempt(number)
        rise = values[number] - before
    best = max(values, key=values.__getitem__)
    for factor in REFINEMENTS:
        wanted = min(int(best * factor), most)
        if wanted not in values and wanted > min(states):
            attempt(wanted)
    best = max(values, key=values.__getitem__)
    return best, tuple(sorted(values.items()))


def judging_task(task: Task) -> Task:
    """Give the same task under leaving-one-out, contexts having as many classes as words."""
    least = max(2, task.options.move_min_count or 2)
    options = replace(task.options, criterion="loo", move_min_count=least, context_classes=None)
    return replace(task, options=options)


def grown_state(task: Task, state: State, classes: int) -> State:
    """Give a state of more classes: each old class gives its most frequent member a new one."""
    numbers = class_numbers(task, classes)
    maps = []
    for index, (numbering, old) in enumerate(zip(numbers, state.numberings, strict=True)):
        grown = np.array(state.maps[index])
        if not (task.options.shape == "predictive" and index == 0):
            sizes, free = task.sizes[index], task.free[index]
            split_heads(grown, sizes, free, (old, numbering))
            for number, word in enumerate(task.pins):
                grown[word] = numbering.candidates + number
        maps.append(grown)
    return state_from_maps(task, state.criterion, tuple(maps), numbers)


def split_heads(
    classes: ClassMap,
    sizes: Counts,
    free: npt.NDArray[np.bool_],
    numberings: tuple[Numbering, Numbering],
) -> None:
    """Move the most frequent member of each class into a new one, the largest classes first.

    A class keeps a count of at least two, and so does a new one.
    """
    old, new = numberings
    order = falling_order(sizes, free & (sizes >= 2))
    _, first = np.unique(classes[order], return_index=True)
    heads = order[first]
    totals = np.bincount(classes[free], sizes[free], old.candidates)
    heads = heads[totals[classes[heads]] - sizes[heads] >= 2]
    heads = heads[np.argsort(-totals[classes[heads]], kind="stable")]
    heads = heads[: new.candidates - old.candidates]
    classes[heads] = old.candidates + np.arange(heads.size, dtype=np.int32)
