"""Text to saved classes beside clustercat, threads, growth with classes and words, and a roofline."""

import json
import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np

from benchmarks.measure import Figure, Settings, best, classgram, command, novels, peak_memory
from classgram.clustering._kernels.dense_scores import sum_eight_rows
from classgram.clustering.exchange import exchange
from classgram.clustering.result import Result
from classgram.counts.counting import count_ngrams
from classgram.counts.ngram_counts import NgramCounts
from classgram.options import ClusterOptions, CountOptions, RunOptions, SearchOptions, VocabularyOptions

AREA = "clustering"
ONE = RunOptions(threads=1)
CLASSES = (10, 20, 40, 80, 160, 320, 640, 1000, 2000)
NOVELS = ("--lowercase", "--punctuation", "strip", "--vocabulary-size", "20000")


def measure(settings: Settings) -> Iterator[Figure]:
    """All figures of the area; what needs data or rivals that are not here is skipped with a note."""
    text = settings.data / "ptb.train.txt"
    yield from bandwidth()
    if not text.exists():
        yield Figure(AREA, "everything else", None, "s", f"no ptb.train.txt in {settings.data}")
        return
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "classes"
        yield from start_up(settings, text, out)
        yield from treebank(settings, text, out)
        yield from large_text(settings, out)
    counts = count_ngrams(text, CountOptions(2))
    yield from criteria(counts)
    yield from growth(text, counts)


def start_up(settings: Settings, text: Path, out: Path) -> Iterator[Figure]:
    """The fixed cost of a command: a thousand lines into ten classes."""
    short = out.with_name("short.txt")
    short.write_text("".join(text.read_text().splitlines(keepends=True)[:1000]))
    seconds = best(settings.repeat, lambda: classgram("cluster", short, "--classes", "10", "-o", out))
    yield Figure(AREA, "1,000 lines, 10 classes: the fixed cost of a command", seconds, "s")


def treebank(settings: Settings, text: Path, out: Path) -> Iterator[Figure]:
    """The Penn Treebank, 1000 tied classes, one thread, beside clustercat."""
    arguments = ("cluster", text, "--classes", "1000", "--threads", "1", "-o", out)
    ours = best(settings.repeat, lambda: classgram(*arguments))
    history = json.loads((out / "history.json").read_text())
    whole = [sweep for sweep in history["sweeps"] if sweep["kind"] == "full"]
    yield Figure(AREA, "Penn Treebank, 1000 classes, text to folder, one thread", ours, "s")
    yield Figure(AREA, "its criterion F", history["F"], "nats", f"{len(history['sweeps'])} sweeps")
    yield Figure(AREA, "its last whole sweep", whole[-1]["seconds"] * 1000, "ms", f"{len(whole)} whole")
    if settings.clustercat is None:
        yield Figure(AREA, "beside clustercat", None, "times", "give --clustercat PATH")
        return
    call: list[str | Path] = [settings.clustercat, "--classes", "1000", "--threads", "1"]
    theirs = best(1, lambda: command(call, stdin=text))
    yield Figure(AREA, "clustercat, 1000 classes, one thread", theirs, "s")
    yield Figure(AREA, "clustercat's time in ours", theirs / ours, "times")


def large_text(settings: Settings, out: Path) -> Iterator[Figure]:
    """The novels, 20,000 words, 1000 classes, with one and two threads."""
    path = novels(settings)
    if path is None:
        yield Figure(AREA, "novels, 1000 classes", None, "s", f"no novels in {settings.data}")
        return
    seconds = {}
    for threads in (1, 2):
        arguments = ("cluster", path, *NOVELS, "--classes", "1000", "--threads", str(threads), "-o", out)
        seconds[threads] = best(settings.repeat, lambda arguments=arguments: classgram(*arguments))  # type: ignore[misc]
        yield Figure(AREA, f"novels, 1000 classes, threads: {threads}", seconds[threads], "s")
    yield Figure(AREA, "novels, two threads beside one", seconds[1] / seconds[2], "times")
    memory = peak_memory(
        ["cluster", str(path), *NOVELS, "--classes", "1000", "--sweeps", "1", "-o", str(out)]
    )
    yield Figure(AREA, "novels, peak memory", memory, "MB")


