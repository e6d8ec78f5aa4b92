"""The factored recipe: clusterings, counted chains, and parameters from held-out text."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from classgram.clustering.exchange import exchange
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.models.class_based.class_model import adopt_unseen
from classgram.models.factored.clustered import ClusteredModel, count_clustered, predicted_classes
from classgram.models.factored.contexts import ClassMaps, make_stream
from classgram.models.factored.model import FactoredModel
from classgram.models.factored.parameters import fit_parameters
from classgram.models.factored.tuning import DEFAULT_TUNING, FactoredTuning
from classgram.models.language_model import Note, silent
from classgram.models.mixtures.recipe import Training, held_out_folds
from classgram.models.mixtures.weights import em_weights, weak_prior
from classgram.options import ClusterOptions, RunOptions, SearchOptions, TrainClassesOptions
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Int32Array
from classgram.runtime.threads import available_threads
from classgram.text.sentences import Sentences
from classgram.text.vocabulary import EOS, UNK

_Wanted = tuple[int, int]
"""A number of classes, and which clustering into so many."""


def train_factored(
    training: Training,
    held_out: Sentences | None = None,
    classes: TrainClassesOptions | None = None,
    note: Note = silent,
    tuning: FactoredTuning = DEFAULT_TUNING,
    cache: bool = False,
) -> FactoredModel:
    """Train a factored model, its parameters fitted to held-out sentences.

    Without these a fold of the training text is held out: classes are found and parameters fitted
    without it, and then the chains are counted on all of the text.
    """
    classes = classes or TrainClassesOptions()
    if training.sentences is None:
        raise InputError("a factored model is trained on text, not on counts; name the text")
    if held_out is not None and not (held_out.ids > EOS).any():
        raise InputError("the held-out text holds no word that the model knows; give another text")
    with ThreadPoolExecutor(classes.threads or available_threads()) as pool:
        if held_out is not None:
            return _train(training, held_out, classes, note, tuning, pool, cache)
        rest, fold = next(held_out_folds(training, training.sentences), (training, None))
        if fold is None:
            note("the text is too small to fit exponents: all experts count the same")
        fitted = _train(rest, fold, classes, note, tuning, pool, cache, training.knows_unknown)
        if fold is None:
            return fitted
        note(f"exponents fitted to {len(fold):,} of {len(training.sentences):,} sentences, held out")
        return _recounted(fitted, training, tuning, pool)


def _train(
    training: Training,
    held_out: Sentences | None,
    classes: TrainClassesOptions,
    note: Note,
    tuning: FactoredTuning,
    pool: ThreadPoolExecutor,
    cache: bool,
    count_unknown: bool | None = None,
) -> FactoredModel:
    """Return a model of a text, fitted to held-out sentences if there are any."""
    assert training.sentences is not None
    plan = _plan_clusterings(training.types, tuning)
    names = "; ".join("/".join(str(number) for number, _ in triple) for triple in plan)
    note(f"clusterings (predicted/contexts/n-grams): {names}")
    wanted = sorted({one for triple in plan for one in triple}, reverse=True)
    found = dict(
        zip(wanted, pool.map(lambda one: _cluster(training.counts, one, classes), wanted), strict=True)
    )
    ids = training.sentences.ids
    known = training.knows_unknown if count_unknown is None else count_unknown

    def make(triple: tuple[_Wanted, ...]) -> ClusteredModel:
        first, second, third = (found[one] for one in triple)
        model = count_clustered(ids, ClassMaps(predicted_classes(first), second, third), tuning, cache)
        if held_out is None:
            return model
        fitted = held_out.ids[: tuning.fitted_events]
        return fit_parameters(model, make_stream(fitted), (fitted != UNK) | known, tuning)

    models = tuple(pool.map(make, plan))
    info = {"recipe": "factored", "chosen": names}
    counts = training.counts.levels[0].counts
    even = frozen(np.full(len(models), 1.0 / len(models)))
    made = FactoredModel(training.counts.vocabulary, models, even, tuning, info, counts)
    return made if held_out is None else _weighted(made, held_out, known)


def _plan_clusterings(types: int, tuning: FactoredTuning) -> list[tuple[_Wanted, ...]]:
    """Return the clusterings of each model; one of a size that another model has, too, is another one."""
    root = np.sqrt(max(types, 1))
    plan: list[tuple[_Wanted, ...]] = []
    for ratios in tuning.clusterings:
        numbers = [min(max(round(ratio * root), 2), max(types - 1, 1)) for ratio in ratios]
        used = {one for triple in plan for one in triple[:1]}
        copies = [sum((number, copy) in used for copy in (0, 1)) for number in numbers]
        # Predicted classes are the first clustering of their size, contexts another one.
        triple = ((numbers[0], min(copies[0], 1)), (numbers[1], 1), (numbers[2], 0))
        if triple not in plan:
            plan.append(triple)
    return plan


def _cluster(counts: NgramCounts, wanted: _Wanted, options: TrainClassesOptions) -> Int32Array:
    """Return the classes of one clustering of the words."""
    classes, copy = wanted
    search = SearchOptions(
        seed=options.seed + copy,
        sweeps=options.sweeps,
        effort=options.effort or "normal",
        no_regroup=True,
    )
    result = exchange(counts.up_to(2), ClusterOptions(classes=classes), search, RunOptions(threads=1))
    return frozen(adopt_unseen(result.partition.words, counts.levels[0].counts))


def refit(model: FactoredModel, held_out: Sentences, count_unknown: bool = True) -> FactoredModel:
    """Return the model with all parameters and weights fitted to other held-out sentences."""
    ids = held_out.ids[: model.tuning.fitted_events]
    counted = (ids != UNK) | count_unknown
    models = tuple(fit_parameters(one, make_stream(ids), counted, model.tuning) for one in model.models)
    return _weighted(replace(model, models=models), held_out, count_unknown)


def _weighted(model: FactoredModel, held_out: Sentences, count_unknown: bool) -> FactoredModel:
    """Return the model with the weights that give held-out text the highest probability."""
    logs = np.stack(model.factor_logs(held_out)).sum(axis=0)[(held_out.ids != UNK) | count_unknown]
    # Only ratios matter, and the logarithms of improbable words are far below zero.
    probabilities = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights = em_weights(probabilities, weak_prior(len(model.models)))
    held = {"sentences": len(held_out), "events": held_out.tokens}
    return replace(model, weights=frozen(weights), info={**model.info, "held_out": held})


def _recounted(
    fitted: FactoredModel, training: Training, tuning: FactoredTuning, pool: ThreadPoolExecutor
) -> FactoredModel:
    """Return a model with the classes and parameters of another, its chains counted on all of the text."""
    assert training.sentences is not None
    ids = training.sentences.ids

    def make(model: ClusteredModel) -> ClusteredModel:
        counted = count_clustered(ids, model.maps, tuning, model.adapts)
        return replace(counted, parameters=model.parameters)

    models: Sequence[ClusteredModel] = list(pool.map(make, fitted.models))
    return replace(fitted, models=tuple(models), word_counts=training.counts.levels[0].counts)
