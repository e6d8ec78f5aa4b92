"""Mixture weights by expectation maximisation on held-out text."""

from typing import NamedTuple

import numpy as np

from classgram.models.mixtures.tuning import DEFAULT_TUNING, RecipeTuning
from classgram.runtime.compiled.arrays import Float64Array, Float64Matrix, Int64Array


class Prior(NamedTuple):
    """Weights to start from, and the number of further events by which they count."""

    weights: Float64Array
    events: float


def weak_prior(columns: int, tuning: RecipeTuning = DEFAULT_TUNING) -> Prior:
    """Return half the weight for the first column, the rest shared by all: little text proves little."""
    weights = np.full(columns, 0.5 / columns)
    weights[0] += 0.5
    return Prior(weights, tuning.prior_events)


def em_weights(
    probabilities: Float64Matrix, prior: Prior | None = None, tuning: RecipeTuning = DEFAULT_TUNING
) -> Float64Array:
    """Return the weights of the columns that give the events, the rows, the highest likelihood."""
    columns = probabilities.shape[1]
    weights = np.full(columns, 1.0 / columns) if prior is None else prior.weights.copy()
    pull = np.zeros(columns) if prior is None else prior.events * prior.weights
    last = -np.inf
    for _ in range(tuning.em_rounds):
        mixed = probabilities @ weights
        usable = mixed > 0
        score = float(np.log(mixed[usable]).mean()) if usable.any() else 0.0
        shares = (probabilities[usable] / mixed[usable, None]).sum(axis=0) * weights
        weights = shares + pull
        weights /= weights.sum()
        if score - last < tuning.em_tolerance:
            break
        last = score
    return weights


def bucket_weights(
    probabilities: Float64Matrix, buckets: Int64Array, count: int, tuning: RecipeTuning = DEFAULT_TUNING
) -> Float64Matrix:
    """Return a row of weights for every bucket, with the weights of all events together as prior."""
    overall = em_weights(probabilities, weak_prior(probabilities.shape[1], tuning), tuning)
    prior = Prior(overall, tuning.bucket_prior_events)
    rows = np.tile(overall, (count, 1))
    for bucket in np.unique(buckets):
        rows[bucket] = em_weights(probabilities[buckets == bucket], prior, tuning)
    return rows
