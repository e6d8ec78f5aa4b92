"""Caches of the text before: counts that decay, of classes and words, and after the words before.

p_k(x) = (n(context, x) + t p_{k-1}(x)) / (n(context) + t), where n has a half-life in events.
"""

from typing import NamedTuple

import numpy as np

from classgram.runtime.compiled import part
from classgram.runtime.compiled.arrays import (
    Float32Matrix,
    Float64Array,
    Float64Matrix,
    Int32Array,
    Int32Matrix,
    Int64Array,
)

_PRIME = np.uint64(0x9E3779B97F4A7C15)
CLASS_CACHES = 4
"""Rows of class caches: two of unigrams, two of n-grams."""
WORD_CACHES = 4
"""Rows of word caches: three of unigrams, one of n-grams."""
CLASS_LEVELS = 4
"""Contexts of class n-grams: c1, w1, w1 w2, w1 w2 w3."""
WORD_LEVELS = 3
"""Contexts of word n-grams: the class and w1, w1 w2, w1 w2 w3."""
GATE_FEATURES = 5
"""What caches add to the features of a gate."""


class CacheRules(NamedTuple):
    """How caches count; no rates, no caches."""

    class_rates: Float64Array
    """Decay an event of class unigrams: two rows, and the base of n-grams."""
    word_rates: Float64Array
    """Decay an event of word unigrams; the last is the base of n-grams."""
    ngram_rates: Float64Array
    """Decay an event of n-grams: two rows of classes; words have the second."""
    strengths: Float64Array
    """What the coarser distribution counts: class unigrams and n-grams, word unigrams and n-grams."""
    columns: Int32Array
    """The columns of the symbols c1, w1, w2, w3."""
    firsts: Int32Array
    """The first word of each class among all, class by class."""


class CacheCounts(NamedTuple):
    """What has been seen, zeroed at the start of a text."""

    classes: Float64Matrix
    class_totals: Float64Array
    words: Float64Matrix
    word_times: Int64Array
    word_totals: Float64Matrix
    total_times: Int64Array
    keys: Int64Array
    """Contexts by open addressing: a power of two, more than eight for each event."""
    heads: Int32Array
    """The last outcome of each context; -1 for none."""
    totals: Float64Matrix
    times: Int64Array
    labels: Int32Array
    """Outcomes of contexts, eight for each event at most."""
    following: Int32Array
    """The outcome before in the same context; -1 for none."""
    values: Float64Matrix
    value_times: Int64Array
    used: Int64Array
    """The number of outcomes used, and the first event that is remembered."""


@part
def context_key(unit: int, kind: int, symbols: Int32Matrix, event: int, columns: Int32Array) -> int:
    """Return the key of a context, 0 where it reaches before the text.

    ``kind`` is a class, or -1, times eight, and the context's level: c1, w1, w1 w2, w1 w2 w3.
    """
    level = kind & 7
    mixed = (np.uint64(unit) * _PRIME) ^ np.uint64(kind + 8)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * _PRIME
    first = 0 if level == 0 else 1
    for index in range(first, level + 1):
        symbol = symbols[event, columns[index]]
        if symbol < 0:
            return 0
        mixed = (mixed ^ np.uint64(symbol + 1)) * _PRIME
        mixed = mixed ^ (mixed >> np.uint64(31))
    return int(np.int64(mixed >> np.uint64(1)) + np.int64(1))


@part
def find_slot(keys: Int64Array, key: int) -> int:
    """Return the slot of a context, or the empty one where it belongs."""
    slot = key & (keys.size - 1)
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & (keys.size - 1)
    return slot


@part
def forget_all(counts: CacheCounts, limit: int) -> None:
    """Start anew: unigrams are cleared, and contexts get other keys."""
    counts.used[1] = limit
    counts.classes[:] = 0.0
    counts.class_totals[:] = 0.0
    counts.words[:] = 0.0
    counts.word_totals[:] = 0.0


@part
def add_outcome(rules: CacheRules, counts: CacheCounts, key: int, label: int, now: int) -> None:
    """Count an outcome after a context."""
    slot = find_slot(counts.keys, key)
    if counts.keys[slot] == 0:
        counts.keys[slot] = key
        counts.heads[slot] = -1
    entry = counts.heads[slot]
    while entry >= 0 and counts.labels[entry] != label:
        entry = counts.following[entry]
    if entry < 0:
        entry = counts.used[0]
        counts.used[0] += 1
        counts.labels[entry] = label
        counts.following[entry] = counts.heads[slot]
        counts.heads[slot] = np.int32(entry)
        counts.values[entry] = 0.0
        counts.value_times[entry] = now
    for column in range(2):
        rate = rules.ngram_rates[column]
        faded = np.exp(-rate * (now - counts.value_times[entry]))
        counts.values[entry, column] = counts.values[entry, column] * faded + 1.0
        faded = np.exp(-rate * (now - counts.times[slot]))
        counts.totals[slot, column] = counts.totals[slot, column] * faded + 1.0
    counts.value_times[entry] = now
    counts.times[slot] = now


