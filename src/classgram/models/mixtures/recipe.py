"""The mixture recipe: a word model, and class models over several clusterings, weighted together."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from classgram.clustering.exchange import exchange
from classgram.counts.ngram_counts import NgramCounts, count_sentences
from classgram.errors import InputError
from classgram.models.class_based.class_ngrams import train_class_ngrams
from classgram.models.class_based.interleaved import InterleavedModel, train_interleaved
from classgram.models.language_model import LanguageModel
from classgram.models.mixtures.cache import WINDOWS
from classgram.models.mixtures.mixture import MixtureModel, Trial, mix_by_trials, trial_probabilities
from classgram.models.mixtures.weights import em_weights, weak_prior
from classgram.models.ngram.ngram_model import Note, silent, train_kneser_ney
from classgram.options import (
    ClusterOptions,
    CountOptions,
    MixtureOptions,
    RunOptions,
    SearchOptions,
    TrainClassesOptions,
)
from classgram.runtime.compiled import frozen
from classgram.text.sentences import Sentences, sentences_from_ids
from classgram.text.vocabulary import EOS, UNK

Int32s = npt.NDArray[np.int32]

_INTERLEAVED_ORDER = 4

_SHARES = (100, 50, 50, 30, 30, 20, 20, 10)
"""A clustering has the number of different words divided by this as classes; equal ones differ in seed."""

LARGE_TEXT = 5_000_000
_LARGE_SHARES = (100, 50, 30, 20, 10)
"""A text of more events gets fewer components, so that they fit into memory: they also gain less there."""

_HUGE_TEXT = 30_000_000
_HUGE_SHARES = (100, 30, 10)

_MOST_CLASSES = 2000
_FEWEST_TWICE = 10
_INTERLEAVED = (0, 3)
"""The clusterings that are also used for n-grams over words and classes in turn."""

SMALL_TEXT = 50_000
"""A text of fewer events also gets word models of lower orders, and a larger share is held out."""

_LOWER_ORDERS = (3, 2)
SMALL_SHARE, SHARE = 10, 20
"""Without held-out text, one part in so many is held out to find the weights."""

_ENOUGH_EVENTS = 5000
"""Where the part held out has fewer events, further parts are held out in turn."""

_STRETCH = 5000
"""What is held out are whole stretches of the text of about so many events: caches need them."""

_FAST_COMPONENTS = 4

_COSTS = {"interleaved": 2.0}
"""What scoring with a form of model costs beside a plain n-gram model."""


@dataclass(frozen=True)
class Plan:
    """What the components of a mixture are: class numbers with seeds, and which are interleaved."""

    orders: tuple[int, ...]
    clusterings: tuple[tuple[int, int], ...]
    interleaved: tuple[int, ...]

    def describe(self) -> str:
        """The plan in a line."""
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


def make_plan(training: "Training", seed: int = 0) -> Plan:
    """Choose components for a text: class numbers follow the number of its different words."""
    order = training.counts.order
    small = training.counts.tokens < SMALL_TEXT
    orders = (order, *(lower for lower in _LOWER_ORDERS if small and lower < order))
    large = training.counts.tokens > LARGE_TEXT
    shares: tuple[int, ...] = _SHARES
    if large:
        shares = _HUGE_SHARES if training.counts.tokens > _HUGE_TEXT else _LARGE_SHARES
    types = training.types
    clusterings: list[tuple[int, int]] = []
    for number, share in enumerate(shares):
        classes = min(max(types // share, 2), _MOST_CLASSES)
        # A second clustering into few classes would hardly differ from the first.
        known = [one for one, _ in clusterings]
        if classes < types and (classes not in known or classes >= _FEWEST_TWICE):
            clusterings.append((classes, seed + number))
    at_hand = training.sentences is not None
    kept = [index for index in _INTERLEAVED if at_hand and not large and index < len(clusterings)]
    return Plan(orders, tuple(clusterings), tuple(kept))


@dataclass(frozen=True)
class Training:
    """What a mixture is trained on: counts, and the sentences themselves where they are at hand."""

    counts: NgramCounts
    sentences: Sentences | None = None

    @property
    def types(self) -> int:
        """The number of different words seen, </s> left out."""
        return int(np.count_nonzero(self.counts.levels[0].counts)) - 1

    @property
    def knows_unknown(self) -> bool:
        """Whether the text holds <unk>: else nothing is known of how likely unknown words are."""
        return bool(self.counts.levels[0].counts[UNK])


def train_mixture(
    training: Training,
    held_out: Sentences | None = None,
    options: MixtureOptions | None = None,
    classes: TrainClassesOptions | None = None,
    note: Note = silent,
) -> MixtureModel:
    """Train the default mixture, with weights found on held-out sentences.

    Without held-out sentences parts of the training text are held out, in turn where they are small,
    to find the weights, and the components are then trained again on all of it.
    """
    options, classes = options or MixtureOptions(), classes or TrainClassesOptions()
    plan = make_plan(training, classes.seed)
    note(f"components: {plan.describe()}")
    if held_out is not None:
        trial = Trial(_train_components(training, plan, classes), held_out, training.knows_unknown)
        return _finish([trial], options, plan)
    if training.sentences is None:
        raise InputError("a mixture of counts needs held-out text to find its weights; give --valid")
    # Classes found quickly are good enough to find the weights.
    quick = replace(classes, effort="low")
    trials = [
        Trial(_train_components(part, plan, quick), cut, training.knows_unknown)
        for part, cut in cut_parts(training, training.sentences)
    ]
    components = _train_components(training, plan, classes)
    if not trials:
        note("the text is too small to find weights: half of the weight goes to the word model")
        return _evenly_mixed(components, options, plan)
    cut = sum(len(trial.sentences) for trial in trials)
    note(
        f"weights found on {cut:,} of {len(training.sentences):,} sentences, held out in {len(trials)} parts"
    )
    mixed = _finish(trials, options, plan)
    return replace(
        mixed,
        components=tuple(components[index] for index in mixed.info["kept"]),
        word_counts=components[0].word_counts,
    )


def _evenly_mixed(components: Sequence[LanguageModel], options: MixtureOptions, plan: Plan) -> MixtureModel:
    """A mixture whose weights no text has told."""
    windows = WINDOWS if options.cache else ()
    weights = weak_prior(len(components) + 2 * len(windows))[0]
    info = {"recipe": "mixture", "chosen": plan.describe(), "kept": list(range(len(components)))}
    return MixtureModel(
        components[0].vocabulary,
        tuple(components),
        frozen(weights[None]),
        windows=windows,
        info=info,
        word_counts=components[0].word_counts,
    )


def cut_parts(training: Training, sentences: Sentences) -> Iterator[tuple[Training, Sentences]]:
    """Parts of the text held out, each with the training on the rest.

    Words that the rest lacks are unknown in the held-out part, as they will be in other text, where
    the vocabulary is that of the text. Parts with no word of the rest, and all of a single sentence,
    are left out.
    """
    vocabulary, order = training.counts.vocabulary, training.counts.order
    complete = bool(training.counts.levels[0].counts[EOS + 1 :].all())
    share = min(SMALL_SHARE if sentences.tokens < SMALL_TEXT else SHARE, len(sentences))
    stretches = share * max(1, sentences.tokens // share // _STRETCH)
    part_of = np.arange(len(sentences)) * stretches // len(sentences) % share
    held = np.repeat(part_of, np.diff(sentences.offsets))
    for number in range(min(share, -(-_ENOUGH_EVENTS * share // sentences.tokens))):
        rest, cut = sentences.ids[held != number], sentences.ids[held == number]
        known = np.bincount(rest, minlength=len(vocabulary)) > 0
        if complete:
            cut = np.where(known[cut], cut, np.int32(UNK))
        if not (cut > EOS).any() or not rest.size:
            continue
        part = sentences_from_ids(rest, EOS)
        counts = count_sentences(vocabulary, part, CountOptions(order))
        yield Training(counts, part), sentences_from_ids(cut, EOS)


def _train_components(training: Training, plan: Plan, options: TrainClassesOptions) -> list[LanguageModel]:
    """Train every component, the clusterings side by side; the word model is the first."""
    counts, sentences = training.counts, training.sentences
    order = plan.orders[0]
    with ThreadPoolExecutor(options.threads or os.cpu_count() or 1) as pool:
        word_models = [pool.submit(train_kneser_ney, counts, one) for one in plan.orders]
        # The largest first, so that no thread is left with a long one at the end.
        by_size = sorted(range(len(plan.clusterings)), key=lambda index: -plan.clusterings[index][0])
        found = {index: pool.submit(_cluster, counts, plan, index, options) for index in by_size}
        classes = [found[index].result() for index in range(len(plan.clusterings))]
        jobs: list[Future[Any]] = [pool.submit(train_class_ngrams, counts, one, order) for one in classes]
        if sentences is not None:
            for index in plan.interleaved:
                arguments = (sentences, counts.vocabulary, classes[index], min(_INTERLEAVED_ORDER, order))
                jobs.append(pool.submit(train_interleaved, *arguments))
        return [job.result() for job in (*word_models, *jobs)]


def _cluster(counts: NgramCounts, plan: Plan, index: int, options: TrainClassesOptions) -> Int32s:
    """One clustering of the words."""
    classes, seed = plan.clusterings[index]
    effort = options.effort or "normal"
    # Without annealing only another start makes a second clustering of a size differ from the first.
    again = effort == "low" and any(classes == number for number, _ in plan.clusterings[:index])
    start = "random" if again else SearchOptions().start
    # Regrouping leads different starts to the same classes, and a mixture lives on their differences.
    search = SearchOptions(start=start, seed=seed, sweeps=options.sweeps, effort=effort, no_regroup=True)
    result = exchange(counts.up_to(2), ClusterOptions(classes=classes), search, RunOptions(threads=1))
    return result.partition.words


def _finish(trials: Sequence[Trial], options: MixtureOptions, plan: Plan) -> MixtureModel:
    """Mix the components, or the few best of them, and say what was chosen."""
    kept = _choose_few(trials) if options.fast else list(range(len(trials[0].components)))
    chosen = [one._replace(components=[one.components[index] for index in kept]) for one in trials]
    model = mix_by_trials(chosen, WINDOWS if options.cache else ())
    return replace(model, info={**model.info, "chosen": plan.describe(), "kept": kept})


def _choose_few(trials: Sequence[Trial]) -> list[int]:
    """The word model, and one after another the component that helps most for its cost."""
    probabilities = np.concatenate([trial_probabilities(trial)[0] for trial in trials])
    components = trials[0].components

    def mean_log(columns: list[int]) -> float:
        mixed = probabilities[:, columns] @ em_weights(probabilities[:, columns])
        return float(np.log(np.maximum(mixed, np.finfo(float).tiny)).mean())

    chosen = [0]
    while len(chosen) < min(_FAST_COMPONENTS, len(components)):
        base = mean_log(chosen)
        others = [index for index in range(len(components)) if index not in chosen]
        gains = [
            (mean_log([*chosen, index]) - base) / _COSTS.get(components[index].form, 1.0) for index in others
        ]
        chosen.append(others[int(np.argmax(gains))])
    return chosen


def component_names(model: MixtureModel) -> list[str]:
    """What each component is, for people."""
    names = []
    for one in model.components:
        classes = one.info.get("classes")
        kind = "words and classes" if isinstance(one, InterleavedModel) else one.info.get("recipe", one.form)
        names.append(f"{kind} {classes}" if classes else str(kind))
    return names
