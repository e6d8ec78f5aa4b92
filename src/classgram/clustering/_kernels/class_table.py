"""The class table: how often each opposite class occurs with each candidate class.

A row belongs to an opposite class g and holds all candidates c side by side, so that trying every
candidate is a loop over adjacent numbers. Beside the counts stand precomputed differences f(N+n) - f(N)
for some amounts n as 8-bit steps; they propose, and exact values decide. They are renewed before they
are used again: until then what has changed is marked as stale.

Where classes are many and most pairs of them never occur, the cells are sparse and nothing is
precomputed. The two forms are different types to Numba: what is chosen by form is chosen when a kernel
is compiled, and nobody compiles the form that is not used.
"""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np

from classgram.clustering._kernels.criterion import (
    LEVELS,
    NODES,
    KernelCriterion,
    Precomputed,
    Terms,
    log_term,
    pair_gain,
)
from classgram.clustering._kernels.sparse_cells import (
    SparseCells,
    add_to_sparse_cell,
    read_sparse_row,
    sparse_cell,
)
from classgram.runtime.compiled import LEAN, inlined, kernel_part, lean_kernel
from classgram.runtime.compiled.arrays import (
    ByteArray,
    ByteMatrix,
    Float32Matrix,
    Int16Matrix,
    Int32Array,
    Int32Matrix,
    Int64Array,
    Int64Matrix,
    UInt64Matrix,
)
from classgram.runtime.compiled.calling import before_compiling
from classgram.text._kernels.eight_bytes import ONE, ZERO, first_marked, load_eight

SHORT_LIMIT = 255
"""Stands in 8 bits for all counts from here on."""

STALE = 128
"""Marks eight adjacent counts of which some have changed."""

HALF, QUARTER, EIGHTH = np.uint64(32), np.uint64(16), np.uint64(8)
LOW_HALVES = np.uint64(0x00000000FFFFFFFF)
LOW_QUARTERS = np.uint64(0x0000FFFF0000FFFF)
LOW_EIGHTHS = np.uint64(0x00FF00FF00FF00FF)
"""Parts of 64 bits, and masks of the lower ones of each two parts."""

R = TypeVar("R")

Cells = Annotated[Any, Int32Matrix | SparseCells]
"""N(g, c): an array indexed [g, c], or sparse. Kernels are compiled for either."""


class ClassTable(NamedTuple):
    """One orientation of the class table, with the counts of the candidate classes."""

    cells: Cells
    """An array has its rows padded to a whole number of vectors; or SparseCells, and then
    ``short``, ``diagonal``, ``differences``, ``codes`` and what is stale are empty."""
    short: ByteMatrix
    """The same in 8 bits, or SHORT_LIMIT: most counts are small, and a quarter of the memory is more likely
    in the cache."""
    diagonal: Int32Array
    """N(c, c) of tied classes: the diagonal lies far apart in the cells."""
    differences: ByteMatrix
    """Precomputed differences, indexed [g LEVELS + node, c]; one more row of zeros ends the table."""
    eights: UInt64Matrix
    """The same memory, eight columns in one number."""
    codes: Int16Matrix
    """What a pair tells leaving-one-out's counters (see seen_code), indexed [g, c]; one more row of
    zeros ends the table. Empty under maximum likelihood."""
    stale: ByteMatrix
    """STALE, or 0, for every eight counts (indexed [g, c // 8]): whether some have changed since their
    differences and codes were made. Rows are padded to a multiple of eight."""
    stale_rows: ByteArray
    """STALE, or 0, for every row: whether it has such counts."""
    totals: Int64Matrix
    """N(c), indexed [side, c]: one side, or two for tied classes (as predicted, as context)."""
    single_totals: Float32Matrix
    """The same in single precision, which a vector loop can take."""


DenseTable = Annotated[ClassTable, Int32Matrix]
"""A table whose cells are an array."""


class Pairs(NamedTuple):
    """The counts of class pairs (parts of a ClassTable)."""

    cells: Cells
    short: ByteMatrix


class Events(NamedTuple):
    """What each element occurs with: a sparse matrix by rows, and the classes of its columns."""

    starts: Int64Array
    partners: Int32Array
    amounts: Int32Array
    partner_classes: Int32Array


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
def dense_cell(cells: Int32Matrix, row: int, column: int) -> int:
    """Give N(row, column)."""
    return cells[row, column]  # type: ignore[no-any-return]


