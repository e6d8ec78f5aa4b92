"""Kernels of class models: the class context of each event, and p(g2 | g1) by context (section 2).

A context's row holds the classes seen after it; for any other class the context's back-off weight
leads to its parent's row, and from the shortest context to the distribution without context.
"""

from typing import NamedTuple

import numpy as np

from classgram.counts._kernels.suffixes import find
from classgram.runtime.compiled import kernel
from classgram.runtime.compiled.arrays import Float32Array, Float64Array, Int32Array, Int32Matrix, Int64Array


class ClassRows(NamedTuple):
    """Class probabilities by context; logarithms are natural."""

    starts: Int64Array
    """Context c's row is starts[c]:starts[c + 1] of the two arrays below."""
    classes: Int32Array
    """Sorted within a row."""
    log_probabilities: Float32Array
    log_backoffs: Float32Array
    """One a context."""
    parents: Int32Array
    """The next shorter context of each, -1 for none."""
    log_unigrams: Float32Array
    """By class: the distribution without context."""


class ContextTree(NamedTuple):
    """Tuples of context classes, read from the last word backwards.

    Node c < the number of classes is class c just before the event; the children of a node, one word
    further back, are starts[node]:starts[node + 1], sorted by class.
    """

    starts: Int64Array
    classes: Int32Array
    """One a node."""


@kernel
def find_contexts(
    ids: Int32Array, positions: Int64Array, maps: Int32Matrix, tree: ContextTree, nodes: Int32Array
) -> None:
    """Write the node of the longest known class context before each position among padded ids.

    ``maps[m]`` gives a word's class at m + 1 words before the event.
    """
    for index in range(positions.size):
        position = positions[index]
        node = maps[0, ids[position - 1]]
        for back in range(1, maps.shape[0]):
            label = maps[back, ids[position - 1 - back]]
            child = find(tree.classes, tree.starts[node], tree.starts[node + 1], label)
            if child < 0:
                break
            node = child
        nodes[index] = node


@kernel
def score_classes(
    rows: ClassRows, contexts: Int32Array, classes: Int32Array, out: Float64Array, used: Int32Array
) -> None:
    """Write each event's class log-probability and the context, -1 for none, whose row gave it."""
    for event in range(contexts.size):
        context = contexts[event]
        label = classes[event]
        total = 0.0
        while context >= 0:
            entry = find(rows.classes, rows.starts[context], rows.starts[context + 1], label)
            if entry >= 0:
                total += rows.log_probabilities[entry]
                break
            total += rows.log_backoffs[context]
            context = rows.parents[context]
        if context < 0:
            total += rows.log_unigrams[label]
        out[event] = total
        used[event] = context


@kernel
def fill_classes(rows: ClassRows, context: int, probabilities: Float64Array, chain: Int64Array) -> None:
    """Turn the class probabilities without context into those after a context.

    Reads and writes ``probabilities``; ``chain`` is a buffer for the context and all its parents.
    """
    length = 0
    while context >= 0:
        chain[length] = context
        length += 1
        context = rows.parents[context]
    for index in range(length - 1, -1, -1):
        node = chain[index]
        weight = np.exp(np.float64(rows.log_backoffs[node]))
        for label in range(probabilities.size):
            probabilities[label] *= weight
        for entry in range(rows.starts[node], rows.starts[node + 1]):
            probabilities[rows.classes[entry]] = np.exp(np.float64(rows.log_probabilities[entry]))
