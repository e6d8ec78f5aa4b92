"""Kneser-Ney from text to saved model beside lmplz, and scoring beside KenLM's module."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Figure, Settings, best, classgram, command, novels
from classgram.arpa.writing import write_arpa
from classgram.loading import load

AREA = "models"


def measure(settings: Settings) -> Iterator[Figure]:
    """Figures on the novels, or nothing but a note where they are not here."""
    path = novels(settings)
    if path is None:
        yield Figure(AREA, "Kneser-Ney 3", None, "s", f"no novels in {settings.data}")
        return
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        train: list[str | Path] = ["train", path, "-o", model, "--recipe", "kneser-ney", "--order", "3"]
        classgram(*train)
        seconds = best(settings.repeat, lambda: classgram(*train))
        yield Figure(AREA, "Kneser-Ney 3 of the novels, text to saved model", seconds, "s")
        small = [*train, "--vocabulary-size", "20000"]
        seconds_small = best(settings.repeat, lambda: classgram(*small))
        yield Figure(AREA, "the same with 20,000 words", seconds_small, "s")
        classgram(*train)
        yield from beside_lmplz(settings, path, seconds, Path(folder))
        yield from scoring(settings, path, model, Path(folder))


def beside_lmplz(settings: Settings, path: Path, ours: float, folder: Path) -> Iterator[Figure]:
    """Our time beside that of lmplz on the same text, one thread each."""
    what = "Kneser-Ney 3, times faster than lmplz"
    if settings.kenlm_bin is None:
        yield Figure(AREA, what, None, "times", "give --kenlm-bin DIR to compare with lmplz")
        return
    lmplz = settings.kenlm_bin / "lmplz"
    # Two gigabytes, as ours: with its default of most of the memory lmplz is slower still.
    call: list[str | Path] = [lmplz, "-o", "3", "-S", "2G", "-T", folder, "--arpa", folder / "lmplz.arpa"]
    if shutil.which("taskset"):
        call = ["taskset", "-c", "0", *call]
    theirs = best(settings.repeat, lambda: command(call, path))
    yield Figure(AREA, "lmplz -o 3 of the novels", theirs, "s")
    yield Figure(AREA, what, theirs / ours, "times")


def scoring(settings: Settings, text: Path, model: Path, folder: Path) -> Iterator[Figure]:
    """Words a second through each Python module, on every 10th sentence."""
    begun = time.perf_counter()
    ours = load(model)
    yield Figure(AREA, "loading the trigram model", time.perf_counter() - begun, "s")
    with text.open(encoding="utf-8") as file:
        lines = [line.strip() for number, line in enumerate(file) if number % 10 == 0]
    words = sum(len(line.split()) + 1 for line in lines)

    def score_ours() -> None:
        ours.log_probabilities(ours.encode(lines))

    score_ours()
    speed = words / best(3 * settings.repeat, score_ours)
    yield Figure(AREA, "scoring, trigram, from Python", speed / 1e6, "M words/s")
    try:
        import kenlm
    except ImportError:
        yield Figure(AREA, "scoring beside KenLM's module", None, "times", "pip install ufal.kenlm")
        return
    write_arpa(ours, folder / "ours.arpa")
    arpa = folder / "ours.arpa"
    if settings.kenlm_bin is not None:
        command([settings.kenlm_bin / "build_binary", arpa, folder / "ours.bin"])
        arpa = folder / "ours.bin"
    theirs = kenlm.Model(str(arpa))

    def score_theirs() -> None:
        for line in lines:
            theirs.score(line)

    their_speed = words / best(3 * settings.repeat, score_theirs)
    yield Figure(AREA, "scoring with KenLM's module", their_speed / 1e6, "M words/s")
    yield Figure(AREA, "scoring, times KenLM's speed", speed / their_speed, "times")
