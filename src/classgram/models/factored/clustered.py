"""The model over one clustering: a class factor times a word factor."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from classgram.models._kernels.decaying_cache import (
    CLASS_CACHES,
    GATE_FEATURES,
    WORD_CACHES,
    CacheCounts,
    CacheRules,
    Gate,
)
from classgram.models._kernels.log_linear import (
    Buffers,
    Events,
    FeaturePlan,
    Mixing,
    fill_distribution,
    score_events,
)
from classgram.models._kernels.stored_logs import StoredLogs, store_logs
from classgram.models.factored.caches import cache_rules, empty_counts, even_gate, no_gate
from classgram.models.factored.chains import ChainCounter, training_events
from classgram.models.factored.contexts import (
    NO_SYMBOL,
    ClassMaps,
    ContextTree,
    Stream,
    context_tree,
    symbol_columns,
)
from classgram.models.factored.fitting import even_mixing
from classgram.models.factored.tables import Chains, ChainSizes, make_chains
from classgram.models.factored.tuning import FactoredTuning
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Float64Array, Float64Matrix, Int32Array
from classgram.text.vocabulary import BOS, EOS


@dataclass(frozen=True)
class Members:
    """The words of each predicted class."""

    ranks: Int32Array
    """Each word's number in its class."""
    sizes: Int32Array
    """By class."""
    words: Int32Array
    """All predicted words, class by class."""


def class_members(predicted: Int32Array) -> Members:
    """Return the words of each class; <s>, of class -1, is in none."""
    words = np.argsort(predicted, kind="stable").astype(np.int32)
    words = words[predicted[words] >= 0]
    sizes = np.bincount(predicted[words]).astype(np.int32)
    ranks = np.zeros(predicted.size, np.int32)
    first = np.cumsum(sizes) - sizes
    ranks[words] = np.arange(words.size) - first[predicted[words]]
    return Members(frozen(ranks), frozen(sizes), frozen(words))


def predicted_classes(class_of: Int32Array) -> Int32Array:
    """Return classes numbered from 0 without gaps; <s> has none."""
    out = np.full(class_of.size, -1, np.int32)
    ordinary = np.arange(class_of.size) != BOS
    out[ordinary] = np.unique(class_of[ordinary], return_inverse=True)[1]
    return frozen(out)


class Parameters(NamedTuple):
    """What is fitted to held-out text."""

    plan: FeaturePlan
    class_mixing: Mixing
    word_mixing: Mixing
    class_gate: Gate
    word_gate: Gate


