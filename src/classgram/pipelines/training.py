"""From a text, or its counts, to a language model of any recipe, in one call."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from classgram.classes.partition import Partition
from classgram.counts.counting import count_sentences, read_sentences
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.models.factored.model import FactoredModel
from classgram.models.factored.recipe import train_factored
from classgram.models.language_model import LanguageModel, Note, silent
from classgram.models.mixtures.mixture import MixtureModel
from classgram.models.mixtures.recipe import Training, component_names, train_mixture
from classgram.models.training import make_classes, train_model, training_order
from classgram.options import (
    CountOptions,
    MixtureOptions,
    ModelOptions,
    ReadOptions,
    TextOptions,
    TrainClassesOptions,
    VocabularyOptions,
)
from classgram.pipelines.counting import (
    Reading,
    Source,
    counts_or_text,
    held,
    load_or_count,
    open_text,
    thread_number,
)
from classgram.pipelines.keywords import from_keywords
from classgram.runtime.progress import progress as progress_bar
from classgram.text.sentences import Sentences


@dataclass(frozen=True)
class _Order:
    """What a call of ``train`` asks for."""

    model: ModelOptions
    classes: TrainClassesOptions
    mixture: MixtureOptions
    reading: Reading
    progress: bool
    note: Note


def train(
    *text: Source,
    output: str | Path | None = None,
    use_classes: Partition | str | Path | None = None,
    valid: Source | None = None,
    progress: bool = False,
    note: Note = silent,
    **options: Any,
) -> LanguageModel:
    """Train a language model, as the command ``train`` does, and save it if ``output`` is given.

    The text is given as for ``count``; a folder of counts, or ``NgramCounts``, will do as well, but a
    mixture of counts needs ``valid``, the text that its weights are fitted on. Options are the fields
    of ``ModelOptions`` (first of all ``recipe``), ``TrainClassesOptions``, ``MixtureOptions``,
    ``VocabularyOptions``, ``TextOptions`` and ``ReadOptions``. ``note`` is called with each message.

    >>> model = train(["the cat sat", "the dog sat"] * 5, recipe="kneser-ney", order=2)
    >>> model.order
    2
    """
    kinds = (ModelOptions, TrainClassesOptions, MixtureOptions, VocabularyOptions, TextOptions, ReadOptions)
    model, classes, mixture, *reading = from_keywords("train", options, *kinds)
    _check_class_options(model, use_classes is not None, classes)
    classes = replace(classes, threads=thread_number(classes.threads))
    order = _Order(model, classes, mixture, Reading(*reading), progress, note)
    trained: LanguageModel
    with held(output):
        if model.recipe == "mixture":
            trained = _train_mixture(text, valid, order)
        elif model.recipe == "factored":
            trained = _train_factored(text, valid, order)
        elif valid is not None or mixture != MixtureOptions():
            raise InputError(
                f"--valid, --cache and --fast are for --recipe mixture or factored, not {model.recipe}"
            )
        else:
            trained = _train_one(text, use_classes, order)
        if output is not None:
            trained.save(output)
    return trained


def _check_class_options(model: ModelOptions, given: bool, classes: TrainClassesOptions) -> None:
    """Raise InputError where options of classes are given and none are made, or ``given`` ones are used."""
    unchanged = TrainClassesOptions(threads=classes.threads)
    if model.recipe in ("mixture", "factored"):
        # Its clusterings take how hard to search, and the seed.
        taken = replace(unchanged, seed=classes.seed, sweeps=classes.sweeps, effort=classes.effort)
        if given or classes != taken:
            raise InputError(
                f"--recipe {model.recipe} chooses its classes itself; use --recipe class for others"
            )
    elif model.recipe != "class" and (given or classes != unchanged):
        raise InputError(f"--recipe {model.recipe} has no classes; use --recipe class")
    if given and classes != unchanged:
        raise InputError("--use-classes gives the classes; leave out the options that make others")


def _train_one(
    text: tuple[Source, ...], use_classes: Partition | str | Path | None, asked: _Order
) -> LanguageModel:
    """Train a model of words, or of classes that are given or made."""
    model, classes = asked.model, asked.classes
    partition = use_classes
    if isinstance(partition, str | Path):
        partition = Partition.load(partition)
    order = training_order(model, partition or classes.shape)
    counting = CountOptions(order, memory=model.memory)
    counts = load_or_count(text, counting, asked.reading, asked.progress, classes.threads)
    if model.recipe == "class" and partition is None:
        with progress_bar("clustering", quiet=not asked.progress) as report:
            partition = make_classes(counts, classes, order, asked.note, report)
    return train_model(counts, model, partition, asked.note)


def _train_mixture(text: tuple[Source, ...], valid: Source | None, asked: _Order) -> MixtureModel:
    """Train the default mixture, and note the weight of each component."""
    training = _mixture_training(text, training_order(asked.model), asked)
    held_out = _held_out(valid, training, asked)
    made = train_mixture(training, held_out, asked.mixture, asked.classes, asked.note)
    for name, share in zip(component_names(made), made.weights.mean(axis=0), strict=False):
        asked.note(f"weight {share:.3f}  {name}")
    return made


def _train_factored(text: tuple[Source, ...], valid: Source | None, asked: _Order) -> FactoredModel:
    """Train a factored model, and note the weight of each clustering."""
    if asked.mixture.fast or asked.model.order is not None:
        raise InputError("--fast and --order are for other recipes, not for factored")
    training = _mixture_training(text, training_order(asked.model), asked)
    held_out = _held_out(valid, training, asked)
    made = train_factored(training, held_out, asked.classes, asked.note, cache=asked.mixture.cache)
    for name, share in zip(made.info["chosen"].split("; "), made.weights, strict=False):
        asked.note(f"weight {share:.3f}  {name}")
    return made


def _held_out(valid: Source | None, training: Training, asked: _Order) -> Sentences | None:
    """Return the held-out text as sentences of the vocabulary, if it is given."""
    known, read = training.counts.vocabulary, asked.reading.read
    return None if valid is None else known.encode(open_text((valid,), known.text, read), read)


def _mixture_training(text: tuple[Source, ...], order: int, asked: _Order) -> Training:
    """Return counts alone, or those of a text with its sentences, which mixtures make more of."""
    model = asked.model
    if model.smoothing is not None or model.cutoff != ModelOptions().cutoff:
        raise InputError(f"--smoothing and --cutoff are for other recipes, not for {model.recipe}")
    reading, threads = asked.reading, asked.classes.threads or 1
    opened = counts_or_text(text, reading)
    if isinstance(opened, NgramCounts):
        return Training(opened.up_to(min(order, opened.order)))
    vocabulary, sentences = read_sentences(
        opened, reading.vocabulary, None, reading.read, not asked.progress, threads=threads
    )
    counting = CountOptions(order, memory=asked.model.memory)
    return Training(count_sentences(vocabulary, sentences, counting, threads=threads), sentences)
