"""Placing elements that clustering left without counts, by their full counts."""

from typing import NamedTuple

import numpy as np

from classgram.clustering._kernels.class_table import Cells, Events, read_row
from classgram.clustering._kernels.criterion import (
    Terms,
    class_gain,
    global_term,
    pair_gain,
    seen_change,
    seen_part,
)
from classgram.clustering._kernels.side_arrays import N_CLASSES, N_ONCE, N_SEEN
from classgram.runtime.compiled import kernel_part, lean_kernel
from classgram.runtime.compiled.arrays import Float64Array, Int32Array, Int64Array


class PlacementBuffers(NamedTuple):
    """Working memory of a placement."""

    weights: Int64Array
    """How often the element occurs with each opposite class; zero between elements."""
    scores: Float64Array
    """By class, as are the following two; there are as many as may be joined."""
    changes: Int64Array
    """Changes of n+ and n1 in one number (see seen_change)."""
    row: Int64Array
    """One row of the table."""


class PlacementCounts(NamedTuple):
    """The counts of the classes that elements may join."""

    cells: Cells
    totals: Int64Array
    pair_numbers: Int64Array


@kernel_part
def add_weights(events: Events, element: int, weights: Int64Array) -> int:
    """Sum an element's events by opposite class; return their number."""
    size = 0
    for entry in range(events.starts[element], events.starts[element + 1]):
        weights[events.partner_classes[events.partners[entry]]] += events.amounts[entry]
        size += events.amounts[entry]
    return size


@kernel_part
def score_placements(counts: PlacementCounts, terms: Terms, buffers: PlacementBuffers, size: int) -> None:
    """Write what an element of these weights adds to each class but the global term; zero the weights."""
    weights, scores, changes, row = buffers
    for c in range(scores.size):
        scores[c] = -class_gain(terms, counts.totals[c], size)
        changes[c] = 0
    for key in range(weights.size):
        if weights[key] > 0:
            read_row(counts.cells, key, row)
            for c in range(scores.size):
                scores[c] += pair_gain(terms, row[c], weights[key])
                changes[c] += seen_change(row[c], weights[key])
            weights[key] = 0


@lean_kernel
def place_elements(
    events: Events, counts: PlacementCounts, terms: Terms, chosen: Int32Array, buffers: PlacementBuffers
) -> None:
    """Write, for each row of events, the class to which adding its counts would raise F most.

    The elements are contexts; ties go to the lowest class. Only ``chosen`` and the buffers are written.
    """
    scores, changes, numbers = buffers.scores, buffers.changes, counts.pair_numbers
    for element in range(chosen.size):
        size = add_weights(events, element, buffers.weights)
        score_placements(counts, terms, buffers, size)
        best, highest = 0, -np.inf
        for c in range(scores.size):
            seen = seen_part(changes[c])
            contexts = numbers[N_CLASSES + 1] + (1 if counts.totals[c] == 0 else 0)
            once = numbers[N_ONCE] + changes[c] - (seen << 16)
            scores[c] += global_term(terms, once, numbers[N_SEEN] + seen, numbers[N_CLASSES] * contexts)
            if scores[c] > highest:
                best, highest = c, scores[c]
        chosen[element] = best
