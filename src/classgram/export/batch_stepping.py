"""Models stepped in many contexts at once: a batch of states is a matrix of integers, a row each."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property

import numpy as np

from classgram.errors import InputError
from classgram.export._kernels.batch_stepping import (
    NO_WORD,
    Members,
    NodeValues,
    RowBuffers,
    Wanted,
    WeightedSums,
    add_class_ngram_rows,
    add_class_rows,
    add_word_rows,
    row_contexts,
    step_all,
)
from classgram.models._kernels.class_smoothing import score_classes
from classgram.models.class_based.class_model import ClassModel
from classgram.models.class_based.class_ngrams import ClassNgramModel
from classgram.models.class_based.interleaved import InterleavedModel
from classgram.models.factored.model import FactoredModel
from classgram.models.language_model import LanguageModel
from classgram.models.mixtures.mixture import MixtureModel, find_buckets
from classgram.models.mixtures.wider_vocabulary import AdaptedModel
from classgram.models.ngram.ngram_model import NgramModel
from classgram.models.ngram.trie import BackoffTrie
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import (
    Float32Array,
    Float64Array,
    Float64Matrix,
    Int32Array,
    Int32Matrix,
)
from classgram.text.vocabulary import BOS, EOS, UNK

States = Int32Matrix


def _row_buffers(symbols: int, depth: int) -> RowBuffers:
    """Return buffers for the row of a context of up to ``depth`` words."""
    return RowBuffers(np.empty(symbols), np.empty(depth, np.int64), np.empty(depth))


class BatchStepper(ABC):
    """A model stepped in many contexts at once; a state is a row of ``width`` integers."""

    width: int

    @abstractmethod
    def start(self, bos: bool) -> States:
        """Return the state at a sentence's start, or that of the empty context, as one row."""

    @abstractmethod
    def step(self, states: States, words: Int32Array) -> tuple[States, Float64Array]:
        """Return the states after one more word each, and the words' log-probabilities."""

    @abstractmethod
    def add(self, states: States, wanted: Wanted, weights: Float64Array, out: Float64Array) -> None:
        """Add to ``out`` each state's weight times the probabilities of the words wanted there."""


class _TrieStepper(BatchStepper):
    """Word n-grams: a state is a node."""

    width = 1

    def __init__(self, trie: BackoffTrie, words: int) -> None:
        self.trie, self.words = trie, words

    @cached_property
    def values(self) -> NodeValues:
        """The probabilities of all nodes, and of all words without context."""
        probabilities = frozen(np.exp(self.trie.arrays.log_probabilities))
        return NodeValues(probabilities, _without_context(self.trie, self.words))

    def start(self, bos: bool) -> States:
        """Return the node of <s>, or of the empty context."""
        return np.array([[self.trie.first_context(bos)]], np.int32)

    def step(self, states: States, words: Int32Array) -> tuple[States, Float64Array]:
        """Return the next nodes and the log-probabilities."""
        after, logs = _stepped(self.trie, states[:, 0], words)
        return after[:, None], logs

    def add(self, states: States, wanted: Wanted, weights: Float64Array, out: Float64Array) -> None:
        """Add weighted probabilities."""
        sums, buffers = WeightedSums(frozen(weights), out), _row_buffers(self.words, self.trie.order)
        add_word_rows(self.trie.arrays, frozen(states[:, 0]), self.values, wanted, sums, buffers)


class _InterleavedStepper(_TrieStepper):
    """Words interleaved with classes: a state is a node after a class."""

    def __init__(self, model: InterleavedModel) -> None:
        super().__init__(model.trie, len(model.vocabulary))
        self.symbols = model.symbols

    def step(self, states: States, words: Int32Array) -> tuple[States, Float64Array]:
        """Return the nodes after the words and their classes; <s> has no class."""
        after, logs = _stepped(self.trie, states[:, 0], words)
        classes, _ = _stepped(self.trie, after, self.symbols[words])
        return np.where(words == BOS, after, classes)[:, None], logs


