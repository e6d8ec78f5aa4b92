"""Class models: p(w | context) = p(g2 | g1) p(w | g2), for every shape of classes.

The bigram is the class model of section 2; contexts of several words are the shapes a (tied), b
(positional) and c (joint) of section 3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from classgram.classes.membership import member_shares
from classgram.clustering.class_pairs import ClassPairs, add_up
from classgram.counts.contexts import Contexts, padded_ids
from classgram.counts.ngram_counts import NgramCounts, gram_words, parents_of
from classgram.errors import InputError
from classgram.files.folders import Folder, check_finite, check_range, check_starts
from classgram.models._kernels.class_smoothing import (
    ClassRows,
    ContextTree,
    fill_classes,
    find_contexts,
    score_classes,
)
from classgram.models.class_based.class_smoothing import interpolated_rows, paper_rows
from classgram.models.language_model import LanguageModel, ModelFiles, State
from classgram.models.ngram.trie import logarithm
from classgram.options import Smoothing
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import (
    AnyArray,
    Float32Array,
    Float64Array,
    Int32Array,
    Int32Matrix,
    Int64Array,
)
from classgram.text.sentences import Sentences
from classgram.text.vocabulary import BOS, EOS, Vocabulary


class ClassMaps(NamedTuple):
    """A partition as a class model uses it.

    ``contexts`` has a row for each distance, the word just before first (tied and positional
    classes), or one row over context elements (joint classes). ``predicted`` maps words.
    """

    contexts: Int32Matrix
    predicted: Int32Array
    elements: Contexts | None = None


@dataclass(frozen=True, eq=False)
class ClassModel(LanguageModel):
    """A class model with rows of class probabilities for each class context."""

    form: ClassVar[str] = "class"

    vocabulary: Vocabulary
    order: int
    maps: ClassMaps
    tree: ContextTree
    rows: ClassRows
    log_members: Float32Array
    """log p(w | g2) of every word."""
    info: dict[str, Any] = field(default_factory=dict)
    word_counts: Int64Array | None = None

    def log_probabilities(self, sentences: Sentences, bos: bool = True) -> Float64Array:
        """Return natural logarithms of every event's probability."""
        return self._scores(sentences, bos)[0]

    def scores_with_lengths(
        self, sentences: Sentences, bos: bool = True
    ) -> tuple[Float64Array, Int64Array | None]:
        """Return log-probabilities, and one more than the number of words in the class context of each."""
        out, used = self._scores(sentences, bos)
        return out, np.append(self._depths, 0)[used] + 1

    def _scores(self, sentences: Sentences, bos: bool) -> tuple[Float64Array, Int32Array]:
        contexts = self._contexts(sentences)
        if not bos:
            contexts = self._forget_start(sentences, contexts)
        out = np.empty(sentences.tokens)
        used = np.empty(sentences.tokens, dtype=np.int32)
        classes = self.maps.predicted[sentences.ids]
        score_classes(self.rows, frozen(contexts), frozen(classes), out, used)
        out += self.log_members[sentences.ids]
        return out, used

    def _contexts(self, sentences: Sentences) -> Int32Array:
        """Return the number of each event's class context."""
        if self.maps.elements is not None:
            return np.take(self.maps.contexts[0], self.maps.elements.lookup(sentences))
        padded, places = padded_ids(sentences, self.order - 1)
        return self._find(padded, places)

    def _find(self, ids: Int32Array, places: Int64Array) -> Int32Array:
        out = np.empty(places.size, dtype=np.int32)
        find_contexts(frozen(ids), frozen(places), self.maps.contexts, self.tree, out)
        return out

    def _forget_start(self, sentences: Sentences, contexts: Int32Array) -> Int32Array:
        """Return the contexts as they are when nothing, not even <s>, is before each sentence."""
        contexts = contexts.copy()
        for start, end in zip(sentences.offsets[:-1], sentences.offsets[1:], strict=True):
            for event in range(start, min(start + self.order - 1, end)):
                words = tuple(int(word) for word in sentences.ids[start:event])
                contexts[event] = self._context(words)
        return contexts

    def _context(self, words: tuple[int, ...]) -> int:
        """Return the number of the class context after these words; without <s> it may be shorter."""
        if not words:
            return -1
        words = words[-(self.order - 1) :]
        if self.maps.elements is not None:
            return int(self.maps.contexts[0][self.maps.elements.element_of(words)])
        # The words stand backwards in the tree, so that a short context ends the search early.
        node = int(self.maps.contexts[0][words[-1]])
        for back, word in enumerate(reversed(words[:-1]), start=1):
            start, end = self.tree.starts[node : node + 2]
            label = self.maps.contexts[back][word]
            place = start + np.searchsorted(self.tree.classes[start:end], label)
            if place == end or self.tree.classes[place] != label:
                break
            node = int(place)
        return node

    @cached_property
    def _depths(self) -> Int64Array:
        """The number of words of every class context."""
        if self.maps.elements is not None:
            return np.full(self.rows.parents.size, self.order - 1)
        depths = np.ones(self.rows.parents.size, dtype=np.int64)
        for node in range(self.tree.starts.size - 1):
            depths[self.tree.starts[node] : self.tree.starts[node + 1]] = depths[node] + 1
        return depths

    def start(self, bos: bool = True) -> tuple[int, ...]:
        """Return as many <s> as a context holds words, or no word."""
        return (BOS,) * (self.order - 1) if bos else ()

    def advance(self, state: State, word: int) -> tuple[int, ...]:
        """Return the last words of the context."""
        return (*_as_words(state), word)[-(self.order - 1) :]

    def distribution(self, state: State) -> Float64Array:
        """Return the probability of every word of the vocabulary."""
        classes = np.exp(self.rows.log_unigrams.astype(np.float64))
        chain = np.empty(self.order, np.int64)
        fill_classes(self.rows, self._context(_as_words(state)), classes, chain)
        words = classes[self.maps.predicted] * np.exp(self.log_members.astype(np.float64))
        words[BOS] = 0.0
        return words

    def to_files(self, prefix: str = "") -> ModelFiles:
        """Return maps, rows and members as arrays."""
        arrays: dict[str, AnyArray] = {
            "context_maps": self.maps.contexts,
            "predicted_map": self.maps.predicted,
            "log_members": self.log_members,
            "tree_starts": self.tree.starts,
            "tree_classes": self.tree.classes,
            **{f"rows_{name}": array for name, array in self.rows._asdict().items()},
        }
        if self.maps.elements is not None:
            arrays["context_tuples"] = self.maps.elements.tuples
        config = {"form": self.form, **self.info, "order": self.order}
        return ModelFiles(config, {prefix + name: array for name, array in arrays.items()})

    @classmethod
    def from_files(
        cls, folder: Folder, config: Mapping[str, Any], vocabulary: Vocabulary, prefix: str = ""
    ) -> "ClassModel":
        """Read the arrays and check that they belong together."""
        order = config.get("order")
        if not isinstance(order, int) or order < 2:
            raise InputError(f"{folder.path}: config.json has no valid order; recreate the folder")
        rows = ClassRows(
            *(folder.array(f"{prefix}rows_{name}", _ROW_TYPES[name]) for name in ClassRows._fields)
        )
        tree = ContextTree(
            folder.array(prefix + "tree_starts", np.int64),
            folder.array(prefix + "tree_classes", np.int32),
        )
        elements = None
        if prefix + "context_tuples" in folder.config["arrays"]:
            tuples = folder.array(prefix + "context_tuples", np.int32, 2)
            check_range(folder, prefix + "context_tuples", tuples, -1, len(vocabulary))
            elements = Contexts(len(vocabulary), order - 1, tuples)
        maps = ClassMaps(
            folder.array(prefix + "context_maps", np.int32, 2),
            folder.array(prefix + "predicted_map", np.int32),
            elements,
        )
        members = folder.array(prefix + "log_members", np.float32)
        info = {key: value for key, value in config.items() if key in INFO_KEYS}
        model = cls(vocabulary, order, maps, tree, rows, members, info)
        _check_model(folder, model)
        return model


