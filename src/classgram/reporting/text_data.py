"""A text word by word for the page: what each model thought of it, and which model knew better where."""

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from classgram.evaluation.surprisal import WordSurprisal, surprisals
from classgram.models.language_model import LanguageModel
from classgram.reporting.models_data import NamedModels

_SHOWN_WORDS = 600
"""Words of the text that are shown with what each model expected: a model says it in milliseconds."""

_SCORED_WORDS = 200_000
"""Words at most in which models are compared."""

_LIKELIER = 5
_TYPES = 400
"""Different words listed at most where models differ."""

_BANDS = ((-math.inf, -6.0), (-6.0, -5.0), (-5.0, -4.0), (-4.0, -3.0), (-3.0, -2.0), (-2.0, math.inf))
"""Bands of log10 frequencies."""

_BAND_NAMES = (
    "once in more than a million words",
    "once in 100,000 to a million",
    "once in 10,000 to 100,000",
    "once in 1,000 to 10,000",
    "once in 100 to 1,000",
    "once in less than 100",
)


def text_data(models: NamedModels, lines: list[str]) -> dict[str, Any]:
    """Return the words at the beginning of a text, and what the whole of it says of the models."""
    own = [model for _, model in models]
    rows = list(islice(surprisals(own, lines), _SCORED_WORDS))
    words: dict[str, int] = {}
    shown = _shown_sentences(rows)
    return {
        "sentences": [_sentence(own, lines[number - 1], part, words) for number, part in shown],
        "vocabulary": list(words),
        "bands": _bands(rows),
        "types": _types(rows),
        "scored": len(rows),
    }


def _shown_sentences(rows: list[WordSurprisal]) -> list[tuple[int, list[WordSurprisal]]]:
    """Return the first sentences of a text, with their numbers from 1."""
    found: dict[int, list[WordSurprisal]] = defaultdict(list)
    for row in rows[:_SHOWN_WORDS]:
        found[row.sentence].append(row)
    if len(found) > 1 and len(rows) > _SHOWN_WORDS:
        found.popitem()
    return list(found.items())


def _sentence(
    models: list[LanguageModel], line: str, rows: list[WordSurprisal], words: dict[str, int]
) -> list[list[Any]]:
    """Return the words of a sentence, whether each is unknown, and bits and likelier words by model."""
    expected = [_expectations(model, line) for model in models]
    return [
        [
            row.word,
            int(row.unknown),
            [round(bits, 2) for bits in row.bits],
            [_likelier(one, row.position - 1, words) for one in expected],
        ]
        for row in rows
    ]


class _Expected(NamedTuple):
    """What a model expected before a word: the likeliest words and their probabilities."""

    words: list[str]
    probabilities: list[float]


def _likelier(expected: list[_Expected | None], position: int, words: dict[str, int]) -> list[list[float]]:
    """Return the words that a model expected, as indices of a list of words, with their probabilities."""
    found = expected[position] if position < len(expected) else None
    if found is None:
        return []
    return [
        [words.setdefault(word, len(words)), float(f"{probability:.3g}")]
        for word, probability in zip(found.words, found.probabilities, strict=True)
    ]


def _expectations(model: LanguageModel, line: str) -> list[_Expected | None]:
    """Return what a model expected before each white-space word; None where it sees no token there."""
    state = model.start()
    found: list[_Expected | None] = []
    for ids in _token_groups(model, line):
        found.append(_likeliest(model, state) if ids else None)
        for word in ids:
            state = model.advance(state, word)
    return found


def _token_groups(model: LanguageModel, line: str) -> Iterator[list[int]]:
    """Return the tokens of each white-space word of a line."""
    alone = model.encode(line.split())
    return (alone[number][:-1].tolist() for number in range(len(alone)))


def _likeliest(model: LanguageModel, state: Any) -> _Expected:
    """Return the likeliest next words."""
    weights = model.distribution(state)
    some = np.argpartition(-weights, min(_LIKELIER, weights.size - 1))[:_LIKELIER]
    chosen = some[np.argsort(-weights[some], kind="stable")]
    return _Expected([model.vocabulary.words[one] for one in chosen], weights[chosen].tolist())


def _bands(rows: list[WordSurprisal]) -> list[dict[str, Any]]:
    """Return mean bits of each model by how frequent words are in the training text of the first."""
    found = []
    known = [row for row in rows if row.tokens and not row.unknown]
    for name, (low, high) in zip(_BAND_NAMES, _BANDS, strict=True):
        found.append((name, [row for row in known if low <= row.log10_frequency < high]))
    found.append(("unknown", [row for row in rows if row.unknown]))
    return [
        {"band": name, "words": len(part), "bits": np.mean([row.bits for row in part], axis=0).tolist()}
        for name, part in found
        if part
    ]


def _types(rows: list[WordSurprisal]) -> list[list[Any]]:
    """Return the words in which models differ most in sum: the word, how often, and bits by model."""
    totals: dict[str, list[Any]] = {}
    for row in rows:
        entry = totals.setdefault(row.word, [0, np.zeros(len(row.bits))])
        entry[0] += 1
        entry[1] += row.bits
    ranked = sorted(totals.items(), key=lambda item: -float(np.ptp(item[1][1])))
    return [
        [word, number, [round(float(bits), 1) for bits in sums]] for word, (number, sums) in ranked[:_TYPES]
    ]
