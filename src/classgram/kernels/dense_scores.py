"""The scores of all candidates from a dense class table: rows of ready differences are added."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classgram.kernels import kernel_part
from classgram.kernels.class_table import ClassTable
from classgram.kernels.criterion import (
    LEVELS,
    Ready,
    Terms,
    approximate_difference,
    difference,
    seen_change,
)
from classgram.kernels.exact_values import wide
from classgram.kernels.problem import IntArray, LongArray, Profile, Scratch, SingleArray

FLUSH = 120
"""Rows after which the packed counters are unpacked, long before they could overflow."""

MOST_SUMMED = 256
"""Rows of 8-bit steps whose sum is sure to fit in 16 bits."""


@kernel_part
def sum_eight_rows(differences: NDArray[np.uint8], rows: LongArray, sums: NDArray[np.uint16]) -> None:
    """Add eight rows of steps."""
    a, b, c, d = differences[rows[0]], differences[rows[1]], differences[rows[2]], differences[rows[3]]
    e, f, g, h = differences[rows[4]], differences[rows[5]], differences[rows[6]], differences[rows[7]]
    for j in range(sums.size):
        left = np.uint16(np.uint16(a[j]) + np.uint16(b[j])) + np.uint16(np.uint16(c[j]) + np.uint16(d[j]))
        right = np.uint16(np.uint16(e[j]) + np.uint16(f[j])) + np.uint16(np.uint16(g[j]) + np.uint16(h[j]))
        sums[j] = np.uint16(sums[j] + np.uint16(left + right))


@kernel_part
def sum_four_rows(differences: NDArray[np.uint8], rows: LongArray, sums: NDArray[np.uint16]) -> None:
    """Add four rows of steps."""
    a, b, c, d = differences[rows[0]], differences[rows[1]], differences[rows[2]], differences[rows[3]]
    for j in range(sums.size):
        total = np.uint16(np.uint16(a[j]) + np.uint16(b[j])) + np.uint16(np.uint16(c[j]) + np.uint16(d[j]))
        sums[j] = np.uint16(sums[j] + np.uint16(total))


@kernel_part
def sum_rows(differences: NDArray[np.uint8], rows: LongArray, length: int, sums: NDArray[np.uint16]) -> None:
    """Add rows of steps, at most MOST_SUMMED; the list is filled up with rows of zeros."""
    for i in range(length, -(-length // 8) * 8):
        rows[i] = differences.shape[0] - 1
    first = 0
    while length - first > 4:
        sum_eight_rows(differences, rows[first:], sums)
        first += 8
    if length > first:
        sum_four_rows(differences, rows[first:], sums)


@kernel_part
def take_sums(
    sums: tuple[NDArray[np.uint16], NDArray[np.uint16]],
    units: tuple[float, float],
    constant: float,
    scores: SingleArray,
) -> None:
    """Move the sums of steps to the scores."""
    ones, pairs = sums
    unit, pair_unit = np.float32(units[0]), np.float32(units[1])
    single_constant = np.float32(constant)
    for j in range(scores.size):
        scores[j] += (unit * np.float32(ones[j]) + pair_unit * np.float32(pairs[j])) + single_constant
        ones[j] = np.uint16(0)
        pairs[j] = np.uint16(0)


@kernel_part
def add_weighted_rows(
    differences: NDArray[np.uint8], rows: LongArray, length: int, weights: SingleArray, scores: SingleArray
) -> None:
    """Add rows of steps, each times its weight, four at a time."""
    for i in range(length, length + 4):
        rows[i] = differences.shape[0] - 1
        weights[i] = np.float32(0)
    for i in range(0, length, 4):
        a, b = differences[rows[i]], differences[rows[i + 1]]
        c, d = differences[rows[i + 2]], differences[rows[i + 3]]
        w, x, y, z = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for j in range(scores.size):
            left = w * np.float32(a[j]) + x * np.float32(b[j])
            scores[j] += left + (y * np.float32(c[j]) + z * np.float32(d[j]))


@kernel_part
def add_computed(counts: IntArray, ranked: IntArray, amount: int, shift: float, scores: SingleArray) -> None:
    """Add the differences of a row for an amount beyond all nodes."""
    single_amount, single_shift = np.float32(amount), np.float32(shift)
    if scores.size == counts.size:
        # All classes are ranked, each at its own place: a vector loop.
        for c in range(scores.size):
            scores[c] += approximate_difference(np.float32(counts[c]), single_amount, single_shift)
        return
    for place in range(ranked.size):
        count = np.float32(counts[ranked[place]])
        scores[place] += approximate_difference(count, single_amount, single_shift)


@kernel_part
def add_differences(
    table: ClassTable,
    criterion: tuple[Terms, Ready],
    profile: Profile,
    scratch: Scratch,
    scores: SingleArray,
    most: int,
) -> float:
    """Add the differences of the whole profile to the scores; give the bound of their error.

    Those of amounts above ``most`` are computed, which takes longer and is closer.
    """
    terms, ready = criterion
    rows, pair_rows, differences = scratch.rows, scratch.pair_rows, table.differences
    sums_of_ones = scratch.sums_of_ones[: scores.size]
    sums_of_pairs = scratch.sums_of_pairs[: scores.size]
    ones, pairs, heavy = wide(0), wide(0), wide(0)
    error, constant = 0.0, 0.0
    units = (ready.steps[0], ready.steps[1])
    for i in range(profile.length):
        amount, first = profile.amounts[i], np.int64(profile.keys[i]) * LEVELS
        if amount == 1:
            rows[ones] = first
            ones += 1
        elif amount == 2:
            pair_rows[pairs] = first + 1
            pairs += 1
        elif amount <= most:
            for k in range(2):
                if ready.weights[amount, k] != 0.0:
                    scratch.heavy_rows[heavy] = first + ready.firsts[amount] + k
                    scratch.weights[heavy] = ready.weights[amount, k]
                    heavy += 1
            error += ready.errors[amount]
            constant += ready.constants[amount]
        else:
            add_computed(table.cells[profile.keys[i]], table.ranked, amount, terms.pair_shift, scores)
    error += 0.5 * (units[0] * ones + units[1] * pairs)
    constant += ready.lowest[0] * ones + ready.lowest[1] * pairs
    # Sums of more rows than fit in 16 bits are taken in between.
    for begin in range(0, max(ones, pairs), MOST_SUMMED):
        if begin > 0:
            take_sums((sums_of_ones, sums_of_pairs), units, 0.0, scores)
        for_ones, for_pairs = min(ones - begin, MOST_SUMMED), min(pairs - begin, MOST_SUMMED)
        if for_ones > 0:
            sum_rows(differences, rows[begin:], for_ones, sums_of_ones)
        if for_pairs > 0:
            sum_rows(differences, pair_rows[begin:], for_pairs, sums_of_pairs)
    take_sums((sums_of_ones, sums_of_pairs), units, constant, scores)
    add_weighted_rows(differences, scratch.heavy_rows, heavy, scratch.weights, scores)
    return error  # type: ignore[no-any-return]


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
    packed, rows = scratch.packed[: codes.shape[1]], scratch.rows
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
    counting: bool
    """Whether the numbers of pairs matter (under leaving-one-out)."""


@kernel_part
def correct(target: Corrections, place: int, count: int, amount: int, sign: int) -> None:
    """Add the term of a count that grows by an amount to a candidate's score, or take it away."""
    term = difference(target.values, target.shift, count, amount)
    target.scores[place] += np.float32(sign * term)
    if target.counting:
        change = seen_change(count, amount)
        newly = (change + 32768) >> 16
        target.seen[place] += sign * newly
        target.once[place] += sign * (change - (newly << 16))


