"""The model over one clustering as arrays of a folder, and back, checked."""

from dataclasses import replace
from typing import Any

import numpy as np

from classgram.errors import InputError
from classgram.files.folders import Folder, check_finite, check_range, check_starts
from classgram.models._kernels.chain_rows import ChainTables, ExpertLevels
from classgram.models._kernels.decaying_cache import GATE_FEATURES, Gate
from classgram.models._kernels.log_linear import FeaturePlan, Mixing
from classgram.models.factored.caches import cache_rules
from classgram.models.factored.clustered import (
    ClusteredModel,
    Parameters,
    class_members,
    expert_numbers,
    feature_paths,
)
from classgram.models.factored.contexts import ClassMaps, ContextTree, context_tree
from classgram.models.factored.tables import (
    Chains,
    ChainSizes,
    Factor,
    child_bases,
    expert_levels,
    tree_columns,
)
from classgram.models.factored.tuning import DEFAULT_TUNING, FactoredTuning
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import AnyArray, Int32Array

_CONTEXT_FIELDS = ("both_factors", "class_factor", "counted_features", "varied_features")
_TABLES = ("child_starts", "node_labels", "node_counts", "entry_starts", "entry_labels")
_MEMBER_TABLES = ("member_starts", "member_labels")


def tuning_config(tuning: FactoredTuning) -> dict[str, list[str]]:
    """Return the contexts of a model as config.json has them."""
    return {name: list(getattr(tuning, name)) for name in _CONTEXT_FIELDS}


def read_tuning(folder: Folder, config: Any) -> FactoredTuning:
    """Return the tuning with the contexts of config.json."""
    found: dict[str, Any] = {}
    for name in _CONTEXT_FIELDS:
        texts: Any = config.get(name) if isinstance(config, dict) else None
        whole = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
        if not whole or not all(_is_symbol(one) for text in texts for one in text.split()):
            raise InputError(f"{folder.path}: config.json has no valid contexts; make the model again")
        found[name] = tuple(texts)
    if not found["both_factors"] or found["both_factors"][-1]:
        raise InputError(f"{folder.path}: config.json has no valid contexts; make the model again")
    return replace(DEFAULT_TUNING, **found)


def _is_symbol(text: str) -> bool:
    """Whether a text names a symbol of contexts: f, or c, w or k and how many words back."""
    return text == "f" or (len(text) == 2 and text[0] in "cwk" and text[1] in "123456789")


def clustered_arrays(model: ClusteredModel, prefix: str) -> dict[str, AnyArray]:
    """Return the arrays of a model over one clustering."""
    (tables, class_levels, word_levels), parameters = model.chains, model.parameters
    found: dict[str, AnyArray] = {
        "predicted": model.maps.predicted,
        "contexts": model.maps.contexts,
        "ngrams": model.maps.ngrams,
        "path_nodes": model.sizes.nodes,
        "path_entries": model.sizes.entries,
        "path_members": model.sizes.members,
        **{name: getattr(tables, name) for name in (*_TABLES, *_MEMBER_TABLES)},
        "class_backoffs": class_levels.backoffs,
        "class_values": class_levels.values,
        "word_backoffs": word_levels.backoffs,
        "word_values": word_levels.values,
        "feature_means": parameters.plan.means,
        "feature_scales": parameters.plan.scales,
        "class_exponents": parameters.class_mixing.exponents,
        "class_biases": parameters.class_mixing.biases,
        "word_exponents": parameters.word_mixing.exponents,
        "class_gate": parameters.class_gate.weights,
        "class_gate_by_class": parameters.class_gate.by_class,
        "word_gate": parameters.word_gate.weights,
        "word_gate_by_class": parameters.word_gate.by_class,
    }
    return {prefix + name: array for name, array in found.items()}


