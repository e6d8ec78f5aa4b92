"""The mixture recipe: a word model, and class models over several clusterings, weighted together."""

import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from classgram.cache import WINDOWS
from classgram.class_ngram_lm import train_class_ngrams
from classgram.clustering import exchange
from classgram.errors import InputError
from classgram.interleaved_lm import InterleavedModel, train_interleaved
from classgram.language_model import LanguageModel
from classgram.mixture import MixtureModel, mix_models
from classgram.ngram_lm import Note, silent, train_kneser_ney
from classgram.ngrams import NgramCounts, count_sentences
from classgram.options import (
    ClusterOptions,
    CountOptions,
    MixtureOptions,
    RunOptions,
    SearchOptions,
    TrainClassesOptions,
)
from classgram.sentences import Sentences, sentences_from_ids
from classgram.vocabulary import EOS

Int32s = npt.NDArray[np.int32]

INTERLEAVED_ORDER = 4

SHARES = (100, 50, 50, 30, 30, 20, 20, 10)
"""A clustering has the number of different words divided by this as classes; equal ones differ in seed."""

MOST_CLASSES = 2000
INTERLEAVED = (0, 3)
"""The clusterings that are also used for n-grams over words and classes in turn."""

HELD_OUT_SHARE = 20
"""Without held-out text, every so many-th sentence is held out to find the weights."""

FAST_COMPONENTS = 4

COSTS = {"interleaved": 2.0}
"""What scoring with a form of model costs beside a plain n-gram model."""


@dataclass(frozen=True)
class Plan:
    """What the components of a mixture are: class numbers with seeds, and which are interleaved."""

    order: int
    clusterings: tuple[tuple[int, int], ...]
    interleaved: tuple[int, ...]

    def describe(self) -> str:
        """The plan in a line."""
        numbers = ", ".join(str(classes) for classes, _ in self.clusterings)
        both = ", ".join(str(self.clusterings[index][0]) for index in self.interleaved)
        if not self.clusterings:
            return f"a Kneser-Ney {self.order}-gram alone: too few different words for classes"
        return (
            f"a Kneser-Ney {self.order}-gram, class {self.order}-grams over {numbers} classes, "
            f"and n-grams over words and classes in turn for {both} classes"
        )


