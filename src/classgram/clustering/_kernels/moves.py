"""Apply: move elements one after the other, each gain checked again on the table as it then is."""

import numpy as np

from classgram.clustering._kernels.class_table import ClassTable, change_cell
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
from classgram.clustering._kernels.proposals import noise_gain, noise_of
from classgram.clustering._kernels.runners_up import RETRY_AT_ONCE
from classgram.clustering._kernels.side_arrays import (
    N_CLASSES,
    N_ONCE,
    N_SEEN,
    MoveRule,
    Profile,
    ProfileBuffers,
    SideArrays,
)
from classgram.runtime.compiled import inlined, kernel_part, lean_kernel
from classgram.runtime.compiled.arrays import Int32Array, Int64Array


@kernel_part
def change_class(
    table: ClassTable,
    mirror: ClassTable,
    numbers: Int64Array,
    profile: Profile,
    column: int,
    sign: int,
) -> None:
    """Add the profile to a class (sign 1) or take it away (-1), in both orientations.

    The two are changed cell by cell: for tied classes they are parts of one table and share the
    diagonal. What the element has with itself comes last.
    """
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
        numbers[N_ONCE] += np.int64(after == 1) - np.int64(before == 1)
        numbers[N_SEEN] += np.int64(after > 0) - np.int64(before > 0)
        if mirror.totals.size > 0:
            row, other = column, key
            if tied > 0 and key < tied:
                row = column + tied
            elif tied > 0:
                other = key - tied
            change_cell(mirror, row, other, change)


@kernel_part
def change_totals(arrays: SideArrays, element: int, column: int, sign: int) -> None:
    """Add the element's count to a class's, or take it away."""
    totals, numbers = arrays.table.totals, arrays.pair_numbers
    for side in range(totals.shape[0]):
        before = totals[side, column]
        after = before + sign * arrays.sizes[element, side]
        totals[side, column] = after
        arrays.table.single_totals[side, column] = np.float32(after)
        numbers[N_CLASSES + arrays.side + side] += np.int64(after > 0) - np.int64(before > 0)


@kernel_part
def note_turnover(arrays: SideArrays, element: int, left: int, joined: int) -> None:
    """Note by which share of its size each class has changed."""
    totals, sizes, turnover = arrays.table.totals, arrays.sizes[element], arrays.memory.turnover
    last = totals.shape[0] - 1
    size = sizes[0] + sizes[last]
    turnover[left] += size / max(totals[0, left] + totals[last, left] + size, 1)
    turnover[joined] += size / max(totals[0, joined] + totals[last, joined], 1)


@kernel_part
def note_runners_up(arrays: SideArrays, element: int, left: int, joined: int) -> None:
    """Put the class that an element has left in place of the one that it has joined; all are due."""
    runners_up, due = arrays.memory.runners_up[element], arrays.memory.retry_at[element]
    for i in range(runners_up.size):
        due[i] = RETRY_AT_ONCE
        if runners_up[i] == joined:
            runners_up[i] = left


@kernel_part
def note_partner_changes(arrays: SideArrays, element: int) -> None:
    """Note a move with all elements that the moved one occurs with."""
    events, changes = arrays.events, arrays.partner_changes
    if changes.size == 0:
        return
    for entry in range(events.starts[element], events.starts[element + 1]):
        partner = events.partners[entry]
        # Of tied classes the followers are numbered behind the contexts, but are the same elements.
        changes[partner if partner < changes.size else partner - changes.size] += events.amounts[entry]


@inlined
def note_move(arrays: SideArrays, element: int, left: int, joined: int) -> None:
    """Write a move to all that depends on it, except the table: the classes, and what is remembered."""
    arrays.classes[element] = joined
    if arrays.tied > 0:
        arrays.events.partner_classes[element + arrays.classes.size] = joined + arrays.tied
    note_turnover(arrays, element, left, joined)
    note_runners_up(arrays, element, left, joined)
    note_partner_changes(arrays, element)


@inlined
def move_if_better(
    arrays: SideArrays,
    mirror: ClassTable,
    terms: Terms,
    buffers: ProfileBuffers,
    rule: MoveRule,
    element: int,
    target: int,
) -> bool:
    """Move an element to the proposed class if that still raises F by more than the threshold."""
    totals, sizes = arrays.table.totals, arrays.sizes[element]
    own_class = wide(arrays.classes[element])
    if target == own_class or not (
        may_leave(totals, sizes, own_class, terms) and may_join(totals, sizes, target, terms)
    ):
        return False
    profile = build_profile(arrays.events, buffers, element, own_class, arrays.tied)
    own = value_in_own(pairs_of(arrays.table), terms, profile)
    gain = gain_of(counts_of(arrays), terms, profile, sizes, own, target)
    noise = noise_of(rule, sizes, element)
    better = gain + noise_gain(rule, noise, own_class, target) > rule.threshold
    if better:
        for sign in (-1, 1):
            column = own_class if sign < 0 else target
            change_class(arrays.table, mirror, arrays.pair_numbers, profile, column, sign)
            change_totals(arrays, element, column, sign)
        arrays.memory.gained[0] += gain
        note_move(arrays, element, own_class, target)
    clear_weights(profile)
    return better


@lean_kernel
def apply_proposals(
    arrays: SideArrays,
    mirror: ClassTable,
    terms: Terms,
    buffers: ProfileBuffers,
    elements: Int32Array,
    proposals: Int64Array,
    rule: MoveRule,
) -> int:
    """Move the elements of a round to the classes proposed where that still gains; return the moves.

    Writes the classes, the table and its mirror, the pair numbers and the memory. What the tables have
    precomputed is out of date afterwards (see renew_rows).
    """
    moved = 0
    for i in range(elements.size):
        if move_if_better(arrays, mirror, terms, buffers, rule, elements[i], proposals[i]):
            moved += 1
    return moved
