"""Frequencies of words and of word pairs in a window of the text just before."""

from typing import NamedTuple

import numpy as np

from classgram.runtime.compiled import kernel, part
from classgram.runtime.compiled.arrays import Float64Matrix, Int32Array, Int64Array

_PRIME = np.uint64(0x9E3779B97F4A7C15)


class CacheEvents(NamedTuple):
    """The events of a text, as the caches see them; all arrays have an item an event."""

    words: Int32Array
    contexts: Int32Array
    """The word before each."""
    limits: Int64Array
    """The first event that each may look back to; never falls."""


class CacheCounters(NamedTuple):
    """Zeroed counters of what is in the window, and a zeroed hash table of its word pairs."""

    as_event: Int32Array
    """By word."""
    as_context: Int32Array
    """By word."""
    pair_keys: Int64Array
    """Open addressing: a power of two, at least twice the number of events."""
    pair_counts: Int32Array


@part
def _pair_slot(keys: Int64Array, key: np.int64) -> np.int64:
    """Return the slot of a pair in an open-addressing table, or the empty one where it belongs."""
    mixed = np.uint64(key) * _PRIME
    slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(keys.size - 1))
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & (keys.size - 1)
    return slot


@kernel
def recent_frequencies(
    events: CacheEvents, first: int, window: int, counters: CacheCounters, out: Float64Matrix
) -> None:
    """Write the frequency of every event from ``first`` on among the ``window`` events before it.

    out[0] gets the word's frequency, out[1] that of the word after its context, which is out[0] where
    the context does not occur in the window. Where nothing came before, both are -1.
    """
    words, contexts = events.words, events.contexts
    as_event, as_context = counters.as_event, counters.as_context
    keys, pair_counts = counters.pair_keys, counters.pair_counts
    size = np.int64(as_event.size)
    oldest = np.int64(0)
    for now in range(words.size):
        while oldest < max(events.limits[now], now - window):
            as_event[words[oldest]] -= 1
            as_context[contexts[oldest]] -= 1
            pair_counts[_pair_slot(keys, contexts[oldest] * size + words[oldest] + 1)] -= 1
            oldest += 1
        key = contexts[now] * size + words[now] + 1
        slot = _pair_slot(keys, key)
        if now >= first:
            row = now - first
            out[0, row] = as_event[words[now]] / (now - oldest) if now > oldest else -1.0
            out[1, row] = out[0, row]
            if as_context[contexts[now]] > 0:
                out[1, row] = pair_counts[slot] / as_context[contexts[now]]
        as_event[words[now]] += 1
        as_context[contexts[now]] += 1
        keys[slot] = key
        pair_counts[slot] += 1
