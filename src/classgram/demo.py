"""The demo: counts, classes and language models of the demo text, compared on held-out sentences."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from classgram.classes.partition import Partition
from classgram.counts.counting import count_sentences, read_sentences
from classgram.counts.ngram_counts import NgramCounts
from classgram.evaluation.perplexity import evaluate
from classgram.models.language_model import LanguageModel
from classgram.models.mixtures.recipe import Training, train_mixture
from classgram.models.training import make_classes, train_model
from classgram.options import (
    CountOptions,
    MixtureOptions,
    ModelOptions,
    TextOptions,
    TrainClassesOptions,
    VocabularyOptions,
)
from classgram.runtime.progress import Report, silent
from classgram.text.demo_text import demo_text
from classgram.text.reading import text_from_strings

_HELD_OUT = 20
"""One sentence in so many is held out."""

_RECIPES = {
    "the paper's back-off, order 3": ModelOptions("backoff", 3),
    "Katz, order 3": ModelOptions("katz", 3),
    "Kneser-Ney, order 3": ModelOptions("kneser-ney", 3),
    "Kneser-Ney, order 5": ModelOptions("kneser-ney", 5),
    "classes, interpolated, order 2": ModelOptions("class", 2, "interpolated"),
    "classes, Kneser-Ney, order 5": ModelOptions("class", 5),
}

_MIXTURE = "the mixture"

STEPS = 3 + len(_RECIPES)
"""The number of steps: counting, clustering, and every model."""


def run_demo(report: Report = silent) -> dict[str, Any]:
    """Train every recipe on the demo text, and return the held-out perplexity of each."""
    options = TextOptions(lowercase=True, punctuation="strip")
    lines = demo_text().read_text(encoding="utf-8").splitlines()
    training = [line for number, line in enumerate(lines) if number % _HELD_OUT]
    report(0, "counting")
    text = text_from_strings(training, options)
    vocabulary, sentences = read_sentences(text, VocabularyOptions(min_count=2))
    counts = count_sentences(vocabulary, sentences, CountOptions(5))
    report(1, "clustering")
    partition = make_classes(counts, TrainClassesOptions())
    whole = Training(counts, sentences)
    quick = TrainClassesOptions(effort="low")
    jobs: dict[str, Callable[[], LanguageModel]] = {
        **{name: partial(train_model, counts, recipe, partition) for name, recipe in _RECIPES.items()},
        _MIXTURE: partial(train_mixture, whole, None, MixtureOptions(), quick),
    }
    models = []
    for number, (name, job) in enumerate(jobs.items(), start=2):
        report(number, name)
        begun = time.perf_counter()
        model = job()
        models.append({"model": name, "seconds": time.perf_counter() - begun, **_held_out(model, lines)})
    return {
        "tokens": counts.tokens,
        "types": len(counts.vocabulary),
        "ngrams": [int(level.words.size) for level in counts.levels],
        "models": models,
        "classes": _some_classes(partition, counts),
    }


def _held_out(model: LanguageModel, lines: list[str]) -> dict[str, Any]:
    """Return the figures of a model on the held-out sentences."""
    text = text_from_strings(lines[::_HELD_OUT], model.vocabulary.text)
    return evaluate(model, text).as_dict()


def _some_classes(partition: Partition, counts: NgramCounts, shown: int = 8) -> list[list[str]]:
    """Return the most frequent words of classes of six or more words, the most frequent classes first."""
    words = counts.levels[0].counts
    totals = np.bincount(partition.words, words, partition.class_count)
    chosen = []
    for number in np.argsort(-totals, kind="stable").tolist():
        members = [word for word, _ in partition.members(number)]
        if len(members) >= 6:
            chosen.append(members[:10])
    return chosen[5 : 5 + shown]