def read_clustered(
    folder: Folder, prefix: str, words: int, tuning: FactoredTuning, cache: bool
) -> ClusteredModel:
    """Return the model over one clustering, everything that kernels rely on checked."""
    tree = context_tree(tuning)
    maps = _read_maps(folder, prefix, words)
    members = class_members(maps.predicted)
    sizes = _read_sizes(folder, prefix, tree)
    tables = _read_tables(folder, prefix, tree, sizes)
    check_range(folder, prefix + "entry_labels", tables.entry_labels, 0, members.sizes.size)
    entries = tables.entry_labels[: tables.member_starts.size - 1]
    limits = np.repeat(members.sizes[entries], np.diff(tables.member_starts))
    if (tables.member_labels >= limits).any():
        raise InputError(f"{folder.path / prefix}member_labels.npy: holds values out of range")
    chains = Chains(
        tables,
        _read_levels(folder, prefix, "entries", tree, sizes),
        _read_levels(folder, prefix, "members", tree, sizes),
    )
    parameters = _read_parameters(folder, prefix, tree, maps, tuning, cache)
    rules = cache_rules(tree, members.sizes, tuning, cache)
    return ClusteredModel(maps, members, tree, chains, sizes, parameters, rules, tuning.least_probability)


def _read_parameters(
    folder: Folder, prefix: str, tree: ContextTree, maps: ClassMaps, tuning: FactoredTuning, cache: bool
) -> Parameters:
    """Return what was fitted to held-out text."""
    counted, varied = feature_paths(tree, tuning)
    number, (for_classes, for_words) = counted.size + varied.size + 2, expert_numbers(tree, cache)
    contexts, gated = int(maps.contexts.max()) + 1, number + 1 + GATE_FEATURES
    shapes: dict[str, tuple[int, ...]] = {
        "feature_means": (number,),
        "feature_scales": (number,),
        "class_exponents": (for_classes, number + 1),
        "class_biases": (int(maps.predicted.max()) + 1,),
        "word_exponents": (for_words, number + 1),
        "class_gate": (for_classes - 1, gated) if cache else (0, 0),
        "class_gate_by_class": (contexts, for_classes - 1) if cache else (0, 0),
        "word_gate": (for_words - 1, gated) if cache else (0, 0),
        "word_gate_by_class": (contexts, for_words - 1) if cache else (0, 0),
    }
    found = {name: _read_floats(folder, prefix + name, shape) for name, shape in shapes.items()}
    return Parameters(
        FeaturePlan(counted, varied, found["feature_means"], found["feature_scales"]),
        Mixing(found["class_exponents"], found["class_biases"]),
        Mixing(found["word_exponents"], frozen(np.zeros(0))),
        Gate(found["class_gate"], found["class_gate_by_class"]),
        Gate(found["word_gate"], found["word_gate_by_class"]),
    )


def _read_floats(folder: Folder, name: str, shape: tuple[int, ...]) -> AnyArray:
    """Return an array of numbers of a given shape."""
    array = folder.array(name, np.float64, len(shape))
    check_finite(folder, name, array)
    if array.shape != shape:
        raise InputError(f"{folder.path / name}.npy: does not belong to this model; make it again")
    return array


def _read_maps(folder: Folder, prefix: str, words: int) -> ClassMaps:
    """Return the classes of all words; <s> alone has no predicted class."""
    predicted, contexts, ngrams = (
        folder.array(prefix + name, np.int32) for name in ("predicted", "contexts", "ngrams")
    )
    if any(one.size != words for one in (predicted, contexts, ngrams)):
        raise InputError(f"{folder.path}: vocabulary.txt does not belong to this model")
    check_range(folder, prefix + "predicted", predicted, -1, words)
    check_range(folder, prefix + "contexts", contexts, 0, words + 2)
    check_range(folder, prefix + "ngrams", ngrams, 0, words + 2)
    if np.count_nonzero(predicted < 0) != 1 or not np.bincount(predicted[predicted >= 0]).all():
        raise InputError(f"{folder.path / prefix}predicted.npy: holds no valid classes")
    return ClassMaps(predicted, contexts, ngrams)


