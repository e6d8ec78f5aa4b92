"""The report page of 1000 classes and 20,000 words: its size, and the time to its first paint."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import Figure, Settings
from classgram.classes.partition import Partition
from classgram.counts.counting import count_ngrams
from classgram.options import CountOptions
from classgram.reporting.reporting import report
from classgram.text.reading import text_from_strings

AREA = "report"
CLASSES, WORDS, TOKENS = 1000, 20_000, 600_000

_FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def measure(settings: Settings) -> Iterator[Figure]:
    """Figures of a page of random text with the frequencies of a real one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        large_page(path)
        yield Figure(AREA, "page of 1000 classes and 20,000 words", path.stat().st_size / 1e6, "MB")
        yield from first_paint(path, settings.repeat)


def large_page(path: Path) -> None:
    """Write a page of many classes with neighbours and a tree."""
    random = np.random.default_rng(0)
    ranks = np.arange(1, WORDS + 1)
    drawn = random.choice(WORDS, TOKENS, p=(1 / ranks) / (1 / ranks).sum())
    everything = np.concatenate([drawn, np.arange(WORDS)])
    lines = [" ".join(f"word{one}" for one in part) for part in np.array_split(everything, TOKENS // 20)]
    counts = count_ngrams(text_from_strings(lines), CountOptions(2))
    words = random.integers(0, CLASSES, len(counts.vocabulary)).astype(np.int32)
    words[1:3] = CLASSES, CLASSES + 1
    unigrams = np.array(counts.levels[0].counts)
    report(
        Partition("tied", 2, counts.vocabulary, (words,), (CLASSES,), (unigrams,)),
        counts=counts,
        output=path,
    )


def first_paint(path: Path, repeat: int) -> Iterator[Figure]:
    """The time from opening the page to its first content, and to the map of classes, in Chromium."""
    try:
        from tests.helpers.browser import CHROMIUM, browser_page
    except ImportError:
        CHROMIUM = None
    if CHROMIUM is None:
        yield Figure(AREA, "first paint", None, "s", "needs Chromium and playwright")
        return
    painted, mapped = [], []
    for _ in range(repeat):
        with browser_page(path) as page:
            page.wait_for_selector(".cell bdi")
            mapped.append(page.evaluate("performance.now()"))
            page.wait_for_function(f"{_FIRST_PAINT} !== undefined")
            painted.append(page.evaluate(_FIRST_PAINT))
    yield Figure(AREA, "first paint in Chromium", min(painted) / 1000, "s")
    yield Figure(AREA, "map of classes drawn", min(mapped) / 1000, "s")
