"""Events: the sparse matrix of contexts and predicted words that clustering works on."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from classgram.counts._kernels import counting as kernel
from classgram.counts._kernels.contexts import find_elements
from classgram.counts._kernels.suffixes import link_suffixes
from classgram.counts.ngram_counts import Level, NgramCounts, gram_words
from classgram.errors import InputError
from classgram.runtime.compiled import frozen
from classgram.text.sentences import Sentences
from classgram.text.vocabulary import BOS

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class SparseRows(NamedTuple):
    """A sparse matrix of counts by rows.

    Row r has the entries starts[r] to starts[r + 1], sorted by column. starts: int64; columns: int32;
    counts: int32, or int64 where the counts add up to 2**31 or more.
    """

    starts: Int64s
    columns: Int32s
    counts: npt.NDArray[np.int32] | npt.NDArray[np.int64]


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
    def sizes(self) -> tuple[Int64s, Int64s]:
        """How often each word occurred, and each context."""
        return frozen(element_sizes(self.by_column)), frozen(element_sizes(self.by_row))


def element_sizes(rows: SparseRows) -> Int64s:
    """The count of every element, from its row."""
    sizes = np.zeros(rows.starts.size - 1, np.int64)
    seen = np.flatnonzero(np.diff(rows.starts))
    # Rows without entries end where the next one starts, so those between two others are passed over.
    sizes[seen] = np.add.reduceat(rows.counts, rows.starts[seen], dtype=np.int64)
    return sizes


def word_events(counts: NgramCounts) -> Events:
    """The bigrams of a text: contexts are single words, <s> among them."""
    if counts.order < 2:
        raise InputError("classes need counts of order 2 or more; count again with --order 2")
    size = len(counts.vocabulary)
    by_row = seen_rows(counts.levels[1])
    return Events(size, size, by_row, transposed(by_row, size))


def seen_rows(level: Level) -> SparseRows:
    """A level as a sparse matrix, without its n-grams that have no count."""
    starts, words, counts = level
    if counts.size and int(counts.min()) == 0:
        seen = counts > 0
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(seen)])[starts]
        words, counts = words[seen], counts[seen]
    return SparseRows(frozen(starts), frozen(words), narrowed(counts))


def narrowed(counts: Int64s) -> npt.NDArray[np.int32] | npt.NDArray[np.int64]:
    """The same counts, in 32 bits if any sum of them fits."""
    if int(counts.sum()) < 1 << 31:
        return frozen(counts.astype(np.int32))
    return frozen(counts)


def merged_rows(matrix: SparseRows, places: Int32s, row_count: int, column_count: int) -> SparseRows:
    """A matrix whose rows go to the given places; those that go to one are added up."""
    by_column = transposed(matrix, column_count)
    rows = places[by_column.columns]
    columns = np.repeat(np.arange(column_count, dtype=np.int32), np.diff(by_column.starts))
    starts = row_starts(rows, row_count)
    out_columns, out_counts = np.empty_like(columns), np.empty_like(cast(Int32s, by_column.counts))
    places_of_rows = (starts, starts[:-1].copy())
    size = kernel.group_pairs(
        frozen(rows), frozen(columns), by_column.counts, places_of_rows, (out_columns, out_counts)
    )
    return SparseRows(frozen(starts), frozen(out_columns[:size].copy()), frozen(out_counts[:size].copy()))


def transposed(matrix: SparseRows, column_count: int) -> SparseRows:
    """The same matrix by columns."""
    starts = row_starts(matrix.columns, column_count)
    rows, counts = np.empty_like(matrix.columns), np.empty_like(cast(Int32s, matrix.counts))
    kernel.transpose(*matrix, starts[:-1].copy(), (rows, counts))
    return SparseRows(frozen(starts), frozen(rows), frozen(counts))


def row_starts(rows: Int32s, row_count: int) -> Int64s:
    """Where each row starts among entries sorted by row, and where the last one ends."""
    starts = np.zeros(row_count + 1, np.int64)
    kernel.count_words(frozen(rows), starts[1:])
    return np.cumsum(starts, out=starts)


class TrieLevel(NamedTuple):
    """One depth of the tree of contexts, read from the last word backwards.

    The children of node p are starts[p] to starts[p + 1], sorted by word; elements holds a node's
    element, or -1 where the context is only the end of longer ones.
    """

    starts: Int64s
    words: Int32s
    elements: Int32s


@dataclass(frozen=True)
class Contexts:
    """The contexts that are elements: every single word, then the most frequent longer tuples.

    ``tuples`` holds the longer ones, a row each, oldest word first, -1 behind the shorter ones; row k
    is element V + k. A context stands for its longest suffix that is an element.
    """

    vocabulary_size: int
    length: int
    tuples: Int32s

    def __len__(self) -> int:
        return self.vocabulary_size + int(self.tuples.shape[0])

    def describe(self, element: int) -> tuple[int, ...]:
        """The words of an element, oldest first."""
        if element < self.vocabulary_size:
            return (element,)
        row = self.tuples[element - self.vocabulary_size]
        return tuple(int(word) for word in row if word >= 0)

    @cached_property
    def _trie(self) -> tuple[TrieLevel, ...]:
        return build_trie(self)

    def lookup(self, sentences: Sentences) -> Int32s:
        """The element of every event's context, in the order of the sentences' ids."""
        padded, places = padded_ids(sentences, self.length)
        return self._find(padded, places)

    def element(self, context: Sequence[int]) -> int:
        """The element that a context stands for; one shorter than the order is padded with <s>."""
        words = [*([BOS] * self.length), *context][-self.length :]
        return int(self._find(np.array(words, np.int32), np.array([len(words)]))[0])

    def element_of(self, words: Sequence[int]) -> int:
        """The element that the last of these words stand for, without any padding."""
        known = tuple(words)[-self.length :]
        while len(known) > 1 and known not in self._by_words:
            known = known[1:]
        return self._by_words[known] if len(known) > 1 else known[0]

    @cached_property
    def _by_words(self) -> dict[tuple[int, ...], int]:
        size = self.vocabulary_size
        return {self.describe(size + row): size + row for row in range(self.tuples.shape[0])}

    def elements_of(self, contexts: Int32s) -> Int32s:
        """The elements that contexts of full length, a row each, stand for."""
        ends = np.arange(1, contexts.shape[0] + 1, dtype=np.int64) * self.length
        return self._find(np.ascontiguousarray(contexts).reshape(-1), ends)

    def _find(self, ids: Int32s, places: Int64s) -> Int32s:
        starts, words, elements = self._packed
        out = np.empty(places.size, np.int32)
        find_elements(frozen(ids), frozen(places), (starts, words, elements), self.length, out)
        return out

    @cached_property
    def _packed(self) -> tuple[Int64s, Int32s, Int32s]:
        """All depths of the tree in one set of arrays, so that one kernel serves every length."""
        shift = self.vocabulary_size
        nodes = [np.arange(shift, dtype=np.int32)]
        starts: list[Int64s] = []
        words = [np.arange(shift, dtype=np.int32)]
        for level in self._trie:
            starts.append(level.starts[:-1] + shift)
            shift += level.words.size
            nodes.append(level.elements)
            words.append(level.words)
        starts.append(np.full(words[-1].size + 1, shift, np.int64))
        return (
            frozen(np.concatenate(starts)),
            frozen(np.concatenate(words)),
            frozen(np.concatenate(nodes)),
        )


def padded_ids(sentences: Sentences, length: int) -> tuple[Int32s, Int64s]:
    """Ids with ``length`` times <s> before each sentence, and each event's place among them."""
    count = len(sentences)
    of_sentence = np.repeat(np.arange(count), np.diff(sentences.offsets))
    places = np.arange(sentences.tokens) + (of_sentence + 1) * length
    padded = np.full(sentences.tokens + count * length, BOS, np.int32)
    padded[places] = sentences.ids
    return padded, places


