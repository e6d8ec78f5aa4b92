"""Exponents of a log-linear mixture fitted to held-out events by Adam (Kingma and Ba, 2015)."""

import numpy as np

from classgram.models._kernels.log_linear import Mixing, StoredLogs, add_gradient
from classgram.models.factored.tuning import FactoredTuning
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Float64Array, Float64Matrix, Int32Array, Int64Array

_MOMENTUM, _SQUARES, _TINY = 0.9, 0.999, 1e-8


def even_mixing(experts: int, features: int, outcomes: int) -> Mixing:
    """Return exponents that add up to one, and no biases: what is used where nothing can be fitted."""
    exponents = np.zeros((experts, features + 1))
    exponents[:, 0] = 1.0 / experts
    return Mixing(frozen(exponents), frozen(np.zeros(outcomes)))


def fit_mixing(
    stored: StoredLogs,
    features: Float64Matrix,
    targets: Int32Array,
    start: Mixing,
    usable: Int64Array,
    tuning: FactoredTuning,
) -> Mixing:
    """Return the parameters that give the usable events the highest probability, from some start."""
    usable = usable.copy()
    shape, cut = start.exponents.shape, start.exponents.size
    parameters = np.concatenate([start.exponents.ravel(), start.biases])
    rates = np.ones(parameters.size)
    rates[:cut].reshape(shape)[:, 1:] = tuning.feature_rate
    first, second = np.zeros_like(parameters), np.zeros_like(parameters)
    random = np.random.default_rng(0)
    widest = int(np.diff(stored.starts).max(initial=0)) // max(shape[0], 1)
    scores = np.empty(max(widest, 1))
    steps = tuning.epochs * -(-usable.size // tuning.batch)
    step = 0
    for _ in range(tuning.epochs):
        random.shuffle(usable)
        for begin in range(0, usable.size, tuning.batch):
            batch = frozen(usable[begin : begin + tuning.batch])
            gradient = np.zeros_like(parameters)
            now = Mixing(*map(frozen, _as_mixing(parameters, shape)))
            add_gradient(stored, frozen(features), targets, batch, now, scores, _as_mixing(gradient, shape))
            gradient = gradient / batch.size - tuning.decay * parameters * (rates < 1)
            first += (1 - _MOMENTUM) * (gradient - first)
            second += (1 - _SQUARES) * (gradient**2 - second)
            step += 1
            size = tuning.rate * (1 - (step - 1) / steps)
            upright = first / (1 - _MOMENTUM**step)
            spread = np.sqrt(second / (1 - _SQUARES**step))
            parameters += size * rates * upright / (spread + _TINY)
    return Mixing(*map(frozen, _as_mixing(parameters, shape)))


def _as_mixing(parameters: Float64Array, shape: tuple[int, int]) -> Mixing:
    """Return views of all parameters as those of a mixture."""
    cut = shape[0] * shape[1]
    return Mixing(parameters[:cut].reshape(shape), parameters[cut:])
