"""The counted chains of a model as the arrays that kernels read."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from classgram.models._kernels.chain_rows import ChainTables, ExpertLevels
from classgram.models.factored.chains import Level
from classgram.models.factored.contexts import ContextTree, Path
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Float32Array, Int32Array, Int64Array

Factor = Literal["entries", "members"]
Follower = tuple[Path, Path | None]
"""A path, and the one that a chain goes on with; None at its end."""


class Chains(NamedTuple):
    """What was seen after contexts, and the experts of both factors."""

    tables: ChainTables
    class_levels: ExpertLevels
    word_levels: ExpertLevels


class ChainSizes(NamedTuple):
    """The numbers of nodes, entries and members before each path, and of all."""

    nodes: Int64Array
    entries: Int64Array
    members: Int64Array
    """Of the paths that have members."""


class _LevelPlan(NamedTuple):
    """The order in which experts' levels are stored, and where each begins."""

    stored: list[Follower]
    starts: Int32Array
    paths: Int32Array
    backoff_bases: Int64Array
    value_bases: Int64Array
    backoffs: int
    values: int


def _offsets(sizes: Sequence[int]) -> Int64Array:
    """Return the sums of all sizes before each, and of all."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _join_starts(parts: Sequence[Int32Array], offsets: Int64Array) -> Int32Array:
    """Return starts of all rows, each part's without the one more, and one more at the end."""
    moved = [part[:-1] + offset for part, offset in zip(parts, offsets, strict=False)]
    return frozen(np.concatenate([*moved, offsets[-1:]]).astype(np.int32))


def _level_plan(
    tree: ContextTree, experts: Sequence[Path], contexts: Int64Array, outcomes: Int64Array
) -> _LevelPlan:
    """Plan the levels of each expert; those that experts share are stored once."""
    stored: dict[Follower, tuple[int, int]] = {}
    backoffs = values = 0
    paths, bases = [], []
    for expert in experts:
        for length in range(len(expert) + 1):
            path = expert[:length]
            key = path, expert[: length + 1] if length < len(expert) else None
            index = tree.paths.index(path)
            if key not in stored:
                stored[key] = backoffs, values
                backoffs += int(contexts[index + 1] - contexts[index])
                values += int(outcomes[index + 1] - outcomes[index])
            paths.append(index)
            bases.append((stored[key][0] - contexts[index], stored[key][1] - outcomes[index]))
    starts = _offsets([len(expert) + 1 for expert in experts]).astype(np.int32)
    of_backoffs, of_values = (np.array(column, np.int64) for column in zip(*bases, strict=True))
    return _LevelPlan(
        list(stored),
        frozen(starts),
        frozen(np.array(paths, np.int32)),
        frozen(of_backoffs),
        frozen(of_values),
        backoffs,
        values,
    )


def expert_levels(
    tree: ContextTree, factor: Factor, sizes: ChainSizes, backoffs: Float32Array, values: Float32Array
) -> ExpertLevels | None:
    """Return the experts of a factor from what is stored of them; None if that is not of the right size."""
    plan = _factor_plan(tree, factor, sizes)
    if backoffs.size != plan.backoffs or values.size != plan.values:
        return None
    return ExpertLevels(plan.starts, plan.paths, plan.backoff_bases, plan.value_bases, backoffs, values)


def _factor_plan(tree: ContextTree, factor: Factor, sizes: ChainSizes) -> _LevelPlan:
    """Plan the levels of a factor's experts."""
    if factor == "entries":
        return _level_plan(tree, tree.class_experts, sizes.nodes, sizes.entries)
    return _level_plan(tree, tree.word_experts, sizes.entries, sizes.members)


def child_bases(tree: ContextTree, nodes: Int64Array) -> Int64Array:
    """Return where each path's starts of children lie, less the first node of its parent.

    They lie one path after another: one for each node of the parent, and one more.
    """
    parents = [tree.parent(index) for index in range(len(tree.paths))]
    lengths = [int(nodes[one + 1] - nodes[one]) + 1 if one >= 0 else 2 for one in parents]
    return frozen(_offsets(lengths)[:-1] - np.array([nodes[max(one, 0)] for one in parents]))


def tree_columns(tree: ContextTree) -> tuple[Int32Array, Int32Array]:
    """Return each path's parent, and the column of its last symbol."""
    parents = [tree.parent(index) for index in range(len(tree.paths))]
    columns = [tree.symbols.index(path[-1]) if path else 0 for path in tree.paths]
    return frozen(np.array(parents, np.int32)), frozen(np.array(columns, np.int32))


def make_chains(tree: ContextTree, levels: dict[Path, Level]) -> tuple[Chains, ChainSizes]:
    """Return counted levels, path after path, as one table each."""
    ordered = [levels[path] for path in tree.paths]
    members = [one.members_of for one in ordered[: tree.word_paths]]
    sizes = ChainSizes(
        _offsets([one.node_labels.size for one in ordered]),
        _offsets([one.entry_labels.size for one in ordered]),
        _offsets([labels.size for _, labels in members]),
    )
    child_starts = [one.child_starts + first for one, first in zip(ordered, sizes.nodes, strict=False)]
    tables = ChainTables(
        *tree_columns(tree),
        child_bases(tree, sizes.nodes),
        frozen(np.concatenate(child_starts).astype(np.int32)),
        frozen(np.concatenate([one.node_labels for one in ordered])),
        frozen(np.concatenate([one.node_counts for one in ordered])),
        _join_starts([one.entry_starts for one in ordered], sizes.entries),
        frozen(np.concatenate([one.entry_labels for one in ordered])),
        _join_starts([starts for starts, _ in members], sizes.members),
        frozen(np.concatenate([labels for _, labels in members])),
    )
    made = []
    factors: tuple[Factor, ...] = ("entries", "members")
    for factor in factors:
        order = _factor_plan(tree, factor, sizes).stored
        parts = [getattr(levels[path], factor)[following] for path, following in order]
        backoffs = frozen(np.concatenate([part.backoffs for part in parts]))
        values = frozen(np.concatenate([part.values for part in parts]))
        found = expert_levels(tree, factor, sizes, backoffs, values)
        assert found is not None
        made.append(found)
    return Chains(tables, *made), sizes
