"""The cache: words of the text just before are likely to occur again."""

from collections.abc import Sequence

import numpy as np

from classgram.models._kernels.cache import CacheCounters, CacheEvents, recent_frequencies
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Float64Matrix, Int32Array, Int64Array
from classgram.text.vocabulary import BOS, EOS


def _words_before(words: Int32Array) -> Int32Array:
    """Return the context word of every event: the event before, or <s> after a sentence's end."""
    before = np.empty_like(words)
    before[:1] = BOS
    before[1:] = np.where(words[:-1] == EOS, BOS, words[:-1])
    return before


def cache_probabilities(
    history: Int32Array,
    words: Int32Array,
    windows: Sequence[int],
    vocabulary_size: int,
    limits: Int64Array | None = None,
) -> Float64Matrix:
    """Return the probability of each event by each cache, a row an event; -1 where nothing came before.

    ``history`` holds the events before the first of ``words``; the columns are, for each window, the
    words' frequency in it and the frequency after the same context word. ``limits``, without a
    history, gives the first event that each event's caches may look back to.
    """
    # One event more than the windows: it is the context of the first event in them.
    longest = history[max(0, history.size - max(windows, default=0) - 1) :]
    events = np.concatenate([longest, words])
    columns = np.empty((words.size, 2 * len(windows)))
    if limits is None:
        limits = np.zeros(events.size, np.int64)
    streams = CacheEvents(frozen(events), frozen(_words_before(events)), frozen(limits))
    for index, window in enumerate(windows):
        out = np.empty((2, words.size))
        counters = _empty_counters(vocabulary_size, events.size)
        recent_frequencies(streams, longest.size, window, counters, out)
        columns[:, 2 * index : 2 * index + 2] = out.T
    return columns


def _empty_counters(vocabulary_size: int, events: int) -> CacheCounters:
    """Return zeroed counters for a text of so many events."""
    slots = 1 << (2 * events + 1).bit_length()
    by_word = (np.zeros(vocabulary_size, np.int32), np.zeros(vocabulary_size, np.int32))
    return CacheCounters(*by_word, np.zeros(slots, np.int64), np.zeros(slots, np.int32))


def cache_distributions(history: Int32Array, windows: Sequence[int], vocabulary_size: int) -> Float64Matrix:
    """Return the distribution of every cache after a history, a row each; -1 where nothing came before."""
    rows = np.full((2 * len(windows), vocabulary_size), -1.0)
    for index, window in enumerate(windows):
        events = history[max(0, history.size - window) :]
        if events.size == 0:
            continue
        rows[2 * index] = np.bincount(events, minlength=vocabulary_size) / events.size
        rows[2 * index + 1] = rows[2 * index]
        before = _words_before(history)[max(0, history.size - window) :]
        context = BOS if history[-1] == EOS else history[-1]
        after = events[before == context]
        if after.size:
            rows[2 * index + 1] = np.bincount(after, minlength=vocabulary_size) / after.size
    return rows
