"""N-gram counting (N(.) of section 2): counting sorts of the positions of a text."""

from typing import NamedTuple

import numpy as np

from classgram.runtime.compiled import frozen, kernel
from classgram.runtime.compiled.arrays import Int32Array, Int64Array

_EOS = 2


class Level(NamedTuple):
    """The n-grams of one order in compressed rows.

    Those with prefix p are the entries starts[p] to starts[p + 1], sorted by word; an n-gram's id is
    its entry's index.
    """

    starts: Int64Array
    words: Int32Array
    counts: Int64Array

    def frozen(self) -> "Level":
        """Return the same level as kernels take it."""
        return Level(frozen(self.starts), frozen(self.words), frozen(self.counts))


class Tallies(NamedTuple):
    """The prefixes of each word: how many different ones, each of them once, and how often each came."""

    lengths: Int32Array
    parents: Int32Array
    counts: Int32Array


@kernel
def renumber(ids: Int32Array, new_ids: Int32Array, out: Int32Array) -> None:
    """Write the new id of every id; ``out`` may be the ids themselves."""
    for k in range(ids.size):
        out[k] = new_ids[ids[k]]


@kernel
def count_words(ids: Int32Array, counts: Int64Array) -> None:
    """Add to ``counts`` how often each word occurs."""
    for word in ids:
        counts[word] += 1


@kernel
def bucket_parents(
    ids: Int32Array, grams: Int32Array, first: int, last: int, fill: Int64Array, parents: Int32Array
) -> None:
    """Sort positions first to last by word; write to ``parents`` the n-gram that ends just before each.

    The last position of ``ids`` is the virtual <s> that every sentence begins after, itself included.
    ``fill`` holds where each word's first goes, and ends as where its next would go.
    """
    virtual = ids.size - 1
    begin = grams[virtual]
    before = begin
    if first > 0 and ids[first - 1] != _EOS:
        before = grams[first - 1]
    for position in range(first, min(last, virtual)):
        word = ids[position]
        parents[fill[word]] = before
        fill[word] += 1
        before = begin if word == _EOS else grams[position]
    if last > virtual:
        parents[fill[ids[virtual]]] = begin
        fill[ids[virtual]] += 1


@kernel
def tally_parents(
    starts: Int64Array, parents: Int32Array, first: int, last: int, tally: Int32Array, out: Tallies
) -> None:
    """Count the parents of words first to last; those of word w are at starts[w] to starts[w + 1].

    Writes each parent of a word once, in the order of appearance, how often it came, and how many there are
    for each word, from where the first word's parents start, without gaps. ``out.parents`` may be
    ``parents``: nothing is written over before it is read. ``tally`` is zero for every parent, also after.
    """
    lengths, different, counts = out.lengths, out.parents, out.counts
    end = starts[first]
    for word in range(first, last):
        begin = end
        for k in range(starts[word], starts[word + 1]):
            parent = parents[k]
            # Written whether it is new or not, because a branch would often be guessed wrong.
            different[end] = parent
            end += np.int64(tally[parent] == 0)
            tally[parent] += 1
        lengths[word] = end - begin
        for k in range(begin, end):
            counts[k] = tally[different[k]]
            tally[different[k]] = 0


@kernel
def fill_level(first: int, last: int, begin: int, tallies: Tallies, fill: Int64Array, level: Level) -> None:
    """Write the words and counts of a level from the tallies of words first to last, found from ``begin`` on.

    Words come in order, so every row is filled in order. ``fill`` holds where each row's next entry goes.
    """
    for word in range(first, last):
        end = begin + tallies.lengths[word]
        for k in range(begin, end):
            parent = tallies.parents[k]
            entry = fill[parent]
            fill[parent] = entry + 1
            level.words[entry] = word
            level.counts[entry] = tallies.counts[k]
        begin = end


@kernel
def parents_to_grams(starts: Int64Array, fill: Int64Array, words: Int32Array, parents: Int32Array) -> None:
    """Replace the parents of each word by the n-grams of parent and word.

    ``fill`` holds where each parent's row starts: words come in order, so it passes a row's words in order.
    """
    for word in range(starts.size - 1):
        for k in range(starts[word], starts[word + 1]):
            entry = fill[parents[k]]
            if words[entry] != word:
                entry += 1
                fill[parents[k]] = entry
            parents[k] = entry


@kernel
def grams_in_text(
    ids: Int32Array, first: int, last: int, fill: Int64Array, sorted_grams: Int32Array, out: Int32Array
) -> None:
    """Write the n-gram of positions first to last; they come sorted by word, and then by position.

    ``fill`` holds where each word's first is, and ends as where its next would be.
    """
    for position in range(first, last):
        word = ids[position]
        out[position] = sorted_grams[fill[word]]
        fill[word] += 1
