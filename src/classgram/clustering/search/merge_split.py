"""Merge and split: two classes are merged and a third is split, where no single element would gain.

Moving one element at a time cannot undo a start that put two natural classes together and cut a
third in two. What to merge and what to split is estimated by maximum likelihood with the opposite
classes fixed; a search takes the proposal only where its own criterion rises.
"""

import time
from typing import NamedTuple

import numpy as np

from classgram.clustering._kernels.merging import Merging, fill_losses
from classgram.clustering._kernels.runners_up import RETRY_AT_ONCE
from classgram.clustering.criteria import small_values
from classgram.clustering.search.annealing import keep_best
from classgram.clustering.search.class_table import dense_cells
from classgram.clustering.search.state import Side, State, state_from_maps
from classgram.clustering.search.sweep import SearchProgress, Sweep, SweepKind, touched_classes
from classgram.clustering.tuning import TUNING, SearchTuning
from classgram.runtime.compiled.arrays import (
    AnyArray,
    BoolArray,
    Float64Array,
    Float64Matrix,
    Int32Array,
    Int64Array,
    Int64Matrix,
)


class Members(NamedTuple):
    """What the movable elements of a side occur with, all classes at once."""

    elements: Int32Array
    classes: Int64Array
    sizes: Int64Matrix
    """Counts, indexed [element, side]."""
    owners: Int64Array
    """For each entry of the profiles: the element's place in ``elements``."""
    cells: Int64Array
    """For each entry: class times rows plus opposite class."""
    amounts: Float64Array


class Swap(NamedTuple):
    """Class ``freed`` joins ``kept``, and takes one half of ``divided`` instead."""

    kept: int
    freed: int
    divided: int
    gain: float


class Proposal(NamedTuple):
    """What one side would gain from: its swaps, the best first, and who would leave a split class."""

    swaps: tuple[Swap, ...]
    leaving: Int32Array


def merge_and_split(progress: SearchProgress) -> bool:
    """Merge and split classes where that raises F; tell whether anything was changed."""
    options, tuning = progress.options, progress.problem.tuning
    exact = not progress.neighbour_lists and options.batch != 1
    if options.no_regroup or options.sweeps is not None or not exact:
        return False
    started = time.perf_counter()
    state = progress.state
    before = state.value()
    proposals = propose(state, tuning)
    most = max(len(proposal.swaps) for proposal in proposals)
    while most > 0:
        maps = swapped(state, proposals, most)
        regrouped = state_from_maps(progress.problem, state.criterion, maps, state.numberings)
        value = regrouped.value()
        if value > before + tuning.merge_split_gain * abs(before):
            moved = _carry_memory(state, regrouped)
            progress.state = regrouped
            keep_best(progress, value)
            seconds = time.perf_counter() - started
            number = len(progress.history) + 1
            progress.history.append(Sweep(number, moved, value, seconds, SweepKind.MERGE_SPLIT))
            return True
        most //= 2
    return False


def _carry_memory(before: State, after: State) -> int:
    """Hand what was remembered of the elements on; return how many have another class.

    All elements of classes that are not as they were are contested.
    """
    moved = 0
    for old, new in zip(before.sides, after.sides, strict=True):
        classes = new.arrays.classes
        kept = touched_classes(old.arrays.classes, classes, new.width)[classes] == 0
        memory = new.arrays.memory
        for name in memory._fields:
            getattr(memory, name)[:] = getattr(old.arrays.memory, name)
        # Any class will do as a runner-up: for contested elements all classes are tried.
        memory.runners_up[~kept, 0] = 0
        memory.retry_at[~kept] = RETRY_AT_ONCE
        moved += int((old.arrays.classes != classes).sum())
    return moved


def propose(state: State, tuning: SearchTuning = TUNING) -> tuple[Proposal, ...]:
    """Return promising swaps for each side; none where its classes are too many."""
    proposals = []
    for side in state.sides:
        swaps: tuple[Swap, ...] = ()
        leaving = np.zeros(0, np.int32)
        count = side.arrays.candidates
        small = count <= tuning.merge_split_classes and side.rows * count <= tuning.merge_split_cells
        if small and side.movable.size > 0:
            chosen = _best_halves(members := _gather_members(side), side, tuning)
            gains = _split_gains(side, members, chosen, state.criterion.forbids_single_counts)
            leaving, swaps = members.elements[chosen], _choose_swaps(side, gains)
        proposals.append(Proposal(swaps, leaving))
    return tuple(proposals)


