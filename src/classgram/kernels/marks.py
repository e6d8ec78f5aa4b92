"""Punctuation: marks cut off words, and written out or removed."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from classgram.kernels import kernel

Bytes = npt.NDArray[np.uint8]


class MarkTable(NamedTuple):
    """Marks, longest first, as bytes end to end, and what each is written as.

    starts, spoken_starts: int64, one more than there are marks; inside: uint8, 1 for a mark that
    also splits a word; first, inside_first, last: uint8 by byte, 1 where some mark, some mark that
    splits words, begins with it, or some mark ends with it.
    """

    marks: Bytes
    starts: npt.NDArray[np.int64]
    spoken: Bytes
    spoken_starts: npt.NDArray[np.int64]
    inside: Bytes
    inside_first: Bytes
    first: Bytes
    last: Bytes


@kernel
def mark_at(data: Bytes, start: int, end: int, table: MarkTable, inside: int) -> int:
    """The longest mark that begins at ``start``, or -1; with ``inside``, of those that split words."""
    if table.first[data[start]] == 0:
        return -1
    for mark in range(table.inside.size):
        begin = table.starts[mark]
        if table.marks[begin] != data[start]:
            continue
        length = table.starts[mark + 1] - begin
        if length > end - start or (inside == 1 and table.inside[mark] == 0):
            continue
        k = 0
        while k < length and table.marks[begin + k] == data[start + k]:
            k += 1
        if k == length:
            return mark
    return -1


@kernel
def mark_before(data: Bytes, start: int, end: int, table: MarkTable) -> int:
    """The longest mark that ends just before ``end``, or -1."""
    if table.last[data[end - 1]] == 0:
        return -1
    for mark in range(table.inside.size):
        if table.marks[table.starts[mark + 1] - 1] != data[end - 1]:
            continue
        begin = table.starts[mark]
        length = table.starts[mark + 1] - begin
        if length > end - start:
            continue
        k = 0
        while k < length and table.marks[begin + k] == data[end - length + k]:
            k += 1
        if k == length:
            return mark
    return -1


@kernel
def write_spoken(out: Bytes, written: int, table: MarkTable, mark: int) -> int:
    """Append a mark as a word of its own, with spaces around it."""
    out[written] = 32
    written += 1
    for k in range(table.spoken_starts[mark], table.spoken_starts[mark + 1]):
        out[written] = table.spoken[k]
        written += 1
    out[written] = 32
    return written + 1


@kernel
def write_piece(data: Bytes, span: tuple[int, int], table: MarkTable, out: Bytes, written: int) -> int:
    """Append a piece of a word, the marks at its two edges cut off."""
    start, end = span
    while start < end:
        mark = mark_at(data, start, end, table, 0)
        if mark < 0:
            break
        written = write_spoken(out, written, table, mark)
        start += table.starts[mark + 1] - table.starts[mark]
    core = end
    while core > start:
        mark = mark_before(data, start, core, table)
        if mark < 0:
            break
        core -= table.starts[mark + 1] - table.starts[mark]
    for k in range(start, core):
        out[written] = data[k]
        written += 1
    while core < end:
        mark = mark_at(data, core, end, table, 0)
        written = write_spoken(out, written, table, mark)
        core += table.starts[mark + 1] - table.starts[mark]
    return written


@kernel
def rewrite_marks(data: Bytes, table: MarkTable, out: Bytes) -> int:
    """Copy a chunk with its marks rewritten, and return the number of bytes written.

    A word is first cut at the marks that split words; then each piece loses the marks at its edges.
    """
    position = 0
    written = 0
    size = data.size
    while position < size:
        byte = data[position]
        if byte == 32 or (byte >= 9 and byte <= 13):
            out[written] = byte
            written += 1
            position += 1
            continue
        piece = position
        while position < size:
            byte = data[position]
            if byte == 32 or (byte >= 9 and byte <= 13):
                break
            mark = -1
            if table.inside_first[byte] != 0:
                mark = mark_at(data, position, size, table, 1)
            if mark < 0:
                position += 1
                continue
            written = write_piece(data, (piece, position), table, out, written)
            written = write_spoken(out, written, table, mark)
            position += table.starts[mark + 1] - table.starts[mark]
            piece = position
        written = write_piece(data, (piece, position), table, out, written)
    return written
