"""Merges of n-gram counts, in memory or beyond it in temporary files, and cut-offs."""

import os
import tempfile
from typing import IO

import numpy as np
import numpy.typing as npt

from classgram.counts._kernels.counting import Level
from classgram.counts._kernels.merging import MergedIds, keep_entries, merge_level
from classgram.counts.id_stream import temporary_files
from classgram.counts.ngram_counts import first_level
from classgram.runtime.compiled import Number, frozen


def merge_levels(one: tuple[Level, ...], two: tuple[Level, ...], memory: int) -> tuple[Level, ...]:
    """Return the counts of two texts of one vocabulary, added up."""
    size = one[0].words.size
    merged = [first_level(one[0].counts + two[0].counts)]
    parents = MergedIds(frozen(np.arange(size)), frozen(np.arange(size)))
    for a, b in zip(one[1:], two[1:], strict=True):
        most = a.words.size + b.words.size
        rows = merged[-1].words.size + 1
        level = Level(
            np.zeros(rows, np.int64),
            _scratch_array(most, np.int32, memory),
            _scratch_array(most, np.int64, memory),
        )
        ids = MergedIds(np.empty(a.words.size, np.int64), np.empty(b.words.size, np.int64))
        entries = merge_level(a.frozen(), b.frozen(), parents, level, ids)
        merged.append(Level(level.starts, level.words[:entries], level.counts[:entries]))
        parents = MergedIds(frozen(ids.one), frozen(ids.two))
    return tuple(merged)


def _scratch_array(size: int, dtype: type[Number], memory: int) -> npt.NDArray[Number]:
    """Return an array in memory, or in a temporary file if it is large beside the memory allowed."""
    if size * np.dtype(dtype).itemsize <= memory // 8 or size == 0:
        return np.empty(size, dtype)
    with temporary_files(), tempfile.TemporaryFile(prefix="classgram-") as file:
        _reserve(file, size * np.dtype(dtype).itemsize)
        return np.memmap(file, dtype, "r+", shape=(size,)).view(np.ndarray)


def _reserve(file: IO[bytes], size: int) -> None:
    """Make a file so large, with its space on the disk reserved where the system can do that.

    Without the reservation, a disk that fills up ends the process when the mapped file is written.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        file.truncate(size)


def apply_cutoffs(levels: tuple[Level, ...], cutoffs: tuple[int, ...]) -> tuple[Level, ...]:
    """Drop n-grams seen fewer times than their order's cut-off, and those with a dropped prefix."""
    if not cutoffs or max(cutoffs) <= 1:
        return levels
    kept_levels = [levels[0]]
    kept_parents = np.arange(levels[0].words.size)
    for index, level in enumerate(levels[1:]):
        cutoff = cutoffs[min(index, len(cutoffs) - 1)]
        size = level.words.size
        out = Level(
            np.zeros(kept_parents.size + 1, np.int64),
            np.empty(size, np.int32),
            np.empty(size, np.int64),
        )
        kept = np.empty(size, np.int64)
        entries = keep_entries(level.frozen(), cutoff, frozen(kept_parents), out, kept)
        kept_levels.append(Level(out.starts, out.words[:entries].copy(), out.counts[:entries].copy()))
        kept_parents = kept[:entries]
    return tuple(kept_levels)
