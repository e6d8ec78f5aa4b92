"""Random small clustering tasks, and the check of an optimum by the naive twin."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from unittest.mock import patch

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from classgram.clustering.criteria import choose_criterion
from classgram.clustering.exchange import Result
from classgram.clustering.problem import Task, class_numbers, make_task, start_state
from classgram.clustering.search.state import State
from classgram.options import ClusterOptions, SearchOptions
from tests.clustering import naive_clustering as naive
from tests.helpers.texts import counts_of

WORDS = ["a", "b", "c", "d", "e", "f", "g", "h"]

shapes = st.sampled_from(
    [("tied", 2), ("joint", 2), ("predictive", 2), ("joint", 3), ("predictive", 3), ("joint", 4)]
)
criteria = st.sampled_from(["ml", "loo"])


@st.composite
def small_texts(draw: st.DrawFn) -> list[str]:
    line = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
    return draw(st.lists(line, min_size=2, max_size=14))


@dataclass
class Case:
    """A task in a random state, with what the naive twin needs."""

    task: Task
    state: State
    pairs: dict[tuple[int, int], int]
    sparse: bool

    def maps(self) -> tuple[list[int], list[int]]:
        """The classes of contexts and of words, plain."""
        maps = self.state.maps
        words = maps[-1].tolist()
        return (list(words) if self.task.tied else maps[0].tolist()), words

    def value_after(self, side: int, element: int, candidate: int) -> tuple[float, float]:
        """F after a move, and the sum of its terms' absolute values."""
        contexts, words = self.maps()
        if self.task.tied or side == 0:
            words[element] = candidate
        if self.task.tied or side == 1:
            contexts[element] = candidate
        terms = naive.criterion_terms(self.pairs, contexts, words, self.state.criterion.discount)
        return sum(terms), sum(map(abs, terms))


def tables_are(sparse: bool) -> AbstractContextManager[object]:
    """Tables of classes that are apart have this form, whatever their size."""
    return patch("classgram.clustering.problem.prefers_sparse", return_value=sparse)


def make_case(lines: list[str], options: ClusterOptions, seed: int, sparse: bool = False) -> Case:
    task = make_task(counts_of(lines, options.order), options)
    assert isinstance(options.classes, int)
    classes = min(options.classes, *task.elements)
    numbers = class_numbers(task, classes)
    start = SearchOptions(start="random", seed=seed)
    with tables_are(sparse):
        state, _ = start_state(task, choose_criterion(options), numbers, start)
    rows = task.events.by_row
    pairs = {
        (context, int(rows.columns[entry])): int(rows.counts[entry])
        for context in range(task.events.rows)
        for entry in range(rows.starts[context], rows.starts[context + 1])
    }
    return Case(task, state, pairs, sparse)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    shape, order = draw(shapes)
    options = ClusterOptions(
        classes=draw(st.integers(1, 5)),
        shape=shape,  # type: ignore[arg-type]
        order=order,
        criterion=draw(criteria),  # type: ignore[arg-type]
        contexts=draw(st.sampled_from([None, 0, 3])),
        move_min_count=1,
    )
    case = make_case(draw(small_texts()), options, draw(st.integers(0, 99)), draw(st.booleans()))
    if options.criterion == "loo":
        # A start that merging could not mend has no value to compare with.
        contexts, words = case.maps()
        sides = (1,) if shape == "predictive" else (0, 1)
        assume(not naive.has_single_count(case.pairs, contexts, words, sides))
    return case


def check_optimum(case: Case, result: Result) -> None:
    """No permitted move of a movable element raises F, computed from scratch."""
    case.state.maps[-1][:] = result.partition.words
    if not case.task.tied:
        case.state.maps[0][:] = result.partition.context_map
    contexts, words = case.maps()
    discount = case.state.criterion.discount
    value = naive.criterion(case.pairs, contexts, words, discount)
    assert pytest.approx(value, abs=1e-6 * (1 + abs(value))) == result.F
    sides = (0, 1) if case.task.options.shape != "predictive" else (1,)
    if discount:
        assert not naive.has_single_count(case.pairs, contexts, words, sides)
    for number, side in enumerate(case.state.sides):
        for element in side.movable.tolist():
            for candidate in range(side.problem.candidates):
                after, scale = case.value_after(number, element, candidate)
                moved = [list(contexts), list(words)]
                if case.task.tied or number == 0:
                    moved[1][element] = candidate
                if case.task.tied or number == 1:
                    moved[0][element] = candidate
                if discount and naive.has_single_count(case.pairs, moved[0], moved[1], sides):
                    continue
                assert after <= value + 1e-9 * abs(value) + 1e-9 * (1 + scale)
