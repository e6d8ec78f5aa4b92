"""The paper's heuristic (section 4): only classes with similar neighbours are tried.

Every class keeps a list of the h opposite classes that it occurs with most; an element's list is
compared with all of them, and the t classes with the most common entries are tried exactly.
"""

from typing import NamedTuple

from classgram.clustering._kernels.class_table import ClassTable, cell
from classgram.clustering._kernels.criterion import Terms
from classgram.clustering._kernels.exact_gains import (
    build_profile,
    clear_weights,
    counts_of,
    gain_of,
    may_join,
    may_leave,
    pairs_of,
    value_in_own,
    wide,
)
from classgram.clustering._kernels.moves import move_if_better
from classgram.clustering._kernels.side_arrays import (
    ROUNDING,
    MoveRule,
    Profile,
    ProfileBuffers,
    SideArrays,
)
from classgram.runtime.compiled import inlined, kernel_part, lean_kernel
from classgram.runtime.compiled.arrays import Int32Array, Int32Cube, Int64Array


class Candidates(NamedTuple):
    """What the heuristic keeps: data beside the side that it serves."""

    lists: Int32Cube
    """The most frequent neighbours of each class, indexed [class, part, rank]; -1 where there are
    fewer. Tied classes have two parts: classes before, and classes after."""
    moves: Int64Array
    """Moves since all lists were renewed."""
    targets: Int32Array
    """A buffer for the classes to be tried: t of them, the present one, and an empty one."""
    marks: Int32Array
    """Which opposite classes (rows of the table) are on the element's list; zero between elements."""
    ranked: Int32Array
    """A buffer for one list."""
    ranked_counts: Int64Array
    """A buffer for the counts of one list, two for each entry."""
    opposite_totals: Int64Array
    """N of each opposite class, which decides between equal counts."""
    renew: int
    """Moves after which all lists are renewed (u)."""


class RankedEntry(NamedTuple):
    """What a list of neighbours is sorted by."""

    number: int
    first_count: int
    second_count: int
    """What decides between equal counts."""


@kernel_part
def insert_ranked(ranked: Int32Array, counts: Int64Array, length: int, entry: RankedEntry) -> int:
    """Put an entry into a sorted list and its counts beside it; return the list's new length.

    The list is by falling count, then falling second count, then rising number.
    """
    number, count, second = entry
    i = length
    while i > 0:
        higher, higher_second = counts[2 * i - 2], counts[2 * i - 1]
        if higher > count or (higher == count and higher_second > second):
            break
        if higher == count and higher_second == second and ranked[i - 1] < number:
            break
        i -= 1
    if i == ranked.size:
        return length
    last = min(length, ranked.size - 1)
    for j in range(last, i, -1):
        ranked[j] = ranked[j - 1]
        counts[2 * j], counts[2 * j + 1] = counts[2 * j - 2], counts[2 * j - 1]
    ranked[i] = number
    counts[2 * i], counts[2 * i + 1] = count, second
    return last + 1


@kernel_part
def renew_list(table: ClassTable, tied: int, candidates: Candidates, number: int) -> None:
    """Make the lists of one class anew; equal counts by larger class, then lower number."""
    cells, totals = table.cells, candidates.opposite_totals
    parts = candidates.lists.shape[1]
    size = tied if tied > 0 else candidates.marks.size
    for part in range(parts):
        ranked = candidates.lists[number, part]
        length = 0
        for g in range(size):
            if tied == 0:
                count = cell(cells, g, number)
            elif part == 0:
                # N(g, number) stands in the class's own row: no jumps through memory.
                count = cell(cells, number + tied, g)
            else:
                count = cell(cells, number, g)
            if count > 0:
                key = g + part * tied
                entry = RankedEntry(wide(key), wide(count), totals[key])
                length = insert_ranked(ranked, candidates.ranked_counts, length, entry)
        for rank in range(length, ranked.size):
            ranked[rank] = -1