@dataclass(frozen=True)
class ClusteredModel:
    """p(word | before) = p(class | before) p(word | class, before), each factor a log-linear mixture."""

    maps: ClassMaps
    members: Members
    tree: ContextTree
    chains: Chains
    sizes: ChainSizes
    parameters: Parameters
    rules: CacheRules
    least_probability: float

    @property
    def adapts(self) -> bool:
        """Whether the model has caches."""
        return self.rules.class_rates.size > 0

    def log_factors(self, stream: Stream, before_units: int = EOS, skipped: int = 0) -> Float64Matrix:
        """Return the logarithms of every event's class and of its word in the class, a row an event.

        The first events are skipped; caches remember them.
        """
        return self._scored(self._events(stream, before_units), skipped)

    def log_factors_at(self, stream: Stream, chosen: slice) -> Float64Matrix:
        """Return the same of chosen events, each with empty caches."""
        return self._scored(self._events_at(stream, chosen), 0)

    def _events_at(self, stream: Stream, chosen: slice) -> Events:
        """Return chosen events of a stream whose units begin after nothing."""
        events = self._events(stream, NO_SYMBOL)
        symbols, *columns = (frozen(column[chosen]) for column in events)
        return Events(symbols, *columns)

    def _scored(self, events: Events, skipped: int) -> Float64Matrix:
        """Return the logarithms of both factors of events, the first ones skipped."""
        out = np.empty((events.classes.size - skipped, 2))
        counts, fitted = self._counts(events), self.parameters
        score_events(
            *self.chains,
            fitted.plan,
            fitted.class_mixing,
            fitted.word_mixing,
            self.rules,
            counts,
            fitted.class_gate,
            fitted.word_gate,
            self.members.sizes,
            events,
            skipped,
            self.least_probability,
            self._buffers(),
            out,
        )
        return out

    def distribution(self, stream: Stream, before_units: int = EOS) -> Float64Array:
        """Return the probability of every word as the last event of a stream."""
        return self._distribution(self._events(stream, before_units))

    def distribution_at(self, stream: Stream, chosen: slice) -> Float64Array:
        """Return the probability of every word as the one chosen event, with empty caches."""
        return self._distribution(self._events_at(stream, chosen))

    def _distribution(self, events: Events) -> Float64Array:
        """Return the probability of every word as the last event."""
        by_class = np.empty(self.members.words.size)
        counts, fitted = self._counts(events), self.parameters
        fill_distribution(
            *self.chains,
            fitted.plan,
            fitted.class_mixing,
            fitted.word_mixing,
            self.rules,
            counts,
            fitted.class_gate,
            fitted.word_gate,
            self.members.sizes,
            events,
            self.least_probability,
            self._buffers(),
            by_class,
        )
        out = np.zeros(self.maps.predicted.size)
        out[self.members.words] = by_class
        return out

    def _counts(self, events: Events) -> CacheCounts:
        """Return empty caches for some events."""
        return empty_counts(self.rules, self.members.sizes.size, self.members.words.size, events.classes.size)

    def _events(self, stream: Stream, before_units: int) -> Events:
        """Return what kernels read of a stream's events."""
        ids = stream.ids[stream.ids.size - stream.limits.size :]
        symbols = symbol_columns(self.tree.symbols, stream, self.maps, before_units)
        classes, ranks = self.maps.predicted[ids], self.members.ranks[ids]
        columns = symbols, stream.positions, classes, ranks, stream.limits
        return Events(*map(frozen, columns))

    def _buffers(self) -> Buffers:
        """Return what an event's kernel works in."""
        sizes, largest = self.members.sizes, int(self.members.sizes.max())
        features = self.parameters.plan.means.size + 1
        experts = self.expert_numbers
        return Buffers(
            np.empty(len(self.tree.paths), np.int32),
            np.empty(self.tree.word_paths, np.int32),
            np.empty(features),
            np.empty(features + GATE_FEATURES),
            np.empty((experts[0], sizes.size), np.float32),
            np.empty((experts[1], largest), np.float32),
            np.empty(max(sizes.size, largest, *experts)),
        )

    @property
    def expert_numbers(self) -> tuple[int, int]:
        """The experts of the class factor and of the word factor: chains, caches and the gate."""
        return expert_numbers(self.tree, self.adapts)

    def stored(self, stream: Stream) -> tuple[Events, StoredLogs, StoredLogs]:
        """Return a stream's events, and all experts' logarithms for them; features as they are."""
        events = self._events(stream, EOS)
        number, experts = events.classes.size, self.expert_numbers
        sizes = self.members.sizes[events.classes].astype(np.int64)
        # A class of one word has nothing to fit.
        widths = (np.full(number, self.members.sizes.size), np.where(sizes > 1, sizes, 0))
        features = self.parameters.plan.means.size
        of_classes, of_words = (
            StoredLogs(
                np.zeros(int(width.sum()) * rows, np.int16),
                frozen(np.concatenate([[0], np.cumsum(width * rows)]).astype(np.int64)),
                np.zeros((number, features + 1)),
                np.zeros((number, features + 1 + GATE_FEATURES if self.adapts else 0)),
            )
            for width, rows in zip(widths, experts, strict=True)
        )
        raw = self.parameters.plan._replace(
            means=frozen(np.zeros(features)), scales=frozen(np.ones(features))
        )
        store_logs(
            *self.chains,
            raw,
            self.rules,
            self._counts(events),
            no_gate(),
            self.members.sizes,
            events,
            self.least_probability,
            self._buffers(),
            of_classes,
            of_words,
        )
        return events, of_classes, of_words


def expert_numbers(tree: ContextTree, adapts: bool) -> tuple[int, int]:
    """Return the numbers of experts of both factors: chains, and with caches these and the gate."""
    classes, words = len(tree.class_experts), len(tree.word_experts)
    return (classes + CLASS_CACHES + 1, words + WORD_CACHES + 1) if adapts else (classes, words)


def feature_paths(tree: ContextTree, tuning: FactoredTuning) -> tuple[Int32Array, Int32Array]:
    """Return the paths whose counts are features, and those whose variety is."""
    paths = {path: index for index, path in enumerate(tree.paths)}
    counted, varied = (
        frozen(np.array([paths[path] for text in texts if (path := tuple(text.split())) in paths], np.int32))
        for texts in (tuning.counted_features, tuning.varied_features)
    )
    return counted, varied


def count_clustered(
    ids: Int32Array, maps: ClassMaps, tuning: FactoredTuning, cache: bool = False
) -> ClusteredModel:
    """Return the model of a text over given classes, with even exponents."""
    tree, members = context_tree(tuning), class_members(maps.predicted)
    events = training_events(ids, tree, maps, members.ranks)
    chains, sizes = make_chains(tree, ChainCounter(events, tree, tuning.pruned_level).count())
    counted, varied = feature_paths(tree, tuning)
    number = counted.size + varied.size + 2
    plan = FeaturePlan(counted, varied, frozen(np.zeros(number)), frozen(np.ones(number)))
    experts = expert_numbers(tree, cache)
    class_mixing = even_mixing(experts[0], number, members.sizes.size)
    word_mixing = even_mixing(experts[1], number, 0)
    gates = (no_gate(), no_gate())
    if cache:
        features, contexts = number + 1 + GATE_FEATURES, int(maps.contexts.max()) + 1
        gates = (
            even_gate(experts[0] - 1, features, contexts),
            even_gate(experts[1] - 1, features, contexts),
        )
    parameters = Parameters(plan, class_mixing, word_mixing, *gates)
    rules = cache_rules(tree, members.sizes, tuning, cache)
    return ClusteredModel(maps, members, tree, chains, sizes, parameters, rules, tuning.least_probability)
