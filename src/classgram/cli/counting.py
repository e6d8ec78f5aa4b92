"""The commands count, info and demo."""

import platform
from pathlib import Path
from typing import Annotated, Any

from classgram._version import __version__
from classgram.cli.app import (
    Flat,
    Output,
    QuietOption,
    ShowOptions,
    TextPaths,
    app,
    message,
    print_json,
    print_table,
    spare_matrix_threads,
)
from classgram.errors import InputError
from classgram.options import CountOptions, ReadOptions, TextOptions, VocabularyOptions


@app.command
def count(
    *texts: TextPaths,
    output: Annotated[Path, Output],
    counting: Annotated[CountOptions, Flat] = CountOptions(),
    vocabulary: Annotated[VocabularyOptions, Flat] = VocabularyOptions(),
    text: Annotated[TextOptions, Flat] = TextOptions(),
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    threads: int | None = None,
    show: QuietOption = QuietOption(),
) -> None:
    """Count the n-grams of a text and save them as a folder.

    Parameters
    ----------
    output
        The folder to write; it appears when it is complete.
    threads
        Threads to use; by default all cores that the process may use.
    """
    spare_matrix_threads()
    from classgram.pipelines.counting import count as count_text
    from classgram.pipelines.keywords import as_keywords

    options = as_keywords(counting, vocabulary, text, read)
    counts = count_text(*texts, output=output, threads=threads, progress=not show.quiet, **options)
    message(
        f"{output}: {counts.tokens:,} words and sentence ends, {len(counts.vocabulary):,} different words, "
        f"{sum(level.words.size for level in counts.levels):,} n-grams up to order {counts.order}",
        show.quiet,
    )


@app.command(version_flags=[])
def info(
    path: Path | None = None,
    /,
    *,
    verify: bool = False,
    version: bool = False,
    show: ShowOptions = ShowOptions(),
) -> None:
    """Show what a folder written by classgram contains, or how classgram is installed.

    Parameters
    ----------
    path
        The folder.
    verify
        Also compare the checksum of every file.
    version
        Show the versions in use and where kernels come from, instead of a folder.
    """
    if (path is None) != version:
        raise InputError("info takes either a folder or --version; see classgram --help")
    facts = _installation() if path is None else _contents(path, verify)
    if show.json:
        print_json(facts)
    else:
        title = "classgram" if path is None else str(path)
        print_table(["", ""], [(key, _plain(value)) for key, value in facts.items()], title)


def _installation() -> dict[str, Any]:
    """Return the versions in use, and where kernels come from."""
    import numpy as np

    from classgram.runtime.compiled import MODE
    from classgram.runtime.threads import available_threads

    return {
        "version": __version__,
        "kernels": str(MODE),
        "threads": available_threads(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _contents(path: Path, verify: bool) -> dict[str, Any]:
    """Return what the configuration of a folder says, and its size."""
    from classgram.files.folders import read_folder

    folder = read_folder(path)
    if verify:
        folder.verify()
    facts = {key: value for key, value in folder.config.items() if key not in ("arrays", "texts")}
    facts["verified"] = verify
    facts["bytes"] = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return facts


def _plain(value: Any) -> str:
    """Return a value of config.json on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(item)}" for key, item in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


@app.command
def demo(*, show: ShowOptions = ShowOptions()) -> None:
    """Run classgram on the documentation that comes with Python; nothing is downloaded."""
    from classgram.demo import STEPS, run_demo
    from classgram.runtime.progress import progress

    with progress("demo", STEPS, "steps", show.quiet) as report:
        result = run_demo(report)
    if show.json:
        print_json(result)
        return
    print_table(
        ["model", "incl. unknown", "excl. unknown", "bits/word", "training"],
        [
            (
                row["model"],
                f"{row['perplexity_including_unknown']:.1f}",
                f"{row['perplexity_excluding_unknown']:.1f}",
                f"{row['bits_per_word']:.2f}",
                f"{row['seconds']:.2f} s",
            )
            for row in result["models"]
        ],
        f"perplexity of held-out sentences, after {result['tokens']:,} words of Python's documentation",
    )
    print("\nsome of the classes:")
    for words in result["classes"]:
        print("  " + " ".join(words))
