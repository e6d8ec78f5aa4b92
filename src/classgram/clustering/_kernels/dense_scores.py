"""The scores of all candidates from a dense class table: rows of ready differences are added."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classgram.clustering._kernels.class_table import CUT, ClassTable, Pairs
from classgram.clustering._kernels.criterion import (
    LEVELS,
    ONE,
    Ready,
    Terms,
    approximate_difference,
    difference,
    seen_change,
)
from classgram.clustering._kernels.exact_gains import pairs_of, wide
from classgram.clustering._kernels.side_arrays import IntArray, LongArray, Profile, Scratch, SingleArray
from classgram.runtime.compiled import kernel_part

FLUSH = 120
"""Rows after which the packed counters are unpacked, long before they could overflow."""

FEW = 4
"""Rows of one node that are not worth sums of their own."""

MOST_SUMMED = 256
"""Rows of 8-bit steps whose sum is sure to fit in 16 bits."""

MOST_SHARED = 16
"""The same for rows of steps times their shares."""


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
def begin_scores(
    sums: tuple[NDArray[np.uint16], NDArray[np.uint16]],
    units: tuple[float, float],
    start: tuple[SingleArray, float],
    scores: SingleArray,
) -> None:
    """Make the scores from the sums of steps, a row, and a constant."""
    (ones, pairs), row = sums, start[0]
    unit, pair_unit, constant = np.float32(units[0]), np.float32(units[1]), np.float32(start[1])
    for j in range(scores.size):
        steps = unit * np.float32(ones[j]) + pair_unit * np.float32(pairs[j])
        scores[j] = row[j] + (steps + constant)
        ones[j] = np.uint16(0)
        pairs[j] = np.uint16(0)


@kernel_part
def take_sums(sums: NDArray[np.uint16], unit: float, scores: SingleArray) -> None:
    """Move sums of steps to the scores."""
    single_unit = np.float32(unit)
    for j in range(scores.size):
        scores[j] += single_unit * np.float32(sums[j])
        sums[j] = np.uint16(0)


@kernel_part
def add_many_rows(
    differences: NDArray[np.uint8],
    rows: LongArray,
    length: int,
    sums: tuple[NDArray[np.uint16], float],
    scores: SingleArray,
) -> None:
    """Add rows of steps beyond those whose sum is sure to fit in 16 bits."""
    for first in range(MOST_SUMMED, length, MOST_SUMMED):
        sum_rows(differences, rows[first:], min(length - first, MOST_SUMMED), sums[0])
        take_sums(sums[0], sums[1], scores)


@kernel_part
def part_of(steps: np.uint8, share: np.uint16) -> np.uint16:
    """Give steps times a share, in units of 16/ONE steps, in 16 bits all the time."""
    return np.uint16(np.uint16(np.uint16(steps) * share) >> np.uint16(4))


@kernel_part
def add_shared_rows(
    differences: NDArray[np.uint8],
    rows: tuple[LongArray, NDArray[np.uint16]],
    length: int,
    sums: tuple[NDArray[np.uint16], float],
    scores: SingleArray,
) -> None:
    """Add rows of steps of one node, each times its share."""
    numbers, shares = rows
    parts, unit = sums[0], sums[1] * 16 / ONE
    for i in range(length, length + 3):
        numbers[i] = differences.shape[0] - 1
    for first in range(0, length, MOST_SHARED):
        for i in range(first, min(first + MOST_SHARED, length), 4):
            a, b = differences[numbers[i]], differences[numbers[i + 1]]
            c, d = differences[numbers[i + 2]], differences[numbers[i + 3]]
            w, x, y, z = shares[i], shares[i + 1], shares[i + 2], shares[i + 3]
            for j in range(parts.size):
                left = np.uint16(part_of(a[j], w) + part_of(b[j], x))
                right = np.uint16(part_of(c[j], y) + part_of(d[j], z))
                parts[j] = np.uint16(parts[j] + np.uint16(left + right))
        take_sums(parts, unit, scores)


@kernel_part
def add_weighted_rows(
    differences: NDArray[np.uint8], rows: LongArray, length: int, weights: SingleArray, scores: SingleArray
) -> None:
    """Add rows of steps, each times its weight, four at a time, and two at the end."""
    rows[length] = differences.shape[0] - 1
    weights[length] = np.float32(0)
    i = 0
    while length - i > 2:
        # The fourth may lie beyond the end, and then is not one of them.
        last = i + 3 if length - i > 3 else length
        a, b = differences[rows[i]], differences[rows[i + 1]]
        c, d = differences[rows[i + 2]], differences[rows[last]]
        w, x, y, z = weights[i], weights[i + 1], weights[i + 2], weights[last]
        for j in range(scores.size):
            left = w * np.float32(a[j]) + x * np.float32(b[j])
            scores[j] += left + (y * np.float32(c[j]) + z * np.float32(d[j]))
        i += 4
    if length > i:
        a, b = differences[rows[i]], differences[rows[i + 1]]
        w, x = weights[i], weights[i + 1]
        for j in range(scores.size):
            scores[j] += w * np.float32(a[j]) + x * np.float32(b[j])


@kernel_part
def add_upper_levels(differences: NDArray[np.uint8], ready: Ready, scratch: Scratch) -> None:
    """Add the rows of all nodes that have shares: one by one where a node has few."""
    heavy = wide(0)
    for level in range(2, LEVELS):
        length, unit = scratch.lengths[level], ready.steps[level]
        rows, shares = scratch.rows[level], scratch.shares[level]
        if length >= FEW:
            add_shared_rows(
                differences, (rows, shares), length, (scratch.sums_of_pairs, unit), scratch.scores
            )
            continue
        for i in range(length):
            scratch.heavy_rows[heavy] = rows[i]
            scratch.weights[heavy] = np.float32(unit / ONE * shares[i])
            heavy += 1
    add_weighted_rows(differences, scratch.heavy_rows, heavy, scratch.weights, scratch.scores)


@kernel_part
def add_computed(pairs: Pairs, row: int, amount: int, terms: Terms, scratch: Scratch) -> None:
    """Add the differences of a row for an amount beyond all nodes."""
    counts, short, scores, ready = pairs.cells[row], pairs.short[row], scratch.scores, scratch.row_values
    values, shift = terms.pair_values, terms.pair_shift
    if amount + ready.size < values.size:
        grown = values[amount : amount + ready.size]
        for n in range(ready.size):
            ready[n] = np.float32(grown[n] - values[n])
    else:
        for n in range(ready.size):
            ready[n] = approximate_difference(np.float32(n), np.float32(amount), np.float32(shift))
    for c in range(scores.size):
        n = short[c]
        if n < CUT:
            scores[c] += ready[n]
        else:
            scores[c] += approximate_difference(np.float32(counts[c]), np.float32(amount), np.float32(shift))


@kernel_part
def add_differences(
    table: ClassTable,
    criterion: tuple[Terms, Ready],
    profile: Profile,
    scratch: Scratch,
    most: int,
) -> float:
    """Make scores of the class terms and the differences of the whole profile; give the bound of their error.

    Differences of amounts above ``most`` are computed, which takes longer and is closer.
    """
    terms, ready = criterion
    rows, shares, lengths, scores = scratch.rows, scratch.shares, scratch.lengths, scratch.scores
    for level in range(LEVELS):
        lengths[level] = 0
    beyond, error, constant = wide(0), 0.0, 0.0
    for i in range(profile.length):
        amount, first = profile.amounts[i], np.int64(profile.keys[i]) * LEVELS
        if amount <= 2:
            level = amount - 1
            rows[level, lengths[level]] = first + level
            lengths[level] += 1
        elif amount <= most:
            for k in range(2):
                share, level = ready.shares[amount, k], ready.firsts[amount] + k
                if share > 0:
                    rows[level, lengths[level]] = first + level
                    shares[level, lengths[level]] = share
                    lengths[level] += 1
            error += ready.errors[amount]
            constant += ready.constants[amount]
        else:
            beyond += 1
    ones, pairs, units = lengths[0], lengths[1], (ready.steps[0], ready.steps[1])
    error += 0.5 * (units[0] * ones + units[1] * pairs)
    constant += ready.lowest[0] * ones + ready.lowest[1] * pairs
    for level in range(2, LEVELS):
        # What these lose by rounding down is half of 1/16 of a step on average.
        if lengths[level] >= FEW:
            constant += ready.steps[level] / 32 * lengths[level]
    sums, differences = (scratch.sums_of_ones, scratch.sums_of_pairs), table.differences
    sum_rows(differences, rows[0], min(ones, MOST_SUMMED), sums[0])
    sum_rows(differences, rows[1], min(pairs, MOST_SUMMED), sums[1])
    begin_scores(sums, units, (scratch.total_row, constant), scores)
    add_many_rows(differences, rows[0], ones, (sums[0], units[0]), scores)
    add_many_rows(differences, rows[1], pairs, (sums[1], units[1]), scores)
    add_upper_levels(differences, ready, scratch)
    if beyond > 0:
        for i in range(profile.length):
            if profile.amounts[i] > most:
                add_computed(pairs_of(table), wide(profile.keys[i]), wide(profile.amounts[i]), terms, scratch)
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
    packed, rows = scratch.packed, scratch.rows[0]
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
def add_seen(target: Corrections, candidate: int, change: int) -> None:
    """Add changes of the numbers of pairs (see seen_change) to a candidate's."""
    newly = (change + 32768) >> 16
    target.seen[candidate] += newly
    target.once[candidate] += change - (newly << 16)


