"""Exports of every model: their own probabilities, sums of one in every context, KenLM as the judge."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.export._kernels.batch_stepping import Wanted
from classgram.export._kernels.growth import CandidateValues, KnownEntries, choose_words, gain
from classgram.export.backoff_export import export_backoff, held_levels, without_cache
from classgram.export.batch_stepping import batch_stepper
from classgram.export.loss import draw_sentences, measure_loss
from classgram.models.language_model import LanguageModel
from classgram.models.mixtures.mixture import MixtureModel, mix_models
from classgram.models.mixtures.wider_vocabulary import one_vocabulary
from classgram.models.ngram.ngram_model import NgramModel, train_kneser_ney
from classgram.models.ngram.trie import BackoffTrie
from classgram.options import ExportOptions
from classgram.runtime.compiled import frozen
from classgram.text.vocabulary import BOS
from tests.export import naive_export as reference
from tests.helpers.exports import assert_sound
from tests.helpers.models import (
    MODELS,
    adapts,
    interleaved_model,
    joint_model,
    small_texts,
    some_classes,
    tuple_model,
)
from tests.helpers.texts import HELD_OUT, counts_of, random_lines


@pytest.fixture(scope="module")
def counts() -> NgramCounts:
    return counts_of(random_lines(1), 5, ("never", "ever"))


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest, counts: NgramCounts) -> LanguageModel:
    return MODELS[request.param](counts)


def test_batch_steppers_step_as_the_naive_twin_does(model: LanguageModel) -> None:
    """The twin is the model itself, one state at a time."""
    model = without_cache(model)
    stepper = batch_stepper(model)
    random = np.random.default_rng(0)
    size = len(model.vocabulary)
    everything = np.arange(size, dtype=np.int32)
    for bos in (True, False):
        states, plain = stepper.start(bos), model.start(bos)
        for _ in range(12):
            for words in (everything, everything[[3, 7]]):
                out = np.zeros(words.size)
                wanted = Wanted(frozen(np.array([0, words.size])), frozen(words))
                stepper.add(states, wanted, np.array([0.5]), out)
                np.testing.assert_allclose(out, 0.5 * model.distribution(plain)[words], rtol=1e-6)
            word = int(random.integers(3, size))
            states, logs = stepper.step(states, np.array([word], np.int32))
            assert logs[0] == pytest.approx(model.log_probability(plain, word), abs=1e-6)
            plain = model.advance(plain, word)


def test_export_holds_the_models_own_probabilities(model: LanguageModel, counts: NgramCounts) -> None:
    own = counts.up_to(3) if model.vocabulary == counts.vocabulary else None
    exported = export_backoff(model, ExportOptions(order=3), own).model
    plain = without_cache(model)
    assert exported.trie.order == 3
    top = list(exported.trie.levels())[-1]
    ours = np.exp(exported.trie.arrays.log_probabilities[top])
    paths = exported.trie.paths(np.arange(top.start, top.stop), 3)
    if max((one.order for one in [plain] if isinstance(one, NgramModel)), default=2) <= 3:
        for path, probability in list(zip(paths.tolist(), ours.tolist(), strict=True))[::7]:
            state = plain.start(bos=path[0] == BOS)
            for word in path[path[0] == BOS : -1]:
                state = plain.advance(state, word)
            if not isinstance(plain, MixtureModel):
                assert probability == pytest.approx(plain.distribution(state)[path[-1]], rel=1e-4)
    assert_sound(exported, HELD_OUT[:8])


def test_growth_and_pruning_keep_every_form_sound(model: LanguageModel) -> None:
    grown = export_backoff(model, ExportOptions(min(3, model.order), 150))
    assert 0 <= grown.grown <= 150
    assert_sound(grown.model, HELD_OUT[:8])
    pruned = export_backoff(model, ExportOptions(min(3, model.order), 150, prune=90))
    assert sum(pruned.model.trie.sizes) == min(90, sum(grown.model.trie.sizes))
    assert_sound(pruned.model, HELD_OUT[:8])


def test_word_models_are_exported_exactly(counts: NgramCounts) -> None:
    model = train_kneser_ney(counts, 4)
    exported = export_backoff(model)
    assert exported.exact
    sentences = model.encode(HELD_OUT)
    np.testing.assert_array_equal(
        exported.model.log_probabilities(sentences), model.log_probabilities(sentences)
    )


def test_all_bigrams_make_a_class_bigram_exact(counts: NgramCounts) -> None:
    for model in (tuple_model(counts, 2, "interpolated"), joint_model(counts, "paper")):
        everything = len(model.vocabulary) ** model.order
        exported = export_backoff(model, ExportOptions(grow=everything)).model
        sentences = model.encode(HELD_OUT)
        loss = measure_loss(model, exported, sentences, "held out")
        if model.order == 2:
            np.testing.assert_allclose(
                exported.log_probabilities(sentences), model.log_probabilities(sentences), atol=0.02
            )
        assert abs(loss.percent) < 3


def test_growth_brings_a_mixture_nearer_to_itself(counts: NgramCounts) -> None:
    held_out = counts.vocabulary.encode_lines(random_lines(4, 30))
    parts = [train_kneser_ney(counts, 3), MODELS["class kneser-ney"](counts), interleaved_model(counts)]
    model = mix_models(parts, held_out)
    drawn = draw_sentences(model, 400)
    losses = [
        measure_loss(model, export_backoff(model, ExportOptions(grow=number)).model, drawn, "drawn").exported
        for number in (0, 100, 1000)
    ]
    assert losses[0] > losses[1] > losses[2]


def test_lower_orders_are_means_of_higher_ones(counts: NgramCounts) -> None:
    """A cut model predicts nearly as well as one trained at that order, not as its lower orders do."""
    model = train_kneser_ney(counts, 5)
    sentences = counts.vocabulary.encode_lines(random_lines(1))
    lower = export_backoff(model, ExportOptions(order=2)).model
    own = train_kneser_ney(counts, 2)
    plain = NgramModel(
        model.vocabulary, BackoffTrie(model.trie.arrays, model.trie.sizes[:2]).without_empty_orders()
    )
    means = [float(one.log_probabilities(sentences).mean()) for one in (lower, own, plain)]
    assert means[0] > means[2]
    assert means[0] == pytest.approx(means[1], abs=0.1)
    assert_sound(lower, HELD_OUT[:8])


def test_caches_stay_behind(counts: NgramCounts) -> None:
    model = MODELS["mixture with caches"](counts)
    assert adapts(model)
    plain = without_cache(model)
    assert not adapts(plain)
    assert without_cache(plain) is plain
    first = model.encode(["w1"])
    # Where nothing came before, the cache's weight goes to the models: the same as without it.
    assert plain.log_probabilities(first)[0] == pytest.approx(model.log_probabilities(first)[0])


def test_models_of_several_vocabularies_are_united(counts: NgramCounts) -> None:
    narrow = train_kneser_ney(counts_of(["w1 w2 new w2", "w3 w1 <unk>", "w2 new newer w1"] * 4, 3), 3)
    models, _ = one_vocabulary([train_kneser_ney(counts, 2), narrow])
    model = mix_models(models, models[0].vocabulary.encode_lines(random_lines(4, 20)))
    levels = held_levels(model, None)
    exported = export_backoff(model).model
    assert exported.trie.sizes == tuple(level.words.size for level in levels)
    words = model.vocabulary
    wanted = [words.id(word) for word in ("w2", "new", "newer")]
    paths = exported.trie.paths(np.arange(sum(exported.trie.sizes[:2]), sum(exported.trie.sizes)), 3)
    assert wanted in paths.tolist()
    assert_sound(exported, [*HELD_OUT[:5], "w2 new newer w1"])


def test_models_without_word_ngrams_get_some(counts: NgramCounts) -> None:
    notes: list[str] = []
    exported = export_backoff(tuple_model(counts, 2, "interpolated"), note=notes.append)
    assert exported.grown > 0
    assert "contains no word n-grams" in notes[0]
    # One class for all words says nothing that unigrams do not.
    nothing = np.zeros(len(counts.vocabulary), np.int32)
    from classgram.models.class_based.class_model import ClassMaps, estimate_class_model

    dull = estimate_class_model(counts, 2, ClassMaps(nothing[None], nothing), "interpolated")
    assert_sound(export_backoff(dull).model, HELD_OUT[:5])


def test_options_that_make_no_sense(counts: NgramCounts) -> None:
    model = train_kneser_ney(counts, 3)
    for options, message in (
        (ExportOptions(order=1), "--order 1"),
        (ExportOptions(order=4), "--order 4"),
        (ExportOptions(grow=-1), "--grow -1"),
        (ExportOptions(prune=-1), "pruning to -1"),
        (ExportOptions(prune=float("nan")), "pruning to nan"),
        (ExportOptions(prune=5), "words alone"),
    ):
        with pytest.raises(InputError, match=message):
            export_backoff(model, options)


TO_WORDS = str.maketrans({letter: f"w{number}" for number, letter in enumerate("abcd")})


@settings(max_examples=25)
@given(small_texts, st.integers(2, 4), st.sampled_from(sorted(MODELS)), st.sampled_from([0, 7, 10**6]))
def test_any_small_text_sums_to_one(lines: list[str], order: int, name: str, grow: int) -> None:
    lines = [line.translate(TO_WORDS) for line in [*lines, "a b c"]]
    model = MODELS[name](counts_of(lines, 5))
    order = min(order, model.order)
    exported = export_backoff(model, ExportOptions(order=order, grow=grow)).model
    assert_sound(exported, [*lines, "w1 zz w2", ""])


distributions = st.lists(st.floats(0.01, 1.0), min_size=4, max_size=7)


@given(distributions, st.data())
def test_growth_equals_its_naive_twin(weights: list[float], data: st.DataObject) -> None:
    """The words chosen are those whose gain, by the relative entropy's definition, is highest."""
    size = len(weights)
    others = data.draw(st.lists(st.floats(0.01, 1.0), min_size=size, max_size=size))
    known = sorted(data.draw(st.sets(st.integers(0, size - 1), max_size=size - 2)))
    model = {word: one / sum(weights) for word, one in enumerate(weights)}
    lower = {word: one / sum(others) for word, one in enumerate(others)}
    gains = np.empty(size)
    choose_words(
        Wanted(frozen(np.array([0, size])), frozen(np.arange(size, dtype=np.int32))),
        CandidateValues(frozen(np.array(list(model.values()))), frozen(np.array(list(lower.values())))),
        KnownEntries(
            frozen(np.array([0])), frozen(np.array([len(known)])), frozen(np.array(known, np.int32))
        ),
        frozen(np.ones(1)),
        1e-3,
        gains,
    )
    assert (gains[known] == 0).all()
    kept = set(known)
    before = reference.relative_entropy(model, reference.backed_off(model, lower, kept))
    weight = (1 - sum(model[w] for w in kept)) / (1 - sum(lower[w] for w in kept))
    for word in set(model) - kept:
        after = reference.relative_entropy(model, reference.backed_off(model, lower, kept | {word}))
        # With the old back-off weight it is the word's own share; the new weight adds a little.
        own = gain(model[word], weight * lower[word])
        assert -1e-12 <= own <= before - after + 1e-9
        assert own == pytest.approx(before - after, rel=1.0, abs=1e-9)
    chosen = kept | set(np.flatnonzero(gains > 0).tolist())
    nearer = reference.relative_entropy(model, reference.backed_off(model, lower, chosen))
    assert nearer <= before + 1e-9


