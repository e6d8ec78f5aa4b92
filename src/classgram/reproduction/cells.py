"""The cells of the experiments: each one model or clustering, a pure function of its settings."""

import json
import time
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from classgram.clustering.exchange import exchange
from classgram.clustering.problem import make_problem
from classgram.clustering.result import Result
from classgram.counts.counting import count_ngrams, count_sentences
from classgram.counts.ngram_counts import NgramCounts
from classgram.evaluation.perplexity import evaluate_sentences
from classgram.files.atomic import atomic_file
from classgram.files.folders import checksum
from classgram.models.language_model import LanguageModel
from classgram.models.mixtures.recipe import Training, component_names, train_mixture
from classgram.models.training import train_class_model, train_model
from classgram.options import (
    ClusterOptions,
    CountOptions,
    Effort,
    MixtureOptions,
    ModelOptions,
    RunOptions,
    SearchOptions,
    TrainClassesOptions,
)
from classgram.reproduction.samples import Prepared, Sample, load_counts, load_prepared
from classgram.text.reading import text_from_strings

_VERSION = 1
"""To be raised when a cell's results change their meaning, so that earlier ones are not used."""

_SHARED_ORDER = 3
"""Counts up to this order are shared between cells; longer n-grams are many, and few cells need them."""

_ONE_THREAD = RunOptions(threads=1)

_ALWAYS_DENSE = 5_000_000
"""Tables with fewer pairs of classes are never sparse."""


@dataclass(frozen=True)
class Clustering:
    """Classes and the class model that they give."""

    sample: Sample
    classes: ClusterOptions
    search: SearchOptions

    @property
    def order(self) -> int:
        """The order of the counts that are needed."""
        return self.classes.order


@dataclass(frozen=True)
class WordModel:
    """A model of words."""

    sample: Sample
    model: ModelOptions

    @property
    def order(self) -> int:
        """The order of the counts that are needed."""
        return self.model.order or 2


@dataclass(frozen=True)
class Mixture:
    """The default mixture of word and class models."""

    sample: Sample
    order: int
    seed: int
    effort: Effort


Cell = Clustering | WordModel | Mixture


def cell_key(cell: Cell, text: str) -> str:
    """Return the name of a cell's result: a digest of everything that the result depends on."""
    settings = {"kind": type(cell).__name__, "version": _VERSION, "text": text, **chosen_settings(cell)}
    return checksum(json.dumps(settings, sort_keys=True).encode())


def chosen_settings(options: object) -> dict[str, Any]:
    """Return the fields of a dataclass, and of those in it, that are not at their defaults.

    So an option that is new in classgram, and left alone, does not make earlier results useless.
    """
    assert is_dataclass(options)
    chosen = {}
    for field in fields(options):
        value = getattr(options, field.name)
        if is_dataclass(value):
            chosen[field.name] = chosen_settings(value)
        elif value != field.default:
            chosen[field.name] = value
    return chosen


def shares_counts(cell: Cell) -> bool:
    """Return whether a cell uses counts that others use, too."""
    return not isinstance(cell, Mixture) and cell.order <= _SHARED_ORDER


def run_cell(cell: Cell, work: Path) -> dict[str, Any]:
    """Return the results of a cell."""
    prepared = load_prepared(work, cell.sample.punctuation)
    if isinstance(cell, Mixture):
        return _mixture_results(cell, prepared)
    if shares_counts(cell):
        counts = load_counts(work, cell.sample, cell.order)
    else:
        sentences = prepared.sentences(cell.sample.words)
        counts = count_sentences(prepared.vocabulary, sentences, CountOptions(cell.order))
    if isinstance(cell, WordModel):
        return {**_sample_results(counts), **_model_results(train_model(counts, cell.model), prepared)}
    return _clustering_results(cell, counts, prepared)


def save_result(path: Path, cell: Cell, result: dict[str, Any]) -> None:
    """Write a cell's result so that it is there whole or not at all."""
    record = {"kind": type(cell).__name__, "settings": asdict(cell), "result": result}
    with atomic_file(path) as file:
        file.write((json.dumps(record, indent=1, allow_nan=False) + "\n").encode())


