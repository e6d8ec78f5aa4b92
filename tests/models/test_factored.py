"""Factored models: equal to plain Python, normalised, causal, the same in batches and word by word."""

import dataclasses
import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from classgram import train
from classgram.counts.counting import count_sentences, read_sentences
from classgram.errors import InputError
from classgram.evaluation.generation import generate
from classgram.export._kernels.batch_stepping import Wanted
from classgram.export.batch_stepping import batch_stepper
from classgram.loading import load
from classgram.models.factored.contexts import make_stream
from classgram.models.factored.model import FactoredModel
from classgram.models.factored.recipe import refit, train_factored
from classgram.models.factored.tuning import FactoredTuning
from classgram.models.mixtures.recipe import Training
from classgram.options import (
    CountOptions,
    GenerateOptions,
    ReadOptions,
    TrainClassesOptions,
    VocabularyOptions,
)
from classgram.text.reading import read_text
from classgram.text.sentences import Sentences, sentences_from_ids
from classgram.text.vocabulary import BOS, EOS, Vocabulary
from tests.models.naive_factored import NaiveModel

WORDS = [f"w{number}" for number in range(30)]
TUNING = FactoredTuning(clusterings=((1.0, 1.5, 1.0), (0.7, 1.0, 1.5)), epochs=2, gate_epochs=2)
QUICK = TrainClassesOptions(effort="low", threads=1)


def random_sentences(events: int, seed: int) -> Sentences:
    random = np.random.default_rng(seed)
    ids = (random.zipf(1.5, events) % 28 + 3).astype(np.int32)
    ids[random.random(events) < 0.12] = EOS
    ids[-1] = EOS
    return sentences_from_ids(ids, EOS)


@pytest.fixture(scope="module")
def training() -> Training:
    vocabulary = Vocabulary.from_words(["<unk>", "<s>", "</s>", *WORDS])
    sentences = random_sentences(1500, 0)
    return Training(count_sentences(vocabulary, sentences, CountOptions(2)), sentences)


@pytest.fixture(scope="module")
def held_out() -> Sentences:
    return random_sentences(400, 1)


@pytest.fixture(scope="module")
def static(training: Training, held_out: Sentences) -> FactoredModel:
    return train_factored(training, held_out, QUICK, tuning=TUNING)


@pytest.fixture(scope="module")
def adaptive(training: Training, held_out: Sentences) -> FactoredModel:
    return train_factored(training, held_out, QUICK, tuning=TUNING, cache=True)


@pytest.fixture(params=["static", "adaptive"])
def model(request: pytest.FixtureRequest) -> FactoredModel:
    found: FactoredModel = request.getfixturevalue(request.param)
    return found


def test_equals_plain_python(static: FactoredModel, training: Training, held_out: Sentences) -> None:
    assert training.sentences is not None
    ids = held_out.ids[:60]
    for clustered in static.models:
        naive = NaiveModel(clustered, training.sentences.ids.tolist())
        logs = clustered.log_factors(make_stream(ids))
        expected = [naive.log_factors(ids.tolist(), event) for event in range(ids.size)]
        np.testing.assert_allclose(logs, expected, atol=2e-4)


def test_batch_equals_word_by_word(model: FactoredModel, held_out: Sentences) -> None:
    sentences = sentences_from_ids(held_out.ids[: held_out.offsets[8]], EOS)
    state = model.start()
    for word, log in zip(sentences.ids.tolist(), model.log_probabilities(sentences), strict=True):
        distribution = model.distribution(state)
        assert distribution.sum() == pytest.approx(1.0, abs=1e-6)
        assert distribution[BOS] == 0.0
        assert (np.delete(distribution, BOS) > 0).all()
        assert np.log(distribution[word]) == pytest.approx(log, abs=1e-6)
        assert model.log_probability(state, word) == pytest.approx(log, abs=1e-6)
        state = model.advance(state, word)


def test_nothing_later_matters(model: FactoredModel, held_out: Sentences) -> None:
    logs = model.log_probabilities(held_out)
    random = np.random.default_rng(3)
    for cut in (0, 1, 57, 200):
        ids = held_out.ids.copy()
        ids[cut:-1] = random.permutation(ids[cut:-1])
        ids[cut] = 3 if ids[cut] != 3 else 4
        changed = model.log_probabilities(sentences_from_ids(ids, EOS))
        np.testing.assert_array_equal(logs[:cut], changed[:cut])


def test_batches_and_units(model: FactoredModel, held_out: Sentences) -> None:
    whole = model.log_probabilities(held_out)
    session = model.session()
    cuts = [0, 3, 4, 20, len(held_out)]
    parts = [
        session.log_probabilities(
            sentences_from_ids(held_out.ids[held_out.offsets[first] : held_out.offsets[last]], EOS)
        )
        for first, last in pairwise(cuts)
    ]
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-9)
    units = model.unit_log_probabilities(held_out, np.array(cuts[:-1]))
    for first, last in pairwise(cuts):
        begin, end = held_out.offsets[first], held_out.offsets[last]
        alone = model.log_probabilities(sentences_from_ids(held_out.ids[begin:end], EOS))
        np.testing.assert_allclose(units[begin:end], alone, atol=1e-9)


def test_without_sentence_start(model: FactoredModel, held_out: Sentences) -> None:
    logs = model.log_probabilities(held_out, bos=False)
    first = model.log_probability(model.start(bos=False), int(held_out.ids[0]))
    assert logs[0] == pytest.approx(first, abs=1e-9)


