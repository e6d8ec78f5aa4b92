"""Annealing: noise on F that falls sweep by sweep, so that a search leaves poor optima.

The class of an element is drawn by gain + Gumbel noise of temperature T times the root of its count; T falls
linearly to zero. F may fall meanwhile, so the best classes on the way are kept.
"""

import numpy as np

from classgram.clustering._kernels.side_arrays import NOISE_VALUES, MoveRule
from classgram.clustering.search.sweep import Best, Cursor, SearchProgress, SweepKind, retry_slack
from classgram.clustering.tuning import SearchTuning
from classgram.options import SearchOptions
from classgram.runtime.compiled.arrays import Float32Array


def annealing_sweeps(options: SearchOptions, tuning: SearchTuning) -> int:
    """Return the number of sweeps of annealing: what is asked for, or what the effort stands for."""
    return tuning.annealing_sweeps(options.effort) if options.annealing is None else options.annealing


def is_annealing(progress: SearchProgress) -> bool:
    """Tell whether sweeps of annealing are still to come."""
    return len(progress.history) < annealing_sweeps(progress.options, progress.problem.tuning)


def gumbel_noise(seed: int, width: int) -> Float32Array:
    """Return Gumbel noise for rows of a width that start anywhere in it."""
    values = np.random.default_rng(seed).gumbel(size=NOISE_VALUES).astype(np.float32)
    return np.concatenate([values, np.resize(values, width)])


def move_rule(progress: SearchProgress, cursor: Cursor) -> MoveRule:
    """Return when an element of an open sweep moves."""
    options, tuning, number = progress.options, progress.problem.tuning, len(progress.history)
    threshold, temperature = cursor.threshold, 0.0
    if cursor.kind is SweepKind.ANNEALING:
        last = annealing_sweeps(options, tuning)
        threshold, temperature = 0.0, options.temperature * (last - number) / last
    # A seed for every sweep and side; the kernel mixes in the element.
    seed = ((options.seed * 1009 + number) * 2 + cursor.side) % (1 << 63)
    slack = retry_slack(progress, cursor.kind)
    return MoveRule(threshold, tuning.runner_up_margin, slack, temperature, seed, progress.noise)


def keep_best(progress: SearchProgress, value: float) -> None:
    """Remember the best classes so far; only annealing can lose them."""
    if not annealing_sweeps(progress.options, progress.problem.tuning):
        return
    if progress.best is None or value > progress.best.value:
        progress.best = Best(value, tuple(np.array(classes) for classes in progress.state.maps))
