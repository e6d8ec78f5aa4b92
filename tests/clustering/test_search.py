"""The sweeps between whole ones: runners-up, unsure elements, and what they leave behind when stopped."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from classgram.clustering import compiling
from classgram.clustering._kernels.class_table import STALE, renew_rows
from classgram.clustering._kernels.criterion import LARGEST_NODE, LEVELS, NODES, SHARE_UNIT
from classgram.clustering._kernels.dense_scores import MOST_SHARED
from classgram.clustering._kernels.moves import apply_proposals
from classgram.clustering._kernels.proposals import propose_classes
from classgram.clustering._kernels.runners_up import (
    REACH,
    RETRY_AT_ONCE,
    mark_worth_retrying,
    propose_runners_up,
)
from classgram.clustering._kernels.side_arrays import MoveRule, SideArrays
from classgram.clustering.criteria import LeavingOneOut, MaximumLikelihood, differences
from classgram.clustering.exchange import exchange
from classgram.clustering.result import Result
from classgram.clustering.search.class_table import dense_table
from classgram.clustering.search.engine import LocalEngine
from classgram.clustering.search.sweep import Cursor
from classgram.clustering.tuning import SearchTuning
from classgram.clustering.watch import Watch
from classgram.errors import InputError
from classgram.options import ClusterOptions, RunOptions, SearchOptions
from tests.helpers.clustering import Case, cases, check_optimum, tables_are
from tests.helpers.texts import counts_of, synthetic_text

NOISE = np.zeros(1, np.float32)
RULE = MoveRule(0.0, 2.0, 0.0, 0.0, 0, NOISE)


FAST = SearchTuning(small_search=0, full_before_uncertain=1, touched_share=1.0)
"""Small problems are searched as large ones are."""


def best_gain(case: Case, side: int, element: int, allowed: set[int]) -> float:
    """The highest gain of moving an element to one of these classes, or of staying."""
    before, _ = case.value_after(side, element, int(case.state.sides[side].arrays.classes[element]))
    return max(0.0, *(case.value_after(side, element, c)[0] - before for c in allowed), 0.0)


def gain_to(case: Case, side: int, element: int, candidate: int) -> tuple[float, float]:
    """The gain of a move, and the size of what it is the difference of."""
    before, scale = case.value_after(side, element, int(case.state.sides[side].arrays.classes[element]))
    return case.value_after(side, element, candidate)[0] - before, scale


@given(cases().filter(lambda case: case.state.criterion.discount == 0))
def test_rivals_are_tried_when_something_has_changed(case: Case) -> None:
    criterion = case.state.kernel_criterion
    for number, side in enumerate(case.state.sides):
        arrays, memory = side.arrays, side.arrays.memory
        proposals, again = (np.zeros(max(side.movable.size, 1), np.int64) for _ in range(2))
        buffers = side.buffers()
        arguments = (criterion.terms, buffers.profile, side.movable)
        propose_classes(arrays, criterion, buffers, side.movable, proposals, RULE)
        staying = proposals[: side.movable.size] == arrays.classes[side.movable]
        propose_runners_up(arrays, *arguments, again, RULE)
        # Those that are about to move try their runners-up at once.
        assert (
            again[: side.movable.size][staying].tolist() == proposals[: side.movable.size][staying].tolist()
        )
        memory.turnover[:] += 1e6
        propose_runners_up(arrays, *arguments, proposals, RULE)
        for element, proposal in zip(side.movable.tolist(), proposals.tolist(), strict=False):
            listed = memory.runners_up[element].tolist()
            runners_up = set(listed[: listed.index(-1)] if -1 in listed else listed)
            gain, scale = gain_to(case, number, element, proposal)
            assert gain >= best_gain(case, number, element, runners_up) - 1e-6 * (1 + scale)


@given(cases().filter(lambda case: case.state.criterion.discount == 0 and not case.sparse))
def test_rivals_are_the_classes_that_come_near(case: Case) -> None:
    for number, side in enumerate(case.state.sides):
        arrays = side.arrays
        proposals = np.zeros(max(side.movable.size, 1), np.int64)
        criterion = case.state.kernel_criterion
        propose_classes(arrays, criterion, side.buffers(), side.movable, proposals, RULE)
        totals = arrays.table.totals
        for element, proposal in zip(side.movable.tolist(), proposals.tolist(), strict=False):
            own = int(arrays.classes[element])
            margin = 2.0 * (arrays.sizes[element, 0] + arrays.sizes[element, -1] + 1) ** 0.5
            listed = set(arrays.memory.runners_up[element].tolist())
            for candidate in range(arrays.candidates):
                empty = (totals[:, candidate] == 0).all()
                # Scores are estimates: classes near the margin may be listed or not.
                near = gain_to(case, number, element, candidate)[0] > 0.5 - margin
                if near and not empty and candidate not in (own, proposal):
                    assert candidate in listed


def hopeful(arrays: SideArrays, elements: npt.NDArray[np.int32], leeway: float) -> list[bool]:
    """Which elements have a rival that is due."""
    marks = np.zeros(elements.size, np.uint8)
    mark_worth_retrying(arrays, elements, leeway, marks)
    return [bool(mark) for mark in marks]


@given(
    cases().filter(lambda case: case.state.criterion.discount == 0),
    st.floats(0.01, 3.0),
    st.sampled_from(["leeway", "churn", "stir"]),
)
def test_rivals_are_due_when_changes_may_have_brought_what_they_lacked(
    case: Case, change: float, what: str
) -> None:
    for number, side in enumerate(case.state.sides):
        arrays, memory = side.arrays, side.arrays.memory
        proposals = np.zeros(side.movable.size, np.int64)
        criterion = case.state.kernel_criterion
        propose_classes(arrays, criterion, side.buffers(), side.movable, proposals, RULE)
        elements = side.movable[proposals == arrays.classes[side.movable]]
        assert not any(hopeful(arrays, elements, 0.0))
        touched = int(arrays.classes[elements[0]]) if elements.size else 0
        if what == "churn":
            memory.turnover[touched] += change
        if what == "stir":
            memory.neighbour_changes[elements] += change
        found = hopeful(arrays, elements, change if what == "leeway" else 0.0)
        for element, due in zip(elements.tolist(), found, strict=True):
            events = float(arrays.sizes[element].sum()) + 1
            listed = memory.runners_up[element].tolist()
            runners_up = listed[: listed.index(-1)] if -1 in listed else listed
            brought = {"leeway": change, "stir": REACH * change}
            over = []
            for place, rival in enumerate(runners_up):
                lack = -gain_to(case, number, element, rival)[0]
                # Nothing had changed before the look.
                assert abs(float(memory.retry_at[element, place]) * REACH * events - max(lack, 0.0)) < 0.5
                concerned = touched in (rival, int(arrays.classes[element]))
                over.append(brought.get(what, REACH * change * events * concerned) - lack)
            # Scores are estimates: what a rival lacks is known within half a unit.
            assert not any(more > 0.5 for more in over) or due
            assert any(more > -0.5 for more in over) or not due


@given(cases(), st.data())
def test_a_move_is_noted_with_all_that_it_concerns(case: Case, data: st.DataObject) -> None:
    state, number = case.state, data.draw(st.integers(0, len(case.state.sides) - 1))
    side, other = state.sides[number], state.sides[-1 - number]
    arrays, memory = side.arrays, side.arrays.memory
    assume(side.movable.size > 0)
    element = data.draw(st.sampled_from(side.movable.tolist()))
    left, target = int(arrays.classes[element]), data.draw(st.integers(0, arrays.candidates - 1))
    memory.runners_up[element, :2] = (target, -1)
    before = arrays.table.totals.sum(axis=0)
    rule, profile_buffers = RULE._replace(threshold=-1e300), side.buffers().profile
    moved = apply_proposals(
        arrays,
        side.mirror,
        state.kernel_criterion.terms,
        profile_buffers,
        np.array([element], np.int32),
        np.array([target], np.int64),
        rule,
    )
    assume(moved > 0)
    # With tied classes an element is context and word; else contexts stir words, and words contexts.
    partner_changes: dict[int, int] = {}
    for (context, word), amount in case.pairs.items():
        if word == element and (case.problem.tied or number == 0):
            partner_changes[context] = partner_changes.get(context, 0) + amount
        if context == element and (case.problem.tied or number == 1):
            partner_changes[word] = partner_changes.get(word, 0) + amount
    found = arrays.partner_changes
    if found.size > 0:
        assert found is other.arrays.memory.neighbour_changes
        assert {place: int(found[place]) for place in np.flatnonzero(found).tolist()} == partner_changes
    else:
        assert len(state.sides) == 1
    size = float(arrays.sizes[element].sum())
    expected = np.zeros(memory.turnover.size)
    expected[left] += size / before[left]
    expected[target] += size / (before[target] + size)
    assert memory.turnover == pytest.approx(expected, rel=1e-6)
    assert memory.runners_up[element, :2].tolist() == [left, -1]
    assert (memory.retry_at[element] == RETRY_AT_ONCE).all()


@pytest.mark.parametrize("width", [16, 80, 1008])
def test_every_count_has_its_ready_differences(width: int) -> None:
    random = np.random.default_rng(3)
    counts = random.integers(0, 40, (5, width)).astype(np.int32)
    # Small counts are looked up, others computed.
    counts[1, ::3] = 1000 * (np.arange(counts[1, ::3].size) % 11)
    for criterion in (MaximumLikelihood(), LeavingOneOut(0.75)):
        made = criterion.kernel_form(100_000)
        ready = made.precomputed
        table = dense_table(counts, np.ones((1, width), np.int64), made)
        changed = random.random(counts.shape) < 0.1
        counts[changed] += random.integers(1, 5000, int(changed.sum())).astype(np.int32)
        rows, columns = np.nonzero(changed)
        table.stale[rows, columns // 8] = table.stale_rows[rows] = STALE
        for share in range(3):
            renew_rows(table, made, share, 3)
        assert not table.stale.any()
        for level, node in enumerate(NODES):
            exact = differences(np.array(float(node)), counts.astype(np.float64), criterion.pair_shift)
            steps = (exact - ready.lowest[level]) / ready.steps[level]
            assert np.abs(table.differences[level:-1:LEVELS] - steps).max() <= 0.5 + 1e-6


@given(cases().filter(lambda case: not case.sparse))
def test_what_is_kept_ready_follows_the_moves(case: Case) -> None:
    state = case.state
    criterion = state.kernel_criterion
    with LocalEngine(1) as engine:
        for number, side in enumerate(state.sides):
            table = side.arrays.table
            rounds = engine.rounds(state, number, RULE, False)
            for first in range(0, side.movable.size, 3):
                elements = side.movable[first : first + 3]
                rounds.apply(elements, rounds.propose(elements))
            engine.rounds(state, number, RULE, False).renew()
            assert not table.stale.any()
            fresh = dense_table(table.cells, table.totals, criterion)
            for name in ("short", "differences", "codes", "single_totals"):
                assert np.array_equal(getattr(table, name), getattr(fresh, name)), name
            assert not side.arrays.tied or np.array_equal(table.diagonal, fresh.diagonal)


@pytest.mark.parametrize("total", [3, 8, 40, 5000, 5_000_000])
@pytest.mark.parametrize("criterion", [MaximumLikelihood(), LeavingOneOut(0.75), LeavingOneOut(0.1)])
def test_combined_differences_err_no_more_than_they_say(
    criterion: MaximumLikelihood | LeavingOneOut, total: int
) -> None:
    ready = criterion.kernel_form(total).precomputed
    spread = np.geomspace(3000, 5_000_000, 200).round()
    counts = np.concatenate([np.arange(3000), spread]).astype(np.float64)
    counts = counts[counts <= total]
    nodes = np.array(NODES, np.float64)[:, None]
    exact = differences(nodes, counts, criterion.pair_shift)
    steps = np.rint((exact - ready.lowest[:, None]) / ready.steps[:, None])
    assert steps.min() == 0
    assert steps.max() <= 255
    for amount in range(1, LARGEST_NODE + 1):
        first = ready.firsts[amount]
        shares, units = ready.shares[amount].astype(np.int64), ready.steps[first : first + 2]
        products = shares[:, None] * steps[first : first + 2].astype(np.int64)
        # What must fit in 16 bits: a product, and as many parts of products as are summed.
        assert products.max() < 1 << 16
        assert MOST_SHARED * (products.max() >> 4) < 1 << 16
        parts = (products >> 4) + 0.5 * (shares[:, None] > 0)
        combined = ready.constants[amount] + (16 / SHARE_UNIT * units) @ parts
        wanted = differences(np.array(float(amount)), counts, criterion.pair_shift)
        assert np.abs(combined - wanted).max() <= ready.errors[amount] + 1e-4 * amount


@settings(max_examples=60)
@given(cases(), st.sampled_from([2, 64]), st.sampled_from([0.0, 8.0]))
def test_a_fast_search_ends_in_an_optimum(case: Case, batch: int, slack: float) -> None:
    options = replace(case.problem.options, classes=case.state.numberings[-1].candidates)
    search = SearchOptions(start="random", seed=7, batch=batch)
    bytes_of_tables = tables_are(case.sparse).largest_dense_bytes
    tuning = replace(FAST, uncertain_margin=slack, largest_dense_bytes=bytes_of_tables)
    result = exchange(case.problem.counts, options, search, RunOptions(threads=1), tuning=tuning)
    assert result.converged
    check_optimum(case, result)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return synthetic_text(8, 12, 250)[0]


EVERY_KIND = replace(
    FAST,
    uncertain_margin=0.5,
    full_before_near=1,
    near_share=0.0,
    settled_share=0.1,
    chunk_seconds=1e-9,
    elements_per_thread=1,
    moves_per_thread=1,
)
"""A small search has sweeps of every kind, which threads share, and is stopped after every round."""


def clustered(
    lines: list[str], shape: str, checkpoint: Path | None = None, resume: bool = False, threads: int = 1
) -> Result:
    options = ClusterOptions(classes=9, shape=shape)  # type: ignore[arg-type]
    run = RunOptions(threads=threads, resume=resume)
    search = SearchOptions(start="random", seed=5, batch=8, no_regroup=True)
    return exchange(counts_of(lines), options, search, run, checkpoint, tuning=EVERY_KIND)


def record(result: Result) -> list[object]:
    sweeps = [(sweep.kind, sweep.moved, sweep.F) for sweep in result.sweeps]
    return [result.F, [classes.tolist() for classes in result.partition.maps], sweeps]


class Killed(Exception):  # noqa: N818 - it stands for a signal
    """The process is gone."""


class DyingWatch(Watch):
    """Leaves a checkpoint and ends the process after so many rounds; counts them."""

    last = 10**9
    taken = 0

    def visited(self, cursor: Cursor, elements: int, seconds: float) -> None:
        super().visited(cursor, elements, seconds)
        DyingWatch.taken += 1
        if DyingWatch.taken == DyingWatch.last:
            self.save()
            raise Killed


def dying_after(rounds: int) -> AbstractContextManager[object]:
    """A search that is killed after so many rounds."""
    DyingWatch.last, DyingWatch.taken = rounds, 0
    return patch("classgram.clustering.exchange.Watch", DyingWatch)


@pytest.mark.parametrize("shape", ["tied", "joint"])
def test_a_search_goes_on_from_any_round_of_any_sweep(lines: list[str], shape: str, tmp_path: Path) -> None:
    whole = clustered(lines, shape)
    assert {sweep.kind for sweep in whole.sweeps} == {
        *("full", "contested", "runners-up", "near runners-up", "uncertain")
    }
    # Far more rounds than there are: this run ends by itself, and only counts.
    with dying_after(10**9):
        clustered(lines, shape)
    for last in range(1, DyingWatch.taken, 7):
        path = tmp_path / f"checkpoint-{last}"
        with dying_after(last), pytest.raises(Killed):
            clustered(lines, shape, path)
        assert record(clustered(lines, shape, path, resume=True)) == record(whole)


@pytest.mark.parametrize("shape", ["tied", "joint"])
def test_threads_share_every_kind_of_sweep(lines: list[str], shape: str) -> None:
    assert record(clustered(lines, shape, threads=3)) == record(clustered(lines, shape))


@pytest.mark.parametrize("name", ["search", "map-0", "runners_up-0", "elements-0"])
def test_a_checkpoint_of_another_version_is_refused(lines: list[str], name: str, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    with dying_after(30), pytest.raises(Killed):
        clustered(lines, "tied", path)
    config = json.loads((path / "config.json").read_text())
    del (config if name in config else config["arrays"])[name]
    (path / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="start anew without --resume"):
        clustered(lines, "tied", path, resume=True)


class Waiting:
    """A process that compiles; whoever waits for it is counted."""

    def __init__(self) -> None:
        self.waits = 0

    def wait(self) -> None:
        time.sleep(0.05)
        self.waits += 1


def test_threads_that_start_together_wait_for_one_compilation() -> None:
    process = Waiting()
    with patch.object(compiling, "_other", [process]), ThreadPoolExecutor(4) as pool:
        for call in [pool.submit(compiling.await_kernels) for _ in range(8)]:
            call.result()
    assert process.waits == 1


def test_any_seed_will_do(lines: list[str]) -> None:
    search = SearchOptions(seed=10**30, annealing=1)
    results = [exchange(counts_of(lines), ClusterOptions(classes=9), search) for _ in range(2)]
    assert results[0].sweeps[0].kind == "annealing"
    assert record(results[0]) == record(results[1])


def test_annealing_that_ends_in_an_optimum_has_converged(lines: list[str]) -> None:
    options = ClusterOptions(classes=9)
    for seed in range(6):
        search = SearchOptions(start="random", seed=seed, effort="normal", no_regroup=True)
        result = exchange(counts_of(lines), options, search, RunOptions(threads=1))
        best = max(sweep.F for sweep in result.sweeps)
        # What the annealing passed on its way may be better than where it ended.
        assert result.converged == (best <= result.sweeps[-1].F + 1e-9 * abs(best))


def test_the_history_follows_the_discount(lines: list[str]) -> None:
    options = ClusterOptions(classes=3, criterion="loo", discount="estimate")
    result = exchange(counts_of(lines), options, SearchOptions(no_regroup=True), RunOptions(threads=1))
    # The discount was estimated again: a whole sweep that moved nothing was not the last.
    assert [sweep.moved for sweep in result.sweeps[-2:]] == [0, 0]
    difference = result.sweeps[-1].F - result.F
    assert abs(difference) < 1e-12 * abs(result.F)