class _ClassNgramStepper(_TrieStepper):
    """N-grams over classes: a state is a node of the classes' trie."""

    def __init__(self, model: ClassNgramModel) -> None:
        super().__init__(model.trie, model.trie.sizes[0])
        self.model = model
        self.members = _class_members(model.class_of, model.log_members)

    def step(self, states: States, words: Int32Array) -> tuple[States, Float64Array]:
        """Return the nodes after the words' classes, and the log-probabilities."""
        after, logs = _stepped(self.trie, states[:, 0], self.model.class_of[words])
        return after[:, None], logs + self.model.log_members[words]

    def add(self, states: States, wanted: Wanted, weights: Float64Array, out: Float64Array) -> None:
        """Add weighted probabilities."""
        arrays, nodes = self.trie.arrays, frozen(states[:, 0])
        sums, buffers = WeightedSums(frozen(weights), out), _row_buffers(self.words, self.trie.order)
        add_class_ngram_rows(arrays, nodes, self.values, self.members, wanted, sums, buffers)


class _ClassStepper(BatchStepper):
    """Class models: a state is the last words, oldest first, -1 where there is none."""

    def __init__(self, model: ClassModel) -> None:
        self.model = model
        self.width = model.order - 1
        self.members = _class_members(model.maps.predicted, model.log_members)

    def start(self, bos: bool) -> States:
        """Return as many <s> as a context holds words, or none."""
        return np.full((1, self.width), BOS if bos else NO_WORD, np.int32)

    def contexts(self, states: States) -> Int32Array:
        """Return the node of each state's class context, -1 for none."""
        maps, out = self.model.maps, np.empty(len(states), np.int32)
        if maps.elements is None:
            row_contexts(frozen(states), maps.contexts, self.model.tree, out)
            return out
        known = states[:, -1] != NO_WORD
        out[:] = NO_WORD
        # The search runs from the last word backwards and ends where there is no word.
        out[known] = maps.contexts[0][maps.elements.elements_of(states[known])]
        return out

    def step(self, states: States, words: Int32Array) -> tuple[States, Float64Array]:
        """Return the states shifted by one word, and the log-probabilities."""
        logs = np.empty(len(words))
        used = np.empty(len(words), np.int32)
        classes = self.model.maps.predicted[words]
        score_classes(self.model.rows, frozen(self.contexts(states)), frozen(classes), logs, used)
        after = np.concatenate([states[:, 1:], words[:, None]], axis=1)
        return after, logs + self.model.log_members[words]

    def add(self, states: States, wanted: Wanted, weights: Float64Array, out: Float64Array) -> None:
        """Add weighted probabilities."""
        contexts = frozen(self.contexts(states))
        buffers = _row_buffers(self.model.rows.log_unigrams.size, self.model.order)
        sums = WeightedSums(frozen(weights), out)
        add_class_rows(self.model.rows, contexts, self.members, wanted, sums, buffers)


class _WiderVocabularyStepper(BatchStepper):
    """A model over a wider vocabulary: the inner model's states; words are mapped to its own."""

    def __init__(self, model: AdaptedModel) -> None:
        self.inner, self.own = batch_stepper(model.model), model.own
        self.width = self.inner.width
        unknown = model.own == UNK
        self.shares = np.where(unknown, np.log(np.count_nonzero(unknown)), 0.0)

    def start(self, bos: bool) -> States:
        """Return the inner model's state."""
        return self.inner.start(bos)

    def step(self, states: States, words: Int32Array) -> tuple[States, Float64Array]:
        """Return the inner model's states; words that it does not know share the probability of its <unk>."""
        after, logs = self.inner.step(states, self.own[words])
        return after, logs - self.shares[words]

    def add(self, states: States, wanted: Wanted, weights: Float64Array, out: Float64Array) -> None:
        """Add weighted probabilities."""
        found = np.zeros(len(out))
        own = Wanted(wanted.starts, frozen(self.own[wanted.words]))
        self.inner.add(states, own, weights, found)
        out += found * np.exp(-self.shares[wanted.words])


