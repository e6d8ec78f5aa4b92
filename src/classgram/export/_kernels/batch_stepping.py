"""Kernels that step through models in many contexts at once, and give rows of probabilities.

A state of a model is a row of integers; these kernels take one column of it, the node of a trie or
the number of a class context, for many states together.
"""

from typing import NamedTuple

import numpy as np

from classgram.counts._kernels.suffixes import find
from classgram.models._kernels.class_smoothing import ClassRows, ContextTree, fill_classes
from classgram.models._kernels.tries import TrieArrays, context_of, descend
from classgram.runtime.compiled import lean_kernel

NO_WORD = -1

FEW_WORDS = 200
"""So few words are looked up one by one, without a row of all words."""


class RowRoom(NamedTuple):
    """Room for the row of one context."""

    row: np.ndarray  # float64: the probability of every symbol
    chain: np.ndarray  # int64: the context and all its suffixes
    weights: np.ndarray  # float64: what is backed off to each of them


@lean_kernel
def step_all(
    trie: TrieArrays, contexts: np.ndarray, words: np.ndarray, after: np.ndarray, logs: np.ndarray
) -> None:
    """Write the context after each word, and the word's log-probability."""
    for index in range(words.size):
        node, log_backoff = descend(trie, contexts[index], words[index])
        after[index] = context_of(trie, node)
        logs[index] = log_backoff + trie.log_probabilities[node]


@lean_kernel
def row_contexts(rows: np.ndarray, maps: np.ndarray, tree: ContextTree, out: np.ndarray) -> None:
    """Write the node of the longest known class context of each row of words, oldest first.

    ``NO_WORD`` stands where a context is shorter; the context of no word at all is -1.
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


@lean_kernel
def fill_row(
    trie: TrieArrays, probabilities: np.ndarray, context: int, unigrams: np.ndarray, room: RowRoom
) -> None:
    """Write the probability of every symbol after a context, from the shortest suffix up.

    ``probabilities`` are those of the nodes, ``unigrams`` those of symbols without context.
    """
    row, chain, weights = room.row, room.chain, room.weights
    length = 0
    weight = 1.0
    while context >= 0:
        chain[length] = context
        weights[length] = weight
        weight *= np.exp(np.float64(trie.log_backoffs[context]))
        length += 1
        context = trie.suffixes[context]
    for symbol in range(row.size):
        row[symbol] = weight * unigrams[symbol]
    for index in range(length - 1, -1, -1):
        node = chain[index]
        for child in range(trie.starts[node], trie.starts[node + 1]):
            # Where words and classes are in turn, only the words, which come first, are asked for.
            if trie.words[child] < row.size:
                row[trie.words[child]] = weights[index] * probabilities[child]


@lean_kernel
def add_word_rows(
    trie: TrieArrays,
    contexts: np.ndarray,
    values: tuple[np.ndarray, np.ndarray],
    wanted: tuple[np.ndarray, np.ndarray],
    sums: tuple[np.ndarray, np.ndarray],
    room: RowRoom,
) -> None:
    """Add each context's weight times the probabilities of the words wanted there.

    ``values`` is (probabilities of the nodes, those of words without context). ``wanted`` is (starts,
    words): context i wants words[starts[i]:starts[i + 1]]. ``sums`` is (the weight of each context, a place
    for each word wanted).
    """
    starts, words = wanted
    probabilities, unigrams = values
    weights, out = sums
    for index in range(contexts.size):
        if starts[index + 1] - starts[index] < FEW_WORDS:
            for place in range(starts[index], starts[index + 1]):
                node, log_backoff = descend(trie, contexts[index], words[place])
                found = unigrams[node] if node < unigrams.size else probabilities[node]
                out[place] += weights[index] * np.exp(log_backoff) * found
            continue
        fill_row(trie, probabilities, contexts[index], unigrams, room)
        for place in range(starts[index], starts[index + 1]):
            out[place] += weights[index] * room.row[words[place]]


@lean_kernel
def add_class_ngram_rows(
    trie: TrieArrays,
    contexts: np.ndarray,
    values: tuple[np.ndarray, np.ndarray],
    members: tuple[np.ndarray, np.ndarray],
    wanted: tuple[np.ndarray, np.ndarray],
    sums: tuple[np.ndarray, np.ndarray],
    room: RowRoom,
) -> None:
    """Do the same for a trie over classes; ``members`` is (class, p(w | class)) of every word."""
    starts, words = wanted
    class_of, shares = members
    probabilities, unigrams = values
    weights, out = sums
    row = room.row
    for index in range(contexts.size):
        fill_row(trie, probabilities, contexts[index], unigrams, room)
        for place in range(starts[index], starts[index + 1]):
            word = words[place]
            out[place] += weights[index] * row[class_of[word]] * shares[word]


@lean_kernel
def add_class_rows(
    rows: ClassRows,
    contexts: np.ndarray,
    members: tuple[np.ndarray, np.ndarray],
    wanted: tuple[np.ndarray, np.ndarray],
    sums: tuple[np.ndarray, np.ndarray],
    room: RowRoom,
) -> None:
    """Do the same for rows of class probabilities."""
    starts, words = wanted
    class_of, shares = members
    weights, out = sums
    row = room.row
    for index in range(contexts.size):
        for label in range(row.size):
            row[label] = np.exp(np.float64(rows.log_unigrams[label]))
        fill_classes(rows, contexts[index], row, room.chain)
        for place in range(starts[index], starts[index + 1]):
            word = words[place]
            out[place] += weights[index] * row[class_of[word]] * shares[word]
