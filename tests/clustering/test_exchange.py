"""Exchange clustering against naive twins: gains, choices, optima, both criteria, all shapes."""

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classgram.class_files.reading import read_start
from classgram.classes.partition import Partition
from classgram.clustering._kernels.class_table import Pairs
from classgram.clustering._kernels.exact_gains import (
    build_profile,
    gain_of,
    may_join,
    may_leave,
    value_in_own,
)
from classgram.clustering._kernels.proposals import propose_classes
from classgram.clustering._kernels.side_arrays import ClassCounts, MoveRule
from classgram.clustering.criteria import LeavingOneOut, MaximumLikelihood
from classgram.clustering.exchange import exchange
from classgram.clustering.problem import class_numbers, make_problem
from classgram.clustering.search.class_table import dense_cells
from classgram.clustering.search.engine import LocalEngine
from classgram.clustering.search.merge_split import Proposal, propose, swapped
from classgram.clustering.search.state import state_from_maps
from classgram.clustering.start import start_state
from classgram.clustering.tuning import TUNING
from classgram.counts.counting import count_ngrams
from classgram.errors import InputError
from classgram.options import ClusterOptions, CountOptions, RunOptions, SearchOptions
from tests.clustering import naive_clustering as naive
from tests.helpers.clustering import Case, cases, check_optimum, tables_are
from tests.helpers.texts import counts_of, synthetic_text

ONE_THREAD = RunOptions(threads=1)


@given(cases())
def test_gains_and_choices_equal_the_naive_twin(case: Case) -> None:
    for number, side in enumerate(case.state.sides):
        arrays, buffers = side.arrays, side.buffers()
        pairs = Pairs(arrays.table.cells, arrays.table.short)
        classes = ClassCounts(pairs, arrays.table.totals, arrays.pair_numbers, arrays.side)
        terms = case.state.kernel_criterion.terms
        proposals = np.zeros(max(side.movable.size, 1), np.int64)
        rule = MoveRule(0.0, 2.0, 0.0, 0.0, 0, np.zeros(1, np.float32))
        propose_classes(arrays, case.state.kernel_criterion, buffers, side.movable, proposals, rule)
        for element, proposal in zip(side.movable.tolist(), proposals.tolist(), strict=False):
            own = int(arrays.classes[element])
            sizes = arrays.sizes[element]
            before, scale = case.value_after(number, element, own)
            profile = build_profile(arrays.events, buffers.profile, element, own, arrays.tied)
            value = value_in_own(pairs, terms, profile)
            gains = {own: 0.0}
            for candidate in range(arrays.candidates):
                if candidate == own or not may_join(arrays.table.totals, sizes, candidate, terms):
                    continue
                after, size = case.value_after(number, element, candidate)
                gain = gain_of(classes, terms, profile, sizes, value, candidate)
                assert abs(gain - (after - before)) <= 1e-6 * (1 + scale + size)
                gains[candidate] = after - before
            for i in range(profile.length):
                buffers.profile.weights[profile.keys[i]] = 0
            if may_leave(arrays.table.totals, sizes, own, terms):
                assert gains[proposal] >= max(gains.values()) - 1e-6 * (1 + scale)
            else:
                assert proposal == own


@settings(max_examples=40)
@given(cases(), st.sampled_from([1, 3, 64]))
def test_converged_means_no_single_move_is_better(case: Case, batch: int) -> None:
    problem = case.problem
    options = problem.options
    classes = case.state.numberings[-1].candidates
    search = SearchOptions(start="random", seed=3, batch=batch)
    tuning = tables_are(case.sparse)
    result = exchange(problem.counts, replace(options, classes=classes), search, ONE_THREAD, tuning=tuning)
    assert result.converged
    values = [sweep.F for sweep in result.sweeps]
    assert all(later >= earlier - 1e-9 * abs(earlier) for earlier, later in pairwise(values))
    check_optimum(case, result)


@given(cases())
def test_criteria_equal_their_definitions(case: Case) -> None:
    contexts, words = case.maps()
    expected = naive.criterion(case.pairs, contexts, words, case.state.criterion.discount)
    assert case.state.value() == pytest.approx(expected, abs=1e-9 * (1 + abs(expected)))
    assert case.state.criterion.value(
        dense_cells(case.state.table, case.state.sides[0].width)
    ) == pytest.approx(expected, abs=1e-7)


def test_leaving_one_out_is_what_its_name_says() -> None:
    random.seed(5)
    pairs = {(i, j): random.randint(1, 4) for i in range(4) for j in range(5) if random.random() < 0.7}
    contexts, words = [0, 0, 1, 1], [0, 1, 1, 2, 2]
    expected = naive.leaving_one_out(pairs, contexts, words, 0.75)
    assert naive.criterion(pairs, contexts, words, 0.75) == pytest.approx(expected)


