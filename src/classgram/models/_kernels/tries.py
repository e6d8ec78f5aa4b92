"""Kernels over tries of n-grams: look-up, single steps, and whole distributions.

A trie holds its nodes level by level, so that the children of all nodes, taken in order, are the
next level: node n's children are the nodes ``starts[n]:starts[n + 1]``, sorted by word. Unigram w is
node w; the empty context is the node -1. ``inner`` nodes (all but the last level) have children.
"""

from typing import NamedTuple

import numpy as np

from classgram.counts._kernels.suffixes import find
from classgram.runtime.compiled import kernel, part
from classgram.runtime.compiled.arrays import Float32Array, Float64Array, Int32Array, Int64Array


class TrieArrays(NamedTuple):
    """The nodes of a back-off model; logarithms are natural."""

    starts: Int32Array
    """The first child of each inner node, and one past the last child of all."""
    words: Int32Array
    """The last word of each n-gram."""
    suffixes: Int32Array
    """The node of each n-gram without its first word; -1 for unigrams."""
    log_probabilities: Float32Array
    log_backoffs: Float32Array
    """One an inner node."""


@part
def descend(trie: TrieArrays, context: int, word: int) -> tuple[int, float]:
    """Return the longest n-gram of a context's suffixes and a word, and the back-offs on the way."""
    log_backoff = 0.0
    while context >= 0:
        node = find(trie.words, trie.starts[context], trie.starts[context + 1], word)
        if node >= 0:
            return node, log_backoff
        log_backoff += trie.log_backoffs[context]
        context = int(trie.suffixes[context])
    return int(word), log_backoff


@kernel
def context_of(trie: TrieArrays, node: int) -> int:
    """Return the node as a context: itself, or its suffix if it is of the highest order."""
    if node < trie.log_backoffs.size:
        return node
    return int(trie.suffixes[node])


@kernel
def step(trie: TrieArrays, context: int, word: int) -> tuple[int, float]:
    """Return the context after a word, and the word's log-probability."""
    node, log_backoff = descend(trie, context, word)
    return context_of(trie, node), log_backoff + trie.log_probabilities[node]


@kernel
def fill_distribution(trie: TrieArrays, context: int, probabilities: Float64Array, chain: Int64Array) -> None:
    """Turn the unigram probabilities into those after a context, from the shortest suffix up.

    Reads and writes ``probabilities``; ``chain`` is a buffer for the context and all its suffixes.
    """
    length = 0
    while context >= 0:
        chain[length] = context
        length += 1
        context = trie.suffixes[context]
    for index in range(length - 1, -1, -1):
        node = chain[index]
        weight = np.exp(np.float64(trie.log_backoffs[node]))
        for word in range(probabilities.size):
            probabilities[word] *= weight
        for child in range(trie.starts[node], trie.starts[node + 1]):
            probabilities[trie.words[child]] = np.exp(np.float64(trie.log_probabilities[child]))
