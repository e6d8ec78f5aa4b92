"""What the exchange kernels work on: one side of a clustering problem, and the memory they need."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classgram.clustering._kernels.class_table import ClassTable, Events, Pairs
from classgram.clustering._kernels.sparse_cells import SparseCells

IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
SingleArray = NDArray[np.float32]
Cells = IntArray | SparseCells

ONCE, SEEN, KINDS, NUMBERS = 0, 1, 2, 4
"""Places in the running numbers: n1, n+, and from KINDS on the classes with N > 0 on each side; and how
many numbers these are."""

ROUNDING = 1e-13
"""Gains that differ by less than this share of an element's terms are equal."""

NOISE_VALUES = 1 << 16
"""Different values of noise; rows start anywhere among them."""

IMPOSSIBLE = np.float32(-3e38)
"""The score of a class that the element may not join."""


class Memory(NamedTuple):
    """What is remembered of earlier looks at the elements of a side."""

    rivals: IntArray
    """The classes that came near to being best when all were tried; -1 ends a list."""
    slacks: SingleArray
    """By how much F would fall if the element left for the next best class."""
    due: SingleArray
    """Beside each rival: the element's restlessness and the rival's churn together at which it is worth
    another try (see is_due)."""
    churn: NDArray[np.float64]
    """By which share of its size each class has changed so far, all moves added up."""
    stir: NDArray[np.float64]
    """How many of an element's events have had their other part moved to another class so far."""
    gained: NDArray[np.float64]
    """One number: the gains of all moves."""


class Problem(NamedTuple):
    """One side of a clustering problem: its elements, their classes, and the class table."""

    events: Events
    classes: IntArray
    """The class of each element."""
    sizes: LongArray
    """The count of each element, indexed [element, side]."""
    table: ClassTable
    memory: Memory
    numbers: LongArray
    """Running numbers of the whole partition (see ONCE, SEEN and KINDS)."""
    candidates: int
    """The classes 0 to candidates-1 may be joined; those above are pinned."""
    side: int
    """0 where the elements are predicted words (or words on both sides), 1 for contexts."""
    tied: int
    """0, or for tied classes the number of opposite classes: row g + tied has g as follower."""
    stirred: NDArray[np.float64]
    """The ``stir`` of the elements that these occur with: of tied classes, that of these elements
    themselves; empty where those never move."""


class Slots(NamedTuple):
    """Room for a profile (see Profile)."""

    keys: IntArray
    amounts: IntArray
    weights: IntArray


class Scratch(NamedTuple):
    """Working memory of one thread."""

    slots: Slots
    rows: LongArray
    """Rows to be added, by node (see Ready)."""
    shares: NDArray[np.uint16]
    """What these rows are multiplied by first, in the same order."""
    lengths: LongArray
    """How many rows there are of each node."""
    heavy_rows: LongArray
    """Rows that are added one by one, because there are few of their node."""
    weights: SingleArray
    sums_of_ones: NDArray[np.uint16]
    """Sums of steps of the first node, 0 between uses."""
    sums_of_pairs: NDArray[np.uint16]
    """The same for any other node."""
    scores: SingleArray
    """By candidate, as are ``packed`` to ``total_row``."""
    score_blocks: NDArray[np.float32]
    """The same numbers as rows of a few."""
    tops: SingleArray
    """The highest score of each of these rows."""
    row_values: SingleArray
    """Differences by count, for a row whose amount has none ready."""
    sums: NDArray[np.float64]
    """The scores of a sparse table while they are summed."""
    packed: NDArray[np.int16]
    """Newly seen pairs (times 256) plus the change of the pairs seen once, for each candidate."""
    once: IntArray
    seen: IntArray
    total_row: SingleArray
    """The class term of every candidate for an element of the current size."""
    total_sizes: LongArray
    """The sizes that total_row was made for; -1 where it is stale."""
    rival_scores: SingleArray
    logs: NDArray[np.float64]
    """The global term's logarithm by the number of newly seen pairs."""


class Rule(NamedTuple):
    """When an element moves."""

    threshold: float
    """What a move must gain."""
    margin: float
    """Classes by whose choice F would fall by less than this, times the root of the element's size, are
    its rivals."""
    leeway: float
    """Rivals are tried, too, if they are at most this far from being worth another try."""
    temperature: float
    """Gumbel noise of this strength, times the root of the element's size, is added to F; 0: none."""
    seed: int
    """What the noise depends on, besides the element and the class."""
    noise: SingleArray
    """Gumbel noise: a power of two of values, and then the first ones again."""


class Profile(NamedTuple):
    """What the element at hand occurs with, by opposite class."""

    keys: IntArray
    """The opposite classes."""
    amounts: IntArray
    """How often, in the order of the keys."""
    weights: IntArray
    """How often, by opposite class."""
    length: int
    split: int
    """Keys from here on are followers (tied classes): they come last."""
    own: int
    """The element's class."""
    itself: int
    """How often it follows itself (tied classes)."""
    tied: int


class Classes(NamedTuple):
    """The counts of classes and of pairs of them (parts of a Problem)."""

    pairs: Pairs
    totals: LongArray
    numbers: LongArray
    side: int


class Value(NamedTuple):
    """What an element adds to a class: its terms, and changes of n1 and n+."""

    terms: float
    once: int
    seen: int
