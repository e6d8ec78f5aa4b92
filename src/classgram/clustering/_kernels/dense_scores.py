"""The scores of all candidates from a dense class table: rows of precomputed differences are added."""

from typing import NamedTuple

import numpy as np

from classgram.clustering._kernels.class_table import SHORT_LIMIT, ClassTable, Pairs
from classgram.clustering._kernels.criterion import (
    APPROXIMATION,
    LEVELS,
    SHARE_UNIT,
    KernelCriterion,
    Precomputed,
    Terms,
    approximate_difference,
    pair_gain,
)
from classgram.clustering._kernels.exact_gains import pairs_of, wide
from classgram.clustering._kernels.score_errors import FIXED_ROUNDINGS, Magnitude, ScoreError, rounding_error
from classgram.clustering._kernels.side_arrays import Buffers, PairCountBuffers, Profile, RowBuffers
from classgram.clustering._kernels.tied_corrections import Corrections, correct_tied_scores
from classgram.runtime.compiled import part
from classgram.runtime.compiled.arrays import (
    ByteMatrix,
    Float32Array,
    Float64Array,
    Int16Array,
    Int16Matrix,
    Int64Array,
    UInt16Array,
)

FLUSH_ROWS = 120
"""Rows after which the counters of both are taken apart, long before they could overflow."""

FEW_ROWS = 4
"""Rows of one node that are not worth sums of their own."""

MOST_SUMMED = 256
"""Rows of 8-bit steps whose sum is sure to fit in 16 bits."""

MOST_SHARED = 16
"""The same for rows of steps times their shares."""


@part
def sum_eight_rows(differences: ByteMatrix, rows: Int64Array, sums: UInt16Array) -> None:
    """Add eight rows of steps."""
    a, b, c, d = differences[rows[0]], differences[rows[1]], differences[rows[2]], differences[rows[3]]
    e, f, g, h = differences[rows[4]], differences[rows[5]], differences[rows[6]], differences[rows[7]]
    for j in range(sums.size):
        left = np.uint16(np.uint16(a[j]) + np.uint16(b[j])) + np.uint16(np.uint16(c[j]) + np.uint16(d[j]))
        right = np.uint16(np.uint16(e[j]) + np.uint16(f[j])) + np.uint16(np.uint16(g[j]) + np.uint16(h[j]))
        sums[j] = np.uint16(sums[j] + np.uint16(left + right))


@part
def sum_four_rows(differences: ByteMatrix, rows: Int64Array, sums: UInt16Array) -> None:
    """Add four rows of steps."""
    a, b, c, d = differences[rows[0]], differences[rows[1]], differences[rows[2]], differences[rows[3]]
    for j in range(sums.size):
        total = np.uint16(np.uint16(a[j]) + np.uint16(b[j])) + np.uint16(np.uint16(c[j]) + np.uint16(d[j]))
        sums[j] = np.uint16(sums[j] + np.uint16(total))


