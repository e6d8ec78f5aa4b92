"""Mixture weights by expectation maximisation on held-out text."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Int64s = npt.NDArray[np.int64]

_ROUNDS = 300
_TOLERANCE = 1e-7
"""Rounds end when the mean log-probability rises by less."""

_PRIOR_EVENTS = 100.0
"""A bucket's weights are drawn towards those of the whole text as if by so many events more."""

_WEAK_EVENTS = 10.0
"""All weights are drawn towards the first column as if by so many events more: little text says little."""


def weak_prior(columns: int) -> tuple[Floats, float]:
    """Half the weight for the first column and the rest for all, and how many events that counts."""
    prior = np.full(columns, 0.5 / columns)
    prior[0] += 0.5
    return prior, _WEAK_EVENTS


def em_weights(probabilities: Floats, prior: Floats | None = None, strength: float = 0.0) -> Floats:
    """The weights of columns that make the events, rows, most probable in the mean.

    With a prior, weights are drawn towards it as if by ``strength`` events more.
    """
    columns = probabilities.shape[1]
    weights = np.full(columns, 1.0 / columns) if prior is None else prior.copy()
    pull = np.zeros(columns) if prior is None else strength * prior
    last = -np.inf
    for _ in range(_ROUNDS):
        mixed = probabilities @ weights
        usable = mixed > 0
        score = float(np.log(mixed[usable]).mean()) if usable.any() else 0.0
        shares = (probabilities[usable] / mixed[usable, None]).sum(axis=0) * weights
        weights = shares + pull
        weights /= weights.sum()
        if score - last < _TOLERANCE:
            break
        last = score
    return weights


def bucket_weights(probabilities: Floats, buckets: Int64s, count: int) -> Floats:
    """A row of weights for every bucket, each drawn towards the weights of all events together."""
    overall = em_weights(probabilities, *weak_prior(probabilities.shape[1]))
    rows = np.tile(overall, (count, 1))
    for bucket in np.unique(buckets):
        rows[bucket] = em_weights(probabilities[buckets == bucket], overall, _PRIOR_EVENTS)
    return rows
