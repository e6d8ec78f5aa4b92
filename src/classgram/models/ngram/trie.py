"""The one storage of all back-off models: a trie of n-grams in sorted rows, level by level."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from classgram.counts._kernels.counting import Level
from classgram.counts.ngram_counts import first_level
from classgram.errors import InputError
from classgram.files.folders import Folder, check_finite, check_range
from classgram.models._kernels.batches import BLOCK, Batch, fill_index, score_blocks
from classgram.models._kernels.estimation import mark_needed
from classgram.models._kernels.tries import TrieArrays, fill_distribution, step
from classgram.runtime.compiled import frozen, prepared
from classgram.runtime.compiled.arrays import (
    AnyArray,
    BoolArray,
    Float64Array,
    Int32Array,
    Int32Matrix,
    Int64Array,
)
from classgram.text.sentences import Sentences
from classgram.text.vocabulary import BOS

_LOG_ZERO = -99 * float(np.log(10))
"""The log-probability that stands for none, as ARPA files write it."""

EMPTY_CONTEXT = -1
"""The node of the context without any word."""

NGRAMS_PER_EVENT = 20
"""A hash index is made once the n-grams are at most this many for each event scored so far."""

_NO_INDEX = frozen(np.empty(0, dtype=np.int64))


class LevelEstimates(NamedTuple):
    """The estimates of one level: its n-grams, their probabilities, and its contexts' weights."""

    level: Level
    suffixes: Int32Array
    """Of each entry, the entry of the level below without the first word."""
    probabilities: Float64Array
    """One an entry."""
    backoffs: Float64Array
    """One an entry of the level below."""


@dataclass
class _Usage:
    """How many events a trie has scored so far."""

    events: int = 0


