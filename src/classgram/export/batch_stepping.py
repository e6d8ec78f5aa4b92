"""Models in many contexts at once: states as rows of integers, stepped and read in batches."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from classgram.errors import InputError
from classgram.export._kernels.batch_stepping import (
    NO_WORD,
    RowRoom,
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
from classgram.models.language_model import LanguageModel
from classgram.models.mixtures.mixture import MixtureModel, find_buckets
from classgram.models.mixtures.wider_vocabulary import AdaptedModel
from classgram.models.ngram.ngram_model import NgramModel
from classgram.models.ngram.trie import BackoffTrie
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Float64Array as Floats
from classgram.text.vocabulary import BOS, UNK

States = npt.NDArray[np.int32]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class Wanted(NamedTuple):
    """Which words are wanted in each of several contexts: those of context i are starts[i]:starts[i + 1]."""

    starts: Int64s
    words: Int32s


def row_room(symbols: int, depth: int) -> RowRoom:
    """Give room for the row of a context of up to so many words."""
    return RowRoom(np.empty(symbols), np.empty(depth, np.int64), np.empty(depth))


class Walker(ABC):
    """A model stepped in many contexts at once; a state is a row of ``width`` integers."""

    width: int

    @abstractmethod
    def start(self, bos: bool) -> States:
        """The state at a sentence's start, or that of the empty context, as one row."""

    @abstractmethod
    def step(self, states: States, words: Int32s) -> tuple[States, Floats]:
        """The states after one more word each, and the words' log-probabilities."""

    @abstractmethod
    def add(self, states: States, wanted: Wanted, weights: Floats, out: Floats) -> None:
        """Add each state's weight times the probabilities of the words wanted there."""


class TrieWalker(Walker):
    """Word n-grams: a state is a node."""

    width = 1

    def __init__(self, trie: BackoffTrie, words: int) -> None:
        self.trie, self.words = trie, words

    @cached_property
    def values(self) -> tuple[npt.NDArray[np.float32], Floats]:
        """The probabilities of all nodes, and of all words without context."""
        return frozen(np.exp(self.trie.arrays.log_probabilities)), without_context(self.trie, self.words)

    def start(self, bos: bool) -> States:
        """The node of <s>, or of the empty context."""
        return np.array([[self.trie.first_context(bos)]], np.int32)

    def step(self, states: States, words: Int32s) -> tuple[States, Floats]:
        """The next nodes and the log-probabilities."""
        after, logs = stepped(self.trie, states[:, 0], words)
        return after[:, None], logs

    def add(self, states: States, wanted: Wanted, weights: Floats, out: Floats) -> None:
        """Add weighted probabilities."""
        sums, room = (frozen(weights), out), row_room(self.words, self.trie.order)
        add_word_rows(self.trie.arrays, frozen(states[:, 0]), self.values, wanted, sums, room)


class InterleavedWalker(TrieWalker):
    """Words and classes in turn: a state is a node after a class."""

    def __init__(self, model: InterleavedModel) -> None:
        super().__init__(model.trie, len(model.vocabulary))
        self.symbols = model.symbols

    def step(self, states: States, words: Int32s) -> tuple[States, Floats]:
        """The nodes after the words and their classes; <s> has no class."""
        after, logs = stepped(self.trie, states[:, 0], words)
        classes, _ = stepped(self.trie, after, self.symbols[words])
        return np.where(words == BOS, after, classes)[:, None], logs


class ClassNgramWalker(TrieWalker):
    """N-grams over classes: a state is a node of the classes' trie."""

    def __init__(self, model: ClassNgramModel) -> None:
        super().__init__(model.trie, model.trie.sizes[0])
        self.model = model
        self.members = class_members(model.class_of, model.log_members)

    def step(self, states: States, words: Int32s) -> tuple[States, Floats]:
        """The nodes after the words' classes."""
        after, logs = stepped(self.trie, states[:, 0], self.model.class_of[words])
        return after[:, None], logs + self.model.log_members[words]

    def add(self, states: States, wanted: Wanted, weights: Floats, out: Floats) -> None:
        """Add weighted probabilities."""
        arrays, nodes = self.trie.arrays, frozen(states[:, 0])
        sums, room = (frozen(weights), out), row_room(self.words, self.trie.order)
        add_class_ngram_rows(arrays, nodes, self.values, self.members, wanted, sums, room)


class ClassWalker(Walker):
    """Class models: a state is the last words, oldest first, -1 where there is none."""

    def __init__(self, model: ClassModel) -> None:
        self.model = model
        self.width = model.order - 1
        self.members = class_members(model.maps.predicted, model.log_members)

    def start(self, bos: bool) -> States:
        """As many <s> as a context holds words, or none."""
        return np.full((1, self.width), BOS if bos else NO_WORD, np.int32)

    def contexts(self, states: States) -> Int32s:
        """The number of each state's class context, -1 for none."""
        maps, out = self.model.maps, np.empty(len(states), np.int32)
        if maps.elements is None:
            row_contexts(frozen(states), maps.contexts, self.model.tree, out)
            return out
        known = states[:, -1] != NO_WORD
        out[:] = NO_WORD
        # A place without a word ends the search, which runs from the last word backwards.
        out[known] = maps.contexts[0][maps.elements.elements_of(states[known])]
        return out

    def step(self, states: States, words: Int32s) -> tuple[States, Floats]:
        """The words moved up by one, and the log-probabilities."""
        logs = np.empty(len(words))
        used = np.empty(len(words), np.int32)
        classes = self.model.maps.predicted[words]
        score_classes(self.model.rows, frozen(self.contexts(states)), frozen(classes), logs, used)
        after = np.concatenate([states[:, 1:], words[:, None]], axis=1)
        return after, logs + self.model.log_members[words]

    def add(self, states: States, wanted: Wanted, weights: Floats, out: Floats) -> None:
        """Add weighted probabilities."""
        contexts = frozen(self.contexts(states))
        room = row_room(self.model.rows.log_unigrams.size, self.model.order)
        add_class_rows(self.model.rows, contexts, self.members, wanted, (frozen(weights), out), room)


