"""Rivals: the classes that came near to being an element's best, remembered and tried again.

They, and not all classes, are tried when they or the element's own class have changed since.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classgram.kernels import inlined, kernel_part, lean_kernel
from classgram.kernels.criterion import Ready, Terms
from classgram.kernels.exact_values import (
    build_profile,
    clear_weights,
    gain_of,
    may_join,
    may_leave,
    pairs_of,
    value_in_own,
    wide,
)
from classgram.kernels.problem import (
    IMPOSSIBLE,
    ROUND,
    ROUNDING,
    Classes,
    IntArray,
    LongArray,
    Problem,
    Rule,
    Scratch,
)
from classgram.kernels.ranking import list_highest, replace_score

MarkArray = NDArray[np.uint8]


class Look(NamedTuple):
    """What a look at an element has found."""

    mine: float
    """What the element adds to F in its class."""
    top: float
    """What it would add in the best of the others."""
    distance: float
    """How far below the first a rival may be."""


@kernel_part
def remember_look(problem: Problem, scratch: Scratch, element: int, best: int, look: Look) -> None:
    """Keep what a look at an element has found; it goes from its class to the best."""
    memory, present = problem.memory, wide(problem.classes[element])
    blocks, tops = scratch.score_blocks, scratch.tops
    memory.looked[element] = problem.numbers[ROUND]
    memory.slacks[element] = look.mine - look.top
    if best != present:
        # The element will be there, and the class that it leaves may win it back.
        replace_score(blocks, tops, best, float(IMPOSSIBLE))
        replace_score(blocks, tops, present, look.mine)
    limits = (look.mine - look.distance, max(look.mine, look.top))
    list_highest(blocks, tops, limits, memory.rivals[element], scratch.rival_scores)


@inlined
def best_rival(problem: Problem, terms: Terms, scratch: Scratch, rule: Rule, element: int) -> int:
    """Give the best of those rivals of an element that have changed, or the present class.

    If the present class has changed, all of them are tried.
    """
    totals, sizes, memory = problem.table.totals, problem.sizes[element], problem.memory
    rivals, changed, last = memory.rivals[element], memory.changed, memory.looked[element]
    present = wide(problem.classes[element])
    memory.looked[element] = problem.numbers[ROUND]
    anew = changed[present] > last
    if not may_leave(totals, sizes, present, terms.discount):
        return present
    profile = build_profile(problem.events, scratch.slots, element, present, problem.tied)
    own = value_in_own(pairs_of(problem.table), terms, profile)
    classes = Classes(pairs_of(problem.table), totals, problem.numbers, problem.side)
    best, highest = present, rule.threshold
    tie = ROUNDING * (1.0 + abs(own.terms))
    for i in range(rivals.size):
        if rivals[i] < 0:
            break
        c = wide(rivals[i])
        tried = c != present and (anew or changed[c] > last)
        if tried and may_join(totals, sizes, c, terms.discount):
            gain = gain_of(classes, terms, profile, sizes, own, c)
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
def mark_hopeful(problem: Problem, elements: IntArray, hopeful: MarkArray) -> None:
    """Mark the elements that have rivals of which one, or the own class, has changed since the last look."""
    memory = problem.memory
    for i in range(elements.size):
        element = elements[i]
        rivals, last = memory.rivals[element], memory.looked[element]
        anew = memory.changed[problem.classes[element]] > last
        hopeful[i] = 0
        for k in range(rivals.size):
            if rivals[k] < 0 or hopeful[i] > 0:
                break
            hopeful[i] = 1 if anew or memory.changed[rivals[k]] > last else 0


@lean_kernel
def mark_unsure(
    problem: Problem,
    touched: tuple[MarkArray, MarkArray],
    elements: IntArray,
    close: float,
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
        if unsure[i] == 0 and slacks[element] < close:
            for entry in range(events.starts[element], events.starts[element + 1]):
                if opposite[events.partner_classes[events.partners[entry]]] > 0:
                    unsure[i] = 1
                    break
