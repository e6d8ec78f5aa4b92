"""Random small clustering tasks, and the check of an optimum by the naive twin."""

from dataclasses import dataclass

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from classgram.clustering.criteria import choose_criterion
from classgram.clustering.problem import ClusteringProblem, class_numbers, make_problem
from classgram.clustering.result import Result
from classgram.clustering.search.state import State
from classgram.clustering.start import start_state
from classgram.clustering.tuning import SearchTuning
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
    """A problem in a random state, with what the naive twin needs."""

    problem: ClusteringProblem
    state: State
    pairs: dict[tuple[int, int], int]
    sparse: bool

    def maps(self) -> tuple[list[int], list[int]]:
        """The classes of contexts and of words, plain."""
        maps = self.state.maps
        words = maps[-1].tolist()
        return (list(words) if self.problem.tied else maps[0].tolist()), words

    def value_after(self, side: int, element: int, candidate: int) -> tuple[float, float]:
        """F after a move, and the sum of its terms' absolute values."""
        contexts, words = self.maps()
        if self.problem.tied or side == 0:
            words[element] = candidate
        if self.problem.tied or side == 1:
            contexts[element] = candidate
        terms = naive.criterion_terms(self.pairs, contexts, words, self.state.criterion.discount)
        return sum(terms), sum(map(abs, terms))


def tables_are(sparse: bool) -> SearchTuning:
    """Tables of classes that are apart have this form, whatever their size."""
    return SearchTuning(largest_dense_bytes=-1) if sparse else SearchTuning(small_table_bytes=1 << 60)


def make_case(lines: list[str], options: ClusterOptions, seed: int, sparse: bool = False) -> Case:
    problem = make_problem(counts_of(lines, options.order), options, tables_are(sparse))
    assert isinstance(options.classes, int)
    classes = min(options.classes, *problem.elements)
    numbers = class_numbers(problem, classes)
    start = SearchOptions(start="random", seed=seed)
    state, _ = start_state(problem, choose_criterion(options), numbers, start)
    rows = problem.events.by_row
    pairs = {
        (context, int(rows.columns[entry])): int(rows.counts[entry])
        for context in range(problem.events.rows)
        for entry in range(rows.starts[context], rows.starts[context + 1])
    }
    return Case(problem, state, pairs, sparse)


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
        # A start that merging could not repair has no value to compare with.
        contexts, words = case.maps()
        sides = (1,) if shape == "predictive" else (0, 1)
        assume(not naive.has_single_count(case.pairs, contexts, words, sides))
    return case


def check_optimum(case: Case, result: Result) -> None:
    """No permitted move of a movable element raises F, computed from scratch."""
    case.state.maps[-1][:] = result.partition.words
    if not case.problem.tied:
        case.state.maps[0][:] = result.partition.context_map
    contexts, words = case.maps()
    discount = case.state.criterion.discount
    value = naive.criterion(case.pairs, contexts, words, discount)
    assert pytest.approx(value, abs=1e-6 * (1 + abs(value))) == result.F
    sides = (0, 1) if case.problem.options.shape != "predictive" else (1,)
    if discount:
        assert not naive.has_single_count(case.pairs, contexts, words, sides)
    for number, side in enumerate(case.state.sides):
        for element in side.movable.tolist():
            for candidate in range(side.arrays.candidates):
                after, scale = case.value_after(number, element, candidate)
                moved = [list(contexts), list(words)]
                if case.problem.tied or number == 0:
                    moved[1][element] = candidate
                if case.problem.tied or number == 1:
                    moved[0][element] = candidate
                if discount and naive.has_single_count(case.pairs, moved[0], moved[1], sides):
                    continue
                assert after <= value + 1e-9 * abs(value) + 1e-9 * (1 + scale)
