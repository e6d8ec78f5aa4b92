"""N-gram counting: counting sorts of positions, and merges of sorted levels."""

import numpy as np
import numpy.typing as npt

from classgram.kernels import kernel

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Packed = tuple[Int64s, Int64s]


@kernel
def sort_grams(
    ids: Int32s, parents: Int32s, span: tuple[int, int], starts: tuple[Int64s, Int64s], out: Packed
) -> None:
    """Sort the positions of a span by (parent, word), each packed into 64 bits as word and position.

    Two counting sorts, by word and then stably by parent, that read in order and carry along what
    the next step needs. ``starts`` are zeroed, with a place for every word and parent and one more;
    starts[1] ends as the starts of the parents' rows. ``out`` has two rows, the second for scratch.
    """
    first, last = span
    of_word, of_parent = starts
    grams, by_word = out
    for position in range(first, last):
        of_word[ids[position] + 1] += 1
        of_parent[parents[position] + 1] += 1
    for word in range(1, of_word.size):
        of_word[word] += of_word[word - 1]
    for parent in range(1, of_parent.size):
        of_parent[parent] += of_parent[parent - 1]
    for position in range(first, last):
        word = ids[position]
        by_word[of_word[word]] = (np.int64(parents[position]) << 32) | position
        of_word[word] += 1
    fill = of_parent.copy()
    begin = np.int64(0)
    for word in range(of_word.size - 1):
        for k in range(begin, of_word[word]):
            parent = by_word[k] >> 32
            grams[fill[parent]] = (np.int64(word) << 32) | (by_word[k] & 0xFFFFFFFF)
            fill[parent] += 1
        begin = of_word[word]


@kernel
def previous_grams(ids: Int32s, grams: Int32s, end_symbol: int, out: Int32s) -> None:
    """For every position the id of the n-gram that ends just before it.

    The last position of ``ids`` is the virtual <s> that every sentence begins after, itself included.
    """
    virtual = ids.size - 1
    before = grams[virtual]
    for position in range(virtual):
        out[position] = before
        if ids[position] == end_symbol:
            before = grams[virtual]
        else:
            before = grams[position]
    out[virtual] = grams[virtual]


@kernel
def count_grams(starts: Int64s, packed: Int64s) -> int:
    """How many different words the rows of packed (word, position) pairs hold, row by row."""
    size = 0
    for row in range(starts.size - 1):
        last = np.int64(-1)
        for k in range(starts[row], starts[row + 1]):
            word = packed[k] >> 32
            if word != last:
                size += 1
                last = word
    return size


@kernel
def fill_level(
    packed: Int64s,
    rows: Int64s,
    counted: tuple[int, int],
    level: tuple[Int64s, Int32s, Int64s],
    grams: Int32s,
) -> None:
    """Write a level from rows of packed (word, position) pairs, and each position's n-gram.

    Only positions within ``counted`` add to the counts. ``grams`` is left alone if it is empty.
    """
    starts, words, counts = level
    first, last = counted
    size = np.int64(0)
    for row in range(rows.size - 1):
        seen = np.int64(-1)
        for k in range(rows[row], rows[row + 1]):
            word = packed[k] >> 32
            position = packed[k] & 0xFFFFFFFF
            if word != seen:
                words[size] = word
                counts[size] = 0
                size += 1
                seen = word
            if position >= first and position < last:
                counts[size - 1] += 1
            if grams.size > 0:
                grams[position] = size - 1
        starts[row + 1] = size


@kernel
def merge_level(
    one: tuple[Int64s, Int32s, Int64s],
    two: tuple[Int64s, Int32s, Int64s],
    parents: tuple[Int64s, Int64s],
    level: tuple[Int64s, Int32s, Int64s],
    maps: tuple[Int64s, Int64s],
) -> int:
    """Merge two levels whose prefixes have the given places among the merged prefixes.

    Writes the merged level and, for each input, the place of its n-grams in the merged one; returns
    the number of merged n-grams.
    """
    a_starts, a_words, a_counts = one
    b_starts, b_words, b_counts = two
    starts, words, counts = level
    a_map, b_map = maps
    size = 0
    i = 0
    j = 0
    for parent in range(starts.size - 1):
        x = np.int64(0)
        x_end = np.int64(0)
        if i < parents[0].size and parents[0][i] == parent:
            x = a_starts[i]
            x_end = a_starts[i + 1]
            i += 1
        y = np.int64(0)
        y_end = np.int64(0)
        if j < parents[1].size and parents[1][j] == parent:
            y = b_starts[j]
            y_end = b_starts[j + 1]
            j += 1
        while x < x_end or y < y_end:
            take_x = x < x_end and (y >= y_end or a_words[x] <= b_words[y])
            take_y = y < y_end and (x >= x_end or b_words[y] <= a_words[x])
            counts[size] = 0
            if take_x:
                words[size] = a_words[x]
                counts[size] += a_counts[x]
                a_map[x] = size
                x += 1
            if take_y:
                words[size] = b_words[y]
                counts[size] += b_counts[y]
                b_map[y] = size
                y += 1
            size += 1
        starts[parent + 1] = size
    return size


@kernel
def group_pairs(
    rows: Int32s,
    columns: Int32s,
    counts: Int64s,
    starts: Int64s,
    out: tuple[Int32s, Int64s],
) -> np.int64:
    """Group (row, column, count) triples by row and add up equal pairs; columns must come sorted.

    Triples must be sorted by column; ``starts`` has a place for every row and one more, zeroed, and
    ends as the starts of the grouped rows. Returns the number of pairs.
    """
    out_columns, out_counts = out
    for row in rows:
        starts[row + 1] += 1
    for row in range(1, starts.size):
        starts[row] += starts[row - 1]
    fill = starts[:-1].copy()
    for k in range(rows.size):
        row = rows[k]
        at = fill[row]
        if at > starts[row] and out_columns[at - 1] == columns[k]:
            out_counts[at - 1] += counts[k]
        else:
            out_columns[at] = columns[k]
            out_counts[at] = counts[k]
            fill[row] = at + 1
    size = np.int64(0)
    begin = np.int64(0)
    for row in range(starts.size - 1):
        end = fill[row]
        for k in range(begin, end):
            out_columns[size] = out_columns[k]
            out_counts[size] = out_counts[k]
            size += 1
        begin = starts[row + 1]
        starts[row + 1] = size
    return size


@kernel
def keep_entries(
    level: tuple[Int64s, Int32s, Int64s],
    cutoff: int,
    kept_parents: Int64s,
    out: tuple[Int64s, Int32s, Int64s],
    kept: Int64s,
) -> int:
    """Drop n-grams below a cut-off or with a dropped prefix; ``kept`` gets each kept one's old id.

    The all-<s> n-gram, which has no count and may be a prefix of others, stays. Returns the number kept.
    """
    starts, words, counts = level
    out_starts, out_words, out_counts = out
    size = 0
    for k in range(kept_parents.size):
        parent = kept_parents[k]
        for entry in range(starts[parent], starts[parent + 1]):
            if counts[entry] >= cutoff or counts[entry] == 0:
                out_words[size] = words[entry]
                out_counts[size] = counts[entry]
                kept[size] = entry
                size += 1
        out_starts[k + 1] = size
    return size