_ROW_TYPES = {
    "starts": np.int64,
    "classes": np.int32,
    "log_probabilities": np.float32,
    "log_backoffs": np.float32,
    "parents": np.int32,
    "log_unigrams": np.float32,
}
INFO_KEYS = ("recipe", "shape", "smoothing", "classes", "context_classes", "notes")


def _as_words(state: State) -> tuple[int, ...]:
    """Return a state of a class model as the words that it holds."""
    if not isinstance(state, tuple):
        raise InputError(f"{state!r} is no state of this model; take it from start or advance")
    return state


def _check_model(folder: Folder, model: ClassModel) -> None:
    """Refuse arrays that do not belong together, before any kernel sees them."""
    rows, maps = model.rows, model.maps
    words, contexts, classes = len(model.vocabulary), rows.parents.size, rows.log_unigrams.size
    elements = words if maps.elements is None else len(maps.elements)
    distances = model.order - 1 if maps.elements is None else 1
    fits = (
        maps.contexts.shape == (distances, elements)
        and maps.predicted.size == model.log_members.size == words
        and rows.log_backoffs.size == contexts
        and rows.log_probabilities.size == rows.classes.size
        and (maps.elements is None or maps.elements.tuples.shape[1] == model.order - 1)
    )
    if not fits:
        raise InputError(f"{folder.path}: its arrays do not belong together; recreate the folder")
    check_starts(folder, "rows_starts", rows.starts, contexts, rows.classes.size)
    check_range(folder, "rows_classes", rows.classes, 0, classes)
    check_range(folder, "predicted_map", maps.predicted, 0, classes)
    check_range(folder, "context_maps", maps.contexts[:1], 0, contexts)
    check_range(folder, "rows_parents", rows.parents, -1, contexts)
    ancestors = rows.parents
    for _ in range(model.order - 1):
        ancestors = np.where(ancestors >= 0, rows.parents[ancestors], -1)
    if (ancestors >= 0).any():
        raise InputError(f"{folder.path}: rows_parents.npy is out of order; recreate the folder")
    if maps.elements is None:
        _check_tree(folder, model)
    check_finite(folder, "rows_log_probabilities", rows.log_probabilities)
    check_finite(folder, "rows_log_backoffs", rows.log_backoffs)
    check_finite(folder, "rows_log_unigrams", rows.log_unigrams)
    check_finite(folder, "log_members", model.log_members)


