"""Sparse cells: only what is not zero, in rows sorted by column that lie in one pool.

A cell that falls to zero keeps its entry until its row needs the room. A row that is full moves to
the end of the pool with room to grow; where the pool ends, all rows are gathered in its other half.
So a kernel changes cells without ever allocating.
"""

from typing import NamedTuple

from classgram.runtime.compiled import kernel_part
from classgram.runtime.compiled.arrays import Int32Array, Int64Array


class SparseCells(NamedTuple):
    """Counts N(g, c) that are not zero."""

    starts: Int64Array
    """Where each row begins in the pool."""
    lengths: Int64Array
    """The entries of each row."""
    rooms: Int64Array
    """The entries each row has room for."""
    columns: Int32Array
    """The pool: columns rise within a row."""
    counts: Int32Array
    """The counts, beside the columns; 0 is allowed."""
    used: Int64Array
    """The end of the part of the pool that is in use; it lies in one of two halves."""


def half_size(entries: int, rows: int, width: int) -> int:
    """Give the size of one half of a pool for at most so many cells that are not zero.

    Gathered rows take up ``grown_room`` each; then there must be room for one more to move.
    """
    return entries + entries // 2 + 8 * rows + 2 * width + 64


@kernel_part
def grown_room(length: int) -> int:
    """Give the room for a row that grows."""
    return length + (length >> 2) + 8


@kernel_part
def find_entry(cells: SparseCells, row: int, column: int) -> int:
    """Give the place of a column in the pool, or where it would have to be."""
    columns = cells.columns
    low = cells.starts[row]
    high = low + cells.lengths[row]
    while low < high:
        middle = (low + high) >> 1
        if columns[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low  # type: ignore[no-any-return]


@kernel_part
def sparse_cell(cells: SparseCells, row: int, column: int) -> int:
    """Give N(row, column)."""
    place = find_entry(cells, row, column)
    if place < cells.starts[row] + cells.lengths[row] and cells.columns[place] == column:
        return cells.counts[place]  # type: ignore[no-any-return]
    return 0


@kernel_part
def read_sparse_row(cells: SparseCells, row: int, counts: Int64Array) -> None:
    """Write N(row, c) for the first classes c."""
    for c in range(counts.size):
        counts[c] = 0
    start = cells.starts[row]
    for place in range(start, start + cells.lengths[row]):
        if cells.columns[place] < counts.size:
            counts[cells.columns[place]] = cells.counts[place]


@kernel_part
def copy_row(cells: SparseCells, row: int, target: int) -> int:
    """Copy a row's entries that are not zero to another place, or to its own; give how many."""
    columns, counts = cells.columns, cells.counts
    end = target
    start = cells.starts[row]
    for place in range(start, start + cells.lengths[row]):
        if counts[place] > 0:
            columns[end] = columns[place]
            counts[end] = counts[place]
            end += 1
    return end - target


@kernel_part
def gather_rows(cells: SparseCells) -> None:
    """Copy all rows to the half of the pool that is not in use, each with room to grow."""
    half = cells.columns.size >> 1
    target = half if cells.used[0] <= half else 0
    for row in range(cells.starts.size):
        length = copy_row(cells, row, target)
        cells.starts[row], cells.lengths[row] = target, length
        cells.rooms[row] = grown_room(length)
        target += cells.rooms[row]
    cells.used[0] = target


@kernel_part
def make_room(cells: SparseCells, row: int) -> None:
    """Make room for at least one more entry in a full row."""
    room = cells.rooms[row]
    length = copy_row(cells, row, cells.starts[row])
    cells.lengths[row] = length
    if length < room - (room >> 3):
        return
    half = cells.columns.size >> 1
    start = cells.used[0]
    wanted = grown_room(length)
    if start + wanted > (half if start <= half else 2 * half):
        gather_rows(cells)
        return
    copy_row(cells, row, start)
    cells.starts[row], cells.rooms[row] = start, wanted
    cells.used[0] = start + wanted


@kernel_part
def add_to_sparse_cell(cells: SparseCells, row: int, column: int, change: int) -> int:
    """Change one count; give what it was."""
    columns, counts = cells.columns, cells.counts
    place = find_entry(cells, row, column)
    end = cells.starts[row] + cells.lengths[row]
    if place < end and columns[place] == column:
        before = counts[place]
        counts[place] = before + change
        return before  # type: ignore[no-any-return]
    if cells.lengths[row] == cells.rooms[row]:
        make_room(cells, row)
        place = find_entry(cells, row, column)
        end = cells.starts[row] + cells.lengths[row]
    for k in range(end, place, -1):
        columns[k] = columns[k - 1]
        counts[k] = counts[k - 1]
    columns[place] = column
    counts[place] = change
    cells.lengths[row] += 1
    return 0
