"""Exchange clustering against naive twins: gains, choices, optima, both criteria, all shapes."""

import random
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
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
from classgram.clustering.criteria import LeavingOneOut, MaximumLikelihood, choose_criterion
from classgram.clustering.exchange import Result, exchange
from classgram.clustering.problem import Task, class_numbers, make_task, start_state, state_from_maps
from classgram.clustering.search.class_table import dense_cells
from classgram.clustering.search.engine import LocalEngine
from classgram.clustering.search.merge_split import Proposal, propose, swapped
from classgram.clustering.search.state import State
from classgram.clustering.search.sweep import default_batch
from classgram.counts.ngram_counts import NgramCounts, count_ngrams
from classgram.errors import InputError
from classgram.options import ClusterOptions, CountOptions, RunOptions, SearchOptions
from classgram.text.reading import text_from_strings
from tests.clustering import naive_clustering as naive

WORDS = ["a", "b", "c", "d", "e", "f", "g", "h"]
ONE_THREAD = RunOptions(threads=1)


def counts_of(lines: list[str], order: int = 2) -> NgramCounts:
    return count_ngrams(text_from_strings(lines), CountOptions(order))


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


shapes = st.sampled_from(
    [("tied", 2), ("joint", 2), ("predictive", 2), ("joint", 3), ("predictive", 3), ("joint", 4)]
)
criteria = st.sampled_from(["ml", "loo"])


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
    task = case.task
    options = task.options
    classes = case.state.numberings[-1].candidates
    search = SearchOptions(start="random", seed=3, batch=batch)
    with tables_are(case.sparse):
        result = exchange(task.counts, replace(options, classes=classes), search, ONE_THREAD)
    assert result.converged
    values = [sweep.F for sweep in result.sweeps]
    assert all(later >= earlier - 1e-9 * abs(earlier) for earlier, later in pairwise(values))
    check_optimum(case, result)


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
            for candidate in range(side.arrays.candidates):
                after, scale = case.value_after(number, element, candidate)
                moved = [list(contexts), list(words)]
                if case.task.tied or number == 0:
                    moved[1][element] = candidate
                if case.task.tied or number == 1:
                    moved[0][element] = candidate
                if discount and naive.has_single_count(case.pairs, moved[0], moved[1], sides):
                    continue
                assert after <= value + 1e-9 * abs(value) + 1e-9 * (1 + scale)


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


def synthetic_text(classes: int, words: int, lines: int) -> tuple[list[str], dict[str, int]]:
    """Text from a class bigram model with strong preferences, and the true class of each word."""
    chance = random.Random(1)
    follow = [[chance.random() ** 6 for _ in range(classes)] for _ in range(classes)]
    truth = {f"w{c}-{i}": c for c in range(classes) for i in range(words)}
    members = [[w for w, c in truth.items() if c == number] for number in range(classes)]
    out = []
    for _ in range(lines):
        current, line = chance.randrange(classes), []
        for _ in range(12):
            line.append(chance.choice(members[current]))
            current = chance.choices(range(classes), follow[current])[0]
        out.append(" ".join(line))
    return out, truth


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
def test_regrouping_only_ever_raises_the_criterion(shape: str, criterion: str) -> None:
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
    assert stopped.sweeps[-1].kind == "whole"
    assert one_sweep.F - 0.01 * abs(one_sweep.F) < stopped.F


def test_a_swap_gains_what_was_estimated() -> None:
    lines, _ = synthetic_text(12, 10, 800)
    task = make_task(counts_of(lines), ClusterOptions(classes=10, shape="joint"))
    numbers = class_numbers(task, 10)
    state, _ = start_state(task, MaximumLikelihood(), numbers, SearchOptions(start="random"))
    # With the contexts' classes held still, the estimate for the words is exact.
    proposals = (propose(state)[0], Proposal([], np.zeros(0, np.int32)))
    assert proposals[0].swaps
    for most in (1, 2, 3):
        after = state_from_maps(task, state.criterion, swapped(state, proposals, most), numbers)
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
    assert MaximumLikelihood().value(table) < 0
    assert LeavingOneOut(0.5).value(table) != LeavingOneOut(0.75).value(table)
    assert default_batch(10_000) == 416
    assert default_batch(100_000) == 2048
    assert default_batch(50) == 2


def test_engine_refuses_no_threads() -> None:
    with pytest.raises(InputError):
        LocalEngine(0)


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
