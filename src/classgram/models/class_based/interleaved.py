"""N-grams over words and classes in turn: every word of the text is followed by its class.

A word is predicted after ``w2 c2 w1 c1``. Dropping the oldest symbol leads from words to their
classes before it leads to less context: (w2 w1), (c2 w1), (w1), (c1), so that a back-off model over
these symbols generalises by classes first.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from classgram.counts.block_counting import count_block
from classgram.errors import InputError
from classgram.files.folders import Folder, check_range
from classgram.models.class_based.class_model import adopt_unseen
from classgram.models.language_model import LanguageModel, ModelFiles, Note, State, silent
from classgram.models.ngram.kneser_ney import estimate_kneser_ney
from classgram.models.ngram.ngram_model import as_node
from classgram.models.ngram.trie import BackoffTrie
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Float64Array, Int32Array, Int64Array
from classgram.text.sentences import Sentences, sentences_from_ids
from classgram.text.vocabulary import BOS, EOS, Vocabulary


@dataclass(frozen=True)
class InterleavedModel(LanguageModel):
    """A Kneser-Ney model over words and their classes in turn.

    Classes are symbols beside the words: ``symbols`` gives each word that of its class.
    """

    form: ClassVar[str] = "interleaved"

    vocabulary: Vocabulary
    trie: BackoffTrie
    symbols: Int32Array
    info: dict[str, Any] = field(default_factory=dict)
    word_counts: Int64Array | None = None

    @property
    def order(self) -> int:  # type: ignore[override]
        """The number of words that the longest n-grams reach over."""
        return self.trie.order // 2 + 1

    def log_probabilities(self, sentences: Sentences, bos: bool = True) -> Float64Array:
        """Return natural logarithms of every event's probability."""
        stream = interleave(sentences.ids, self.symbols)
        logs = self.trie.score(sentences_from_ids(stream, EOS), bos)[0]
        # A word tells its class: nothing is left to be predicted there.
        return logs[stream < len(self.vocabulary)]

    def start(self, bos: bool = True) -> int:
        """Return the node of <s>, or the empty context."""
        return self.trie.first_context(bos)

    def advance(self, state: State, word: int) -> int:
        """Return the node of the longest context after one more word and its class."""
        node = self.trie.advance(as_node(state), word)
        return node if word == BOS else self.trie.advance(node, int(self.symbols[word]))

    def log_probability(self, state: State, word: int) -> float:
        """Return the natural logarithm of one word's probability."""
        return self.trie.log_probability(as_node(state), word)

    def distribution(self, state: State) -> Float64Array:
        """Return the probability of every word of the vocabulary."""
        return self.trie.distribution(as_node(state))[: len(self.vocabulary)]

    def to_files(self, prefix: str = "") -> ModelFiles:
        """Return the trie over words and classes, and the classes' symbols."""
        config, arrays = self.trie.to_files(prefix)
        arrays[prefix + "symbols"] = self.symbols
        return ModelFiles({"form": self.form, **self.info, **config}, arrays)

    @classmethod
    def from_files(
        cls, folder: Folder, config: Mapping[str, Any], vocabulary: Vocabulary, prefix: str = ""
    ) -> "InterleavedModel":
        """Read the arrays and check that they belong together."""
        trie = BackoffTrie.from_folder(folder, config, prefix)
        symbols = folder.array(prefix + "symbols", np.int32)
        check_range(folder, prefix + "symbols", symbols, len(vocabulary), trie.sizes[0])
        if symbols.size != len(vocabulary):
            raise InputError(f"{folder.path}: vocabulary.txt does not belong to this model")
        info = {key: config[key] for key in ("recipe", "classes", "order", "notes") if key in config}
        return cls(vocabulary, trie, symbols, info)


def interleave(ids: Int32Array, symbols: Int32Array) -> Int32Array:
    """Return words and their classes in turn; a sentence still ends with </s>."""
    stream = np.empty(2 * ids.size, np.int32)
    stream[0::2] = ids
    stream[1::2] = symbols[ids]
    kept = np.ones(stream.size, bool)
    kept[1::2] = ids != EOS
    return stream[kept]


def train_interleaved(
    sentences: Sentences, vocabulary: Vocabulary, class_of: Int32Array, order: int = 4, note: Note = silent
) -> InterleavedModel:
    """Train on sentences, with n-grams that reach over ``order`` words and their classes."""
    size = len(vocabulary)
    counts = np.bincount(sentences.ids, minlength=size).astype(np.int64)
    _, labels = np.unique(adopt_unseen(class_of, counts), return_inverse=True)
    symbols = (labels + size).astype(np.int32)
    stream = interleave(sentences.ids, symbols)
    # One more place for the virtual <s> of the counting.
    levels = count_block(np.append(stream, np.int32(BOS)), 0, 2 * order - 1, int(symbols.max()) + 1)
    is_word = np.arange(levels[0].words.size) < size
    words = is_word & (np.arange(is_word.size) != BOS)
    notes: list[str] = []
    trie = estimate_kneser_ney(levels, np.stack([words, ~is_word]), notes.append)
    for text in notes:
        note(f"words and classes: {text}")
    info = {"recipe": "interleaved", "classes": int(labels.max()) + 1, "order": order}
    return InterleavedModel(vocabulary, trie, frozen(symbols), info, counts)
