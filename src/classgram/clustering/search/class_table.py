"""Class tables, dense with precomputed differences, or sparse where most pairs never occur.

Sweeps over all classes give the same classes with both: they only rank candidates, and exact values decide.
"""

from typing import cast

import numpy as np

from classgram.clustering._kernels import class_table as kernel
from classgram.clustering._kernels.class_table import Cells, ClassTable
from classgram.clustering._kernels.criterion import LEVELS, KernelCriterion
from classgram.clustering._kernels.ranking import BLOCK
from classgram.clustering._kernels.sparse_cells import SparseCells, half_size
from classgram.clustering.tuning import SearchTuning
from classgram.counts.events import Events
from classgram.runtime.compiled import packed as prepared
from classgram.runtime.compiled.arrays import Int32Array, Int32Matrix, Int64Array, Int64Matrix

CELL_BYTES = 8 + LEVELS
"""What a cell of a dense table takes at most: its count, a code, and precomputed differences."""

SMALL_BYTES = 1 << 28
"""Tables up to this are dense: they are quick, and the kernels for sparse ones need not be compiled."""

LARGE_BYTES = 3 << 30
"""Tables beyond this are sparse, so that they fit."""

FEW_PAIRS = 0.05
"""Tables with fewer pairs of elements than this for each cell are sparse, because that is faster."""


def padded(width: int) -> int:
    """Give a row's width in whole vectors."""
    return -(-width // BLOCK) * BLOCK


def prefers_sparse(pairs: int, rows: int, columns: int, orientations: int, tuning: SearchTuning) -> bool:
    """Say whether a table of so many classes by so many, once or in both orientations, is sparse.

    ``pairs`` is the number of different events: no table has more cells that are not zero.
    """
    cells = rows * columns
    size = orientations * cells * CELL_BYTES
    few = pairs < tuning.sparse_pairs_per_cell * cells
    return size > tuning.largest_dense_bytes or (size > tuning.small_table_bytes and few)


def dense_table(cells: Int32Matrix, totals: Int64Matrix, criterion: KernelCriterion) -> ClassTable:
    """Give a table with its precomputed differences."""
    rows, width = cells.shape
    differences = np.empty((rows * LEVELS + 1, width), np.uint8)
    made = ClassTable(
        cells,
        np.empty(cells.shape, np.uint8),
        np.zeros(width, cells.dtype),
        differences,
        differences.view(np.uint64),
        np.empty((rows + 1, width) if criterion.terms.counts_pairs else (0, 0), np.int16),
        np.zeros((rows, -(-width // 64) * 8), np.uint8),
        np.zeros(rows, np.uint8),
        totals,
        totals.astype(np.float32),
    )
    table = prepared(made)
    kernel.fill_differences(table, criterion)
    return table


def sparse_table(cells: SparseCells, totals: Int64Matrix) -> ClassTable:
    """Give a table with nothing precomputed."""
    return ClassTable(
        cells,
        np.zeros((0, 0), np.uint8),
        np.zeros(0, cells.counts.dtype),
        np.zeros((0, 0), np.uint8),
        np.zeros((0, 0), np.uint64),
        np.zeros((0, 0), np.int16),
        np.zeros((0, 0), np.uint8),
        np.zeros(0, np.uint8),
        totals,
        totals.astype(np.float32),
    )


def empty_table(like: ClassTable) -> ClassTable:
    """Give the table of a side that never moves, in the form of another."""
    nothing = np.zeros((0, 0), np.int64)
    if isinstance(like.cells, SparseCells):
        none = np.zeros(0, np.int64)
        cells = sparse_cells((none, none), none.astype(like.cells.counts.dtype), (0, 0))
        return sparse_table(cells, nothing)
    return ClassTable(
        np.zeros((0, 0), like.cells.dtype),
        np.zeros((0, 0), np.uint8),
        np.zeros(0, like.cells.dtype),
        np.zeros((0, 0), np.uint8),
        np.zeros((0, 0), np.uint64),
        np.zeros((0, 0), np.int16),
        np.zeros((0, 0), np.uint8),
        np.zeros(0, np.uint8),
        nothing,
        np.zeros((0, 0), np.float32),
    )


def class_pairs(events: Events, contexts: Int32Array, words: Int32Array) -> tuple[Int64Array, Int64Array]:
    """Give the class of the context and of the word of every entry of the events, by context."""
    by_row = events.by_row
    owners = np.repeat(contexts.astype(np.int64), np.diff(by_row.starts))
    return owners, words.astype(np.int64)[by_row.columns]


def sparse_cells(
    pairs: tuple[Int64Array, Int64Array], amounts: Int32Array, shape: tuple[int, int]
) -> SparseCells:
    """Count pairs of classes (row, column) into sparse cells.

    There can never be more cells than pairs, whatever classes their members move to.
    """
    rows, width = shape
    keys = pairs[0] * width + pairs[1]
    order = np.argsort(keys)
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.add.reduceat(amounts[order], first) if first.size else amounts[:0]
    keys = keys[first]
    lengths = np.bincount(keys // max(width, 1), minlength=rows)
    rooms = np.minimum(np.bincount(pairs[0], minlength=rows), width)
    starts = np.cumsum(rooms) - rooms
    pool = 2 * half_size(order.size, rows, width)
    # What is not in use is never touched, and takes no memory.
    cells = SparseCells(
        starts,
        lengths,
        rooms,
        np.empty(pool, np.int32),
        np.empty(pool, amounts.dtype),
        rooms.sum(keepdims=True),
    )
    places = entry_places(cells)
    cells.columns[places] = keys % max(width, 1)
    cells.counts[places] = counts
    return cells


def entry_places(cells: SparseCells) -> Int64Array:
    """Give where the entries of all rows stand in the pool, row by row."""
    offsets = cells.starts - (np.cumsum(cells.lengths) - cells.lengths)
    places: Int64Array = np.arange(int(cells.lengths.sum())) + np.repeat(offsets, cells.lengths)
    return places


def row_count(table: ClassTable) -> int:
    """Give the number of opposite classes."""
    cells = table.cells
    return cells.starts.size if isinstance(cells, SparseCells) else cells.shape[0]


def listed_counts(cells: Cells) -> Int32Matrix:
    """Give counts row by row, those of a sparse table without its zeros, as a matrix."""
    if isinstance(cells, SparseCells):
        return cells.counts[entry_places(cells)][None]
    return cast(Int32Matrix, cells)


def class_sums(cells: Cells, width: int) -> tuple[Int64Array, Int64Array]:
    """Give the sums of the columns and of the rows."""
    if not isinstance(cells, SparseCells):
        return cells.sum(0, dtype=np.int64), cells.sum(1, dtype=np.int64)
    places = entry_places(cells)
    counts = cells.counts[places]
    owners = np.repeat(np.arange(cells.starts.size), cells.lengths)
    by_column = np.bincount(cells.columns[places], counts, width)
    by_row = np.bincount(owners, counts, cells.starts.size)
    return by_column.astype(np.int64), by_row.astype(np.int64)


def dense_cells(cells: Cells, width: int) -> Int32Matrix:
    """Give all cells of either form, zeros too."""
    if not isinstance(cells, SparseCells):
        return cast(Int32Matrix, cells)
    places = entry_places(cells)
    result = np.zeros((cells.starts.size, width), cells.counts.dtype)
    owners = np.repeat(np.arange(cells.starts.size), cells.lengths)
    result[owners, cells.columns[places]] = cells.counts[places]
    return result
