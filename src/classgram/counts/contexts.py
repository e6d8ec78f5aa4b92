"""Joint contexts: which tuples of words are elements, and the element that each context stands for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from classgram.counts._kernels.contexts import ContextTree, find_elements
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Int32Array, Int32Matrix, Int64Array
from classgram.text.sentences import Sentences
from classgram.text.vocabulary import BOS


@dataclass(frozen=True)
class Contexts:
    """The contexts that are elements: every single word, then the most frequent longer tuples.

    ``tuples`` holds the longer ones, a row each, oldest word first, -1 behind the shorter ones; row k
    is element V + k. A context stands for its longest suffix that is an element.
    """

    vocabulary_size: int
    length: int
    tuples: Int32Matrix

    def __len__(self) -> int:
        return self.vocabulary_size + int(self.tuples.shape[0])

    def describe(self, element: int) -> tuple[int, ...]:
        """Return the words of an element, oldest first."""
        if element < self.vocabulary_size:
            return (element,)
        row = self.tuples[element - self.vocabulary_size]
        return tuple(int(word) for word in row if word >= 0)

    def lookup(self, sentences: Sentences) -> Int32Array:
        """Return the element of every event's context, in the order of the sentences' ids."""
        return self._find(*padded_ids(sentences, self.length))

    def element_of(self, words: Sequence[int]) -> int:
        """Return the element that the last of these words stand for, without any padding."""
        known = tuple(words)[-self.length :]
        while len(known) > 1 and known not in self._by_words:
            known = known[1:]
        return self._by_words[known] if len(known) > 1 else known[0]

    @cached_property
    def _by_words(self) -> dict[tuple[int, ...], int]:
        size = self.vocabulary_size
        return {self.describe(size + row): size + row for row in range(self.tuples.shape[0])}

    def elements_of(self, contexts: Int32Matrix) -> Int32Array:
        """Return the elements that contexts of full length, a row each, stand for."""
        ends = np.arange(1, contexts.shape[0] + 1, dtype=np.int64) * self.length
        return self._find(np.ascontiguousarray(contexts).reshape(-1), ends)

    def _find(self, ids: Int32Array, positions: Int64Array) -> Int32Array:
        out = np.empty(positions.size, np.int32)
        find_elements(frozen(ids), frozen(positions), self._tree, self.length, out)
        return out

    @cached_property
    def _tree(self) -> ContextTree:
        """All depths of the tree in one set of arrays, so that one kernel serves every length."""
        shift = self.vocabulary_size
        elements = [np.arange(shift, dtype=np.int32)]
        starts: list[Int64Array] = []
        words = [np.arange(shift, dtype=np.int32)]
        for level in _tree_levels(self):
            starts.append(level.starts[:-1] + shift)
            shift += level.words.size
            elements.append(level.elements)
            words.append(level.words)
        starts.append(np.full(words[-1].size + 1, shift, np.int64))
        return ContextTree(
            frozen(np.concatenate(starts)),
            frozen(np.concatenate(words)),
            frozen(np.concatenate(elements)),
        )


def padded_ids(sentences: Sentences, length: int) -> tuple[Int32Array, Int64Array]:
    """Return ids with ``length`` times <s> before each sentence, and each event's position among them."""
    count = len(sentences)
    of_sentence = np.repeat(np.arange(count), np.diff(sentences.offsets))
    positions = np.arange(sentences.tokens) + (of_sentence + 1) * length
    padded = np.full(sentences.tokens + count * length, BOS, np.int32)
    padded[positions] = sentences.ids
    return padded, positions


def _tree_levels(contexts: Contexts) -> list[ContextTree]:
    """Return the tree of the longer contexts, each depth from 2 on by itself."""
    tuples = contexts.tuples
    lengths = (tuples >= 0).sum(axis=1) if tuples.size else np.zeros(tuples.shape[0], np.int64)
    backwards = np.full(tuples.shape, -1, np.int64)
    for length in np.unique(lengths):
        rows = lengths == length
        backwards[rows, :length] = tuples[rows, :length][:, ::-1]
    order = np.lexsort(backwards.T[::-1]) if tuples.shape[0] else np.empty(0, np.int64)
    backwards, lengths = backwards[order], lengths[order]
    levels = []
    node = backwards[:, 0] if tuples.size else np.empty(0, np.int64)
    size = contexts.vocabulary_size
    for depth in range(1, contexts.length):
        deep = backwards[:, depth] >= 0
        keys = np.stack([node[deep], backwards[deep, depth]], axis=1)
        # Rows are sorted, so equal keys are neighbours.
        new = np.ones(keys.shape[0], bool)
        new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        node_of_row = np.cumsum(new) - 1
        parents, words = keys[new, 0], keys[new, 1].astype(np.int32)
        elements = np.full(words.size, -1, np.int32)
        whole = lengths[deep] == depth + 1
        elements[node_of_row[whole]] = contexts.vocabulary_size + order[deep][whole]
        starts = np.searchsorted(parents, np.arange(size + 1))
        levels.append(ContextTree(starts.astype(np.int64), words, elements))
        node = np.full(node.size, -1)
        node[deep] = node_of_row
        size = words.size
    return levels
