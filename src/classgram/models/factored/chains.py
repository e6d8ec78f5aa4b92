"""Modified Kneser-Ney over chains of mixed contexts, counted from a text.

A chain goes from coarse contexts to fine ones: raw counts at its end, continuation counts (in how many of
the next finer contexts an outcome occurred) before. Paths that chains share are counted once.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from classgram.models._kernels.chain_counting import Groups, number_groups, sort_events
from classgram.models.factored.contexts import ClassMaps, ContextTree, Path, make_stream, symbol_columns
from classgram.models.ngram.discounts import modified_kneser_ney_discounts
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import (
    BoolArray,
    Float32Array,
    Int32Array,
    Int64Array,
)


class Grouping(NamedTuple):
    """Events grouped by a parent's group and a label, the groups sorted by both."""

    of_event: Int32Array
    labels: Int32Array
    firsts: Int32Array
    counts: Int32Array
    starts: Int32Array
    """The first group of each group of the parent, and one more."""


class Smoothed(NamedTuple):
    """Discounted relative frequencies of outcomes, and what is left for the coarser context."""

    backoffs: Float32Array
    values: Float32Array


@dataclass
class Level:
    """One path's nodes, entries and members, and their probabilities for each path that may follow.

    The key None stands for the end of a chain.
    """

    child_starts: Int32Array
    node_labels: Int32Array
    node_counts: Int32Array
    entry_starts: Int32Array
    entry_labels: Int32Array
    member_starts: Int32Array | None
    member_labels: Int32Array | None
    entries: dict[Path | None, Smoothed]
    members: dict[Path | None, Smoothed]

    @property
    def members_of(self) -> tuple[Int32Array, Int32Array]:
        """The starts and labels of the members, of a path that has them."""
        assert self.member_starts is not None
        assert self.member_labels is not None
        return self.member_starts, self.member_labels


class _Visited(NamedTuple):
    """The groups of a path's events."""

    nodes: Grouping
    entries: Grouping
    members: Grouping | None


@dataclass(frozen=True)
class TrainingEvents:
    """The events of the training text: the outcomes of both factors, and the symbols before them."""

    classes: Int32Array
    ranks: Int32Array
    """The word's number in its class."""
    symbols: dict[str, Int32Array]

    @property
    def size(self) -> int:
        """The number of events."""
        return self.classes.size


def training_events(ids: Int32Array, tree: ContextTree, maps: ClassMaps, ranks: Int32Array) -> TrainingEvents:
    """Return the events of a text, its end taken as what came before its start."""
    columns = symbol_columns(tree.symbols, make_stream(ids), maps)
    np.maximum(columns, 0, out=columns)
    symbols = {symbol: frozen(columns[:, index]) for index, symbol in enumerate(tree.symbols)}
    return TrainingEvents(frozen(maps.predicted[ids]), frozen(ranks[ids]), symbols)


class ChainCounter:
    """Counts all chains of a tree, path by path, the events of one branch in memory at a time."""

    def __init__(self, events: TrainingEvents, tree: ContextTree, pruned_level: int) -> None:
        self._events, self._tree, self._pruned_level = events, tree, pruned_level
        self._children: dict[Path, list[Path]] = {path: [] for path in tree.paths}
        for path in tree.paths[1:]:
            self._children[path[:-1]].append(path)
        self._with_members = set(tree.paths[: tree.word_paths])
        self._sorted: dict[str, Int32Array] = {}
        self.levels: dict[Path, Level] = {}

    def count(self) -> dict[Path, Level]:
        """Return the levels of all paths."""
        nobody = np.zeros(self._events.size, np.int32)
        nodes = self._grouped("", nobody, 1, nobody)
        self._visit((), nodes, None)
        return self.levels

    def _visit(self, path: Path, nodes: Grouping, kept_parents: BoolArray | None) -> _Visited:
        """Count a path and all that follow it."""
        events = self._events
        entries = self._grouped("classes", events.classes, nodes.labels.size, nodes.of_event)
        members = None
        if path in self._with_members:
            members = self._grouped("ranks", events.ranks, entries.labels.size, entries.of_event)
        kept = nodes.counts > 1 if len(path) >= self._pruned_level else np.ones(nodes.counts.size, bool)
        here = _Visited(nodes, entries, members)
        level = _pruned(here, kept, kept_parents)
        self.levels[path] = level
        tops = (*self._tree.class_experts, *self._tree.word_experts)
        if path in tops:
            _add_smoothed(level, None, here, kept, None)
        for child in self._children[path]:
            symbol = events.symbols[child[-1]]
            found = self._grouped(child[-1], symbol, nodes.labels.size, nodes.of_event)
            _add_smoothed(level, child, here, kept, self._visit(child, found, kept))
        return here

    def _grouped(self, name: str, labels: Int32Array, parents: int, keys: Int32Array) -> Grouping:
        """Group all events by a parent's groups and a label; ``name`` is the label's."""
        size = labels.size
        if name not in self._sorted:
            everything = frozen(np.arange(size, dtype=np.int32))
            self._sorted[name] = _sorted_by(everything, labels)
        in_order = _sorted_by(self._sorted[name], keys, parents)
        groups = Groups(*(np.empty(size, np.int32) for _ in range(3)))
        of_event = np.empty(size, np.int32)
        number = number_groups(in_order, frozen(keys), frozen(labels), of_event, groups)
        labels, firsts, counts = (part[:number].copy() for part in groups)
        starts = _starts(keys[firsts], parents)
        return Grouping(frozen(of_event), frozen(labels), frozen(firsts), frozen(counts), starts)