def test_drawn_sentences_follow_the_model(counts: NgramCounts) -> None:
    model = train_kneser_ney(counts, 2)
    drawn = draw_sentences(model, 3000, seed=1)
    firsts = np.bincount(drawn.ids[drawn.offsets[:-1]], minlength=len(model.vocabulary)) / len(drawn)
    np.testing.assert_allclose(firsts, model.distribution(model.start()), atol=0.03)
    again = draw_sentences(model, 3000, seed=1)
    np.testing.assert_array_equal(drawn.ids, again.ids)


def test_classes_of_many_words_share_them(counts: NgramCounts) -> None:
    """With few classes and no word n-grams growth finds n-grams that never occurred."""
    from classgram.models.class_based.class_ngrams import train_class_ngrams

    model = train_class_ngrams(counts, some_classes(counts, 3), 3)
    exported = export_backoff(model, ExportOptions(grow=200), counts.up_to(3))
    seen = {gram for gram, _ in counts.items(2)}
    first, second = list(exported.model.trie.levels())[:2]
    words = counts.vocabulary.words
    pairs = {
        (words[a], words[b]) for a, b in exported.model.trie.paths(np.arange(second.start, second.stop), 2)
    }
    assert first.stop == len(words)
    assert pairs > {pair for pair in seen if pair != ("<s>", "<s>")}
