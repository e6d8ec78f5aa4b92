"""Kernels of entropy pruning: what is lost without an n-gram, and without those that need it."""

import numpy as np

from classgram.runtime.compiled import kernel
from classgram.runtime.compiled.arrays import Float64Array, Int32Array, Int64Array


@kernel
def entropy_losses(
    starts: Int64Array,
    probabilities: Float64Array,
    lower: Float64Array,
    masses: Float64Array,
    losses: Float64Array,
) -> None:
    """Write the relative entropy between a model and itself without each entry (Stolcke 1998).

    D = -p(h) (p(w|h) (log p(w|h') + log a' - log p(w|h)) + (log a' - log a) (1 - sum of p)), where a
    is the context's back-off weight and a' the one without the entry. ``lower`` is each entry's
    probability in the level below, ``masses`` the probability p(h) of each context.
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


@kernel
def raise_losses(starts: Int64Array, suffixes: Int32Array, losses: Float64Array, below: Float64Array) -> None:
    """Raise the losses of prefixes and suffixes, a level below, to those of the entries that need them."""
    for parent in range(starts.size - 1):
        for entry in range(starts[parent], starts[parent + 1]):
            below[parent] = max(below[parent], losses[entry])
            below[suffixes[entry]] = max(below[suffixes[entry]], losses[entry])