def _check_tree(folder: Folder, model: ClassModel) -> None:
    """Refuse a tree of contexts that does not fit the rows."""
    tree, contexts = model.tree, model.rows.parents.size
    whole = tree.classes.size == contexts and tree.starts.size == contexts + 1
    if not whole or int(tree.starts[-1]) > contexts or (np.diff(tree.starts) < 0).any():
        raise InputError(f"{folder.path}: tree_starts.npy is out of range; recreate the folder")
    check_range(folder, "tree_starts", tree.starts, 0, contexts + 1)


def adopt_unseen(class_of: Int32Array, counts: Int64Array) -> Int32Array:
    """Return the map with every word that never occurred in the class of the least frequent one that did.

    Among the classes of several least frequent words the one with most seen words is taken, then the
    lowest number. <s> and </s> take in no words.
    """
    class_of = class_of.astype(np.int32).copy()
    ordinary = np.ones(counts.size, dtype=np.bool_)
    ordinary[[BOS, EOS]] = False
    seen = ordinary & (counts > 0)
    if seen.any():
        rarest = seen & (counts == counts[seen].min())
        sizes = np.bincount(class_of[seen])
        candidates = np.unique(class_of[rarest])
        class_of[ordinary & ~seen] = candidates[np.argmax(sizes[candidates])]
    return class_of


def member_probabilities(class_of: Int32Array, counts: Int64Array) -> Float64Array:
    """Return p(w | g2) of every word; <s>, which is never predicted, has none."""
    predicted = np.arange(counts.size) != BOS
    out = np.zeros(counts.size)
    out[predicted] = member_shares(class_of[predicted], counts[predicted])
    return out


