"""Perplexity, comparison, surprisal, streaming scores and generation."""

import math
from pathlib import Path

import numpy as np
import pytest

from classgram.counts.counting import count_ngrams
from classgram.errors import InputError
from classgram.evaluation.comparison import compare_models, compare_scores, permutation_p_value
from classgram.evaluation.filtering import score_units
from classgram.evaluation.generation import generate
from classgram.evaluation.perplexity import check_text_options, evaluate
from classgram.evaluation.surprisal import surprisals
from classgram.models.language_model import LanguageModel
from classgram.models.ngram.ngram_model import train_backoff, train_kneser_ney
from classgram.options import CountOptions, GenerateOptions, ReadOptions, TextOptions
from classgram.text.reading import read_text, text_from_strings
from classgram.text.records import Record, read_records
from tests.helpers.texts import HELD_OUT, counts_of, random_lines


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return train_kneser_ney(counts_of(random_lines(1), 3))


def test_both_rules_side_by_side(model: LanguageModel) -> None:
    result = evaluate(model, text_from_strings(["w1 zzz w2", "zzz", "w3"]))
    logs = model.log_probabilities(model.encode(["w1 zzz w2", "zzz", "w3"]))
    known = [0, 2, 3, 5, 6, 7]
    assert (result.sentences, result.words, result.unknown) == (3, 5, 2)
    assert result.perplexity_including_unknown == pytest.approx(math.exp(-logs.mean()))
    assert result.perplexity_excluding_unknown == pytest.approx(math.exp(-logs[known].mean()))
    fields = result.as_dict()
    assert fields["bits_per_word"] == pytest.approx(-logs.mean() / math.log(2))
    assert fields["log10_probability"] == pytest.approx(logs.sum() / math.log(10))
    assert sum(fields["hits"]) == 8


