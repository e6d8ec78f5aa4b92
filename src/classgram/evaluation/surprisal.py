"""Surprisal for reading studies: a row for each word as it stands in the text."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from classgram.models.language_model import LanguageModel
from classgram.runtime.compiled.arrays import Float64Array, Int32Array, Int64Array
from classgram.text.sentences import Sentences
from classgram.text.vocabulary import EOS, UNK

BATCH = 2000
"""Sentences scored at a time."""

_UNSEEN_COUNT = 0.5
"""What a word that never occurred counts as in log frequencies."""


class WordSurprisal(NamedTuple):
    """One original word: where it stands, what it became, and its surprisal under each model."""

    sentence: int
    position: int
    word: str
    tokens: int
    unknown: bool
    log10_frequency: float
    bits: tuple[float, ...]


def surprisals(models: Sequence[LanguageModel], lines: Iterable[str]) -> Iterator[WordSurprisal]:
    """Return a row for each white-space word of each line, in order; blank lines count as sentences.

    ``bits`` is summed over the tokens that a word became under the model's text options: 0 for a mark
    that was stripped. ``unknown`` and the frequency are those of the first model, the frequency that
    of the word's rarest token.
    """
    remaining = iter(lines)
    models = [model.session() for model in models]
    number = 0
    while batch := list(islice(remaining, BATCH)):
        words = [line.encode("utf-8", "surrogatepass").split() for line in batch]
        yield from _batch_rows(models, words, number)
        number += len(batch)


def _batch_rows(
    models: Sequence[LanguageModel], words: list[list[bytes]], first: int
) -> Iterator[WordSurprisal]:
    """Return the rows of a batch of sentences."""
    flat = [word.decode() for sentence in words for word in sentence]
    scored = [_word_scores(model, words, flat) for model in models]
    frequencies = _log_frequencies(models[0])
    tokens = scored[0]
    index = 0
    for number, sentence in enumerate(words, start=first + 1):
        for position in range(1, len(sentence) + 1):
            ids = tokens.ids[tokens.starts[index] : tokens.starts[index + 1]]
            yield WordSurprisal(
                number,
                position,
                flat[index],
                len(ids),
                bool((ids == UNK).any()),
                float(frequencies[ids].min()) if len(ids) else math.nan,
                tuple(float(score.bits[index]) for score in scored),
            )
            index += 1


class _TokenScores(NamedTuple):
    """A batch's words under one model: the tokens of each, and the bits of each."""

    starts: Int64Array
    ids: Int32Array
    bits: Float64Array


def _word_scores(model: LanguageModel, words: list[list[bytes]], flat: list[str]) -> _TokenScores:
    """Return the surprisal of every word of a batch, in bits."""
    # Each word is made into tokens on its own, and the sentences are put together from them.
    alone = model.encode(flat)
    lengths = np.diff(alone.offsets) - 1
    ids = alone.ids[alone.ids != EOS]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    sizes = np.array([len(sentence) for sentence in words], dtype=np.int64)
    last = starts[np.cumsum(sizes)]
    joined = np.insert(ids, last, EOS).astype(np.int32)
    offsets = np.concatenate([[0], last + np.arange(1, len(words) + 1)]).astype(np.int64)
    logs = model.log_probabilities(Sentences(joined, offsets))
    totals = np.concatenate([[0.0], np.cumsum(-logs[joined != EOS] / math.log(2))])
    return _TokenScores(starts, ids, totals[starts[1:]] - totals[starts[:-1]])


def _log_frequencies(model: LanguageModel) -> Float64Array:
    """Return the log10 of every word's relative frequency in the training text.

    A model that does not know it, such as one from an ARPA file, gives its unigram probability.
    """
    counts = model.word_counts
    if counts is None:
        return np.log10(np.maximum(model.distribution(model.start(bos=False)), 1e-99))
    return np.log10(np.maximum(counts, _UNSEEN_COUNT) / max(int(counts.sum()), 1))
