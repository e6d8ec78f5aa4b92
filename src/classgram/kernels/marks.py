"""Punctuation: marks cut off words, and written out or removed."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from classgram.kernels import kernel

Bytes = npt.NDArray[np.uint8]

# What a byte can be: part of a word, the beginning of a mark, that of a mark which also splits
# words, or a separator.
PLAIN, EDGE, SPLIT, SPACE = 0, 1, 2, 3


class MarkTable(NamedTuple):
    """Marks as bytes end to end, by their first byte and then longest first, and what replaces each.

    starts, new_starts: int64, one more than there are marks; heads: int64, by byte, the first mark
    that begins with it, and one more; splits: uint8, 1 for a mark that also splits a word; roles:
    uint8, by byte. Marks of several characters must split words.
    """

    marks: Bytes
    starts: npt.NDArray[np.int64]
    new: Bytes
    new_starts: npt.NDArray[np.int64]
    heads: npt.NDArray[np.int64]
    splits: Bytes
    roles: Bytes


@kernel
def mark_at(data: Bytes, start: int, end: int, table: MarkTable) -> int:
    """The longest mark that begins at ``start`` and ends by ``end``, or -1."""
    head = data[start]
    for mark in range(table.heads[head], table.heads[head + 1]):
        begin = table.starts[mark]
        length = table.starts[mark + 1] - begin
        if length > end - start:
            continue
        k = 1
        while k < length and table.marks[begin + k] == data[start + k]:
            k += 1
        if k == length:
            return mark
    return -1


@kernel
def last_character(data: Bytes, start: int, end: int) -> int:
    """Where the last character before ``end`` begins."""
    position = end - 1
    while position > start and (data[position] & 0xC0) == 0x80:
        position -= 1
    return position


@kernel
def write_mark(table: MarkTable, mark: int, out: Bytes, written: int) -> int:
    """Append what replaces a mark."""
    for k in range(table.new_starts[mark], table.new_starts[mark + 1]):
        out[written] = table.new[k]
        written += 1
    return written


@kernel
def write_piece(data: Bytes, span: tuple[int, int], table: MarkTable, out: Bytes, written: int) -> int:
    """Append a piece of a word, the marks at its two edges replaced."""
    start, end = span
    while start < end:
        mark = mark_at(data, start, end, table)
        if mark < 0:
            break
        written = write_mark(table, mark, out, written)
        start += table.starts[mark + 1] - table.starts[mark]
    core = end
    while core > start:
        character = last_character(data, start, core)
        if mark_at(data, character, core, table) < 0:
            break
        core = character
    for k in range(start, core):
        out[written] = data[k]
        written += 1
    while core < end:
        mark = mark_at(data, core, end, table)
        written = write_mark(table, mark, out, written)
        core += table.starts[mark + 1] - table.starts[mark]
    return written


@kernel
def rewrite_marks(data: Bytes, table: MarkTable, out: Bytes) -> int:
    """Copy a chunk that ends in a separator with its marks replaced; return the number of bytes.

    A word is first cut at the marks that split words; then each piece loses the marks at its edges.
    Pieces are copied as they are read, and written anew only where an edge may be a mark.
    """
    size = data.size
    position = 0
    written = 0
    piece = 0
    piece_written = 0
    while position < size:
        byte = data[position]
        role = table.roles[byte]
        mark = -1
        if role == SPLIT:
            mark = mark_at(data, position, size, table)
            if mark >= 0 and table.splits[mark] == 0:
                mark = -1
        if role != SPACE and mark < 0:
            out[written] = byte
            written += 1
            position += 1
            continue
        if piece < position and (
            table.roles[data[piece]] != PLAIN
            or table.roles[data[last_character(data, piece, position)]] != PLAIN
        ):
            written = write_piece(data, (piece, position), table, out, piece_written)
        if mark >= 0:
            written = write_mark(table, mark, out, written)
            position += table.starts[mark + 1] - table.starts[mark]
        else:
            out[written] = byte
            written += 1
            position += 1
        piece = position
        piece_written = written
    return written