def _read_sizes(folder: Folder, prefix: str, tree: ContextTree) -> ChainSizes:
    """Return the numbers of nodes, entries and members by path."""
    nodes, entries, members = (
        folder.array(prefix + name, np.int64) for name in ("path_nodes", "path_entries", "path_members")
    )
    for name, array, rows in (
        ("path_nodes", nodes, len(tree.paths)),
        ("path_entries", entries, len(tree.paths)),
        ("path_members", members, tree.word_paths),
    ):
        check_starts(folder, prefix + name, array, rows, int(array[-1]) if array.size else 0)
    if nodes[1] != 1:
        raise InputError(f"{folder.path / prefix}path_nodes.npy: has not one root; make the folder again")
    return ChainSizes(nodes, entries, members)


def _read_tables(folder: Folder, prefix: str, tree: ContextTree, sizes: ChainSizes) -> ChainTables:
    """Return what was seen after contexts."""
    found: dict[str, Int32Array] = {
        name: folder.array(prefix + name, np.int32) for name in (*_TABLES, *_MEMBER_TABLES)
    }
    nodes, entries, members = (int(one[-1]) for one in sizes)
    with_members = int(sizes.entries[tree.word_paths])
    check_starts(folder, prefix + "entry_starts", found["entry_starts"], nodes, entries)
    check_starts(folder, prefix + "member_starts", found["member_starts"], with_members, members)
    of_paths = (
        found["entry_starts"][sizes.nodes],
        found["member_starts"][sizes.entries[: tree.word_paths + 1]],
    )
    right = np.array_equal(of_paths[0], sizes.entries) and np.array_equal(of_paths[1], sizes.members)
    lengths = found["node_labels"].size == found["node_counts"].size == nodes
    lengths = lengths and found["entry_labels"].size == entries and found["member_labels"].size == members
    bases = child_bases(tree, sizes.nodes)
    if not right or not lengths or not _are_children(tree, sizes, bases, found["child_starts"]):
        raise InputError(
            f"{folder.path}: the arrays of {prefix} do not belong together; make the folder again"
        )
    check_range(folder, prefix + "node_counts", found["node_counts"], 1, 2**31 - 1)
    check_range(folder, prefix + "member_labels", found["member_labels"], 0, 2**31 - 1)
    parents, columns = tree_columns(tree)
    return ChainTables(parents, columns, bases, *(found[name] for name in (*_TABLES, *_MEMBER_TABLES)))


def _are_children(tree: ContextTree, sizes: ChainSizes, bases: AnyArray, starts: Int32Array) -> bool:
    """Whether the starts of each path's children rise from its first node to its last."""
    total = 0
    for index in range(len(tree.paths)):
        parent = max(tree.parent(index), 0)
        first = int(bases[index] + sizes.nodes[parent])
        last = first + int(sizes.nodes[parent + 1] - sizes.nodes[parent])
        if (
            last >= starts.size
            or starts[first] != sizes.nodes[index]
            or starts[last] != sizes.nodes[index + 1]
        ):
            return False
        total = last + 1
    return total == starts.size and int(np.diff(starts).min(initial=0)) >= 0


def _read_levels(
    folder: Folder, prefix: str, factor: Factor, tree: ContextTree, sizes: ChainSizes
) -> ExpertLevels:
    """Return the experts of a factor."""
    name = prefix + ("class" if factor == "entries" else "word")
    backoffs = folder.array(name + "_backoffs", np.float32)
    values = folder.array(name + "_values", np.float32)
    for array, kind in ((backoffs, "_backoffs"), (values, "_values")):
        check_finite(folder, name + kind, array)
    levels = expert_levels(tree, factor, sizes, backoffs, values)
    if levels is None:
        raise InputError(f"{folder.path / name}_values.npy: does not belong to this model; make it again")
    return levels
