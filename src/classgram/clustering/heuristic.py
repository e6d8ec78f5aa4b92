"""The paper's heuristic (section 4): only classes with similar neighbours are tried."""

from collections.abc import Sequence

import numpy as np

from classgram.clustering._kernels.heuristic import Candidates, run_heuristic
from classgram.clustering._kernels.side_arrays import Rule
from classgram.clustering.search.class_table import class_sums
from classgram.clustering.search.state import State
from classgram.options import SearchOptions
from classgram.runtime.compiled.arrays import Int32Array


def make_neighbour_lists(state: State, options: SearchOptions) -> tuple[Candidates, ...]:
    """Return the lists of each side; none where all classes are tried (exact, or t >= C)."""
    everything = all(side.problem.candidates <= options.targets for side in state.sides)
    if not options.heuristic or everything:
        return ()
    return tuple(lists_of_side(state, number, options) for number in range(len(state.sides)))


def lists_of_side(state: State, number: int, options: SearchOptions) -> Candidates:
    """Return the lists of one side, all to be made before the first element is visited."""
    side = state.sides[number]
    problem = side.problem
    positions = 2 if problem.tied else 1
    opposite = class_sums(problem.table.cells, side.width)[1]
    if not problem.tied and side.mirror.totals.size:
        # The other side's own counts, which stay current when its elements move.
        opposite = side.mirror.totals[0]
    return Candidates(
        lists=np.full((problem.candidates, positions, options.neighbours), -1, np.int32),
        moves=np.array([options.renew], np.int64),
        targets=np.zeros(options.targets + 2, np.int32),
        marks=np.zeros(side.rows, np.int32),
        ranked=np.zeros(options.neighbours, np.int32),
        opposite_totals=opposite,
        renew=options.renew,
    )


def sweep_heuristically(
    state: State, number: int, elements: Int32Array, lists: Sequence[Candidates], rule: Rule
) -> int:
    """Move elements of a side one by one, each to the best of the classes selected for it."""
    side, candidates = state.sides[number], lists[number]
    # Ranked lists take two numbers an entry of the buffer for rows.
    longest = max(candidates.targets.size, candidates.ranked.size)
    buffers = side.scratch()._replace(rows=np.zeros((1, 2 * longest + 8), np.int64))
    criterion = (state.terms, state.ready)
    return int(run_heuristic(side.problem, side.mirror, criterion, buffers, elements, candidates, rule))
