"""Corrections of scores for tied classes: the own class's rows, and the diagonal (a class with itself)."""

from typing import NamedTuple

import numpy as np

from classgram.clustering._kernels.class_table import ClassTable
from classgram.clustering._kernels.criterion import Terms, pair_gain, seen_change, seen_part
from classgram.clustering._kernels.exact_gains import wide
from classgram.clustering._kernels.side_arrays import Profile
from classgram.runtime.compiled import part
from classgram.runtime.compiled.arrays import Float32Array, Int32Array


class Corrections(NamedTuple):
    """What is corrected, and by which terms."""

    terms: Terms
    scores: Float32Array
    once: Int32Array
    seen: Int32Array


@part
def add_seen(target: Corrections, candidate: int, change: int) -> None:
    """Add changes of the numbers of pairs (see seen_change) to a candidate's."""
    newly = seen_part(change)
    target.seen[candidate] += newly
    target.once[candidate] += change - (newly << 16)


@part
def correct(target: Corrections, candidate: int, count: int, amount: int, sign: int) -> None:
    """Add the term of a count that grows by an amount to a candidate's score, or take it away."""
    term = pair_gain(target.terms, count, amount)
    target.scores[candidate] += np.float32(sign * term)
    if target.terms.counts_pairs:
        add_seen(target, candidate, sign * seen_change(count, amount))


@part
def correct_diagonal(
    target: Corrections, candidate: int, count: int, before: int, after: int, itself: int
) -> None:
    """Count what precedes and follows a candidate, and the element itself, into one cell, not into two."""
    together = pair_gain(target.terms, count + before, after + itself)
    target.scores[candidate] += np.float32(together - pair_gain(target.terms, count, after))
    if target.terms.counts_pairs:
        change = seen_change(count, before + after + itself)
        for amount in (before, after):
            change -= seen_change(count, amount) if amount > 0 else 0
        add_seen(target, candidate, change)


@part
def correct_tied_scores(table: ClassTable, profile: Profile, target: Corrections) -> None:
    """Correct what the plain sum gets wrong for tied classes: the own rows and the diagonal."""
    keys, amounts, weights, length, split, own, _, tied = profile
    itself = wide(profile.itself)
    if weights[own] > 0 or weights[own + tied] > 0:
        correct_own_rows(table, profile, target)
    diagonal = table.diagonal
    if itself > 0:
        for candidate in range(tied):
            if candidate != own:
                before, after = wide(weights[candidate]), wide(weights[candidate + tied])
                correct_diagonal(target, wide(candidate), wide(diagonal[candidate]), before, after, itself)
        return
    # A class on one side only needs no correction.
    for i in range(split, length):
        candidate = wide(keys[i]) - tied
        before, after = wide(weights[candidate]), wide(amounts[i])
        if before > 0 and candidate != own:
            correct_diagonal(target, candidate, wide(diagonal[candidate]), before, after, wide(0))


@part
def correct_own_rows(table: ClassTable, profile: Profile, target: Corrections) -> None:
    """Take the element itself out of its class's rows, where it precedes or follows a candidate."""
    keys, amounts, weights, length, _, own, _, tied = profile
    before, after = wide(weights[own]), wide(weights[own + tied])
    plus, minus = wide(1), wide(-1)
    for i in range(length):
        key, amount = wide(keys[i]), wide(amounts[i])
        candidate = key if key < tied else key - tied
        if candidate == own:
            continue
        if key >= tied and before > 0:
            count = wide(table.cells[own, candidate])
            correct(target, candidate, count, before, minus)
            correct(target, candidate, count - amount, before, plus)
        if key < tied and after > 0:
            count = wide(table.cells[own + tied, candidate])
            correct(target, candidate, count, after, minus)
            correct(target, candidate, count - amount, after, plus)
