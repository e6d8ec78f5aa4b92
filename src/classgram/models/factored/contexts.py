"""The contexts of chains as a tree: each is the one before and one more symbol."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from classgram.models.factored.tuning import FactoredTuning
from classgram.runtime.compiled.arrays import Int32Array, Int32Matrix, Int64Array
from classgram.text.vocabulary import EOS

Path = tuple[str, ...]
"""The symbols of a context, from coarse to fine; the empty one is the root."""

NO_SYMBOL = -1
"""What stands before the start of a text; no context holds it."""


class ClassMaps(NamedTuple):
    """The classes of every word of the vocabulary."""

    predicted: Int32Array
    """The classes that the class factor predicts; that of <s> is -1."""
    contexts: Int32Array
    """The classes in contexts of words."""
    ngrams: Int32Array
    """The classes of class n-grams."""


@dataclass(frozen=True)
class ContextTree:
    """All contexts of a model, parents first, those of the word factor before those of classes alone."""

    paths: tuple[Path, ...]
    symbols: tuple[str, ...]
    """Every symbol of a path, in the order of the columns of ``symbol_columns``."""
    class_experts: tuple[Path, ...]
    word_experts: tuple[Path, ...]

    @property
    def word_paths(self) -> int:
        """The number of contexts that the word factor has, too: the first ones."""
        return len({path[:length] for path in self.word_experts for length in range(len(path) + 1)})

    def parent(self, index: int) -> int:
        """Return the index of a path without its last symbol; -1 for the root."""
        return self.paths.index(self.paths[index][:-1]) if self.paths[index] else -1


def context_tree(tuning: FactoredTuning) -> ContextTree:
    """Return the tree of a recipe's contexts."""
    both = [tuple(text.split()) for text in tuning.both_factors]
    classes = [tuple(text.split()) for text in tuning.class_factor]
    paths: dict[Path, None] = {}
    for path in (*both, *classes):
        paths |= {path[:length]: None for length in range(len(path) + 1)}
    symbols = dict.fromkeys(symbol for path in paths for symbol in path)
    return ContextTree(tuple(paths), tuple(symbols), (*classes, *both), tuple(both))


@dataclass(frozen=True)
class Stream:
    """The events of a text as contexts see them; arrays have an item an event."""

    ids: Int32Array
    """Words; ``NO_SYMBOL`` where nothing is known, which may only be context."""
    first_words: Int32Array
    """The first word of each event's sentence; </s> for that word itself."""
    positions: Int32Array
    """The number of words before each event in its sentence."""
    limits: Int32Array
    """The first event that each may look back to."""

    def tail(self, first: int) -> "Stream":
        """Return the same from an event on, the ids apart, which are all kept."""
        return Stream(self.ids, self.first_words[first:], self.positions[first:], self.limits[first:])


def make_stream(ids: Int32Array, units: Int64Array | None = None) -> Stream:
    """Return a text as events; at each unit's first event, all before is forgotten."""
    index = np.arange(ids.size, dtype=np.int32)
    begins = np.zeros(ids.size, bool)
    begins[1:] = ids[:-1] == EOS
    limits = np.zeros(ids.size, np.int32)
    if units is not None:
        units = units[units < ids.size]
        limits[units] = units
        begins[units] = True
    starts = np.maximum.accumulate(np.where(begins, index, 0)).astype(np.int32)
    first_words = np.where(starts == index, np.int32(EOS), ids[starts])
    return Stream(ids, first_words, index - starts, np.maximum.accumulate(limits).astype(np.int32))


def symbol_columns(
    symbols: Sequence[str], stream: Stream, maps: ClassMaps, before_units: int = EOS
) -> Int32Matrix:
    """Return every symbol of every event, a row an event.

    The word before a unit's first event is ``before_units``, and what is before that is no symbol.
    """
    ids, size = stream.ids, stream.limits.size
    out = np.empty((size, len(symbols)), np.int32)
    index = np.arange(ids.size - size, ids.size)
    for column, symbol in enumerate(symbols):
        if symbol == "f":
            out[:, column] = stream.first_words
            continue
        kind, back = symbol[0], int(symbol[1:])
        before = index - back
        words = np.where(before >= stream.limits, ids[np.maximum(before, 0)], np.int32(NO_SYMBOL))
        words[before == stream.limits - 1] = before_units
        if kind != "w":
            table = maps.contexts if kind == "c" else maps.ngrams
            words = np.where(words >= 0, table[words], np.int32(NO_SYMBOL))
        out[:, column] = words
    return out
