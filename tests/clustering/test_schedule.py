"""Which sweep comes next: the rules of the schedule, one by one."""

from dataclasses import replace

import pytest

from classgram.clustering.problem import make_problem
from classgram.clustering.search.schedule import Ending, StopSearch, next_kind, schedule
from classgram.clustering.search.sweep import SearchProgress, Sweep, SweepKind
from classgram.clustering.start import begin_search
from classgram.clustering.tuning import SearchTuning
from classgram.options import ClusterOptions, SearchOptions
from tests.helpers.texts import counts_of, synthetic_text

K = SweepKind
FAST = SearchTuning(small_search=0, settled_share=0.1, near_share=0.05)


def begun(search: SearchOptions, tuning: SearchTuning = FAST) -> SearchProgress:
    """A search of 60 words that has not begun to sweep."""
    problem = make_problem(counts_of(synthetic_text(5, 12, 60)[0]), ClusterOptions(classes=5), tuning)
    progress, _ = begin_search(problem, search, 5, None)
    assert 55 <= progress.movable <= 61
    return progress


def after(progress: SearchProgress, *sweeps: tuple[SweepKind, int]) -> SearchProgress:
    """The same search after sweeps that moved so many elements; nothing was touched since."""
    progress.history = [Sweep(i + 1, moved, -1.0, 0.0, kind) for i, (kind, moved) in enumerate(sweeps)]
    progress.visited_classes = tuple(side.arrays.classes.copy() for side in progress.state.sides)
    return progress


@pytest.mark.parametrize(
    ("sweeps", "expected"),
    [
        ([], K.FULL),
        ([(K.FULL, 9)], K.CONTESTED),
        ([(K.FULL, 0)], None),
        ([(K.FULL, 9), (K.CONTESTED, 4)], K.RUNNERS_UP),
        ([(K.FULL, 9), (K.CONTESTED, 0)], K.FULL),
        ([(K.FULL, 9), (K.FULL, 9)], K.RUNNERS_UP),
        ([(K.FULL, 9), (K.MERGE_SPLIT, 9)], K.CONTESTED),
        # More than a tenth of the elements moved: the runners-up have not settled.
        ([(K.FULL, 9), (K.FULL, 9), (K.RUNNERS_UP, 7)], K.RUNNERS_UP),
        ([(K.FULL, 9), (K.RUNNERS_UP, 1)], K.FULL),
        ([(K.FULL, 9), (K.FULL, 9), (K.RUNNERS_UP, 1)], K.UNCERTAIN),
        ([(K.FULL, 9), (K.FULL, 9), (K.UNCERTAIN, 1)], K.RUNNERS_UP),
        ([(K.FULL, 9), (K.FULL, 9), (K.UNCERTAIN, 0)], K.FULL),
        ([(K.FULL, 9)] * 3 + [(K.RUNNERS_UP, 1)], K.NEAR_RUNNERS_UP),
        ([(K.FULL, 9)] * 3 + [(K.RUNNERS_UP, 1), (K.NEAR_RUNNERS_UP, 5)], K.RUNNERS_UP),
        ([(K.FULL, 9)] * 3 + [(K.RUNNERS_UP, 1), (K.NEAR_RUNNERS_UP, 1)], K.UNCERTAIN),
        # With the same lists the near ones moved little a moment ago.
        ([(K.FULL, 9)] * 3 + [(K.NEAR_RUNNERS_UP, 1), (K.RUNNERS_UP, 1)], K.UNCERTAIN),
    ],
)
def test_the_next_kind_of_sweep(sweeps: list[tuple[SweepKind, int]], expected: SweepKind | None) -> None:
    assert next_kind(after(begun(SearchOptions()), *sweeps)) is expected


def test_many_touched_classes_ask_for_a_full_sweep() -> None:
    progress = after(begun(SearchOptions()), (K.FULL, 9), (K.FULL, 9), (K.RUNNERS_UP, 1))
    assert next_kind(progress) is K.UNCERTAIN
    progress.visited_classes[0][:] = (progress.visited_classes[0] + 1) % 5
    assert next_kind(progress) is K.FULL


@pytest.mark.parametrize(
    "search", [SearchOptions(batch=1), SearchOptions(sweeps=9), SearchOptions(heuristic=True, targets=99)]
)
def test_the_plain_algorithm_has_full_sweeps_only(search: SearchOptions) -> None:
    assert next_kind(after(begun(search), (K.FULL, 9), (K.FULL, 9))) is K.FULL


def test_small_searches_have_full_sweeps_only() -> None:
    tuning = replace(FAST, small_search=61 * 5 + 1)
    assert next_kind(after(begun(SearchOptions(), tuning), (K.FULL, 9), (K.FULL, 9))) is K.FULL


def test_annealing_comes_first_and_the_heuristic_stays_alone() -> None:
    progress = begun(SearchOptions(annealing=2))
    assert next_kind(progress) is K.ANNEALING
    assert next_kind(after(progress, (K.ANNEALING, 9))) is K.ANNEALING
    assert next_kind(after(progress, (K.ANNEALING, 9), (K.ANNEALING, 9))) is K.FULL
    progress = begun(SearchOptions(heuristic=True, targets=2))
    assert next_kind(progress) is K.HEURISTIC
    assert next_kind(after(progress, (K.HEURISTIC, 9))) is K.HEURISTIC
    assert next_kind(after(progress, (K.HEURISTIC, 0))) is None


def test_the_schedule_stops_at_the_limit_of_sweeps() -> None:
    progress = after(begun(SearchOptions(sweeps=2)), (K.FULL, 9), (K.FULL, 9))
    with pytest.raises(StopSearch) as stopped:
        next(schedule(progress))
    assert stopped.value.ending is Ending.SWEEPS


def test_an_open_sweep_is_finished_first() -> None:
    progress = begun(SearchOptions())
    first = next(schedule(progress))
    assert next(schedule(progress)) is first
