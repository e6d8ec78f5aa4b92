"""Sparse matrices of counts: grouped, transposed, put side by side."""

from typing import NamedTuple

import numpy as np

from classgram.runtime.compiled import kernel
from classgram.runtime.compiled.arrays import Int32Array, Int64Array


class SparseRows(NamedTuple):
    """A sparse matrix of counts by rows.

    Row r has the entries starts[r] to starts[r + 1], sorted by column. Counts have 64 bits where they add up
    to 2**31 or more.
    """

    starts: Int64Array
    columns: Int32Array
    counts: Int32Array | Int64Array


@kernel
def group_pairs(
    rows: Int32Array,
    columns: Int32Array,
    counts: Int32Array | Int64Array,
    fill: Int64Array,
    out: SparseRows,
) -> np.int64:
    """Group (row, column, count) triples by row and add up equal pairs; columns must come sorted.

    ``out.starts`` holds where each row starts before equal pairs are added up, and ends as where the grouped
    rows start; ``fill`` is a copy of it without the end, and is overwritten. Returns the number of pairs.
    """
    for k in range(rows.size):
        row = rows[k]
        at = fill[row]
        if at > out.starts[row] and out.columns[at - 1] == columns[k]:
            out.counts[at - 1] += counts[k]
        else:
            out.columns[at] = columns[k]
            out.counts[at] = counts[k]
            fill[row] = at + 1
    size = np.int64(0)
    begin = np.int64(0)
    for row in range(out.starts.size - 1):
        end = fill[row]
        for k in range(begin, end):
            out.columns[size] = out.columns[k]
            out.counts[size] = out.counts[k]
            size += 1
        begin = out.starts[row + 1]
        out.starts[row + 1] = size
    return size


@kernel
def transpose(matrix: SparseRows, fill: Int64Array, out: SparseRows) -> None:
    """Write the entries of the transposed matrix, whose starts are known.

    ``fill`` holds where each column starts, and ends as where it ends.
    """
    for row in range(matrix.starts.size - 1):
        for k in range(matrix.starts[row], matrix.starts[row + 1]):
            at = fill[matrix.columns[k]]
            fill[matrix.columns[k]] = at + 1
            out.columns[at] = row
            out.counts[at] = matrix.counts[k]


@kernel
def stack_rows(one: SparseRows, two: SparseRows, shift: int, out: SparseRows) -> None:
    """Write the entries of each row of one matrix, then of the other, whose columns are shifted."""
    at = 0
    for row in range(one.starts.size - 1):
        for k in range(one.starts[row], one.starts[row + 1]):
            out.columns[at] = one.columns[k]
            out.counts[at] = one.counts[k]
            at += 1
        for k in range(two.starts[row], two.starts[row + 1]):
            out.columns[at] = two.columns[k] + shift
            out.counts[at] = two.counts[k]
            at += 1
