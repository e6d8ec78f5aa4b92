"""The classes a search starts from: by frequency, in turn, at random, or found earlier (figure 1, line 1)."""

from typing import NamedTuple

import numpy as np

from classgram.classes.class_list import ClassList
from classgram.classes.partition import Partition
from classgram.clustering.criteria import Criterion, choose_criterion
from classgram.clustering.heuristic import make_neighbour_lists
from classgram.clustering.problem import ClusteringProblem, Numbering, class_numbers
from classgram.clustering.search.annealing import annealing_sweeps, gumbel_noise
from classgram.clustering.search.state import State, falling_order, state_from_maps
from classgram.clustering.search.sweep import SearchProgress
from classgram.errors import InputError
from classgram.options import RunOptions, SearchOptions
from classgram.runtime.compiled.arrays import BoolArray, Int32Array, Int64Array
from classgram.text.vocabulary import Vocabulary

STARTS = ("frequency", "round-robin", "random")


class _Elements(NamedTuple):
    """How often the elements of one map occurred, which are free, and from which count on they move."""

    sizes: Int64Array
    free: BoolArray
    least: int


def check_search(search: SearchOptions, run: RunOptions, start: Partition | ClassList | None) -> None:
    """Refuse numbers that make no sense, an engine that is not there, and a start that was not read."""
    if run.engine != "local" or run.address is not None:
        raise InputError("only --engine local works so far, on the threads of this machine")
    for name, number, least in (
        ("--sweeps", search.sweeps, 0),
        ("--annealing", search.annealing, 0),
        ("--temperature", search.temperature, 0),
        ("--batch", search.batch, 1),
        ("--targets", search.targets, 1),
        ("--neighbours", search.neighbours, 1),
        ("--renew", search.renew, 1),
        ("--threads", run.threads, 1),
        ("--seed", search.seed, 0),
    ):
        if number is not None and number < least:
            raise InputError(f"{name} must be {least} or more, not {number}")
    if run.time_limit is not None and run.time_limit < 0:
        raise InputError("--time-limit must be 0 or more seconds")
    if search.start not in STARTS and start is None:
        raise InputError(
            f"{search.start}: --start takes {', '.join(STARTS)}, a class file or a folder; from Python, "
            "pass exchange() what classgram.read_classes or Partition.load gives as start="
        )


def begin_search(
    problem: ClusteringProblem,
    search: SearchOptions,
    classes: int,
    given: Partition | ClassList | None,
) -> tuple[SearchProgress, list[str]]:
    """Return a search at its start, and notes on what had to be repaired there."""
    numbers = class_numbers(problem, classes)
    state, notes = start_state(problem, choose_criterion(problem.options), numbers, search, given)
    return begin_with(problem, search, state), notes


def begin_with(problem: ClusteringProblem, search: SearchOptions, state: State) -> SearchProgress:
    """Return a search that starts from a state."""
    tuning = problem.tuning
    batch = search.batch or tuning.default_batch(max(side.movable.size for side in state.sides))
    noise = np.zeros(1, np.float32)
    if annealing_sweeps(search, tuning):
        noise = gumbel_noise(search.seed, max(side.width for side in state.sides))
    return SearchProgress(problem, search, state, batch, noise, make_neighbour_lists(state, search))


def start_state(
    problem: ClusteringProblem,
    criterion: Criterion,
    numbers: tuple[Numbering, ...],
    search: SearchOptions,
    given: Partition | ClassList | None = None,
) -> tuple[State, list[str]]:
    """Return the state that a search starts in, and notes on what had to be repaired."""
    notes: list[str] = []
    earlier = {} if given is None else given_start(given, problem.counts.vocabulary)
    maps = []
    for index, numbering in enumerate(numbers):
        if problem.options.shape == "predictive" and index == 0:
            maps.append(np.arange(problem.events.rows, dtype=np.int32))
            continue
        found = earlier.get("words" if index == len(numbers) - 1 else "contexts")
        classes = _start_of_map(problem, search, index, numbering.candidates, found)
        if criterion.forbids_single_counts:
            merged = _merge_single(problem, classes, index, numbering.candidates)
            if merged:
                notes.append(f"{merged} classes that occur once were merged with others")
        for number, word in enumerate(problem.pins):
            classes[word] = numbering.candidates + number
        maps.append(classes)
    return state_from_maps(problem, criterion, tuple(maps), numbers), notes


