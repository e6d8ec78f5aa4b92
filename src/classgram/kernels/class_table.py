"""The class table: how often each opposite class occurs with each candidate class.

A row belongs to an opposite class g and holds all candidates c side by side, so that trying every
candidate is a loop over adjacent numbers. Beside the counts stand ready differences f(N+n) - f(N)
for some amounts n as 8-bit steps; they propose, and exact values decide. They are renewed at the end
of a round: until then the changed cells are listed.

Where classes are many and most pairs of them never occur, the cells are sparse and nothing is kept
ready. The two forms are different types to Numba: what is chosen by form is chosen when a kernel
is compiled, and nobody compiles the form that is not used.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from classgram.kernels import LEAN, before_compiling, kernel_part, lean_kernel
from classgram.kernels.criterion import LEVELS, NODES, Ready, Terms, difference, logarithmic
from classgram.kernels.sparse_cells import SparseCells, add_to_sparse_cell, read_sparse_row, sparse_cell

CHANGED = 254
"""Stands in 8 bits for a count that has changed since what is derived from it was made."""

CUT = 255
"""Stands in 8 bits for all counts from CHANGED on."""

FETCHED = 32
"""Cells that are read at a time before they are written."""

R = TypeVar("R")
IntArray = NDArray[np.int32]


class ClassTable(NamedTuple):
    """One orientation of the class table, with the counts of the candidate classes."""

    cells: Any
    """N(g, c): an array indexed [g, c], rows padded to a whole number of vectors; or SparseCells, and
    then ``short``, ``diagonal``, ``differences``, ``codes`` and ``changed`` are empty."""
    short: NDArray[np.uint8]
    """The same in 8 bits, or CHANGED, or CUT: most counts are small, and a quarter of the memory is
    more likely in the cache."""
    diagonal: IntArray
    """N(c, c) of tied classes: the diagonal lies far apart in the cells."""
    differences: NDArray[np.uint8]
    """Ready differences, indexed [g LEVELS + node, c]; one more row of zeros ends the table."""
    codes: NDArray[np.int16]
    """What a pair tells leaving-one-out's counters (see seen_code), indexed [g, c]; one more row of
    zeros ends the table. Empty under maximum likelihood."""
    changed: IntArray
    """Cells whose ready differences are out of date: how many, and then (g, c) of each."""
    totals: NDArray[np.int64]
    """N(c), indexed [side, c]: one side, or two for tied classes (as predicted, as context)."""
    single_totals: NDArray[np.float32]
    """The same in single precision, which a vector loop can take."""


class Pairs(NamedTuple):
    """The counts of class pairs (parts of a ClassTable)."""

    cells: Any
    short: NDArray[np.uint8]


class Events(NamedTuple):
    """What each element occurs with: a sparse matrix by rows, and the classes of its columns."""

    starts: NDArray[np.int64]
    partners: IntArray
    amounts: IntArray
    partner_classes: IntArray


def by_form(dense: Callable[..., R], sparse: Callable[..., R]) -> Callable[..., R]:
    """Give a part of kernels that is one function for dense and another for sparse tables or cells.

    The first argument tells which.
    """

    def chosen(*arguments: Any) -> R:
        return (sparse if is_sparse(arguments[0]) else dense)(*arguments)

    before_compiling(lambda: teach_choice(chosen, dense, sparse))
    return chosen


def teach_choice(chosen: Callable[..., R], dense: Callable[..., R], sparse: Callable[..., R]) -> None:
    """Tell Numba what stands for a function that is chosen by form."""
    from numba.extending import overload

    # The parts name their arguments, so the signatures are not compared.
    @overload(chosen, strict=False, jit_options=LEAN)
    def choose(*arguments: Any) -> Callable[..., R]:
        part = sparse if is_sparse_type(arguments[0]) else dense
        plain: Callable[..., R] = part.py_func  # type: ignore[attr-defined]
        return plain


def is_sparse(form: Any) -> bool:
    """Say whether a table or its cells are sparse."""
    return isinstance(getattr(form, "cells", form), SparseCells)


def is_sparse_type(form: Any) -> bool:
    """Say the same of the type that Numba gives to a table or to cells."""
    kind = getattr(form, "instance_class", None)
    if kind in (ClassTable, Pairs):
        kind = getattr(form.types[kind._fields.index("cells")], "instance_class", None)
    return kind is SparseCells


@kernel_part
def dense_cell(cells: IntArray, row: int, column: int) -> int:
    """Give N(row, column)."""
    return cells[row, column]  # type: ignore[no-any-return]


@kernel_part
def read_dense_row(cells: IntArray, row: int, counts: NDArray[np.int64]) -> None:
    """Write N(row, c) for the first classes c."""
    for c in range(counts.size):
        counts[c] = cells[row, c]


read_row = by_form(read_dense_row, read_sparse_row)
"""Write N(row, c) for the first classes c: read_row(cells, row, counts)."""

cell = by_form(dense_cell, sparse_cell)
"""Give N(row, column): cell(cells, row, column)."""


@kernel_part
def dense_count(pairs: Pairs, row: int, column: int) -> int:
    """Give N(row, column), from the table that is more likely in the cache."""
    short = np.int64(pairs.short[row, column])
    return short if short < CHANGED else np.int64(pairs.cells[row, column])  # type: ignore[return-value]


@kernel_part
def sparse_count(pairs: Pairs, row: int, column: int) -> int:
    """Give N(row, column)."""
    return sparse_cell(pairs.cells, row, column)


count_of = by_form(dense_count, sparse_count)
"""Give N(row, column): count_of(pairs, row, column)."""


@kernel_part
def renew_differences(
    differences: NDArray[np.uint8],
    terms: Terms,
    ready: Ready,
    place: tuple[int, int],
    count: int,
) -> None:
    """Write the ready differences of one cell."""
    row, column = place
    first = row * LEVELS
    if count < ready.quantised.shape[0]:
        for level in range(LEVELS):
            differences[first + level, column] = ready.quantised[count, level]
    else:
        for level in range(LEVELS):
            exact = difference(terms.pair_values, terms.pair_shift, count, NODES[level])
            differences[first + level, column] = np.rint((exact - ready.lowest[level]) / ready.steps[level])


@kernel_part
def seen_code(count: int) -> int:
    """Give 256 for a pair that would be newly seen, -1 for one that would no longer be seen once."""
    if count == 0:
        return 256
    return -1 if count == 1 else 0


@kernel_part
def change_dense_cell(table: ClassTable, row: int, column: int, change: int) -> int:
    """Change one count, and list the cell; give what it was."""
    before = table.cells[row, column]
    table.cells[row, column] = before + change
    if table.short[row, column] != CHANGED:
        table.short[row, column] = CHANGED
        length = table.changed[0]
        table.changed[2 * length + 1] = row
        table.changed[2 * length + 2] = column
        table.changed[0] = length + 1
    return before  # type: ignore[no-any-return]


@kernel_part
def renew_cell(table: ClassTable, criterion: tuple[Terms, Ready], row: int, column: int, count: int) -> None:
    """Write what is derived from one count."""
    renew_differences(table.differences, criterion[0], criterion[1], (row, column), count)
    if table.codes.size > 0:
        table.codes[row, column] = seen_code(count)


@kernel_part
def fetch_cells(table: ClassTable, first: int, last: int) -> int:
    """Read what is derived from some of the changed cells; give its sum, so that nobody leaves this out."""
    total = np.int64(0)
    for i in range(first, last):
        row, column = table.changed[2 * i + 1], table.changed[2 * i + 2]
        total += np.int64(table.short[row, column])
        for level in range(LEVELS):
            total += np.int64(table.differences[row * LEVELS + level, column])
    return int(total)


@kernel_part
def write_cells(table: ClassTable, criterion: tuple[Terms, Ready], first: int, last: int) -> None:
    """Bring what is derived from some of the changed cells up to date."""
    for i in range(first, last):
        row, column = table.changed[2 * i + 1], table.changed[2 * i + 2]
        count = table.cells[row, column]
        table.short[row, column] = count if count < CHANGED else CUT
        renew_cell(table, criterion, row, column, count)


@lean_kernel
def renew_cells(table: ClassTable, criterion: tuple[Terms, Ready], first: int, last: int) -> int:
    """Bring what is derived from some of the changed cells up to date; the result means nothing.

    Reads wait for memory side by side, writes one after the other: so what is written is read first.
    """
    total = 0
    for begin in range(first, last, FETCHED):
        end = min(begin + FETCHED, last)
        total += fetch_cells(table, begin, end)
        write_cells(table, criterion, begin, end)
    return total


@kernel_part
def change_sparse_cell(table: ClassTable, row: int, column: int, change: int) -> int:
    """Change one count; give what it was."""
    return add_to_sparse_cell(table.cells, row, column, change)


change_cell = by_form(change_dense_cell, change_sparse_cell)
"""Change a count, give what it was: change_cell(table, row, column, change)."""


@lean_kernel
def fill_cells(events: Events, own_classes: IntArray, cells: IntArray) -> None:
    """Count all events into zeroed cells: rows are partner classes, columns own classes."""
    for element in range(own_classes.size):
        column = own_classes[element]
        for entry in range(events.starts[element], events.starts[element + 1]):
            row = events.partner_classes[events.partners[entry]]
            cells[row, column] += events.amounts[entry]


@lean_kernel
def fill_differences(table: ClassTable, criterion: tuple[Terms, Ready]) -> None:
    """Fill what a table derives from its cells."""
    cells, differences, codes = table.cells, table.differences, table.codes
    for row in range(cells.shape[0]):
        # Most pairs never occur: rows are filled as if none did, which is one value for each node.
        for level in range(LEVELS):
            differences[row * LEVELS + level] = criterion[1].quantised[0, level]
        if codes.size > 0:
            codes[row] = seen_code(0)
        for column in range(cells.shape[1]):
            count = cells[row, column]
            table.short[row, column] = count if count < CHANGED else CUT
            if count > 0:
                renew_cell(table, criterion, row, column, count)
    differences[cells.shape[0] * LEVELS] = 0
    if codes.size > 0:
        codes[cells.shape[0]] = 0
    for column in range(min(table.diagonal.size, cells.shape[0])):
        table.diagonal[column] = cells[column, column]


@lean_kernel
def sum_pair_values(cells: IntArray, values: NDArray[np.float64], shift: float) -> tuple[float, int, int]:
    """Give the sum of f over a table, the number of cells seen once and seen at all."""
    result = 0.0
    once = 0
    seen = 0
    for row in range(cells.shape[0]):
        for column in range(cells.shape[1]):
            count = cells[row, column]
            if count > 0:
                seen += 1
                once += 1 if count == 1 else 0
                result += logarithmic(values, shift, count)
    return result, once, seen
