"""The distributions of Kneser-Ney chains over classes, and over the words of a class."""

from typing import NamedTuple

import numpy as np

from classgram.counts._kernels.suffixes import find
from classgram.runtime.compiled import kernel, part
from classgram.runtime.compiled.arrays import (
    Float32Array,
    Float32Matrix,
    Int32Array,
    Int32Matrix,
    Int64Array,
)

_LOG_2 = np.float32(0.6931471805599453)
_SQRT_2 = np.float32(1.4142135)
_MANTISSA = np.int32(0x7FFFFF)
_ONE_BITS = np.int32(0x3F800000)


class ChainTables(NamedTuple):
    """What was seen in every context: nodes (contexts), entries (classes there), members (words there).

    Contexts are numbered as the paths of a ``ContextTree``; nodes, entries and members go on from one
    path to the next. Only the first paths have members.
    """

    parents: Int32Array
    """By path; -1 for the root."""
    columns: Int32Array
    """By path: the column of its last symbol."""
    child_bases: Int64Array
    """By path: where ``child_starts`` of its parent's nodes begin, less the parent's first node."""
    child_starts: Int32Array
    node_labels: Int32Array
    """The last symbol of each node, sorted among those of one parent."""
    node_counts: Int32Array
    """How often each context occurred."""
    entry_starts: Int32Array
    """By node, and one more."""
    entry_labels: Int32Array
    """The class of each entry, sorted."""
    member_starts: Int32Array
    """By entry of paths with members, and one more."""
    member_labels: Int32Array
    """The word's number in its class."""


class ExpertLevels(NamedTuple):
    """The experts of a factor: each has levels, the root first.

    The back-off weight of node n (or entry, in the word factor) at a level is
    ``backoffs[backoff_bases[level] + n]``; values of entries (members) likewise.
    """

    starts: Int32Array
    """The first level of each expert, and one more."""
    paths: Int32Array
    """By level."""
    backoff_bases: Int64Array
    value_bases: Int64Array
    backoffs: Float32Array
    values: Float32Array


@part
def find_nodes(tables: ChainTables, symbols: Int32Matrix, event: int, nodes: Int32Array) -> None:
    """Write the node of each path's context before an event, -1 where it never occurred."""
    nodes[0] = 0
    for path in range(1, nodes.size):
        parent = nodes[tables.parents[path]]
        node = -1
        if parent >= 0:
            at = tables.child_bases[path] + parent
            symbol = symbols[event, tables.columns[path]]
            node = find(tables.node_labels, tables.child_starts[at], tables.child_starts[at + 1], symbol)
        nodes[path] = node


@part
def find_entries(tables: ChainTables, nodes: Int32Array, label: int, entries: Int32Array) -> None:
    """Write the entry of a class in each node, -1 where it never occurred there."""
    for path in range(entries.size):
        node = nodes[path]
        entry = -1
        if node >= 0:
            entry = find(tables.entry_labels, tables.entry_starts[node], tables.entry_starts[node + 1], label)
        entries[path] = entry


@part
def fill_rows(
    levels: ExpertLevels,
    found: Int32Array,
    starts: Int32Array,
    labels: Int32Array,
    size: int,
    rows: Float32Matrix,
) -> None:
    """Write each expert's distribution over ``size`` outcomes.

    ``found`` holds the node (or entry) of each path, ``starts`` and ``labels`` what was seen there.
    """
    for expert in range(levels.starts.size - 1):
        row = rows[expert]
        row[:size] = np.float32(1.0 / size)
        for level in range(levels.starts[expert], levels.starts[expert + 1]):
            context = found[levels.paths[level]]
            if context < 0:
                break
            backoff = levels.backoffs[levels.backoff_bases[level] + context]
            for outcome in range(size):
                row[outcome] *= backoff
            base = levels.value_bases[level]
            for entry in range(starts[context], starts[context + 1]):
                row[labels[entry]] += levels.values[base + entry]


@part
def natural_log(number: np.float32) -> np.float32:
    """Return the logarithm of a positive number to seven digits, in a form that runs in vectors."""
    bits = np.float32(number).view(np.int32)
    exponent = np.float32((bits >> np.int32(23)) - np.int32(127))
    mantissa = np.int32((bits & _MANTISSA) | _ONE_BITS).view(np.float32)
    large = mantissa > _SQRT_2
    mantissa = mantissa * np.float32(0.5) if large else mantissa
    exponent = exponent + np.float32(1.0) if large else exponent
    x = mantissa - np.float32(1.0)
    y = np.float32(7.0376836292e-2)
    y = y * x + np.float32(-1.1514610310e-1)
    y = y * x + np.float32(1.1676998740e-1)
    y = y * x + np.float32(-1.2420140846e-1)
    y = y * x + np.float32(1.4249322787e-1)
    y = y * x + np.float32(-1.6668057665e-1)
    y = y * x + np.float32(2.0000714765e-1)
    y = y * x + np.float32(-2.4999993993e-1)
    y = y * x + np.float32(3.3333331174e-1)
    square = x * x
    return exponent * _LOG_2 + (x + square * (x * y - np.float32(0.5)))


@part
def log_rows(rows: Float32Matrix, first: int, last: int, size: int, least: np.float32) -> None:
    """Replace probabilities of some rows by their logarithms, those of at least ``least``."""
    for expert in range(first, last):
        row = rows[expert]
        for outcome in range(size):
            row[outcome] = natural_log(max(row[outcome], least))


@kernel
def log_all(numbers: Float32Array, out: Float32Array) -> None:
    """Write the logarithm of each number."""
    for index in range(numbers.size):
        out[index] = natural_log(numbers[index])
