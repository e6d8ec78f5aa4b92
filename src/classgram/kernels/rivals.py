"""Rivals: the classes that came near to being an element's best, remembered and tried again.

They, and not all classes, are tried when they or the element's own class have changed since.
"""

from typing import NamedTuple

import numpy as np

from classgram.kernels import inlined, kernel_part, lean_kernel
from classgram.kernels.class_table import ClassTable
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
    SingleArray,
)

BLOCK = 64
"""Scores that are searched at a time."""


@kernel_part
def list_rivals(
    scores: SingleArray, table: ClassTable, cut: float, rivals: IntArray, kept: SingleArray
) -> None:
    """List the classes with scores above the cut, the highest ones if there are too many.

    Rivals that are not ranked stay as long as there is room.
    """
    length = 0
    for i in range(rivals.size):
        if rivals[i] < 0:
            break
        if table.places[rivals[i]] < 0:
            rivals[length] = rivals[i]
            kept[length] = IMPOSSIBLE
            length += 1
    lowest = np.float32(cut)
    for first in range(0, table.ranked.size, BLOCK):
        last = min(first + BLOCK, table.ranked.size)
        # Most blocks hold no such class: counting them is a vector loop, finding them is not.
        above = np.int32(0)
        for place in range(first, last):
            above = np.int32(above + np.int32(scores[place] > lowest))
        if above == 0:
            continue
        for place in range(first, last):
            score = scores[place]
            if score <= lowest:
                continue
            at = min(length, rivals.size - 1)
            length = at + 1
            while at > 0 and kept[at - 1] < score:
                kept[at] = kept[at - 1]
                rivals[at] = rivals[at - 1]
                at -= 1
            kept[at] = score
            rivals[at] = table.ranked[place]
            if length == rivals.size:
                lowest = max(lowest, kept[length - 1])
    if length < rivals.size:
        rivals[length] = -1


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
    table, memory, scores = problem.table, problem.memory, scratch.scores
    present, all_tried = problem.classes[element], table.ranked.size == problem.candidates
    memory.looked[element] = problem.numbers[ROUND]
    memory.values[element] = look.mine
    if all_tried:
        memory.slacks[element] = look.mine - look.top
    if best != present:
        # The element will be there, and the class that it leaves may win it back.
        scores[table.places[best]] = IMPOSSIBLE
        if table.places[present] >= 0:
            scores[table.places[present]] = np.float32(look.mine)
    lowest = look.mine - look.distance
    if all_tried or look.top > lowest:
        list_rivals(scores, table, lowest, memory.rivals[element], scratch.rival_scores)


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
    length, hopeful = 0, 0
    while length < rivals.size and rivals[length] >= 0:
        hopeful += 1 if anew or changed[rivals[length]] > last else 0
        length += 1
    if hopeful == 0 or not may_leave(totals, sizes, present, terms.discount):
        return present
    profile = build_profile(problem.events, scratch.slots, element, present, problem.tied)
    own = value_in_own(pairs_of(problem.table), terms, profile)
    classes = Classes(pairs_of(problem.table), totals, problem.numbers, problem.side)
    best, highest = present, rule.threshold
    tie = ROUNDING * (1.0 + abs(own.terms))
    for i in range(length):
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
