"""Log-linear mixtures of distributions: p(x) ~ exp(b_x + sum over experts of exponent * log p_e(x)).

An expert's exponent is a_e + sum over features of A_e,f * feature.
"""

from typing import NamedTuple

import numpy as np

from classgram.models._kernels.chain_rows import (
    ChainTables,
    ExpertLevels,
    fill_rows,
    find_entries,
    find_nodes,
    log_rows,
)
from classgram.models._kernels.decaying_cache import (
    CLASS_CACHES,
    WORD_CACHES,
    CacheCounts,
    CacheRules,
    Gate,
    fill_class_caches,
    fill_gate,
    fill_word_caches,
    forget_all,
    remember,
)
from classgram.runtime.compiled import kernel, part
from classgram.runtime.compiled.arrays import (
    Float32Matrix,
    Float64Array,
    Float64Matrix,
    Int32Array,
    Int32Matrix,
)


class FeaturePlan(NamedTuple):
    """The features of a context: how often parts of it occurred, and how varied their outcomes were."""

    counted: Int32Array
    """Paths whose counts are features."""
    varied: Int32Array
    """Paths whose outcomes are counted."""
    means: Float64Array
    scales: Float64Array


class Mixing(NamedTuple):
    """The parameters of one factor's log-linear mixture."""

    exponents: Float64Matrix
    """A row an expert: a constant, then one for each feature."""
    biases: Float64Array
    """One an outcome, or none."""


class Events(NamedTuple):
    """Events to score, an item (or row) each."""

    symbols: Int32Matrix
    positions: Int32Array
    classes: Int32Array
    ranks: Int32Array
    limits: Int32Array
    """The first event that each may look back to."""


class Buffers(NamedTuple):
    """What an event's kernel works in."""

    nodes: Int32Array
    entries: Int32Array
    features: Float64Array
    """A one, then the features."""
    gate_features: Float64Array
    """The same, then those of caches."""
    class_rows: Float32Matrix
    word_rows: Float32Matrix
    scores: Float64Array


@part
def find_features(
    tables: ChainTables, plan: FeaturePlan, nodes: Int32Array, position: int, out: Float64Array
) -> None:
    """Write a one and the standardised features of a context."""
    out[0] = 1.0
    at = 1
    for index in range(plan.counted.size):
        node = nodes[plan.counted[index]]
        out[at] = np.log(1.0 + tables.node_counts[node]) if node >= 0 else 0.0
        at += 1
    for index in range(plan.varied.size):
        node = nodes[plan.varied[index]]
        out[at] = 0.0
        if node >= 0:
            types = tables.entry_starts[node + 1] - tables.entry_starts[node]
            out[at] = types / tables.node_counts[node]
        at += 1
    out[at] = 1.0 if position == 0 else 0.0
    out[at + 1] = np.log(1.0 + position)
    for index in range(plan.means.size):
        out[index + 1] = (out[index + 1] - plan.means[index]) * plan.scales[index]


@part
def mix_rows(
    mixing: Mixing, features: Float64Array, rows: Float32Matrix, size: int, scores: Float64Array
) -> float:
    """Write each outcome's score, less the highest, and return the logarithm of the sum of exponentials."""
    for outcome in range(size):
        scores[outcome] = mixing.biases[outcome] if mixing.biases.size > 0 else 0.0
    for expert in range(mixing.exponents.shape[0]):
        exponent = 0.0
        for index in range(features.size):
            exponent += mixing.exponents[expert, index] * features[index]
        for outcome in range(size):
            scores[outcome] += exponent * rows[expert, outcome]
    highest = scores[0]
    for outcome in range(1, size):
        highest = max(highest, scores[outcome])
    total = 0.0
    for outcome in range(size):
        scores[outcome] -= highest
        total += np.exp(scores[outcome])
    return float(np.log(total))


@part
def prepare_event(
    tables: ChainTables, plan: FeaturePlan, events: Events, event: int, buffers: Buffers
) -> None:
    """Find an event's nodes and features."""
    find_nodes(tables, events.symbols, event, buffers.nodes)
    find_features(tables, plan, buffers.nodes, events.positions[event], buffers.features)


@part
def fill_classes(
    tables: ChainTables,
    levels: ExpertLevels,
    rules: CacheRules,
    counts: CacheCounts,
    gate: Gate,
    events: Events,
    event: int,
    classes: int,
    least: float,
    buffers: Buffers,
) -> None:
    """Write the logarithms of all classes' probabilities by chains, caches and the gate."""
    rows, experts = buffers.class_rows, levels.starts.size - 1
    fill_rows(levels, buffers.nodes, tables.entry_starts, tables.entry_labels, classes, rows)
    if rules.class_rates.size > 0:
        base, at = levels.starts.size - 2, buffers.features.size
        for index in range(at):
            buffers.gate_features[index] = buffers.features[index]
        fill_class_caches(
            rules, counts, events.symbols, event, rows, experts, base, classes, buffers.gate_features, at
        )
        experts += CLASS_CACHES
        if gate.weights.shape[0] > 0:
            label = events.symbols[event, rules.columns[0]]
            fill_gate(gate, buffers.gate_features, label, rows, classes, buffers.scores)
            experts += 1
    log_rows(rows, 0, experts, classes, np.float32(least))


