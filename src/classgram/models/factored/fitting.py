"""Exponents of a log-linear mixture fitted to held-out events by Adam (Kingma and Ba, 2015)."""

import numpy as np

from classgram.models._kernels.log_linear import Mixing
from classgram.models._kernels.stored_logs import StoredLogs, add_gradient
from classgram.models.factored.tuning import FactoredTuning
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Float64Array, Int32Array, Int64Array

_MOMENTUM, _SQUARES, _TINY = 0.9, 0.999, 1e-8


class Adam:
    """Steps uphill from some parameters, which are changed in place; the rate falls to 0 in a line."""

    def __init__(self, parameters: Float64Array, steps: int, rate: float) -> None:
        self._parameters, self._steps, self._rate = parameters, steps, rate
        self._first, self._second = np.zeros_like(parameters), np.zeros_like(parameters)
        self._done = 0

    def step(self, gradient: Float64Array, rates: Float64Array | float = 1.0) -> None:
        """Take a step along a gradient, each parameter's at its own rate."""
        self._first += (1 - _MOMENTUM) * (gradient - self._first)
        self._second += (1 - _SQUARES) * (gradient**2 - self._second)
        size = self._rate * (1 - self._done / self._steps)
        self._done += 1
        mean = self._first / (1 - _MOMENTUM**self._done)
        spread = np.sqrt(self._second / (1 - _SQUARES**self._done))
        self._parameters += size * rates * mean / (spread + _TINY)


def even_mixing(experts: int, features: int, outcomes: int) -> Mixing:
    """Return exponents that add up to one, and no biases: what is used where nothing can be fitted."""
    exponents = np.zeros((experts, features + 1))
    exponents[:, 0] = 1.0 / experts
    return Mixing(frozen(exponents), frozen(np.zeros(outcomes)))


def fit_mixing(
    stored: StoredLogs, targets: Int32Array, start: Mixing, usable: Int64Array, tuning: FactoredTuning
) -> Mixing:
    """Return the parameters that give the usable events the highest probability, from some start."""
    usable = usable.copy()
    shape, cut = start.exponents.shape, start.exponents.size
    parameters = np.concatenate([start.exponents.ravel(), start.biases])
    rates = np.ones(parameters.size)
    rates[:cut].reshape(shape)[:, 1:] = tuning.feature_rate
    decays = tuning.decay * (rates < 1)
    random = np.random.default_rng(0)
    scores = np.empty(int(np.diff(stored.starts).max(initial=0)) // shape[0] + 1)
    adam = Adam(parameters, tuning.epochs * -(-usable.size // tuning.batch), tuning.rate)
    for _ in range(tuning.epochs):
        random.shuffle(usable)
        for begin in range(0, usable.size, tuning.batch):
            batch = frozen(usable[begin : begin + tuning.batch])
            gradient = np.zeros_like(parameters)
            now = Mixing(*map(frozen, _as_mixing(parameters, shape)))
            add_gradient(stored, targets, batch, now, scores, _as_mixing(gradient, shape))
            adam.step(gradient / batch.size - decays * parameters, rates)
    return Mixing(*map(frozen, _as_mixing(parameters, shape)))


def _as_mixing(parameters: Float64Array, shape: tuple[int, int]) -> Mixing:
    """Return views of all parameters as those of a mixture."""
    cut = shape[0] * shape[1]
    return Mixing(parameters[:cut].reshape(shape), parameters[cut:])