def test_long_texts_are_scored_in_parts(
    model: LanguageModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").write_text("\n".join(HELD_OUT))
    whole = evaluate(model, read_text(tmp_path / "text"))
    monkeypatch.setattr("classgram.text.reading.CHUNK_BYTES", 50)
    parts = evaluate(model, read_text(tmp_path / "text"))
    assert parts.log_probability == pytest.approx(whole.log_probability)
    assert (parts.sentences, parts.words, parts.hits) == (whole.sentences, whole.words, whole.hits)


def test_only_unknown_words(model: LanguageModel) -> None:
    result = evaluate(model, text_from_strings(["zzz yyy"]))
    assert result.unknown == result.words == 2
    assert math.isfinite(result.perplexity_including_unknown)
    assert math.isfinite(result.perplexity_excluding_unknown)


def test_empty_text(model: LanguageModel) -> None:
    with pytest.raises(InputError, match="contains no words"):
        evaluate(model, text_from_strings(["", " "]))


def test_contradicting_options_are_refused(model: LanguageModel) -> None:
    check_text_options(model.vocabulary, TextOptions())
    with pytest.raises(InputError, match="--no-lowercase --punctuation keep"):
        check_text_options(model.vocabulary, TextOptions(lowercase=True))


def test_the_models_own_text_options_are_used() -> None:
    text = text_from_strings(["The Cat, sat.", "The dog."], TextOptions(True, "strip"))
    model = train_kneser_ney(count_ngrams(text, CountOptions(2)))
    assert model.score("the cat sat") == model.score("THE CAT -- sat!")
    assert not any(unknown for *_, unknown in model.full_scores("The Cat, sat."))


def test_comparison_finds_the_better_model() -> None:
    counts = counts_of(random_lines(1, 400), 3)
    models = [train_backoff(counts, 2), train_kneser_ney(counts, 3), train_backoff(counts, 2)]
    evaluations, (better, same) = compare_models(models, text_from_strings(random_lines(1, 400)))
    ratio = evaluations[1].perplexity_including_unknown / evaluations[0].perplexity_including_unknown
    assert better.perplexity_change_percent == pytest.approx(100 * (ratio - 1))
    assert better.p_value < 0.01
    assert better.sentences_better > better.sentences_worse
    assert (same.p_value, same.sentences_better, same.perplexity_change_percent) == (1.0, 0, 0.0)


def test_p_values_are_calibrated() -> None:
    random = np.random.default_rng(7)
    values = [permutation_p_value(random.normal(size=60)) for _ in range(200)]
    assert 0.02 <= np.mean(np.array(values) < 0.1) <= 0.2
    assert permutation_p_value(random.normal(size=5000) + 0.2) < 0.001
    with pytest.raises(InputError, match="same options"):
        compare_scores(np.zeros(3), np.zeros(4), 9)


def test_surprisal_has_a_row_for_every_original_word() -> None:
    text = text_from_strings(["Well, the cat sat.", "The cat!"], TextOptions(True, "verbalise"))
    model = train_kneser_ney(count_ngrams(text, CountOptions(2)))
    rows = list(surprisals([model, model], ["The cat, sat.", "", "dogs sat"]))
    assert [(row.sentence, row.position, row.word) for row in rows] == [
        (1, 1, "The"),
        (1, 2, "cat,"),
        (1, 3, "sat."),
        (3, 1, "dogs"),
        (3, 2, "sat"),
    ]
    assert [row.tokens for row in rows] == [1, 2, 2, 1, 1]
    assert [row.unknown for row in rows] == [False, False, False, True, False]
    logs = -model.log_probabilities(model.encode(["The cat, sat."])) / math.log(2)
    assert rows[1].bits == pytest.approx([logs[1:3].sum()] * 2)
    assert sum(row.bits[0] for row in rows[:3]) == pytest.approx(logs[:-1].sum())
    assert rows[0].log10_frequency == pytest.approx(math.log10(2 / 11))


def test_surprisal_of_stripped_marks_is_zero() -> None:
    text = text_from_strings(["the cat sat"], TextOptions(True, "strip"))
    model = train_kneser_ney(count_ngrams(text, CountOptions(2)))
    dash = list(surprisals([model], ["the -- cat"]))[1]
    assert (dash.tokens, dash.bits, dash.unknown) == (0, (0.0,), False)


def test_scores_keep_order_and_records(model: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("classgram.evaluation.filtering.BATCH_LINES", 3)
    records = [Record(line) for line in HELD_OUT]
    scored = list(score_units(model, records, "line"))
    assert [unit.records[0].text for unit in scored] == HELD_OUT
    for unit in scored:
        assert unit.log10_probability == pytest.approx(model.score(unit.records[0].text))
        assert unit.perplexity == pytest.approx(model.perplexity(unit.records[0].text))


def test_documents(model: LanguageModel) -> None:
    plain = [Record(text) for text in ("w1 w2", "w3", "", "", "w4")]
    first, second = score_units(model, plain, "document")
    assert first.perplexity == pytest.approx(model.perplexity(["w1 w2", "w3"]))
    assert (first.words, first.sentences, second.words) == (3, 2, 1)
    record = Record("w1 w2\n\nw3", {"text": "w1 w2\n\nw3", "id": 7})
    (document,) = score_units(model, [record], "document")
    assert document.perplexity == pytest.approx(first.perplexity)
    (line,) = score_units(model, [record], "line")
    assert line.perplexity == pytest.approx(model.perplexity("w1 w2 w3"))


def test_records_of_all_kinds(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\n\ntwo")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b'{"text": "x\\ny", "id": 1}\n\n{"text": "z"}\n'))
    read = list(read_records([tmp_path / "a.txt", tmp_path / "b.jsonl.gz"], ReadOptions()))
    assert [record.text for record in read] == ["one", "", "two", "x\ny", "z"]
    assert read[3].fields == {"text": "x\ny", "id": 1}
    (tmp_path / "bad.jsonl").write_text('{"text": 1}\n')
    with pytest.raises(InputError, match=r"bad.jsonl, line 1: no text in field 'text'"):
        list(read_records([tmp_path / "bad.jsonl"], ReadOptions()))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"some text" * 99)[:30])
    with pytest.raises(InputError, match="cut short"):
        list(read_records([tmp_path / "cut.gz"], ReadOptions()))


def test_generation_repeats_and_follows_the_model(model: LanguageModel) -> None:
    options = GenerateOptions(sentences=300, seed=5)
    drawn = list(generate(model, options))
    assert drawn == list(generate(model, options))
    assert drawn != list(generate(model, GenerateOptions(sentences=300, seed=6)))
    assert not any("<unk>" in words or "<s>" in words for words in drawn)
    first = np.mean([bool(words) and words[0] == "w1" for words in drawn])
    distribution = model.distribution(model.start())
    expected = distribution[model.vocabulary.id("w1")] / (1 - distribution[0])
    assert first == pytest.approx(expected, abs=0.1)


def test_generation_options(model: LanguageModel) -> None:
    short = list(generate(model, GenerateOptions(sentences=20, max_words=2, prompt="w1 w2")))
    assert all(words[:2] == ["w1", "w2"] and len(words) <= 4 for words in short)
    cold = {tuple(words) for words in generate(model, GenerateOptions(sentences=9, temperature=0.01))}
    assert len(cold) == 1
    with pytest.raises(InputError, match="--temperature"):
        list(generate(model, GenerateOptions(temperature=0)))
