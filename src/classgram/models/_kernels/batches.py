"""Kernels that score batches of sentences, with or without a hash index of the trie's n-grams.

Walking from word to word waits for memory at every step. Here each order is looked up for a whole
block of events at once: what is fetched for one event does not depend on the event before, so that
the processor fetches many at a time.
"""

import numpy as np

from classgram.counts._kernels.suffixes import find
from classgram.models._kernels.tries import TrieArrays
from classgram.runtime.compiled import lean_kernel

BLOCK = 1024
_EMPTY = 0
_LOW_HALF = 0xFFFFFFFF


@lean_kernel
def _hash_of(context: int, word: int) -> np.uint64:
    """The hash of an n-gram, given its context's node and its last word."""
    key = np.uint64(context + 1) << np.uint64(32) | np.uint64(word)
    product = key * np.uint64(0x9E3779B97F4A7C15)
    return product ^ (product >> np.uint64(32))


@lean_kernel
def fill_index(trie: TrieArrays, slots: np.ndarray) -> None:
    """Put every n-gram of order 2 and up into its slot: half the hash, and the node."""
    mask = np.int64(slots.size - 1)
    for context in range(trie.log_backoffs.size):
        for node in range(trie.starts[context], trie.starts[context + 1]):
            key = _hash_of(context, trie.words[node])
            at = np.int64(key) & mask
            while slots[at] != _EMPTY:
                at = (at + 1) & mask
            slots[at] = (np.int64(key >> np.uint64(32)) << 32) | node


@lean_kernel
def _search(
    trie: TrieArrays, contexts: np.ndarray, words: np.ndarray, found: np.ndarray, room: np.ndarray
) -> None:
    """Write the node of each context's child with the word beside it, -1 where there is none.

    ``room`` is two rows of as many numbers.
    """
    starts, ends = room[0], room[1]
    for index in range(words.size):
        context = max(contexts[index], 0)
        starts[index] = trie.starts[context]
        ends[index] = trie.starts[context + 1]
    for index in range(words.size):
        found[index] = -1
        if contexts[index] >= 0:
            found[index] = find(trie.words, starts[index], ends[index], words[index])


@lean_kernel
def _look_up(
    trie: TrieArrays,
    slots: np.ndarray,
    contexts: np.ndarray,
    words: np.ndarray,
    found: np.ndarray,
    room: np.ndarray,
) -> None:
    """Do the same through the hash index."""
    mask = np.int64(slots.size - 1)
    keys, entries = room[0], room[1]
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
                # Half a hash can deceive; the trie itself decides.
                if (
                    trie.words[node] == words[index]
                    and context >= 0
                    and trie.starts[context] <= node < trie.starts[context + 1]
                ):
                    found[index] = node
                    break
            at = (at + 1) & mask
            entry = slots[at]


@lean_kernel
def _settle(
    trie: TrieArrays, contexts: np.ndarray, found: np.ndarray, scores: np.ndarray, nodes: np.ndarray
) -> None:
    """Take the longer n-grams that were found; where one was not, add its context's back-off."""
    for index in range(found.size):
        if found[index] >= 0:
            nodes[index] = found[index]
            scores[index] = trie.log_probabilities[found[index]]
        elif contexts[index] >= 0:
            scores[index] += trie.log_backoffs[contexts[index]]


@lean_kernel
def score_blocks(
    trie: TrieArrays,
    slots: np.ndarray,
    sentences: tuple[np.ndarray, np.ndarray],
    first: int,
    out: tuple[np.ndarray, np.ndarray],
    room: np.ndarray,
) -> None:
    """Write each event's log-probability and the n-gram that gave it, block by block.

    ``slots`` is the hash index, or empty; ``sentences`` is (ids, offsets); ``first`` is the context at a
    sentence's start; ``out`` is (log-probabilities, nodes); ``room`` is a row of BLOCK + 1 numbers for
    each order, and two more.
    """
    ids, offsets = sentences
    log_probabilities, nodes = out
    order = room.shape[0] - 2
    # contexts[k - 1][j] is the node of the k words before event j of the block, -1 for none.
    contexts, more_room = room[:order], room[order:]
    contexts[:] = -1
    opening = 0
    for begin in range(0, ids.size, BLOCK):
        size = min(BLOCK, ids.size - begin)
        end = begin + size
        words = ids[begin:end]
        first_opening = opening
        for index in range(size):
            contexts[0, index + 1] = words[index]
            nodes[begin + index] = words[index]
            log_probabilities[begin + index] = trie.log_probabilities[words[index]]
        for depth in range(1, order):
            opening = first_opening
            while opening < offsets.size - 1 and offsets[opening] < end:
                contexts[depth - 1, offsets[opening] - begin] = first if depth == 1 else -1
                opening += 1
            before, found = contexts[depth - 1, :size], contexts[depth, 1 : size + 1]
            if slots.size:
                _look_up(trie, slots, before, words, found, more_room)
            else:
                _search(trie, before, words, found, more_room)
            _settle(trie, before, found, log_probabilities[begin:end], nodes[begin:end])
        for depth in range(order):
            contexts[depth, 0] = contexts[depth, size]
