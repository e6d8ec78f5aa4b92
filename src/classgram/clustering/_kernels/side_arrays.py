"""What the exchange kernels work on: one side of a clustering problem, and the buffers they need."""

from typing import NamedTuple

import numpy as np

from classgram.clustering._kernels.class_table import ClassTable, Events, Pairs
from classgram.runtime.compiled.arrays import (
    Float32Array,
    Float32Matrix,
    Float64Array,
    Int16Array,
    Int32Array,
    Int32Matrix,
    Int64Array,
    Int64Matrix,
    UInt16Array,
    UInt16Matrix,
)

N_ONCE, N_SEEN, N_CLASSES, PAIR_NUMBERS = 0, 1, 2, 4
"""Indices of the pair numbers: n1 (class pairs seen once), n+ (seen at all), and from N_CLASSES on the
classes with N > 0 of words and of contexts, whose product less n+ is n0; and how many numbers these are."""

ROUNDING = 1e-13
"""Gains that differ by less than this share of an element's terms are equal."""

NOISE_VALUES = 1 << 16
"""Different values of noise; rows start anywhere among them."""

LARGEST_NOISE = 37.0
"""No value of Gumbel noise made from 53 random bits is larger: -log(-log(1 - 2^-53)) = 36.7."""

IMPOSSIBLE = np.float32(-3e38)
"""The score of a class that the element may not join."""


class Memory(NamedTuple):
    """What is remembered of earlier evaluations of the elements of a side."""

    runners_up: Int32Matrix
    """The classes that came near to being best when all were tried; -1 ends a list."""
    margins: Float32Array
    """By how much F would fall if the element left for the next best class."""
    retry_at: Float32Matrix
    """Beside each runner-up: the level of changes at which it is worth retrying (see is_worth_retrying)."""
    turnover: Float64Array
    """By which share of its size each class has changed so far, all moves added up."""
    neighbour_changes: Float64Array
    """How many of an element's events have had their other part moved to another class so far."""
    gained: Float64Array
    """One number: the gains of all moves."""


class SideArrays(NamedTuple):
    """One side of a clustering problem: its elements, their classes, and the class table."""

    events: Events
    classes: Int32Array
    """The class of each element."""
    sizes: Int64Matrix
    """The count of each element, indexed [element, side]."""
    table: ClassTable
    memory: Memory
    pair_numbers: Int64Array
    """Numbers of the whole partition, kept current (see N_ONCE, N_SEEN and N_CLASSES)."""
    candidates: int
    """The classes 0 to candidates-1 may be joined; those above are pinned."""
    side: int
    """0 where the elements are predicted words (or words on both sides), 1 for contexts."""
    tied: int
    """0, or for tied classes the number of opposite classes: row g + tied has g as follower."""
    partner_changes: Float64Array
    """The ``neighbour_changes`` of the elements that these occur with: of tied classes, that of these
    elements themselves; empty where those never move."""


class ProfileBuffers(NamedTuple):
    """Buffers for a profile (see Profile)."""

    keys: Int32Array
    amounts: Int32Array
    weights: Int32Array
    """Zero between elements."""


class RowBuffers(NamedTuple):
    """What the rows of a dense table are collected in, and summed in."""

    rows: Int64Matrix
    """Rows to be added, by node (see Precomputed)."""
    shares: UInt16Matrix
    """What these rows are multiplied by first, in the same order."""
    lengths: Int64Array
    """How many rows there are of each node."""
    single_rows: Int64Array
    """Rows that are added one by one, because there are few of their node."""
    single_weights: Float32Array
    """What these are multiplied by."""
    sums_of_ones: UInt16Array
    """Sums of steps of the first node, by candidate; 0 between uses."""
    sums_of_pairs: UInt16Array
    """The same for any other node."""
    row_values: Float32Array
    """Differences by count, for a row whose amount has none precomputed."""


class ScoreBuffers(NamedTuple):
    """Scores by candidate, and what they are made from."""

    scores: Float32Array
    blocks: Float32Matrix
    """The same memory as rows of a few."""
    tops: Float32Array
    """The highest score of each of these rows."""
    sums: Float64Array
    """The scores of a sparse table while they are summed."""
    class_terms: Float32Array
    """The class term of every candidate for an element of the current size."""
    class_term_sizes: Int64Array
    """The sizes that these were made for; -1 where they are stale."""
    runner_up_scores: Float32Array


class PairCountBuffers(NamedTuple):
    """The numbers of class pairs after each move, by candidate."""

    both: Int16Array
    """Newly seen pairs (times 256) plus the change of the pairs seen once; 0 between uses."""
    once: Int32Array
    """The change of n1."""
    seen: Int32Array
    """The change of n+."""
    logarithms: Float64Array
    """The global term's logarithm by the change of n+."""


class Buffers(NamedTuple):
    """Working memory of one thread."""

    profile: ProfileBuffers
    rows: RowBuffers
    scores: ScoreBuffers
    pair_counts: PairCountBuffers


class MoveRule(NamedTuple):
    """When an element moves."""

    threshold: float
    """What a move must gain."""
    runner_up_margin: float
    """Classes by whose choice F would fall by less than this, times the root of the element's size, are
    its runners-up."""
    retry_slack: float
    """Runners-up are tried, too, if they are at most this far from being worth retrying."""
    temperature: float
    """Gumbel noise of this strength, times the root of the element's size, is added to F; 0: none."""
    seed: int
    """What the noise depends on, besides the element and the class."""
    noise: Float32Array
    """Gumbel noise: a power of two of values, and then the first ones again."""


class Profile(NamedTuple):
    """What the element at hand occurs with, by opposite class."""

    keys: Int32Array
    """The opposite classes."""
    amounts: Int32Array
    """How often, in the order of the keys."""
    weights: Int32Array
    """How often, by opposite class."""
    length: int
    split: int
    """Keys from here on are followers (tied classes): they come last."""
    own: int
    """The element's class."""
    itself: int
    """How often it follows itself (tied classes)."""
    tied: int


class ClassCounts(NamedTuple):
    """The counts of classes and of pairs of them (parts of SideArrays)."""

    pairs: Pairs
    totals: Int64Matrix
    pair_numbers: Int64Array
    side: int


class Value(NamedTuple):
    """What an element adds to a class: its terms, and changes of n1 and n+."""

    terms: float
    once: int
    seen: int
