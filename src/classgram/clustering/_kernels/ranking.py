"""The highest of many scores: the top of each block of them is found first, and most blocks need no more."""

import numpy as np

from classgram.runtime.compiled import kernel_part
from classgram.runtime.compiled.arrays import Float32Array, Float32Matrix, Int32Array

BLOCK = 16
"""Scores in a block: rows are padded to a multiple of this."""

HALVINGS = 8
"""Steps that bring a limit near to the highest scores: to look at a few too many costs less than another."""


@kernel_part
def ordinal(bits: np.int32) -> np.int32:
    """Give an integer that stands to others as scores of these bits do, or the bits for the integer."""
    return np.int32(bits ^ np.int32(np.int32(bits >> np.int32(31)) & np.int32(0x7FFFFFFF)))


@kernel_part
def find_tops(blocks: Float32Matrix, tops: Float32Array) -> float:
    """Write the highest score of every block; give the highest of all.

    A maximum over floats would not become a vector loop, because of what NaN would mean.
    """
    highest = np.float32(-np.inf)
    for b in range(blocks.shape[0]):
        best = np.int32(-(2**31) + 1)
        # A loop of a known length would be unrolled, and then not become a vector loop.
        for j in range(blocks.shape[1]):
            rank = ordinal(np.float32(blocks[b, j]).view(np.int32))
            best = rank if rank > best else best
        top = np.int32(ordinal(best)).view(np.float32)
        tops[b] = top
        highest = top if top > highest else highest
    return highest  # type: ignore[return-value]


@kernel_part
def insert_score(scores: Float32Array, length: int, score: np.float32) -> int:
    """Put a score among falling ones, of which the last goes where there is no room; give its place."""
    at = min(length, scores.size - 1)
    while at > 0 and scores[at - 1] < score:
        scores[at] = scores[at - 1]
        at -= 1
    scores[at] = score
    return at


@kernel_part
def count_above(scores: Float32Array, limit: np.float32) -> int:
    """Count the scores above a limit."""
    above = np.int32(0)
    for i in range(scores.size):
        above = np.int32(above + np.int32(scores[i] > limit))
    return above  # type: ignore[return-value]


@kernel_part
def raised_limit(scores: Float32Array, limit: np.float32, highest: float, least: int) -> np.float32:
    """Give a limit that is still below at least so many scores, by halving what is left, or the same one."""
    low, high = limit, np.float32(highest)
    if count_above(scores, low) <= least:
        return low
    for _ in range(HALVINGS):
        middle = np.float32(0.5) * (low + high)
        if count_above(scores, middle) < least:
            high = middle
        else:
            low = middle
    return low


@kernel_part
def list_highest(
    blocks: Float32Matrix,
    tops: Float32Array,
    above: float,
    highest: float,
    columns: Int32Array,
    listed: Float32Array,
) -> None:
    """Write the columns of the highest scores above a limit, the highest first, and the scores themselves.

    -1 ends a short list. ``tops`` and ``highest`` are what find_tops found.
    """
    most = columns.size
    # Enough tops lie above the limit: so do as many scores, and no others are wanted.
    limit = raised_limit(tops, np.float32(above), highest, most)
    length = 0
    for b in range(tops.size):
        if tops[b] <= limit:
            continue
        for j in range(BLOCK):
            score = blocks[b, j]
            if score <= limit or (length == most and score <= listed[most - 1]):
                continue
            at = insert_score(listed, length, score)
            length = min(length + 1, most)
            for i in range(length - 1, at, -1):
                columns[i] = columns[i - 1]
            columns[at] = b * BLOCK + j
    if length < most:
        columns[length] = -1