@part
def remember(
    rules: CacheRules,
    counts: CacheCounts,
    symbols: Int32Matrix,
    event: int,
    label: int,
    rank: int,
) -> None:
    """Count an event."""
    unit = counts.used[1]
    for column in range(rules.class_rates.size):
        faded = np.exp(-rules.class_rates[column])
        for outcome in range(counts.classes.shape[1]):
            counts.classes[column, outcome] *= faded
        counts.classes[column, label] += 1.0
        counts.class_totals[column] = counts.class_totals[column] * faded + 1.0
    word = rules.firsts[label] + rank
    for column in range(rules.word_rates.size):
        rate = rules.word_rates[column]
        faded = np.exp(-rate * (event - counts.word_times[word]))
        counts.words[column, word] = counts.words[column, word] * faded + 1.0
        faded = np.exp(-rate * (event - counts.total_times[label]))
        counts.word_totals[column, label] = counts.word_totals[column, label] * faded + 1.0
    counts.word_times[word] = event
    counts.total_times[label] = event
    for level in range(CLASS_LEVELS):
        key = context_key(unit, level, symbols, event, rules.columns)
        if key != 0:
            add_outcome(rules, counts, key, label, event)
    for level in range(1, WORD_LEVELS + 1):
        key = context_key(unit, (label + 1) * 8 + level, symbols, event, rules.columns)
        if key != 0:
            add_outcome(rules, counts, key, rank, event)


@part
def add_context(
    rules: CacheRules,
    counts: CacheCounts,
    key: int,
    column: int,
    now: int,
    strength: float,
    rows: Float32Matrix,
    row: int,
    size: int,
) -> float:
    """Refine a row by what was seen after a context; return how much that was."""
    if key == 0:
        return 0.0
    slot = find_slot(counts.keys, key)
    if counts.keys[slot] == 0:
        return 0.0
    rate = rules.ngram_rates[column]
    total = counts.totals[slot, column] * np.exp(-rate * (now - counts.times[slot]))
    share = np.float32(strength / (total + strength))
    for outcome in range(size):
        rows[row, outcome] *= share
    entry = counts.heads[slot]
    while entry >= 0:
        faded = np.exp(-rate * (now - counts.value_times[entry]))
        rows[row, counts.labels[entry]] += np.float32(
            counts.values[entry, column] * faded / (total + strength)
        )
        entry = counts.following[entry]
    return float(total)


@part
def fill_class_caches(
    rules: CacheRules,
    counts: CacheCounts,
    symbols: Int32Matrix,
    event: int,
    rows: Float32Matrix,
    first: int,
    base: int,
    size: int,
    features: Float64Array,
    at: int,
) -> None:
    """Write the rows of class caches from ``first`` on, over the row ``base``, and features for a gate."""
    strength = rules.strengths[0]
    for column in range(3):
        total = counts.class_totals[column]
        row = first + column
        for outcome in range(size):
            rows[row, outcome] = np.float32(
                (counts.classes[column, outcome] + strength * rows[base, outcome]) / (total + strength)
            )
    for outcome in range(size):
        rows[first + 3, outcome] = rows[first + 2, outcome]
    features[at + CLASS_LEVELS] = 0.3 * np.log(1.0 + counts.class_totals[2])
    for level in range(CLASS_LEVELS):
        key = context_key(counts.used[1], level, symbols, event, rules.columns)
        total = 0.0
        for column in range(2):
            total = add_context(
                rules, counts, key, column, event, rules.strengths[1], rows, first + 2 + column, size
            )
        features[at + level] = 0.3 * np.log(1.0 + total)


@part
def fill_word_caches(
    rules: CacheRules,
    counts: CacheCounts,
    symbols: Int32Matrix,
    event: int,
    label: int,
    rows: Float32Matrix,
    first: int,
    base: int,
    size: int,
    features: Float64Array,
    at: int,
) -> None:
    """Write the rows of word caches of a class from ``first`` on, over the row ``base``, and features."""
    strength = rules.strengths[2]
    start = rules.firsts[label]
    total = 0.0
    for column in range(3):
        rate = rules.word_rates[column]
        faded = np.exp(-rate * (event - counts.total_times[label]))
        total = counts.word_totals[column, label] * faded
        row = first + column
        for outcome in range(size):
            seen = counts.words[column, start + outcome]
            if seen > 0.0:
                seen *= np.exp(-rate * (event - counts.word_times[start + outcome]))
            rows[row, outcome] = np.float32((seen + strength * rows[base, outcome]) / (total + strength))
    for outcome in range(size):
        rows[first + 3, outcome] = rows[first + 2, outcome]
    features[at + WORD_LEVELS] = 0.3 * np.log(1.0 + total)
    features[at + WORD_LEVELS + 1] = 0.0
    for level in range(1, WORD_LEVELS + 1):
        key = context_key(counts.used[1], (label + 1) * 8 + level, symbols, event, rules.columns)
        total = add_context(rules, counts, key, 1, event, rules.strengths[3], rows, first + 3, size)
        features[at + level - 1] = 0.3 * np.log(1.0 + total)


class Gate(NamedTuple):
    """A linear mixture of rows whose weights are a softmax of features and of the class before."""

    weights: Float64Matrix
    """A row an expert."""
    by_class: Float64Matrix
    """A row a class of the word before, a column an expert."""


@part
def fill_gate(
    gate: Gate, features: Float64Array, label: int, rows: Float32Matrix, size: int, shares: Float64Array
) -> None:
    """Write the gate's mixture of all rows before it, as the row after them."""
    experts = gate.weights.shape[0]
    highest = -np.inf
    for expert in range(experts):
        score = gate.by_class[label, expert] if label >= 0 else 0.0
        for index in range(gate.weights.shape[1]):
            score += gate.weights[expert, index] * features[index]
        shares[expert] = score
        highest = max(highest, score)
    total = 0.0
    for expert in range(experts):
        shares[expert] = np.exp(shares[expert] - highest)
        total += shares[expert]
    for outcome in range(size):
        rows[experts, outcome] = np.float32(0.0)
    for expert in range(experts):
        share = np.float32(shares[expert] / total)
        for outcome in range(size):
            rows[experts, outcome] += share * rows[expert, outcome]