def make_plan(training: "Training", seed: int) -> Plan:
    """Choose class numbers for a text: they follow the number of its different words."""
    types = training.types
    clusterings: list[tuple[int, int]] = []
    for number, share in enumerate(SHARES):
        classes = min(max(types // share, 2), MOST_CLASSES)
        # A small text gives the same small numbers again: one clustering of each is enough then.
        known = [one for one, _ in clusterings]
        if classes < types and (classes not in known or SHARES[number - 1] == share):
            clusterings.append((classes, seed + number))
    at_hand = training.sentences is not None
    kept = [index for index in INTERLEAVED if at_hand and index < len(clusterings)]
    return Plan(training.counts.order, tuple(clusterings), tuple(kept))


@dataclass(frozen=True)
class Training:
    """What a mixture is trained on: counts, and the sentences themselves where they are at hand."""

    counts: NgramCounts
    sentences: Sentences | None = None

    @property
    def types(self) -> int:
        """The number of different words seen, </s> left out."""
        return int(np.count_nonzero(self.counts.levels[0].counts)) - 1


def train_mixture(
    training: Training,
    held_out: Sentences | None = None,
    options: MixtureOptions | None = None,
    classes: TrainClassesOptions | None = None,
    note: Note = silent,
) -> MixtureModel:
    """Train the default mixture, with weights found on held-out sentences.

    Without held-out sentences some are cut from the training text to find the weights, and the
    components are then trained again on all of it.
    """
    options, classes = options or MixtureOptions(), classes or TrainClassesOptions()
    plan = make_plan(training, classes.seed)
    note(f"components: {plan.describe()}")
    if held_out is not None:
        components = train_components(training, plan, classes)
        return finish(components, held_out, options, plan)
    if training.sentences is None:
        raise InputError("a mixture of counts needs held-out text to find its weights; give --valid")
    rest, cut = split_off(training.sentences)
    note(f"held out to find the weights: {len(cut):,} of {len(training.sentences):,} sentences")
    counting = CountOptions(training.counts.order)
    part = Training(count_sentences(training.counts.vocabulary, rest, counting), rest)
    # Classes found quickly are good enough to find the weights.
    trial = finish(train_components(part, plan, replace(classes, effort="low")), cut, options, plan)
    components = train_components(training, plan, classes)
    return replace(
        trial,
        components=tuple(components[index] for index in trial.info["kept"]),
        word_counts=components[0].word_counts,
    )


def split_off(sentences: Sentences) -> tuple[Sentences, Sentences]:
    """Every twentieth sentence apart from the others."""
    if len(sentences) < 2:
        raise InputError(
            "a text of one sentence cannot be cut to find the mixture's weights; give more text, or --valid"
        )
    share = min(HELD_OUT_SHARE, len(sentences))
    numbers = np.repeat(np.arange(len(sentences)), np.diff(sentences.offsets))
    cut = numbers % share == share - 1
    return sentences_from_ids(sentences.ids[~cut], EOS), sentences_from_ids(sentences.ids[cut], EOS)


def train_components(training: Training, plan: Plan, options: TrainClassesOptions) -> list[LanguageModel]:
    """Train every component, the clusterings side by side; the word model is the first."""
    counts, sentences = training.counts, training.sentences
    order = counts.order
    with ThreadPoolExecutor(options.threads or os.cpu_count() or 1) as pool:
        word_model = pool.submit(train_kneser_ney, counts, order)
        # The largest first, so that no thread is left with a long one at the end.
        by_size = sorted(range(len(plan.clusterings)), key=lambda index: -plan.clusterings[index][0])
        found = {index: pool.submit(cluster, counts, plan.clusterings[index], options) for index in by_size}
        classes = [found[index].result() for index in range(len(plan.clusterings))]
        jobs: list[Future[Any]] = [pool.submit(train_class_ngrams, counts, one, order) for one in classes]
        if sentences is not None:
            for index in plan.interleaved:
                arguments = (sentences, counts.vocabulary, classes[index], min(INTERLEAVED_ORDER, order))
                jobs.append(pool.submit(train_interleaved, *arguments))
        return [word_model.result(), *(job.result() for job in jobs)]


def cluster(counts: NgramCounts, clustering: tuple[int, int], options: TrainClassesOptions) -> Int32s:
    """One clustering of the words."""
    classes, seed = clustering
    search = SearchOptions(seed=seed, sweeps=options.sweeps, effort=options.effort or "normal")
    result = exchange(counts.up_to(2), ClusterOptions(classes=classes), search, RunOptions(threads=1))
    return result.partition.words


def finish(
    components: Sequence[LanguageModel], held_out: Sentences, options: MixtureOptions, plan: Plan
) -> MixtureModel:
    """Mix the components, or the few best of them, and say what was chosen."""
    kept = list(range(len(components)))
    if options.fast:
        kept = choose_few(components, held_out)
    windows = WINDOWS if options.cache else ()
    model = mix_models([components[index] for index in kept], held_out, windows)
    return replace(model, info={**model.info, "chosen": plan.describe(), "kept": kept})


def choose_few(components: Sequence[LanguageModel], held_out: Sentences) -> list[int]:
    """The word model, and one after another the component that helps most for its cost."""
    chosen = [0]
    base = mean_log(components, chosen, held_out)
    while len(chosen) < min(FAST_COMPONENTS, len(components)):
        gains = {
            index: (mean_log(components, [*chosen, index], held_out) - base)
            / COSTS.get(components[index].form, 1.0)
            for index in range(len(components))
            if index not in chosen
        }
        best = max(gains, key=lambda index: gains[index])
        chosen.append(best)
        base = mean_log(components, chosen, held_out)
    return chosen


def mean_log(components: Sequence[LanguageModel], chosen: Sequence[int], held_out: Sentences) -> float:
    """The mean log-probability of held-out events in a mixture of the chosen components."""
    mixture = mix_models([components[index] for index in chosen], held_out, by_context=False)
    return float(mixture.log_probabilities(held_out).mean())


def component_names(model: MixtureModel) -> list[str]:
    """What each component is, for people."""
    names = []
    for one in model.components:
        classes = one.info.get("classes")
        kind = "words and classes" if isinstance(one, InterleavedModel) else one.info.get("recipe", one.form)
        names.append(f"{kind} {classes}" if classes else str(kind))
    return names
