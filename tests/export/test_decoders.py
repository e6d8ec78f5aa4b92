"""Adapters for decoders: pyctcdecode and flashlight run on our models and score as KenLM would."""

import logging
from pathlib import Path

import kenlm
import numpy as np
import pytest

from classgram.arpa.writing import write_arpa
from classgram.errors import InputError
from classgram.export.decoders import PyctcdecodeModel, ctc_decoder_model, decoder_types
from classgram.models.language_model import LanguageModel
from classgram.models.ngram.ngram_model import NgramModel, train_kneser_ney
from classgram.options import TextOptions
from classgram.text.vocabulary import EOS
from tests.helpers.models import MODELS
from tests.helpers.texts import counts_of, random_lines

LINES = ["the cat sat", "the dog sat", "a cat ran", "the cat ran far", "a dog sat far"] * 5


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return train_kneser_ney(counts_of(LINES, 3), 3)


LABELS = [*" abcdefghijklmnopqrstuvwxyz", ""]


def spoken(text: str, doubts: dict[int, str]) -> np.ndarray:
    """Log-probabilities of letters frame by frame, with other letters as likely at some places."""
    frames = []
    for place, letter in enumerate(text):
        frame = np.full(len(LABELS), 1e-4)
        frame[LABELS.index(letter)] = 1.0
        for other in doubts.get(place, ""):
            frame[LABELS.index(other)] = 1.2
        blank = np.full(len(LABELS), 1e-4)
        blank[-1] = 1.0
        frames += [frame / frame.sum(), blank / blank.sum()]
    logs: np.ndarray = np.log(np.array(frames))
    return logs


def test_pyctcdecode_decodes_with_our_models(model: NgramModel, tmp_path: Path) -> None:
    pyctcdecode = pytest.importorskip("pyctcdecode", reason="pyctcdecode is not installed")
    logging.disable(logging.WARNING)
    alphabet = pyctcdecode.Alphabet.build_alphabet(LABELS)
    heard = spoken("the cat sat", {4: "b", 8: "m"})
    plain = pyctcdecode.BeamSearchDecoderCTC(alphabet)
    ours = pyctcdecode.BeamSearchDecoderCTC(alphabet, PyctcdecodeModel(model))
    assert plain.decode(heard) == "the bat mat"
    assert ours.decode(heard) == "the cat sat"
    write_arpa(model, tmp_path / "model.arpa")
    theirs = pyctcdecode.BeamSearchDecoderCTC(
        alphabet,
        pyctcdecode.LanguageModel(
            kenlm.Model(str(tmp_path / "model.arpa")), list(model.vocabulary.words[3:])
        ),
    )
    for one, other in zip(ours.decode_beams(heard), theirs.decode_beams(heard), strict=True):
        assert one[0] == other[0]
        assert one[-1] == pytest.approx(other[-1], abs=1e-3)
    ours.cleanup()


def test_scores_are_pyctcdecodes(model: NgramModel, tmp_path: Path) -> None:
    pyctcdecode = pytest.importorskip("pyctcdecode", reason="pyctcdecode is not installed")
    logging.disable(logging.WARNING)
    write_arpa(model, tmp_path / "model.arpa")
    words = list(model.vocabulary.words[3:])
    for boundary in (True, False):
        ours = PyctcdecodeModel(model, 0.7, 1.1, -8.0, boundary)
        judge = kenlm.Model(str(tmp_path / "model.arpa"))
        theirs = pyctcdecode.LanguageModel(judge, words, 0.7, 1.1, -8.0, boundary)
        assert ours.order == theirs.order
        state, other = ours.get_start_state(), theirs.get_start_state()
        for place, word in enumerate(["the", "cat", "zzz", "far"]):
            mine, state = ours.score(state, word, is_last_word=place == 3)
            expected, other = theirs.score(other, word, is_last_word=place == 3)
            assert mine == pytest.approx(expected, abs=1e-4)
        for partial in ("t", "th", "the", "thx", "zzzzzzzzzz", "far"):
            assert ours.score_partial_token(partial) == pytest.approx(theirs.score_partial_token(partial))


