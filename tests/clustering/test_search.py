"""The sweeps between whole ones: runners-up, unsure elements, and what they leave behind when stopped."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
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
from classgram.clustering.exchange import Result, exchange
from classgram.clustering.search.class_table import dense_table
from classgram.clustering.search.engine import LocalEngine, Rounds
from classgram.clustering.search.sweep import Search
from classgram.errors import InputError
from classgram.options import ClusterOptions, RunOptions, SearchOptions
from tests.clustering.test_exchange import Case, cases, check_optimum, counts_of, synthetic_text, tables_are

NOISE = np.zeros(1, np.float32)
RULE = MoveRule(0.0, 2.0, 0.0, 0.0, 0, NOISE)


@contextmanager
def fast(**constants: float) -> Iterator[None]:
    """Small tasks are searched as large ones are."""
    with ExitStack() as stack:
        for name, value in {"FEW_PLACES": 0, "FIRST_WHOLE": 1, "FEW_TOUCHED": 1.0, **constants}.items():
            home = "schedule" if name in ("FIRST_WHOLE", "FIRST_CLOSE", "FEW_CLOSE", "SETTLED") else "sweep"
            stack.enter_context(patch(f"classgram.clustering.search.{home}.{name}", value))
        yield


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
        if word == element and (case.task.tied or number == 0):
            partner_changes[context] = partner_changes.get(context, 0) + amount
        if context == element and (case.task.tied or number == 1):
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
            engine.sweep(state, number, side.movable, Rounds(3, RULE, False))
            engine.renew(table, criterion, 1)
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
    options = replace(case.task.options, classes=case.state.numberings[-1].candidates)
    search = SearchOptions(start="random", seed=7, batch=batch)
    with tables_are(case.sparse), fast(LITTLE_SLACK=slack):
        result = exchange(case.task.counts, options, search, RunOptions(threads=1))
    assert result.converged
    check_optimum(case, result)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return synthetic_text(8, 12, 250)[0]


def clustered(
    lines: list[str], shape: str, checkpoint: Path | None = None, resume: bool = False, threads: int = 1
) -> Result:
    options = ClusterOptions(classes=9, shape=shape)  # type: ignore[arg-type]
    run = RunOptions(threads=threads, resume=resume)
    search = SearchOptions(start="random", seed=5, batch=8, no_regroup=True)
    with fast(LITTLE_SLACK=0.5, FIRST_CLOSE=1, FEW_CLOSE=0.0, CHUNK_SECONDS=1e-9, SETTLED=0.1):
        return exchange(counts_of(lines), options, search, run, checkpoint)


def record(result: Result) -> list[object]:
    sweeps = [(sweep.kind, sweep.moved, sweep.F) for sweep in result.sweeps]
    return [result.F, [classes.tolist() for classes in result.partition.maps], sweeps]


class Killed(Exception):  # noqa: N818 - it stands for a signal
    """The process is gone."""


class dying_after:  # noqa: N801 - used like a function
    """A step of a search that leaves a checkpoint and ends the process after so many of them."""

    def __init__(self, last: int) -> None:
        self.last, self.taken, self.step = last, 0, Search._step

    def __get__(self, search: Search, kind: type) -> Callable[..., None]:
        return lambda *arguments: self.take(search, *arguments)

    def take(self, search: Search, *arguments: Any) -> None:
        self.step(search, *arguments)
        self.taken += 1
        if self.taken == self.last:
            search._save_checkpoint()
            raise Killed


@pytest.mark.parametrize("shape", ["tied", "joint"])
def test_a_search_goes_on_from_any_round_of_any_sweep(lines: list[str], shape: str, tmp_path: Path) -> None:
    whole = clustered(lines, shape)
    assert {sweep.kind for sweep in whole.sweeps} == {"whole", "restless", "rivals", "close", "unsure"}
    # Far more steps than there are: this run ends by itself, and only counts.
    steps = dying_after(10**9)
    with patch.object(Search, "_step", steps):
        clustered(lines, shape)
    for last in range(1, steps.taken, 7):
        path = tmp_path / f"checkpoint-{last}"
        with patch.object(Search, "_step", dying_after(last)), pytest.raises(Killed):
            clustered(lines, shape, path)
        assert record(clustered(lines, shape, path, resume=True)) == record(whole)


@pytest.mark.parametrize("shape", ["tied", "joint"])
def test_threads_share_every_kind_of_sweep(lines: list[str], shape: str) -> None:
    few = [patch(f"classgram.clustering.search.engine.{name}", 1) for name in ("LEAST_SHARE", "LEAST_MOVED")]
    with few[0], few[1]:
        assert record(clustered(lines, shape, threads=3)) == record(clustered(lines, shape))


def test_a_checkpoint_of_another_version_is_refused(lines: list[str], tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    arrays_of = "classgram.clustering.search.sweep.state_arrays"
    with (
        patch(arrays_of, lambda state: {"map-0": state.maps[0]}),
        patch.object(Search, "_look_up", Search._save_checkpoint),
    ):
        clustered(lines, "tied", path)
    with pytest.raises(InputError, match="another version; start anew without --resume"):
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
    result = exchange(counts_of(lines), ClusterOptions(classes=9), SearchOptions(seed=10**30, annealing=1))
    assert result.F < 0


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
