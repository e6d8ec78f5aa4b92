"""Kernels of entropy pruning: what an n-gram is worth, and what depends on it."""

import numpy as np

from classgram.runtime.compiled import lean_kernel


@lean_kernel
def entropy_losses(
    starts: np.ndarray,
    probabilities: np.ndarray,
    lower: np.ndarray,
    masses: np.ndarray,
    losses: np.ndarray,
) -> None:
    """Write the relative entropy between a model and itself without each entry (Stolcke 1998).

    D = -p(h) (p(w|h) (log p(w|h') + log a' - log p(w|h)) + (log a' - log a) (1 - sum of p)), where a
    is the context's back-off weight and a' the one without the entry.
    """
    for context in range(starts.size - 1):
        begin, end = starts[context], starts[context + 1]
        rest = 1.0
        lower_rest = 1.0
        for entry in range(begin, end):
            rest -= probabilities[entry]
            lower_rest -= lower[entry]
        rest = max(rest, 0.0)
        lower_rest = max(lower_rest, 0.0)
        for entry in range(begin, end):
            own = probabilities[entry]
            if own <= 0.0 or lower[entry] <= 0.0:
                losses[entry] = 0.0
                continue
            without = np.log((rest + own) / (lower_rest + lower[entry]))
            change = own * (np.log(lower[entry]) + without - np.log(own))
            if rest > 0.0 and lower_rest > 0.0:
                change += rest * (without - np.log(rest / lower_rest))
            losses[entry] = max(-masses[context] * change, 0.0)


@lean_kernel
def raise_losses(starts: np.ndarray, suffixes: np.ndarray, losses: np.ndarray, below: np.ndarray) -> None:
    """Raise what prefixes and suffixes are worth to what the entries are that cannot be without them."""
    for parent in range(starts.size - 1):
        for entry in range(starts[parent], starts[parent + 1]):
            below[parent] = max(below[parent], losses[entry])
            below[suffixes[entry]] = max(below[suffixes[entry]], losses[entry])
