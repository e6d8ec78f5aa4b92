"""Contexts to elements: a walk down the tree of contexts, last word first."""

import numpy as np
import numpy.typing as npt

from classgram.runtime.compiled import lean_kernel

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


@lean_kernel
def find_elements(
    ids: Int32s, places: Int64s, trie: tuple[Int64s, Int32s, Int32s], length: int, out: Int32s
) -> None:
    """For each place the element of the longest suffix, of up to ``length`` words, before it."""
    starts, words, elements = trie
    for k in range(places.size):
        place = places[k]
        node = np.int64(ids[place - 1])
        best = elements[node]
        for back in range(2, length + 1):
            word = ids[place - back]
            low = starts[node]
            high = starts[node + 1]
            end = high
            while low < high:
                middle = (low + high) >> 1
                if words[middle] < word:
                    low = middle + 1
                else:
                    high = middle
            if low >= end or words[low] != word:
                break
            node = low
            if elements[node] >= 0:
                best = elements[node]
        out[k] = best
