"""All parameters of the model over one clustering, fitted to held-out text."""

from dataclasses import replace

import numpy as np

from classgram.models._kernels.decaying_cache import Gate
from classgram.models._kernels.stored_logs import QUANTUM, StoredLogs, store_gate
from classgram.models.factored.caches import even_gate, fit_gate, gate_shares, no_gate
from classgram.models.factored.clustered import ClusteredModel, Parameters
from classgram.models.factored.contexts import Stream
from classgram.models.factored.fitting import even_mixing, fit_mixing
from classgram.models.factored.tuning import FactoredTuning
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import BoolArray, Float64Matrix, Int32Array, Int64Array


def fit_parameters(
    model: ClusteredModel, stream: Stream, counted: BoolArray, tuning: FactoredTuning
) -> ClusteredModel:
    """Return the model with parameters fitted to held-out events, those that count."""
    events, *stored = model.stored(stream)
    features = stored[0].features[:, 1:]
    means, deviations = features.mean(axis=0), features.std(axis=0)
    scales = 1.0 / np.where(deviations > 0, deviations, 1.0)
    contexts = np.zeros(0, np.int32)
    if model.adapts:
        contexts = events.symbols[:, model.rules.columns[0]]
    mixings, gates = [], []
    outcomes = (model.members.sizes.size, 0)
    for logs, targets, number, experts in zip(
        stored, (events.classes, events.ranks), outcomes, model.expert_numbers, strict=True
    ):
        for columns in (logs.features, logs.gate_features) if model.adapts else (logs.features,):
            columns[:, 1 : means.size + 1] = (columns[:, 1 : means.size + 1] - means) * scales
        usable = np.flatnonzero(counted & (np.diff(logs.starts) > 0))
        if model.adapts:
            even = even_gate(experts - 1, logs.gate_features.shape[1], int(model.maps.contexts.max()) + 1)
            gates.append(_stored_gate(logs, targets, contexts, usable, even, tuning))
        else:
            gates.append(no_gate())
        start = even_mixing(experts, means.size, number)
        ready = logs._replace(**{name: frozen(getattr(logs, name)) for name in logs._fields})
        mixings.append(fit_mixing(ready, targets, start, usable, tuning))
    plan = model.parameters.plan._replace(means=frozen(means), scales=frozen(scales))
    return replace(model, parameters=Parameters(plan, mixings[0], mixings[1], gates[0], gates[1]))


def _stored_gate(
    stored: StoredLogs,
    targets: Int32Array,
    contexts: Int32Array,
    usable: Int64Array,
    start: Gate,
    tuning: FactoredTuning,
) -> Gate:
    """Store the gate's rows, those of each half by a gate fitted to the other, and return that of both."""
    number, features = contexts.size, stored.gate_features
    widths = np.diff(stored.starts)
    experts = start.weights.shape[0]
    probabilities = np.ones((number, experts))
    sizes = widths[usable] // (experts + 1)
    for expert in range(experts):
        at = stored.starts[usable] + expert * sizes + targets[usable]
        probabilities[usable, expert] = np.exp(stored.logs[at] / QUANTUM)

    def fitted(events: Int64Array) -> Gate:
        return fit_gate(probabilities[events], features[events], contexts[events], start, tuning)

    scores = np.empty(int(widths.max(initial=0)) // (experts + 1) + 1)
    middle = number // 2
    for first, last, others in (
        (0, middle, usable[usable >= middle]),
        (middle, number, usable[usable < middle]),
    ):
        shares: Float64Matrix = gate_shares(fitted(others), features[first:last], contexts[first:last])
        store_gate(stored, frozen(shares), first, scores, tuning.least_probability)
    return fitted(usable)
