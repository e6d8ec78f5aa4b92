"""Mixtures: sums, round trips, weights found again, caches the same in batches and word by word."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classgram.counts.counting import count_ngrams
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.loading import load
from classgram.models.language_model import LanguageModel
from classgram.models.mixtures.cache import cache_probabilities
from classgram.models.mixtures.mixture import MixtureModel, mix_models
from classgram.models.mixtures.tuning import RecipeTuning
from classgram.models.mixtures.weights import em_weights
from classgram.models.mixtures.wider_vocabulary import AdaptedModel, one_vocabulary
from classgram.models.ngram.ngram_model import train_backoff, train_kneser_ney
from classgram.options import CountOptions
from classgram.text.reading import text_from_strings
from classgram.text.sentences import Sentences, sentences_from_ids
from classgram.text.vocabulary import BOS, EOS

TEXT = ["a b c a b", "b a d", "c c a e", "a b c d e a", "e d c b a", "a a b", "d e a b"] * 6
MANY_BUCKETS = RecipeTuning(events_per_bucket=1)
HELD_OUT = ["a b c", "d e b a", "c a b z", "a b d e c a b", "b b a"]


@pytest.fixture(scope="module")
def counts() -> NgramCounts:
    return count_ngrams(text_from_strings(TEXT), CountOptions(3))


@pytest.fixture(scope="module")
def models(counts: NgramCounts) -> list[LanguageModel]:
    return [train_kneser_ney(counts, 3), train_backoff(counts, 2), train_kneser_ney(counts, 2)]


def held_out(counts: NgramCounts) -> Sentences:
    return counts.vocabulary.encode_lines(HELD_OUT)


def step_by_step(model: LanguageModel, sentences: Sentences) -> list[float]:
    state = model.start()
    logs = []
    for word in sentences.ids.tolist():
        logs.append(model.log_probability(state, word))
        distribution = model.distribution(state)
        assert distribution.sum() == pytest.approx(1.0, abs=1e-6)
        assert np.log(distribution[word]) == pytest.approx(logs[-1], abs=1e-6)
        state = model.advance(state, word)
    return logs


@pytest.mark.parametrize("windows", [(), (3,), (2, 7)])
@pytest.mark.parametrize("by_context", [False, True])
def test_batch_equals_word_by_word(
    counts: NgramCounts,
    models: list[LanguageModel],
    windows: tuple[int, ...],
    by_context: bool,
) -> None:
    sentences = held_out(counts)
    mixture = mix_models(models, sentences, windows, by_context, MANY_BUCKETS)
    assert (mixture.buckets is not None) == by_context
    assert mixture.log_probabilities(sentences) == pytest.approx(step_by_step(mixture, sentences), abs=1e-6)


def test_a_session_goes_on_from_batch_to_batch(counts: NgramCounts, models: list[LanguageModel]) -> None:
    sentences = held_out(counts)
    mixture = mix_models(models, sentences, (4, 9))
    session = mixture.session()
    parts = [
        session.log_probabilities(sentences_from_ids(sentences[index].copy(), EOS))
        for index in range(len(sentences))
    ]
    assert np.concatenate(parts) == pytest.approx(mixture.log_probabilities(sentences))


def test_a_mixture_reads_back_the_same(
    counts: NgramCounts, models: list[LanguageModel], tmp_path: Path
) -> None:
    sentences = held_out(counts)
    inner = mix_models(models[:2], sentences, tuning=MANY_BUCKETS)
    mixture = mix_models([*models, inner], sentences, (5,), tuning=MANY_BUCKETS)
    mixture.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert isinstance(again, MixtureModel)
    assert np.array_equal(again.log_probabilities(sentences), mixture.log_probabilities(sentences))
    np.save(tmp_path / "model" / "weights.npy", mixture.weights[:, ::-1] * 2)
    with pytest.raises(InputError, match=r"weights\.npy"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("field", "value"),
    [("windows", "x"), ("windows", [0]), ("guide", -1), ("guide", 9), ("guide", "0"), ("components", [])],
)
def test_a_damaged_mixture_is_refused(
    counts: NgramCounts, models: list[LanguageModel], field: str, value: object, tmp_path: Path
) -> None:
    mix_models(models, held_out(counts), (5,)).save(tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    (tmp_path / "model" / "config.json").write_text(json.dumps({**config, field: value}))
    with pytest.raises(InputError, match="make the model again"):
        load(tmp_path / "model")


def test_a_mixture_of_one_model_is_that_model(counts: NgramCounts, models: list[LanguageModel]) -> None:
    sentences = held_out(counts)
    for model in models:
        alone = mix_models([model], sentences)
        twice = mix_models([model, model], sentences)
        expected = model.log_probabilities(sentences)
        assert alone.log_probabilities(sentences) == pytest.approx(expected, abs=1e-9)
        assert twice.log_probabilities(sentences) == pytest.approx(expected, abs=1e-9)


def test_weights_are_found_again(counts: NgramCounts) -> None:
    one = train_kneser_ney(
        count_ngrams(text_from_strings(["a a a b", "b a a"] * 9), vocabulary=counts.vocabulary)
    )
    two = train_kneser_ney(
        count_ngrams(text_from_strings(["c d e", "e d c d"] * 9), vocabulary=counts.vocabulary)
    )
    truth = np.array([0.7, 0.3])
    random = np.random.default_rng(3)
    ids = []
    for _ in range(4000):
        states = [one.start(), two.start()]
        while True:
            mixed = sum(
                weight * model.distribution(state)
                for weight, model, state in zip(truth, (one, two), states, strict=True)
            )
            word = int(random.choice(len(counts.vocabulary), p=mixed / mixed.sum()))
            ids.append(word)
            if word == EOS:
                break
            states = [one.advance(states[0], word), two.advance(states[1], word)]
    sentences = sentences_from_ids(np.array(ids, np.int32), EOS)
    found = mix_models([one, two], sentences, by_context=False).weights[0]
    assert found == pytest.approx(truth, abs=0.02)


@given(st.lists(st.integers(2, 6), min_size=1, max_size=60), st.integers(1, 9), st.integers(0, 30))
def test_caches_equal_plain_counting(ids: list[int], window: int, split: int) -> None:
    split = min(split, len(ids) - 1)
    history, words = np.array(ids[:split], np.int32), np.array(ids[split:], np.int32)
    found = cache_probabilities(history, words, [window], 7)
    before = [BOS if k == 0 or ids[k - 1] == EOS else ids[k - 1] for k in range(len(ids))]
    for row, now in enumerate(range(split, len(ids))):
        past = range(max(0, now - window), now)
        if not len(past):
            assert found[row].tolist() == [-1, -1]
            continue
        single = sum(ids[k] == ids[now] for k in past) / len(past)
        same = [k for k in past if before[k] == before[now]]
        double = sum(ids[k] == ids[now] for k in same) / len(same) if same else single
        assert found[row] == pytest.approx([single, double])


@given(st.integers(1, 5), st.integers(1, 40), st.integers(0, 2**32))
def test_weights_sum_to_one_and_never_lose_to_one_column(columns: int, rows: int, seed: int) -> None:
    probabilities = np.random.default_rng(seed).uniform(0.01, 1.0, (rows, columns))
    weights = em_weights(probabilities)
    assert weights.sum() == pytest.approx(1.0)
    mixed = np.log(probabilities @ weights).mean()
    assert mixed >= np.log(probabilities).mean(axis=0).max() - 1e-3


def test_bad_input_is_refused(counts: NgramCounts, models: list[LanguageModel]) -> None:
    with pytest.raises(InputError, match="no sentence"):
        mix_models(models, sentences_from_ids(np.empty(0, np.int32), EOS))
    with pytest.raises(InputError, match="no word that the models know"):
        mix_models(models, counts.vocabulary.encode_lines(["zz yy"]))
    other = train_kneser_ney(count_ngrams(text_from_strings(["x y"])))
    with pytest.raises(InputError, match="differ"):
        mix_models([models[0], other], held_out(counts))


def test_models_of_different_vocabularies_are_mixed_over_all_words(tmp_path: Path) -> None:
    wide = train_kneser_ney(count_ngrams(text_from_strings(["a b c d", "d c", "a a b"] * 5)))
    narrow = train_kneser_ney(count_ngrams(text_from_strings(["a b e q", "b a", "e a <unk>"] * 5)))
    models, note = one_vocabulary([wide, narrow])
    assert note is not None
    assert "are missing 2, 2" in note
    vocabulary = models[0].vocabulary
    sentences = vocabulary.encode_lines(["a e c", "q b d", "zz a"])
    mixture = mix_models(models, sentences)
    assert mixture.log_probabilities(sentences) == pytest.approx(step_by_step(mixture, sentences), abs=1e-6)
    mixture.save(tmp_path / "model")
    assert np.array_equal(
        load(tmp_path / "model").log_probabilities(sentences), mixture.log_probabilities(sentences)
    )
    assert isinstance(models[1], AdaptedModel)
    assert one_vocabulary([wide, wide]) == ([wide, wide], None)
