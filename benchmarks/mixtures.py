"""The default mixture on the Penn Treebank: training time, perplexity, and words scored a second."""

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Figure, Settings, best, classgram
from classgram.evaluation.perplexity import evaluate
from classgram.loading import load
from classgram.models.language_model import LanguageModel
from classgram.text.reading import read_text

AREA = "mixtures"

MODELS = {
    "Kneser-Ney 3": ("--recipe", "kneser-ney", "--order", "3"),
    "Kneser-Ney 5": ("--recipe", "kneser-ney"),
    "mixture": (),
    "mixture --fast": ("--fast",),
    "mixture --cache": ("--cache",),
}


def measure(settings: Settings) -> Iterator[Figure]:
    """Figures on the Treebank, or nothing but a note where it is not here."""
    train, valid = settings.data / "ptb.train.txt", settings.data / "ptb.valid.txt"
    if not (train.exists() and valid.exists()):
        yield Figure(AREA, "mixture", None, "s", f"no ptb.train.txt and ptb.valid.txt in {settings.data}")
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, options in MODELS.items():
            path = Path(folder) / "model"
            held_out: tuple[str | Path, ...] = ("--valid", valid) if "mixture" in name else ()
            begun = time.perf_counter()
            classgram("train", train, "-o", path, *options, *held_out)
            yield Figure(AREA, f"{name}, text to model", time.perf_counter() - begun, "s", cores())
            model = load(path)
            found = evaluate(model, read_text(valid)).perplexity_including_unknown
            yield Figure(AREA, f"{name}, perplexity on valid", found, "")
            yield Figure(AREA, f"{name}, scoring", speed(settings, model, valid), "M words/s", "one core")


def cores() -> str:
    """How many cores there were."""
    return f"{os.cpu_count()} cores"


def speed(settings: Settings, model: LanguageModel, text: Path) -> float:
    """Millions of words scored a second, from ids, in one batch."""
    sentences = model.vocabulary.encode(read_text(text))
    model.log_probabilities(sentences)
    return sentences.tokens / best(3 * settings.repeat, lambda: model.log_probabilities(sentences)) / 1e6