@kernel_part
def correct_tied_scores(table: ClassTable, profile: Profile, target: Corrections) -> None:
    """Correct what the plain sum gets wrong for tied classes: the own rows and the diagonal."""
    keys, amounts, weights, length, _, own, itself, tied = profile
    if weights[own] > 0 or weights[own + tied] > 0:
        correct_own_rows(table, profile, target)
    diagonal, places = table.diagonal, table.places
    plus, minus = wide(1), wide(-1)
    # On the diagonal both sides meet in one cell: a class on one side only needs no correction.
    for i in range(length):
        follows = keys[i] >= tied
        candidate = keys[i] - tied if follows else keys[i]
        other = weights[candidate] if follows else weights[candidate + tied]
        if candidate == own or places[candidate] < 0 or (other == 0 and itself == 0):
            continue
        place, count = wide(places[candidate]), wide(diagonal[candidate])
        correct(target, place, count, wide(amounts[i]), minus)
        if not (follows and other > 0):
            correct(target, place, count, wide(amounts[i]) + other + itself, plus)
    if itself > 0:
        for place in range(table.ranked.size):
            candidate = table.ranked[place]
            if weights[candidate] + weights[candidate + tied] == 0 and candidate != own:
                correct(target, wide(place), wide(diagonal[candidate]), itself, plus)


@kernel_part
def correct_own_rows(table: ClassTable, profile: Profile, target: Corrections) -> None:
    """Take the element itself out of its class's rows, where it precedes or follows a candidate."""
    keys, amounts, weights, length, _, own, _, tied = profile
    before, after = wide(weights[own]), wide(weights[own + tied])
    plus, minus = wide(1), wide(-1)
    for i in range(length):
        key, amount = wide(keys[i]), wide(amounts[i])
        candidate = key if key < tied else key - tied
        place = wide(table.places[candidate])
        if candidate == own or place < 0:
            continue
        if key >= tied and before > 0:
            count = wide(table.cells[own, candidate])
            correct(target, place, count, before, minus)
            correct(target, place, count - amount, before, plus)
        if key < tied and after > 0:
            count = wide(table.cells[own + tied, candidate])
            correct(target, place, count, after, minus)
            correct(target, place, count - amount, after, plus)


@kernel_part
def score_dense(
    table: ClassTable,
    criterion: tuple[Terms, Ready],
    scratch: Scratch,
    profile: Profile,
    bound: float,
    most: int,
) -> float:
    """Fill the score of every candidate without the global term; give the bound of its error."""
    scores = scratch.scores[: table.differences.shape[1]]
    for c in range(scores.size):
        scores[c] = scratch.total_row[c]
    terms = criterion[0]
    error = add_differences(table, criterion, profile, scratch, scores, most)
    counting = terms.discount > 0.0
    if counting:
        count_seen(table.codes, profile, scratch)
    if profile.tied > 0:
        target = Corrections(
            terms.pair_values, scores, scratch.once, scratch.seen, terms.pair_shift, counting
        )
        correct_tied_scores(table, profile, target)
    # Each addition in float32 errs by 2^-24 of a sum that is at most the bound.
    return error + 6e-8 * (profile.length + 16) * bound