def sweep_seconds(result: Result) -> float:
    """The time of the last sweep: the first ones compile, or move almost every word."""
    return result.sweeps[-1].seconds


def criteria(counts: NgramCounts) -> Iterator[Figure]:
    """Leaving-one-out beside maximum likelihood, a sweep."""
    seconds = {}
    for name in ("ml", "loo"):
        options = ClusterOptions(classes=1000, criterion=name)
        seconds[name] = sweep_seconds(exchange(counts, options, SearchOptions(sweeps=4), ONE))
        yield Figure(AREA, f"a sweep of 1000 classes, {name}", seconds[name] * 1000, "ms")
    yield Figure(AREA, "leaving-one-out beside maximum likelihood", seconds["loo"] / seconds["ml"], "times")


def growth(text: Path, counts: NgramCounts) -> Iterator[Figure]:
    """How the time of a sweep grows with classes and with words, as a fitted exponent."""
    for name, search in (
        ("exact", SearchOptions(sweeps=3)),
        ("heuristic", SearchOptions(sweeps=3, heuristic=True, neighbours=10)),
    ):
        times = [sweep_seconds(exchange(counts, ClusterOptions(classes=c), search, ONE)) for c in CLASSES]
        note = ", ".join(f"{c}: {t * 1000:.0f} ms" for c, t in zip(CLASSES, times, strict=True))
        yield Figure(AREA, f"{name}: exponent in the number of classes", exponent(CLASSES, times), "", note)
        sizes = (1250, 2500, 5000, 9999)
        times = []
        for size in sizes:
            part = count_ngrams(text, CountOptions(2), VocabularyOptions(vocabulary_size=size))
            times.append(sweep_seconds(exchange(part, ClusterOptions(classes=200), search, ONE)))
        yield Figure(AREA, f"{name}: exponent in the number of words", exponent(sizes, times), "")


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """The slope of a line through the logarithms."""
    slope, _ = np.polyfit([math.log(size) for size in sizes], [math.log(time) for time in times], 1)
    return float(slope)


# The library holds no kernels of the benchmarks: Numba compiles them.
jitted: Any = numba.njit(nogil=True, error_model="numpy")
add_rows = jitted(getattr(sum_eight_rows, "py_func", sum_eight_rows))


@jitted  # type: ignore[untyped-decorator]
def add_all(table: np.ndarray, rows: np.ndarray, sums: np.ndarray) -> None:
    """The sweep's inner loop alone, over rows in the given order."""
    for first in range(0, rows.size - 7, 8):
        add_rows(table, rows[first:], sums)


@jitted  # type: ignore[untyped-decorator]
def read_all(table: np.ndarray) -> int:
    """The sum of a table read from end to end: what memory gives when nothing else is done."""
    total = np.int64(0)
    for row in range(table.shape[0]):
        for column in range(table.shape[1]):
            total += np.int64(table[row, column])
    return total  # type: ignore[return-value]


def bandwidth() -> Iterator[Figure]:
    """Bytes that the inner loop reads in a second, beside what the machine can read at all."""
    random = np.random.default_rng(0)
    for rows, name in ((2000, "a table in the cache (1000 classes)"), (120_000, "a table in memory")):
        table = random.integers(0, 256, (rows, 1008)).astype(np.uint8)
        order = random.integers(0, rows, 20_000)
        wide = table.view(np.int64)
        sums = np.zeros(1008, np.uint16)
        read_all(wide), add_all(table, order, sums)
        plain = table.nbytes * 10 / best(3, lambda wide=wide: repeat(read_all, wide))  # type: ignore[misc]
        loop = order.size * 1008 * 10 / best(3, lambda: repeat(add_all, table, order, sums))  # noqa: B023
        yield Figure(AREA, f"read bandwidth, {name}", plain / 1e9, "GB/s")
        yield Figure(AREA, f"inner loop, {name}", loop / 1e9, "GB/s")
        yield Figure(AREA, f"inner loop beside reading, {name}", loop / plain, "")


def repeat(call: object, *arguments: object) -> None:
    """Call ten times, so that one call's cost does not count."""
    for _ in range(10):
        call(*arguments)  # type: ignore[operator]


if __name__ == "__main__":
    begun = time.perf_counter()
    for figure in bandwidth():
        print(figure.line())
    print(f"{time.perf_counter() - begun:.1f} s")
