"""Regrouping: two classes are merged and a third is split, where no single element would gain.

Moving one element at a time cannot undo a start that put two natural classes together and cut a
third in two. What to merge and what to split is estimated by maximum likelihood with the opposite
classes held still; a search takes the proposal only where its own criterion rises.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from classgram.clustering._kernels.merging import Merging, fill_losses
from classgram.clustering.criteria import small_values
from classgram.clustering.search.class_table import dense_cells
from classgram.clustering.search.state import ClassMap, Counts, Side, State

MOST_CLASSES = 400
"""Regrouping compares all pairs of classes: with more of them it would cost more than the sweeps."""

MOST_CELLS = 1 << 26
"""It does so on the whole table with its zeros: larger ones would not fit."""

ROTATIONS = 20
"""Steps of power iteration towards the direction in which the members of a class differ most."""

REFINEMENTS = 8
"""Passes in which each member chooses the half that predicts its neighbours better."""

Vector = npt.NDArray[np.float64]


class Members(NamedTuple):
    """What the movable elements of a side occur with, all classes at once."""

    elements: npt.NDArray[np.int32]
    classes: npt.NDArray[np.int64]
    sizes: Counts
    """Counts, indexed [element, side]."""
    owners: npt.NDArray[np.int64]
    """For each entry of the profiles: the element's place in ``elements``."""
    cells: npt.NDArray[np.int64]
    """For each entry: class times rows plus opposite class."""
    amounts: Vector


class Swap(NamedTuple):
    """Class ``freed`` joins ``kept``, and takes one half of ``divided`` instead."""

    kept: int
    freed: int
    divided: int
    gain: float


class Proposal(NamedTuple):
    """What one side would gain from: its swaps, the best first, and who would leave a split class."""

    swaps: list[Swap]
    leaving: npt.NDArray[np.int32]


def propose(state: State) -> tuple[Proposal, ...]:
    """Give promising swaps for each side; none where its classes are too many."""
    proposals = []
    for side in state.sides:
        swaps: list[Swap] = []
        leaving = np.zeros(0, np.int32)
        count = side.arrays.candidates
        if count <= MOST_CLASSES and side.rows * count <= MOST_CELLS and side.movable.size > 0:
            leaving, gains = best_halves(side, state.criterion.forbids_single_counts)
            swaps = choose_swaps(side, gains)
        proposals.append(Proposal(swaps, leaving))
    return tuple(proposals)


def swapped(state: State, proposals: tuple[Proposal, ...], most: int) -> tuple[ClassMap, ...]:
    """Give the classes after up to ``most`` swaps on each side."""
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


