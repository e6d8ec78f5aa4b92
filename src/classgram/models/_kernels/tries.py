"""Kernels over tries of n-grams: links to suffixes, look-up, and scoring.

A trie holds its nodes level by level, so that the children of all nodes, taken in order, are the
next level: node n's children are the nodes ``starts[n]:starts[n + 1]``, sorted by word. Unigram w is
node w; the empty context is the node -1. ``inner`` nodes (all but the last level) have children.
"""

from typing import NamedTuple

import numpy as np

from classgram.counts._kernels.suffixes import find
from classgram.runtime.compiled import lean_kernel


class TrieArrays(NamedTuple):
    """A back-off model's nodes, as the kernels see them."""

    starts: np.ndarray  # int32[inner + 1]: first child of each inner node
    words: np.ndarray  # int32[nodes]: the last word of each n-gram
    suffixes: np.ndarray  # int32[nodes]: the n-gram without its first word; -1 for unigrams
    log_probabilities: np.ndarray  # float32[nodes], natural log
    log_backoffs: np.ndarray  # float32[inner], natural log


@lean_kernel
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


@lean_kernel
def context_of(trie: TrieArrays, node: int) -> int:
    """Return the node as a context: itself, or its suffix where it is of the highest order."""
    if node < trie.log_backoffs.size:
        return node
    return int(trie.suffixes[node])


@lean_kernel
def step(trie: TrieArrays, context: int, word: int) -> tuple[int, float]:
    """Return the context after a word, and the word's log-probability."""
    node, log_backoff = descend(trie, context, word)
    return context_of(trie, node), log_backoff + trie.log_probabilities[node]


@lean_kernel
def fill_distribution(trie: TrieArrays, context: int, probabilities: np.ndarray, chain: np.ndarray) -> None:
    """Turn the unigram distribution into that of a context, from the shortest suffix up.

    ``chain`` is room for the context and all its suffixes.
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
