"""The scores of all candidates from a sparse class table: only cells that are not zero are visited.

Where N(g, c) = 0 the difference f(N+n) - f(N) is f(n) for every candidate, so a score is the sum of
these constants, corrected at the cells that are not zero. Pairs seen once and seen at all alike.
"""

import numpy as np
from numpy.typing import NDArray

from classgram.kernels import kernel_part
from classgram.kernels.class_table import ClassTable
from classgram.kernels.criterion import (
    MIDDLE_LEVELS,
    SHORT_COUNTS,
    Ready,
    Terms,
    approximate_difference,
    difference,
)
from classgram.kernels.problem import IntArray, Profile, Scratch, SingleArray

FloatArray = NDArray[np.float64]


@kernel_part
def add_looked_up_entries(
    columns: IntArray, counts: IntArray, differences: SingleArray, sums: FloatArray
) -> int:
    """Correct the sums where a row is not zero, by ready differences; give the highest count."""
    base = differences[0]
    highest = 0
    for k in range(columns.size):
        count = counts[k]
        short = count if count < SHORT_COUNTS else SHORT_COUNTS
        highest = short if short > highest else highest
        sums[columns[k]] += differences[short] - base
    return highest


@kernel_part
def add_cut_entries(columns: IntArray, counts: IntArray, amount: int, terms: Terms, sums: FloatArray) -> None:
    """Add the differences of counts too large for the ready ones, which gave 0 for them."""
    for k in range(columns.size):
        if counts[k] >= SHORT_COUNTS:
            sums[columns[k]] += difference(terms.pair_values, terms.pair_shift, counts[k], amount)


@kernel_part
def add_computed_entries(
    columns: IntArray, counts: IntArray, amount: int, shift: float, sums: FloatArray
) -> None:
    """Correct the sums where a row is not zero, for a large amount."""
    single_amount, single_shift = np.float32(amount), np.float32(shift)
    base = approximate_difference(np.float32(0), single_amount, single_shift)
    for k in range(columns.size):
        sums[columns[k]] += approximate_difference(np.float32(counts[k]), single_amount, single_shift) - base


@kernel_part
def zero_value(amount: int, terms: Terms, middling: SingleArray) -> float:
    """Give the difference at zero just as the corrections take it off again."""
    if amount <= MIDDLE_LEVELS:
        return middling[amount, 0]  # type: ignore[no-any-return]
    return approximate_difference(  # type: ignore[return-value]
        np.float32(0), np.float32(amount), np.float32(terms.pair_shift)
    )


@kernel_part
def count_sparse_seen(
    columns: IntArray, counts: IntArray, single: int, once: IntArray, seen: IntArray
) -> None:
    """Correct the numbers of pairs newly seen and seen once where a row is not zero."""
    for k in range(columns.size):
        column, count = columns[k], counts[k]
        positive = np.int32(count > 0)
        seen[column] -= positive
        once[column] -= positive * single + np.int32(count == 1)


@kernel_part
def score_sparse(
    table: ClassTable, terms: Terms, ready: Ready, scratch: Scratch, profile: Profile, bound: float
) -> float:
    """Fill the score of every candidate without the global term; give the bound of its error."""
    cells, sums, scores = table.cells, scratch.sums, scratch.scores
    constant = 0.0
    single_amounts = 0
    for i in range(profile.length):
        constant += zero_value(profile.amounts[i], terms, ready.middling)
        single_amounts += 1 if profile.amounts[i] == 1 else 0
    for c in range(sums.size):
        sums[c] = constant
        scratch.once[c] = single_amounts
        scratch.seen[c] = profile.length
    for i in range(profile.length):
        key, amount = profile.keys[i], profile.amounts[i]
        start = cells.starts[key]
        end = start + cells.lengths[key]
        columns, counts = cells.columns[start:end], cells.counts[start:end]
        if amount > MIDDLE_LEVELS:
            add_computed_entries(columns, counts, amount, terms.pair_shift, sums)
        elif add_looked_up_entries(columns, counts, ready.middling[amount], sums) == SHORT_COUNTS:
            add_cut_entries(columns, counts, amount, terms, sums)
        if terms.discount > 0.0:
            count_sparse_seen(columns, counts, 1 if amount == 1 else 0, scratch.once, scratch.seen)
    for c in range(sums.size):
        scores[c] = np.float32(sums[c] + scratch.total_row[c])
    # The sums are in double precision: only their terms are rounded, and the end.
    return 16 * 6e-8 * bound
