"""The class table: how often each opposite class occurs with each candidate class.

A row belongs to an opposite class g and holds all candidates c side by side, so that trying every
candidate is a loop over adjacent numbers. Beside the counts stand ready differences f(N+n) - f(N)
for n = 1 to LEVELS as 16-bit steps; they propose, and exact values decide.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classgram.kernels import lean_kernel
from classgram.kernels.criterion import LEVELS, SHORT_COUNTS, Ready, Terms, difference

IntArray = NDArray[np.int32]


class ClassTable(NamedTuple):
    """One orientation of the class table, with the counts of the candidate classes."""

    cells: IntArray
    """N(g, c), indexed [g, c]; rows are padded to a whole number of vectors."""
    short: NDArray[np.uint16]
    """The same in 16 bits, cut at SHORT_COUNTS: half the memory to read where that is enough."""
    diagonal: IntArray
    """N(c, c) of tied classes: the diagonal lies far apart in the cells."""
    differences: NDArray[np.int16]
    """Ready differences, indexed [g LEVELS + n - 1, c]; one more row of zeros ends the table."""
    totals: NDArray[np.int64]
    """N(c), indexed [side, c]: one side, or two for tied classes (as predicted, as context)."""
    single_totals: NDArray[np.float32]
    """The same in single precision, which a vector loop can take."""


class Events(NamedTuple):
    """What each element occurs with: a sparse matrix by rows, and the classes of its columns."""

    starts: NDArray[np.int64]
    partners: IntArray
    amounts: IntArray
    partner_classes: IntArray


@lean_kernel
def renew_differences(
    differences: NDArray[np.int16],
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
            exact = difference(terms.pair_values, terms.pair_shift, count, level + 1)
            differences[first + level, column] = np.rint(exact / ready.steps[level])


@lean_kernel
def fill_cells(events: Events, own_classes: IntArray, cells: IntArray) -> None:
    """Count all events into zeroed cells: rows are partner classes, columns own classes."""
    for element in range(own_classes.size):
        column = own_classes[element]
        for entry in range(events.starts[element], events.starts[element + 1]):
            row = events.partner_classes[events.partners[entry]]
            cells[row, column] += events.amounts[entry]


@lean_kernel
def fill_differences(table: ClassTable, terms: Terms, ready: Ready) -> None:
    """Fill what a table derives from its cells."""
    cells = table.cells
    for row in range(cells.shape[0]):
        for column in range(cells.shape[1]):
            count = cells[row, column]
            table.short[row, column] = count if count < SHORT_COUNTS else SHORT_COUNTS
            renew_differences(table.differences, terms, ready, (row, column), count)
    for column in range(min(table.diagonal.size, cells.shape[0])):
        table.diagonal[column] = cells[column, column]


@lean_kernel
def sum_pair_values(cells: IntArray, shift: float) -> tuple[float, int, int]:
    """Give the sum of f over a table, the number of cells seen once and seen at all."""
    result = 0.0
    once = 0
    seen = 0
    for row in range(cells.shape[0]):
        for column in range(cells.shape[1]):
            count = cells[row, column]
            if count > 0:
                seen += 1
                if count == 1:
                    once += 1
                else:
                    result += count * np.log(count - shift)
    return result, once, seen
