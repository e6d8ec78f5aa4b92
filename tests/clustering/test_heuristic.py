"""The paper's heuristic against its naive twin, and against the exact algorithm that it becomes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classgram.clustering._kernels.heuristic import run_heuristic
from classgram.clustering._kernels.side_arrays import MoveRule
from classgram.clustering.exchange import exchange
from classgram.clustering.heuristic import lists_of_side
from classgram.options import ClusterOptions, RunOptions, SearchOptions
from tests.clustering import naive_clustering as naive
from tests.helpers.clustering import make_case, small_texts
from tests.helpers.texts import counts_of, synthetic_text


@settings(max_examples=40)
@given(small_texts(), st.integers(2, 6), st.integers(1, 3), st.integers(1, 3), st.integers(1, 4))
def test_heuristic_equals_its_naive_twin(lines: list[str], classes: int, t: int, h: int, u: int) -> None:
    case = make_case(lines, ClusterOptions(classes=classes), seed=4)
    side = case.state.sides[0]
    options = SearchOptions(heuristic=True, targets=t, neighbours=h, renew=u)
    candidates = lists_of_side(case.state, 0, options)
    twin = naive.NaiveHeuristic(case.pairs, case.state.maps[0].tolist(), side.arrays.candidates, (t, h, u))
    buffers = side.buffers().profile
    rule = MoveRule(1e-6, 2.0, 0.0, 0.0, 0, np.zeros(1, np.float32))
    terms = case.state.kernel_criterion.terms
    for _ in range(3):
        moved = run_heuristic(side.arrays, side.mirror, terms, buffers, side.movable, candidates, rule)
        assert moved == twin.sweep(side.movable.tolist(), 1e-6)
        assert case.state.maps[0].tolist() == twin.classes


@pytest.mark.parametrize("shape", ["tied", "joint", "predictive"])
def test_enough_targets_make_it_exact(shape: str) -> None:
    lines, _ = synthetic_text(6, 10, 120)
    counts = counts_of(lines)
    options = ClusterOptions(classes=5, shape=shape)  # type: ignore[arg-type]
    one = RunOptions(threads=1)
    exact = exchange(counts, options, SearchOptions(batch=1), one)
    wide = exchange(counts, options, SearchOptions(heuristic=True, targets=5, batch=1), one)
    assert wide.converged
    assert np.array_equal(wide.partition.words, exact.partition.words)
    narrow = exchange(counts, options, SearchOptions(heuristic=True, targets=2, neighbours=3), one)
    assert not narrow.converged
    assert narrow.ended == "heuristic"
    case = make_case(lines, options, seed=0)
    contexts, words = narrow.partition.context_map.tolist(), narrow.partition.words.tolist()
    assert pytest.approx(naive.criterion(case.pairs, contexts, words, 0)) == narrow.F
    values = [sweep.F for sweep in narrow.sweeps]
    assert values == sorted(values)
