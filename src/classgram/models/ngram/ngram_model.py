"""Word n-gram models in back-off form: Kneser-Ney, Katz, the paper's, and any ARPA file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.files.folders import Folder
from classgram.models.language_model import (
    LanguageModel,
    ModelFiles,
    Note,
    State,
    predicted_words,
    silent,
)
from classgram.models.ngram.backoff import estimate_backoff, estimate_katz
from classgram.models.ngram.kneser_ney import estimate_kneser_ney
from classgram.models.ngram.trie import EMPTY_CONTEXT, BackoffTrie
from classgram.runtime.compiled.arrays import Float64Array, Int64Array
from classgram.text.sentences import Sentences
from classgram.text.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class NgramModel(LanguageModel):
    """A word n-gram model: a trie of n-grams with log-probabilities and back-off weights."""

    form: ClassVar[str] = "ngram"

    vocabulary: Vocabulary
    trie: BackoffTrie
    info: dict[str, Any] = field(default_factory=dict)
    word_counts: Int64Array | None = None

    @property
    def order(self) -> int:  # type: ignore[override]
        """The length of the longest n-grams."""
        return self.trie.order

    def log_probabilities(self, sentences: Sentences, bos: bool = True) -> Float64Array:
        """Return natural logarithms of every event's probability."""
        return self.trie.score(sentences, bos)[0]

    def scores_with_lengths(
        self, sentences: Sentences, bos: bool = True
    ) -> tuple[Float64Array, Int64Array | None]:
        """Return log-probabilities, and the length of the n-gram that gave each."""
        out, nodes = self.trie.score(sentences, bos)
        return out, self.trie.lengths(nodes)

    def scores_with_contexts(self, sentences: Sentences, bos: bool = True) -> tuple[Float64Array, Int64Array]:
        """Return log-probabilities, and the node of each event's context, as ``advance`` gives it."""
        out, nodes = self.trie.score(sentences, bos)
        return out, self.trie.contexts(nodes, sentences.offsets, bos)

    def start(self, bos: bool = True) -> int:
        """Return the node of <s>, or the empty context."""
        return self.trie.first_context(bos)

    def advance(self, state: State, word: int) -> int:
        """Return the node of the longest context after one more word."""
        return self.trie.advance(as_node(state), word)

    def log_probability(self, state: State, word: int) -> float:
        """Return the natural logarithm of one word's probability."""
        return self.trie.log_probability(as_node(state), word)

    def distribution(self, state: State) -> Float64Array:
        """Return the probability of every word of the vocabulary."""
        return self.trie.distribution(as_node(state))

    def to_files(self, prefix: str = "") -> ModelFiles:
        """Return the trie's arrays."""
        config, arrays = self.trie.to_files(prefix)
        return ModelFiles({"form": self.form, **self.info, **config}, arrays)

    @classmethod
    def from_files(
        cls, folder: Folder, config: Mapping[str, Any], vocabulary: Vocabulary, prefix: str = ""
    ) -> "NgramModel":
        """Read the trie, and check that it belongs to the vocabulary."""
        trie = BackoffTrie.from_folder(folder, config, prefix)
        if trie.sizes[0] != len(vocabulary):
            raise InputError(f"{folder.path}: vocabulary.txt does not belong to this model")
        info = {key: value for key, value in config.items() if key in ("recipe", "order", "cutoffs", "notes")}
        return cls(vocabulary, trie, info)


def as_node(state: State) -> int:
    """Return a state of an n-gram model as the node of its context."""
    if not isinstance(state, int) or state < EMPTY_CONTEXT:
        raise InputError(f"{state!r} is no state of this model; take it from start or advance")
    return state


def train_kneser_ney(counts: NgramCounts, order: int | None = None, note: Note = silent) -> NgramModel:
    """Train a modified Kneser-Ney model on the counts, up to an order."""
    counts = counts.up_to(_checked_order(counts, order))
    notes: list[str] = []
    trie = estimate_kneser_ney(counts.levels, predicted_words(counts.vocabulary), notes.append)
    return _finish(counts, trie, {"recipe": "kneser-ney"}, notes, note)


def train_backoff(counts: NgramCounts, order: int | None = None, cutoffs: Sequence[int] = (2,)) -> NgramModel:
    """Train the paper's back-off model; cut-offs are for the orders from 2 up."""
    counts = counts.up_to(_checked_order(counts, order))
    trie = estimate_backoff(counts.levels, predicted_words(counts.vocabulary), cutoffs)
    return _finish(counts, trie, {"recipe": "backoff", "cutoffs": list(cutoffs)}, [], silent)


def train_katz(counts: NgramCounts, order: int | None = None, note: Note = silent) -> NgramModel:
    """Train a Katz back-off model with Good-Turing discounts."""
    counts = counts.up_to(_checked_order(counts, order))
    notes: list[str] = []
    trie = estimate_katz(counts.levels, predicted_words(counts.vocabulary), notes.append)
    return _finish(counts, trie, {"recipe": "katz"}, notes, note)


def _checked_order(counts: NgramCounts, order: int | None) -> int:
    """Return the order to train, that of the counts if none is given."""
    if order is not None and order < 2:
        raise InputError(f"--order {order}: word models have an order of 2 or more")
    return order or counts.order


def _finish(
    counts: NgramCounts, trie: BackoffTrie, info: dict[str, Any], notes: list[str], note: Note
) -> NgramModel:
    """Return the model, with the notes on how it was made passed on and kept in its info."""
    for text in notes:
        note(text)
    if notes:
        info["notes"] = notes
    info["order"] = trie.order
    return NgramModel(counts.vocabulary, trie, info, counts.levels[0].counts)
