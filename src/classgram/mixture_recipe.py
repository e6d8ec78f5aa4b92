"""The mixture recipe: a word model, and class models over several clusterings, weighted together."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from classgram.cache import WINDOWS
from classgram.class_ngram_lm import train_class_ngrams
from classgram.errors import InputError
from classgram.exchange import exchange
from classgram.interleaved_lm import InterleavedModel, train_interleaved
from classgram.language_model import LanguageModel
from classgram.mixture import MixtureModel, mix_models
from classgram.ngram_lm import Note, silent, train_kneser_ney
from classgram.ngrams import NgramCounts, count_sentences
from classgram.options import ClusterOptions, CountOptions, MixtureOptions, RunOptions, SearchOptions
from classgram.sentences import Sentences, sentences_from_ids
from classgram.vocabulary import EOS, Vocabulary

Int32s = npt.NDArray[np.int32]

ORDER = 5
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

    clusterings: tuple[tuple[int, int], ...]
    interleaved: tuple[int, ...]

    def describe(self) -> str:
        """The plan in a line."""
        numbers = ", ".join(str(classes) for classes, _ in self.clusterings)
        both = ", ".join(str(self.clusterings[index][0]) for index in self.interleaved)
        if not self.clusterings:
            return f"a Kneser-Ney {ORDER}-gram alone: too few different words for classes"
        return (
            f"a Kneser-Ney {ORDER}-gram, class {ORDER}-grams over clusterings into {numbers} classes, "
            f"and n-grams over words and classes in turn for {both} classes"
        )


def make_plan(sentences: Sentences, seed: int) -> Plan:
    """Choose class numbers for a text: they follow the number of its different words."""
    types = np.unique(sentences.ids).size - 1
    clusterings: list[tuple[int, int]] = []
    for number, share in enumerate(SHARES):
        classes = min(max(types // share, 2), MOST_CLASSES)
        # A small text gives the same small numbers again: one clustering of each is enough then.
        known = [one for one, _ in clusterings]
        if classes < types and (classes not in known or SHARES[number - 1] == share):
            clusterings.append((classes, seed + number))
    kept = tuple(index for index in INTERLEAVED if index < len(clusterings)) or (0,) * bool(clusterings)
    return Plan(tuple(clusterings), kept)


def train_mixture(
    vocabulary: Vocabulary,
    sentences: Sentences,
    held_out: Sentences | None = None,
    options: MixtureOptions | None = None,
    note: Note = silent,
) -> MixtureModel:
    """Train the default mixture on sentences, with weights found on held-out ones.

    Without held-out sentences some are cut from the training text to find the weights, and the
    components are then trained again on all of it.
    """
    options = options or MixtureOptions()
    windows = WINDOWS if options.cache else ()
    if held_out is not None:
        plan = make_plan(sentences, options.seed)
        note(f"components: {plan.describe()}")
        components = train_components(vocabulary, sentences, plan, options)
        return finish(components, held_out, windows, options, plan)
    rest, cut = split_off(sentences)
    plan = make_plan(rest, options.seed)
    note(f"held out to find the weights: {len(cut):,} of {len(sentences):,} sentences")
    note(f"components: {plan.describe()}")
    # Classes found quickly are good enough to find the weights.
    quick = replace(options, effort="low")
    trial = finish(train_components(vocabulary, rest, plan, quick), cut, windows, options, plan)
    components = train_components(vocabulary, sentences, plan, options)
    kept = trial.info["kept"]
    return replace(
        trial,
        components=tuple(components[index] for index in kept),
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


def train_components(
    vocabulary: Vocabulary, sentences: Sentences, plan: Plan, options: MixtureOptions
) -> list[LanguageModel]:
    """Train every component, the clusterings side by side; the word model is the first."""
    counts = count_sentences(vocabulary, sentences, CountOptions(ORDER))
    with ThreadPoolExecutor(options.threads or os.cpu_count() or 1) as pool:
        word_model = pool.submit(train_kneser_ney, counts, ORDER)
        # The largest first, so that no thread is left with a long one at the end.
        order = sorted(range(len(plan.clusterings)), key=lambda index: -plan.clusterings[index][0])
        found = {index: pool.submit(cluster, counts, plan.clusterings[index], options) for index in order}
        classes = [found[index].result() for index in range(len(plan.clusterings))]
        grams = [pool.submit(train_class_ngrams, counts, one, ORDER) for one in classes]
        pairs = [
            pool.submit(train_interleaved, sentences, vocabulary, classes[index], INTERLEAVED_ORDER)
            for index in plan.interleaved
        ]
        return [word_model.result(), *(job.result() for job in grams), *(job.result() for job in pairs)]


def cluster(counts: NgramCounts, clustering: tuple[int, int], options: MixtureOptions) -> Int32s:
    """One clustering of the words."""
    classes, seed = clustering
    search = SearchOptions(start="frequency", seed=seed, effort=options.effort)
    result = exchange(counts.up_to(2), ClusterOptions(classes=classes), search, RunOptions(threads=1))
    return result.partition.words


def finish(
    components: Sequence[LanguageModel],
    held_out: Sentences,
    windows: Sequence[int],
    options: MixtureOptions,
    plan: Plan,
) -> MixtureModel:
    """Mix the components, or the few best of them, and say what was chosen."""
    kept = list(range(len(components)))
    if options.fast:
        kept = choose_few(components, held_out)
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
