"""How many classes? As many as leaving-one-out has a use for, found by growing their number."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from classgram.clustering.criteria import LeavingOneOut
from classgram.clustering.problem import ClusteringProblem, Numbering, class_numbers
from classgram.clustering.search.state import State, falling_order, state_from_maps
from classgram.clustering.start import start_state
from classgram.options import SearchOptions
from classgram.runtime.compiled.arrays import BoolArray, Int32Array, Int64Array
from classgram.runtime.progress import Report

_FIRST_NUMBER = 2
"""The number of classes to begin with."""

_ALWAYS_DOUBLED = 16
"""Up to this, numbers are doubled in any case."""

_WORTHWHILE_BITS = 0.1
"""Bits a word that doubling a large number must gain for it to be doubled again."""

_LARGE_NUMBER = 256
"""Up to this, numbers are doubled as long as anything is gained."""

_EQUAL_BITS = 0.005
"""Bits a word below which two numbers are equally good: the smaller one is taken then."""

_CLOSE_RATIO = 1.02
"""Numbers nearer to each other than by this factor are not told apart."""

Curve = tuple[tuple[int, float], ...]
Climb = Callable[[ClusteringProblem, State], State]


@dataclass
class _Growth:
    """Numbers of classes tried so far, with the classes found and their criterion."""

    problem: ClusteringProblem
    climb: Climb
    report: Report
    states: dict[int, State] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)

    def begin(self, number: int) -> None:
        """Find the first classes."""
        options = self.problem.options
        criterion = LeavingOneOut(0.75 if options.discount == "estimate" else options.discount)
        state, _ = start_state(self.problem, criterion, class_numbers(self.problem, number), SearchOptions())
        self._keep(number, state)

    def attempt(self, number: int) -> None:
        """Find classes of another number, starting from those of the next smaller one."""
        base = max(known for known in self.states if known < number)
        self._keep(number, _grown_state(self.problem, self.states[base], number))

    def _keep(self, number: int, state: State) -> None:
        found = self.climb(self.problem, state)
        self.states[number], self.values[number] = found, found.value()
        self.report(0, f"{number} classes: leaving-one-out {self.values[number]:,.0f}")

    def bits(self, number: int, other: int) -> float:
        """Return how many bits a word one number is better than another."""
        events = self.problem.events.total
        return (self.values[number] - self.values[other]) / events / float(np.log(2))


def choose_class_number(problem: ClusteringProblem, climb: Climb, report: Report) -> tuple[int, Curve]:
    """Return the number of classes asked for, or the one that leaving-one-out likes best and all tried.

    The number is doubled while that gains enough. Where the text has no use for more classes the
    criterion stays as it is or falls: the smallest number that is as good as the best is then looked
    for between the numbers tried. Each number starts from the classes of a smaller one.
    """
    if problem.options.classes != "auto":
        return problem.options.classes, ()
    judged = _judging_problem(problem)
    most = judged.elements[-1]
    if not (judged.sizes[-1][judged.free[-1]] >= 2).any():
        return 1, ((1, 0.0),)
    growth = _Growth(judged, climb, report)
    number, gain = min(_FIRST_NUMBER, most), np.inf
    growth.begin(number)
    while number < most:
        wanted = _WORTHWHILE_BITS if number > _LARGE_NUMBER else _EQUAL_BITS
        if number >= _ALWAYS_DOUBLED and gain <= wanted:
            break
        before, number = number, min(2 * number, most)
        growth.attempt(number)
        gain = growth.bits(number, before)
    good = _smallest_good(growth) if gain <= _EQUAL_BITS else number
    return good, tuple(sorted(growth.values.items()))


def _smallest_good(growth: _Growth) -> int:
    """Return the smallest number that is as good as the best, trying some between those tried."""
    best = max(growth.values, key=growth.values.__getitem__)
    good = min(known for known in growth.values if growth.bits(best, known) < _EQUAL_BITS)
    poor = max((known for known in growth.values if known < good), default=good - 1)
    while good > _CLOSE_RATIO * poor and good - poor > 1:
        middle = (poor + good) // 2
        growth.attempt(middle)
        if growth.bits(best, middle) < _EQUAL_BITS:
            good = middle
        else:
            poor = middle
    return good


def _judging_problem(problem: ClusteringProblem) -> ClusteringProblem:
    """Return the same problem under leaving-one-out, contexts having as many classes as words."""
    least = max(2, problem.options.move_min_count or 2)
    options = replace(problem.options, criterion="loo", move_min_count=least, context_classes=None)
    return replace(problem, options=options)


def _grown_state(problem: ClusteringProblem, state: State, classes: int) -> State:
    """Return a state of more classes: each old class gives its most frequent member a new one."""
    numbers = class_numbers(problem, classes)
    maps = []
    for index, (numbering, old) in enumerate(zip(numbers, state.numberings, strict=True)):
        grown = np.array(state.maps[index])
        if not (problem.options.shape == "predictive" and index == 0):
            sizes, free = problem.sizes[index], problem.free[index]
            _split_heads(grown, sizes, free, (old, numbering))
            for number, word in enumerate(problem.pins):
                grown[word] = numbering.candidates + number
        maps.append(grown)
    return state_from_maps(problem, state.criterion, tuple(maps), numbers)


def _split_heads(
    classes: Int32Array,
    sizes: Int64Array,
    free: BoolArray,
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
