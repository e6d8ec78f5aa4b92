"""Merges and cut-offs of n-gram levels."""

from typing import NamedTuple

import numpy as np

from classgram.counts._kernels.counting import Level
from classgram.runtime.compiled import kernel
from classgram.runtime.compiled.arrays import Int64Array


class MergedIds(NamedTuple):
    """The ids that the n-grams of two levels have in the merged one."""

    one: Int64Array
    two: Int64Array


@kernel
def merge_level(one: Level, two: Level, parents: MergedIds, merged: Level, ids: MergedIds) -> int:
    """Merge two levels whose prefixes have the ids ``parents`` among the merged prefixes.

    Writes the merged level and the ids of both levels' n-grams in it; returns the number of merged n-grams.
    """
    size = 0
    i = 0
    j = 0
    for parent in range(merged.starts.size - 1):
        x = np.int64(0)
        x_end = np.int64(0)
        if i < parents.one.size and parents.one[i] == parent:
            x = one.starts[i]
            x_end = one.starts[i + 1]
            i += 1
        y = np.int64(0)
        y_end = np.int64(0)
        if j < parents.two.size and parents.two[j] == parent:
            y = two.starts[j]
            y_end = two.starts[j + 1]
            j += 1
        while x < x_end or y < y_end:
            take_x = x < x_end and (y >= y_end or one.words[x] <= two.words[y])
            take_y = y < y_end and (x >= x_end or two.words[y] <= one.words[x])
            merged.counts[size] = 0
            if take_x:
                merged.words[size] = one.words[x]
                merged.counts[size] += one.counts[x]
                ids.one[x] = size
                x += 1
            if take_y:
                merged.words[size] = two.words[y]
                merged.counts[size] += two.counts[y]
                ids.two[y] = size
                y += 1
            size += 1
        merged.starts[parent + 1] = size
    return size


@kernel
def keep_entries(level: Level, cutoff: int, kept_parents: Int64Array, out: Level, kept: Int64Array) -> int:
    """Drop n-grams below a cut-off or with a dropped prefix; ``kept`` gets each kept one's old id.

    The all-<s> n-gram, which has no count and may be a prefix of others, stays. Returns the number kept.
    """
    size = 0
    for k in range(kept_parents.size):
        parent = kept_parents[k]
        for entry in range(level.starts[parent], level.starts[parent + 1]):
            if level.counts[entry] >= cutoff or level.counts[entry] == 0:
                out.words[size] = level.words[entry]
                out.counts[size] = level.counts[entry]
                kept[size] = entry
                size += 1
        out.starts[k + 1] = size
    return size