@part
def sum_rows(differences: ByteMatrix, rows: Int64Array, length: int, sums: UInt16Array) -> None:
    """Add rows of steps, at most MOST_SUMMED; the list is filled up with rows of zeros."""
    for i in range(length, -(-length // 8) * 8):
        rows[i] = differences.shape[0] - 1
    first = 0
    while length - first > 4:
        sum_eight_rows(differences, rows[first:], sums)
        first += 8
    if length > first:
        sum_four_rows(differences, rows[first:], sums)


@part
def begin_scores(
    buffers: RowBuffers, steps: Float64Array, class_terms: Float32Array, total: float, scores: Float32Array
) -> None:
    """Write the scores from the sums of steps, the class terms and a constant, and zero the sums."""
    ones, pairs = buffers.sums_of_ones, buffers.sums_of_pairs
    unit, pair_unit, constant = np.float32(steps[0]), np.float32(steps[1]), np.float32(total)
    for j in range(scores.size):
        both = unit * np.float32(ones[j]) + pair_unit * np.float32(pairs[j])
        scores[j] = class_terms[j] + (both + constant)
        ones[j] = np.uint16(0)
        pairs[j] = np.uint16(0)


@part
def take_sums(sums: UInt16Array, unit: float, scores: Float32Array) -> None:
    """Move sums of steps to the scores."""
    single_unit = np.float32(unit)
    for j in range(scores.size):
        scores[j] += single_unit * np.float32(sums[j])
        sums[j] = np.uint16(0)


@part
def add_many_rows(
    differences: ByteMatrix,
    rows: Int64Array,
    length: int,
    sums: UInt16Array,
    unit: float,
    scores: Float32Array,
) -> None:
    """Add rows of steps beyond those whose sum is sure to fit in 16 bits."""
    for first in range(MOST_SUMMED, length, MOST_SUMMED):
        sum_rows(differences, rows[first:], min(length - first, MOST_SUMMED), sums)
        take_sums(sums, unit, scores)


@part
def shared_steps(steps: np.uint8, share: np.uint16) -> np.uint16:
    """Give steps times a share, in units of 16/SHARE_UNIT steps, in 16 bits all the time."""
    return np.uint16(np.uint16(np.uint16(steps) * share) >> np.uint16(4))


@part
def add_shared_rows(
    differences: ByteMatrix,
    rows: Int64Array,
    shares: UInt16Array,
    length: int,
    sums: UInt16Array,
    step: float,
    scores: Float32Array,
) -> None:
    """Add rows of steps of one node, each times its share; the list is filled up with rows of zeros."""
    unit = step * 16 / SHARE_UNIT
    for i in range(length, length + 3):
        rows[i] = differences.shape[0] - 1
    for first in range(0, length, MOST_SHARED):
        for i in range(first, min(first + MOST_SHARED, length), 4):
            a, b = differences[rows[i]], differences[rows[i + 1]]
            c, d = differences[rows[i + 2]], differences[rows[i + 3]]
            w, x, y, z = shares[i], shares[i + 1], shares[i + 2], shares[i + 3]
            for j in range(sums.size):
                left = np.uint16(shared_steps(a[j], w) + shared_steps(b[j], x))
                right = np.uint16(shared_steps(c[j], y) + shared_steps(d[j], z))
                sums[j] = np.uint16(sums[j] + np.uint16(left + right))
        take_sums(sums, unit, scores)


@part
def add_weighted_rows(
    differences: ByteMatrix, rows: Int64Array, length: int, weights: Float32Array, scores: Float32Array
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


@part
def add_upper_levels(
    differences: ByteMatrix, precomputed: Precomputed, buffers: RowBuffers, scores: Float32Array
) -> None:
    """Add the rows of all nodes that have shares: one by one where a node has few."""
    singles = wide(0)
    for level in range(2, LEVELS):
        length, step = buffers.lengths[level], precomputed.steps[level]
        rows, shares = buffers.rows[level], buffers.shares[level]
        if length >= FEW_ROWS:
            add_shared_rows(differences, rows, shares, length, buffers.sums_of_pairs, step, scores)
            continue
        for i in range(length):
            buffers.single_rows[singles] = rows[i]
            buffers.single_weights[singles] = np.float32(step / SHARE_UNIT * shares[i])
            singles += 1
    add_weighted_rows(differences, buffers.single_rows, singles, buffers.single_weights, scores)


@part
def add_computed(
    pairs: Pairs, row: int, amount: int, terms: Terms, values: Float32Array, scores: Float32Array
) -> None:
    """Add the differences of a row for an amount that is not precomputed; ``values`` is a buffer."""
    counts, short, shift = pairs.cells[row], pairs.short[row], np.float32(terms.pair_shift)
    exact = terms.pair_values
    if amount + values.size < exact.size:
        grown = exact[amount : amount + values.size]
        for n in range(values.size):
            values[n] = np.float32(grown[n] - exact[n])
    else:
        for n in range(values.size):
            values[n] = np.float32(pair_gain(terms, n, amount))
    for c in range(scores.size):
        n = short[c]
        if n < SHORT_LIMIT:
            scores[c] += values[n]
        else:
            scores[c] += approximate_difference(np.float32(counts[c]), np.float32(amount), shift)


class RowList(NamedTuple):
    """What the rows of a profile add up to besides themselves."""

    constant: float
    error: float
    """By how much their differences may err, before anything is rounded to single precision."""
    roundings: int
    """How many sums in single precision a score is part of."""
    computed: int
    """Amounts whose differences are computed."""


@part
def list_rows(profile: Profile, precomputed: Precomputed, buffers: RowBuffers, most: int) -> RowList:
    """Write the rows that a profile needs, by node; amounts above ``most`` are computed and have none."""
    rows, shares, lengths = buffers.rows, buffers.shares, buffers.lengths
    for level in range(LEVELS):
        lengths[level] = 0
    computed, error, constant = wide(0), 0.0, 0.0
    for i in range(profile.length):
        amount, first = profile.amounts[i], np.int64(profile.keys[i]) * LEVELS
        if amount <= 2:
            level = amount - 1
            rows[level, lengths[level]] = first + level
            lengths[level] += 1
        elif amount <= most:
            for k in range(2):
                share, level = precomputed.shares[amount, k], precomputed.firsts[amount] + k
                if share > 0:
                    rows[level, lengths[level]] = first + level
                    shares[level, lengths[level]] = share
                    lengths[level] += 1
            error += precomputed.errors[amount]
            constant += precomputed.constants[amount]
        else:
            computed += 1
    ones, pairs = lengths[0], lengths[1]
    error += precomputed.node_errors[0] * ones + precomputed.node_errors[1] * pairs
    constant += precomputed.lowest[0] * ones + precomputed.lowest[1] * pairs
    roundings = computed + ones // MOST_SUMMED + pairs // MOST_SUMMED
    for level in range(2, LEVELS):
        # What these lose by rounding down is half of 1/16 of a step on average.
        if lengths[level] >= FEW_ROWS:
            constant += precomputed.steps[level] / 32 * lengths[level]
        roundings += lengths[level] // MOST_SHARED + 1
    return RowList(constant, error, roundings, computed)


@part
def add_differences(
    table: ClassTable,
    criterion: KernelCriterion,
    profile: Profile,
    buffers: Buffers,
    magnitude: Magnitude,
    most: int,
) -> ScoreError:
    """Write scores of the class terms and the differences of the whole profile; return their error.

    Differences of amounts above ``most`` are computed, which takes longer and is closer.
    """
    terms, precomputed = criterion
    differences, scores, rows = table.differences, buffers.scores.scores, buffers.rows
    listed = list_rows(profile, precomputed, rows, most)
    ones, pairs, steps = rows.lengths[0], rows.lengths[1], precomputed.steps
    sum_rows(differences, rows.rows[0], min(ones, MOST_SUMMED), rows.sums_of_ones)
    sum_rows(differences, rows.rows[1], min(pairs, MOST_SUMMED), rows.sums_of_pairs)
    begin_scores(rows, steps, buffers.scores.class_terms, listed.constant, scores)
    add_many_rows(differences, rows.rows[0], ones, rows.sums_of_ones, steps[0], scores)
    add_many_rows(differences, rows.rows[1], pairs, rows.sums_of_pairs, steps[1], scores)
    add_upper_levels(differences, precomputed, rows, scores)
    others = magnitude.others + abs(listed.constant)
    rounding = rounding_error(FIXED_ROUNDINGS + listed.roundings, Magnitude(magnitude.events, others))
    if listed.computed > 0:
        rounding += APPROXIMATION * magnitude.events
        for i in range(profile.length):
            if profile.amounts[i] > most:
                key, amount = wide(profile.keys[i]), wide(profile.amounts[i])
                add_computed(pairs_of(table), key, amount, terms, rows.row_values, scores)
    return ScoreError(listed.error, rounding)


@part
def add_eight_codes(codes: Int16Matrix, rows: Int64Array, both: Int16Array) -> None:
    """Add eight rows of codes."""
    a, b, c, d = codes[rows[0]], codes[rows[1]], codes[rows[2]], codes[rows[3]]
    e, f, g, h = codes[rows[4]], codes[rows[5]], codes[rows[6]], codes[rows[7]]
    for j in range(both.size):
        left = np.int16(np.int16(a[j] + b[j]) + np.int16(c[j] + d[j]))
        right = np.int16(np.int16(e[j] + f[j]) + np.int16(g[j] + h[j]))
        both[j] = np.int16(both[j] + np.int16(left + right))


@part
def take_counts(buffers: PairCountBuffers, single: bool) -> None:
    """Move the counters of both into those of n1 and n+; single amounts make pairs seen once."""
    both, once, seen = buffers.both, buffers.once, buffers.seen
    gained = np.int32(1 if single else 0)
    for c in range(both.size):
        newly = np.int32(np.int32(both[c] + np.int32(128)) >> np.int32(8))
        change = np.int32(both[c] - np.int32(newly << np.int32(8)))
        seen[c] += newly
        once[c] += np.int32(change + np.int32(gained * newly))
        both[c] = np.int16(0)


@part
def count_seen(codes: Int16Matrix, profile: Profile, rows: Int64Array, buffers: PairCountBuffers) -> None:
    """Write the changes of n1 and n+ for each candidate; ``rows`` is a buffer."""
    for c in range(buffers.both.size):
        buffers.once[c] = 0
        buffers.seen[c] = 0
    for single in (True, False):
        length = 0
        for i in range(profile.length):
            if (profile.amounts[i] == 1) == single:
                rows[length] = profile.keys[i]
                length += 1
        for i in range(length, length + 8):
            rows[i] = codes.shape[0] - 1
        for i in range(0, length, 8):
            add_eight_codes(codes, rows[i:], buffers.both)
            if i % FLUSH_ROWS == FLUSH_ROWS - 8:
                take_counts(buffers, single)
        take_counts(buffers, single)


@part
def score_dense(
    table: ClassTable,
    criterion: KernelCriterion,
    buffers: Buffers,
    profile: Profile,
    magnitude: Magnitude,
    most: int,
) -> ScoreError:
    """Write the score of every candidate without the global term, and its n1 and n+; return the error."""
    terms, pair_counts = criterion.terms, buffers.pair_counts
    error = add_differences(table, criterion, profile, buffers, magnitude, most)
    if terms.counts_pairs:
        count_seen(table.codes, profile, buffers.rows.rows[0], pair_counts)
    if profile.tied > 0:
        target = Corrections(terms, buffers.scores.scores, pair_counts.once, pair_counts.seen)
        correct_tied_scores(table, profile, target)
    return error
