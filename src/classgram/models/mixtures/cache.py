"""The cache: what was said just before in the text is likely to be said again."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from classgram.models._kernels.cache import recent_frequencies
from classgram.runtime.compiled import frozen
from classgram.text.vocabulary import BOS, EOS

Floats = npt.NDArray[np.float64]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

WINDOWS = (100, 500, 2000)
"""How many events back the caches look: one cache of words and one of word pairs for each."""


def _words_before(words: Int32s) -> Int32s:
    """The context word of every event: the event before, or <s> after a sentence's end."""
    before = np.empty_like(words)
    before[:1] = BOS
    before[1:] = np.where(words[:-1] == EOS, BOS, words[:-1])
    return before


def cache_probabilities(
    history: Int32s,
    words: Int32s,
    windows: Sequence[int],
    vocabulary_size: int,
    limits: Int64s | None = None,
) -> Floats:
    """The probability of each event by each cache, a row an event; -1 where nothing came before.

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
    streams = (frozen(events), frozen(_words_before(events)), frozen(limits))
    places = 1 << (2 * events.size + 1).bit_length()
    for index, window in enumerate(windows):
        singles = (np.zeros(vocabulary_size, np.int32), np.zeros(vocabulary_size, np.int32))
        table = (np.zeros(places, np.int64), np.zeros(places, np.int32))
        out = np.empty((2, words.size))
        recent_frequencies(streams, (longest.size, window), singles, table, out)
        columns[:, 2 * index : 2 * index + 2] = out.T
    return columns


def cache_distributions(history: Int32s, windows: Sequence[int], vocabulary_size: int) -> Floats:
    """The distribution of every cache after a history, a row each; -1 where nothing came before."""
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
