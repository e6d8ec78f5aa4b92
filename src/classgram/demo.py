"""The demo: the main job on the demo text, with its result as a table."""

from typing import Any

from classgram.demo_text import demo_text
from classgram.ngrams import count_ngrams
from classgram.options import CountOptions, TextOptions
from classgram.progress import human


def run_demo(quiet: bool = False) -> dict[str, Any]:
    """Count the demo text and return what was found."""
    counts = count_ngrams(demo_text(), CountOptions(3), text=TextOptions(True, "strip"), quiet=quiet)
    return {
        "tokens": counts.tokens,
        "types": len(counts.vocabulary),
        "ngrams": [int(level.words.size) for level in counts.levels],
        "shown": human(counts.tokens),
    }
