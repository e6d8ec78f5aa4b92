"""Rivals: the classes that came near to being an element's best, remembered and tried again.

They, and not all classes, are tried again when they, the element's own class or what it occurs with have
changed so much since that they may have become better: each is due when the changes, as shares of what
changed, add up to what it lacked for each event of the element.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from classgram.clustering._kernels.ranking import list_highest
from classgram.clustering._kernels.side_arrays import (
    ROUNDING,
    Classes,
    IntArray,
    LongArray,
    Problem,
    Rule,
    Scratch,
)
from classgram.runtime.compiled import inlined, kernel_part, lean_kernel

MarkArray = NDArray[np.uint8]

REACH = 2.0
"""What a share of changed events may add to F for each event of an element. Larger ones are rare, and are
found by the next look at all classes."""

AT_ONCE = np.float32(-1.0)
"""A rival is tried whatever has changed, because the element itself moves."""


class Look(NamedTuple):
    """What a look at an element has found."""

    mine: float
    """What the element adds to F in its class."""
    top: float
    """What it would add in the best of the others."""
    distance: float
    """How far below the first a rival may be."""


@kernel_part
def event_count(problem: Problem, element: int) -> float:
    """Give the number of an element's events, with one more, so that there is no division by zero."""
    sizes = problem.sizes[element]
    both = sizes[0] + sizes[1] if sizes.size > 1 else sizes[0]
    return both + 1.0  # type: ignore[no-any-return]


@kernel_part
def restlessness(problem: Problem, element: int, leeway: float) -> float:
    """Say which share of an element's class, and of what it occurs with, has changed so far.

    ``leeway`` is what may have changed besides, in terms of F.
    """
    memory = problem.memory
    own = memory.churn[problem.classes[element]]
    return own + (memory.stir[element] + leeway / REACH) / event_count(problem, element)  # type: ignore[no-any-return]


@kernel_part
def is_due(problem: Problem, element: int, place: int, restless: float) -> bool:
    """Say whether the rival at a place of an element's list is worth another try."""
    memory = problem.memory
    rival = memory.rivals[element, place]
    changed = restless + memory.churn[rival] > memory.due[element, place]
    return changed and rival != problem.classes[element]  # type: ignore[no-any-return]


@kernel_part
def due_at(problem: Problem, element: int, rival: int, gain: float) -> float:
    """Give the restlessness, with the rival's churn, at which a rival that gives so much now is due."""
    now = restlessness(problem, element, 0.0) + problem.memory.churn[rival]
    return now - min(gain, 0.0) / (REACH * event_count(problem, element))  # type: ignore[no-any-return]


@kernel_part
def remember_look(problem: Problem, scratch: Scratch, element: int, best: int, look: Look) -> None:
    """Keep what a look at an element has found; it goes from its class to the best."""
    memory, moving = problem.memory, best != problem.classes[element]
    rivals, due, scores = memory.rivals[element], memory.due[element], scratch.rival_scores
    memory.slacks[element] = look.mine - look.top
    limits = (look.mine - look.distance, max(look.mine, look.top))
    list_highest(scratch.score_blocks, scratch.tops, limits, rivals, scores)
    for i in range(rivals.size):
        if rivals[i] < 0:
            break
        due[i] = AT_ONCE if moving else due_at(problem, element, rivals[i], scores[i] - look.mine)


@inlined
def best_rival(problem: Problem, terms: Terms, scratch: Scratch, rule: Rule, element: int) -> int:
    """Give the best of those rivals of an element that are due, or the present class."""
    totals, sizes, memory = problem.table.totals, problem.sizes[element], problem.memory
    rivals, due = memory.rivals[element], memory.due[element]
    present = wide(problem.classes[element])
    if not may_leave(totals, sizes, present, terms.discount):
        return present
    restless = restlessness(problem, element, rule.leeway)
    profile = build_profile(problem.events, scratch.slots, element, present, problem.tied)
    own = value_in_own(pairs_of(problem.table), terms, profile)
    classes = Classes(pairs_of(problem.table), totals, problem.numbers, problem.side)
    best, highest = present, rule.threshold
    tie = ROUNDING * (1.0 + abs(own.terms))
    for i in range(rivals.size):
        if rivals[i] < 0:
            break
        c = wide(rivals[i])
        if is_due(problem, element, wide(i), restless) and may_join(totals, sizes, c, terms.discount):
            gain = gain_of(classes, terms, profile, sizes, own, c)
            due[i] = due_at(problem, element, c, gain)
            if gain > highest + tie:
                best, highest = c, gain
    clear_weights(profile)
    return best


@lean_kernel
def propose_rivals(
    problem: Problem,
    criterion: tuple[Terms, Ready],
    scratch: Scratch,
    elements: IntArray,
    proposals: LongArray,
    rule: Rule,
) -> None:
    """Write the best rival of each element beside it, or its class; the table stands still."""
    for i in range(elements.size):
        proposals[i] = best_rival(problem, criterion[0], scratch, rule, elements[i])


@lean_kernel
def mark_hopeful(problem: Problem, elements: IntArray, leeway: float, hopeful: MarkArray) -> None:
    """Mark the elements of which a rival is due."""
    memory = problem.memory
    for i in range(elements.size):
        element = elements[i]
        rivals, restless = memory.rivals[element], restlessness(problem, element, leeway)
        hopeful[i] = 0
        for k in range(rivals.size):
            if rivals[k] < 0 or hopeful[i] > 0:
                break
            hopeful[i] = 1 if is_due(problem, element, wide(k), restless) else 0


@lean_kernel
def mark_unsure(
    problem: Problem,
    touched: tuple[MarkArray, MarkArray],
    elements: IntArray,
    little: float,
    unsure: MarkArray,
) -> None:
    """Mark the elements of touched classes, and those of little slack that occur with a touched class.

    ``touched`` has marks for the classes, and for the opposite ones. All others would find what they found
    before, except in a class that was touched; if that came near it is a rival.
    """
    own, opposite = touched
    events, slacks = problem.events, problem.memory.slacks
    for i in range(elements.size):
        element = elements[i]
        unsure[i] = own[problem.classes[element]]
        if unsure[i] == 0 and slacks[element] < little:
            for entry in range(events.starts[element], events.starts[element + 1]):
                if opposite[events.partner_classes[events.partners[entry]]] > 0:
                    unsure[i] = 1
                    break
