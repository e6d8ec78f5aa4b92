"""Placing elements that clustering left without counts, by their full counts."""

import numpy as np
from numpy.typing import NDArray

from classgram.clustering._kernels.class_table import Events, read_row
from classgram.clustering._kernels.criterion import Terms, difference, global_term, seen_change
from classgram.clustering._kernels.side_arrays import KINDS, ONCE, SEEN, Cells
from classgram.runtime.compiled import lean_kernel

FloatArray = NDArray[np.float64]


@lean_kernel
def place_elements(
    events: Events,
    cells: Cells,
    totals: NDArray[np.int64],
    terms: Terms,
    numbers: NDArray[np.int64],
    chosen: NDArray[np.int32],
    scratch: tuple[NDArray[np.int64], FloatArray, NDArray[np.int64], NDArray[np.int64]],
) -> None:
    """Write, for each row of events, the class to which adding its counts would raise F most.

    The classes 0 to scores.size - 1 are tried; ties go to the lowest. Nothing is changed.
    """
    weights, scores, packed, row = scratch
    values, shift = terms.pair_values, terms.pair_shift
    for element in range(chosen.size):
        size = 0
        for entry in range(events.starts[element], events.starts[element + 1]):
            weights[events.partner_classes[events.partners[entry]]] += events.amounts[entry]
            size += events.amounts[entry]
        for c in range(scores.size):
            scores[c] = -difference(terms.total_values, terms.total_shift, totals[c], size)
            packed[c] = 0
        for key in range(weights.size):
            if weights[key] > 0:
                read_row(cells, key, row)
                for c in range(scores.size):
                    scores[c] += difference(values, shift, row[c], weights[key])
                    packed[c] += seen_change(row[c], weights[key])
                weights[key] = 0
        best, highest = 0, -np.inf
        for c in range(scores.size):
            seen = (packed[c] + 32768) >> 16
            kinds = numbers[KINDS + 1] + (1 if totals[c] == 0 else 0)
            scores[c] += global_term(
                terms.discount,
                numbers[ONCE] + packed[c] - (seen << 16),
                numbers[SEEN] + seen,
                numbers[KINDS] * kinds,
            )
            if scores[c] > highest:
                best, highest = c, scores[c]
        chosen[element] = best