@inlined
def mark_neighbours(candidates: Candidates, profile: Profile, sign: int) -> None:
    """Mark the element's own most frequent neighbours (sign 1), or take the marks away (0)."""
    for part in range(candidates.lists.shape[1]):
        ranked = candidates.ranked
        length = 0
        for i in range(profile.length):
            key = profile.keys[i]
            if profile.tied == 0 or (key >= profile.tied) == (part == 1):
                entry = RankedEntry(wide(key), wide(profile.amounts[i]), candidates.opposite_totals[key])
                length = insert_ranked(ranked, candidates.ranked_counts, length, entry)
        for rank in range(length):
            candidates.marks[ranked[rank]] = sign


@inlined
def select_targets(arrays: SideArrays, candidates: Candidates) -> int:
    """Choose the classes to be tried; give their number."""
    lists, marks, totals = candidates.lists, candidates.marks, arrays.table.totals
    best = candidates.targets[: candidates.targets.size - 2]
    length = 0
    empty = -1
    for c in range(arrays.candidates):
        total = totals[0, c] + (totals[1, c] if totals.shape[0] > 1 else 0)
        if total == 0:
            empty = c if empty < 0 else empty
            continue
        score = 0
        for part in range(lists.shape[1]):
            for rank in range(lists.shape[2]):
                key = lists[c, part, rank]
                if key < 0:
                    break
                score += marks[key]
        length = insert_ranked(
            best, candidates.ranked_counts, length, RankedEntry(wide(c), wide(score), total)
        )
    if empty >= 0:
        candidates.targets[length] = empty
        length += 1
    return length


@inlined
def best_target(
    arrays: SideArrays,
    terms: Terms,
    buffers: ProfileBuffers,
    candidates: Candidates,
    rule: MoveRule,
    element: int,
) -> int:
    """Give the best of the selected classes, the present one unless another gains enough."""
    totals, sizes = arrays.table.totals, arrays.sizes[element]
    best = wide(arrays.classes[element])
    if not may_leave(totals, sizes, best, terms):
        return best
    profile = build_profile(arrays.events, buffers, element, best, arrays.tied)
    mark_neighbours(candidates, profile, 1)
    length = select_targets(arrays, candidates)
    mark_neighbours(candidates, profile, 0)
    own = value_in_own(pairs_of(arrays.table), terms, profile)
    classes = counts_of(arrays)
    present, highest = best, rule.threshold
    tie = ROUNDING * (1.0 + abs(own.terms))
    for i in range(length):
        c = wide(candidates.targets[i])
        if c != present and may_join(totals, sizes, c, terms):
            gain = gain_of(classes, terms, profile, sizes, own, c)
            lower = c < best and best != present and gain >= highest - tie
            if gain > highest + tie or lower:
                best, highest = c, max(gain, highest)
    clear_weights(profile)
    return best


@lean_kernel
def run_heuristic(
    arrays: SideArrays,
    mirror: ClassTable,
    terms: Terms,
    buffers: ProfileBuffers,
    elements: Int32Array,
    candidates: Candidates,
    rule: MoveRule,
) -> int:
    """Move elements one by one to the best of the classes selected for each; return the moves.

    Writes what apply_proposals does, and the candidates' lists.
    """
    moved = 0
    for i in range(elements.size):
        if candidates.moves[0] >= candidates.renew:
            candidates.moves[0] = 0
            for c in range(arrays.candidates):
                renew_list(arrays.table, arrays.tied, candidates, c)
        own = wide(arrays.classes[elements[i]])
        target = best_target(arrays, terms, buffers, candidates, rule, elements[i])
        if move_if_better(arrays, mirror, terms, buffers, rule, elements[i], target):
            moved += 1
            candidates.moves[0] += 1
            if arrays.tied > 0:
                for side in range(2):
                    for c in (own, target):
                        key = c + side * arrays.tied
                        candidates.opposite_totals[key] = arrays.table.totals[1 - side, c]
            renew_list(arrays.table, arrays.tied, candidates, own)
            renew_list(arrays.table, arrays.tied, candidates, target)
    return moved
