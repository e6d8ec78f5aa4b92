"""The mixture recipe: a word model, and class models over several clusterings, weighted together."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from classgram.clustering.exchange import exchange
from classgram.counts.counting import count_sentences
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.models.class_based.class_ngrams import train_class_ngrams
from classgram.models.class_based.interleaved import InterleavedModel, train_interleaved
from classgram.models.language_model import LanguageModel, Note, silent
from classgram.models.mixtures.mixture import MixtureModel, Trial, mix_by_trials, trial_probabilities
from classgram.models.mixtures.tuning import DEFAULT_TUNING, RecipeTuning
from classgram.models.mixtures.weights import em_weights, weak_prior
from classgram.models.ngram.ngram_model import train_kneser_ney
from classgram.options import (
    ClusterOptions,
    CountOptions,
    MixtureOptions,
    RunOptions,
    SearchOptions,
    TrainClassesOptions,
)
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Int32Array
from classgram.runtime.threads import available_threads
from classgram.text.sentences import Sentences, sentences_from_ids
from classgram.text.vocabulary import EOS, UNK


@dataclass(frozen=True)
class Plan:
    """The components of a mixture: word models, and clusterings for the class models."""

    orders: tuple[int, ...]
    """Of the word models."""
    clusterings: tuple[tuple[int, int], ...]
    """The number of classes and the seed of each."""
    interleaved: tuple[int, ...]
    """Indices of the clusterings that also give interleaved n-grams."""

    def describe(self) -> str:
        """Return the plan in a line."""
        order = self.orders[0]
        words = f"Kneser-Ney of order {', '.join(map(str, self.orders))}"
        if not self.clusterings:
            return f"{words} alone: too few different words for classes"
        numbers = ", ".join(str(classes) for classes, _ in self.clusterings)
        text = f"{words}, class {order}-grams over clusterings into {numbers} classes"
        if not self.interleaved:
            return text
        both = ", ".join(str(self.clusterings[index][0]) for index in self.interleaved)
        return f"{text}, and n-grams over words and classes in turn for {both} classes"


def make_plan(training: "Training", seed: int = 0, tuning: RecipeTuning = DEFAULT_TUNING) -> Plan:
    """Choose components for a text: the numbers of classes follow the number of its distinct words."""
    order, events, types = training.counts.order, training.counts.tokens, training.types
    small, large = events < tuning.small_text, events > tuning.large_text
    orders = (order, *(lower for lower in tuning.small_text_orders if small and lower < order))
    words_per_class = tuning.words_per_class
    if large:
        huge = events > tuning.huge_text
        words_per_class = tuning.huge_words_per_class if huge else tuning.large_words_per_class
    clusterings: list[tuple[int, int]] = []
    for index, words in enumerate(words_per_class):
        classes = min(max(types // words, 2), tuning.most_classes)
        # A second clustering into few classes would hardly differ from the first.
        known = [one for one, _ in clusterings]
        if classes < types and (classes not in known or classes >= tuning.fewest_repeated_classes):
            clusterings.append((classes, seed + index))
    possible = training.sentences is not None and not large
    interleaved = (index for index in tuning.interleaved if possible and index < len(clusterings))
    return Plan(orders, tuple(clusterings), tuple(interleaved))


@dataclass(frozen=True)
class Training:
    """What a mixture is trained on: counts, and the sentences themselves if they are available."""

    counts: NgramCounts
    sentences: Sentences | None = None

    @property
    def types(self) -> int:
        """The number of distinct words seen, </s> left out."""
        return int(np.count_nonzero(self.counts.levels[0].counts)) - 1

    @property
    def knows_unknown(self) -> bool:
        """Whether the text contains <unk>: if not, it cannot tell how likely unknown words are."""
        return bool(self.counts.levels[0].counts[UNK])


def train_mixture(
    training: Training,
    held_out: Sentences | None = None,
    options: MixtureOptions | None = None,
    classes: TrainClassesOptions | None = None,
    note: Note = silent,
    tuning: RecipeTuning = DEFAULT_TUNING,
) -> MixtureModel:
    """Train the default mixture, with weights estimated on held-out sentences.

    Without held-out sentences, folds of the training text are held out, several if they are small, to
    estimate the weights; the components are then trained again on all of it.
    """
    options, classes = options or MixtureOptions(), classes or TrainClassesOptions()
    plan = make_plan(training, classes.seed, tuning)
    note(f"components: {plan.describe()}")
    if held_out is not None:
        trial = Trial(_train_components(training, plan, classes, tuning), held_out, training.knows_unknown)
        return _finish([trial], options, plan, tuning)
    if training.sentences is None:
        raise InputError("a mixture of counts needs held-out text for its weights; give --valid")
    # Quickly made classes are good enough to estimate the weights.
    quick = replace(classes, effort="low")
    trials = [
        Trial(_train_components(rest, plan, quick, tuning), fold, training.knows_unknown)
        for rest, fold in held_out_folds(training, training.sentences, tuning)
    ]
    components = _train_components(training, plan, classes, tuning)
    if not trials:
        note("the text is too small to estimate weights: half of the weight goes to the word model")
        return _evenly_mixed(components, options, plan, tuning)
    held = sum(len(trial.sentences) for trial in trials)
    of_all = f"{held:,} of {len(training.sentences):,} sentences"
    note(f"weights estimated on {of_all}, held out in {len(trials)} folds")
    mixed = _finish(trials, options, plan, tuning)
    return replace(
        mixed,
        components=tuple(components[index] for index in mixed.info["kept"]),
        word_counts=components[0].word_counts,
    )


def _evenly_mixed(
    components: tuple[LanguageModel, ...], options: MixtureOptions, plan: Plan, tuning: RecipeTuning
) -> MixtureModel:
    """Return a mixture with the weights of the prior, for want of held-out text."""
    windows = tuning.windows if options.cache else ()
    weights = weak_prior(len(components) + 2 * len(windows), tuning).weights
    info = {"recipe": "mixture", "chosen": plan.describe(), "kept": list(range(len(components)))}
    return MixtureModel(
        components[0].vocabulary,
        components,
        frozen(weights[None]),
        windows=windows,
        info=info,
        word_counts=components[0].word_counts,
    )


def held_out_folds(
    training: Training, sentences: Sentences, tuning: RecipeTuning = DEFAULT_TUNING
) -> Iterator[tuple[Training, Sentences]]:
    """Yield folds of the text to hold out, each after the training data of the rest.

    Words missing from the rest are unknown in the fold, as they will be in other text, if the
    vocabulary is that of the text. A fold without any word of the rest is left out, as is a text of
    a single sentence.
    """
    vocabulary, order = training.counts.vocabulary, training.counts.order
    complete = bool(training.counts.levels[0].counts[EOS + 1 :].all())
    small = sentences.tokens < tuning.small_text
    folds = min(tuning.small_text_folds if small else tuning.folds, len(sentences))
    stretches = folds * max(1, sentences.tokens // folds // tuning.stretch)
    fold_of = np.arange(len(sentences)) * stretches // len(sentences) % folds
    of_event = np.repeat(fold_of, np.diff(sentences.offsets))
    for index in range(min(folds, -(-tuning.enough_events * folds // sentences.tokens))):
        rest, fold = sentences.ids[of_event != index], sentences.ids[of_event == index]
        known = np.bincount(rest, minlength=len(vocabulary)) > 0
        if complete:
            fold = np.where(known[fold], fold, np.int32(UNK))
        if not (fold > EOS).any() or not rest.size:
            continue
        others = sentences_from_ids(rest, EOS)
        counts = count_sentences(vocabulary, others, CountOptions(order))
        yield Training(counts, others), sentences_from_ids(fold, EOS)


def _train_components(
    training: Training, plan: Plan, options: TrainClassesOptions, tuning: RecipeTuning
) -> tuple[LanguageModel, ...]:
    """Train every component, the clusterings in parallel; the word model is the first."""
    counts, sentences = training.counts, training.sentences
    order = plan.orders[0]
    with ThreadPoolExecutor(options.threads or available_threads()) as pool:
        word_models = [pool.submit(train_kneser_ney, counts, one) for one in plan.orders]
        # The largest first, so that no thread is left with a long one at the end.
        by_size = sorted(range(len(plan.clusterings)), key=lambda index: -plan.clusterings[index][0])
        found = {index: pool.submit(_cluster, counts, plan, index, options) for index in by_size}
        classes = [found[index].result() for index in range(len(plan.clusterings))]
        jobs: list[Future[Any]] = [pool.submit(train_class_ngrams, counts, one, order) for one in classes]
        if sentences is not None:
            for index in plan.interleaved:
                arguments = (
                    sentences,
                    counts.vocabulary,
                    classes[index],
                    min(tuning.interleaved_order, order),
                )
                jobs.append(pool.submit(train_interleaved, *arguments))
        return tuple(job.result() for job in (*word_models, *jobs))


def _cluster(counts: NgramCounts, plan: Plan, index: int, options: TrainClassesOptions) -> Int32Array:
    """Return the classes of one clustering of the words."""
    classes, seed = plan.clusterings[index]
    effort = options.effort or "normal"
    # Without annealing only another start makes a second clustering of a size differ from the first.
    again = effort == "low" and any(classes == number for number, _ in plan.clusterings[:index])
    start = "random" if again else SearchOptions().start
    # Merging and splitting leads different starts to the same classes; a mixture gains by differences.
    search = SearchOptions(start=start, seed=seed, sweeps=options.sweeps, effort=effort, no_regroup=True)
    result = exchange(counts.up_to(2), ClusterOptions(classes=classes), search, RunOptions(threads=1))
    return result.partition.words


def _finish(
    trials: Sequence[Trial], options: MixtureOptions, plan: Plan, tuning: RecipeTuning
) -> MixtureModel:
    """Mix the components, or the few best of them, and record which."""
    kept = _choose_few(trials, tuning) if options.fast else list(range(len(trials[0].components)))
    chosen = [one._replace(components=tuple(one.components[index] for index in kept)) for one in trials]
    model = mix_by_trials(chosen, tuning.windows if options.cache else (), tuning=tuning)
    return replace(model, info={**model.info, "chosen": plan.describe(), "kept": kept})


def _choose_few(trials: Sequence[Trial], tuning: RecipeTuning) -> list[int]:
    """Return the word model, and one after another the component that gains most for its cost."""
    probabilities = np.concatenate([trial_probabilities(trial)[0] for trial in trials])
    costs = [
        tuning.interleaved_cost if isinstance(one, InterleavedModel) else 1.0 for one in trials[0].components
    ]

    def mean_log(columns: list[int]) -> float:
        mixed = probabilities[:, columns] @ em_weights(probabilities[:, columns], tuning=tuning)
        return float(np.log(np.maximum(mixed, np.finfo(float).tiny)).mean())

    chosen = [0]
    while len(chosen) < min(tuning.fast_components, len(costs)):
        base = mean_log(chosen)
        others = [index for index in range(len(costs)) if index not in chosen]
        gains = [(mean_log([*chosen, index]) - base) / costs[index] for index in others]
        chosen.append(others[int(np.argmax(gains))])
    return chosen


def component_names(model: MixtureModel) -> list[str]:
    """Return the name of each component for people: its recipe, and its number of classes."""
    names = []
    for one in model.components:
        classes = one.info.get("classes")
        interleaved = isinstance(one, InterleavedModel)
        recipe = "words and classes" if interleaved else one.info.get("recipe", one.form)
        names.append(f"{recipe} {classes}" if classes else str(recipe))
    return names
