"""Kernels that estimate back-off and interpolated models, one linear pass over a level each.

A level is in compressed rows: the n-grams of context h are the entries ``starts[h]:starts[h + 1]``.
``lower`` is each entry's probability in the level below, under the context without its first word.
"""

import numpy as np

from classgram.runtime.compiled import lean_kernel


@lean_kernel
def count_continuations(suffixes: np.ndarray, continuations: np.ndarray) -> None:
    """Count into zeros, for each entry of the level below, how many entries here have it as their suffix."""
    for entry in range(suffixes.size):
        continuations[suffixes[entry]] += 1


@lean_kernel
def count_counts(counts: np.ndarray, totals: np.ndarray) -> None:
    """Count into zeros n_1, n_2 and so on, the numbers of entries with these counts, at their index."""
    for entry in range(counts.size):
        if 0 < counts[entry] < totals.size:
            totals[counts[entry]] += 1


@lean_kernel
def interpolate(
    starts: np.ndarray,
    counts: np.ndarray,
    lower: np.ndarray,
    discounts: np.ndarray,
    probabilities: np.ndarray,
    backoffs: np.ndarray,
) -> None:
    """Discount each count, and add to it what its context gained times the lower probability.

    ``discounts[c]`` is taken off a count c, the last one off all higher ones; [0] is unused.
    """
    highest = discounts.size - 1
    for context in range(starts.size - 1):
        total = 0.0
        gained = 0.0
        for entry in range(starts[context], starts[context + 1]):
            total += counts[entry]
            gained += discounts[min(counts[entry], highest)]
        if total == 0.0:
            backoffs[context] = 1.0
            for entry in range(starts[context], starts[context + 1]):
                probabilities[entry] = lower[entry]
            continue
        weight = gained / total
        backoffs[context] = weight
        for entry in range(starts[context], starts[context + 1]):
            count = counts[entry]
            kept = (count - discounts[min(count, highest)]) / total
            probabilities[entry] = kept + weight * lower[entry]


@lean_kernel
def raise_cutoffs(starts: np.ndarray, counts: np.ndarray, cutoff: int, kept: np.ndarray) -> None:
    """Write for each entry whether it is kept: its count is at least its context's cut-off.

    Where the cut-off drops nothing, it rises to the lowest value that drops something.
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


@lean_kernel
def back_off(
    starts: np.ndarray,
    counts: np.ndarray,
    shares: np.ndarray,
    lower: np.ndarray,
    probabilities: np.ndarray,
    backoffs: np.ndarray,
) -> None:
    """Give kept entries their share of the context's count, all others what is left over.

    ``shares`` holds each entry's discounted count, 0 where the entry is dropped.
    """
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
            backoffs[context] = 1.0
            for entry in range(start, end):
                probabilities[entry] = lower[entry]
            continue
        # Rounding must not take from the dropped words what they are known to hold.
        uncovered = max(1.0 - covered, dropped)
        if uncovered < 1e-12:
            # Every word of the vocabulary is kept: there is nothing to back off to.
            total = kept
            backoffs[context] = 1.0
        else:
            # Where nothing was gained, one event more than was seen keeps unseen words possible.
            total = kept + 1.0 if kept >= total else total
            backoffs[context] = (total - kept) / total / uncovered
        for entry in range(start, end):
            if shares[entry] > 0.0:
                probabilities[entry] = shares[entry] / total
            else:
                probabilities[entry] = backoffs[context] * lower[entry]


@lean_kernel
def mark_needed(starts: np.ndarray, suffixes: np.ndarray, needed: np.ndarray, below: np.ndarray) -> None:
    """Mark the prefixes and suffixes, a level below, of the entries that are needed here."""
    for parent in range(starts.size - 1):
        for entry in range(starts[parent], starts[parent + 1]):
            if needed[entry]:
                below[parent] = True
                if suffixes[entry] >= 0:
                    below[suffixes[entry]] = True