def _class_counts(class_of: Int32Array, counts: Int64Array, size: int) -> Int64Array:
    """Return N(g2): how often each class was predicted."""
    return np.bincount(class_of, counts, minlength=size).astype(np.int64)


def estimate_class_model(
    counts: NgramCounts, order: int, maps: ClassMaps, smoothing: Smoothing
) -> ClassModel:
    """Estimate a class model; ``kneser-ney`` is for contexts of one class, joint ones or bigrams."""
    counts = counts.up_to(order)
    unigrams = counts.levels[0].counts
    predicted = adopt_unseen(maps.predicted, unigrams)
    contexts = maps.contexts.astype(np.int32).copy()
    for row in contexts:
        row[: unigrams.size] = adopt_unseen(row[: unigrams.size], unigrams)
    maps = ClassMaps(frozen(contexts), frozen(predicted), maps.elements)
    size = int(predicted.max()) + 1
    if maps.elements is not None:
        lengths, tree, parents = _joint_pairs(counts, maps)
    else:
        lengths, tree, parents = _tuple_pairs(counts, maps)
    totals = _class_counts(predicted, unigrams, size)
    if smoothing == "paper":
        rows = paper_rows(lengths, totals)
    else:
        rows = interpolated_rows(lengths, parents, totals, smoothing == "kneser-ney")
    members = frozen(logarithm(member_probabilities(predicted, unigrams)).astype(np.float32))
    info = {
        "recipe": "class",
        "smoothing": smoothing,
        "classes": int(np.count_nonzero(totals)),
        "context_classes": int(np.unique(contexts[0]).size),
    }
    return ClassModel(counts.vocabulary, order, maps, tree, rows, members, info, unigrams)


_Pairs = tuple[Sequence[ClassPairs], ContextTree, Int32Array]


def _joint_pairs(counts: NgramCounts, maps: ClassMaps) -> _Pairs:
    """Return the pairs of joint contexts: a context is the class of the element that the words stand for."""
    assert maps.elements is not None
    level = counts.levels[-1]
    words = gram_words(counts.levels, counts.order - 1)
    elements = maps.elements.elements_of(words)[parents_of(level)]
    contexts = maps.contexts[0][elements].astype(np.int64)
    classes = maps.predicted[level.words].astype(np.int64)
    size = int(maps.contexts.max()) + 1
    pairs = add_up(contexts, classes, level.counts, size)
    tree = ContextTree(frozen(np.zeros(1, np.int64)), frozen(np.empty(0, np.int32)))
    return [pairs], tree, np.full(size, -1, dtype=np.int32)


def _tuple_pairs(counts: NgramCounts, maps: ClassMaps) -> _Pairs:
    """Return the pairs of tied or positional contexts of every length, and the tree of these contexts."""
    level = counts.levels[-1]
    words = gram_words(counts.levels, counts.order)
    classes = maps.predicted[level.words].astype(np.int64)
    end = int(maps.contexts[0].max()) + 1
    nodes = maps.contexts[0][words[:, -2]].astype(np.int64)
    labels, parents = [np.arange(end)], [np.full(end, -1)]
    lengths = [add_up(nodes, classes, level.counts, end)]
    for back in range(1, counts.order - 1):
        size = int(maps.contexts[back].max()) + 1
        keys = nodes * size + maps.contexts[back][words[:, -2 - back]]
        found, numbers = np.unique(keys, return_inverse=True)
        labels.append(found % size)
        parents.append(found // size)
        nodes = numbers + end
        end += found.size
        lengths.append(add_up(nodes, classes, level.counts, end))
    all_parents = np.concatenate(parents)
    own = all_parents.size - sum(map(len, parents[1:]))
    starts = own + np.searchsorted(all_parents[own:], np.arange(end + 1))
    tree = ContextTree(frozen(starts.astype(np.int64)), frozen(np.concatenate(labels).astype(np.int32)))
    return lengths, tree, all_parents.astype(np.int32)