def test_round_trip(model: FactoredModel, held_out: Sentences, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.log_probabilities(held_out), model.log_probabilities(held_out))
    assert loaded.info == model.info
    assert list(generate(loaded, GenerateOptions(sentences=2, max_words=5)))


@pytest.mark.parametrize(
    "name", ["entry_labels", "member_labels", "child_starts", "class_values", "path_nodes", "predicted"]
)
def test_damaged_folder(static: FactoredModel, tmp_path: Path, name: str) -> None:
    static.save(tmp_path / "model")
    path = tmp_path / "model" / "0" / f"{name}.npy"
    array = np.load(path)
    if array.dtype.kind == "f":
        array[:] = np.nan
    else:
        array[array.size // 2] = 10**6
    np.save(path, array)
    with pytest.raises(InputError):
        load(tmp_path / "model")


def test_damaged_config(static: FactoredModel, tmp_path: Path) -> None:
    for key, value in (("models", 0), ("contexts", {"both_factors": ["x9"]}), ("cache", True)):
        shutil.rmtree(tmp_path / "model", ignore_errors=True)
        static.save(tmp_path / "model")
        path = tmp_path / "model" / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
        with pytest.raises(InputError):
            load(tmp_path / "model")


@pytest.mark.parametrize("cache", [False, True])
def test_tiny_texts(cache: bool) -> None:
    for lines in (["a b c"], ["a"], ["a b c d e f g a b c", "b a d c a b g"]):
        model = train(lines, recipe="factored", cache=cache, threads=1)
        assert model.perplexity(["a b", "zzz"]) > 1.0
        assert model.distribution(model.start()).sum() == pytest.approx(1.0, abs=1e-6)


def test_words_without_training_events(training: Training, held_out: Sentences) -> None:
    vocabulary = Vocabulary.from_words(["<unk>", "<s>", "</s>", *WORDS, "never", "seen"])
    assert training.sentences is not None
    counts = count_sentences(vocabulary, training.sentences, CountOptions(2))
    model = train_factored(Training(counts, training.sentences), held_out, QUICK, tuning=TUNING)
    distribution = model.distribution(model.start())
    assert distribution.sum() == pytest.approx(1.0, abs=1e-6)
    assert distribution[vocabulary.id("never")] > 0


def test_fitting_raises_the_probability(
    static: FactoredModel, training: Training, held_out: Sentences
) -> None:
    even = dataclasses.replace(TUNING, epochs=0, gate_epochs=0)
    plain = train_factored(training, held_out, QUICK, tuning=even)
    assert static.log_probabilities(held_out).mean() > plain.log_probabilities(held_out).mean()


def test_without_held_out_text(training: Training, held_out: Sentences) -> None:
    assert training.sentences is not None
    model = train_factored(training, None, QUICK, tuning=TUNING)
    assert model.word_counts is not None
    assert model.word_counts.sum() == training.sentences.tokens
    assert model.models[0].chains.tables.node_counts[0] == training.sentences.tokens
    assert model.distribution(model.start()).sum() == pytest.approx(1.0, abs=1e-6)


def test_export_keeps_sentences_apart(model: FactoredModel, held_out: Sentences) -> None:
    stepper = batch_stepper(model)
    states = stepper.start(bos=True)
    words = held_out.ids[: held_out.offsets[3]]
    wanted = Wanted(np.array([0, len(model.vocabulary)]), np.arange(len(model.vocabulary), dtype=np.int32))
    for word in words[words != EOS][:5].tolist():
        row = np.zeros(len(model.vocabulary))
        stepper.add(states, wanted, np.ones(1), row)
        states, logs = stepper.step(states, np.array([word], np.int32))
        assert row.sum() == pytest.approx(1.0, abs=1e-6)
        assert np.log(row[word]) == pytest.approx(logs[0], abs=1e-6)
    begin = model.start()
    first = stepper.step(stepper.start(bos=True), words[:1])[1][0]
    assert first == pytest.approx(model.log_probability(begin, int(words[0])), abs=1e-6)


def test_refusals(training: Training) -> None:
    with pytest.raises(InputError, match="not on counts"):
        train_factored(Training(training.counts))
    nothing = sentences_from_ids(np.array([EOS], np.int32), EOS)
    with pytest.raises(InputError, match="no word"):
        train_factored(training, nothing)
    with pytest.raises(InputError, match="--fast"):
        train(["a b"], recipe="factored", fast=True)
    with pytest.raises(InputError, match="chooses its classes"):
        train(["a b"], recipe="factored", classes=3)


@pytest.mark.release
def test_treebank_figures(treebank: Path, treebank_valid: Path) -> None:
    text = read_text(treebank)
    vocabulary, sentences = read_sentences(text, VocabularyOptions(), None, ReadOptions(), True)
    training = Training(count_sentences(vocabulary, sentences, CountOptions(2)), sentences)
    valid = vocabulary.encode(read_text(treebank_valid), ReadOptions())
    middle = int(valid.offsets[len(valid) // 2])
    halves = [sentences_from_ids(ids, EOS) for ids in (valid.ids[:middle], valid.ids[middle:])]
    for cache, limit in ((False, 110.0), (True, 88.0)):
        model = train_factored(training, halves[0], cache=cache)
        logs = [model.log_probabilities(halves[1]), refit(model, halves[1]).log_probabilities(halves[0])]
        assert np.exp(-np.concatenate(logs).mean()) < limit
