"""The model over one clustering: a class factor times a word factor."""

from dataclasses import dataclass, replace

import numpy as np

from classgram.models._kernels.log_linear import (
    Buffers,
    Events,
    FeaturePlan,
    Mixing,
    StoredLogs,
    fill_distribution,
    score_events,
    store_logs,
)
from classgram.models.factored.chains import ChainCounter, training_events
from classgram.models.factored.contexts import ClassMaps, ContextTree, Stream, context_tree, symbol_columns
from classgram.models.factored.fitting import even_mixing, fit_mixing
from classgram.models.factored.tables import Chains, ChainSizes, make_chains
from classgram.models.factored.tuning import FactoredTuning
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import BoolArray, Float64Array, Float64Matrix, Int32Array
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


@dataclass(frozen=True)
class ClusteredModel:
    """p(word | before) = p(class | before) p(word | class, before), each factor a log-linear mixture."""

    maps: ClassMaps
    members: Members
    tree: ContextTree
    chains: Chains
    sizes: ChainSizes
    plan: FeaturePlan
    class_mixing: Mixing
    word_mixing: Mixing
    least_probability: float

    def log_factors(self, stream: Stream, before_units: int = EOS) -> Float64Matrix:
        """Return the logarithms of every event's class and of its word in the class, a row an event."""
        events = self._events(stream, before_units)
        out = np.empty((events.classes.size, 2))
        tables, class_levels, word_levels = self.chains
        score_events(
            tables,
            class_levels,
            word_levels,
            self.plan,
            self.class_mixing,
            self.word_mixing,
            self.members.sizes,
            events,
            self.least_probability,
            self._buffers(),
            out,
        )
        return out

    def distribution(self, stream: Stream, before_units: int = EOS) -> Float64Array:
        """Return the probability of every word as the last event of a stream."""
        events = self._events(stream, before_units)
        by_class = np.empty(self.members.words.size)
        tables, class_levels, word_levels = self.chains
        fill_distribution(
            tables,
            class_levels,
            word_levels,
            self.plan,
            self.class_mixing,
            self.word_mixing,
            self.members.sizes,
            events,
            self.least_probability,
            self._buffers(),
            by_class,
        )
        out = np.zeros(self.maps.predicted.size)
        out[self.members.words] = by_class
        return out

    def _events(self, stream: Stream, before_units: int) -> Events:
        """Return what kernels read of a stream's events."""
        ids = stream.ids[stream.ids.size - stream.limits.size :]
        symbols = symbol_columns(self.tree.symbols, stream, self.maps, before_units)
        classes, ranks = self.maps.predicted[ids], self.members.ranks[ids]
        return Events(frozen(symbols), frozen(stream.positions), frozen(classes), frozen(ranks))

    def _buffers(self) -> Buffers:
        """Return what an event's kernel works in."""
        sizes, largest = self.members.sizes, int(self.members.sizes.max())
        return Buffers(
            np.empty(len(self.tree.paths), np.int32),
            np.empty(self.tree.word_paths, np.int32),
            np.empty(self.plan.means.size + 1),
            np.empty((len(self.tree.class_experts), sizes.size), np.float32),
            np.empty((len(self.tree.word_experts), largest), np.float32),
            np.empty(max(sizes.size, largest)),
        )

    def fitted(self, stream: Stream, counted: BoolArray, tuning: FactoredTuning) -> "ClusteredModel":
        """Return the model with parameters fitted to held-out events, those that count."""
        of_classes, of_words, features = self._stored(stream)
        means, deviations = features[:, 1:].mean(axis=0), features[:, 1:].std(axis=0)
        scales = 1.0 / np.where(deviations > 0, deviations, 1.0)
        features[:, 1:] = (features[:, 1:] - means) * scales
        events = self._events(stream, EOS)
        usable = np.flatnonzero(counted)
        experts = len(self.tree.class_experts), len(self.tree.word_experts)
        start = even_mixing(experts[0], means.size, self.members.sizes.size)
        class_mixing = fit_mixing(of_classes, features, events.classes, start, usable, tuning)
        start = even_mixing(experts[1], means.size, 0)
        usable = usable[np.diff(of_words.starts)[usable] > 0]
        word_mixing = fit_mixing(of_words, features, events.ranks, start, usable, tuning)
        plan = self.plan._replace(means=frozen(means), scales=frozen(scales))
        return replace(self, plan=plan, class_mixing=class_mixing, word_mixing=word_mixing)

    def _stored(self, stream: Stream) -> tuple[StoredLogs, StoredLogs, Float64Matrix]:
        """Return all experts' logarithms for a stream's events, and the features as they are."""
        events = self._events(stream, EOS)
        number = events.classes.size
        sizes = self.members.sizes[events.classes].astype(np.int64)
        experts = len(self.tree.class_experts), len(self.tree.word_experts)
        class_starts = np.arange(number + 1, dtype=np.int64) * (experts[0] * self.members.sizes.size)
        # A class of one word has nothing to fit.
        word_starts = np.concatenate([[0], np.cumsum(np.where(sizes > 1, sizes * experts[1], 0))])
        of_classes, of_words = (
            StoredLogs(np.empty(starts[-1], np.int16), frozen(starts.astype(np.int64)))
            for starts in (class_starts, word_starts)
        )
        features = np.empty((number, self.plan.means.size + 1))
        tables, class_levels, word_levels = self.chains
        number_of = self.plan.means.size
        raw = self.plan._replace(means=frozen(np.zeros(number_of)), scales=frozen(np.ones(number_of)))
        store_logs(
            tables,
            class_levels,
            word_levels,
            raw,
            self.members.sizes,
            events,
            self.least_probability,
            self._buffers(),
            of_classes,
            of_words,
            features,
        )
        return of_classes, of_words, features


def feature_paths(tree: ContextTree, tuning: FactoredTuning) -> tuple[Int32Array, Int32Array]:
    """Return the paths whose counts are features, and those whose variety is."""
    paths = {path: index for index, path in enumerate(tree.paths)}
    counted, varied = (
        frozen(np.array([paths[path] for text in texts if (path := tuple(text.split())) in paths], np.int32))
        for texts in (tuning.counted_features, tuning.varied_features)
    )
    return counted, varied


def count_clustered(ids: Int32Array, maps: ClassMaps, tuning: FactoredTuning) -> ClusteredModel:
    """Return the model of a text over given classes, with even exponents."""
    tree, members = context_tree(tuning), class_members(maps.predicted)
    events = training_events(ids, tree, maps, members.ranks)
    chains, sizes = make_chains(tree, ChainCounter(events, tree, tuning.pruned_level).count())
    counted, varied = feature_paths(tree, tuning)
    number = counted.size + varied.size + 2
    plan = FeaturePlan(counted, varied, frozen(np.zeros(number)), frozen(np.ones(number)))
    class_mixing = even_mixing(len(tree.class_experts), number, members.sizes.size)
    word_mixing = even_mixing(len(tree.word_experts), number, 0)
    return ClusteredModel(
        maps, members, tree, chains, sizes, plan, class_mixing, word_mixing, tuning.least_probability
    )