@kernel_part
def read_dense_row(cells: Int32Matrix, row: int, counts: Int64Array) -> None:
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
    return short if short < SHORT_LIMIT else np.int64(pairs.cells[row, column])  # type: ignore[return-value]


@kernel_part
def sparse_count(pairs: Pairs, row: int, column: int) -> int:
    """Give N(row, column)."""
    return sparse_cell(pairs.cells, row, column)


count_of = by_form(dense_count, sparse_count)
"""Give N(row, column): count_of(pairs, row, column)."""


@kernel_part
def computed_steps(terms: Terms, precomputed: Precomputed, count: int) -> np.uint64:
    """Compute the differences of a large count, a byte for each node, the first lowest."""
    steps = ZERO
    for level in range(LEVELS):
        exact = pair_gain(terms, count, NODES[level])
        step = np.uint64(np.rint((exact - precomputed.lowest[level]) / precomputed.steps[level]))
        steps |= step << np.uint64(8 * level)
    return steps


@inlined
def steps_of(terms: Terms, precomputed: Precomputed, count: int) -> np.uint64:
    """Return the precomputed differences of any count."""
    if count < precomputed.quantised.size:
        return precomputed.quantised[count]  # type: ignore[no-any-return]
    return computed_steps(terms, precomputed, count)


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
    table.short[row, column] = after if after < SHORT_LIMIT else SHORT_LIMIT
    table.stale[row, column >> 3] = STALE
    table.stale_rows[row] = STALE
    return before  # type: ignore[no-any-return]


@inlined
def renew_eight(table: ClassTable, criterion: KernelCriterion, row: int, first: int) -> None:
    """Write the differences and codes of eight adjacent counts.

    The steps come by count and go by node: they are transposed like a matrix, halves, quarters and eighths.
    """
    terms, precomputed = criterion
    counts = table.cells[row, first : first + 8]
    a, b = steps_of(terms, precomputed, counts[0]), steps_of(terms, precomputed, counts[1])
    c, d = steps_of(terms, precomputed, counts[2]), steps_of(terms, precomputed, counts[3])
    e, f = steps_of(terms, precomputed, counts[4]), steps_of(terms, precomputed, counts[5])
    g, h = steps_of(terms, precomputed, counts[6]), steps_of(terms, precomputed, counts[7])
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
def renew_rows(table: DenseTable, criterion: KernelCriterion, first: int, step: int) -> None:
    """Bring differences and codes of every so many-th row up to date, from the first of them on.

    Reads the cells, writes ``eights`` (``differences``), ``codes``, ``stale`` and ``stale_rows``.
    """
    # A range with a step that might be 0 could raise an error, and kernels cannot.
    for number in range((table.stale.shape[0] - first + step - 1) // step):
        row = first + number * step
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
def fill_cells(events: Events, own_classes: Int32Array, cells: Int32Matrix) -> None:
    """Count all events into zeroed cells: rows are partner classes, columns own classes."""
    for element in range(own_classes.size):
        column = own_classes[element]
        for entry in range(events.starts[element], events.starts[element + 1]):
            row = events.partner_classes[events.partners[entry]]
            cells[row, column] += events.amounts[entry]


@lean_kernel
def fill_differences(table: DenseTable, criterion: KernelCriterion) -> None:
    """Write all that a table derives from its cells; reads only these."""
    cells, differences, codes = table.cells, table.differences, table.codes
    for row in range(cells.shape[0]):
        for column in range(cells.shape[1]):
            count = cells[row, column]
            table.short[row, column] = count if count < SHORT_LIMIT else SHORT_LIMIT
        for column in range(0, cells.shape[1], 8):
            renew_eight(table, criterion, row, column)
    differences[cells.shape[0] * LEVELS] = 0
    if codes.size > 0:
        codes[cells.shape[0]] = 0
    for column in range(min(table.diagonal.size, cells.shape[0])):
        table.diagonal[column] = cells[column, column]


@lean_kernel
def sum_pairs(cells: Int32Matrix, terms: Terms) -> tuple[float, int, int]:
    """Return the sum of f over a table, n1 and n+; writes nothing."""
    result = 0.0
    once = 0
    seen = 0
    for row in range(cells.shape[0]):
        for column in range(cells.shape[1]):
            count = cells[row, column]
            if count > 0:
                seen += 1
                once += 1 if count == 1 else 0
                result += log_term(terms.pair_values, terms.pair_shift, count)
    return result, once, seen
