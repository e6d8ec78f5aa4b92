"""Apply: move elements one after the other, each gain checked again on the table as it then is."""

import numpy as np
from numpy.typing import NDArray

from classgram.clustering._kernels.class_table import ClassTable, change_cell
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
from classgram.clustering._kernels.proposals import noise_offset
from classgram.clustering._kernels.runners_up import AT_ONCE
from classgram.clustering._kernels.side_arrays import (
    KINDS,
    ONCE,
    SEEN,
    Classes,
    Problem,
    Profile,
    Rule,
    Slots,
)
from classgram.runtime.compiled import inlined, kernel_part, lean_kernel

IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


@kernel_part
def change_class(
    table: ClassTable,
    mirror: ClassTable,
    numbers: LongArray,
    profile: Profile,
    place: tuple[int, int],
) -> None:
    """Add the profile to a class (sign 1) or take it away (-1), in both orientations.

    The two are changed cell by cell: for tied classes they are parts of one table and share the
    diagonal. What the element has with itself comes last.
    """
    column, sign = place
    tied = profile.tied
    for i in range(profile.length + 1):
        if i < profile.length:
            key, change = wide(profile.keys[i]), sign * profile.amounts[i]
        elif profile.itself > 0:
            key, change = column, sign * profile.itself
        else:
            break
        before = change_cell(table, key, column, change)
        after = before + change
        if tied > 0 and (key == column or key == column + tied):
            table.diagonal[column] = after
        numbers[ONCE] += np.int64(after == 1) - np.int64(before == 1)
        numbers[SEEN] += np.int64(after > 0) - np.int64(before > 0)
        if mirror.totals.size > 0:
            row, other = column, key
            if tied > 0 and key < tied:
                row = column + tied
            elif tied > 0:
                other = key - tied
            change_cell(mirror, row, other, change)


@kernel_part
def change_totals(problem: Problem, element: int, place: tuple[int, int]) -> None:
    """Add the element's count to a class's, or take it away."""
    column, sign = place
    totals, numbers = problem.table.totals, problem.numbers
    for side in range(totals.shape[0]):
        before = totals[side, column]
        after = before + sign * problem.sizes[element, side]
        totals[side, column] = after
        problem.table.single_totals[side, column] = np.float32(after)
        numbers[KINDS + problem.side + side] += np.int64(after > 0) - np.int64(before > 0)


@kernel_part
def note_churn(problem: Problem, element: int, left: int, joined: int) -> None:
    """Note by which share of its size each class has changed."""
    totals, sizes, churn = problem.table.totals, problem.sizes[element], problem.memory.churn
    last = totals.shape[0] - 1
    size = sizes[0] + sizes[last]
    churn[left] += size / max(totals[0, left] + totals[last, left] + size, 1)
    churn[joined] += size / max(totals[0, joined] + totals[last, joined], 1)


@kernel_part
def note_rivals(problem: Problem, element: int, left: int, joined: int) -> None:
    """Put the class that an element has left in place of the one that it has joined; all are due."""
    rivals, due = problem.memory.rivals[element], problem.memory.due[element]
    for i in range(rivals.size):
        due[i] = AT_ONCE
        if rivals[i] == joined:
            rivals[i] = left


@kernel_part
def stir_partners(problem: Problem, element: int) -> None:
    """Note a move with all elements that the moved one occurs with."""
    events, stirred = problem.events, problem.stirred
    if stirred.size == 0:
        return
    for entry in range(events.starts[element], events.starts[element + 1]):
        partner = events.partners[entry]
        # Of tied classes the followers are numbered behind the contexts, but are the same elements.
        stirred[partner if partner < stirred.size else partner - stirred.size] += events.amounts[entry]


@inlined
def move_if_better(
    problem: Problem,
    mirror: ClassTable,
    terms: Terms,
    slots: Slots,
    rule: Rule,
    proposal: tuple[int, int],
) -> bool:
    """Move the element to the proposed class if that still raises F by more than the threshold."""
    element, target = proposal
    classes, totals, sizes = problem.classes, problem.table.totals, problem.sizes[element]
    own_class = wide(classes[element])
    if target == own_class or not (
        may_leave(totals, sizes, own_class, terms.discount)
        and may_join(totals, sizes, target, terms.discount)
    ):
        return False
    profile = build_profile(problem.events, slots, element, own_class, problem.tied)
    own = value_in_own(pairs_of(problem.table), terms, profile)
    parts = Classes(pairs_of(problem.table), totals, problem.numbers, problem.side)
    gain = gain_of(parts, terms, profile, sizes, own, target)
    noise = 0.0
    if rule.temperature > 0.0:
        offset = noise_offset(rule.seed, element)
        scale = rule.temperature * np.sqrt(float(max(sizes[0], sizes[sizes.size - 1])))
        noise = scale * (rule.noise[offset + target] - rule.noise[offset + own_class])
    better = gain + noise > rule.threshold
    if better:
        for sign in (-1, 1):
            place = (own_class if sign < 0 else target, sign)
            change_class(problem.table, mirror, problem.numbers, profile, place)
            change_totals(problem, element, place)
        classes[element] = target
        problem.memory.gained[0] += gain
        note_churn(problem, element, own_class, target)
        note_rivals(problem, element, own_class, target)
        stir_partners(problem, element)
        if problem.tied > 0:
            problem.events.partner_classes[element + classes.size] = target + problem.tied
    clear_weights(profile)
    return better


@lean_kernel
def apply_proposals(
    problem: Problem,
    mirror: ClassTable,
    criterion: tuple[Terms, Ready],
    slots: Slots,
    elements: IntArray,
    proposals: LongArray,
    rule: Rule,
) -> int:
    """Move the elements of a round to the classes proposed where that still gains; give the moves.

    What the table and its mirror keep ready is out of date afterwards (see renew_rows).
    """
    moved = 0
    for i in range(elements.size):
        if move_if_better(problem, mirror, criterion[0], slots, rule, (elements[i], proposals[i])):
            moved += 1
    return moved
