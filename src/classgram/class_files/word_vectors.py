"""Word vectors from classes: the distributions of the classes before and after a word, reduced."""

from collections.abc import Iterator

import numpy as np

from classgram.classes.partition import Partition
from classgram.clustering.class_pairs import count_pairs
from classgram.counts._kernels.sparse_rows import SparseRows
from classgram.counts.events import word_events
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.runtime.compiled.arrays import Float64Matrix, Int64Array

_BLOCK_WORDS = 2048
"""Words whose statistics are in memory at once."""

_CLASS_NEIGHBOURS = 8.0
"""Neighbours of its class that are added to a word's own: a rare word is like its class."""


def word_vectors(partition: Partition, counts: NgramCounts, dimensions: int) -> Float64Matrix:
    """Return a vector for each word: square roots of p(class before, after | word), reduced.

    The reduction is the singular value decomposition of the centred statistics; as many dimensions
    are returned as there are, at most ``dimensions``.
    """
    if dimensions < 1:
        raise InputError(f"--dimensions must be 1 or more, not {dimensions}")
    if partition.order != 2 or not partition.tied:
        raise InputError("word vectors are made from tied classes; cluster with --shape tied")
    statistics = _NeighbourStatistics(partition, counts)
    width = statistics.width
    total, squares = np.zeros(width), np.zeros((width, width))
    for block in statistics.blocks():
        total += block.sum(axis=0)
        squares += block.T @ block
    size = len(partition.vocabulary)
    mean = total / size
    # The right singular vectors of the centred matrix are the eigenvectors of its square.
    _, vectors = np.linalg.eigh(squares - size * np.outer(mean, mean))
    chosen = vectors[:, ::-1][:, : min(dimensions, width)]
    # A direction has no sign of its own: the largest coordinate is made positive, so that bytes repeat.
    signs = np.sign(chosen[np.abs(chosen).argmax(axis=0), np.arange(chosen.shape[1])])
    turned = chosen * np.where(signs == 0, 1.0, signs)
    return np.concatenate([(block - mean) @ turned for block in statistics.blocks()])


class _NeighbourStatistics:
    """The distributions of the classes after and before every word, smoothed by its own class's."""

    def __init__(self, partition: Partition, counts: NgramCounts) -> None:
        pairs = count_pairs(partition, counts)
        self._classes = partition.words
        self._size = partition.class_count
        table = np.zeros((self._size, self._size))
        table[pairs.contexts, pairs.classes] = pairs.counts
        events = word_events(counts)
        self._sides = ((events.by_row, _rows_to_one(table)), (events.by_column, _rows_to_one(table.T)))

    @property
    def width(self) -> int:
        """The number of statistics of a word."""
        return 2 * self._size

    def blocks(self) -> Iterator[Float64Matrix]:
        """Return the statistics of the words in order, a row each, block by block."""
        for first in range(0, self._classes.size, _BLOCK_WORDS):
            words = np.arange(first, min(first + _BLOCK_WORDS, self._classes.size))
            yield np.hstack([self._side(rows, expected, words) for rows, expected in self._sides])

    def _side(self, rows: SparseRows, expected: Float64Matrix, words: Int64Array) -> Float64Matrix:
        first, last = rows.starts[words[0]], rows.starts[words[-1] + 1]
        owners = np.repeat(np.arange(words.size), np.diff(rows.starts[words[0] : words[-1] + 2]))
        keys = owners * self._size + self._classes[rows.columns[first:last]]
        counts = np.bincount(keys, rows.counts[first:last], words.size * self._size)
        joined = counts.reshape(words.size, self._size) + _CLASS_NEIGHBOURS * expected[self._classes[words]]
        return np.sqrt(_rows_to_one(joined))


def _rows_to_one(table: Float64Matrix) -> Float64Matrix:
    """Return the rows divided by their sums; rows of zeros stay."""
    sums = table.sum(axis=1, keepdims=True)
    divided: Float64Matrix = table / np.where(sums > 0, sums, 1.0)
    return divided
