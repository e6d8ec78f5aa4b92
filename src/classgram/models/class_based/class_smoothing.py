"""How class models estimate p(g2 | g1): the paper's joint estimate, and interpolated discounting.

The paper's estimate of p(g1, g2) is absolute discounting with n0 unseen and n+ seen pairs (section 2.1,
and appendix A, where the leaving-one-out criterion is derived from it).
"""

from collections.abc import Sequence

import numpy as np

from classgram.clustering.class_pairs import ClassPairs
from classgram.models._kernels.class_smoothing import ClassRows
from classgram.models._kernels.estimation import LevelCounts, LevelOutput, interpolate
from classgram.models.ngram.discounts import ABSOLUTE_DISCOUNT, modified_kneser_ney_discounts
from classgram.models.ngram.trie import logarithm
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Float64Array, Int32Array, Int64Array


def _row_starts(pairs: Sequence[ClassPairs], contexts: int) -> Int64Array:
    """Return where each context's row starts."""
    rows = np.concatenate([pair.contexts for pair in pairs])
    return np.searchsorted(rows, np.arange(contexts + 1)).astype(np.int64)


def interpolated_rows(
    lengths: Sequence[ClassPairs], parents: Int32Array, unigrams: Int64Array, continued: bool = False
) -> ClassRows:
    """Return absolutely discounted estimates, each context interpolated with the next shorter one.

    ``lengths`` holds the pairs of contexts of 1, 2, ... words, numbered through; ``unigrams`` the
    classes' own counts. With ``continued`` the distribution without context counts how many contexts
    a class followed, as in Kneser-Ney, instead of how often it occurred.
    """
    size = unigrams.size
    weights = np.bincount(lengths[0].classes, minlength=size) if continued else unigrams
    without_context = weights / weights.sum()
    lower_keys, lower = np.arange(size), without_context
    probabilities, backoffs = [], []
    first = 0
    for depth, pairs in enumerate(lengths):
        above = parents[pairs.contexts].astype(np.int64) if depth else np.zeros_like(pairs.contexts)
        shares = lower[np.searchsorted(lower_keys, above * size + pairs.classes)]
        starts = np.searchsorted(pairs.contexts, np.arange(first, pairs.end + 1)).astype(np.int64)
        out = LevelOutput(np.empty(pairs.counts.size), np.empty(pairs.end - first))
        known = LevelCounts(frozen(starts), frozen(pairs.counts), frozen(shares))
        interpolate(known, frozen(_pair_discounts(pairs.counts)), out)
        probabilities.append(out.probabilities)
        backoffs.append(out.backoffs)
        lower_keys, lower, first = pairs.contexts * size + pairs.classes, out.probabilities, pairs.end
    return _make_rows(
        lengths, parents, np.concatenate(probabilities), np.concatenate(backoffs), without_context
    )


def _pair_discounts(counts: Int64Array) -> Float64Array:
    """Return discounts for pairs seen once, twice, and more often, or 0.75 where they cannot be estimated."""
    values, problem = modified_kneser_ney_discounts(frozen(counts))
    return np.array([0.0, ABSOLUTE_DISCOUNT]) if problem else values


def paper_rows(
    lengths: Sequence[ClassPairs], unigrams: Int64Array, discount: float = ABSOLUTE_DISCOUNT
) -> ClassRows:
    """Return the joint estimate of section 2.1, normalised for each context.

    p(g1, g2) = (N(g1, g2) - b) / N for pairs that were seen, min(n+ b / n0, 1 - b) / N for the n0 others. All
    classes unseen after a context are equally likely, so every row backs off to the uniform
    distribution over the classes that occur.
    """
    contexts = lengths[-1].end
    occurring = unigrams > 0
    class_count = int(occurring.sum())
    uniform = occurring / class_count
    probabilities = []
    backoffs = np.ones(contexts)
    for pairs in lengths:
        seen = pairs.counts.size
        rows = np.unique(pairs.contexts)
        unseen = rows.size * class_count - seen
        # As in the criterion, an unseen pair never gets more than one seen once.
        unseen_share = min(discount * seen / unseen, 1.0 - discount) if unseen else 0.0
        distinct = np.bincount(pairs.contexts, minlength=contexts)
        totals = np.bincount(pairs.contexts, pairs.counts - discount, minlength=contexts)
        totals = totals + (class_count - distinct) * unseen_share
        probabilities.append((pairs.counts - discount) / totals[pairs.contexts])
        if unseen:
            backoffs[rows] = class_count * unseen_share / totals[rows]
    parents = np.full(contexts, -1, dtype=np.int32)
    return _make_rows(lengths, parents, np.concatenate(probabilities), backoffs, uniform)


def _make_rows(
    lengths: Sequence[ClassPairs],
    parents: Int32Array,
    probabilities: Float64Array,
    backoffs: Float64Array,
    unigrams: Float64Array,
) -> ClassRows:
    """Return the rows of all contexts as read-only arrays of logarithms."""
    return ClassRows(
        frozen(_row_starts(lengths, parents.size)),
        frozen(np.concatenate([pairs.classes for pairs in lengths]).astype(np.int32)),
        frozen(logarithm(probabilities).astype(np.float32)),
        frozen(logarithm(backoffs).astype(np.float32)),
        frozen(parents),
        frozen(logarithm(unigrams).astype(np.float32)),
    )
