"""Every model passes one suite: it sums to one, saves and loads, and scores alike in every way."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classgram.counts.counting import count_ngrams
from classgram.counts.ngram_counts import NgramCounts
from classgram.loading import load
from classgram.models.class_based.class_model import ClassMaps, adopt_unseen, estimate_class_model
from classgram.models.class_based.class_ngrams import train_class_ngrams
from classgram.models.language_model import LanguageModel
from classgram.models.ngram.ngram_model import train_backoff, train_katz, train_kneser_ney
from classgram.options import CountOptions, Smoothing
from classgram.text.reading import text_from_strings
from classgram.text.sentences import Sentences
from classgram.text.vocabulary import BOS, EOS, Vocabulary
from tests.helpers.models import MODELS, adapts, small_texts, some_classes
from tests.helpers.texts import HELD_OUT, counts_of, random_lines
from tests.models import naive_models as reference


@pytest.fixture(scope="module")
def counts() -> NgramCounts:
    """Counts of a random text, two words of the vocabulary never seen."""
    return counts_of(random_lines(1), 5, ("never", "ever"))


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest, counts: NgramCounts) -> LanguageModel:
    """Each model in turn."""
    return MODELS[request.param](counts)


def test_distributions_sum_to_one(model: LanguageModel) -> None:
    random = np.random.default_rng(0)
    states = [model.start(), model.start(bos=False)]
    for _ in range(30):
        state = model.start(bool(random.integers(2)))
        for word in random.integers(0, len(model.vocabulary), int(random.integers(1, 7))):
            state = model.advance(state, int(word) if word not in (BOS, EOS) else 3)
        states.append(state)
    for state in states:
        distribution = model.distribution(state)
        assert distribution.sum() == pytest.approx(1, abs=1e-5)
        assert distribution[BOS] == 0
        assert (np.delete(distribution, BOS) > 0).all()


def test_batches_score_as_single_steps(model: LanguageModel) -> None:
    sentences = model.encode(HELD_OUT)
    for bos in (True,) if adapts(model) else (True, False):
        batch = model.log_probabilities(sentences, bos)
        assert np.isfinite(batch).all()
        stepwise, from_distribution = [], []
        state = model.start(bos)
        for index in range(len(sentences)):
            for word in sentences[index].tolist():
                stepwise.append(model.log_probability(state, word))
                from_distribution.append(np.log(model.distribution(state)[word]))
                before, state = state, model.advance(state, word)
            state = model.next_sentence(before) if bos else model.start(bos)
        np.testing.assert_allclose(batch, stepwise, atol=1e-9)
        np.testing.assert_allclose(batch, from_distribution, atol=1e-6)


def test_one_sentence_scores_as_in_a_batch(model: LanguageModel) -> None:
    sentences = model.encode(HELD_OUT)
    each = model.unit_log_probabilities(sentences, np.arange(len(sentences)))
    batch = np.add.reduceat(each, sentences.offsets[:-1])
    alone = [model.score(line) * np.log(10) for line in HELD_OUT]
    np.testing.assert_allclose(batch, alone, atol=1e-9)


def test_saves_and_loads_unchanged(model: LanguageModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    sentences = model.encode(HELD_OUT)
    assert type(again) is type(model)
    assert again.vocabulary == model.vocabulary
    assert again.order == model.order
    assert again.info == model.info
    np.testing.assert_array_equal(again.log_probabilities(sentences), model.log_probabilities(sentences))
    assert again.word_counts is not None
    np.testing.assert_array_equal(again.word_counts, model.word_counts)
    again.save(tmp_path / "copy")
    for file in (tmp_path / "model").rglob("*.*"):
        assert (tmp_path / "copy" / file.relative_to(tmp_path / "model")).read_bytes() == file.read_bytes()


def test_kenlm_and_nltk_styles_agree(model: LanguageModel) -> None:
    line = "w1 w2 unheard w3"
    words = line.split()
    full = list(model.full_scores(line))
    assert sum(score for score, _, _ in full) == pytest.approx(model.score(line))
    assert [unknown for *_, unknown in full] == [False, False, True, False, False]
    assert model.score(line, eos=False) == pytest.approx(sum(score for score, _, _ in full[:-1]))
    chain = [model.score(word, ["<s>", *words[:at]]) for at, word in enumerate([*words, "</s>"])]
    if model.form != "class" or model.order == 2:
        assert np.log10(chain).sum() == pytest.approx(model.score(line))
    assert 2 ** model.logscore("w1", ["w2"]) == pytest.approx(model.score("w1", ["w2"]))
    assert model.perplexity(line) == pytest.approx(10 ** (-model.score(line) / 5))
    if not adapts(model):
        assert model.perplexity([line, line]) == pytest.approx(model.perplexity(line))


def twin_sentences(counts: NgramCounts, lines: list[str]) -> tuple[list[list[str]], list[str]]:
    """Sentences for the twins, and the words that can be predicted."""
    return [line.split() for line in lines], [word for word in counts.vocabulary.words if word != "<s>"]


def assert_equals_twin(model: LanguageModel, twin: reference.Distribution, lines: list[str]) -> None:
    """Compare a model with its twin on every event of the lines."""
    sentences = model.encode(lines)
    expected = []
    for line in lines:
        words = [word if word in model.vocabulary else "<unk>" for word in line.split()]
        history: reference.Gram = ("<s>",)
        for word in [*words, "</s>"]:
            expected.append(twin(history, word))
            history = (*history, word)
    np.testing.assert_allclose(np.exp(model.log_probabilities(sentences)), expected, rtol=2e-6)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_kneser_ney_equals_its_definition(counts: NgramCounts, order: int) -> None:
    sentences, predicted = twin_sentences(counts, random_lines(1))
    twin = reference.kneser_ney(sentences, order, predicted)
    assert_equals_twin(train_kneser_ney(counts, order), twin, HELD_OUT[-25:])


@pytest.mark.parametrize(("order", "cutoffs"), [(2, (2,)), (3, (3, 2)), (3, (1,)), (4, (2, 3, 1))])
def test_backoff_equals_its_definition(counts: NgramCounts, order: int, cutoffs: tuple[int, ...]) -> None:
    sentences, predicted = twin_sentences(counts, random_lines(1))
    twin = reference.paper_backoff(sentences, order, predicted, cutoffs)
    assert_equals_twin(train_backoff(counts, order, cutoffs), twin, HELD_OUT[-12:])


@pytest.mark.parametrize("order", [2, 3])
def test_katz_equals_its_definition(counts: NgramCounts, order: int) -> None:
    sentences, predicted = twin_sentences(counts, random_lines(1))
    twin = reference.katz(sentences, order, predicted)
    assert_equals_twin(train_katz(counts, order), twin, HELD_OUT[-12:])


@given(small_texts, st.integers(2, 4))
def test_any_small_text_gives_sound_word_models(lines: list[str], order: int) -> None:
    counts = counts_of(lines, order)
    sentences, predicted = twin_sentences(counts, lines)
    held_out = [*lines, "a d", "b zz a", ""]
    trained = {
        "kneser-ney": (train_kneser_ney(counts), reference.kneser_ney(sentences, order, predicted)),
        "backoff": (
            train_backoff(counts),
            reference.paper_backoff(sentences, order, predicted, (2,)),
        ),
        "katz": (train_katz(counts), reference.katz(sentences, order, predicted)),
    }
    for model, twin in trained.values():
        assert_equals_twin(model, twin, held_out)


@pytest.mark.parametrize(
    ("smoothing", "order"), [("interpolated", 2), ("interpolated", 4), ("paper", 2), ("kneser-ney", 2)]
)
def test_class_models_equal_their_definition(counts: NgramCounts, smoothing: Smoothing, order: int) -> None:
    lines = random_lines(1)
    sentences, predicted = twin_sentences(counts, lines)
    unigrams = counts.levels[0].counts
    labels = adopt_unseen(some_classes(counts, 6), unigrams)
    context_labels = adopt_unseen(some_classes(counts, 5, 8), unigrams)
    words = counts.vocabulary.words
    class_of = dict(zip(words, labels.tolist(), strict=True))
    context_class_of = dict(zip(words, context_labels.tolist(), strict=True))
    grams = reference.class_grams(sentences, order)
    if smoothing == "paper":
        twin = reference.paper_classes(grams, class_of, context_class_of)
    else:
        continued = smoothing == "kneser-ney"
        twin = reference.interpolated_classes(grams, class_of, context_class_of, continued)
    frequency = Counter(word for sentence in sentences for word in (*sentence, "</s>"))

    def probability(history: reference.Gram, word: str) -> float:
        padded = (*["<s>"] * order, *history)[-(order - 1) :]
        members = reference.member_probability(word, frequency, class_of, predicted)
        return twin(padded, class_of[word]) * members

    maps = ClassMaps(np.stack([context_labels] * (order - 1)), labels)
    assert_equals_twin(estimate_class_model(counts, order, maps, smoothing), probability, HELD_OUT)


def test_class_ngrams_are_kneser_ney_over_classes(counts: NgramCounts) -> None:
    lines = random_lines(1)
    sentences, predicted = twin_sentences(counts, lines)
    labels = adopt_unseen(some_classes(counts, 6), counts.levels[0].counts)
    class_of = {word: f"c{label}" for word, label in zip(counts.vocabulary.words, labels, strict=True)}
    class_of |= {"<s>": "<s>", "</s>": "</s>"}
    numbers = {word: int(label) for word, label in zip(counts.vocabulary.words, labels, strict=True)}
    frequency = Counter(word for sentence in sentences for word in (*sentence, "</s>"))
    as_classes = [[class_of[word] for word in sentence] for sentence in sentences]
    names = sorted({class_of[word] for word in frequency})
    twin = reference.kneser_ney(as_classes, 3, names)

    def probability(history: reference.Gram, word: str) -> float:
        members = reference.member_probability(word, frequency, numbers, predicted)
        return twin(tuple(class_of[one] for one in history), class_of[word]) * members

    model = train_class_ngrams(counts, some_classes(counts, 6), 3)
    assert_equals_twin(model, probability, HELD_OUT[-12:])


def test_classes_of_another_vocabulary_are_carried_over() -> None:
    from classgram.clustering.exchange import exchange
    from classgram.models.training import class_maps, train_model
    from classgram.options import ClusterOptions, ModelOptions

    lines = random_lines(1)
    counts = counts_of(lines, 3)
    turned = Vocabulary.from_words([*reversed(counts.vocabulary.words[3:]), "new"])
    others = count_ngrams(text_from_strings(lines), CountOptions(3), turned)
    for options in (
        ClusterOptions(classes=5),
        ClusterOptions(classes=5, shape="joint", order=3, contexts=20),
    ):
        partition = exchange(counts, options).partition
        maps = class_maps(partition, turned, 3)
        for word in turned.words:
            assert maps.predicted[turned.id(word)] == partition.class_of(word)
        model = train_model(counts, ModelOptions("class", smoothing="interpolated", order=3), partition)
        again = train_model(others, ModelOptions("class", smoothing="interpolated", order=3), partition)
        for line in lines[:20]:
            # The new word takes a share of its class, so that scores differ a little.
            assert again.score(line) == pytest.approx(model.score(line), abs=1.0)


def test_an_index_changes_no_score(counts: NgramCounts, monkeypatch: pytest.MonkeyPatch) -> None:
    model = train_kneser_ney(counts, 4)
    sentences = model.encode(HELD_OUT * 40)
    monkeypatch.setattr("classgram.models.ngram.trie.NGRAMS_PER_EVENT", 0)
    walked = model.scores_with_lengths(sentences)
    monkeypatch.setattr("classgram.models.ngram.trie.NGRAMS_PER_EVENT", 10**9)
    indexed = model.scores_with_lengths(sentences)
    np.testing.assert_allclose(walked[0], indexed[0], atol=1e-12)
    np.testing.assert_array_equal(walked[1], indexed[1])
    empty = Sentences(np.empty(0, np.int32), np.zeros(1, np.int64))
    assert model.log_probabilities(empty).size == 0


def test_discounts_that_cannot_be_estimated_are_told(counts: NgramCounts) -> None:
    notes: list[str] = []
    train_kneser_ney(counts_of(["a b a b"], 3), note=notes.append)
    assert len(notes) == 3
    assert "the discounts are 0.5, 1, 1.5" in notes[0]
    notes.clear()
    train_kneser_ney(counts_of(random_lines(4, 2000), 2), note=notes.append)
    assert not [note for note in notes if "order 2" in note]


def test_treebank_figures(treebank: Path, treebank_valid: Path) -> None:
    from classgram.evaluation.perplexity import evaluate
    from classgram.text.reading import read_text

    counts = count_ngrams(treebank, CountOptions(5))
    for order, most in ((3, 157.9), (5, 148.1)):
        result = evaluate(train_kneser_ney(counts, order), read_text(treebank_valid))
        assert result.perplexity_including_unknown <= most
