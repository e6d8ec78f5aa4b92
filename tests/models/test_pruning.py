"""Entropy pruning: the losses are the relative entropies by definition, and what is left is sound."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classgram.errors import InputError
from classgram.models.ngram.ngram_model import NgramModel, train_backoff, train_kneser_ney
from classgram.models.ngram.pruning import probabilities_by_level, prune_trie, suffixes_by_level, worths
from classgram.models.ngram.trie import BackoffTrie
from classgram.text.vocabulary import BOS, EOS
from tests.export import naive_export as reference
from tests.helpers.exports import assert_sound
from tests.helpers.models import small_texts
from tests.helpers.texts import HELD_OUT, counts_of, random_lines


def naive(trie: BackoffTrie) -> reference.NaiveBackoff:
    """The trie as dictionaries."""
    grams, weights = {}, {}
    for order, nodes in enumerate(trie.levels(), start=1):
        for node, path in zip(
            range(nodes.start, nodes.stop),
            trie.paths(np.arange(nodes.start, nodes.stop), order).tolist(),
            strict=True,
        ):
            grams[tuple(path)] = float(np.exp(np.float64(trie.arrays.log_probabilities[node])))
            if order < trie.order:
                weights[tuple(path)] = float(np.exp(np.float64(trie.arrays.log_backoffs[node])))
    grams[(BOS,)] = 0.0
    words = [word for word in range(trie.sizes[0]) if word != BOS]
    return reference.NaiveBackoff(grams, words, weights)


@settings(max_examples=20)
@given(small_texts, st.integers(2, 4))
def test_losses_equal_their_naive_twin(lines: list[str], order: int) -> None:
    trie = train_kneser_ney(counts_of(lines, order)).trie.without_empty_orders()
    twin = naive(trie)
    losses = worths(trie.to_levels(), suffixes_by_level(trie), probabilities_by_level(trie))
    top = list(trie.levels())[-1]
    paths = trie.paths(np.arange(top.start, top.stop), trie.order).tolist()
    for path, loss in zip(paths, losses[-1].tolist(), strict=True):
        # The highest order is needed by nothing, so that its losses are its own.
        assert loss == pytest.approx(twin.loss(tuple(path), BOS, EOS), abs=1e-7)
    for number in range(len(losses) - 2, 0, -1):
        own = {}
        nodes = list(trie.levels())[number]
        for index, path in enumerate(trie.paths(np.arange(nodes.start, nodes.stop), number + 1).tolist()):
            own[tuple(path)] = (losses[number][index], twin.loss(tuple(path), BOS, EOS))
        assert all(raised >= alone - 1e-7 for raised, alone in own.values())


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return train_kneser_ney(counts_of(random_lines(1), 4, ("never",)), 4)


@pytest.mark.parametrize("limit", [0.0, 1e-6, 1e-4, 1e-2, 0.9, 40, 41, 300, 10**9])
def test_pruned_models_are_sound(model: NgramModel, limit: float) -> None:
    kept = prune_trie(model.trie, limit)
    if limit >= 1:
        assert sum(kept.sizes) == min(limit, sum(model.trie.sizes))
    assert_sound(NgramModel(model.vocabulary, kept), HELD_OUT[:10])


def test_the_more_is_pruned_the_more_is_lost(model: NgramModel) -> None:
    sentences = model.encode(random_lines(1))
    sizes, scores = [], []
    for limit in (0.0, 1e-5, 1e-4, 1e-3, 1e-2):
        kept = prune_trie(model.trie, limit)
        sizes.append(sum(kept.sizes))
        scores.append(float(NgramModel(model.vocabulary, kept).log_probabilities(sentences).sum()))
    assert sizes == sorted(sizes, reverse=True)
    assert scores == sorted(scores, reverse=True)
    assert sizes[-1] < sizes[0] / 3


def test_pruning_by_worth_beats_pruning_by_chance(model: NgramModel) -> None:
    sentences = model.encode(random_lines(1))
    size = sum(model.trie.sizes) // 2
    kept = NgramModel(model.vocabulary, prune_trie(model.trie, size))
    lower = NgramModel(model.vocabulary, train_backoff(counts_of(random_lines(1), 4, ("never",)), 2).trie)
    assert kept.log_probabilities(sentences).sum() > lower.log_probabilities(sentences).sum()


def test_sizes_that_cannot_be(model: NgramModel) -> None:
    with pytest.raises(InputError, match="words alone are as many"):
        prune_trie(model.trie, len(model.vocabulary))
