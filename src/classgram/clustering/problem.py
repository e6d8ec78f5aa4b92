"""What is to be clustered: the events, which elements are free, and the state a search starts in."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from classgram.classes.class_list import ClassList
from classgram.classes.partition import Partition
from classgram.clustering.criteria import Criterion
from classgram.clustering.search.class_table import prefers_sparse
from classgram.clustering.search.state import (
    ClassMap,
    Counts,
    Numbering,
    State,
    check_memory,
    separate_state,
    tied_state,
)
from classgram.clustering.start import (
    STARTS,
    Elements,
    fitted_start,
    given_start,
    merge_single_counts,
    simple_start,
)
from classgram.counts.events import Contexts, Events, joint_events, word_events
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.files.folders import fingerprint
from classgram.options import ClusterOptions, SearchOptions

TABLE_BYTES = 1 << 34
"""The largest class table that is made."""


@dataclass(frozen=True)
class Task:
    """The events of a text in the shape that is asked for.

    ``sizes`` and ``free`` have one entry for each map (see Partition): how often each element
    occurred, and whether it may share a class with others.
    """

    counts: NgramCounts = field(repr=False)
    options: ClusterOptions
    events: Events = field(repr=False)
    contexts: Contexts | None
    pins: tuple[int, ...]
    sizes: tuple[Counts, ...] = field(repr=False)
    free: tuple[npt.NDArray[np.bool_], ...] = field(repr=False)

    @property
    def tied(self) -> bool:
        """Whether words have the same classes in every position."""
        return self.options.shape == "tied"

    @property
    def elements(self) -> tuple[int, ...]:
        """How many elements each map can tell apart."""
        return tuple(int((size[free] > 0).sum()) for size, free in zip(self.sizes, self.free, strict=True))

    @property
    def move_min_count(self) -> int:
        """How often an element must have been seen to be moved."""
        given = self.options.move_min_count
        return given if given is not None else (2 if self.options.criterion == "loo" else 1)

    def fingerprint(self) -> str:
        """Give a digest of the events, equal for equal texts and vocabularies."""
        by_row = self.events.by_row
        return fingerprint({"starts": by_row.starts, "columns": by_row.columns, "n": by_row.counts})


def make_task(counts: NgramCounts, options: ClusterOptions) -> Task:
    """Give the task for a text, after checking that the options make sense together."""
    check_options(options)
    contexts = None
    if options.order == 2:
        events = word_events(counts)
    else:
        contexts, events = joint_events(counts, options.contexts, options.order)
    pins = tuple(pinned_word(counts, word) for word in options.pins)
    words, contexts_sizes = events.sizes
    unpinned = np.ones(events.columns, np.bool_)
    unpinned[list(pins)] = False
    free_contexts = np.ones(events.rows, np.bool_)
    free_contexts[list(pins)] = False
    if options.shape == "tied":
        sizes: tuple[Counts, ...] = (np.maximum(words, contexts_sizes),)
        free: tuple[npt.NDArray[np.bool_], ...] = (unpinned,)
    else:
        sizes, free = (contexts_sizes, words), (free_contexts, unpinned)
    task = Task(counts, options, events, contexts, pins, sizes, free)
    if task.elements[-1] == 0:
        raise InputError("the text holds no word that could be clustered; give more text")
    check_movable(task)
    return task


def check_options(options: ClusterOptions) -> None:
    """Refuse options that contradict each other."""
    if options.order < 2:
        raise InputError("--order must be 2 or more")
    if options.shape == "tied" and options.order > 2:
        raise InputError(
            "tied classes are found from bigrams: use --order 2 (models of any order can use "
            "them), or --shape joint"
        )
    if options.shape == "positional" and options.order > 2:
        raise InputError("positional classes of order 3 and more are not supported; use --shape joint")
    if options.context_classes is not None and options.shape in ("tied", "predictive"):
        raise InputError(f"--context-classes has no meaning with --shape {options.shape}")
    for name, number in (
        ("--classes", options.classes),
        ("--context-classes", options.context_classes),
        ("--move-min-count", options.move_min_count),
    ):
        if isinstance(number, int) and number < 1:
            raise InputError(f"{name} must be 1 or more, not {number}")


def pinned_word(counts: NgramCounts, word: str) -> int:
    """Give the id of a word that is pinned."""
    if word not in counts.vocabulary:
        raise InputError(f"the pinned word {word!r} is not in the vocabulary")
    return counts.vocabulary.id(word)


def check_movable(task: Task) -> None:
    """Refuse a task in which nothing could ever move."""
    least = task.move_min_count
    if not (task.sizes[-1][task.free[-1]] >= least).any():
        raise InputError(f"no word was seen {least} times; lower --move-min-count")


def class_numbers(task: Task, classes: int) -> tuple[Numbering, ...]:
    """Give the class numbers of each map for a number of word classes."""
    pinned = len(task.pins)
    check_class_number("--classes", classes, task.elements[-1], "words")
    words = Numbering(classes, pinned)
    if task.tied:
        return (words,)
    if task.options.shape == "predictive":
        return (Numbering(task.events.rows, 0), words)
    asked = task.options.context_classes
    if asked is None:
        asked = min(classes, task.elements[0])
    check_class_number("--context-classes", asked, task.elements[0], "contexts")
    return (Numbering(asked, pinned), words)


def check_class_number(name: str, asked: int, elements: int, kind: str) -> None:
    """Refuse more classes than there are elements."""
    if asked > elements:
        raise InputError(
            f"{name} {asked} asks for more classes than there are {kind} to cluster; "
            f"use {name} {elements} or fewer"
        )


def start_state(
    task: Task,
    criterion: Criterion,
    numbers: tuple[Numbering, ...],
    search: SearchOptions,
    given: Partition | ClassList | None = None,
) -> tuple[State, list[str]]:
    """Give the state that a search starts in, and notes on what had to be mended."""
    notes: list[str] = []
    earlier = {} if given is None else given_start(given, task.counts.vocabulary)
    maps = []
    for index, numbering in enumerate(numbers):
        of_words = index == len(numbers) - 1
        sizes, free = task.sizes[index], task.free[index]
        if task.options.shape == "predictive" and not of_words:
            maps.append(np.arange(task.events.rows, dtype=np.int32))
            continue
        found = earlier.get("words" if of_words else "contexts")
        if found is not None and found.size == sizes.size:
            classes = fitted_start(found, sizes, free, numbering.candidates)
        else:
            kind = search.start if search.start in STARTS else "frequency"
            elements = Elements(sizes, free, task.move_min_count)
            classes = simple_start(kind, elements, numbering.candidates, search.seed + index)
        if criterion.forbids_single_counts:
            merged = mend_start(task, classes, index, numbering.candidates)
            if merged:
                notes.append(f"{merged} classes that occur once were merged with others")
        for number, word in enumerate(task.pins):
            classes[word] = numbering.candidates + number
        maps.append(classes)
    return state_from_maps(task, criterion, tuple(maps), numbers), notes


def mend_start(task: Task, classes: ClassMap, index: int, candidates: int) -> int:
    """Merge the classes of a start that occur once on a side where they count."""
    sizes: tuple[Counts, ...] = task.events.sizes if task.tied else (task.sizes[index],)
    return merge_single_counts(classes, sizes, task.free[index], candidates)


def state_from_maps(
    task: Task, criterion: Criterion, maps: tuple[ClassMap, ...], numbers: tuple[Numbering, ...]
) -> State:
    """Give the state of a search that has reached these classes."""
    least = task.move_min_count
    if task.tied:
        check_memory(2 * numbers[0].total, numbers[0].total, TABLE_BYTES)
        return tied_state(task.events, criterion, maps[0], numbers[0], least)
    moving = None if task.options.shape == "predictive" else least
    pairs, orientations = task.events.by_row.columns.size, 1 if moving is None else 2
    sparse = prefers_sparse(pairs, numbers[0].total, numbers[1].total, orientations)
    return separate_state(
        task.events, criterion, (maps[0], maps[1]), (numbers[0], numbers[1]), (least, moving), sparse
    )
