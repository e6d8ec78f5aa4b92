"""Runners-up: the classes that came near to being an element's best, remembered and tried again.

They, and not all classes, are tried again when they, the element's own class or what it occurs with have
changed so much since that they may have become better: each is worth retrying when the changes, as shares of
what changed, add up to the gap that it had for each event of the element.
"""

from typing import NamedTuple

import numpy as np

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
from classgram.clustering._kernels.ranking import list_highest
from classgram.clustering._kernels.side_arrays import (
    ROUNDING,
    MoveRule,
    ProfileBuffers,
    ScoreBuffers,
    SideArrays,
)
from classgram.runtime.compiled import inlined, kernel_part, lean_kernel
from classgram.runtime.compiled.arrays import ByteArray, Int32Array, Int64Array

REACH = 2.0
"""What a share of changed events may add to F for each event of an element. Larger ones are rare, and are
found by the next evaluation of all classes."""

RETRY_AT_ONCE = np.float32(-1.0)
"""A runner-up is tried whatever has changed, because the element itself moves."""


class Evaluation(NamedTuple):
    """What an evaluation of an element has found."""

    mine: float
    """What the element adds to F in its class."""
    top: float
    """What it would add in the best of the others."""
    distance: float
    """How far below the first a runner-up may be."""


class TouchedClasses(NamedTuple):
    """Marks of the classes that elements have left or joined."""

    own: ByteArray
    opposite: ByteArray
    """The same of the opposite classes, the rows of the table."""


@kernel_part
def event_count(arrays: SideArrays, element: int) -> float:
    """Give the number of an element's events, with one more, so that there is no division by zero."""
    sizes = arrays.sizes[element]
    both = sizes[0] + sizes[1] if sizes.size > 1 else sizes[0]
    return both + 1.0  # type: ignore[no-any-return]


@kernel_part
def change_level(arrays: SideArrays, element: int, slack: float) -> float:
    """Return which share of an element's class, and of what it occurs with, has changed so far.

    ``slack`` is what may have changed besides, in terms of F.
    """
    memory = arrays.memory
    own = memory.turnover[arrays.classes[element]]
    return own + (memory.neighbour_changes[element] + slack / REACH) / event_count(arrays, element)  # type: ignore[no-any-return]


@kernel_part
def is_worth_retrying(arrays: SideArrays, element: int, rank: int, level: float) -> bool:
    """Say whether changes up to a level make the runner-up of a rank worth another try."""
    memory = arrays.memory
    runner_up = memory.runners_up[element, rank]
    changed = level + memory.turnover[runner_up] > memory.retry_at[element, rank]
    return changed and runner_up != arrays.classes[element]  # type: ignore[no-any-return]


@kernel_part
def retry_level(arrays: SideArrays, element: int, runner_up: int, gain: float) -> float:
    """Return the level of changes, with the class's own, at which a gain of so much now is worth a try."""
    now = change_level(arrays, element, 0.0) + arrays.memory.turnover[runner_up]
    return now - min(gain, 0.0) / (REACH * event_count(arrays, element))  # type: ignore[no-any-return]


@kernel_part
def remember_evaluation(
    arrays: SideArrays, buffers: ScoreBuffers, element: int, best: int, found: Evaluation
) -> None:
    """Write what an evaluation has found to the memory; the element goes from its class to the best."""
    memory, moving = arrays.memory, best != arrays.classes[element]
    runners_up, retry_at, scores = (
        memory.runners_up[element],
        memory.retry_at[element],
        buffers.runner_up_scores,
    )
    memory.margins[element] = found.mine - found.top
    highest = max(found.mine, found.top)
    list_highest(buffers.blocks, buffers.tops, found.mine - found.distance, highest, runners_up, scores)
    for i in range(runners_up.size):
        if runners_up[i] < 0:
            break
        gain = scores[i] - found.mine
        retry_at[i] = RETRY_AT_ONCE if moving else retry_level(arrays, element, runners_up[i], gain)


@inlined
def best_runner_up(
    arrays: SideArrays, terms: Terms, buffers: ProfileBuffers, rule: MoveRule, element: int
) -> int:
    """Return the best of those runners-up of an element that are worth retrying, or the present class."""
    totals, sizes, memory = arrays.table.totals, arrays.sizes[element], arrays.memory
    runners_up, retry_at = memory.runners_up[element], memory.retry_at[element]
    present = wide(arrays.classes[element])
    if not may_leave(totals, sizes, present, terms):
        return present
    level = change_level(arrays, element, rule.retry_slack)
    profile = build_profile(arrays.events, buffers, element, present, arrays.tied)
    own = value_in_own(pairs_of(arrays.table), terms, profile)
    classes = counts_of(arrays)
    best, highest = present, rule.threshold
    tie = ROUNDING * (1.0 + abs(own.terms))
    for i in range(runners_up.size):
        if runners_up[i] < 0:
            break
        c = wide(runners_up[i])
        if is_worth_retrying(arrays, element, wide(i), level) and may_join(totals, sizes, c, terms):
            gain = gain_of(classes, terms, profile, sizes, own, c)
            retry_at[i] = retry_level(arrays, element, c, gain)
            if gain > highest + tie:
                best, highest = c, gain
    clear_weights(profile)
    return best


@lean_kernel
def propose_runners_up(
    arrays: SideArrays,
    terms: Terms,
    buffers: ProfileBuffers,
    elements: Int32Array,
    proposals: Int64Array,
    rule: MoveRule,
) -> None:
    """Write the best runner-up of each element beside it, or its class.

    The table is fixed; of the memory, ``retry_at`` of what is tried is written.
    """
    for i in range(elements.size):
        proposals[i] = best_runner_up(arrays, terms, buffers, rule, elements[i])


@lean_kernel
def mark_worth_retrying(arrays: SideArrays, elements: Int32Array, slack: float, marks: ByteArray) -> None:
    """Mark the elements that have a runner-up worth retrying; only the marks are written."""
    memory = arrays.memory
    for i in range(elements.size):
        element = elements[i]
        runners_up, level = memory.runners_up[element], change_level(arrays, element, slack)
        marks[i] = 0
        for k in range(runners_up.size):
            if runners_up[k] < 0 or marks[i] > 0:
                break
            marks[i] = 1 if is_worth_retrying(arrays, element, wide(k), level) else 0


@lean_kernel
def mark_uncertain(
    arrays: SideArrays, touched: TouchedClasses, elements: Int32Array, margin: float, marks: ByteArray
) -> None:
    """Mark the elements of touched classes, and those of a smaller margin that occur with a touched class.

    All others would find what they found before, except in a class that was touched; if that came near it is
    a runner-up. Only the marks are written.
    """
    events, margins = arrays.events, arrays.memory.margins
    for i in range(elements.size):
        element = elements[i]
        marks[i] = touched.own[arrays.classes[element]]
        if marks[i] == 0 and margins[element] < margin:
            for entry in range(events.starts[element], events.starts[element + 1]):
                if touched.opposite[events.partner_classes[events.partners[entry]]] > 0:
                    marks[i] = 1
                    break
