"""The scores of all candidates from a sparse class table: only cells that are not zero are visited.

Where N(g, c) = 0 the difference f(N+n) - f(N) is f(n) for every candidate, so a score is the sum of
these constants, corrected at the cells that are not zero. Pairs seen once and seen at all alike.
"""

import numpy as np
from numpy.typing import NDArray

from classgram.clustering._kernels.class_table import ClassTable
from classgram.clustering._kernels.criterion import Ready, Terms, difference, logarithmic
from classgram.clustering._kernels.side_arrays import IntArray, Profile, Scratch
from classgram.runtime.compiled import kernel_part

FloatArray = NDArray[np.float64]


@kernel_part
def add_entries(columns: IntArray, counts: IntArray, amount: int, terms: Terms, sums: FloatArray) -> None:
    """Correct the sums where a row is not zero."""
    values, shift = terms.pair_values, terms.pair_shift
    base = logarithmic(values, shift, amount)
    for k in range(columns.size):
        sums[columns[k]] += difference(values, shift, counts[k], amount) - base


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
    table: ClassTable,
    criterion: tuple[Terms, Ready],
    scratch: Scratch,
    profile: Profile,
    bound: float,
    most: int,
) -> float:
    """Fill the score of every candidate without the global term; give the bound of its error."""
    terms = criterion[0]
    cells, sums, scores = table.cells, scratch.sums, scratch.scores
    constant = 0.0
    single_amounts = 0
    for i in range(profile.length):
        constant += logarithmic(terms.pair_values, terms.pair_shift, profile.amounts[i])
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
        add_entries(columns, counts, amount, terms, sums)
        if terms.discount > 0.0:
            count_sparse_seen(columns, counts, 1 if amount == 1 else 0, scratch.once, scratch.seen)
    for c in range(sums.size):
        scores[c] = np.float32(sums[c] + scratch.total_row[c])
    # The sums are in double precision: only the class term and the end are rounded.
    return 16 * 6e-8 * bound