def swapped(state: State, proposals: tuple[Proposal, ...], most: int) -> tuple[Int32Array, ...]:
    """Return the classes after up to ``most`` swaps on each side."""
    maps = list(state.maps)
    for number, (swaps, leaving) in enumerate(proposals):
        # Words are the first side and the last map.
        place = len(maps) - 1 - number
        before, after = state.maps[place], np.array(maps[place])
        for swap in swaps[:most]:
            after[before == swap.freed] = swap.kept
            after[leaving[before[leaving] == swap.divided]] = swap.freed
        maps[place] = after
    return tuple(maps)


def _choose_swaps(side: Side, gains: Float64Array) -> tuple[Swap, ...]:
    """Pair the splits that gain most with the merges that lose least, each class in one swap only."""
    losses = merge_losses(side)
    count = gains.size
    cheapest = np.argsort(losses, axis=None, kind="stable")[: 4 * count]
    pairs = [(int(i) // count, int(i) % count) for i in cheapest if np.isfinite(losses.flat[i])]
    fixed = _fixed_classes(side)
    taken: set[int] = set()
    swaps = []
    for divided in np.argsort(-gains, kind="stable").tolist():
        if divided in taken:
            continue
        free = (pair for pair in pairs if not taken & set(pair) and divided not in pair)
        for one, other in free:
            kept, freed = (one, other) if not fixed[other] else (other, one)
            if fixed[freed]:
                continue
            gain = float(gains[divided] - losses[one, other])
            if gain > 0:
                swaps.append(Swap(kept, freed, divided, gain))
                taken |= {kept, freed, divided}
            break
    return tuple(sorted(swaps, key=lambda swap: -swap.gain))


def _fixed_classes(side: Side) -> BoolArray:
    """Tell which classes hold elements that may not move, so that the class must stay."""
    arrays = side.arrays
    movable = np.zeros(arrays.classes.size, np.bool_)
    movable[side.movable] = True
    fixed = np.zeros(side.width, np.bool_)
    fixed[arrays.classes[~movable]] = True
    return fixed[: arrays.candidates]


def merge_losses(side: Side) -> Float64Matrix:
    """Return what each pair of classes would lose if merged, indexed [a, b], infinite unless a < b."""
    arrays = side.arrays
    count = arrays.candidates
    losses = np.full((count, count), np.inf)
    cells = dense_cells(arrays.table.cells, side.width).astype(np.int64)
    merging = Merging(cells, arrays.table.totals, losses, small_values(0.0), arrays.tied)
    fill_losses(merging, np.arange(count, dtype=np.int32), np.empty(count, np.int64))
    return losses


def _entropy_terms(counts: AnyArray) -> Float64Array:
    """Return n log n of each count."""
    return np.asarray(counts * np.log(np.maximum(counts, 1)), np.float64)


def _best_halves(members: Members, side: Side, tuning: SearchTuning) -> BoolArray:
    """Tell which members would leave if each class were split in two."""
    totals = _class_columns(side)
    chosen = _direction(members, totals, side.rows, tuning.power_iterations) > 0
    for _ in range(tuning.split_refinements):
        better = _prefers_first(members, totals, chosen, side.rows)
        if (better == chosen).all():
            break
        chosen = better
    return chosen


def _gather_members(side: Side) -> Members:
    """Return the profiles of all movable elements, by class."""
    arrays, events = side.arrays, side.arrays.events
    elements = side.movable
    rows = side.rows
    starts, ends = events.starts[elements], events.starts[elements + 1]
    lengths = ends - starts
    owners = np.repeat(np.arange(elements.size), lengths)
    first = np.cumsum(lengths) - lengths
    entries = np.arange(int(lengths.sum())) - first[owners] + starts[owners]
    opposite = events.partner_classes[events.partners[entries]].astype(np.int64)
    # An element's amounts are summed by opposite class, so that it can be left out of a half whole.
    keys, places = np.unique(owners * rows + opposite, return_inverse=True)
    amounts = np.bincount(places, events.amounts[entries])
    owners = keys // rows
    classes = arrays.classes[elements].astype(np.int64)
    return Members(
        elements,
        classes,
        arrays.sizes[elements],
        owners,
        classes[owners] * rows + keys % rows,
        amounts.astype(np.float64),
    )


def _direction(members: Members, totals: Float64Array, rows: int, steps: int) -> Float64Array:
    """Return each member's coordinate along the direction in which its class varies most.

    It is the second singular vector of the class's normalised counts, found by power iteration for
    all classes at once; the first one, which only reflects how frequent members are, is taken out.
    """
    count = totals.size // rows
    sizes = np.bincount(members.owners, members.amounts, members.elements.size)
    roots = np.sqrt(np.maximum(sizes, 1.0))
    weights = np.bincount(members.classes, sizes, count)
    trivial = np.sqrt(sizes / np.maximum(weights[members.classes], 1.0))
    inverse = 1.0 / np.maximum(totals, 1.0)
    vector: Float64Array = np.random.default_rng(0).normal(size=roots.size)
    for _ in range(steps):
        moments = members.amounts * (vector / roots)[members.owners]
        opposite = inverse * np.bincount(members.cells, moments, totals.size)
        vector = np.bincount(members.owners, members.amounts * opposite[members.cells], roots.size) / roots
        vector -= trivial * np.bincount(members.classes, trivial * vector, count)[members.classes]
        norms = np.sqrt(np.bincount(members.classes, vector * vector, count))
        vector /= np.maximum(norms, 1e-12)[members.classes]
    return vector


def _prefers_first(members: Members, totals: Float64Array, chosen: BoolArray, rows: int) -> BoolArray:
    """Tell which members are predicted better by the first half than by the second, both without them."""
    weights = totals.reshape(-1, rows).sum(axis=1)
    prior = totals[members.cells] / weights[members.cells // rows]
    inside = chosen[members.owners]
    first = np.bincount(members.cells, members.amounts * inside, totals.size)
    sizes = np.bincount(members.owners, members.amounts, members.elements.size)
    first_size = first.reshape(-1, rows).sum(axis=1)[members.classes]
    second_size = weights[members.classes] - first_size
    first_size = first_size - np.where(chosen, sizes, 0.0)
    second_size = second_size - np.where(chosen, 0.0, sizes)
    here = first[members.cells] - members.amounts * inside
    there = totals[members.cells] - first[members.cells] - members.amounts * ~inside
    ratios = np.log((here + prior) / (there + prior))
    scores = np.bincount(members.owners, members.amounts * ratios, members.elements.size)
    better: BoolArray = scores > sizes * np.log((first_size + 1.0) / (second_size + 1.0))
    return better


def _split_gains(side: Side, members: Members, chosen: BoolArray, several: bool) -> Float64Array:
    """Return what F gains if each class is split as chosen; minus infinity where that is impossible."""
    count = side.arrays.candidates
    totals = _class_columns(side)
    first = np.bincount(members.cells, members.amounts * chosen[members.owners], totals.size)
    terms = _entropy_terms(first) + _entropy_terms(totals - first) - _entropy_terms(totals)
    gains: Float64Array = terms.reshape(count, -1).sum(axis=1)
    for place in range(members.sizes.shape[1]):
        total = side.arrays.table.totals[place, :count].astype(np.float64)
        half = np.bincount(members.classes, members.sizes[:, place] * chosen, count)
        gains -= _entropy_terms(half) + _entropy_terms(total - half) - _entropy_terms(total)
        if several:
            gains[(half == 1) | (total - half == 1)] = -np.inf
    sizes = np.bincount(members.classes, members.classes >= 0, count)
    leaving = np.bincount(members.classes, chosen, count)
    gains[(leaving == 0) | (leaving == sizes)] = -np.inf
    return gains


def _class_columns(side: Side) -> Float64Array:
    """Return the counts of all classes with all opposite classes, one class after the other."""
    columns = dense_cells(side.arrays.table.cells, side.width)[:, : side.arrays.candidates]
    return np.ascontiguousarray(columns.T).ravel().astype(np.float64)
