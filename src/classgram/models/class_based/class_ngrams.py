"""Modified Kneser-Ney over the sequence of classes: shape a of section 3 (tied classes) at any order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from classgram.counts._kernels.counting import Level
from classgram.counts.ngram_counts import NgramCounts, first_level, parents_of
from classgram.errors import InputError
from classgram.files.folders import Folder, check_finite, check_range
from classgram.models.class_based.class_model import INFO_KEYS, adopt_unseen, member_probabilities
from classgram.models.language_model import LanguageModel, ModelFiles, Note, State, silent
from classgram.models.ngram.kneser_ney import estimate_kneser_ney
from classgram.models.ngram.ngram_model import as_node
from classgram.models.ngram.trie import BackoffTrie, logarithm
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Float32Array, Float64Array, Int32Array, Int64Array
from classgram.text.sentences import Sentences
from classgram.text.vocabulary import BOS, Vocabulary

_FIRST_CLASS = 2
"""Classes are numbered from here: 1 is <s>, and 0 stands for no class, as <unk> does for words."""


@dataclass(frozen=True, eq=False)
class ClassNgramModel(LanguageModel):
    """An n-gram model over classes, times the probability of the word in its class."""

    form: ClassVar[str] = "class-ngram"

    vocabulary: Vocabulary
    trie: BackoffTrie
    class_of: Int32Array
    log_members: Float32Array
    """log p(w | g) of every word."""
    info: dict[str, Any] = field(default_factory=dict)
    word_counts: Int64Array | None = None

    @property
    def order(self) -> int:  # type: ignore[override]
        """The length of the longest class n-grams."""
        return self.trie.order

    def _classes(self, sentences: Sentences) -> Sentences:
        return Sentences(self.class_of[sentences.ids], sentences.offsets)

    def log_probabilities(self, sentences: Sentences, bos: bool = True) -> Float64Array:
        """Return natural logarithms of every event's probability."""
        return self.scores_with_lengths(sentences, bos)[0]

    def scores_with_lengths(
        self, sentences: Sentences, bos: bool = True
    ) -> tuple[Float64Array, Int64Array | None]:
        """Return log-probabilities, and the length of the class n-gram that gave each."""
        out, nodes = self.trie.score(self._classes(sentences), bos)
        out += self.log_members[sentences.ids]
        return out, self.trie.lengths(nodes)

    def start(self, bos: bool = True) -> int:
        """Return the node of <s>, or the empty context."""
        return self.trie.first_context(bos)

    def advance(self, state: State, word: int) -> int:
        """Return the node of the longest class context after one more word."""
        return self.trie.advance(as_node(state), int(self.class_of[word]))

    def log_probability(self, state: State, word: int) -> float:
        """Return the natural logarithm of one word's probability."""
        label = int(self.class_of[word])
        return self.trie.log_probability(as_node(state), label) + float(self.log_members[word])

    def distribution(self, state: State) -> Float64Array:
        """Return the probability of every word of the vocabulary."""
        classes = self.trie.distribution(as_node(state))
        words = classes[self.class_of] * np.exp(self.log_members.astype(np.float64))
        words[BOS] = 0.0
        return words

    def to_files(self, prefix: str = "") -> ModelFiles:
        """Return the trie over classes, the classes and the members."""
        config, arrays = self.trie.to_files(prefix)
        arrays |= {prefix + "class_of": self.class_of, prefix + "log_members": self.log_members}
        return ModelFiles({"form": self.form, **self.info, **config}, arrays)

    @classmethod
    def from_files(
        cls, folder: Folder, config: Mapping[str, Any], vocabulary: Vocabulary, prefix: str = ""
    ) -> "ClassNgramModel":
        """Read the arrays and check that they belong together."""
        trie = BackoffTrie.from_folder(folder, config, prefix)
        class_of = folder.array(prefix + "class_of", np.int32)
        members = folder.array(prefix + "log_members", np.float32)
        if not class_of.size == members.size == len(vocabulary):
            raise InputError(f"{folder.path}: vocabulary.txt does not belong to this model")
        check_range(folder, prefix + "class_of", class_of, 0, trie.sizes[0])
        check_finite(folder, prefix + "log_members", members)
        info = {key: value for key, value in config.items() if key in (*INFO_KEYS, "order")}
        return cls(vocabulary, trie, class_of, members, info)


def train_class_ngrams(
    counts: NgramCounts, class_of: Int32Array, order: int | None = None, note: Note = silent
) -> ClassNgramModel:
    """Train modified Kneser-Ney over the classes of words, up to an order."""
    counts = counts.up_to(order or counts.order)
    unigrams = counts.levels[0].counts
    classes = _renumbered(adopt_unseen(class_of, unigrams))
    levels = class_levels(counts.levels, classes)
    notes: list[str] = []
    trie = estimate_kneser_ney(levels, levels[0].counts > 0, notes.append)
    for text in notes:
        note(f"classes: {text}")
    members = logarithm(member_probabilities(classes, unigrams)).astype(np.float32)
    info = {
        "recipe": "class",
        "shape": "tied",
        "smoothing": "kneser-ney",
        "classes": int(np.count_nonzero(levels[0].counts)),
        "order": trie.order,
        **({"notes": notes} if notes else {}),
    }
    return ClassNgramModel(counts.vocabulary, trie, frozen(classes), frozen(members), info, unigrams)


def _renumbered(class_of: Int32Array) -> Int32Array:
    """Return the classes numbered from 2 on; <s> is 1 and alone, whatever class it was in."""
    ordinary = np.arange(class_of.size) != BOS
    _, numbers = np.unique(class_of[ordinary], return_inverse=True)
    out = np.full(class_of.size, BOS, dtype=np.int32)
    out[ordinary] = numbers + _FIRST_CLASS
    return out


def class_levels(levels: Sequence[Level], class_of: Int32Array) -> list[Level]:
    """Return the n-gram counts of words as those of their classes."""
    size = int(class_of.max()) + 1
    made = [first_level(np.bincount(class_of, levels[0].counts, minlength=size).astype(np.int64))]
    numbers = class_of.astype(np.int64)
    for level in levels[1:]:
        keys = numbers[parents_of(level)] * size + class_of[level.words]
        found, numbers = np.unique(keys, return_inverse=True)
        totals = np.bincount(numbers, level.counts, minlength=found.size).astype(np.int64)
        starts = np.searchsorted(found // size, np.arange(made[-1].words.size + 1))
        made.append(Level(starts.astype(np.int64), (found % size).astype(np.int32), totals))
    return made
