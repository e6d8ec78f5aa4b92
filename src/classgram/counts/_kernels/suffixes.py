"""Links from n-grams to their suffixes, one level down."""

from classgram.runtime.compiled import kernel
from classgram.runtime.compiled.arrays import Int32Array, Int64Array


@kernel
def find(words: Int32Array, start: int, end: int, word: int) -> int:
    """Return the index of a word in a sorted range, or -1.

    A row holds different ids, so that word w is among its first w + 1; and the search has no branch
    that the processor would have to guess.
    """
    size = min(int(end - start), int(word) + 1)
    if size <= 0:
        return -1
    low = int(start)
    while size > 1:
        half = size >> 1
        low += half * int(words[low + half - 1] < word)
        size -= half
    return low if words[low] == word else -1


@kernel
def link_suffixes(
    starts: Int64Array,
    words: Int32Array,
    parent_suffixes: Int32Array,
    lower_starts: Int64Array,
    lower_words: Int32Array,
    suffixes: Int32Array,
) -> None:
    """Write, for each entry of a level, the entry of the level below that is its suffix, or -1.

    ``parent_suffixes`` gives each parent's own suffix, a parent of the level below.
    """
    for parent in range(starts.size - 1):
        start, end = starts[parent], starts[parent + 1]
        if start == end:
            continue
        lower = parent_suffixes[parent]
        if lower < 0:
            suffixes[start:end] = -1
            continue
        for entry in range(start, end):
            suffixes[entry] = find(lower_words, lower_starts[lower], lower_starts[lower + 1], words[entry])
