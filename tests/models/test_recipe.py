"""The recipe: sensible from one word on, the same for any threads, and through every command."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from classgram.counts.counting import count_sentences, read_sentences
from classgram.errors import InputError
from classgram.evaluation.filtering import score_units
from classgram.evaluation.surprisal import surprisals
from classgram.models.mixtures.mixture import MixtureModel, mix_models
from classgram.models.mixtures.recipe import (
    Training,
    component_names,
    held_out_folds,
    make_plan,
    train_mixture,
)
from classgram.models.mixtures.tuning import RecipeTuning
from classgram.models.ngram.ngram_model import train_kneser_ney
from classgram.options import CountOptions, MixtureOptions, TrainClassesOptions
from classgram.text.reading import text_from_strings
from classgram.text.records import Record
from classgram.text.vocabulary import EOS, UNK
from tests.helpers.command import Command, in_process
from tests.helpers.texts import random_lines

QUICK = TrainClassesOptions(effort="low", threads=1)


def training_of(lines: list[str], order: int = 3) -> Training:
    vocabulary, sentences = read_sentences(text_from_strings(lines))
    return Training(count_sentences(vocabulary, sentences, CountOptions(order)), sentences)


@pytest.fixture(scope="module")
def training() -> Training:
    return training_of(random_lines(1, 300))


@pytest.fixture(scope="module")
def cached(training: Training) -> MixtureModel:
    return train_mixture(training, None, MixtureOptions(cache=True), QUICK)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return in_process(capsys)


def test_a_mixture_predicts_better_than_its_word_model(training: Training) -> None:
    held_out = training.counts.vocabulary.encode_lines(random_lines(1, 400)[300:])
    notes: list[str] = []
    mixed = train_mixture(training, None, None, QUICK, notes.append)
    alone = train_kneser_ney(training.counts)
    assert mixed.log_probabilities(held_out).mean() > alone.log_probabilities(held_out).mean()
    assert notes[0].startswith("components: Kneser-Ney of order 3, 2, class 3-grams")
    assert "held out in 10 folds" in notes[1]
    assert component_names(mixed)[:2] == ["kneser-ney", "kneser-ney"]


def test_the_same_bytes_for_any_number_of_threads(training: Training, tmp_path: Path) -> None:
    held_out = training.counts.vocabulary.encode_lines(random_lines(2, 40))
    for threads in (1, 3):
        options = TrainClassesOptions(threads=threads)
        train_mixture(training, held_out, None, options).save(tmp_path / str(threads))
    files = [path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*.npy")]
    assert len(files) > 10
    for file in files:
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "3" / file).read_bytes()


def test_fast_keeps_the_word_model_and_few_others(training: Training) -> None:
    few = train_mixture(training, None, MixtureOptions(fast=True), QUICK)
    assert len(few.components) == 4
    assert few.info["kept"][0] == 0


@pytest.mark.parametrize(
    "lines",
    [
        ["a"],
        ["a a", "a", "a a a"],
        ["one sentence of some words"],
        ["a b c d e", "f g h a b"],
        ["a", "b", "c"],
    ],
)
@pytest.mark.parametrize("cache", [False, True])
def test_the_smallest_texts_give_sound_models(lines: list[str], cache: bool, tmp_path: Path) -> None:
    model = train_mixture(training_of(lines, 5), None, MixtureOptions(cache=cache), QUICK)
    assert np.isfinite(model.log_probabilities(model.encode([*lines, "a zz b", ""]))).all()
    state = model.start()
    for word in ("a", "zz"):
        state = model.advance(state, model.vocabulary.id(word))
    assert model.distribution(state).sum() == pytest.approx(1.0, abs=1e-6)
    model.save(tmp_path / "model")


def test_components_follow_the_text(training: Training) -> None:
    assert make_plan(training).orders == (3, 2)
    whole = make_plan(training, tuning=RecipeTuning(small_text=100))
    assert whole.orders == (3,)
    assert whole.interleaved
    sizes = RecipeTuning(words_per_class=(5, 4, 3), large_words_per_class=(5, 4), huge_words_per_class=(5,))
    for tuning, clusterings in (
        (sizes, 3),
        (replace(sizes, large_text=200), 2),
        (replace(sizes, large_text=200, huge_text=300), 1),
    ):
        plan = make_plan(training, tuning=tuning)
        assert len(plan.clusterings) == clusterings
        assert bool(plan.interleaved) == (tuning is sizes)
    assert not make_plan(Training(training.counts)).interleaved
    assert "alone" in make_plan(training_of(["a a"])).describe()


def test_folds_are_held_out_in_turn(training: Training) -> None:
    assert training.sentences is not None
    folds = list(held_out_folds(training, training.sentences))
    assert len(folds) == 10
    assert sum(fold.tokens for _, fold in folds) == training.sentences.tokens
    for rest, fold in folds:
        assert rest.counts.tokens + fold.tokens == training.sentences.tokens
        known = rest.counts.levels[0].counts > 0
        assert known[fold.ids[(fold.ids != UNK) & (fold.ids != EOS)]].all()
    few = held_out_folds(training, training.sentences, RecipeTuning(small_text_folds=4, enough_events=1))
    assert len(list(few)) == 1
    alone = training_of(["a b"])
    assert alone.sentences is not None
    assert not list(held_out_folds(alone, alone.sentences))


def test_counts_alone_need_held_out_text(training: Training) -> None:
    with pytest.raises(InputError, match="--valid"):
        train_mixture(Training(training.counts), None, None, QUICK)


def test_scores_of_units_do_not_depend_on_batches(
    cached: MixtureModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        line
        for number, line in enumerate(random_lines(3, 40))
        for line in ([line, ""] if number % 4 == 3 else [line])
    ]
    records = [Record(line, None) for line in lines]
    for unit in ("line", "document"):
        monkeypatch.setattr("classgram.evaluation.filtering.BATCH_LINES", 5000)
        whole = [one.log10_probability for one in score_units(cached, records, unit)]
        monkeypatch.setattr("classgram.evaluation.filtering.BATCH_LINES", 3)
        parts = [one.log10_probability for one in score_units(cached, records, unit)]
        assert parts == pytest.approx(whole)
        if unit == "line":
            assert whole == pytest.approx([cached.score(line) for line in lines])


def test_surprisal_goes_on_from_batch_to_batch(cached: MixtureModel, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = random_lines(3, 30)
    whole = [row.bits[0] for row in surprisals([cached], lines)]
    monkeypatch.setattr("classgram.evaluation.surprisal.BATCH", 4)
    assert [row.bits[0] for row in surprisals([cached], lines)] == pytest.approx(whole)
    sentences = cached.encode(lines)
    logs = cached.log_probabilities(sentences)[sentences.ids != EOS]
    assert whole == pytest.approx((-logs / np.log(2)).tolist())


def test_a_mixture_of_mixtures_remembers(cached: MixtureModel) -> None:
    sentences = cached.encode(random_lines(3, 30))
    outer = mix_models([cached], sentences)
    expected = cached.log_probabilities(sentences)
    assert outer.log_probabilities(sentences) == pytest.approx(expected)
    session = outer.session()
    halves = [cached.encode(random_lines(3, 30)[:11]), cached.encode(random_lines(3, 30)[11:])]
    assert np.concatenate([session.log_probabilities(half) for half in halves]) == pytest.approx(expected)


def test_mixtures_on_the_command_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(random_lines(1, 200)))
    (tmp_path / "b.txt").write_text("\n".join([*random_lines(2, 60), "other words"]))
    (tmp_path / "valid.txt").write_text("\n".join(random_lines(2, 90)[60:]))
    a, b, both, valid = (tmp_path / name for name in ("a", "b", "both", "valid.txt"))
    result = command("train", tmp_path / "a.txt", "-o", a, "--order", "3", "--effort", "low")
    assert result.code == 0
    assert "components: Kneser-Ney of order 3, 2" in result.err
    assert command("train", tmp_path / "b.txt", "-o", b, "--recipe", "kneser-ney").code == 0
    result = command("mix", a, b, "--valid", valid, "-o", both, "--cache")
    assert result.code == 0
    assert "the models are missing 2, 0; words missing from a model share its <unk>" in result.err
    found = {}
    for model in (a, b, both):
        code, out, _ = command("perplexity", model, valid, "--json")
        assert code == 0
        found[model] = json.loads(out)["perplexity_including_unknown"]
    assert found[both] < min(found[a], found[b])
    assert len(command("generate", both, "--sentences", "3").out.splitlines()) == 3
    assert json.loads(command("info", both, "--verify", "--json").out)["recipe"] == "mixture"
    for bad, words in {
        "no word that the models know": ("mix", a, "--valid", tmp_path / "strange.txt", "-o", both),
        "no sentence": ("mix", a, "--valid", tmp_path / "empty.txt", "-o", both),
        "name the models": ("mix", "--valid", valid, "-o", both),
        "chooses its classes itself": ("train", tmp_path / "a.txt", "-o", both, "--classes", "5"),
        "for other recipes": ("train", tmp_path / "a.txt", "-o", both, "--cutoff", "9"),
        "for --recipe mixture": ("train", valid, "-o", both, "--recipe", "katz", "--cache"),
        "no such": ("mix", a, tmp_path / "none", "--valid", valid, "-o", both),
    }.items():
        (tmp_path / "strange.txt").write_text("unheard of\n")
        (tmp_path / "empty.txt").write_text("")
        code, out, err = command(*words)
        assert (code, out) == (2, "")
        assert bad in err
