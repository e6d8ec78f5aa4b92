"""Kernels that score batches of sentences, with or without a hash index of the trie's n-grams.

Walking from word to word waits for memory at every step. Here each order is looked up for a whole
block of events at once: what is fetched for one event does not depend on the event before, so that
the processor fetches many at a time.
"""

from typing import NamedTuple

import numpy as np

from classgram.counts._kernels.suffixes import find
from classgram.models._kernels.tries import TrieArrays
from classgram.runtime.compiled import kernel, part
from classgram.runtime.compiled.arrays import Float64Array, Int32Array, Int64Array, Int64Matrix

BLOCK = 1024
"""Events looked up at once."""

_EMPTY = 0
"""A free slot of the hash index; unigrams are not in it, so that no entry is 0."""

_LOW_HALF = 0xFFFFFFFF


class Batch(NamedTuple):
    """Sentences to score, and where their scores go."""

    ids: Int32Array
    offsets: Int64Array
    """Sentence i is ids[offsets[i]:offsets[i + 1]]."""
    log_probabilities: Float64Array
    """Written: one an event."""
    nodes: Int32Array
    """Written: the n-gram that gave each event."""


@part
def _hash_of(context: int, word: int) -> np.uint64:
    """Return the hash of an n-gram, given its context's node and its last word."""
    key = np.uint64(context + 1) << np.uint64(32) | np.uint64(word)
    product = key * np.uint64(0x9E3779B97F4A7C15)
    return product ^ (product >> np.uint64(32))


@kernel
def fill_index(trie: TrieArrays, slots: Int64Array) -> None:
    """Write every n-gram of order 2 and up into its slot of zeros: half the hash, and the node."""
    mask = np.int64(slots.size - 1)
    for context in range(trie.log_backoffs.size):
        for node in range(trie.starts[context], trie.starts[context + 1]):
            key = _hash_of(context, trie.words[node])
            at = np.int64(key) & mask
            while slots[at] != _EMPTY:
                at = (at + 1) & mask
            slots[at] = (np.int64(key >> np.uint64(32)) << 32) | node


@part
def _search(
    trie: TrieArrays, contexts: Int64Array, words: Int32Array, found: Int64Array, buffer: Int64Matrix
) -> None:
    """Write the node of each context's child with the word beside it, -1 where there is none.

    ``buffer`` has two rows, each at least as long as ``words``.
    """
    starts, ends = buffer[0], buffer[1]
    for index in range(words.size):
        context = max(contexts[index], 0)
        starts[index] = trie.starts[context]
        ends[index] = trie.starts[context + 1]
    for index in range(words.size):
        found[index] = -1
        if contexts[index] >= 0:
            found[index] = find(trie.words, starts[index], ends[index], words[index])


@part
def _look_up(
    trie: TrieArrays,
    slots: Int64Array,
    contexts: Int64Array,
    words: Int32Array,
    found: Int64Array,
    buffer: Int64Matrix,
) -> None:
    """Do the same as ``_search`` through the hash index."""
    mask = np.int64(slots.size - 1)
    keys, entries = buffer[0], buffer[1]
    for index in range(words.size):
        keys[index] = np.int64(_hash_of(contexts[index], words[index]))
        entries[index] = slots[keys[index] & mask]
    for index in range(words.size):
        at = keys[index] & mask
        half = (keys[index] >> 32) & _LOW_HALF
        entry = entries[index]
        found[index] = -1
        while entry != _EMPTY:
            if (entry >> 32) & _LOW_HALF == half:
                node = entry & _LOW_HALF
                context = contexts[index]
                # Two n-grams may share half a hash: the trie itself decides.
                if (
                    trie.words[node] == words[index]
                    and context >= 0
                    and trie.starts[context] <= node < trie.starts[context + 1]
                ):
                    found[index] = node
                    break
            at = (at + 1) & mask
            entry = slots[at]


@part
def _settle(
    trie: TrieArrays, contexts: Int64Array, found: Int64Array, scores: Float64Array, nodes: Int32Array
) -> None:
    """Overwrite scores and nodes by the longer n-grams found; add the back-off where none was found."""
    for index in range(found.size):
        if found[index] >= 0:
            nodes[index] = found[index]
            scores[index] = trie.log_probabilities[found[index]]
        elif contexts[index] >= 0:
            scores[index] += trie.log_backoffs[contexts[index]]


@kernel
def score_blocks(
    trie: TrieArrays, slots: Int64Array, batch: Batch, first_context: int, buffer: Int64Matrix
) -> None:
    """Write each event's log-probability and the n-gram that gave it, block by block.

    ``slots`` is the hash index, or empty; ``first_context`` is the node at a sentence's start;
    ``buffer`` has a row of BLOCK + 1 numbers for each order of the trie, and two more.
    """
    ids, offsets = batch.ids, batch.offsets
    order = buffer.shape[0] - 2
    # contexts[k - 1][j] is the node of the k words before event j of the block, -1 for none.
    contexts, lookup_buffer = buffer[:order], buffer[order:]
    contexts[:] = -1
    opening = 0
    for begin in range(0, ids.size, BLOCK):
        size = min(BLOCK, ids.size - begin)
        end = begin + size
        words = ids[begin:end]
        scores, nodes = batch.log_probabilities[begin:end], batch.nodes[begin:end]
        first_opening = opening
        for index in range(size):
            contexts[0, index + 1] = words[index]
            nodes[index] = words[index]
            scores[index] = trie.log_probabilities[words[index]]
        for depth in range(1, order):
            opening = first_opening
            while opening < offsets.size - 1 and offsets[opening] < end:
                contexts[depth - 1, offsets[opening] - begin] = first_context if depth == 1 else -1
                opening += 1
            before, found = contexts[depth - 1, :size], contexts[depth, 1 : size + 1]
            if slots.size:
                _look_up(trie, slots, before, words, found, lookup_buffer)
            else:
                _search(trie, before, words, found, lookup_buffer)
            _settle(trie, before, found, scores, nodes)
        for depth in range(order):
            contexts[depth, 0] = contexts[depth, size]
