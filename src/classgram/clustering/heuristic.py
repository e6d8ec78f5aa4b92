"""The paper's heuristic (section 4): only classes with similar neighbours are tried."""

from collections.abc import Sequence

import numpy as np

from classgram.clustering._kernels.heuristic import Candidates, run_heuristic
from classgram.clustering._kernels.side_arrays import MoveRule
from classgram.clustering.search.class_table import class_sums
from classgram.clustering.search.state import State
from classgram.options import SearchOptions
from classgram.runtime.compiled.arrays import Int32Array


def make_neighbour_lists(state: State, options: SearchOptions) -> tuple[Candidates, ...]:
    """Return the lists of each side; none where all classes are tried (exact, or t >= C)."""
    everything = all(side.arrays.candidates <= options.targets for side in state.sides)
    if not options.heuristic or everything:
        return ()
    return tuple(lists_of_side(state, number, options) for number in range(len(state.sides)))


def lists_of_side(state: State, number: int, options: SearchOptions) -> Candidates:
    """Return the lists of one side, all to be made before the first element is visited."""
    side = state.sides[number]
    arrays = side.arrays
    positions = 2 if arrays.tied else 1
    opposite = class_sums(arrays.table.cells, side.width)[1]
    if not arrays.tied and side.mirror.totals.size:
        # The other side's own counts, which stay current when its elements move.
        opposite = side.mirror.totals[0]
    return Candidates(
        lists=np.full((arrays.candidates, positions, options.neighbours), -1, np.int32),
        moves=np.array([options.renew], np.int64),
        targets=np.zeros(options.targets + 2, np.int32),
        marks=np.zeros(side.rows, np.int32),
        ranked=np.zeros(options.neighbours, np.int32),
        ranked_counts=np.zeros(2 * max(options.targets + 2, options.neighbours) + 8, np.int64),
        opposite_totals=opposite,
        renew=options.renew,
    )


def sweep_heuristically(
    state: State, number: int, elements: Int32Array, lists: Sequence[Candidates], rule: MoveRule
) -> int:
    """Move elements of a side one by one, each to the best of the classes selected for it."""
    side, terms = state.sides[number], state.kernel_criterion.terms
    profile = side.buffers().profile
    return int(run_heuristic(side.arrays, side.mirror, terms, profile, elements, lists[number], rule))
