"""Experts' logarithms stored for held-out events, and the gradient of log-linear mixtures of them."""

from typing import NamedTuple

import numpy as np

from classgram.models._kernels.chain_rows import ChainTables, ExpertLevels
from classgram.models._kernels.decaying_cache import (
    CLASS_CACHES,
    WORD_CACHES,
    CacheCounts,
    CacheRules,
    Gate,
    remember,
)
from classgram.models._kernels.log_linear import (
    Buffers,
    Events,
    FeaturePlan,
    Mixing,
    fill_classes,
    fill_words,
    look_back,
    prepare_event,
)
from classgram.runtime.compiled import kernel, part
from classgram.runtime.compiled.arrays import (
    Float32Matrix,
    Float64Array,
    Float64Matrix,
    Int16Array,
    Int32Array,
    Int64Array,
)

QUANTUM = 1500.0
"""Steps of a stored logarithm in one unit."""


class StoredLogs(NamedTuple):
    """Experts' logarithms of every outcome of held-out events, in quanta; a row an expert, event by event."""

    logs: Int16Array
    starts: Int64Array
    """Where each event's rows begin, and one more."""
    features: Float64Matrix
    """A one and the features of each event."""
    gate_features: Float64Matrix
    """The same, and those of caches."""


@part
def store_rows(
    rows: Float32Matrix, experts: int, size: int, buffers: Buffers, stored: StoredLogs, event: int
) -> None:
    """Write rows of logarithms in quanta, and features."""
    start = stored.starts[event]
    for expert in range(experts):
        for outcome in range(size):
            stored.logs[start] = np.int16(rows[expert, outcome] * np.float32(QUANTUM) - np.float32(0.5))
            start += 1
    for index in range(stored.features.shape[1]):
        stored.features[event, index] = buffers.features[index]
    for index in range(stored.gate_features.shape[1]):
        stored.gate_features[event, index] = buffers.gate_features[index]


@kernel
def store_logs(
    tables: ChainTables,
    class_levels: ExpertLevels,
    word_levels: ExpertLevels,
    plan: FeaturePlan,
    rules: CacheRules,
    counts: CacheCounts,
    no_gate: Gate,
    sizes: Int32Array,
    events: Events,
    least: float,
    buffers: Buffers,
    of_classes: StoredLogs,
    of_words: StoredLogs,
) -> None:
    """Store every expert's logarithms of all classes, and of all words in the event's class; and features.

    Where there are caches, the gate's row of each event is left as it is.
    """
    classes = sizes.size
    with_cache = rules.class_rates.size > 0
    for event in range(events.classes.size):
        label = events.classes[event]
        look_back(rules, counts, events, event)
        prepare_event(tables, plan, events, event, buffers)
        fill_classes(tables, class_levels, rules, counts, no_gate, events, event, classes, least, buffers)
        experts = class_levels.starts.size - 1 + (CLASS_CACHES if with_cache else 0)
        store_rows(buffers.class_rows, experts, classes, buffers, of_classes, event)
        size = sizes[label]
        if of_words.starts[event + 1] > of_words.starts[event]:
            fill_words(
                tables, word_levels, rules, counts, no_gate, events, event, label, size, least, buffers
            )
            experts = word_levels.starts.size - 1 + (WORD_CACHES if with_cache else 0)
            store_rows(buffers.word_rows, experts, size, buffers, of_words, event)
        if with_cache:
            remember(rules, counts, events.symbols, event, label, events.ranks[event])


@kernel
def store_gate(
    stored: StoredLogs, shares: Float64Matrix, event: int, scores: Float64Array, least: float
) -> None:
    """Store the gate's row of every event from ``event`` on, a row of shares each, after the other rows."""
    experts = shares.shape[1]
    for row in range(shares.shape[0]):
        start = stored.starts[event + row]
        size = (stored.starts[event + row + 1] - start) // (experts + 1)
        for outcome in range(size):
            scores[outcome] = least
        for expert in range(experts):
            share = shares[row, expert]
            for outcome in range(size):
                scores[outcome] += share * np.exp(stored.logs[start + expert * size + outcome] / QUANTUM)
        for outcome in range(size):
            stored.logs[start + experts * size + outcome] = np.int16(np.log(scores[outcome]) * QUANTUM - 0.5)


@kernel
def add_gradient(
    stored: StoredLogs,
    targets: Int32Array,
    batch: Int64Array,
    mixing: Mixing,
    scores: Float64Array,
    gradient: Mixing,
) -> float:
    """Add the gradient of a batch's log-probability to that of the parameters; return its sum."""
    experts, features = mixing.exponents.shape[0], stored.features
    total = 0.0
    step = 1.0 / QUANTUM
    for event in batch:
        start = stored.starts[event]
        size = (stored.starts[event + 1] - start) // experts
        for outcome in range(size):
            scores[outcome] = mixing.biases[outcome] if mixing.biases.size > 0 else 0.0
        for expert in range(experts):
            exponent = 0.0
            for index in range(features.shape[1]):
                exponent += mixing.exponents[expert, index] * features[event, index]
            exponent *= step
            base = start + expert * size
            for outcome in range(size):
                scores[outcome] += exponent * stored.logs[base + outcome]
        highest = scores[0]
        for outcome in range(1, size):
            highest = max(highest, scores[outcome])
        normaliser = 0.0
        for outcome in range(size):
            scores[outcome] = np.exp(scores[outcome] - highest)
            normaliser += scores[outcome]
        target = targets[event]
        total += np.log(scores[target] / normaliser)
        for outcome in range(size):
            scores[outcome] /= -normaliser
        scores[target] += 1.0
        if mixing.biases.size > 0:
            for outcome in range(size):
                gradient.biases[outcome] += scores[outcome]
        for expert in range(experts):
            base = start + expert * size
            slope = 0.0
            for outcome in range(size):
                slope += scores[outcome] * stored.logs[base + outcome]
            slope *= step
            for index in range(features.shape[1]):
                gradient.exponents[expert, index] += slope * features[event, index]
    return total
