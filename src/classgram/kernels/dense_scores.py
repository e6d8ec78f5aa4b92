"""The scores of all candidates from a dense class table: rows of ready differences are added."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classgram.kernels import kernel_part
from classgram.kernels.class_table import ClassTable
from classgram.kernels.criterion import (
    LEVELS,
    MIDDLE_LEVELS,
    SHORT_COUNTS,
    Ready,
    Terms,
    approximate_difference,
    difference,
    seen_change,
)
from classgram.kernels.problem import IntArray, LongArray, Profile, Scratch, SingleArray

FLUSH = 120
"""Rows after which the packed counters are unpacked, long before they could overflow."""


@kernel_part
def add_eight_rows(
    differences: NDArray[np.int16], rows: LongArray, unit: np.float32, scores: SingleArray
) -> None:
    """Add eight rows of differences in the given unit."""
    a, b, c, d = differences[rows[0]], differences[rows[1]], differences[rows[2]], differences[rows[3]]
    e, f, g, h = differences[rows[4]], differences[rows[5]], differences[rows[6]], differences[rows[7]]
    for j in range(scores.size):
        left = np.int16(np.int16(a[j] + b[j]) + np.int16(c[j] + d[j]))
        right = np.int16(np.int16(e[j] + f[j]) + np.int16(g[j] + h[j]))
        scores[j] += unit * np.float32(np.int16(left + right))


@kernel_part
def add_four_rows(
    differences: NDArray[np.int16], rows: LongArray, unit: np.float32, scores: SingleArray
) -> None:
    """Add four rows of differences in the given unit."""
    a, b, c, d = differences[rows[0]], differences[rows[1]], differences[rows[2]], differences[rows[3]]
    for j in range(scores.size):
        total = np.int16(np.int16(a[j] + b[j]) + np.int16(c[j] + d[j]))
        scores[j] += unit * np.float32(total)


@kernel_part
def add_small_amounts(
    differences: NDArray[np.int16],
    steps: SingleArray,
    profile: Profile,
    rows: LongArray,
    scores: SingleArray,
) -> float:
    """Add the ready differences of all amounts up to LEVELS; give the bound of their error."""
    keys, amounts = profile.keys, profile.amounts
    error = 0.0
    for level in range(1, LEVELS + 1):
        length = 0
        for i in range(profile.length):
            if amounts[i] == level:
                rows[length] = np.int64(keys[i]) * LEVELS + (level - 1)
                length += 1
        for i in range(length, length + 8):
            rows[i] = differences.shape[0] - 1
        unit = steps[level - 1]
        first = 0
        while length - first > 4:
            add_eight_rows(differences, rows[first:], unit, scores)
            first += 8
        if length > first:
            add_four_rows(differences, rows[first:], unit, scores)
        error += 0.5 * unit * length
    return error


@kernel_part
def add_looked_up(
    short: NDArray[np.uint16], middling: SingleArray, picked: LongArray, scores: SingleArray
) -> int:
    """Add the ready differences of four rows (keys, then amounts); give how many counts were cut."""
    a, b, c, d = short[picked[0]], short[picked[1]], short[picked[2]], short[picked[3]]
    e, f, g, h = middling[picked[4]], middling[picked[5]], middling[picked[6]], middling[picked[7]]
    highest = np.uint16(0)
    for j in range(scores.size):
        one = a[j] if a[j] > b[j] else b[j]
        two = c[j] if c[j] > d[j] else d[j]
        either = one if one > two else two
        highest = either if either > highest else highest
    for j in range(scores.size):
        scores[j] += (e[a[j]] + f[b[j]]) + (g[c[j]] + h[d[j]])
    return highest  # type: ignore[return-value]


@kernel_part
def add_computed(counts: IntArray, amount: int, shift: float, scores: SingleArray) -> None:
    """Add the differences of a row for a large amount."""
    single_amount, single_shift = np.float32(amount), np.float32(shift)
    for c in range(scores.size):
        scores[c] += approximate_difference(np.float32(counts[c]), single_amount, single_shift)


@kernel_part
def add_large_amounts(
    table: ClassTable,
    terms: Terms,
    middling: SingleArray,
    profile: Profile,
    scores: SingleArray,
    picked: LongArray,
) -> None:
    """Add the differences of all amounts beyond LEVELS, looked up or computed."""
    keys, amounts = profile.keys, profile.amounts
    waiting = 0
    for i in range(profile.length + 1):
        last = i == profile.length
        if not last and amounts[i] > MIDDLE_LEVELS:
            add_computed(table.cells[keys[i]], amounts[i], terms.pair_shift, scores)
        elif not last and amounts[i] > LEVELS:
            picked[waiting], picked[waiting + 4] = keys[i], amounts[i]
            waiting += 1
        if waiting == 4 or (last and waiting > 0):
            for j in range(waiting, 4):
                picked[j], picked[j + 4] = picked[0], 0  # The amount 0 changes nothing.
            if add_looked_up(table.short, middling, picked, scores) == SHORT_COUNTS:
                add_cut_counts(table.cells, terms, picked, scores)
            waiting = 0


@kernel_part
def add_cut_counts(cells: IntArray, terms: Terms, picked: LongArray, scores: SingleArray) -> None:
    """Add the differences of counts too large for the table, for which it gave 0."""
    for j in range(4):
        counts, amount = cells[picked[j]], picked[j + 4]
        for c in range(scores.size):
            if counts[c] >= SHORT_COUNTS:
                scores[c] += np.float32(difference(terms.pair_values, terms.pair_shift, counts[c], amount))


@kernel_part
def add_eight_codes(codes: NDArray[np.int16], rows: LongArray, packed: NDArray[np.int16]) -> None:
    """Add eight rows of codes."""
    a, b, c, d = codes[rows[0]], codes[rows[1]], codes[rows[2]], codes[rows[3]]
    e, f, g, h = codes[rows[4]], codes[rows[5]], codes[rows[6]], codes[rows[7]]
    for j in range(packed.size):
        left = np.int16(np.int16(a[j] + b[j]) + np.int16(c[j] + d[j]))
        right = np.int16(np.int16(e[j] + f[j]) + np.int16(g[j] + h[j]))
        packed[j] = np.int16(packed[j] + np.int16(left + right))


@kernel_part
def unpack_seen(packed: NDArray[np.int16], once: IntArray, seen: IntArray, single: bool) -> None:
    """Move the packed counters into the two separate ones; single amounts make pairs seen once."""
    gained = np.int32(1 if single else 0)
    for c in range(packed.size):
        newly = np.int32(np.int32(packed[c] + np.int32(128)) >> np.int32(8))
        change = np.int32(packed[c] - np.int32(newly << np.int32(8)))
        seen[c] += newly
        once[c] += np.int32(change + np.int32(gained * newly))
        packed[c] = np.int16(0)


@kernel_part
def count_seen(codes: NDArray[np.int16], profile: Profile, scratch: Scratch) -> None:
    """Count, for each candidate, the pairs that would be newly seen and the change of n1."""
    packed, rows = scratch.packed, scratch.rows
    for c in range(packed.size):
        scratch.once[c] = 0
        scratch.seen[c] = 0
    for single in (True, False):
        length = 0
        for i in range(profile.length):
            if (profile.amounts[i] == 1) == single:
                rows[length] = profile.keys[i]
                length += 1
        for i in range(length, length + 8):
            rows[i] = codes.shape[0] - 1
        for i in range(0, length, 8):
            add_eight_codes(codes, rows[i:], packed)
            if i % FLUSH == FLUSH - 8:
                unpack_seen(packed, scratch.once, scratch.seen, single)
        unpack_seen(packed, scratch.once, scratch.seen, single)


class Corrections(NamedTuple):
    """Where and with which values single terms of the scores are corrected."""

    values: NDArray[np.float64]
    scores: SingleArray
    once: IntArray
    seen: IntArray
    shift: float


@kernel_part
def correct(target: Corrections, place: int, count: int, amount: int, sign: int) -> None:
    """Add the term of a count that grows by an amount to a candidate's score, or take it away."""
    term = difference(target.values, target.shift, count, amount)
    target.scores[place] += np.float32(sign * term)
    change = seen_change(count, amount)
    newly = (change + 32768) >> 16
    target.seen[place] += sign * newly
    target.once[place] += sign * (change - (newly << 16))