@part
def fill_words(
    tables: ChainTables,
    levels: ExpertLevels,
    rules: CacheRules,
    counts: CacheCounts,
    gate: Gate,
    events: Events,
    event: int,
    label: int,
    size: int,
    least: float,
    buffers: Buffers,
) -> None:
    """Write the logarithms of the probabilities of a class's words by chains, caches and the gate."""
    rows, experts = buffers.word_rows, levels.starts.size - 1
    find_entries(tables, buffers.nodes, label, buffers.entries)
    fill_rows(levels, buffers.entries, tables.member_starts, tables.member_labels, size, rows)
    if rules.class_rates.size > 0:
        base, at = levels.starts.size - 2, buffers.features.size
        for index in range(at):
            buffers.gate_features[index] = buffers.features[index]
        fill_word_caches(
            rules, counts, events.symbols, event, label, rows, experts, base, size, buffers.gate_features, at
        )
        experts += WORD_CACHES
        if gate.weights.shape[0] > 0:
            context = events.symbols[event, rules.columns[0]]
            fill_gate(gate, buffers.gate_features, context, rows, size, buffers.scores)
            experts += 1
    log_rows(rows, 0, experts, size, np.float32(least))


@part
def look_back(rules: CacheRules, counts: CacheCounts, events: Events, event: int) -> None:
    """Forget what an event may not look back to."""
    if rules.class_rates.size > 0 and events.limits[event] != counts.used[1]:
        forget_all(counts, events.limits[event])


@kernel
def score_events(
    tables: ChainTables,
    class_levels: ExpertLevels,
    word_levels: ExpertLevels,
    plan: FeaturePlan,
    class_mixing: Mixing,
    word_mixing: Mixing,
    rules: CacheRules,
    counts: CacheCounts,
    class_gate: Gate,
    word_gate: Gate,
    sizes: Int32Array,
    events: Events,
    skipped: int,
    least: float,
    buffers: Buffers,
    out: Float64Matrix,
) -> None:
    """Write the logarithms of every event's class and of its word in the class, a row an event.

    The first ``skipped`` events are only remembered.
    """
    classes = sizes.size
    for event in range(events.classes.size):
        label = events.classes[event]
        look_back(rules, counts, events, event)
        if event >= skipped:
            row = event - skipped
            prepare_event(tables, plan, events, event, buffers)
            fill_classes(
                tables, class_levels, rules, counts, class_gate, events, event, classes, least, buffers
            )
            total = mix_rows(class_mixing, buffers.features, buffers.class_rows, classes, buffers.scores)
            out[row, 0] = buffers.scores[label] - total
            out[row, 1] = 0.0
            size = sizes[label]
            if size > 1:
                fill_words(
                    tables, word_levels, rules, counts, word_gate, events, event, label, size, least, buffers
                )
                total = mix_rows(word_mixing, buffers.features, buffers.word_rows, size, buffers.scores)
                out[row, 1] = buffers.scores[events.ranks[event]] - total
        if rules.class_rates.size > 0:
            remember(rules, counts, events.symbols, event, label, events.ranks[event])


@kernel
def fill_distribution(
    tables: ChainTables,
    class_levels: ExpertLevels,
    word_levels: ExpertLevels,
    plan: FeaturePlan,
    class_mixing: Mixing,
    word_mixing: Mixing,
    rules: CacheRules,
    counts: CacheCounts,
    class_gate: Gate,
    word_gate: Gate,
    sizes: Int32Array,
    events: Events,
    least: float,
    buffers: Buffers,
    out: Float64Array,
) -> None:
    """Write the probability of every word, class by class, as the last event."""
    classes = sizes.size
    event = events.classes.size - 1
    for before in range(event if rules.class_rates.size > 0 else 0):
        if events.classes[before] >= 0:
            remember(rules, counts, events.symbols, before, events.classes[before], events.ranks[before])
    prepare_event(tables, plan, events, event, buffers)
    fill_classes(tables, class_levels, rules, counts, class_gate, events, event, classes, least, buffers)
    total = mix_rows(class_mixing, buffers.features, buffers.class_rows, classes, buffers.scores)
    start = 0
    for label in range(classes):
        out[start] = np.exp(buffers.scores[label] - total)
        start += sizes[label]
    start = 0
    for label in range(classes):
        size = sizes[label]
        share = out[start]
        if size > 1:
            fill_words(
                tables, word_levels, rules, counts, word_gate, events, event, label, size, least, buffers
            )
            total = mix_rows(word_mixing, buffers.features, buffers.word_rows, size, buffers.scores)
            for rank in range(size):
                out[start + rank] = share * np.exp(buffers.scores[rank] - total)
        start += size