def _start_of_map(
    problem: ClusteringProblem, search: SearchOptions, index: int, candidates: int, found: Int32Array | None
) -> Int32Array:
    """Return the first classes of one map: those found earlier where they fit, or made by a rule."""
    sizes, free = problem.sizes[index], problem.free[index]
    if found is not None and found.size == sizes.size:
        return _fitted_start(found, sizes, free, candidates)
    rule = search.start if search.start in STARTS else "frequency"
    elements = _Elements(sizes, free, problem.move_min_count)
    return _simple_start(rule, elements, candidates, search.seed + index)


def _merge_single(problem: ClusteringProblem, classes: Int32Array, index: int, candidates: int) -> int:
    """Merge the classes of a start that occur once on a side where they count."""
    sizes: tuple[Int64Array, ...] = problem.events.sizes if problem.tied else (problem.sizes[index],)
    return _merge_single_counts(classes, sizes, problem.free[index], candidates)


def _simple_start(kind: str, elements: _Elements, candidates: int, seed: int) -> Int32Array:
    """Return each free element a class from 0 on; all others get 0.

    frequency: the C-1 most frequent elements alone and the rest together, with all those that are too
    rare to be moved; round-robin: in turn by falling frequency; random: each class equally likely.
    """
    sizes, free, least = elements
    order = falling_order(sizes, free)
    classes = np.zeros(sizes.size, np.int32)
    ranks = np.arange(order.size)
    if kind == "frequency":
        # A rare word alone in a class could never leave it.
        classes[order] = np.where(sizes[order] < least, candidates - 1, np.minimum(ranks, candidates - 1))
    elif kind == "round-robin":
        classes[order] = ranks % candidates
    else:
        classes[order] = np.random.default_rng(seed).integers(0, candidates, order.size)
    return classes


def _merge_single_counts(
    classes: Int32Array, sizes: tuple[Int64Array, ...], free: BoolArray, candidates: int
) -> int:
    """Merge classes that occur once, which leaving-one-out cannot value; give how many there were.

    Each is joined with the smallest other class that has some count.
    """
    merged = 0
    for _ in range(candidates):
        totals = [np.bincount(classes[free], of[free], candidates).astype(np.int64) for of in sizes]
        single = np.flatnonzero(np.any([total == 1 for total in totals], axis=0))
        if single.size == 0:
            break
        weight = np.max(totals, axis=0)
        others = np.flatnonzero((weight > 0) & (np.arange(candidates) != single[0]))
        if others.size == 0:
            break
        target = others[np.argmin(weight[others])]
        classes[free & (classes == single[0])] = target
        merged += 1
    return merged


def given_start(given: Partition | ClassList, vocabulary: Vocabulary) -> dict[str, Int32Array]:
    """Return classes found earlier, for words and (from a partition) for contexts.

    Words without a class get -1. The classes of a list are numbered in the order of their first word.
    """
    if isinstance(given, Partition):
        found = {"words": _carried_over(given, vocabulary)}
        same = given.vocabulary.words == vocabulary.words
        if same and not given.tied:
            found["contexts"] = np.array(given.context_map)
        return found
    classes = np.full(len(vocabulary), -1, np.int32)
    numbers: dict[str, int] = {}
    for member in given.members:
        if member.word in vocabulary:
            classes[vocabulary.id(member.word)] = numbers.setdefault(member.name, len(numbers))
    if (classes < 0).all():
        raise InputError(f"{given.source}: none of its words occurs in this text")
    return {"words": classes}


def _carried_over(partition: Partition, vocabulary: Vocabulary) -> Int32Array:
    """Return the classes of the words that both vocabularies hold, -1 for the others."""
    known = partition.vocabulary
    return np.array(
        [partition.words[known.id(word)] if word in known else -1 for word in vocabulary.words],
        np.int32,
    )


def _fitted_start(classes: Int32Array, sizes: Int64Array, free: BoolArray, candidates: int) -> Int32Array:
    """Make given classes fit: numbered from 0 by falling count, the rest all in the last one.

    Where there are more classes than asked for, the rarest are joined in the last one.
    """
    fitted = np.zeros(classes.size, np.int32)
    known = free & (classes >= 0)
    highest = int(classes[known].max()) + 1 if known.any() else 0
    weights = np.bincount(classes[known], sizes[known], highest)
    present = np.flatnonzero(np.bincount(classes[known], minlength=highest))
    # Classes that already have a number of their own keep it, so that a run can be continued.
    if highest <= candidates:
        fitted[known] = classes[known]
    else:
        order = present[np.argsort(-weights[present], kind="stable")]
        renumbered = np.zeros(highest, np.int32)
        renumbered[order] = np.minimum(np.arange(order.size), candidates - 1)
        fitted[known] = renumbered[classes[known]]
    fitted[free & (classes < 0)] = candidates - 1
    return fitted