@pytest.mark.parametrize("criterion", ["ml", "loo"])
@pytest.mark.parametrize("size", [(3, 6, 600), (8, 12, 4000), (30, 10, 6000), (60, 8, 12000)])
def test_known_classes_are_found_again(criterion: str, size: tuple[int, int, int]) -> None:
    lines, truth = synthetic_text(*size)
    options = ClusterOptions(classes=size[0], criterion=criterion)  # type: ignore[arg-type]
    result = exchange(counts_of(lines), options, SearchOptions(), ONE_THREAD)
    words = list(truth)
    found = [result.partition.class_of(word) for word in words]
    assert naive.adjusted_rand(found, [truth[word] for word in words]) > 0.98
    assert result.converged


@pytest.mark.parametrize("classes", [3, 16, 45])
def test_auto_finds_the_right_number(classes: int) -> None:
    lines, _ = synthetic_text(classes, 12, 6000)
    result = exchange(counts_of(lines), ClusterOptions(), SearchOptions(), ONE_THREAD)
    assert result.partition.numbers[-1] == pytest.approx(classes, rel=0.05)
    tried = dict(result.curve)
    assert max(tried.values()) - tried[result.partition.numbers[-1]] < 0.005 * np.log(2) * result.tokens


@pytest.mark.parametrize("shape", ["tied", "joint", "predictive"])
@pytest.mark.parametrize("criterion", ["ml", "loo"])
def test_merging_and_splitting_only_ever_raises_the_criterion(shape: str, criterion: str) -> None:
    lines, _ = synthetic_text(20, 10, 1500)
    options = ClusterOptions(classes=12, shape=shape, criterion=criterion, move_min_count=80)  # type: ignore[arg-type]
    counts = counts_of(lines)
    plain = exchange(counts, options, SearchOptions(no_regroup=True), ONE_THREAD)
    result = exchange(counts, options, SearchOptions(), ONE_THREAD)
    assert result.F >= plain.F
    values = [sweep.F for sweep in result.sweeps]
    assert values == sorted(values)
    rare = [i for i in range(3, len(counts.vocabulary)) if counts.levels[0].counts[i] < 80]
    assert rare
    # They started together in the last class, and may not be moved.
    assert len({int(result.partition.words[i]) for i in rare}) == 1


def test_annealing_cut_short_is_cooled() -> None:
    lines, _ = synthetic_text(20, 10, 1500)
    counts, options = counts_of(lines), ClusterOptions(classes=12)
    one_sweep = exchange(counts, options, SearchOptions(sweeps=1), ONE_THREAD)
    stopped = exchange(counts, options, SearchOptions(effort="high"), RunOptions(threads=1, time_limit=0))
    assert stopped.ended == "time limit"
    assert stopped.sweeps[-1].kind == "full"
    assert one_sweep.F - 0.01 * abs(one_sweep.F) < stopped.F


def test_a_swap_gains_what_was_estimated() -> None:
    lines, _ = synthetic_text(12, 10, 800)
    problem = make_problem(counts_of(lines), ClusterOptions(classes=10, shape="joint"))
    numbers = class_numbers(problem, 10)
    state, _ = start_state(problem, MaximumLikelihood(), numbers, SearchOptions(start="random"))
    # With the contexts' classes fixed, the estimate for the words is exact.
    proposals = (propose(state)[0], Proposal((), np.zeros(0, np.int32)))
    assert proposals[0].swaps
    for most in (1, 2, 3):
        after = state_from_maps(problem, state.criterion, swapped(state, proposals, most), numbers)
        gain = sum(swap.gain for swap in proposals[0].swaps[:most])
        assert after.value() - state.value() == pytest.approx(gain)


@pytest.mark.parametrize("shape", ["tied", "joint"])
@pytest.mark.parametrize("effort", ["low", "normal"])
def test_threads_and_repetition_change_nothing(shape: str, effort: str) -> None:
    lines, _ = synthetic_text(20, 60, 800)
    counts = counts_of(lines)
    options = ClusterOptions(classes=15, shape=shape)  # type: ignore[arg-type]
    search = SearchOptions(effort=effort, seed=7, batch=128)  # type: ignore[arg-type]
    results = [exchange(counts, options, search, RunOptions(threads=n)) for n in (1, 1, 2, 3)]
    for other in results[1:]:
        assert other.F == results[0].F
        for one, two in zip(other.partition.maps, results[0].partition.maps, strict=True):
            assert np.array_equal(one, two)


def test_starts_pins_and_rare_words() -> None:
    counts = counts_of(["the cat sat", "the dog sat", "a dog ran", "the cat ran", "once upon"] * 3)
    options = ClusterOptions(classes=3, pins=("<s>", "</s>", "the"), move_min_count=4)
    for start in ("frequency", "round-robin", "random"):
        result = exchange(counts, options, SearchOptions(start=start, seed=2), ONE_THREAD)
        words = result.partition.words
        pinned = [counts.vocabulary.id(word) for word in options.pins]
        assert sorted(words[pinned].tolist()) == [3, 4, 5]
        assert all((words == words[word]).sum() == 1 for word in pinned)
        assert result.converged


