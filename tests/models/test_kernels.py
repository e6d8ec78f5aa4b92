"""Kernels of models against naive twins: plain loops over dictionaries."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classgram.models._kernels import estimation, pruning
from classgram.models._kernels.class_smoothing import (
    ClassRows,
    ContextTree,
    fill_classes,
    find_contexts,
    score_classes,
)
from classgram.models._kernels.tries import context_of, descend, fill_distribution, step
from classgram.models.mixtures.cache import cache_probabilities
from classgram.models.ngram.ngram_model import train_kneser_ney
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Float64Array, Int32Array, Int64Array
from classgram.text.vocabulary import BOS, EOS
from tests.helpers.texts import counts_of, random_lines
from tests.models.test_mixture import HELD_OUT


class RandomLevel(NamedTuple):
    """A level in compressed rows, with links into a level below of ``contexts`` entries."""

    starts: Int64Array
    counts: Int64Array
    suffixes: Int32Array
    lower: Float64Array
    contexts: int

    def rows(self) -> list[range]:
        return [range(int(a), int(b)) for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]


@st.composite
def levels(draw: st.DrawFn) -> RandomLevel:
    sizes = draw(st.lists(st.integers(0, 5), min_size=1, max_size=6))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    entries = sum(sizes)
    return RandomLevel(
        frozen(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
        frozen(random.integers(1, 6, entries)),
        frozen(random.integers(0, len(sizes), entries).astype(np.int32)),
        frozen(random.uniform(0.01, 0.2, entries)),
        len(sizes),
    )


def empty_output(level: RandomLevel) -> estimation.LevelOutput:
    return estimation.LevelOutput(np.empty(level.counts.size), np.empty(level.contexts))


def known(level: RandomLevel) -> estimation.LevelCounts:
    return estimation.LevelCounts(level.starts, level.counts, level.lower)


@given(levels())
def test_counting(level: RandomLevel) -> None:
    continuations = np.zeros(level.contexts, np.int64)
    estimation.count_continuations(level.suffixes, continuations)
    assert continuations.tolist() == [level.suffixes.tolist().count(entry) for entry in range(level.contexts)]
    totals = np.zeros(4, np.int64)
    estimation.count_counts(level.counts, totals)
    assert totals.tolist() == [0, *(level.counts.tolist().count(count) for count in (1, 2, 3))]


@given(levels(), st.integers(1, 6))
def test_cutoffs_rise_until_they_drop_something(level: RandomLevel, cutoff: int) -> None:
    kept = np.empty(level.counts.size, np.bool_)
    estimation.raise_cutoffs(level.starts, level.counts, cutoff, kept)
    for row in level.rows():
        own = cutoff
        while len(row) and all(level.counts[entry] >= own for entry in row):
            own += 1
        assert [bool(kept[entry]) for entry in row] == [bool(level.counts[entry] >= own) for entry in row]


@given(levels())
def test_interpolation(level: RandomLevel) -> None:
    discounts = [0.0, 0.4, 0.9, 1.3]
    out = empty_output(level)
    estimation.interpolate(known(level), frozen(np.array(discounts)), out)
    for context, row in enumerate(level.rows()):
        total = sum(int(level.counts[entry]) for entry in row)
        taken = {entry: discounts[min(int(level.counts[entry]), 3)] for entry in row}
        weight = sum(taken.values()) / total if total else 1.0
        assert out.backoffs[context] == pytest.approx(weight)
        for entry in row:
            own = (level.counts[entry] - taken[entry]) / total
            assert out.probabilities[entry] == pytest.approx(own + weight * level.lower[entry])


@given(levels(), st.integers(1, 6))
def test_back_off(level: RandomLevel, cutoff: int) -> None:
    shares = np.where(level.counts >= cutoff, level.counts * 0.9, 0.0)
    out = empty_output(level)
    estimation.back_off(known(level), frozen(shares), out)
    for context, row in enumerate(level.rows()):
        total = sum(int(level.counts[entry]) for entry in row)
        kept = [entry for entry in row if shares[entry] > 0]
        # The rows hold at most 5 * 0.2 of the lower distribution: there is something to back off to.
        left = 1.0 - sum(float(shares[entry]) for entry in kept) / total if kept else 1.0
        weight = left / (1.0 - sum(float(level.lower[entry]) for entry in kept))
        assert out.backoffs[context] == pytest.approx(weight)
        for entry in row:
            expected = shares[entry] / total if shares[entry] > 0 else weight * level.lower[entry]
            assert out.probabilities[entry] == pytest.approx(expected)


@given(levels(), st.integers(0, 2**32))
def test_what_entries_need_a_level_below(level: RandomLevel, seed: int) -> None:
    random = np.random.default_rng(seed)
    needed = random.random(level.counts.size) < 0.5
    marked = random.random(level.contexts) < 0.2
    losses, raised = random.random(level.counts.size), random.random(level.contexts)
    dependants: dict[int, set[int]] = defaultdict(set)
    for context, row in enumerate(level.rows()):
        for entry in row:
            dependants[context].add(entry)
            dependants[int(level.suffixes[entry])].add(entry)
    naive_marks = [
        bool(marked[entry] or any(needed[one] for one in dependants[entry]))
        for entry in range(level.contexts)
    ]
    naive_losses = [
        max(float(raised[entry]), *(float(losses[one]) for one in dependants[entry]), 0.0)
        for entry in range(level.contexts)
    ]
    estimation.mark_needed(level.starts, level.suffixes, needed, marked)
    pruning.raise_losses(level.starts, level.suffixes, frozen(losses), raised)
    assert marked.tolist() == naive_marks
    assert raised.tolist() == naive_losses


@settings(max_examples=25)
@given(st.lists(st.integers(2, 6), min_size=1, max_size=40), st.integers(1, 9), st.sets(st.integers(1, 39)))
def test_caches_look_back_no_further_than_their_limits(ids: list[int], window: int, edges: set[int]) -> None:
    begins = [max([0, *(edge for edge in edges if edge <= now)]) for now in range(len(ids))]
    limits = np.array(begins, np.int64)
    found = cache_probabilities(np.empty(0, np.int32), np.array(ids, np.int32), [window], 7, limits)
    before = [BOS if k == 0 or ids[k - 1] == EOS else ids[k - 1] for k in range(len(ids))]
    for now, begin in enumerate(begins):
        past = range(max(begin, now - window), now)
        single = sum(ids[k] == ids[now] for k in past) / len(past) if len(past) else -1.0
        same = [k for k in past if before[k] == before[now]]
        double = sum(ids[k] == ids[now] for k in same) / len(same) if same else single
        assert found[now] == pytest.approx([single, double])


def test_steps_and_distributions_of_tries() -> None:
    trie = train_kneser_ney(counts_of(random_lines(1), 3, ("never",)), 3).trie
    paths = {
        tuple(path): node
        for order, nodes in enumerate(trie.levels(), start=1)
        for node, path in zip(
            range(nodes.start, nodes.stop),
            trie.paths(np.arange(nodes.start, nodes.stop), order).tolist(),
            strict=True,
        )
    }
    words = {node: path for path, node in paths.items()}
    inner = sum(trie.sizes[:-1])
    for context in range(-1, inner, 7):
        probabilities = np.exp(trie.arrays.log_probabilities[: trie.sizes[0]].astype(np.float64))
        fill_distribution(trie.arrays, context, probabilities, np.empty(trie.order, np.int64))
        for word in range(trie.sizes[0]):
            path, backoff = words.get(context, ()), 0.0
            while (*path, word) not in paths:
                backoff += float(trie.arrays.log_backoffs[paths[path]])
                path = path[1:]
            node = paths[*path, word]
            after = node if node < inner else paths[words[node][1:]]
            log = backoff + float(trie.arrays.log_probabilities[node])
            assert descend(trie.arrays, context, word) == pytest.approx((node, backoff))
            assert context_of(trie.arrays, node) == after
            assert step(trie.arrays, context, word) == pytest.approx((after, log))
            assert probabilities[word] == pytest.approx(np.exp(log))


CONTEXTS = {(0,): 0, (1,): 1, (0, 0): 2, (1, 0): 3, (1, 1): 4}
"""Class contexts by number, the word furthest back first."""

ROWS = {0: {0: 0.5}, 1: {1: 0.2, 2: 0.1}, 2: {2: 0.7}, 3: {}, 4: {0: 0.1, 2: 0.2}}
BACKOFFS = [0.5, 0.75, 0.25, 1.0, 0.5]
PARENTS = [-1, -1, 0, 0, 1]
UNIGRAMS = [0.5, 0.25, 0.25]


def naive_class_probability(context: int, label: int) -> tuple[float, int]:
    """The probability of a class after a context, and the context whose row gave it."""
    if context < 0:
        return UNIGRAMS[label], -1
    if label in ROWS[context]:
        return ROWS[context][label], context
    lower, used = naive_class_probability(PARENTS[context], label)
    return BACKOFFS[context] * lower, used


def class_rows() -> ClassRows:
    entries = [(label, value) for row in ROWS.values() for label, value in row.items()]
    return ClassRows(
        frozen(np.cumsum([0, *(len(row) for row in ROWS.values())], dtype=np.int64)),
        frozen(np.array([label for label, _ in entries], np.int32)),
        frozen(np.log([value for _, value in entries]).astype(np.float32)),
        frozen(np.log(BACKOFFS).astype(np.float32)),
        frozen(np.array(PARENTS, np.int32)),
        frozen(np.log(UNIGRAMS).astype(np.float32)),
    )


def test_class_probabilities_back_off_to_shorter_contexts() -> None:
    rows = class_rows()
    asked = [(context, label) for context in range(-1, 5) for label in range(3)]
    contexts, labels = (frozen(np.array(column, np.int32)) for column in zip(*asked, strict=True))
    out, used = np.empty(len(asked)), np.empty(len(asked), np.int32)
    score_classes(rows, contexts, labels, out, used)
    for index, (context, label) in enumerate(asked):
        value, source = naive_class_probability(context, label)
        assert (np.exp(out[index]), used[index]) == (pytest.approx(value), source)
        filled = np.array(UNIGRAMS)
        fill_classes(rows, context, filled, np.empty(3, np.int64))
        assert filled[label] == pytest.approx(value)


@given(st.lists(st.integers(0, 3), min_size=3, max_size=20))
def test_the_longest_known_class_context_is_found(ids: list[int]) -> None:
    maps = np.array([[0, 1, 0, 1], [0, 0, 1, 1]], np.int32)
    tree = ContextTree(
        frozen(np.array([2, 4, 5, 5, 5, 5], np.int64)), frozen(np.array([0, 1, 0, 1, 1], np.int32))
    )
    positions = np.arange(2, len(ids), dtype=np.int64)
    nodes = np.empty(positions.size, np.int32)
    find_contexts(frozen(np.array(ids, np.int32)), frozen(positions), frozen(maps), tree, nodes)
    for position, node in zip(positions.tolist(), nodes.tolist(), strict=True):
        near, far = int(maps[0, ids[position - 1]]), int(maps[1, ids[position - 2]])
        assert node == CONTEXTS.get((far, near), CONTEXTS[near,])


def test_batches_equal_single_steps() -> None:
    model = train_kneser_ney(counts_of(random_lines(1), 4), 4)
    sentences = model.encode(HELD_OUT * 100)
    assert sentences.tokens > 2 * 1024
    expected, context = [], model.trie.first_context()
    for word in sentences.ids.tolist():
        context, log = step(model.trie.arrays, context, word)
        expected.append(log)
        context = model.trie.first_context() if word == EOS else context
    assert model.log_probabilities(sentences) == pytest.approx(expected, abs=1e-6)
