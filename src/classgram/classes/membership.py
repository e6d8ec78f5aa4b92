"""p(w | g2): each word's share of its class (paper, section 2), also for words that never occurred."""

import numpy as np

from classgram.runtime.compiled.arrays import Float64Array, Int32Array, Int64Array

_DISCOUNT = 0.75
"""b: what every seen word of a class gives to the unseen ones, as a count."""


def member_shares(class_of: Int32Array, counts: Int64Array) -> Float64Array:
    """Return N(w) / N(g) of each word; in classes with unseen words some of it goes to these.

    Seen words beside unseen ones get (N(w) - b) / N(g), and b s / N(g) is shared equally (s: the
    number of seen words of the class).
    """
    size = int(class_of.max()) + 1
    totals = np.bincount(class_of, counts, minlength=size)
    seen = np.bincount(class_of[counts > 0], minlength=size)
    unseen = np.bincount(class_of[counts == 0], minlength=size)
    discount = np.where(unseen[class_of] > 0, _DISCOUNT, 0.0)
    total = np.maximum(totals[class_of], 1.0)
    share = _DISCOUNT * seen[class_of] / total / np.maximum(unseen[class_of], 1)
    # A class without any count has no probability to share; its words stand for one another.
    share = np.where(totals[class_of] > 0, share, 1.0 / np.maximum(unseen[class_of], 1))
    return np.where(counts > 0, (counts - discount) / total, share)
