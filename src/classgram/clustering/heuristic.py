"""The heuristic's data: which classes are worth trying, for each side of a search."""

import numpy as np

from classgram.clustering._kernels.heuristic import Candidates
from classgram.clustering.search.class_table import class_sums
from classgram.clustering.search.state import State
from classgram.options import SearchOptions


def make_candidates(state: State, number: int, options: SearchOptions) -> Candidates:
    """Give the lists of one side, all to be made before the first element is looked at."""
    side = state.sides[number]
    arrays = side.arrays
    parts = 2 if arrays.tied else 1
    opposite = class_sums(arrays.table.cells, side.width)[1]
    if not arrays.tied and side.mirror.totals.size:
        # The other side's own counts, which stay current when its elements move.
        opposite = side.mirror.totals[0]
    return Candidates(
        lists=np.full((arrays.candidates, parts, options.neighbours), -1, np.int32),
        moves=np.array([options.renew], np.int64),
        targets=np.zeros(options.targets + 2, np.int32),
        marks=np.zeros(side.rows, np.int32),
        ranked=np.zeros(options.neighbours, np.int32),
        ranked_counts=np.zeros(2 * max(options.targets + 2, options.neighbours) + 8, np.int64),
        opposite_totals=opposite,
        renew=options.renew,
    )


def selects_all(state: State, options: SearchOptions) -> bool:
    """Say whether so many classes are tried that the heuristic is the exact algorithm."""
    return all(side.arrays.candidates <= options.targets for side in state.sides)
