"""Events: the sparse matrix of contexts and predicted words that clustering works on (sections 2 and 3)."""

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from classgram.counts._kernels.counting import Level, count_words
from classgram.counts._kernels.sparse_rows import SparseRows as SparseRows
from classgram.counts._kernels.sparse_rows import group_pairs, transpose
from classgram.counts.contexts import Contexts
from classgram.counts.ngram_counts import NgramCounts, gram_words
from classgram.counts.suffixes import link_levels
from classgram.errors import InputError
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Int32Array, Int32Matrix, Int64Array


@dataclass(frozen=True)
class Events:
    """How often each word (column) followed each context (row), by rows and by columns."""

    rows: int
    columns: int
    by_row: SparseRows
    by_column: SparseRows

    @property
    def total(self) -> int:
        """The number of events."""
        return int(self.by_row.counts.sum(dtype=np.int64))

    @cached_property
    def sizes(self) -> tuple[Int64Array, Int64Array]:
        """How often each word occurred, and each context."""
        return frozen(element_sizes(self.by_column)), frozen(element_sizes(self.by_row))


def element_sizes(rows: SparseRows) -> Int64Array:
    """Return the count of every element, from its row."""
    sizes = np.zeros(rows.starts.size - 1, np.int64)
    seen = np.flatnonzero(np.diff(rows.starts))
    # Rows without entries end where the next one starts, so those between two others are skipped.
    sizes[seen] = np.add.reduceat(rows.counts, rows.starts[seen], dtype=np.int64)
    return sizes


def word_events(counts: NgramCounts) -> Events:
    """Return the bigrams of a text: contexts are single words, <s> among them."""
    if counts.order < 2:
        raise InputError("classes need counts of order 2 or more; count again with --order 2")
    size = len(counts.vocabulary)
    by_row = _seen_rows(counts.levels[1])
    return Events(size, size, by_row, _transposed(by_row, size))


def joint_events(
    counts: NgramCounts, contexts: int | None = None, order: int | None = None
) -> tuple[Contexts, Events]:
    """Return the events of joint contexts: whole tuples of order - 1 words.

    Every single word is an element, and of the tuples of 2 to order - 1 words together the
    ``contexts`` most frequent (None: all), ties by ids. The counts of any other tuple are added to
    those of its longest suffix that is an element.
    """
    order = order or counts.order
    if order < 2:
        raise InputError("classes need an order of 2 or more")
    if contexts is not None and contexts < 0:
        raise InputError("--contexts must be 0 or more")
    levels = counts.up_to(order).levels
    size = len(counts.vocabulary)
    chosen, tuples = _frequent_tuples(levels, contexts, order - 1)
    element = np.arange(size, dtype=np.int32)
    for length, links in enumerate(link_levels(levels[: order - 1]), start=2):
        element = element[links]
        own = chosen[length] >= 0
        element[own] = size + chosen[length][own]
    made = Contexts(size, order - 1, tuples)
    by_row = _merged_rows(_seen_rows(levels[order - 1]), element, len(made), size)
    return made, Events(len(made), size, by_row, _transposed(by_row, size))


def _frequent_tuples(
    levels: tuple[Level, ...], wanted: int | None, longest: int
) -> tuple[dict[int, Int64Array], Int32Matrix]:
    """Return the most frequent contexts of 2 to ``longest`` words.

    By length, the rank of every n-gram that was chosen (-1 for others); and the words of the chosen ones by
    rank, -1 behind the shorter ones. The order is by falling frequency as a context, then by ids.
    """
    frequency = {
        length: np.add.reduceat(
            np.append(levels[length].counts, 0), levels[length].starts[:-1], dtype=np.int64
        )
        * (np.diff(levels[length].starts) > 0)
        for length in range(2, longest + 1)
    }
    ranks = {length: np.full(levels[length - 1].words.size, -1) for length in frequency}
    pools = [np.flatnonzero(frequency[length]) for length in frequency]
    found = [frequency[length][pool] for length, pool in zip(frequency, pools, strict=True)]
    every = np.concatenate([*found, np.empty(0, np.int64)])
    if longest < 2 or every.size == 0 or wanted == 0:
        return ranks, np.empty((0, longest), np.int32)
    wanted = every.size if wanted is None else min(wanted, every.size)
    threshold = np.partition(every, every.size - wanted)[every.size - wanted]
    rows, sources = [], []
    for length, pool in zip(frequency, pools, strict=True):
        entries = pool[frequency[length][pool] >= threshold]
        words = np.full((entries.size, longest), -1, np.int32)
        words[:, :length] = gram_words(levels, length)[entries]
        rows.append(words)
        sources.append(np.stack([np.full(entries.size, length), entries, frequency[length][entries]], axis=1))
    tuples, origins = np.concatenate(rows), np.concatenate(sources)
    order = np.lexsort((*tuples.T[::-1], -origins[:, 2]))[:wanted]
    for length in ranks:
        of_length = origins[order, 0] == length
        ranks[length][origins[order[of_length], 1]] = np.flatnonzero(of_length)
    return ranks, tuples[order]


def _seen_rows(level: Level) -> SparseRows:
    """Return a level as a sparse matrix, without its n-grams that have no count."""
    starts, words, counts = level
    if counts.size and int(counts.min()) == 0:
        seen = counts > 0
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(seen)])[starts]
        words, counts = words[seen], counts[seen]
    return SparseRows(frozen(starts), frozen(words), _narrowed(counts))


def _narrowed(counts: Int64Array) -> Int32Array | Int64Array:
    """Return the same counts, in 32 bits if any sum of them fits."""
    if int(counts.sum()) < 1 << 31:
        return frozen(counts.astype(np.int32))
    return frozen(counts)


def _merged_rows(matrix: SparseRows, new_rows: Int32Array, row_count: int, column_count: int) -> SparseRows:
    """Return a matrix whose rows get new numbers; rows of one number are added up."""
    by_column = _transposed(matrix, column_count)
    rows = new_rows[by_column.columns]
    columns = np.repeat(np.arange(column_count, dtype=np.int32), np.diff(by_column.starts))
    starts = _row_starts(rows, row_count)
    out = SparseRows(starts, np.empty_like(columns), np.empty_like(cast(Int32Array, by_column.counts)))
    size = group_pairs(frozen(rows), frozen(columns), by_column.counts, starts[:-1].copy(), out)
    return _frozen_rows(out, int(size))


def _frozen_rows(rows: SparseRows, size: int) -> SparseRows:
    """Return rows as kernels take them, with so many of their entries."""
    starts, columns, counts = rows
    if size < columns.size:
        columns, counts = columns[:size].copy(), counts[:size].copy()
    return SparseRows(frozen(starts), frozen(columns), frozen(cast(Int32Array, counts)))


def _transposed(matrix: SparseRows, column_count: int) -> SparseRows:
    """Return the same matrix by columns."""
    starts = _row_starts(matrix.columns, column_count)
    out = SparseRows(starts, np.empty_like(matrix.columns), np.empty_like(cast(Int32Array, matrix.counts)))
    transpose(matrix, starts[:-1].copy(), out)
    return _frozen_rows(out, out.columns.size)


def _row_starts(rows: Int32Array, row_count: int) -> Int64Array:
    """Return where each row starts among entries sorted by row, and where the last one ends."""
    starts = np.zeros(row_count + 1, np.int64)
    count_words(frozen(rows), starts[1:])
    return np.cumsum(starts, out=starts)
