"""N-gram counting: counting sorts of positions, and merges of sorted levels."""

import numpy as np
import numpy.typing as npt

from classgram.runtime.compiled import lean_kernel

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Amounts = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Rows = tuple[Int64s, Int32s, Amounts]
"""A sparse matrix: where each row starts, and one more; the columns; the counts."""


@lean_kernel
def renumber(ids: Int32s, numbers: Int32s, out: Int32s) -> None:
    """Give every id the number that stands for it."""
    for k in range(ids.size):
        out[k] = numbers[ids[k]]


@lean_kernel
def count_words(ids: Int32s, counts: Int64s) -> None:
    """Add up how often each word occurs."""
    for word in ids:
        counts[word] += 1


@lean_kernel
def bucket_parents(
    ids: Int32s, grams: Int32s, end_symbol: int, span: tuple[int, int], fill: Int64s, parents: Int32s
) -> None:
    """Sort the positions of a span by word; what is kept of each is the n-gram that ends just before it.

    The last position of ``ids`` is the virtual <s> that every sentence begins after, itself included.
    ``fill`` holds where each word's first goes, and ends as where its next would go.
    """
    first, last = span
    virtual = ids.size - 1
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
        fill[ids[virtual]] += 1


@lean_kernel
def tally_parents(
    starts: Int64s, parents: Int32s, words: tuple[int, int], tally: Int32s, out: tuple[Int32s, Int32s, Int32s]
) -> None:
    """Count the parents of each word of a range; those of word w stand from starts[w] to starts[w + 1].

    Writes each parent of a word once, in the order of appearance, how often it came, and how many there are
    for each word; from where the first word's parents start, without gaps. They may be written over what is
    read: nothing is overtaken. ``tally`` has a zero for every parent, and has so again at the end.
    """
    lengths, different, counts = out
    end = starts[words[0]]
    for word in range(words[0], words[1]):
        begin = end
        for k in range(starts[word], starts[word + 1]):
            parent = parents[k]
            # Written whether it is new or not, because a branch would often be guessed wrong.
            different[end] = parent
            end += np.int64(tally[parent] == 0)
            tally[parent] += 1
        lengths[word] = end - begin
        for k in range(begin, end):
            counts[k] = tally[different[k]]
            tally[different[k]] = 0


@lean_kernel
def fill_level(
    span: tuple[int, int, int],
    tallied: tuple[Int32s, Int32s, Int32s],
    fill: Int64s,
    level: tuple[Int32s, Int64s],
) -> None:
    """Write by parent what was tallied for a range of words, from a place on.

    Words come in order, so every row is filled in order. ``fill`` holds where the next of each row goes.
    """
    first, last, begin = span
    lengths, parents, amounts = tallied
    words, counts = level
    for word in range(first, last):
        end = begin + lengths[word]
        for k in range(begin, end):
            entry = fill[parents[k]]
            fill[parents[k]] = entry + 1
            words[entry] = word
            counts[entry] = amounts[k]
        begin = end


@lean_kernel
def parents_to_grams(starts: Int64s, fill: Int64s, words: Int32s, parents: Int32s) -> None:
    """Turn the parents of each word into the n-grams of parent and word.

    ``fill`` holds where each parent's row starts: words come in order, so it passes a row's words in order.
    """
    for word in range(starts.size - 1):
        for k in range(starts[word], starts[word + 1]):
            entry = fill[parents[k]]
            if words[entry] != word:
                entry += 1
                fill[parents[k]] = entry
            parents[k] = entry


@lean_kernel
def grams_in_text(
    ids: Int32s, span: tuple[int, int], fill: Int64s, sorted_grams: Int32s, out: Int32s
) -> None:
    """Write the n-gram of every position of a span; they come sorted by word, and then by position.

    ``fill`` holds where each word's first is, and ends as where its next would be.
    """
    for position in range(span[0], span[1]):
        word = ids[position]
        out[position] = sorted_grams[fill[word]]
        fill[word] += 1


@lean_kernel
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


@lean_kernel
def group_pairs(
    rows: Int32s,
    columns: Int32s,
    counts: Amounts,
    places: tuple[Int64s, Int64s],
    out: tuple[Int32s, Amounts],
) -> np.int64:
    """Group (row, column, count) triples by row and add up equal pairs; columns must come sorted.

    ``places``: where each row starts, one more for the last one's end, and the same without that, which
    is overwritten. The first ends as the starts of the grouped rows. Returns the number of pairs.
    """
    starts, fill = places
    out_columns, out_counts = out
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


@lean_kernel
def transpose(
    starts: Int64s, columns: Int32s, counts: Amounts, fill: Int64s, out: tuple[Int32s, Amounts]
) -> None:
    """Write a sparse matrix that is given by rows by columns, rows in order.

    ``fill`` holds where each column starts, and ends as where it ends.
    """
    out_rows, out_counts = out
    for row in range(starts.size - 1):
        for k in range(starts[row], starts[row + 1]):
            at = fill[columns[k]]
            fill[columns[k]] = at + 1
            out_rows[at] = row
            out_counts[at] = counts[k]


@lean_kernel
def stack_rows(one: Rows, two: Rows, shift: int, out: tuple[Int32s, Amounts]) -> None:
    """Write each row of one sparse matrix, then that of the other, whose columns count from a shift on."""
    columns, counts = out
    at = 0
    for row in range(one[0].size - 1):
        for k in range(one[0][row], one[0][row + 1]):
            columns[at] = one[1][k]
            counts[at] = one[2][k]
            at += 1
        for k in range(two[0][row], two[0][row + 1]):
            columns[at] = two[1][k] + shift
            counts[at] = two[2][k]
            at += 1


@lean_kernel
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
