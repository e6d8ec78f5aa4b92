"""The two forms of the class table: the sparse store against a plain one, and equal results of both."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classgram.clustering._kernels.sparse_cells import SparseCells, add_to_sparse_cell, half_size, sparse_cell
from classgram.clustering.exchange import exchange
from classgram.clustering.result import Result
from classgram.clustering.search.class_table import (
    CELL_BYTES,
    class_sums,
    dense_cells,
    listed_counts,
    prefers_sparse,
    sparse_cells,
)
from classgram.clustering.tuning import TUNING
from classgram.options import ClusterOptions, RunOptions, SearchOptions
from tests.helpers.clustering import small_texts, tables_are
from tests.helpers.texts import counts_of

ROWS, WIDTH = 5, 16


def change_cells(cells: SparseCells, changes: np.ndarray) -> int:
    """Make changes (row, column, amount); give how often a count was not what it should have been."""
    wrong = 0
    for i in range(changes.shape[0]):
        row, column, amount, expected = changes[i]
        wrong += int(sparse_cell(cells, row, column) != expected)
        wrong += int(add_to_sparse_cell(cells, row, column, amount) != expected)
    return wrong


@st.composite
def wanderings(draw: st.DrawFn) -> tuple[list[list[int]], list[list[int]]]:
    """Pairs with amounts, and new places that they move to one after the other."""
    place = st.tuples(st.integers(0, ROWS - 1), st.integers(0, WIDTH - 1))
    pairs = draw(st.lists(st.tuples(place, st.integers(1, 3)), max_size=40))
    start = [[row, column, amount] for (row, column), amount in pairs]
    seed = draw(st.integers(0, 10**6))
    moves = draw(st.integers(0, 400)) if start else 0
    chance = random.Random(seed)
    where = [list(pair) for pair in start]
    changes = []
    for _ in range(moves):
        pair = chance.choice(where)
        changes.append([pair[0], pair[1], -pair[2]])
        # Mostly to one row, so that it outgrows its room again and again.
        pair[0] = chance.choice([0, chance.randrange(ROWS)])
        pair[1] = chance.randrange(WIDTH)
        changes.append(list(pair))
    return start, changes


@settings(max_examples=100)
@given(wanderings())
def test_sparse_cells_equal_a_plain_dictionary(case: tuple[list[list[int]], list[list[int]]]) -> None:
    start, changes = case
    array = np.array(start, np.int64).reshape(-1, 3)
    cells = sparse_cells((array[:, 0], array[:, 1]), array[:, 2].astype(np.int32), (ROWS, WIDTH))
    assert cells.columns.size == 2 * half_size(len(start), ROWS, WIDTH)
    twin: Counter[tuple[int, int]] = Counter()
    for row, column, amount in start:
        twin[row, column] += amount
    steps = []
    for row, column, amount in changes:
        steps.append([row, column, amount, twin[row, column]])
        twin[row, column] += amount
    assert change_cells(cells, np.array(steps, np.int64).reshape(-1, 4)) == 0
    expected = np.zeros((ROWS, WIDTH), np.int64)
    for (row, column), count in twin.items():
        expected[row, column] = count
    assert np.array_equal(dense_cells(cells, WIDTH), expected)
    listed = listed_counts(cells)
    assert np.array_equal(listed[listed > 0], expected[expected > 0])
    for found, wanted in zip(class_sums(cells, WIDTH), (expected.sum(0), expected.sum(1)), strict=True):
        assert np.array_equal(found, wanted)


def test_a_pool_that_is_full_is_gathered() -> None:
    pairs = 400
    columns = np.arange(pairs)
    cells = sparse_cells((np.zeros(pairs, np.int64), columns), np.ones(pairs, np.int32), (3, 416))
    halves = []
    for row in (1, 2, 0, 1, 2, 0):
        # All pairs move to the next row, one after the other: it outgrows its room many times.
        leaving = np.stack([np.full(pairs, (row - 1) % 3), columns, np.full(pairs, -1), np.ones(pairs)], 1)
        joining = np.stack([np.full(pairs, row), columns, np.ones(pairs), np.zeros(pairs)], 1)
        steps = np.stack([leaving, joining], 1).reshape(-1, 4).astype(np.int64)
        assert change_cells(cells, steps[np.argsort(steps[:, 1] * 7 % pairs, kind="stable")]) == 0
        halves.append(bool(cells.used[0] > cells.columns.size // 2))
        assert dense_cells(cells, 416)[row, :pairs].all()
        assert dense_cells(cells, 416).sum() == pairs
    assert set(halves) == {False, True}


def both_forms(
    lines: list[str], options: ClusterOptions, search: SearchOptions, threads: int = 1
) -> tuple[Result, Result]:
    results = []
    for sparse in (False, True):
        counts, run = counts_of(lines, options.order), RunOptions(threads)
        results.append(exchange(counts, options, search, run, tuning=tables_are(sparse)))
    return results[0], results[1]


def assert_equal_results(dense: Result, sparse: Result) -> None:
    assert dense.F == sparse.F
    for one, two in zip(dense.partition.maps, sparse.partition.maps, strict=True):
        assert np.array_equal(one, two)
    history = [(sweep.kind, sweep.moved, sweep.F) for sweep in dense.sweeps]
    assert history == [(sweep.kind, sweep.moved, sweep.F) for sweep in sparse.sweeps]


shapes = st.sampled_from([("joint", 2), ("joint", 3), ("joint", 4), ("predictive", 2), ("predictive", 3)])
searches = st.sampled_from(
    [
        SearchOptions(),
        SearchOptions(start="round-robin", batch=4),
        SearchOptions(start="random", seed=5, batch=1),
        SearchOptions(effort="normal"),
        SearchOptions(heuristic=True, targets=1),
    ]
)


@settings(max_examples=80)
@given(small_texts(), shapes, st.sampled_from(["ml", "loo"]), searches, st.sampled_from([None, 0, 3]))
def test_both_forms_give_the_same_classes(
    lines: list[str],
    shape: tuple[str, int],
    criterion: str,
    search: SearchOptions,
    contexts: int | None,
) -> None:
    options = ClusterOptions(
        classes=2,
        shape=shape[0],  # type: ignore[arg-type]
        order=shape[1],
        criterion=criterion,  # type: ignore[arg-type]
        contexts=contexts,
    )
    # Three words more, each often enough to move under either criterion.
    assert_equal_results(*both_forms([*lines, "x y z x", "y x z z"] * 2, options, search))


@pytest.mark.parametrize("criterion", ["ml", "loo"])
@pytest.mark.parametrize("shape", ["joint", "predictive"])
def test_both_forms_agree_on_a_larger_text(shape: str, criterion: str) -> None:
    """Large counts, many classes, and rows that outgrow their capacity."""
    chance = random.Random(3)
    words = [f"w{i}" for i in range(300)]
    weights = [100_000 / (i + 1) ** 1.3 for i in range(300)]
    lines = [" ".join(chance.choices(words, weights, k=12)) for _ in range(4000)]
    lines += ["w0 w1 w0 w1 w0 w1 w0 w1"] * 2500
    options = ClusterOptions(
        classes=20,
        shape=shape,  # type: ignore[arg-type]
        order=3,
        criterion=criterion,  # type: ignore[arg-type]
        contexts=2000,
    )
    # All classes are tried: which ones come near to being best, each form estimates in its own way.
    search = SearchOptions(start="frequency" if criterion == "ml" else "round-robin", sweeps=30)
    assert_equal_results(*both_forms(lines, options, search, threads=2))


def test_large_or_mostly_empty_tables_are_sparse() -> None:
    assert prefers_sparse(5_000_000, 350_000, 1000, 1, TUNING)
    assert not prefers_sparse(5_000_000, 7002, 1002, 2, TUNING)
    assert not prefers_sparse(0, 1000, 1000, 2, TUNING)
    rows = TUNING.largest_dense_bytes // CELL_BYTES // 1000
    assert not prefers_sparse(rows * 1000, rows, 1000, 1, TUNING)
    assert prefers_sparse(rows * 1000, rows, 1000, 2, TUNING)
    assert prefers_sparse(rows, rows, 1000, 1, TUNING)