def build_trie(contexts: Contexts) -> tuple[TrieLevel, ...]:
    """The tree of the longer contexts, from depth 2 on."""
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
        # Rows are sorted, so equal keys follow each other.
        new = np.ones(keys.shape[0], bool)
        new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        number = np.cumsum(new) - 1
        parents, words = keys[new, 0], keys[new, 1].astype(np.int32)
        elements = np.full(words.size, -1, np.int32)
        whole = lengths[deep] == depth + 1
        elements[number[whole]] = contexts.vocabulary_size + order[deep][whole]
        starts = np.searchsorted(parents, np.arange(size + 1))
        levels.append(TrieLevel(starts.astype(np.int64), words, elements))
        node = np.full(node.size, -1)
        node[deep] = number
        size = words.size
    return tuple(levels)


def joint_events(
    counts: NgramCounts, contexts: int | None = None, order: int | None = None
) -> tuple[Contexts, Events]:
    """The events of joint contexts: whole tuples of order - 1 words.

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
    chosen, tuples = frequent_tuples(levels, contexts, order - 1)
    element = np.arange(size, dtype=np.int32)
    links = element
    for length in range(2, order):
        links = suffixes(levels, length, links)
        shorter = element
        element = shorter[links]
        own = chosen[length] >= 0
        element[own] = size + chosen[length][own]
    made = Contexts(size, order - 1, tuples)
    by_row = merged_rows(seen_rows(levels[order - 1]), element, len(made), size)
    return made, Events(len(made), size, by_row, transposed(by_row, size))


def suffixes(levels: tuple[Level, ...], length: int, links: Int32s) -> Int32s:
    """The suffix of every n-gram of a length, one level down; ``links`` are those of the prefixes."""
    if length == 2:
        return levels[1].words
    level, shorter = levels[length - 1], levels[length - 2]
    out = np.empty(level.words.size, np.int32)
    long, short = level.frozen(), shorter.frozen()
    link_suffixes(long.starts, long.words, frozen(links), short.starts, short.words, out)
    if out.size and out.min() < 0:
        raise InputError("joint contexts need counts without cut-offs; count again without --cutoffs")
    return out


def frequent_tuples(
    levels: tuple[Level, ...], wanted: int | None, longest: int
) -> tuple[dict[int, Int64s], Int32s]:
    """The most frequent contexts of 2 to ``longest`` words.

    Returns, by length, the rank of every n-gram that was chosen (-1 for others), and the words of
    the chosen ones by rank, -1 behind the shorter ones. The order is by falling frequency as a
    context, then by ids.
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
    tuples, places = np.concatenate(rows), np.concatenate(sources)
    order = np.lexsort((*tuples.T[::-1], -places[:, 2]))[:wanted]
    for length in ranks:
        of_length = places[order, 0] == length
        ranks[length][places[order[of_length], 1]] = np.flatnonzero(of_length)
    return ranks, tuples[order]
