"""What the model keeps of the text before, and the gate that weighs it against the chains."""

import numpy as np

from classgram.models._kernels.decaying_cache import (
    CLASS_LEVELS,
    WORD_LEVELS,
    CacheCounts,
    CacheRules,
    Gate,
)
from classgram.models.factored.contexts import ContextTree
from classgram.models.factored.fitting import Adam
from classgram.models.factored.tuning import FactoredTuning
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Float64Array, Float64Matrix, Int32Array, Int64Array

_SYMBOLS = ("c1", "w1", "w2", "w3")
"""The symbols of the contexts of caches."""


def can_cache(tree: ContextTree) -> bool:
    """Whether a model's contexts hold the symbols that caches need."""
    return all(symbol in tree.symbols for symbol in _SYMBOLS)


def cache_rules(tree: ContextTree, sizes: Int32Array, tuning: FactoredTuning, cache: bool) -> CacheRules:
    """Return how a model's caches count, or that it has none."""
    columns = [tree.symbols.index(symbol) if symbol in tree.symbols else 0 for symbol in _SYMBOLS]
    lives = (tuning.class_half_lives, tuning.word_half_lives, tuning.ngram_half_lives)
    rates = [np.log(2.0) / np.array(one if cache else (), np.float64) for one in lives]
    return CacheRules(
        frozen(rates[0]),
        frozen(rates[1]),
        frozen(rates[2]),
        frozen(np.array(tuning.cache_strengths)),
        frozen(np.array(columns, np.int32)),
        frozen((np.cumsum(sizes) - sizes).astype(np.int32)),
    )


def empty_counts(rules: CacheRules, classes: int, words: int, events: int) -> CacheCounts:
    """Return counts of nothing, for a text of so many events."""
    if not rules.class_rates.size:
        classes = words = events = 0
    entries = events * (CLASS_LEVELS + WORD_LEVELS)
    slots = 1 << (2 * entries + 1).bit_length()
    return CacheCounts(
        np.zeros((rules.class_rates.size, classes)),
        np.zeros(rules.class_rates.size),
        np.zeros((rules.word_rates.size, words)),
        np.zeros(words, np.int64),
        np.zeros((rules.word_rates.size, classes)),
        np.zeros(classes, np.int64),
        np.zeros(slots, np.int64),
        np.empty(slots, np.int32),
        np.zeros((slots, 2)),
        np.zeros(slots, np.int64),
        np.empty(entries, np.int32),
        np.empty(entries, np.int32),
        np.empty((entries, 2)),
        np.empty(entries, np.int64),
        np.zeros(2, np.int64),
    )


def no_gate() -> Gate:
    """Return the gate of a model without caches."""
    return Gate(frozen(np.zeros((0, 0))), frozen(np.zeros((0, 0))))


def even_gate(experts: int, features: int, classes: int) -> Gate:
    """Return a gate that weighs all experts alike."""
    return Gate(frozen(np.zeros((experts, features))), frozen(np.zeros((classes, experts))))


def gate_shares(gate: Gate, features: Float64Matrix, labels: Int32Array) -> Float64Matrix:
    """Return the weights of the experts for each event, a row each."""
    scores = features @ gate.weights.T + np.where(labels[:, None] >= 0, gate.by_class[labels], 0.0)
    shares: Float64Matrix = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def fit_gate(
    probabilities: Float64Matrix,
    features: Float64Matrix,
    labels: Int32Array,
    start: Gate,
    tuning: FactoredTuning,
) -> Gate:
    """Return the gate that gives events the highest probability.

    ``probabilities`` are the experts', a row an event; ``labels`` the classes of the words before.
    """
    shape, cut = start.weights.shape, start.weights.size
    parameters: Float64Array = np.concatenate([start.weights.ravel(), start.by_class.ravel()])
    order: Int64Array = np.arange(len(labels))
    random = np.random.default_rng(0)
    adam = Adam(parameters, tuning.gate_epochs * -(-order.size // tuning.batch), tuning.gate_rate)
    for _ in range(tuning.gate_epochs):
        random.shuffle(order)
        for begin in range(0, order.size, tuning.batch):
            batch = order[begin : begin + tuning.batch]
            gate = Gate(parameters[:cut].reshape(shape), parameters[cut:].reshape(start.by_class.shape))
            shares = gate_shares(gate, features[batch], labels[batch])
            joint = shares * probabilities[batch]
            slopes = joint / joint.sum(axis=1, keepdims=True) - shares
            by_class = np.zeros(start.by_class.shape)
            np.add.at(by_class, labels[batch], slopes * (labels[batch] >= 0)[:, None])
            gradient = np.concatenate([(slopes.T @ features[batch]).ravel(), by_class.ravel()])
            adam.step(gradient / batch.size - tuning.gate_decay * parameters)
    weights, by_class = parameters[:cut].reshape(shape), parameters[cut:].reshape(start.by_class.shape)
    return Gate(frozen(weights), frozen(by_class))
