"""Commands on text and counts: count, info, demo."""

from pathlib import Path
from typing import Annotated, Any

from classgram.cli.app import (
    Flat,
    Output,
    QuietOption,
    ShowOptions,
    TextPaths,
    announce_compilation,
    app,
    message,
    print_json,
    print_table,
    spare_matrix_threads,
)
from classgram.options import CountOptions, ReadOptions, TextOptions, VocabularyOptions


@app.command
def count(
    *texts: TextPaths,
    output: Annotated[Path, Output],
    counting: Annotated[CountOptions, Flat] = CountOptions(),
    vocabulary: Annotated[VocabularyOptions, Flat] = VocabularyOptions(),
    text: Annotated[TextOptions, Flat] = TextOptions(),
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: QuietOption = QuietOption(),
) -> None:
    """Count the n-grams of a text and save them as a folder.

    Parameters
    ----------
    output
        The folder to write; it appears when it is whole.
    """
    spare_matrix_threads()
    from classgram.counts.counting import count_ngrams
    from classgram.files.atomic import lock

    announce_compilation(show.quiet)
    with lock(output):
        counts = count_ngrams(texts, counting, vocabulary, text, read, show.quiet)
        counts.save(output)
    message(
        f"{output}: {counts.tokens:,} words and sentence ends, {len(counts.vocabulary):,} different words, "
        f"{sum(level.words.size for level in counts.levels):,} n-grams up to order {counts.order}",
        show.quiet,
    )


@app.command
def info(path: Path, /, *, verify: bool = False, show: ShowOptions = ShowOptions()) -> None:
    """Say what a folder written by classgram holds.

    Parameters
    ----------
    path
        The folder.
    verify
        Compare the checksum of every file, too.
    """
    from classgram.files.folders import read_folder

    folder = read_folder(path)
    if verify:
        folder.verify()
    facts = {key: value for key, value in folder.config.items() if key not in ("arrays", "texts")}
    facts["verified"] = verify
    facts["bytes"] = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    if show.json:
        print_json(facts)
    else:
        print_table(["", ""], [(key, plain(value)) for key, value in facts.items()], str(path))


def plain(value: Any) -> str:
    """A value of config.json on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {plain(item)}" for key, item in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


@app.command
def demo(*, show: ShowOptions = ShowOptions()) -> None:
    """Run classgram on the documentation that comes with Python: nothing has to be downloaded."""
    from classgram.demo import STEPS, run_demo
    from classgram.runtime.progress import progress

    announce_compilation(show.quiet)
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
