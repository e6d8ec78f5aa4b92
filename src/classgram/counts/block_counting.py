"""The n-grams of a block of ids, counted by threads that share its positions and its words."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from classgram.counts._kernels import counting as kernel
from classgram.counts._kernels.counting import Level
from classgram.counts.ngram_counts import first_level
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Int32Array, Int64Array
from classgram.runtime.threads import ALONE, Span, Threads
from classgram.text.vocabulary import BOS

_TOKENS_PER_TABLE_ENTRY = 4
"""Tokens that a thread must get for each entry of its own tables, so that these take little memory beside
what is counted."""


class _Share(NamedTuple):
    """A span of positions, and how often each word occurs there."""

    span: Span
    words: Int64Array


def count_block(
    ids: Int32Array, carry: int, order: int, size: int, threads: Threads = ALONE
) -> tuple[Level, ...]:
    """Return the levels of a block of ids; its first ``carry`` ids are context from the block before.

    The last of ``ids`` is overwritten: it stands for the <s> before all sentences. The n-grams of an
    order are sorted as (n-gram one shorter that ends just before, word), and their ids are the
    prefixes of the next order.
    """
    total = ids.size - 1
    ids[total] = BOS
    ids = frozen(ids)

    def share_of(span: Span) -> _Share:
        words = np.zeros(size, np.int64)
        kernel.count_words(ids[span[0] : span[1]], words)
        return _Share(span, words)

    shares = threads.map(share_of, threads.shares(carry, total, _TOKENS_PER_TABLE_ENTRY * size))
    levels = [first_level(_sum_words(shares))]
    # Behind a full carry the text goes on: there, a position's n-gram must lie in the block.
    behind = carry == order - 1
    grams = ids
    for current in range(2, order):
        # What ends outside of the block, before it or at the virtual <s>, is a prefix only.
        first = min(carry, current - 1) if behind else 0
        outside = [*range(first, carry), total]
        wider = _widened(shares, ids, outside)
        starts, parents = _sorted_parents(ids, grams, wider, threads)
        level = _counted_level(starts, parents, np.empty_like(parents), levels[-1].words.size, threads)
        grams = _grams_at(ids, wider, starts, parents, level, threads)
        np.subtract.at(level.counts, grams[outside], 1)
        levels.append(level)
    if order > 1:
        starts, parents = _sorted_parents(ids, grams, shares, threads)
        levels.append(_counted_level(starts, parents, parents, levels[-1].words.size, threads))
    return tuple(levels)


def _sum_words(shares: list[_Share]) -> Int64Array:
    """Return how often each word occurs in all shares."""
    words: Int64Array = np.sum([share.words for share in shares], axis=0)
    return words


def _widened(shares: list[_Share], ids: Int32Array, outside: list[int]) -> list[_Share]:
    """Return shares with the positions around them: the last one behind them, any others before."""
    *before, behind = outside
    wider = [_Share(share.span, share.words.copy()) for share in shares]
    np.add.at(wider[0].words, ids[before], 1)
    wider[-1].words[ids[behind]] += 1
    wider[0] = _Share((wider[0].span[0] - len(before), wider[0].span[1]), wider[0].words)
    wider[-1] = _Share((wider[-1].span[0], behind + 1), wider[-1].words)
    return wider


def _first_positions(shares: list[_Share], starts: Int64Array) -> list[tuple[Span, Int64Array]]:
    """Return, for each share, where its first of each word goes among all that are sorted by word."""
    filled = np.cumsum([starts[:-1], *(share.words for share in shares[:-1])], axis=0)
    return [(share.span, fill) for share, fill in zip(shares, filled, strict=True)]


def _sorted_parents(
    ids: Int32Array, grams: Int32Array, shares: list[_Share], threads: Threads
) -> tuple[Int64Array, Int32Array]:
    """Return where each word starts, and, sorted by word, the n-gram just before each position."""
    starts = np.append(np.zeros(1, np.int64), np.cumsum(_sum_words(shares)))
    parents = np.empty(starts[-1], np.int32)
    grams = frozen(grams)

    def sort(share: tuple[Span, Int64Array]) -> None:
        (first, last), fill = share
        kernel.bucket_parents(ids, grams, first, last, fill, parents)

    threads.map(sort, _first_positions(shares, starts))
    return starts, parents


def _counted_level(
    starts: Int64Array, parents: Int32Array, different: Int32Array, parent_count: int, threads: Threads
) -> Level:
    """Return the level of n-grams whose parents are sorted by word.

    ``different`` is written over; it may be ``parents`` itself, where these are not needed any more.
    """
    starts = frozen(starts)
    # Memory that is not used in the end is never touched, and takes no space.
    tallies = kernel.Tallies(np.empty(starts.size - 1, np.int32), different, np.empty(parents.size, np.int32))
    ranges = _word_ranges(starts, threads, _TOKENS_PER_TABLE_ENTRY * parent_count)

    def tally(words: Span) -> Int64Array:
        first, last = words
        kernel.tally_parents(starts, parents, first, last, np.zeros(parent_count, np.int32), tallies)
        begin = starts[first]
        end = begin + tallies.lengths[first:last].sum(dtype=np.int64)
        rows = np.zeros(parent_count, np.int64)
        kernel.count_words(frozen(different[begin:end]), rows)
        return rows

    lengths = threads.map(tally, ranges)
    rows = np.append(np.zeros(1, np.int64), np.cumsum(np.sum(lengths, axis=0)))
    level = Level(rows, np.empty(rows[-1], np.int32), np.empty(rows[-1], np.int64))

    def write(share: tuple[Span, Int64Array]) -> None:
        (first, last), fill = share
        kernel.fill_level(first, last, int(starts[first]), tallies, fill, level)

    # Words come in order: in each row, those of one range come after those of the ranges before it.
    threads.map(write, zip(ranges, np.cumsum([rows[:-1], *lengths[:-1]], axis=0), strict=True))
    return level


def _word_ranges(starts: Int64Array, threads: Threads, least: int) -> list[Span]:
    """Return ranges of words with about as many positions each, one for each thread at most."""
    ends = [last for _, last in threads.shares(0, int(starts[-1]), least)]
    cuts = [0, *np.searchsorted(starts, ends[:-1]).tolist(), starts.size - 1]
    return list(pairwise(cuts))


def _grams_at(
    ids: Int32Array,
    shares: list[_Share],
    starts: Int64Array,
    parents: Int32Array,
    level: Level,
    threads: Threads,
) -> Int32Array:
    """Return the n-gram at every position of the shares, from their parents, which are written over."""
    kernel.parents_to_grams(frozen(starts), level.starts[:-1].copy(), frozen(level.words), parents)
    found = frozen(parents)
    grams = np.empty(ids.size, np.int32)

    def write(share: tuple[Span, Int64Array]) -> None:
        (first, last), fill = share
        kernel.grams_in_text(ids, first, last, fill, found, grams)

    threads.map(write, _first_positions(shares, starts))
    return grams
