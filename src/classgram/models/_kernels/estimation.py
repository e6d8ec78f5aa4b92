"""Kernels that estimate back-off and interpolated models, one linear pass over a level each.

A level is in compressed rows: the n-grams of context h are the entries ``starts[h]:starts[h + 1]``.
"""

from typing import NamedTuple

from classgram.runtime.compiled import kernel
from classgram.runtime.compiled.arrays import BoolArray, Float64Array, Int32Array, Int64Array


class LevelCounts(NamedTuple):
    """What an estimate of one level reads; arrays but ``starts`` have an item an entry."""

    starts: Int64Array
    counts: Int64Array
    lower: Float64Array
    """The probability in the level below, under the context without its first word."""


class LevelOutput(NamedTuple):
    """What an estimate of one level writes."""

    probabilities: Float64Array
    """One an entry."""
    backoffs: Float64Array
    """One a context."""


@kernel
def count_continuations(suffixes: Int32Array, continuations: Int64Array) -> None:
    """Count into zeros, for each entry of the level below, how many entries here have it as their suffix."""
    for entry in range(suffixes.size):
        continuations[suffixes[entry]] += 1


@kernel
def count_counts(counts: Int64Array, totals: Int64Array) -> None:
    """Count into zeros n_1, n_2 and so on, the numbers of entries with these counts, at their index."""
    for entry in range(counts.size):
        if 0 < counts[entry] < totals.size:
            totals[counts[entry]] += 1


@kernel
def interpolate(level: LevelCounts, discounts: Float64Array, out: LevelOutput) -> None:
    """Write discounted relative frequencies plus the discounted mass times the lower probabilities.

    ``discounts[c]`` is taken off a count c, the last one off all higher ones; [0] is unused.
    """
    starts, counts, lower = level.starts, level.counts, level.lower
    highest = discounts.size - 1
    for context in range(starts.size - 1):
        total = 0.0
        gained = 0.0
        for entry in range(starts[context], starts[context + 1]):
            total += counts[entry]
            gained += discounts[min(counts[entry], highest)]
        if total == 0.0:
            out.backoffs[context] = 1.0
            for entry in range(starts[context], starts[context + 1]):
                out.probabilities[entry] = lower[entry]
            continue
        weight = gained / total
        out.backoffs[context] = weight
        for entry in range(starts[context], starts[context + 1]):
            count = counts[entry]
            kept = (count - discounts[min(count, highest)]) / total
            out.probabilities[entry] = kept + weight * lower[entry]


@kernel
def raise_cutoffs(starts: Int64Array, counts: Int64Array, cutoff: int, kept: BoolArray) -> None:
    """Write for each entry whether it is kept: its count is at least its context's cut-off.

    Where the cut-off drops nothing, it rises to the lowest value that drops something (section 5).
    """
    for context in range(starts.size - 1):
        start, end = starts[context], starts[context + 1]
        if start == end:
            continue
        lowest = counts[start]
        for entry in range(start + 1, end):
            lowest = min(lowest, counts[entry])
        own_cutoff = max(cutoff, lowest + 1)
        for entry in range(start, end):
            kept[entry] = counts[entry] >= own_cutoff


@kernel
def back_off(level: LevelCounts, shares: Float64Array, out: LevelOutput) -> None:
    """Write kept entries' shares of their context's count, and the mass left over as back-off.

    ``shares`` holds each entry's discounted count, 0 where the entry is dropped.
    """
    starts, counts, lower = level.starts, level.counts, level.lower
    for context in range(starts.size - 1):
        start, end = starts[context], starts[context + 1]
        total = 0.0
        kept = 0.0
        covered = 0.0
        dropped = 0.0
        for entry in range(start, end):
            total += counts[entry]
            kept += shares[entry]
            if shares[entry] > 0.0:
                covered += lower[entry]
            else:
                dropped += lower[entry]
        if kept == 0.0:
            out.backoffs[context] = 1.0
            for entry in range(start, end):
                out.probabilities[entry] = lower[entry]
            continue
        # Rounding must not take from the dropped words what they are known to hold.
        uncovered = max(1.0 - covered, dropped)
        if uncovered < 1e-12:
            # Every word of the vocabulary is kept: there is nothing to back off to.
            total = kept
            out.backoffs[context] = 1.0
        else:
            # Where nothing was gained, one event more than was seen keeps unseen words possible.
            total = kept + 1.0 if kept >= total else total
            out.backoffs[context] = (total - kept) / total / uncovered
        for entry in range(start, end):
            if shares[entry] > 0.0:
                out.probabilities[entry] = shares[entry] / total
            else:
                out.probabilities[entry] = out.backoffs[context] * lower[entry]


@kernel
def mark_needed(starts: Int64Array, suffixes: Int32Array, needed: BoolArray, below: BoolArray) -> None:
    """Mark the prefixes and suffixes, a level below, of the entries that are needed here."""
    for parent in range(starts.size - 1):
        for entry in range(starts[parent], starts[parent + 1]):
            if needed[entry]:
                below[parent] = True
                if suffixes[entry] >= 0:
                    below[suffixes[entry]] = True
