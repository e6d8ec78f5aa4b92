"""The scores of all candidates from a sparse class table: only cells that are not zero are visited.

Where N(g, c) = 0 the difference f(N+n) - f(N) is f(n) for every candidate, so a score is the sum of
these constants, corrected at the cells that are not zero. Pairs seen once and seen at all alike.
"""

import numpy as np

from classgram.clustering._kernels.class_table import ClassTable
from classgram.clustering._kernels.criterion import KernelCriterion, Terms, log_term, pair_gain
from classgram.clustering._kernels.score_errors import FIXED_ROUNDINGS, Magnitude, ScoreError, rounding_error
from classgram.clustering._kernels.side_arrays import Buffers, Profile
from classgram.runtime.compiled import kernel_part
from classgram.runtime.compiled.arrays import Float64Array, Int32Array


@kernel_part
def add_entries(
    columns: Int32Array, counts: Int32Array, amount: int, terms: Terms, sums: Float64Array
) -> None:
    """Correct the sums where a row is not zero."""
    base = log_term(terms.pair_values, terms.pair_shift, amount)
    for k in range(columns.size):
        sums[columns[k]] += pair_gain(terms, counts[k], amount) - base


@kernel_part
def count_sparse_seen(
    columns: Int32Array, counts: Int32Array, single: int, once: Int32Array, seen: Int32Array
) -> None:
    """Correct the changes of n1 and n+ where a row is not zero."""
    for k in range(columns.size):
        column, count = columns[k], counts[k]
        positive = np.int32(count > 0)
        seen[column] -= positive
        once[column] -= positive * single + np.int32(count == 1)


@kernel_part
def score_sparse(
    table: ClassTable,
    criterion: KernelCriterion,
    buffers: Buffers,
    profile: Profile,
    magnitude: Magnitude,
    most: int,
) -> ScoreError:
    """Write the score of every candidate without the global term, and its n1 and n+; return the error."""
    terms = criterion.terms
    cells, sums, scores, pair_counts = (
        table.cells,
        buffers.scores.sums,
        buffers.scores.scores,
        buffers.pair_counts,
    )
    constant = 0.0
    single_amounts = 0
    for i in range(profile.length):
        constant += log_term(terms.pair_values, terms.pair_shift, profile.amounts[i])
        single_amounts += 1 if profile.amounts[i] == 1 else 0
    for c in range(sums.size):
        sums[c] = constant
        pair_counts.once[c] = single_amounts
        pair_counts.seen[c] = profile.length
    for i in range(profile.length):
        key, amount = profile.keys[i], profile.amounts[i]
        start = cells.starts[key]
        end = start + cells.lengths[key]
        columns, counts = cells.columns[start:end], cells.counts[start:end]
        add_entries(columns, counts, amount, terms, sums)
        if terms.counts_pairs:
            count_sparse_seen(columns, counts, 1 if amount == 1 else 0, pair_counts.once, pair_counts.seen)
    for c in range(sums.size):
        scores[c] = np.float32(sums[c] + buffers.scores.class_terms[c])
    # The sums are in double precision: only the class term and the end are rounded.
    return ScoreError(0.0, rounding_error(FIXED_ROUNDINGS, magnitude))