@kernel_part
def correct(target: Corrections, candidate: int, count: int, amount: int, sign: int) -> None:
    """Add the term of a count that grows by an amount to a candidate's score, or take it away."""
    term = difference(target.values, target.shift, count, amount)
    target.scores[candidate] += np.float32(sign * term)
    if target.counting:
        add_seen(target, candidate, sign * seen_change(count, amount))


@kernel_part
def correct_diagonal(target: Corrections, candidate: int, count: int, amounts: tuple[int, int, int]) -> None:
    """Count what precedes and follows a candidate, and the element itself, into one cell, not into two."""
    before, after, itself = amounts
    values, shift, total = target.values, target.shift, before + after + itself
    together = difference(values, shift, count + before, after + itself)
    target.scores[candidate] += np.float32(together - difference(values, shift, count, after))
    if target.counting:
        change = seen_change(count, total)
        for amount in (before, after):
            change -= seen_change(count, amount) if amount > 0 else 0
        add_seen(target, candidate, change)


@kernel_part
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
                correct_diagonal(target, wide(candidate), wide(diagonal[candidate]), (before, after, itself))
        return
    # A class on one side only needs no correction.
    for i in range(split, length):
        candidate = wide(keys[i]) - tied
        before, after = wide(weights[candidate]), wide(amounts[i])
        if before > 0 and candidate != own:
            correct_diagonal(target, candidate, wide(diagonal[candidate]), (before, after, wide(0)))


@kernel_part
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
    terms, scores = criterion[0], scratch.scores
    error = add_differences(table, criterion, profile, scratch, most)
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
