"""Kernels that estimate back-off and interpolated models, one linear pass over a level each.

A level is in compressed rows: the n-grams of context h are the entries ``starts[h]:starts[h + 1]``.
``lower`` is each entry's probability in the level below, under the context without its first word.
"""

import numpy as np

from classgram.kernels import kernel


@kernel
def count_continuations(suffixes: np.ndarray, size: int) -> np.ndarray:
    """Return, for each entry of the level below, how many entries here have it as their suffix."""
    continuations = np.zeros(size, dtype=np.int64)
    for entry in range(suffixes.size):
        continuations[suffixes[entry]] += 1
    return continuations


@kernel
def count_of_counts(counts: np.ndarray, highest: int) -> np.ndarray:
    """Return n_1 to n_highest, the numbers of entries with these counts, at their index."""
    totals = np.zeros(highest + 1, dtype=np.int64)
    for entry in range(counts.size):
        if 0 < counts[entry] <= highest:
            totals[counts[entry]] += 1
    return totals


@kernel
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


@kernel
def raise_cutoffs(starts: np.ndarray, counts: np.ndarray, cutoff: int) -> np.ndarray:
    """Return for each entry whether it is kept: its count is at least its context's cut-off.

    Where the cut-off drops nothing, it rises to the lowest value that drops something.
    """
    kept = np.empty(counts.size, dtype=np.bool_)
    for context in range(starts.size - 1):
        start, end = starts[context], starts[context + 1]
        if start == end:
            continue
        own_cutoff = max(cutoff, counts[start:end].min() + 1)
        for entry in range(start, end):
            kept[entry] = counts[entry] >= own_cutoff
    return kept


@kernel
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
            probabilities[start:end] = lower[start:end]
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


@kernel
def mark_needed(starts: np.ndarray, suffixes: np.ndarray, needed: np.ndarray, below: np.ndarray) -> None:
    """Mark the prefixes and suffixes, a level below, of the entries that are needed here."""
    for parent in range(starts.size - 1):
        for entry in range(starts[parent], starts[parent + 1]):
            if needed[entry]:
                below[parent] = True
                if suffixes[entry] >= 0:
                    below[suffixes[entry]] = True