def _starts(parents: Int32Array, number: int) -> Int32Array:
    """Return where the groups of each parent start, and one more."""
    starts = np.zeros(number + 1, np.int32)
    starts[1:] = np.cumsum(np.bincount(parents, minlength=number))
    return starts


def _sorted_by(events: Int32Array, keys: Int32Array, number: int | None = None) -> Int32Array:
    """Return events in the order of their keys."""
    out = np.empty(events.size, np.int32)
    slots: Int64Array = np.zeros((int(keys.max(initial=0)) if number is None else number) + 2, np.int64)
    sort_events(frozen(events), frozen(keys), slots, out)
    return frozen(out)


def _pruned(here: _Visited, kept: BoolArray, kept_parents: BoolArray | None) -> Level:
    """Return a path's groups without the contexts that are dropped."""
    nodes, entries, members = here
    sizes = np.diff(nodes.starts)
    # The nodes of a dropped parent occurred once, too, and are dropped themselves.
    in_parent = np.repeat(np.arange(sizes.size, dtype=np.int32), sizes)
    numbers = np.arange(sizes.size) if kept_parents is None else np.cumsum(kept_parents) - 1
    parents = sizes.size if kept_parents is None else int(kept_parents.sum())
    kept_entries = np.repeat(kept, np.diff(entries.starts))
    member_starts = member_labels = None
    if members is not None:
        member_sizes = np.diff(members.starts)
        member_labels = members.labels[np.repeat(kept_entries, member_sizes)]
        member_starts = _ends(member_sizes[kept_entries])
    return Level(
        _starts(numbers[in_parent[kept]].astype(np.int32), parents),
        nodes.labels[kept],
        nodes.counts[kept],
        _ends(np.diff(entries.starts)[kept]),
        entries.labels[kept_entries],
        member_starts,
        member_labels,
        {},
        {},
    )


def _ends(sizes: Int32Array) -> Int32Array:
    """Return starts of rows of these sizes, and one more."""
    out = np.zeros(sizes.size + 1, np.int32)
    np.cumsum(sizes, out=out[1:])
    return out


def _add_smoothed(
    level: Level, key: Path | None, here: _Visited, kept: BoolArray, finer: _Visited | None
) -> None:
    """Add the probabilities of a path's outcomes for chains that go on with a finer path, or end here."""
    level.entries[key] = _smoothed(here.entries, finer.entries if finer else None, kept)
    if here.members is None or (finer is not None and finer.members is None):
        return
    kept_entries = np.repeat(kept, np.diff(here.entries.starts))
    level.members[key] = _smoothed(here.members, finer.members if finer else None, kept_entries)


def _smoothed(outcomes: Grouping, finer: Grouping | None, kept: BoolArray) -> Smoothed:
    """Return modified Kneser-Ney estimates of the outcomes of each context that is kept."""
    if finer is None:
        counts = outcomes.counts.astype(np.int64)
    else:
        counts = np.bincount(outcomes.of_event[finer.firsts], minlength=outcomes.labels.size)
    discounts = modified_kneser_ney_discounts(frozen(counts)).values[np.minimum(counts, 3)]
    first = outcomes.starts[:-1]
    totals = np.add.reduceat(counts, first)
    backoffs = np.add.reduceat(discounts, first) / totals
    sizes = np.diff(outcomes.starts)
    values = (counts - discounts) / np.repeat(totals, sizes)
    return Smoothed(backoffs[kept].astype(np.float32), values[np.repeat(kept, sizes)].astype(np.float32))
