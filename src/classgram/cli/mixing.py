"""Commands on mixtures: mix, and the default recipe of train."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from classgram.cli.app import Flat, Output, QuietOption, announce_compilation, app, message
from classgram.errors import InputError
from classgram.options import (
    CountOptions,
    MixtureOptions,
    ModelOptions,
    ReadOptions,
    TextOptions,
    TrainClassesOptions,
    VocabularyOptions,
)

if TYPE_CHECKING:
    from classgram.models.mixtures.mixture import MixtureModel


@app.command
def mix(
    *models: Path,
    valid: Path,
    output: Annotated[Path, Output],
    cache: bool = False,
    by_context: Annotated[bool, Parameter(negative="--no-by-context")] = True,
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: QuietOption = QuietOption(),
) -> None:
    """Mix models, say one of much text and one of a domain, by how well they predict held-out text.

    Parameters
    ----------
    models
        Model folders or ARPA files.
    valid
        The held-out text: like what will be scored, and not part of any training text.
    output
        The folder to write; it appears when it is whole.
    cache
        Let the mixture adapt to the text it scores.
    by_context
        Let weights depend on how much is known of the context (--no-by-context: one set for all).
    """
    from classgram.files.folders import lock
    from classgram.loading import load
    from classgram.models.mixtures.mixture import mix_models
    from classgram.models.mixtures.tuning import DEFAULT_TUNING
    from classgram.models.mixtures.wider_vocabulary import one_vocabulary
    from classgram.text.reading import read_text

    announce_compilation(show.quiet)
    if not models:
        raise InputError("name the models to mix")
    with lock(output):
        loaded, note = one_vocabulary([load(path) for path in models])
        if note:
            message(note, show.quiet)
        vocabulary = loaded[0].vocabulary
        sentences = vocabulary.encode(read_text(valid, text=vocabulary.text, read=read), read)
        mixture = mix_models(loaded, sentences, DEFAULT_TUNING.windows if cache else (), by_context)
        mixture.save(output)
    shares = mixture.weights.mean(axis=0)[: len(models)]
    for path, share in zip(models, shares, strict=True):
        message(f"weight {share:.3f}  {path}", show.quiet)


Reading = tuple[VocabularyOptions, TextOptions, ReadOptions]


def train_default_mixture(
    texts: tuple[str, ...],
    valid: Path | None,
    options: tuple[ModelOptions, MixtureOptions, TrainClassesOptions],
    reading: Reading,
    quiet: bool,
) -> "MixtureModel":
    """Train the default mixture on a text or on counts."""
    from classgram.counts.ngram_counts import NgramCounts, count_sentences, read_sentences
    from classgram.files.folders import folder_kind
    from classgram.models.mixtures.recipe import Training, component_names, train_mixture
    from classgram.models.training import training_order
    from classgram.text.reading import read_text

    def note(line: str) -> None:
        message(line, quiet)

    model, mixture, classes = options
    if model.smoothing is not None or model.cutoff != ModelOptions().cutoff:
        raise InputError("--smoothing and --cutoff are for other recipes, not for mixture")
    order = training_order(model)
    read = reading[2]
    if len(texts) == 1 and folder_kind(Path(texts[0])) == "counts":
        counts = NgramCounts.load(texts[0])
        training = Training(counts.up_to(min(order, counts.order)))
    else:
        vocabulary, sentences = read_sentences(texts, *reading, quiet)
        counting = CountOptions(order, memory=model.memory)
        training = Training(count_sentences(vocabulary, sentences, counting), sentences)
    known = training.counts.vocabulary
    held_out = known.encode(read_text(valid, text=known.text, read=read), read) if valid else None
    made = train_mixture(training, held_out, mixture, classes, note)
    for name, share in zip(component_names(made), made.weights.mean(axis=0), strict=False):
        note(f"weight {share:.3f}  {name}")
    return made