def test_parameters_can_be_reset_and_saved(model: NgramModel, tmp_path: Path) -> None:
    adapter = PyctcdecodeModel(model)
    adapter.reset_params(alpha=0.9, beta=0.5)
    assert (adapter.alpha, adapter.beta) == (0.9, 0.5)
    with pytest.raises(InputError, match="gamma"):
        adapter.reset_params(gamma=1.0)
    adapter.save_to_dir(str(tmp_path))
    again = PyctcdecodeModel.load_from_dir(str(tmp_path))
    state = again.get_start_state()
    assert again.score(state, "the")[0] == pytest.approx(PyctcdecodeModel(model).score(state, "the")[0])


def test_lower_case_models_take_any_case() -> None:
    import classgram

    text = classgram.text_from_strings(LINES, TextOptions(lowercase=True))
    counts = classgram.count_ngrams(text, classgram.CountOptions(2))
    adapter = PyctcdecodeModel(train_kneser_ney(counts, 2))
    state = adapter.get_start_state()
    assert adapter.score(state, "The") == adapter.score(state, "the")


@pytest.fixture(scope="module", params=["kneser-ney 3", "mixture", "joint interpolated"])
def any_model(request: pytest.FixtureRequest) -> LanguageModel:
    return MODELS[request.param](counts_of(random_lines(1), 5))


def test_steps_add_up_to_the_sentence(any_model: LanguageModel) -> None:
    words = list(any_model.vocabulary.words[3:])
    lm = ctc_decoder_model(any_model, words)
    for line in random_lines(3, 5):
        state, total = lm.start(False), 0.0
        for word in line.split():
            state, score = lm.score(state, words.index(word))
            total += score
        total += lm.finish(state)[1]
        assert total / np.log(10) == pytest.approx(any_model.score(line))
    first = lm.start(True)
    _, score = lm.score(first, 0)
    assert score == pytest.approx(any_model.log_probability(any_model.start(bos=False), EOS + 1))
    with pytest.raises(InputError, match="not in the list"):
        lm.score(first, len(words))


def test_states_are_the_same_each_time(any_model: LanguageModel) -> None:
    lm = ctc_decoder_model(any_model, list(any_model.vocabulary.words[3:]))
    first = lm.start(False)
    assert lm.score(first, 2)[0] is lm.score(first, 2)[0]


def test_flashlight_decodes_with_our_models(model: NgramModel) -> None:
    decoder = pytest.importorskip("flashlight.lib.text.decoder", reason="flashlight-text is not installed")
    words = list(model.vocabulary.words[3:])
    lm = ctc_decoder_model(model, words)
    assert isinstance(lm, decoder.LM)
    assert decoder_types()[0] is not object
    letters = LABELS[1:-1]
    silence, blank = 0, len(letters) + 1
    trie = decoder.Trie(len(letters) + 2, silence)
    start = lm.start(False)
    for number, word in enumerate(words):
        score = lm.score(start, number)[1]
        trie.insert([letters.index(letter) + 1 for letter in word], number, score)
    trie.smear(decoder.SmearingMode.MAX)
    options = decoder.LexiconDecoderOptions(
        beam_size=50,
        beam_size_token=30,
        beam_threshold=100,
        lm_weight=1.0,
        word_score=0.0,
        unk_score=-float("inf"),
        sil_score=0.0,
        log_add=False,
        criterion_type=decoder.CriterionType.CTC,
    )
    run = decoder.LexiconDecoder(options, trie, lm, silence, blank, len(words), [], False)
    heard = spoken("the cat sat", {4: "b", 8: "m"}).astype(np.float32)
    results = run.decode(heard.ctypes.data, heard.shape[0], heard.shape[1])
    found = [words[number] for number in results[0].words if number >= 0]
    assert found == ["the", "cat", "sat"]