class AdaptedWalker(Walker):
    """A model over a wider vocabulary: its states, its words looked up."""

    def __init__(self, model: AdaptedModel) -> None:
        self.inner, self.own = walker_of(model.model), model.own
        self.width = self.inner.width
        unknown = model.own == UNK
        self.shares = np.where(unknown, np.log(np.count_nonzero(unknown)), 0.0)

    def start(self, bos: bool) -> States:
        """The model's state."""
        return self.inner.start(bos)

    def step(self, states: States, words: Int32s) -> tuple[States, Floats]:
        """The model's states, and its <unk> shared out."""
        after, logs = self.inner.step(states, self.own[words])
        return after, logs - self.shares[words]

    def add(self, states: States, wanted: Wanted, weights: Floats, out: Floats) -> None:
        """Add weighted probabilities."""
        found = np.zeros(len(out))
        own = Wanted(wanted.starts, frozen(self.own[wanted.words]))
        self.inner.add(states, own, weights, found)
        out += found * np.exp(-self.shares[wanted.words])


class MixtureWalker(Walker):
    """A mixture without its caches: the components' states side by side."""

    def __init__(self, model: MixtureModel) -> None:
        self.parts = [walker_of(one) for one in model.components]
        self.model = model
        ends = np.cumsum([part.width for part in self.parts])
        self.columns = [slice(end - part.width, end) for part, end in zip(self.parts, ends, strict=True)]
        self.width = int(ends[-1])
        weights = model.weights[:, : len(self.parts)]
        # Where nothing came before, a cache's weight goes to the models in proportion.
        self.weights = weights / weights.sum(axis=1, keepdims=True)

    def start(self, bos: bool) -> States:
        """The components' states."""
        return np.concatenate([part.start(bos) for part in self.parts], axis=1)

    def weights_of(self, states: States) -> Floats:
        """The components' weights in each state, a row each."""
        buckets = self.model.buckets
        if buckets is None:
            return np.broadcast_to(self.weights[0], (len(states), len(self.parts)))
        guide = self.model.components[buckets.guide]
        assert isinstance(guide, NgramModel)
        contexts = states[:, self.columns[buckets.guide].start].astype(np.int64)
        chosen: Floats = self.weights[find_buckets(guide, buckets.edges, contexts)]
        return chosen

    def step(self, states: States, words: Int32s) -> tuple[States, Floats]:
        """The components' next states, and the mixed probabilities."""
        weights = self.weights_of(states)
        after = np.empty_like(states)
        total = np.zeros(len(words))
        for number, (part, columns) in enumerate(zip(self.parts, self.columns, strict=True)):
            after[:, columns], logs = part.step(states[:, columns], words)
            total += weights[:, number] * np.exp(logs)
        return after, np.log(np.maximum(total, np.finfo(float).tiny))

    def add(self, states: States, wanted: Wanted, weights: Floats, out: Floats) -> None:
        """Add every component's weighted probabilities."""
        own = self.weights_of(states) * weights[:, None]
        for number, (part, columns) in enumerate(zip(self.parts, self.columns, strict=True)):
            part.add(states[:, columns], wanted, own[:, number], out)


def without_context(trie: BackoffTrie, size: int) -> Floats:
    """The probabilities of a trie's first symbols without context; that of <s> is 0."""
    unigrams = np.exp(trie.arrays.log_probabilities[:size].astype(np.float64))
    unigrams[BOS] = 0.0
    return frozen(unigrams)


def stepped(trie: BackoffTrie, contexts: Int32s, words: Int32s) -> tuple[Int32s, Floats]:
    """The nodes after one more symbol each, and the log-probabilities."""
    after, logs = np.empty(len(words), np.int32), np.empty(len(words))
    step_all(trie.arrays, frozen(contexts), frozen(words), after, logs)
    return after, logs


def class_members(class_of: Int32s, log_members: npt.NDArray[np.float32]) -> tuple[Int32s, Floats]:
    """Each word's class and its share of the class; that of <s>, which is never predicted, is 0."""
    shares = np.exp(log_members.astype(np.float64))
    shares[BOS] = 0.0
    return frozen(class_of), frozen(shares)


MAKERS: dict[type[LanguageModel], Callable[..., Walker]] = {
    NgramModel: lambda model: TrieWalker(model.trie, len(model.vocabulary)),
    ClassNgramModel: ClassNgramWalker,
    InterleavedModel: InterleavedWalker,
    ClassModel: ClassWalker,
    AdaptedModel: AdaptedWalker,
    MixtureModel: MixtureWalker,
}


def walker_of(model: LanguageModel) -> Walker:
    """The model, to be stepped in many contexts at once."""
    for form, make in MAKERS.items():
        if isinstance(model, form):
            return make(model)
    raise InputError(f"a model of the form {model.form!r} cannot be exported")
