"""Elements without counts get their classes last: the search never saw them."""

import numpy as np

from classgram.clustering._kernels.class_table import Events
from classgram.clustering._kernels.placement import PlacementBuffers, PlacementCounts, place_elements
from classgram.clustering.problem import ClusteringProblem
from classgram.clustering.search.state import State, falling_order
from classgram.counts._kernels.counting import Level
from classgram.counts.ngram_counts import NgramCounts
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Int32Array, Int64Array


def place_uncounted(problem: ClusteringProblem, state: State) -> tuple[Int32Array, ...]:
    """Return the classes of all elements: those without counts join others.

    A context that lost all its counts to longer ones goes where its full counts would raise F
    most; an element that never occurred joins the class of the least frequent one that did.
    """
    maps = [np.array(classes) for classes in state.maps]
    for index, classes in enumerate(maps):
        is_contexts = index == 0 and not problem.tied
        if is_contexts and problem.options.shape == "predictive":
            continue
        sizes, free = problem.sizes[index], problem.free[index]
        order = falling_order(sizes, free & (sizes > 0))
        missing = free & (sizes == 0)
        if order.size:
            classes[missing] = classes[order[-1]]
        if is_contexts and problem.contexts is not None:
            _place_contexts(problem, state, classes, np.flatnonzero(missing))
    return tuple(maps)


def _place_contexts(
    problem: ClusteringProblem, state: State, classes: Int32Array, elements: Int64Array
) -> None:
    """Place contexts by the counts they had before longer contexts took them."""
    assert problem.contexts is not None
    followers = [_full_followers(problem, int(element)) for element in elements]
    counted = [i for i, (words, _) in enumerate(followers) if words.size]
    if not counted:
        return
    words = np.concatenate([followers[i][0] for i in counted]).astype(np.int32)
    counts = np.concatenate([followers[i][1] for i in counted]).astype(np.int32)
    starts = np.zeros(len(counted) + 1, np.int64)
    np.cumsum([followers[i][0].size for i in counted], out=starts[1:])
    side = state.sides[1]
    arrays = side.arrays
    candidates = arrays.candidates
    chosen = np.zeros(len(counted), np.int32)
    place_elements(
        Events(frozen(starts), frozen(words), frozen(counts), arrays.events.partner_classes),
        PlacementCounts(arrays.table.cells, arrays.table.totals[0], arrays.pair_numbers),
        state.kernel_criterion.terms,
        chosen,
        PlacementBuffers(
            np.zeros(side.rows, np.int64),
            np.zeros(candidates),
            np.zeros(candidates, np.int64),
            np.zeros(candidates, np.int64),
        ),
    )
    classes[elements[counted]] = chosen


def _full_followers(problem: ClusteringProblem, element: int) -> tuple[Int32Array, Int64Array]:
    """Return the words that followed a context and how often, longer contexts included."""
    assert problem.contexts is not None
    context = problem.contexts.describe(element)
    entry = _find_gram(problem.counts, context)
    level = problem.counts.levels[len(context)]
    if entry < 0:
        return np.empty(0, np.int32), np.empty(0, np.int64)
    row = slice(level.starts[entry], level.starts[entry + 1])
    seen = level.counts[row] > 0
    return level.words[row][seen], level.counts[row][seen]


def _find_gram(counts: NgramCounts, words: tuple[int, ...]) -> int:
    """Return the id of an n-gram, or -1 where it was never seen."""
    entry = words[0]
    for depth, word in enumerate(words[1:], start=1):
        level: Level = counts.levels[depth]
        row = level.words[level.starts[entry] : level.starts[entry + 1]]
        place = int(np.searchsorted(row, word))
        if place == row.size or row[place] != word:
            return -1
        entry = int(level.starts[entry]) + place
    return entry
