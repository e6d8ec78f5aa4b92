"""Punctuation: marks cut off words, and verbalised or stripped."""

from typing import NamedTuple

import numpy as np

from classgram.runtime.compiled import kernel, part
from classgram.runtime.compiled.arrays import ByteArray, Int64Array
from classgram.text._kernels.eight_bytes import (
    TOP_BITS,
    ZERO,
    first_marked,
    load_eight,
    plain_bytes,
    store_eight,
)

# What a byte can be: part of a word, the beginning of a mark, or a separator.
PLAIN, MARK, SPACE = 0, 1, 2


class PunctuationTable(NamedTuple):
    """Marks as bytes end to end, by their first byte and then longest first, and what replaces each.

    starts, new_starts: int64, one more than there are marks; heads: int64, by byte, the first mark
    that begins with it, and one more; splits: uint8, 1 for a mark that also splits a word; roles:
    uint8, by byte. Marks of several characters must split words.
    """

    marks: ByteArray
    starts: Int64Array
    new: ByteArray
    new_starts: Int64Array
    heads: Int64Array
    splits: ByteArray
    roles: ByteArray


@part
def _mark_at(data: ByteArray, start: int, table: PunctuationTable) -> int:
    """Return the longest mark that begins at ``start``, or -1."""
    head = data[start]
    for mark in range(table.heads[head], table.heads[head + 1]):
        begin = table.starts[mark]
        length = table.starts[mark + 1] - begin
        if length > data.size - start:
            continue
        k = 1
        while k < length and table.marks[begin + k] == data[start + k]:
            k += 1
        if k == length:
            return mark
    return -1


@part
def _write_mark(table: PunctuationTable, mark: int, out: ByteArray, written: int) -> int:
    """Append what replaces a mark, and return where that ends."""
    for k in range(table.new_starts[mark], table.new_starts[mark + 1]):
        out[written] = table.new[k]
        written += 1
    return written


@part
def _copy_plain(data: ByteArray, position: int, out: ByteArray, written: int) -> int:
    """Copy letters, digits and spaces, which no mark holds, eight at a time; return how many.

    Up to eight bytes behind them are written, too. Stops within eight bytes of the end.
    """
    start = position
    while position + 8 <= data.size:
        eight = load_eight(data, np.uint64(position))
        store_eight(out, np.uint64(written), eight)
        others = ~plain_bytes(eight) & TOP_BITS
        if others != ZERO:
            return position - start + first_marked(others)
        position += 8
        written += 8
    return position - start


@part
def _edge_marks(data: ByteArray, position: int, table: PunctuationTable) -> int:
    """Return where the marks end that stand next to each other from a position on and split no word."""
    while position < data.size:
        mark = _mark_at(data, position, table)
        if mark < 0 or table.splits[mark] == 1:
            break
        position += table.starts[mark + 1] - table.starts[mark]
    return position


@part
def _piece_ends(data: ByteArray, position: int, table: PunctuationTable) -> bool:
    """Return whether a piece of a word ends just before a position: at its end, or where a mark splits it."""
    if position == data.size or table.roles[data[position]] == SPACE:
        return True
    mark = _mark_at(data, position, table)
    return mark >= 0 and table.splits[mark] == 1


@kernel
def rewrite_punctuation(data: ByteArray, table: PunctuationTable, out: ByteArray) -> int:
    """Copy a chunk, cut between words, with its marks replaced; return the number of bytes.

    A word is cut at the marks that split words; each piece loses the marks at its two edges, and keeps
    those inside. ``out`` must hold eight bytes more than are written.
    """
    size = data.size
    position = 0
    written = 0
    # Where the last mark ended that was replaced: a piece begins there.
    piece = 0
    while position < size:
        plain = _copy_plain(data, position, out, written)
        position += plain
        written += plain
        if position == size:
            break
        mark = -1
        if table.roles[data[position]] == MARK:
            mark = _mark_at(data, position, table)
        if mark < 0:
            out[written] = data[position]
            position += 1
            written += 1
            continue
        end = position + table.starts[mark + 1] - table.starts[mark]
        replaced = table.splits[mark] == 1
        if not replaced:
            end = _edge_marks(data, end, table)
            begins = position == piece or table.roles[data[position - 1]] == SPACE
            replaced = begins or _piece_ends(data, end, table)
        while position < end:
            if replaced:
                mark = _mark_at(data, position, table)
                written = _write_mark(table, mark, out, written)
                position += table.starts[mark + 1] - table.starts[mark]
                piece = position
            else:
                out[written] = data[position]
                position += 1
                written += 1
    return written