def choose_swaps(side: Side, gains: Vector) -> list[Swap]:
    """Pair the splits that gain most with the merges that lose least, each class in one swap only."""
    losses = merge_losses(side)
    count = gains.size
    cheapest = np.argsort(losses, axis=None, kind="stable")[: 4 * count]
    pairs = [(int(i) // count, int(i) % count) for i in cheapest if np.isfinite(losses.flat[i])]
    fixed = fixed_classes(side)
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
    return sorted(swaps, key=lambda swap: -swap.gain)


def fixed_classes(side: Side) -> npt.NDArray[np.bool_]:
    """Say which classes hold elements that may not move, so that the class must stay."""
    arrays = side.arrays
    movable = np.zeros(arrays.classes.size, np.bool_)
    movable[side.movable] = True
    fixed = np.zeros(side.width, np.bool_)
    fixed[arrays.classes[~movable]] = True
    return fixed[: arrays.candidates]


def merge_losses(side: Side) -> Vector:
    """Give what each pair of classes would lose if merged, indexed [a, b], infinite unless a < b."""
    arrays = side.arrays
    count = arrays.candidates
    losses = np.full((count, count), np.inf)
    cells = dense_cells(arrays.table.cells, side.width).astype(np.int64)
    merging = Merging(cells, arrays.table.totals, losses, small_values(0.0), arrays.tied)
    fill_losses(merging, np.arange(count, dtype=np.int32), np.empty(count, np.int64))
    return losses


def entropy_terms(counts: npt.NDArray[Any]) -> Vector:
    """Give n log n of each count."""
    return np.asarray(counts * np.log(np.maximum(counts, 1)), np.float64)


def best_halves(side: Side, several: bool) -> tuple[npt.NDArray[np.int32], Vector]:
    """Give the elements that would leave if each class were split in two, and what F would gain.

    ``several``: no half may occur just once.
    """
    members = gather_members(side)
    totals = class_columns(side)
    rows = side.rows
    chosen = direction(members, totals, rows) > 0
    for _ in range(REFINEMENTS):
        better = prefers_first(members, totals, chosen, rows)
        if (better == chosen).all():
            break
        chosen = better
    return members.elements[chosen], split_gains(side, members, chosen, several)


def gather_members(side: Side) -> Members:
    """Give the profiles of all movable elements, by class."""
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


def direction(members: Members, totals: Vector, rows: int) -> Vector:
    """Give each member's place along the direction in which its class varies most.

    It is the second singular vector of the class's normalised counts, found by power iteration for
    all classes at once; the first one, which only reflects how frequent members are, is taken out.
    """
    count = totals.size // rows
    sizes = np.bincount(members.owners, members.amounts, members.elements.size)
    roots = np.sqrt(np.maximum(sizes, 1.0))
    weights = np.bincount(members.classes, sizes, count)
    trivial = np.sqrt(sizes / np.maximum(weights[members.classes], 1.0))
    inverse = 1.0 / np.maximum(totals, 1.0)
    vector: Vector = np.random.default_rng(0).normal(size=roots.size)
    for _ in range(ROTATIONS):
        moments = members.amounts * (vector / roots)[members.owners]
        opposite = inverse * np.bincount(members.cells, moments, totals.size)
        vector = np.bincount(members.owners, members.amounts * opposite[members.cells], roots.size) / roots
        vector -= trivial * np.bincount(members.classes, trivial * vector, count)[members.classes]
        norms = np.sqrt(np.bincount(members.classes, vector * vector, count))
        vector /= np.maximum(norms, 1e-12)[members.classes]
    return vector


def prefers_first(
    members: Members, totals: Vector, chosen: npt.NDArray[np.bool_], rows: int
) -> npt.NDArray[np.bool_]:
    """Say which members are predicted better by the first half than by the second, both without them."""
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
    better: npt.NDArray[np.bool_] = scores > sizes * np.log((first_size + 1.0) / (second_size + 1.0))
    return better


def split_gains(side: Side, members: Members, chosen: npt.NDArray[np.bool_], several: bool) -> Vector:
    """Give what F gains if each class is split as chosen; minus infinity where that is impossible."""
    count = side.arrays.candidates
    totals = class_columns(side)
    first = np.bincount(members.cells, members.amounts * chosen[members.owners], totals.size)
    terms = entropy_terms(first) + entropy_terms(totals - first) - entropy_terms(totals)
    gains: Vector = terms.reshape(count, -1).sum(axis=1)
    for place in range(members.sizes.shape[1]):
        total = side.arrays.table.totals[place, :count].astype(np.float64)
        half = np.bincount(members.classes, members.sizes[:, place] * chosen, count)
        gains -= entropy_terms(half) + entropy_terms(total - half) - entropy_terms(total)
        if several:
            gains[(half == 1) | (total - half == 1)] = -np.inf
    sizes = np.bincount(members.classes, members.classes >= 0, count)
    leaving = np.bincount(members.classes, chosen, count)
    gains[(leaving == 0) | (leaving == sizes)] = -np.inf
    return gains


def class_columns(side: Side) -> Vector:
    """Give the counts of all classes with all opposite classes, one class after the other."""
    columns = dense_cells(side.arrays.table.cells, side.width)[:, : side.arrays.candidates]
    return np.ascontiguousarray(columns.T).ravel().astype(np.float64)