def load_result(path: Path) -> dict[str, Any] | None:
    """Return a cell's result, or None where there is none that can be read."""
    try:
        result = json.loads(path.read_bytes())["result"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return result if isinstance(result, dict) else None


def _sample_results(counts: NgramCounts) -> dict[str, Any]:
    """Return how large the training set was, in tokens of this reading."""
    unigrams = counts.levels[0].counts
    return {
        "tokens": counts.tokens,
        "types": int(np.count_nonzero(unigrams)),
        "unknown_tokens": int(unigrams[0]),
    }


def _model_results(model: LanguageModel, prepared: Prepared) -> dict[str, Any]:
    """Return a model's perplexities on the test text, and its size."""
    evaluation = evaluate_sentences(model, prepared.test)[0]
    return {
        "perplexity": evaluation.perplexity_excluding_unknown,
        "perplexity_including_unknown": evaluation.perplexity_including_unknown,
        **_model_size(model),
    }


def _model_size(model: LanguageModel) -> dict[str, int]:
    """Return the probabilities and weights that a model stores, and the bytes of all its arrays."""
    arrays = model.to_files().arrays.values()
    return {
        "parameters": sum(array.size for array in arrays if array.dtype.kind == "f"),
        "bytes": sum(array.nbytes for array in arrays),
    }


def _clustering_results(cell: Clustering, counts: NgramCounts, prepared: Prepared) -> dict[str, Any]:
    """Return what a search found, and the perplexities of the class models over it."""
    options, lowered = _fitting_numbers(counts, cell.classes)
    if _table_size(counts, options) > _ALWAYS_DENSE:
        # The first moments of the search itself: sparse tables have kernels that no small text reaches.
        exchange(counts, options, cell.search, replace(_ONE_THREAD, time_limit=0.0))
    found = exchange(counts, options, cell.search, _ONE_THREAD)
    order = options.order
    model = train_class_model(counts, found.partition, ModelOptions("class", order, "paper"))
    other = train_class_model(counts, found.partition, ModelOptions("class", order, "interpolated"))
    interpolated = evaluate_sentences(other, prepared.test)[0]
    return {
        **_sample_results(counts),
        **_search_results(found),
        "classes": options.classes,
        "context_classes": options.context_classes,
        "lowered": lowered,
        **_model_results(model, prepared),
        "interpolated_perplexity": interpolated.perplexity_excluding_unknown,
    }


def _table_size(counts: NgramCounts, options: ClusterOptions) -> int:
    """Return the number of pairs of classes, contexts that are classes of their own counted as such."""
    assert isinstance(options.classes, int)
    if options.shape == "predictive":
        return len(counts.vocabulary) * options.classes
    return (options.context_classes or options.classes) * options.classes


def _search_results(found: Result) -> dict[str, Any]:
    """Return the value, the length and the time of a search."""
    return {
        "F": found.F,
        "ended": found.ended,
        "sweeps": len(found.sweeps),
        "cpu_seconds": found.cpu_seconds,
    }


def _fitting_numbers(counts: NgramCounts, options: ClusterOptions) -> tuple[ClusterOptions, bool]:
    """Return class numbers no larger than the numbers of elements, and whether any was lowered."""
    contexts, words = _elements(counts, options)
    assert isinstance(options.classes, int)
    classes = min(options.classes, words)
    asked = options.context_classes
    of_contexts = None if asked is None else min(asked, contexts)
    fitting = replace(options, classes=classes, context_classes=of_contexts)
    return fitting, fitting != options


def _elements(counts: NgramCounts, options: ClusterOptions) -> tuple[int, int]:
    """Return the numbers of contexts and of words that could have classes of their own."""
    if options.order == 2:
        # Every word but the sentence end is also a context.
        seen = max(1, int(np.count_nonzero(counts.levels[0].counts)) - 1)
        return seen, seen
    found = make_problem(counts, options).elements
    return found[0], found[-1]


def _mixture_results(cell: Mixture, prepared: Prepared) -> dict[str, Any]:
    """Return the perplexities of a mixture."""
    sentences = prepared.sentences(cell.sample.words)
    counts = count_sentences(prepared.vocabulary, sentences, CountOptions(cell.order))
    classes = TrainClassesOptions(seed=cell.seed, effort=cell.effort, threads=1)
    begun = time.process_time()
    model = train_mixture(Training(counts, sentences), None, MixtureOptions(), classes)
    return {
        **_sample_results(counts),
        "cpu_seconds": time.process_time() - begun,
        "components": component_names(model),
        **_model_results(model, prepared),
    }


_WARM_UP = ("the cat sat on the mat", "a dog ran to the cat", "the dog sat", "a cat ran") * 6


def warm_up() -> None:
    """Compile or load every kernel of the search, so that no cell's time holds that."""
    counts = count_ngrams(text_from_strings(_WARM_UP), CountOptions(3))
    for heuristic in (False, True):
        for shape in ("tied", "joint"):
            options = ClusterOptions(4, criterion="loo-paper", shape="tied" if shape == "tied" else "joint")
            search = SearchOptions(heuristic=heuristic, targets=2, sweeps=3)
            exchange(counts, options, search, _ONE_THREAD)
