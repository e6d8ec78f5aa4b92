"""Kernels that step models in many contexts at once, and compute rows of probabilities.

A state of a model is a row of integers; these kernels take one column of it, the node of a trie or
the number of a class context, for many states together.
"""

from typing import NamedTuple

import numpy as np

from classgram.counts._kernels.suffixes import find
from classgram.models._kernels.class_smoothing import ClassRows, ContextTree, fill_classes
from classgram.models._kernels.tries import TrieArrays, context_of, descend
from classgram.runtime.compiled import kernel, part
from classgram.runtime.compiled.arrays import (
    Float32Array,
    Float64Array,
    Int32Array,
    Int32Matrix,
    Int64Array,
)

NO_WORD = -1

_ROW_WORDS = 200
"""From so many words on, the row of all words is filled; fewer are looked up one by one."""


class RowBuffers(NamedTuple):
    """Buffers for the row of one context."""

    row: Float64Array  # the probability of every symbol
    chain: Int64Array  # the context and all its suffixes
    weights: Float64Array  # the weight that is backed off to each of them


class Wanted(NamedTuple):
    """Which words are wanted in each of several contexts: context i wants words[starts[i]:starts[i + 1]]."""

    starts: Int64Array
    words: Int32Array


class NodeValues(NamedTuple):
    """The probabilities of a trie's nodes, and those of symbols without context."""

    probabilities: Float32Array
    unigrams: Float64Array


class Members(NamedTuple):
    """The class of every word, and p(w | class)."""

    class_of: Int32Array
    shares: Float64Array


class WeightedSums(NamedTuple):
    """The weight of each context (read), and a sum for each word wanted (added to)."""

    weights: Float64Array
    out: Float64Array


@kernel
def step_all(
    trie: TrieArrays, contexts: Int32Array, words: Int32Array, after: Int32Array, logs: Float64Array
) -> None:
    """Write the context after each word to ``after``, and the word's log-probability to ``logs``."""
    for index in range(words.size):
        node, log_backoff = descend(trie, contexts[index], words[index])
        after[index] = context_of(trie, node)
        logs[index] = log_backoff + trie.log_probabilities[node]


@kernel
def row_contexts(rows: Int32Matrix, maps: Int32Matrix, tree: ContextTree, out: Int32Array) -> None:
    """Write to ``out`` the node of the longest known class context of each row of words, oldest first.

    Shorter contexts are padded with ``NO_WORD`` in front; the node of an empty context is -1.
    """
    width = rows.shape[1]
    for index in range(rows.shape[0]):
        out[index] = NO_WORD
        word = rows[index, width - 1]
        if word == NO_WORD:
            continue
        node = maps[0, word]
        for back in range(1, maps.shape[0]):
            word = rows[index, width - 1 - back]
            if word == NO_WORD:
                break
            child = find(tree.classes, tree.starts[node], tree.starts[node + 1], maps[back, word])
            if child < 0:
                break
            node = child
        out[index] = node


@part
def _fill_row(trie: TrieArrays, values: NodeValues, context: int, buffers: RowBuffers) -> None:
    """Write the probability of every symbol after a context to ``buffers.row``."""
    row, chain, weights = buffers.row, buffers.chain, buffers.weights
    length = 0
    weight = 1.0
    while context >= 0:
        chain[length] = context
        weights[length] = weight
        weight *= np.exp(np.float64(trie.log_backoffs[context]))
        length += 1
        context = trie.suffixes[context]
    for symbol in range(row.size):
        row[symbol] = weight * values.unigrams[symbol]
    for index in range(length - 1, -1, -1):
        node = chain[index]
        for child in range(trie.starts[node], trie.starts[node + 1]):
            # In interleaved models only the words, which have the first ids, are wanted.
            if trie.words[child] < row.size:
                row[trie.words[child]] = weights[index] * values.probabilities[child]


@kernel
def add_word_rows(
    trie: TrieArrays,
    contexts: Int32Array,
    values: NodeValues,
    wanted: Wanted,
    sums: WeightedSums,
    buffers: RowBuffers,
) -> None:
    """Add to ``sums.out`` each context's weight times the probabilities of the words wanted there."""
    starts, words = wanted
    probabilities, unigrams = values
    weights, out = sums
    for index in range(contexts.size):
        if starts[index + 1] - starts[index] < _ROW_WORDS:
            for entry in range(starts[index], starts[index + 1]):
                node, log_backoff = descend(trie, contexts[index], words[entry])
                found = unigrams[node] if node < unigrams.size else probabilities[node]
                out[entry] += weights[index] * np.exp(log_backoff) * found
            continue
        _fill_row(trie, values, contexts[index], buffers)
        for entry in range(starts[index], starts[index + 1]):
            out[entry] += weights[index] * buffers.row[words[entry]]


@kernel
def add_class_ngram_rows(
    trie: TrieArrays,
    contexts: Int32Array,
    values: NodeValues,
    members: Members,
    wanted: Wanted,
    sums: WeightedSums,
    buffers: RowBuffers,
) -> None:
    """Do the same for a trie over classes."""
    starts, words = wanted
    class_of, shares = members
    weights, out = sums
    row = buffers.row
    for index in range(contexts.size):
        _fill_row(trie, values, contexts[index], buffers)
        for entry in range(starts[index], starts[index + 1]):
            word = words[entry]
            out[entry] += weights[index] * row[class_of[word]] * shares[word]


@kernel
def add_class_rows(
    rows: ClassRows,
    contexts: Int32Array,
    members: Members,
    wanted: Wanted,
    sums: WeightedSums,
    buffers: RowBuffers,
) -> None:
    """Do the same for the class probabilities of a class model."""
    starts, words = wanted
    class_of, shares = members
    weights, out = sums
    row = buffers.row
    for index in range(contexts.size):
        for label in range(row.size):
            row[label] = np.exp(np.float64(rows.log_unigrams[label]))
        fill_classes(rows, contexts[index], row, buffers.chain)
        for entry in range(starts[index], starts[index + 1]):
            word = words[entry]
            out[entry] += weights[index] * row[class_of[word]] * shares[word]