@kernel_part
def correct_tied_scores(cells: IntArray, diagonal: IntArray, profile: Profile, target: Corrections) -> None:
    """Correct what the plain sum gets wrong for tied classes: the own rows and the diagonal."""
    keys, amounts, weights, length, own, itself, tied = profile
    before, after = weights[own], weights[own + tied]
    for i in range(length):
        key, amount = keys[i], amounts[i]
        candidate = key if key < tied else key - tied
        if candidate == own:
            continue
        # The element itself is part of its class's row, where it precedes or follows the candidate.
        if key >= tied and before > 0:
            count = cells[own, candidate]
            correct(target, candidate, count, before, -1)
            correct(target, candidate, count - amount, before, 1)
        if key < tied and after > 0:
            count = cells[own + tied, candidate]
            correct(target, candidate, count, after, -1)
            correct(target, candidate, count - amount, after, 1)
        # On the diagonal both sides meet in one cell.
        count = diagonal[candidate]
        correct(target, candidate, count, amount, -1)
        if key < tied or weights[candidate] == 0:
            both = weights[candidate] + weights[candidate + tied] + itself
            correct(target, candidate, count, both, 1)
    if itself > 0:
        for candidate in range(tied):
            if weights[candidate] + weights[candidate + tied] == 0 and candidate != own:
                correct(target, candidate, diagonal[candidate], itself, 1)


@kernel_part
def score_dense(
    table: ClassTable, terms: Terms, ready: Ready, scratch: Scratch, profile: Profile, bound: float
) -> float:
    """Fill the score of every candidate without the global term; give the bound of its error."""
    scores = scratch.scores
    for c in range(scores.size):
        scores[c] = scratch.total_row[c]
    error = add_small_amounts(table.differences, ready.steps, profile, scratch.rows, scores)
    add_large_amounts(table, terms, ready.middling, profile, scores, scratch.rows)
    if terms.discount > 0.0:
        count_seen(table.codes, profile, scratch)
    if profile.tied > 0:
        target = Corrections(terms.pair_values, scores, scratch.once, scratch.seen, terms.pair_shift)
        correct_tied_scores(table.cells, table.diagonal, profile, target)
    # Each addition in float32 errs by 2^-24 of a sum that is at most the bound.
    return error + 6e-8 * (profile.length + 16) * bound
