"""N-gram counting: counting sorts of positions, and merges of sorted levels."""

import numpy as np
import numpy.typing as npt

from classgram.kernels import kernel

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


@kernel
def renumber(ids: Int32s, numbers: Int32s, out: Int32s) -> None:
    """Give every id the number that stands for it."""
    for k in range(ids.size):
        out[k] = numbers[ids[k]]


@kernel
def count_words(ids: Int32s, counts: Int64s) -> None:
    """Add up how often each word occurs."""
    for word in ids:
        counts[word] += 1


@kernel
def bucket_parents(
    ids: Int32s, grams: Int32s, end_symbol: int, span: tuple[int, int], starts: Int64s, parents: Int32s
) -> None:
    """Sort the positions of a span by word; what is kept of each is the n-gram that ends just before it.

    The last position of ``ids`` is the virtual <s> that every sentence begins after, itself included.
    ``starts`` is zeroed, with a place for every word and one more, and ends as where each word's begin.
    """
    first, last = span
    virtual = ids.size - 1
    for position in range(first, last):
        starts[ids[position] + 1] += 1
    for word in range(1, starts.size):
        starts[word] += starts[word - 1]
    fill = starts.copy()
    begin = grams[virtual]
    before = begin
    if first > 0 and ids[first - 1] != end_symbol:
        before = grams[first - 1]
    for position in range(first, min(last, virtual)):
        word = ids[position]
        parents[fill[word]] = before
        fill[word] += 1
        before = begin if word == end_symbol else grams[position]
    if last > virtual:
        parents[fill[ids[virtual]]] = begin


@kernel
def count_rows(starts: Int64s, parents: Int32s, rows: Int64s) -> None:
    """Count the different words behind every parent.

    ``rows`` is zeroed, with a place for every parent and one more, and ends as the starts of their rows.
    """
    latest = np.full(rows.size, -1, np.int32)
    for word in range(starts.size - 1):
        for k in range(starts[word], starts[word + 1]):
            parent = parents[k]
            if latest[parent] != word:
                latest[parent] = word
                rows[parent + 1] += 1
    for parent in range(1, rows.size):
        rows[parent] += rows[parent - 1]


@kernel
def fill_level(starts: Int64s, parents: Int32s, level: tuple[Int64s, Int32s, Int64s]) -> None:
    """Write the words and counts of a level whose rows are known; each parent becomes its n-gram.

    Words come in order, so a row is filled in order, and its latest entry may be that of the same word.
    """
    rows, words, counts = level
    fill = rows.copy()
    latest = np.full(rows.size, -1, np.int32)
    for word in range(starts.size - 1):
        for k in range(starts[word], starts[word + 1]):
            parent = parents[k]
            if latest[parent] != word:
                latest[parent] = word
                words[fill[parent]] = word
                counts[fill[parent]] = 0
                fill[parent] += 1
            entry = fill[parent] - 1
            counts[entry] += 1
            parents[k] = entry


@kernel
def grams_in_text(
    ids: Int32s, span: tuple[int, int], starts: Int64s, sorted_grams: Int32s, out: Int32s
) -> None:
    """Write the n-gram of every position of a span; they come sorted by word, and then by position."""
    fill = starts.copy()
    for position in range(span[0], span[1]):
        word = ids[position]
        out[position] = sorted_grams[fill[word]]
        fill[word] += 1


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
