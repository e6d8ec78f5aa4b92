"""Apply: move elements one after the other, each gain checked again on the table as it then is."""

import numpy as np
from numpy.typing import NDArray

from classgram.kernels import inlined, lean_kernel
from classgram.kernels.class_table import ClassTable, renew_differences
from classgram.kernels.criterion import Ready, Terms, approximate_difference
from classgram.kernels.proposals import (
    KINDS,
    ONCE,
    SEEN,
    Problem,
    Profile,
    Scratch,
    best_class,
    build_profile,
    clear_weights,
    gain_of,
    may_join,
    may_leave,
    value_in_own,
)

IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


@lean_kernel
def change_cell(
    table: ClassTable, terms: Terms, ready: Ready, row: int, column: int, change: int
) -> None:
    """Add to one cell and renew its ready differences."""
    count = table.cells[row, column] + change
    table.cells[row, column] = count
    renew_differences(table.differences, terms, ready, (row, column), count)


@inlined
def change_column(
    table: ClassTable, numbers: LongArray, terms: Terms, ready: Ready, profile: Profile, place: tuple[int, int]
) -> None:
    """Add the profile to a class's column (sign 1) or take it away (-1), and keep n1 and n+."""
    column, sign = place
    for i in range(profile.length):
        key = profile.keys[i]
        before = table.cells[key, column]
        after = before + sign * profile.amounts[i]
        numbers[ONCE] += int(after == 1) - int(before == 1)
        numbers[SEEN] += int(after > 0) - int(before > 0)
        table.cells[key, column] = after
        renew_differences(table.differences, terms, ready, (key, column), after)


@inlined
def change_mirror(
    table: ClassTable, terms: Terms, ready: Ready, profile: Profile, place: tuple[int, int]
) -> None:
    """Do the same in the other orientation, where the class is a row."""
    row, sign = place
    tied = profile.tied
    for i in range(profile.length):
        key = profile.keys[i]
        change = sign * profile.amounts[i]
        if tied == 0:
            change_cell(table, terms, ready, row, key, change)
        elif key < tied:
            change_cell(table, terms, ready, row + tied, key, change)
        else:
            change_cell(table, terms, ready, row, key - tied, change)


@inlined
def change_diagonal(
    table: ClassTable, numbers: LongArray, terms: Terms, ready: Ready, profile: Profile, place: tuple[int, int]
) -> None:
    """Add or take away what a tied element has with itself."""
    column, sign = place
    before = table.cells[column, column]
    after = before + sign * profile.itself
    numbers[ONCE] += int(after == 1) - int(before == 1)
    numbers[SEEN] += int(after > 0) - int(before > 0)
    change_cell(table, terms, ready, column, column, sign * profile.itself)
    change_cell(table, terms, ready, column + profile.tied, column, sign * profile.itself)


@lean_kernel
def change_totals(
    problem: Problem, shift: float, scratch: Scratch, element: int, place: tuple[int, int]
) -> None:
    """Add the element's count to a class's, and renew what depends on it."""
    column, sign = place
    totals, numbers = problem.table.totals, problem.numbers
    term = np.float32(0)
    for side in range(totals.shape[0]):
        before = totals[side, column]
        after = before + sign * problem.sizes[element, side]
        totals[side, column] = after
        problem.table.single_totals[side, column] = np.float32(after)
        numbers[KINDS + problem.side + side] += int(after > 0) - int(before > 0)
        current = scratch.total_sizes[side]
        if current > 0:
            term -= approximate_difference(np.float32(after), np.float32(current), np.float32(shift))
    scratch.total_row[column] = term


@inlined
def move(
    problem: Problem,
    mirror: ClassTable,
    terms: Terms,
    ready: Ready,
    profile: Profile,
    target: int,
) -> None:
    """Change the table as moving the element to another class does."""
    for place in ((profile.own, -1), (target, 1)):
        change_column(problem.table, problem.numbers, terms, ready, profile, place)
        if mirror.cells.shape[0] > 0:
            change_mirror(mirror, terms, ready, profile, place)
        if profile.itself > 0:
            change_diagonal(problem.table, problem.numbers, terms, ready, profile, place)


@inlined
def move_if_better(
    problem: Problem,
    mirror: ClassTable,
    terms: Terms,
    ready: Ready,
    scratch: Scratch,
    proposal: tuple[int, int, float],
) -> bool:
    """Move the element to the proposed class if that still raises F by more than the threshold."""
    element, target, threshold = proposal
    classes, totals, sizes = problem.classes, problem.table.totals, problem.sizes[element]
    own_class = classes[element]
    if target == own_class or not (
        may_leave(totals, sizes, own_class, terms.discount)
        and may_join(totals, sizes, target, terms.discount)
    ):
        return False
    profile = build_profile(problem.events, classes, problem.tied, scratch, element)
    own = value_in_own(problem.table.cells, terms.pair_values, terms.pair_shift, profile)
    better = gain_of(problem, terms, profile, element, own, target) > threshold
    if better:
        move(problem, mirror, terms, ready, profile, target)
        change_totals(problem, terms.total_shift, scratch, element, (own_class, -1))
        change_totals(problem, terms.total_shift, scratch, element, (target, 1))
        classes[element] = target
        if problem.tied > 0:
            problem.events.partner_classes[element + classes.size] = target + problem.tied
    clear_weights(profile)
    return better


@lean_kernel
def sweep(
    problem: Problem,
    mirror: ClassTable,
    terms: Terms,
    ready: Ready,
    scratch: Scratch,
    elements: IntArray,
    proposals: IntArray,
    threshold: float,
) -> int:
    """Propose and apply rounds of as many elements as there is room for proposals."""
    moved = 0
    batch = proposals.size
    for side in range(scratch.total_sizes.size):
        scratch.total_sizes[side] = -1
    for first in range(0, elements.size, batch):
        last = min(first + batch, elements.size)
        for i in range(first, last):
            proposals[i - first] = best_class(
                problem, terms, ready, scratch, elements[i], threshold
            )
        for i in range(first, last):
            proposal = (elements[i], proposals[i - first], threshold)
            if move_if_better(problem, mirror, terms, ready, scratch, proposal):
                moved += 1
    return moved
