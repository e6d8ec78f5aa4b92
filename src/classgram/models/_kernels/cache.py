"""What was said just before in the text: frequencies of words and word pairs in a window."""

import numpy as np
import numpy.typing as npt

from classgram.runtime.compiled import lean_kernel

Floats = npt.NDArray[np.float64]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

_PRIME = np.uint64(0x9E3779B97F4A7C15)


@lean_kernel
def _pair_place(keys: Int64s, key: np.int64) -> np.int64:
    """The place of a pair in an open-addressing table, or the empty one where it belongs."""
    mixed = np.uint64(key) * _PRIME
    place = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(keys.size - 1))
    while keys[place] != 0 and keys[place] != key:
        place = (place + 1) & (keys.size - 1)
    return place


@lean_kernel
def recent_frequencies(
    events: tuple[Int32s, Int32s, Int64s],
    span: tuple[int, int],
    singles: tuple[Int32s, Int32s],
    pairs: tuple[Int64s, Int32s],
    out: Floats,
) -> None:
    """For events from span[0] on, their frequency among the span[1] events before each.

    ``events`` are the words, the word before each, and the first event that each may look back to,
    which never falls; ``singles`` zeroed counters of words as events and as contexts; ``pairs`` zeroed
    keys and counters of a table with room for every event. out[0] gets the word's frequency, out[1]
    that of the word after its context, which is out[0] where the context does not occur in the
    window. Where nothing came before, both are -1.
    """
    words, befores, limits = events
    first, window = span
    as_event, as_context = singles
    keys, counters = pairs
    size = np.int64(as_event.size)
    oldest = np.int64(0)
    for now in range(words.size):
        while oldest < max(limits[now], now - window):
            as_event[words[oldest]] -= 1
            as_context[befores[oldest]] -= 1
            counters[_pair_place(keys, befores[oldest] * size + words[oldest] + 1)] -= 1
            oldest += 1
        key = befores[now] * size + words[now] + 1
        place = _pair_place(keys, key)
        if now >= first:
            row = now - first
            out[0, row] = as_event[words[now]] / (now - oldest) if now > oldest else -1.0
            out[1, row] = out[0, row]
            if as_context[befores[now]] > 0:
                out[1, row] = counters[place] / as_context[befores[now]]
        as_event[words[now]] += 1
        as_context[befores[now]] += 1
        keys[place] = key
        counters[place] += 1
