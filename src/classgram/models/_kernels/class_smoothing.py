"""Kernels of class models: the class context of each event, and the rows of class probabilities.

A context's row holds the classes seen after it; for any other class the context's back-off weight
leads to its parent's row, and from the last one to the distribution without context.
"""

from typing import NamedTuple

import numpy as np

from classgram.counts._kernels.suffixes import find
from classgram.runtime.compiled import lean_kernel


class ClassRows(NamedTuple):
    """Class probabilities by context, as the kernels see them; logarithms are natural."""

    starts: np.ndarray  # int64[contexts + 1]
    classes: np.ndarray  # int32: sorted within a row
    log_probabilities: np.ndarray  # float32, beside classes
    log_backoffs: np.ndarray  # float32[contexts]
    parents: np.ndarray  # int32[contexts]: the next shorter context, -1 for none
    log_unigrams: np.ndarray  # float32, by class: the distribution without context


class ContextTree(NamedTuple):
    """Tuples of context classes, read from the last word backwards.

    Node c < the number of classes is class c just before; the children of a node, one word further
    back, are starts[node]:starts[node + 1], sorted by class.
    """

    starts: np.ndarray  # int64[nodes + 1]
    classes: np.ndarray  # int32[nodes]


@lean_kernel
def find_contexts(
    ids: np.ndarray, places: np.ndarray, maps: np.ndarray, tree: ContextTree, out: np.ndarray
) -> None:
    """Write the node of the longest known class context before each place among padded ids.

    ``maps[m]`` gives a word's class at m + 1 words before the event.
    """
    for index in range(places.size):
        place = places[index]
        node = maps[0, ids[place - 1]]
        for back in range(1, maps.shape[0]):
            label = maps[back, ids[place - 1 - back]]
            child = find(tree.classes, tree.starts[node], tree.starts[node + 1], label)
            if child < 0:
                break
            node = child
        out[index] = node


@lean_kernel
def score_classes(
    rows: ClassRows, contexts: np.ndarray, classes: np.ndarray, out: np.ndarray, used: np.ndarray
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


@lean_kernel
def fill_classes(rows: ClassRows, context: int, probabilities: np.ndarray, chain: np.ndarray) -> None:
    """Turn the distribution without context into that of a context; ``chain`` has room for its parents."""
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