def test_a_folder_round_trips(tmp_path: Path) -> None:
    counts = counts_of(["a b c", "a c b", "b a c d"] * 4, 3)
    options = ClusterOptions(classes=2, context_classes=3, shape="joint", order=3, contexts=4)
    result = exchange(counts, options, SearchOptions(), ONE_THREAD)
    result.save(tmp_path / "classes")
    loaded = Partition.load(tmp_path / "classes")
    assert loaded.shape == "joint"
    assert loaded.numbers == (3, 2)
    for one, two in zip(loaded.maps, result.partition.maps, strict=True):
        assert np.array_equal(one, two)
    rows = [line.split("\t") for line in (tmp_path / "classes" / "classes.tsv").read_text().splitlines()]
    keys = [(int(number), -int(count), word) for word, number, count in rows]
    assert keys == sorted(keys)
    assert (tmp_path / "classes" / "contexts.tsv").read_text().count("\n") == len(loaded.context_map)
    again = exchange(counts, options, SearchOptions(sweeps=0), ONE_THREAD, start=loaded)
    assert again.F == result.F


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        (["a b"], ClusterOptions(classes=9), "use --classes 2 or fewer"),
        (["a b"], ClusterOptions(classes=0), "--classes must be 1 or more"),
        (["a b"], ClusterOptions(classes=-2), "--classes must be 1 or more"),
        (["a b"], ClusterOptions(classes=2, move_min_count=7), "lower --move-min-count"),
        (["a b"], ClusterOptions(classes=2, order=3), "--shape joint"),
        (["a b"], ClusterOptions(classes=2, context_classes=2), "--context-classes"),
        (["a b"], ClusterOptions(classes=1, context_classes=9, shape="joint"), "--context-classes"),
        (["a b"], ClusterOptions(classes=1, criterion="loo", discount=1.5), "--discount"),
        (["a b"], ClusterOptions(classes=1, pins=("nowhere",)), "'nowhere'"),
    ],
)
def test_options_that_make_no_sense(lines: list[str], options: ClusterOptions, message: str) -> None:
    with pytest.raises(InputError) as caught:
        exchange(counts_of(lines * 2), options, SearchOptions(), ONE_THREAD)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_leaving_one_out_mends_a_start_with_single_counts(tmp_path: Path) -> None:
    path = tmp_path / "start.tsv"
    path.write_text("a\t0\nb\t1\nonce\t2\n")
    counts = counts_of(["a b a b", "b a once", "a a b"])
    options = ClusterOptions(classes=3, criterion="loo")
    result = exchange(counts, options, SearchOptions(), ONE_THREAD, start=read_start(str(path)))
    assert any("merged" in note for note in result.notes)
    assert result.converged


@pytest.mark.parametrize("text", ["", "word\n", "\xff"])
def test_bad_class_files_to_start_from(text: str, tmp_path: Path) -> None:
    path = tmp_path / "start.tsv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"start\.tsv"):
        read_start(str(path))


def test_a_start_that_was_not_read_is_refused() -> None:
    with pytest.raises(InputError, match="read_classes"):
        exchange(counts_of(["a b"]), ClusterOptions(classes=1), SearchOptions(start="start.tsv"))


def test_criteria_as_data() -> None:
    table = np.array([[3, 1], [0, 2]])
    pairs = {(0, 0): 3, (0, 1): 1, (1, 1): 2}
    for criterion, discount in (
        (MaximumLikelihood(), 0),
        (LeavingOneOut(0.5), 0.5),
        (LeavingOneOut(0.75), 0.75),
    ):
        assert criterion.value(table) == pytest.approx(naive.criterion(pairs, [0, 1], [0, 1], discount))
    assert TUNING.default_batch(10_000) == 416
    assert TUNING.default_batch(100_000) == 2048
    assert TUNING.default_batch(50) == 2


def test_engine_refuses_no_threads() -> None:
    with pytest.raises(InputError):
        LocalEngine(0)


@pytest.mark.slow
@pytest.mark.parametrize(("classes", "least"), [(100, -11_918_000), (320, -11_641_000), (1000, -11_252_000)])
def test_treebank_reaches_known_optima(treebank: Path, classes: int, least: float) -> None:
    counts = count_ngrams(treebank, CountOptions(2))
    result = exchange(counts, ClusterOptions(classes=classes), SearchOptions(), ONE_THREAD)
    assert result.converged
    assert least <= result.F


@pytest.mark.parametrize("run", [RunOptions(engine="ray"), RunOptions(address="here")])
def test_an_engine_that_is_not_there_is_refused(run: RunOptions) -> None:
    with pytest.raises(InputError, match="--engine local"):
        exchange(counts_of(["a b a"]), ClusterOptions(classes=1), run=run)