@dataclass(frozen=True)
class BackoffTrie:
    """N-grams with log-probabilities and back-off weights."""

    arrays: TrieArrays
    sizes: tuple[int, ...]
    """The number of n-grams of each order."""
    _usage: _Usage = field(default_factory=_Usage, repr=False, compare=False)

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.sizes)

    def first_context(self, bos: bool = True) -> int:
        """Return the context at a sentence's start, or the empty one."""
        return BOS if bos and self.order > 1 else EMPTY_CONTEXT

    def score(self, sentences: Sentences, bos: bool = True) -> tuple[Float64Array, Int32Array]:
        """Return the log-probability of each event and the node of the n-gram that gave it."""
        size = sentences.tokens
        batch = Batch(
            frozen(sentences.ids), frozen(sentences.offsets), np.empty(size), np.empty(size, np.int32)
        )
        buffer = np.empty((self.order + 2, BLOCK + 1), np.int64)
        score_blocks(self.arrays, self._index_for(size), batch, self.first_context(bos), buffer)
        return batch.log_probabilities, batch.nodes

    def _index_for(self, events: int) -> Int64Array:
        """Return the hash index, or an empty one while too few events were scored to pay for it."""
        self._usage.events += events
        return self._index if self._usage.events * NGRAMS_PER_EVENT >= sum(self.sizes) else _NO_INDEX

    @cached_property
    def _index(self) -> Int64Array:
        """The hash index of all n-grams of order 2 and up."""
        slots = np.zeros(1 << (3 * sum(self.sizes) // 2).bit_length(), dtype=np.int64)
        fill_index(self.arrays, slots)
        return frozen(slots)

    def contexts(self, nodes: Int32Array, offsets: Int64Array, bos: bool = True) -> Int64Array:
        """Return each event's context, from the nodes of the n-grams that gave the events."""
        inner = self.arrays.log_backoffs.size
        after = np.where(nodes < inner, nodes, self.arrays.suffixes[nodes])
        contexts = np.empty(len(nodes), dtype=np.int64)
        contexts[1:] = after[:-1]
        contexts[offsets[:-1]] = self.first_context(bos)
        return contexts

    def knowledge(self, contexts: Int64Array) -> tuple[Int64Array, Float64Array]:
        """Return each context's length and the logarithm of its back-off weight."""
        known = contexts >= 0
        lengths = np.where(known, self.lengths(contexts), 0)
        return lengths, np.where(known, self.arrays.log_backoffs[contexts], 0.0)

    def lengths(self, nodes: Int32Array | Int64Array) -> Int64Array:
        """Return the length of the n-gram at each node."""
        return np.searchsorted(np.cumsum(self.sizes), nodes, side="right").astype(np.int64) + 1

    def advance(self, context: int, word: int) -> int:
        """Return the context after one more word."""
        return int(step(self.arrays, context, word)[0])

    def log_probability(self, context: int, word: int) -> float:
        """Return the natural logarithm of a word's probability in a context."""
        return float(step(self.arrays, context, word)[1])

    def distribution(self, context: int) -> Float64Array:
        """Return the probability of every word in a context."""
        probabilities = np.exp(self.arrays.log_probabilities[: self.sizes[0]].astype(np.float64))
        fill_distribution(self.arrays, context, probabilities, np.empty(self.order, np.int64))
        probabilities[BOS] = 0.0
        return probabilities

    def levels(self) -> Iterator[slice]:
        """Yield the nodes of each order."""
        ends = np.cumsum(self.sizes)
        for end, size in zip(ends, self.sizes, strict=True):
            yield slice(int(end - size), int(end))

    def to_levels(self) -> list[Level]:
        """Return the n-grams of every order as levels, without counts."""
        made = [first_level(np.zeros(self.sizes[0], np.int64))]
        for above, here in itertools.pairwise(self.levels()):
            starts = self.arrays.starts[above.start : above.stop + 1].astype(np.int64) - here.start
            words = self.arrays.words[here]
            made.append(Level(frozen(starts), frozen(words), frozen(np.zeros(words.size, np.int64))))
        return made

    def without_empty_orders(self) -> "BackoffTrie":
        """Return the trie without empty orders at the top, which readers of files refuse."""
        sizes = list(self.sizes)
        while len(sizes) > 2 and sizes[-1] == 0:
            sizes.pop()
        inner = sum(sizes[:-1])
        starts, log_backoffs = self.arrays.starts[: inner + 1], self.arrays.log_backoffs[:inner]
        return BackoffTrie(self.arrays._replace(starts=starts, log_backoffs=log_backoffs), tuple(sizes))

    def paths(self, nodes: Int64Array, order: int) -> Int32Matrix:
        """Return the words of n-grams of one order, a row each."""
        words = np.empty((len(nodes), order), dtype=np.int32)
        for column in range(order - 1, -1, -1):
            words[:, column] = self.arrays.words[nodes]
            if column:
                nodes = np.searchsorted(self.arrays.starts, nodes, side="right") - 1
        return words

    def to_files(self, prefix: str = "") -> tuple[dict[str, object], dict[str, AnyArray]]:
        """Return the configuration and arrays to embed in a folder."""
        arrays = {prefix + name: array for name, array in self.arrays._asdict().items()}
        return {"sizes": list(self.sizes)}, arrays

    @classmethod
    def from_folder(cls, folder: Folder, config: Mapping[str, object], prefix: str = "") -> "BackoffTrie":
        """Read a trie from a folder, memory-mapped and checked."""
        sizes = config.get("sizes")
        # A text of short sentences has no n-grams of the higher orders.
        valid = isinstance(sizes, list) and sizes and all(isinstance(n, int) and n >= 0 for n in sizes)
        if not isinstance(sizes, list) or not valid or sizes[0] == 0:
            raise InputError(f"{folder.path}: config.json has no valid sizes; write the model again")
        dtypes = {"log_probabilities": np.float32, "log_backoffs": np.float32}
        arrays = TrieArrays(
            *(folder.array(prefix + name, dtypes.get(name, np.int32)) for name in TrieArrays._fields)
        )
        _check_arrays(folder, arrays, sizes)
        return cls(prepared(arrays), tuple(sizes))


def _check_arrays(folder: Folder, arrays: TrieArrays, sizes: Sequence[int]) -> None:
    """Refuse arrays whose lengths or ids do not belong together, before any kernel sees them."""
    nodes, inner = sum(sizes), sum(sizes[:-1])
    lengths = {"starts": inner + 1, "words": nodes, "suffixes": nodes, "log_probabilities": nodes}
    for name, length in (lengths | {"log_backoffs": inner}).items():
        if len(getattr(arrays, name)) != length:
            raise InputError(f"{folder.path}: {name}.npy does not belong to this model; write it again")
    check_range(folder, "words", arrays.words, 0, sizes[0])
    ends = np.cumsum(sizes)
    firsts = np.concatenate(([0], ends[:-1]))
    # The children of a level's nodes are just the next level, and suffixes are in the level before.
    if not np.array_equal(arrays.starts[firsts], ends) or (arrays.starts[1:] < arrays.starts[:-1]).any():
        raise InputError(f"{folder.path}: starts.npy is out of range; write the model again")
    lows = np.concatenate(([-1], firsts[:-1]))
    for low, first, end in zip(lows, firsts, ends, strict=True):
        check_range(folder, "suffixes", arrays.suffixes[first:end], int(low), int(first))
    check_finite(folder, "log_probabilities", arrays.log_probabilities)
    check_finite(folder, "log_backoffs", arrays.log_backoffs)


def without_double_starts(levels: Sequence[Level]) -> list[Level]:
    """Return the levels without the n-grams that begin with <s> <s>: word models see one <s>.

    The n-grams below one prefix lie together at every level, so that one cut a level does it.
    """
    levels = [Level(frozen(level.starts), frozen(level.words), frozen(level.counts)) for level in levels]
    kept = [levels[0]]
    first, last = BOS, BOS + 1  # the entries, one level down, that lose their children <s> ...
    for depth, level in enumerate(levels[1:], start=2):
        if depth == 2:
            start, end = int(level.starts[first]), int(level.starts[last])
            start += int(np.searchsorted(level.words[start:end], BOS))
            end = start + int(start < end and level.words[start] == BOS)
            starts = level.starts - (end - start) * (np.arange(len(level.starts)) > BOS)
        else:
            start, end = int(level.starts[first]), int(level.starts[last])
            starts = np.delete(level.starts, slice(first, last))
            starts[first:] -= end - start
        words = np.delete(level.words, slice(start, end))
        counts = np.delete(level.counts, slice(start, end))
        kept.append(Level(frozen(starts), frozen(words), frozen(counts)))
        first, last = start, end
    return kept


def assemble(
    unigrams: Float64Array, estimates: Sequence[LevelEstimates], kept: Sequence[BoolArray] | None = None
) -> BackoffTrie:
    """Return the trie of unigram probabilities and the levels above, or of the n-grams kept.

    The prefixes and suffixes of kept n-grams stay as well; their probabilities are those that the
    back-off gives, so that they change nothing.
    """
    if kept is not None:
        estimates = _shrink(len(unigrams), estimates, kept)
    sizes = [len(unigrams), *(len(item.level.words) for item in estimates)]
    if sum(sizes) >= 2**31:
        raise InputError("the model has more than 2**31 n-grams; use cut-offs or a lower order")
    ends = np.cumsum(sizes)
    words: list[AnyArray] = [np.arange(len(unigrams)), *(item.level.words for item in estimates)]
    suffixes: list[AnyArray] = [np.full(len(unigrams), EMPTY_CONTEXT)]
    starts: list[AnyArray] = []
    for index, item in enumerate(estimates):
        suffixes.append(item.suffixes + (ends[index] - sizes[index]))
        starts.append(item.level.starts[:-1] + ends[index])
    starts.append(ends[-1:])
    probabilities = [unigrams, *(item.probabilities for item in estimates)]
    backoffs = [item.backoffs for item in estimates]
    arrays = TrieArrays(
        starts=_joined(starts, np.int32),
        words=_joined(words, np.int32),
        suffixes=_joined(suffixes, np.int32),
        log_probabilities=_joined([logarithm(array) for array in probabilities], np.float32),
        log_backoffs=_joined([logarithm(array) for array in backoffs], np.float32),
    )
    return BackoffTrie(prepared(arrays), tuple(sizes))


def _joined(arrays: Sequence[AnyArray], dtype: type) -> AnyArray:
    """Return the arrays as a single read-only one."""
    return frozen(np.concatenate([np.asarray(one, dtype=dtype) for one in arrays] or [np.empty(0, dtype)]))


def logarithm(values: Float64Array) -> Float64Array:
    """Return natural logarithms, with the customary -99 (base 10) for zero."""
    logs = np.full(len(values), _LOG_ZERO)
    np.log(values, out=logs, where=values > 0)
    return logs


def _shrink(
    words: int, estimates: Sequence[LevelEstimates], kept: Sequence[BoolArray]
) -> list[LevelEstimates]:
    """Return the levels with just the n-grams that are kept, or that kept ones begin or end with."""
    needed = [np.ones(words, dtype=np.bool_), *(mask.copy() for mask in kept)]
    for depth in range(len(estimates), 0, -1):
        item = estimates[depth - 1]
        mark_needed(item.level.starts, item.suffixes, needed[depth], needed[depth - 1])
    shrunk = []
    for item, below, here in zip(estimates, needed, needed[1:], strict=False):
        kept_before = np.concatenate(([0], np.cumsum(here)))
        firsts, ends = (kept_before[edge[below]] for edge in (item.level.starts[:-1], item.level.starts[1:]))
        renumbered = np.cumsum(below) - 1
        level = Level(
            frozen(np.concatenate((firsts, ends[-1:]))),
            frozen(item.level.words[here]),
            frozen(item.level.counts[here]),
        )
        suffixes = frozen(renumbered[item.suffixes[here]].astype(np.int32))
        shrunk.append(LevelEstimates(level, suffixes, item.probabilities[here], item.backoffs[below]))
    return shrunk
