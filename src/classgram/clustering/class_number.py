"""How many classes? As many as leaving-one-out has a use for, found by growing their number."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from classgram.clustering.criteria import LeavingOneOut
from classgram.clustering.problem import Task, class_numbers, start_state, state_from_maps
from classgram.clustering.search.state import ClassMap, Counts, Numbering, State, falling_order
from classgram.options import SearchOptions
from classgram.runtime.progress import Report

FIRST = 2
"""The number of classes to begin with."""

SMALL = 16
"""Up to this, numbers are doubled in any case."""

WORTHWHILE = 0.1
"""Bits a word that doubling a large number must gain for it to be doubled again."""

LARGE = 256
"""Up to this, numbers are doubled as long as anything is gained."""

EQUAL = 0.005
"""Bits a word below which two numbers are equally good: the smaller one is taken then."""

CLOSE = 1.02
"""Numbers nearer to each other than by this factor are not told apart."""

Curve = tuple[tuple[int, float], ...]
Climb = Callable[[Task, State], State]


@dataclass
class Growth:
    """Numbers of classes tried so far, with the classes found and their criterion."""

    task: Task
    climb: Climb
    report: Report
    states: dict[int, State] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)

    def begin(self, number: int) -> None:
        """Find the first classes."""
        options = self.task.options
        criterion = LeavingOneOut(0.75 if options.discount == "estimate" else options.discount)
        state, _ = start_state(self.task, criterion, class_numbers(self.task, number), SearchOptions())
        self._keep(number, state)

    def attempt(self, number: int) -> None:
        """Find classes of another number, starting from those of the next smaller one."""
        base = max(known for known in self.states if known < number)
        self._keep(number, grown_state(self.task, self.states[base], number))

    def _keep(self, number: int, state: State) -> None:
        found = self.climb(self.task, state)
        self.states[number], self.values[number] = found, found.value()
        self.report(0, f"{number} classes: leaving-one-out {self.values[number]:,.0f}")

    def bits(self, number: int, other: int) -> float:
        """Give how many bits a word one number is better than another."""
        events = self.task.events.total
        return (self.values[number] - self.values[other]) / events / float(np.log(2))


def choose_class_number(task: Task, climb: Climb, report: Report) -> tuple[int, Curve]:
    """Give the number of classes that leaving-one-out likes best, and all that were tried.

    The number is doubled while that gains enough. Where the text has no use for more classes the
    criterion stays as it is or falls: the smallest number that is as good as the best is then looked
    for between the numbers tried. Each number starts from the classes of a smaller one.
    """
    judged = judging_task(task)
    most = judged.elements[-1]
    if not (judged.sizes[-1][judged.free[-1]] >= 2).any():
        return 1, ((1, 0.0),)
    growth = Growth(judged, climb, report)
    number, gain = min(FIRST, most), np.inf
    growth.begin(number)
    while number < most and (number < SMALL or gain > (WORTHWHILE if number > LARGE else EQUAL)):
        before, number = number, min(2 * number, most)
        growth.attempt(number)
        gain = growth.bits(number, before)
    good = smallest_good(growth) if gain <= EQUAL else number
    return good, tuple(sorted(growth.values.items()))


def smallest_good(growth: Growth) -> int:
    """Give the smallest number that is as good as the best, trying some between those tried."""
    best = max(growth.values, key=growth.values.__getitem__)
    good = min(known for known in growth.values if growth.bits(best, known) < EQUAL)
    poor = max((known for known in growth.values if known < good), default=good - 1)
    while good > CLOSE * poor and good - poor > 1:
        middle = (poor + good) // 2
        growth.attempt(middle)
        if growth.bits(best, middle) < EQUAL:
            good = middle
        else:
            poor = middle
    return good


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
