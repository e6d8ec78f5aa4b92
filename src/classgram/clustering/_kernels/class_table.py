"""The class table: how often each opposite class occurs with each candidate class.

A row belongs to an opposite class g and holds all candidates c side by side, so that trying every
candidate is a loop over adjacent numbers. Beside the counts stand ready differences f(N+n) - f(N)
for some amounts n as 8-bit steps; they propose, and exact values decide. They are renewed before they
are used again: until then what has changed is marked as stale.

Where classes are many and most pairs of them never occur, the cells are sparse and nothing is kept
ready. The two forms are different types to Numba: what is chosen by form is chosen when a kernel
is compiled, and nobody compiles the form that is not used.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from classgram.clustering._kernels.criterion import LEVELS, NODES, Ready, Terms, difference, logarithmic
from classgram.clustering._kernels.sparse_cells import (
    SparseCells,
    add_to_sparse_cell,
    read_sparse_row,
    sparse_cell,
)
from classgram.runtime.compiled import LEAN, inlined, kernel_part, lean_kernel
from classgram.runtime.compiled.calling import before_compiling
from classgram.text._kernels.eight_bytes import ONE, ZERO, first_marked, load_eight

CUT = 255
"""Stands in 8 bits for all counts from here on."""

STALE = 128
"""Marks eight adjacent counts of which some have changed."""

HALF, QUARTER, EIGHTH = np.uint64(32), np.uint64(16), np.uint64(8)
LOW_HALVES = np.uint64(0x00000000FFFFFFFF)
LOW_QUARTERS = np.uint64(0x0000FFFF0000FFFF)
LOW_EIGHTHS = np.uint64(0x00FF00FF00FF00FF)
"""Parts of 64 bits, and masks of the lower ones of each two parts."""

R = TypeVar("R")
IntArray = NDArray[np.int32]


class ClassTable(NamedTuple):
    """One orientation of the class table, with the counts of the candidate classes."""

    cells: Any
    """N(g, c): an array indexed [g, c], rows padded to a whole number of vectors; or SparseCells, and
    then ``short``, ``diagonal``, ``differences``, ``codes`` and what is stale are empty."""
    short: NDArray[np.uint8]
    """The same in 8 bits, or CUT: most counts are small, and a quarter of the memory is more likely in the
    cache."""
    diagonal: IntArray
    """N(c, c) of tied classes: the diagonal lies far apart in the cells."""
    differences: NDArray[np.uint8]
    """Ready differences, indexed [g LEVELS + node, c]; one more row of zeros ends the table."""
    eights: NDArray[np.uint64]
    """The same memory, eight columns in one number."""
    codes: NDArray[np.int16]
    """What a pair tells leaving-one-out's counters (see seen_code), indexed [g, c]; one more row of
    zeros ends the table. Empty under maximum likelihood."""
    stale: NDArray[np.uint8]
    """STALE, or 0, for every eight counts (indexed [g, c // 8]): whether some have changed since their ready
    differences and codes were made. Rows are padded to a multiple of eight."""
    stale_rows: NDArray[np.uint8]
    """STALE, or 0, for every row: whether it has such counts."""
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
    return short if short < CUT else np.int64(pairs.cells[row, column])  # type: ignore[return-value]


@kernel_part
def sparse_count(pairs: Pairs, row: int, column: int) -> int:
    """Give N(row, column)."""
    return sparse_cell(pairs.cells, row, column)


count_of = by_form(dense_count, sparse_count)
"""Give N(row, column): count_of(pairs, row, column)."""


@kernel_part
def computed_steps(terms: Terms, ready: Ready, count: int) -> np.uint64:
    """Compute the ready differences of a large count, a byte for each node, the first lowest."""
    steps = ZERO
    for level in range(LEVELS):
        exact = difference(terms.pair_values, terms.pair_shift, count, NODES[level])
        step = np.uint64(np.rint((exact - ready.lowest[level]) / ready.steps[level]))
        steps |= step << np.uint64(8 * level)
    return steps


@inlined
def ready_steps(terms: Terms, ready: Ready, count: int) -> np.uint64:
    """Give the ready differences of any count."""
    if count < ready.quantised.size:
        return ready.quantised[count]  # type: ignore[no-any-return]
    return computed_steps(terms, ready, count)


@inlined
def exchanged(a: np.uint64, b: np.uint64, shift: np.uint64, mask: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Exchange the bits of a that a mask covers, once shifted, for those of b that it covers as it is."""
    bits = ((a >> shift) ^ b) & mask
    return a ^ (bits << shift), b ^ bits


@kernel_part
def seen_code(count: int) -> int:
    """Give 256 for a pair that would be newly seen, -1 for one that would no longer be seen once."""
    if count == 0:
        return 256
    return -1 if count == 1 else 0


@kernel_part
def change_dense_cell(table: ClassTable, row: int, column: int, change: int) -> int:
    """Change one count, and mark what is derived from it as stale; give what it was."""
    before = table.cells[row, column]
    after = before + change
    table.cells[row, column] = after
    table.short[row, column] = after if after < CUT else CUT
    table.stale[row, column >> 3] = STALE
    table.stale_rows[row] = STALE
    return before  # type: ignore[no-any-return]


@inlined
def renew_eight(table: ClassTable, criterion: tuple[Terms, Ready], row: int, first: int) -> None:
    """Make the ready differences and codes of eight adjacent counts.

    The steps come by count and go by node: they are turned round like a matrix, halves, quarters and eighths.
    """
    terms, ready = criterion
    counts = table.cells[row, first : first + 8]
    a, b = ready_steps(terms, ready, counts[0]), ready_steps(terms, ready, counts[1])
    c, d = ready_steps(terms, ready, counts[2]), ready_steps(terms, ready, counts[3])
    e, f = ready_steps(terms, ready, counts[4]), ready_steps(terms, ready, counts[5])
    g, h = ready_steps(terms, ready, counts[6]), ready_steps(terms, ready, counts[7])
    a, e = exchanged(a, e, HALF, LOW_HALVES)
    b, f = exchanged(b, f, HALF, LOW_HALVES)
    c, g = exchanged(c, g, HALF, LOW_HALVES)
    d, h = exchanged(d, h, HALF, LOW_HALVES)
    a, c = exchanged(a, c, QUARTER, LOW_QUARTERS)
    b, d = exchanged(b, d, QUARTER, LOW_QUARTERS)
    e, g = exchanged(e, g, QUARTER, LOW_QUARTERS)
    f, h = exchanged(f, h, QUARTER, LOW_QUARTERS)
    a, b = exchanged(a, b, EIGHTH, LOW_EIGHTHS)
    c, d = exchanged(c, d, EIGHTH, LOW_EIGHTHS)
    e, f = exchanged(e, f, EIGHTH, LOW_EIGHTHS)
    g, h = exchanged(g, h, EIGHTH, LOW_EIGHTHS)
    nodes, place = table.eights[row * LEVELS : (row + 1) * LEVELS], first >> 3
    nodes[0, place], nodes[1, place], nodes[2, place], nodes[3, place] = a, b, c, d
    nodes[4, place], nodes[5, place], nodes[6, place], nodes[7, place] = e, f, g, h
    if table.codes.size > 0:
        for i in range(8):
            table.codes[row, first + i] = seen_code(counts[i])


@lean_kernel
def renew_rows(table: ClassTable, criterion: tuple[Terms, Ready], first: int, step: int) -> None:
    """Bring the ready differences and codes of every so many-th row up to date, from the first of them on."""
    for row in range(first, table.stale.shape[0], step):
        if table.stale_rows[row] == 0:
            continue
        table.stale_rows[row] = 0
        stale = table.stale[row]
        for place in range(0, stale.size, 8):
            marks = load_eight(stale, np.uint64(place))
            while marks != ZERO:
                eight = place + first_marked(marks)
                marks &= marks - ONE
                stale[eight] = 0
                renew_eight(table, criterion, row, 8 * eight)


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
        for column in range(cells.shape[1]):
            count = cells[row, column]
            table.short[row, column] = count if count < CUT else CUT
        for column in range(0, cells.shape[1], 8):
            renew_eight(table, criterion, row, column)
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
