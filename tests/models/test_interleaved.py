"""Words and classes in turn: sums to one, batches equal word by word, reads back the same."""

from pathlib import Path

import numpy as np
import pytest

from classgram.counts.counting import count_ngrams
from classgram.loading import load
from classgram.models.class_based.interleaved import interleave, train_interleaved
from classgram.options import CountOptions
from classgram.text.reading import text_from_strings
from classgram.text.vocabulary import EOS

TEXT = ["a b c a b", "b a d", "c c a e", "a b c d e a", "e d c b a", "a a b", "d e a b <unk>"] * 6


@pytest.mark.parametrize("order", [2, 4])
def test_interleaved_model(order: int, tmp_path: Path) -> None:
    vocabulary = count_ngrams(text_from_strings(TEXT), CountOptions(1)).vocabulary
    sentences = vocabulary.encode_lines(TEXT)
    class_of = np.array([0, 3, 4, 0, 1, 1, 0, 2], np.int32)
    model = train_interleaved(sentences, vocabulary, class_of, order)
    held_out = vocabulary.encode_lines(["e e b zz", "", "a d c b", "c"])
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    logs = model.log_probabilities(held_out)
    assert np.array_equal(again.log_probabilities(held_out), logs)
    for bos in (True, False):
        assert model.distribution(model.start(bos)).sum() == pytest.approx(1.0, abs=1e-6)
    position = 0
    for index in range(len(held_out)):
        state = model.start()
        for word in held_out[index].tolist():
            distribution = model.distribution(state)
            assert distribution.sum() == pytest.approx(1.0, abs=1e-6)
            assert np.log(distribution[word]) == pytest.approx(logs[position], abs=1e-5)
            assert model.log_probability(state, word) == pytest.approx(logs[position], abs=1e-6)
            state = model.advance(state, word)
            position += 1


def test_every_word_stands_beside_its_class() -> None:
    symbols = np.array([10, 11, 12, 13, 13], np.int32)
    ids = np.array([3, 4, EOS, 0, EOS], np.int32)
    assert interleave(ids, symbols).tolist() == [3, 13, 4, 13, EOS, 0, 10, EOS]
