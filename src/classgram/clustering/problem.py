"""What is clustered: the events of a text in one of the paper's shapes, and which elements may move.

Section 3 of the paper extends classes from bigrams to N-grams in three ways: (a) *tied*, one G for every
position; (b) *positional*, one G for each; (c) *joint*, G1 over whole contexts and G2 over words.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from classgram.clustering.tuning import TUNING, SearchTuning
from classgram.counts.contexts import Contexts
from classgram.counts.events import Events, joint_events, word_events
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.files.folders import fingerprint
from classgram.options import ClusterOptions
from classgram.runtime.compiled.arrays import BoolArray, Int64Array


class Numbering(NamedTuple):
    """The class numbers of one side: those that may be joined come first, the pinned ones last."""

    candidates: int
    pinned: int

    @property
    def total(self) -> int:
        """All class numbers."""
        return self.candidates + self.pinned


@dataclass(frozen=True)
class ClusteringProblem:
    """The events of a text in the shape that is asked for.

    ``sizes`` and ``free`` have one entry for each map (see Partition): how often each element
    occurred, and whether it may share a class with others.
    """

    counts: NgramCounts = field(repr=False)
    options: ClusterOptions
    events: Events = field(repr=False)
    contexts: Contexts | None
    pins: tuple[int, ...]
    sizes: tuple[Int64Array, ...] = field(repr=False)
    free: tuple[BoolArray, ...] = field(repr=False)
    tuning: SearchTuning = field(default=TUNING, repr=False)

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
        """Return a digest of the events, equal for equal texts and vocabularies."""
        by_row = self.events.by_row
        return fingerprint({"starts": by_row.starts, "columns": by_row.columns, "n": by_row.counts})


def make_problem(
    counts: NgramCounts, options: ClusterOptions, tuning: SearchTuning = TUNING
) -> ClusteringProblem:
    """Return the problem of a text, after checking that the options make sense together."""
    _check_options(options)
    contexts = None
    if options.order == 2:
        events = word_events(counts)
    else:
        contexts, events = joint_events(counts, options.contexts, options.order)
    pins = tuple(_pinned_word(counts, word) for word in options.pins)
    words, contexts_sizes = events.sizes
    unpinned = np.ones(events.columns, np.bool_)
    unpinned[list(pins)] = False
    free_contexts = np.ones(events.rows, np.bool_)
    free_contexts[list(pins)] = False
    if options.shape == "tied":
        sizes: tuple[Int64Array, ...] = (np.maximum(words, contexts_sizes),)
        free: tuple[BoolArray, ...] = (unpinned,)
    else:
        sizes, free = (contexts_sizes, words), (free_contexts, unpinned)
    problem = ClusteringProblem(counts, options, events, contexts, pins, sizes, free, tuning)
    if problem.elements[-1] == 0:
        raise InputError("the text holds no word that could be clustered; give more text")
    _check_movable(problem)
    return problem


def _check_options(options: ClusterOptions) -> None:
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


def _pinned_word(counts: NgramCounts, word: str) -> int:
    """Return the id of a word that is pinned."""
    if word not in counts.vocabulary:
        raise InputError(f"the pinned word {word!r} is not in the vocabulary")
    return counts.vocabulary.id(word)


def _check_movable(problem: ClusteringProblem) -> None:
    """Refuse a problem in which nothing could ever move."""
    least = problem.move_min_count
    if not (problem.sizes[-1][problem.free[-1]] >= least).any():
        raise InputError(f"no word was seen {least} times; lower --move-min-count")


def class_numbers(problem: ClusteringProblem, classes: int) -> tuple[Numbering, ...]:
    """Return the class numbers of each map for a number of word classes."""
    pinned = len(problem.pins)
    _check_class_number("--classes", classes, problem.elements[-1], "words")
    words = Numbering(classes, pinned)
    if problem.tied:
        return (words,)
    if problem.options.shape == "predictive":
        return (Numbering(problem.events.rows, 0), words)
    asked = problem.options.context_classes
    if asked is None:
        asked = min(classes, problem.elements[0])
    _check_class_number("--context-classes", asked, problem.elements[0], "contexts")
    return (Numbering(asked, pinned), words)


def _check_class_number(name: str, asked: int, elements: int, kind: str) -> None:
    """Refuse more classes than there are elements."""
    if asked > elements:
        raise InputError(
            f"{name} {asked} asks for more classes than there are {kind} to cluster; "
            f"use {name} {elements} or fewer"
        )
