"""The paper's heuristic (section 4): only classes with similar neighbours are tried.

Every class keeps a list of the h opposite classes that it occurs with most; an element's list is
compared with all of them, and the t classes with the most common entries are tried exactly.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classgram.clustering._kernels.class_table import ClassTable, cell
from classgram.clustering._kernels.criterion import Ready, Terms
from classgram.clustering._kernels.exact_gains import (
    build_profile,
    clear_weights,
    gain_of,
    may_join,
    may_leave,
    pairs_of,
    value_in_own,
    wide,
)
from classgram.clustering._kernels.moves import move_if_better
from classgram.clustering._kernels.side_arrays import ROUNDING, Classes, Problem, Profile, Rule, Scratch
from classgram.runtime.compiled import inlined, kernel_part, lean_kernel

IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


class Candidates(NamedTuple):
    """What the heuristic keeps: data beside the problem that it serves."""

    lists: IntArray
    """The most frequent neighbours of each class, indexed [class, part, rank]; -1 where there are
    fewer. Tied classes have two parts: classes before, and classes after."""
    moves: LongArray
    """Moves since all lists were renewed."""
    targets: IntArray
    """Room for the classes to be tried: t of them, the present one, and an empty one."""
    marks: IntArray
    """Which opposite classes (rows of the table) are on the element's list; zero between elements."""
    ranked: IntArray
    """Room for one list."""
    opposite_totals: LongArray
    """N of each opposite class, which decides between equal counts."""
    renew: int
    """Moves after which all lists are renewed (u)."""


@kernel_part
def insert_ranked(ranked: IntArray, counts: LongArray, length: int, place: tuple[int, int, int]) -> int:
    """Put (number, count, second count) into a sorted list; give its new length.

    The list is by falling count, then falling second count, then rising number.
    """
    number, count, second = place
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
def renew_list(table: ClassTable, tied: int, candidates: Candidates, number: int, counts: LongArray) -> None:
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
                length = insert_ranked(ranked, counts, length, (key, count, totals[key]))
        for rank in range(length, ranked.size):
            ranked[rank] = -1


@inlined
def mark_neighbours(candidates: Candidates, profile: Profile, counts: LongArray, sign: int) -> None:
    """Mark the element's own most frequent neighbours (sign 1), or take the marks away (0)."""
    for part in range(candidates.lists.shape[1]):
        ranked = candidates.ranked
        length = 0
        for i in range(profile.length):
            key = profile.keys[i]
            if profile.tied == 0 or (key >= profile.tied) == (part == 1):
                place = (key, profile.amounts[i], candidates.opposite_totals[key])
                length = insert_ranked(ranked, counts, length, place)
        for rank in range(length):
            candidates.marks[ranked[rank]] = sign


@inlined
def select_targets(problem: Problem, candidates: Candidates, own: int, counts: LongArray) -> int:
    """Choose the classes to be tried; give their number."""
    lists, marks, totals = candidates.lists, candidates.marks, problem.table.totals
    best = candidates.targets[: candidates.targets.size - 2]
    length = 0
    empty = -1
    for c in range(problem.candidates):
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
        length = insert_ranked(best, counts, length, (c, score, total))
    if empty >= 0:
        candidates.targets[length] = empty
        length += 1
    return length


@inlined
def best_target(
    problem: Problem,
    terms: Terms,
    scratch: Scratch,
    candidates: Candidates,
    rule: Rule,
    element: int,
) -> int:
    """Give the best of the selected classes, the present one unless another gains enough."""
    totals, sizes = problem.table.totals, problem.sizes[element]
    best = wide(problem.classes[element])
    if not may_leave(totals, sizes, best, terms.discount):
        return best
    profile = build_profile(problem.events, scratch.slots, element, best, problem.tied)
    mark_neighbours(candidates, profile, scratch.rows[0], 1)
    length = select_targets(problem, candidates, best, scratch.rows[0])
    mark_neighbours(candidates, profile, scratch.rows[0], 0)
    own = value_in_own(pairs_of(problem.table), terms, profile)
    classes = Classes(pairs_of(problem.table), totals, problem.numbers, problem.side)
    present, highest = best, rule.threshold
    tie = ROUNDING * (1.0 + abs(own.terms))
    for i in range(length):
        c = wide(candidates.targets[i])
        if c != present and may_join(totals, sizes, c, terms.discount):
            gain = gain_of(classes, terms, profile, sizes, own, c)
            lower = c < best and best != present and gain >= highest - tie
            if gain > highest + tie or lower:
                best, highest = c, max(gain, highest)
    clear_weights(profile)
    return best


@lean_kernel
def run_heuristic(
    problem: Problem,
    mirror: ClassTable,
    criterion: tuple[Terms, Ready],
    scratch: Scratch,
    elements: IntArray,
    candidates: Candidates,
    rule: Rule,
) -> int:
    """Move elements one by one to the best of the classes selected for each; give the moves."""
    moved = 0
    terms = criterion[0]
    counts = scratch.rows[0]
    for i in range(elements.size):
        if candidates.moves[0] >= candidates.renew:
            candidates.moves[0] = 0
            for c in range(problem.candidates):
                renew_list(problem.table, problem.tied, candidates, c, counts)
        own = wide(problem.classes[elements[i]])
        target = best_target(problem, terms, scratch, candidates, rule, elements[i])
        proposal = (elements[i], target)
        if move_if_better(problem, mirror, terms, scratch.slots, rule, proposal):
            moved += 1
            candidates.moves[0] += 1
            if problem.tied > 0:
                for side in range(2):
                    for c in (own, target):
                        key = c + side * problem.tied
                        candidates.opposite_totals[key] = problem.table.totals[1 - side, c]
            renew_list(problem.table, problem.tied, candidates, own, counts)
            renew_list(problem.table, problem.tied, candidates, target, counts)
    return moved
