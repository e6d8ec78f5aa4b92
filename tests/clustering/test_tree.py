"""The tree over classes: every merge is the cheapest, every cut is nested, F never rises upwards."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classgram.classes.partition import Partition
from classgram.clustering.class_pairs import count_pairs, pair_value
from classgram.clustering.criteria import MaximumLikelihood
from classgram.clustering.exchange import exchange
from classgram.clustering.tree import build_tree
from classgram.counts.counting import count_ngrams
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.options import ClusterOptions, CountOptions, RunOptions
from classgram.text.reading import text_from_strings
from classgram.text.vocabulary import BOS, EOS
from tests.clustering.naive_clustering import criterion_terms, merge_losses

LETTERS = "abcdefgh"
sentences = st.lists(
    st.lists(st.sampled_from(LETTERS), min_size=1, max_size=8).map(" ".join), min_size=1, max_size=12
)


def counted(lines: Sequence[str], order: int = 2) -> NgramCounts:
    return count_ngrams(text_from_strings(lines), CountOptions(order))


def value(counts: NgramCounts, partition: Partition) -> float:
    return pair_value(count_pairs(partition, counts), MaximumLikelihood())


def random_partition(counts: NgramCounts, numbers: Sequence[int], tied: bool) -> Partition:
    """Classes by given numbers, <s> and </s> pinned."""
    size = len(counts.vocabulary)
    maps = []
    for shift in range(1 if tied else 2):
        classes = np.array([numbers[(i + 3 * shift) % len(numbers)] for i in range(size)], np.int32)
        classes[BOS], classes[EOS] = 6, 7
        maps.append(classes)
    unigrams = tuple(counts.levels[0].counts for _ in maps)
    return Partition(
        "tied" if tied else "joint", 2, counts.vocabulary, tuple(maps), (6,) * len(maps), unigrams
    )


@given(sentences, st.lists(st.integers(0, 5), min_size=1, max_size=11), st.booleans())
def test_every_merge_is_the_cheapest_by_the_naive_twin(
    lines: list[str], numbers: list[int], tied: bool
) -> None:
    counts = counted(lines)
    partition = random_partition(counts, numbers, tied)
    ids = counts.vocabulary.id
    pairs = {(ids(pair[0]), ids(pair[1])): count for pair, count in counts.items(2)}
    tree = build_tree(counts, partition)
    words, contexts = partition.words.tolist(), partition.context_map.tolist()
    inner = tree.classes.tolist()
    assert tree.values[0] == pytest.approx(sum(criterion_terms(pairs, contexts, words, 0)), abs=1e-6)
    for (kept, joined), before, after in zip(
        tree.merges.tolist(), tree.values[:-1], tree.values[1:], strict=True
    ):
        losses = merge_losses(pairs, contexts, words, inner, tied)
        assert losses[kept, joined] == pytest.approx(min(losses.values()), abs=1e-6)
        assert before - after == pytest.approx(losses[kept, joined], abs=1e-6)
        words = [kept if g == joined else g for g in words]
        contexts = [kept if g == joined else g for g in contexts] if tied else contexts
        inner.remove(joined)
    assert len(inner) == 1


@given(sentences, st.lists(st.integers(0, 5), min_size=1, max_size=11))
def test_cuts_and_prefixes_are_nested_and_lose(lines: list[str], numbers: list[int]) -> None:
    counts = counted(lines)
    partition = random_partition(counts, numbers, tied=True)
    tree = build_tree(counts, partition)
    depth = max(map(len, tree.paths.values()))
    series = [
        [tree.cut(number) for number in range(1, tree.classes.size + 1)],
        [tree.prefix(bits) for bits in range(depth + 1)],
    ]
    for coarse_to_fine in series:
        for coarse, fine in pairwise(coarse_to_fine):
            within = {(int(a), int(b)) for a, b in zip(fine.words, coarse.words, strict=True)}
            assert len(within) == np.unique(fine.words).size
            assert value(counts, coarse) <= value(counts, fine) + 1e-6
        assert coarse_to_fine[0].numbers == (1,)
        assert value(counts, coarse_to_fine[-1]) == pytest.approx(tree.values[0], abs=1e-6)
    for number, cut in enumerate(series[0], start=1):
        assert cut.numbers == (number,)
        assert value(counts, cut) == pytest.approx(tree.values[tree.classes.size - number], abs=1e-6)


@given(sentences, st.lists(st.integers(0, 5), min_size=1, max_size=11))
def test_paths_are_free_of_prefixes(lines: list[str], numbers: list[int]) -> None:
    counts = counted(lines)
    partition = random_partition(counts, numbers, tied=True)
    paths = list(build_tree(counts, partition).paths.values())
    assert all(path and set(path) <= {"0", "1"} for path in paths)
    assert not any(a != b and b.startswith(a) for a in paths for b in paths)
    # A tree is full: the shares of its leaves add up to one, but for the lone class of path 0.
    assert sum(0.5 ** len(path) for path in paths) == (1.0 if len(paths) > 1 else 0.5)


def test_sentence_ends_stay_outside() -> None:
    counts = counted(["a b c", "b c a", "c a b", "a c"] * 3)
    partition = exchange(counts, ClusterOptions(classes=3), run=RunOptions(threads=1)).partition
    merged = build_tree(counts, partition).cut(1)
    assert merged.class_of("<s>") == 1
    assert merged.class_of("</s>") == 2
    assert {merged.class_of(word) for word in "abc"} == {0}


@pytest.mark.parametrize("options", [
    ClusterOptions(classes=4, context_classes=3, shape="joint"),
    ClusterOptions(classes=4, shape="predictive"),
    ClusterOptions(classes=4, context_classes=5, shape="joint", order=3, contexts=10),
])  # fmt: skip
def test_trees_of_other_shapes_merge_the_words(options: ClusterOptions) -> None:
    lines = ["a b c d", "b d a c", "c a d b", "e f a b", "f e b a"] * 4
    counts = counted(lines, options.order)
    result = exchange(counts, options, run=RunOptions(threads=1))
    tree = build_tree(counts, result.partition)
    assert tree.values[0] == pytest.approx(result.F)
    assert (np.diff(tree.values) <= 0).all()
    half = tree.cut(2)
    assert value(counts, half) == pytest.approx(tree.values[-2])
    assert half.context_class_count == result.partition.context_class_count


def test_what_cannot_be_cut_is_refused() -> None:
    counts = counted(["a b c"])
    partition = random_partition(counts, [0, 1], tied=True)
    tree = build_tree(counts, partition)
    for number in (0, 3):
        with pytest.raises(InputError):
            tree.cut(number)
    with pytest.raises(InputError):
        tree.prefix(-1)
    with pytest.raises(InputError, match="vocabular"):
        build_tree(counted(["x y"]), partition)
    everything = np.full(len(counts.vocabulary), 6, np.int32)
    with pytest.raises(InputError, match="no classes"):
        build_tree(counts, replace(partition, maps=(everything,)))


@pytest.mark.slow
def test_many_classes_merged_beat_few_classes_found(treebank: Path) -> None:
    # Brown clustering's own 100 classes (wcluster --c 100) have F = -11,947,150 on this text.
    counts = count_ngrams(treebank)
    result = exchange(counts, ClusterOptions(classes=320), run=RunOptions(threads=1))
    merged = build_tree(counts, result.partition).cut(100)
    assert value(counts, merged) > -11_947_150