class _MixtureStepper(BatchStepper):
    """A mixture without its caches: the components' states side by side."""

    def __init__(self, model: MixtureModel) -> None:
        self.components = [batch_stepper(one) for one in model.components]
        self.model = model
        ends = np.cumsum([component.width for component in self.components])
        self.columns = [
            slice(end - component.width, end) for component, end in zip(self.components, ends, strict=True)
        ]
        self.width = int(ends[-1])
        weights = model.weights[:, : len(self.components)]
        # The weight of caches goes to the models in proportion.
        self.weights = weights / weights.sum(axis=1, keepdims=True)

    def start(self, bos: bool) -> States:
        """Return the components' states."""
        return np.concatenate([component.start(bos) for component in self.components], axis=1)

    def weights_of(self, states: States) -> Float64Matrix:
        """Return the components' weights in each state, a row each."""
        buckets = self.model.buckets
        if buckets is None:
            return np.broadcast_to(self.weights[0], (len(states), len(self.components)))
        guide = self.model.components[buckets.guide]
        assert isinstance(guide, NgramModel)
        contexts = states[:, self.columns[buckets.guide].start].astype(np.int64)
        chosen: Float64Matrix = self.weights[find_buckets(guide, buckets.edges, contexts)]
        return chosen

    def step(self, states: States, words: Int32Array) -> tuple[States, Float64Array]:
        """Return the components' next states, and the mixed log-probabilities."""
        weights = self.weights_of(states)
        after = np.empty_like(states)
        total = np.zeros(len(words))
        for number, (component, columns) in enumerate(zip(self.components, self.columns, strict=True)):
            after[:, columns], logs = component.step(states[:, columns], words)
            total += weights[:, number] * np.exp(logs)
        return after, np.log(np.maximum(total, np.finfo(float).tiny))

    def add(self, states: States, wanted: Wanted, weights: Float64Array, out: Float64Array) -> None:
        """Add every component's weighted probabilities."""
        own = self.weights_of(states) * weights[:, None]
        for number, (component, columns) in enumerate(zip(self.components, self.columns, strict=True)):
            component.add(states[:, columns], wanted, own[:, number], out)


class _FactoredStepper(BatchStepper):
    """A factored model without its caches: the last words, the sentence's first word, and the position.

    Contexts begin with the sentence: what crosses its start is left out.
    """

    def __init__(self, model: FactoredModel) -> None:
        self.model = model
        self.reach = model.order - 1
        self.width = self.reach + 2

    def start(self, bos: bool) -> States:
        """Return no words, or </s> alone, which stands before the first one."""
        row = [*[NO_WORD] * (self.reach - 1), EOS if bos else NO_WORD, EOS, 0]
        return np.array([row], np.int32)

    def step(self, states: States, words: Int32Array) -> tuple[States, Float64Array]:
        """Return the states shifted by one word, and the log-probabilities."""
        logs = self.model.log_probabilities_after(states, words)
        first = np.where(states[:, -1] == 0, words, states[:, -2])
        after = np.column_stack([states[:, 1 : self.reach], words, first, states[:, -1] + 1])
        after[words == BOS] = self.start(True)[0]
        return after.astype(np.int32), logs

    def add(self, states: States, wanted: Wanted, weights: Float64Array, out: Float64Array) -> None:
        """Add weighted probabilities."""
        for row, weight in enumerate(weights.tolist()):
            first, last = wanted.starts[row], wanted.starts[row + 1]
            if last > first:
                found = self.model.distribution_after(states[row])
                out[first:last] += weight * found[wanted.words[first:last]]


def _without_context(trie: BackoffTrie, size: int) -> Float64Array:
    """Return the probabilities of a trie's first symbols without context; that of <s> is 0."""
    unigrams = np.exp(trie.arrays.log_probabilities[:size].astype(np.float64))
    unigrams[BOS] = 0.0
    return frozen(unigrams)


def _stepped(trie: BackoffTrie, contexts: Int32Array, words: Int32Array) -> tuple[Int32Array, Float64Array]:
    """Return the nodes after one more symbol each, and the log-probabilities."""
    after, logs = np.empty(len(words), np.int32), np.empty(len(words))
    step_all(trie.arrays, frozen(contexts), frozen(words), after, logs)
    return after, logs


def _class_members(class_of: Int32Array, log_members: Float32Array) -> Members:
    """Return each word's class and its share of the class; that of <s>, which is never predicted, is 0."""
    shares = np.exp(log_members.astype(np.float64))
    shares[BOS] = 0.0
    return Members(frozen(class_of), frozen(shares))


_STEPPERS: dict[type[LanguageModel], Callable[..., BatchStepper]] = {
    NgramModel: lambda model: _TrieStepper(model.trie, len(model.vocabulary)),
    ClassNgramModel: _ClassNgramStepper,
    InterleavedModel: _InterleavedStepper,
    ClassModel: _ClassStepper,
    AdaptedModel: _WiderVocabularyStepper,
    MixtureModel: _MixtureStepper,
    FactoredModel: _FactoredStepper,
}


def batch_stepper(model: LanguageModel) -> BatchStepper:
    """Return the model as a batch stepper."""
    for form, make in _STEPPERS.items():
        if isinstance(model, form):
            return make(model)
    raise InputError(f"a model of the form {model.form!r} cannot be exported")
