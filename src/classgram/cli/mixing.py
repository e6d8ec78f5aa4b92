"""The command mix."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from classgram.cli.app import Flat, Output, QuietOption, app, message
from classgram.errors import InputError
from classgram.options import (
    ReadOptions,
)


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
    """Interpolate models, such as a general and a domain model, with weights fitted on held-out text.

    Parameters
    ----------
    models
        Model folders or ARPA files.
    valid
        Held-out text that resembles what will be scored and is in no training text.
    output
        The folder to write; it appears when it is complete.
    cache
        Add a cache: the words just scored become more likely.
    by_context
        Weights depend on how well the context is known (--no-by-context: the same for all).
    """
    from classgram.files.atomic import lock
    from classgram.loading import load
    from classgram.models.mixtures.mixture import mix_models
    from classgram.models.mixtures.tuning import DEFAULT_TUNING
    from classgram.models.mixtures.wider_vocabulary import one_vocabulary
    from classgram.text.reading import read_text

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
