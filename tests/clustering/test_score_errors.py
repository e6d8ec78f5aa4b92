"""The certificate of convergence: every bound of an error against brute force, and converged searches."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classgram.clustering._kernels.class_table import Events
from classgram.clustering._kernels.criterion import (
    APPROXIMATION,
    LARGEST_NODE,
    NODES,
    SHARE_UNIT,
    SINGLE_ROUNDING,
    KernelCriterion,
    approximate_difference,
    approximate_log,
)
from classgram.clustering._kernels.exact_gains import (
    build_profile,
    class_terms,
    clear_weights,
    may_join,
    may_leave,
    pairs_of,
    value_in_own,
    wide,
)
from classgram.clustering._kernels.placement import PlacementBuffers, PlacementCounts, place_elements
from classgram.clustering._kernels.proposals import OwnValue, add_global_term, renew_class_terms, score_rows
from classgram.clustering._kernels.score_errors import Magnitude
from classgram.clustering._kernels.side_arrays import Buffers, SideArrays
from classgram.clustering.criteria import Criterion, LeavingOneOut, MaximumLikelihood
from classgram.clustering.exchange import exchange
from classgram.options import ClusterOptions, RunOptions, SearchOptions
from classgram.runtime.compiled import frozen, lean_kernel
from classgram.runtime.compiled.arrays import Float32Array, Float64Array
from tests.clustering import naive_clustering as naive
from tests.clustering.test_class_table import shapes
from tests.helpers.clustering import Case, check_optimum, criteria, make_case, small_texts, tables_are

CRITERIA = [MaximumLikelihood(), LeavingOneOut(0.75), LeavingOneOut(0.1), LeavingOneOut(0.9)]


@lean_kernel
def logs(numbers: Float32Array, out: Float32Array) -> None:
    """Write approximate logarithms."""
    for i in range(numbers.size):
        out[i] = approximate_log(numbers[i])


@lean_kernel
def single_differences(counts: Float32Array, amount: float, shift: float, out: Float32Array) -> None:
    """Write approximate differences."""
    for i in range(counts.size):
        out[i] = approximate_difference(counts[i], np.float32(amount), np.float32(shift))


@lean_kernel
def scored(
    arrays: SideArrays,
    criterion: KernelCriterion,
    buffers: Buffers,
    element: int,
    most: int,
    out: Float64Array,
) -> None:
    """Write the scores of an element, and to ``out`` their error and what they compare with."""
    terms, sizes, own = criterion.terms, arrays.sizes[element], wide(arrays.classes[element])
    profile = build_profile(arrays.events, buffers.profile, element, own, arrays.tied)
    pairs = value_in_own(pairs_of(arrays.table), terms, profile)
    out[1] = pairs.terms + class_terms(arrays.table.totals, sizes, terms, own, True)
    for side in range(2):
        buffers.scores.class_term_sizes[side] = -1
    renew_class_terms(arrays.table.single_totals, sizes, terms.class_shift, buffers.scores, arrays.candidates)
    magnitude = Magnitude(terms.largest_gain * (sizes[0] + (sizes[1] if sizes.size > 1 else 0)), 0.0)
    error = score_rows(arrays.table, criterion, buffers, profile, magnitude, wide(most))
    out[0] = error.differences + error.rounding
    if terms.counts_pairs:
        own_value = OwnValue(pairs, out[1], wide(arrays.candidates))
        out[0] += add_global_term(arrays, terms, buffers, profile, element, own_value)
    clear_weights(profile)


def exact_differences(counts: Float64Array, amount: float, shift: float) -> Float64Array:
    """f(N+n) - f(N) without cancellation."""
    several = counts > 1
    x = np.where(several, counts - shift, 1.0)
    y = counts + amount - shift
    single = np.where(counts + amount > 1, (counts + amount) * np.log(np.maximum(y, 1e-9)), 0.0)
    return np.where(several, amount * np.log(y) + counts * np.log1p(amount / x), single)


def test_approximate_logarithms_err_no_more_than_they_say() -> None:
    chance = np.random.default_rng(1)
    numbers = np.exp(chance.uniform(-3, 30, 1_000_000)).astype(np.float32)
    numbers[:200_000] = chance.uniform(0.3, 3, 200_000).astype(np.float32)
    found = np.empty_like(numbers)
    logs(numbers, found)
    exact = np.log(numbers.astype(np.float64))
    assert (np.abs(found - exact) <= 10 * SINGLE_ROUNDING * np.abs(exact)).all()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("amount", [1, 2, 3, 9, 77, 301, 8000, 100_000, 5_000_000])
def test_approximate_differences_err_no_more_than_they_say(criterion: Criterion, amount: int) -> None:
    chance = np.random.default_rng(2)
    spread = np.floor(np.exp(chance.uniform(0, 20, 100_000)))
    largest = criterion.kernel_form(int(spread.max()) + amount).terms.largest_gain
    first = 1 if criterion.forbids_single_counts and amount == 1 else 0
    of_classes = np.concatenate([np.arange(first, 5000), spread])
    for shift, counts in ((criterion.class_shift, of_classes), (criterion.pair_shift, of_classes + 255.0)):
        single = counts.astype(np.float32)
        found = np.empty_like(single)
        single_differences(single, float(amount), shift, found)
        error = np.abs(found - exact_differences(counts, float(amount), shift))
        assert error.max() <= APPROXIMATION * amount * largest


@pytest.mark.parametrize("total", [3, 300, 5000, 5_000_000, 4_000_000_000])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_combinations_err_no_more_than_they_say_at_any_count(criterion: Criterion, total: int) -> None:
    precomputed = criterion.kernel_form(total).precomputed
    chance = np.random.default_rng(3)
    counts = np.concatenate([np.arange(6000.0), np.floor(np.exp(chance.uniform(5, 22.2, 4000)))])
    counts = counts[counts <= total]
    exact = np.stack([exact_differences(counts, float(node), criterion.pair_shift) for node in NODES])
    steps = np.rint((exact - precomputed.lowest[:, None]) / precomputed.steps[:, None])
    assert steps.min() >= 0
    assert steps.max() <= 255
    for amount in range(3, LARGEST_NODE + 1):
        levels = precomputed.firsts[amount] + np.arange(2)
        shares = precomputed.shares[amount].astype(np.float64)[:, None]
        products, units = shares * steps[levels], precomputed.steps[levels]
        wanted = exact_differences(counts, float(amount), criterion.pair_shift)
        # Rows are multiplied as they are, or cut to 1/16 with 1/32 of a step added.
        for weighted in (products / SHARE_UNIT, products // 16 * 16 / SHARE_UNIT + (shares > 0) / 32):
            combined = precomputed.constants[amount] + units @ weighted
            assert np.abs(combined - wanted).max() <= precomputed.errors[amount]


@settings(max_examples=60)
@given(
    small_texts(), shapes, criteria, st.sampled_from([1, 30, 700]), st.booleans(), st.sampled_from([300, 8])
)
def test_scores_err_no_more_than_they_say(
    lines: list[str], shape: tuple[str, int], criterion: str, times: int, sparse: bool, most: int
) -> None:
    options = ClusterOptions(classes=4, shape=shape[0], order=shape[1], criterion=criterion)  # type: ignore[arg-type]
    case = make_case([*lines, "a b c d", "d c b a"] * times * 2, options, 5, sparse)
    for number, side in enumerate(case.state.sides):
        arrays, buffers, out = side.arrays, side.buffers(), np.zeros(2)
        terms, totals = case.state.kernel_criterion.terms, arrays.table.totals
        for element in side.movable.tolist():
            own, sizes = int(arrays.classes[element]), arrays.sizes[element]
            if not may_leave(totals, sizes, own, terms):
                continue
            scored(arrays, case.state.kernel_criterion, buffers, element, most, out)
            before, scale = case.value_after(number, element, own)
            empty = np.flatnonzero((totals[:, : arrays.candidates] == 0).all(axis=0))[1:]
            for candidate in set(range(arrays.candidates)) - {own} - set(empty.tolist()):
                if may_join(totals, sizes, candidate, terms):
                    gain = case.value_after(number, element, candidate)[0] - before
                    error = abs(float(buffers.scores.scores[candidate]) - out[1] - gain)
                    assert error <= out[0] + 1e-12 * scale


def zipf_lines(seed: int, words: int, lines: int) -> list[str]:
    chance = random.Random(seed)
    names, weights = [f"w{i}" for i in range(words)], [1 / (i + 1) ** 1.4 for i in range(words)]
    return [" ".join(chance.choices(names, weights, k=chance.randint(1, 9))) for _ in range(lines)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("criterion", ["ml", "loo"])
@pytest.mark.parametrize(
    ("shape", "sparse"),
    [("tied", False), ("joint", False), ("joint", True), ("predictive", False), ("predictive", True)],
)
def test_no_single_move_raises_a_converged_search(
    shape: str, sparse: bool, criterion: str, seed: int
) -> None:
    options = ClusterOptions(classes=5, shape=shape, criterion=criterion, move_min_count=2)  # type: ignore[arg-type]
    case = make_case(zipf_lines(seed, 30, 150 * (1 + 20 * (seed % 2))), options, seed, sparse)
    result = exchange(
        case.problem.counts,
        options,
        SearchOptions(seed=seed),
        RunOptions(threads=1),
        tuning=tables_are(sparse),
    )
    assert result.converged
    check_optimum(case, result)


def naive_placement(case: Case, events: dict[int, int], discount: float) -> list[float]:
    """F with one more context, whose followers are given, in each of the context classes."""
    contexts, words = case.maps()
    pairs = {**case.pairs, **{(len(contexts), word): count for word, count in events.items()}}
    candidates = case.state.numberings[0].candidates
    return [naive.criterion(pairs, [*contexts, c], words, discount) for c in range(candidates)]


@settings(max_examples=40)
@given(small_texts(), criteria, st.booleans(), st.data())
def test_elements_without_counts_are_placed_where_they_raise_the_criterion_most(
    lines: list[str], criterion: str, sparse: bool, data: st.DataObject
) -> None:
    options = ClusterOptions(classes=3, shape="joint", order=3, contexts=3, criterion=criterion)  # type: ignore[arg-type]
    case = make_case([*lines, "a b c d", "d c b a"] * 2, options, 3, sparse)
    side = case.state.sides[1]
    arrays, rows, candidates = side.arrays, side.rows, side.arrays.candidates
    words = st.integers(0, len(case.state.maps[1]) - 1)
    added = data.draw(st.lists(st.dictionaries(words, st.integers(2, 9), min_size=1), min_size=1, max_size=4))
    starts = np.cumsum([0, *map(len, added)]).astype(np.int64)
    partners = np.array([word for events in added for word in events], np.int32)
    amounts = np.array([count for events in added for count in events.values()], np.int32)
    chosen = np.zeros(len(added), np.int32)
    place_elements(
        Events(frozen(starts), frozen(partners), frozen(amounts), arrays.events.partner_classes),
        PlacementCounts(arrays.table.cells, arrays.table.totals[0], arrays.pair_numbers),
        case.state.kernel_criterion.terms,
        chosen,
        PlacementBuffers(
            np.zeros(rows, np.int64),
            np.zeros(candidates),
            np.zeros(candidates, np.int64),
            np.zeros(candidates, np.int64),
        ),
    )
    for events, found in zip(added, chosen.tolist(), strict=True):
        values = naive_placement(case, events, case.state.criterion.discount)
        assert values[found] >= max(values) - 1e-9 * (1 + abs(max(values)))
