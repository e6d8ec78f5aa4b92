"""Text to ids, and text to saved counts."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Figure, Settings, best, classgram, command, novels, peak_memory
from classgram.text.reading import Chunk, read_text
from classgram.text.scanner import WordScanner


def scan_all(chunks: list[Chunk]) -> None:
    scanner = WordScanner()
    for chunk in chunks:
        scanner.feed(chunk)


def dict_all(chunks: list[Chunk]) -> None:
    ids: dict[bytes, int] = {}
    for chunk in chunks:
        [ids.setdefault(word, len(ids)) for word in chunk.data.split()]


def measure(settings: Settings) -> Iterator[Figure]:
    """Figures on the novels, or nothing but a note where they are not here."""
    area = "counting"
    start = best(settings.repeat, lambda: command([sys.executable, "-m", "classgram", "--help"]))
    yield Figure(area, "classgram --help", start, "s")
    path = novels(settings)
    if path is None:
        yield Figure(area, "text to ids", None, "MB/s", f"no novels in {settings.data}")
        return
    chunks = list(read_text(path).chunks())
    size = sum(len(chunk.data) for chunk in chunks) / 1e6
    scan_all(chunks[:1])
    ours = best(settings.repeat, lambda: scan_all(chunks))
    theirs = best(settings.repeat, lambda: dict_all(chunks))
    yield Figure(area, "text to ids, novels", size / ours, "MB/s")
    yield Figure(area, "text to ids, beside dict and split", theirs / ours, "times")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        for order in (2, 3):
            arguments = ["count", path, "-o", out, "--order", str(order)]
            seconds = best(settings.repeat, lambda arguments=arguments: classgram(*arguments))  # type: ignore[misc]
            yield Figure(area, f"{order}-gram counts of the novels, text to folder", seconds, "s")
        yield Figure(area, "peak memory of the bigram counts", peak_memory(["count", path, "-o", out]), "MB")
