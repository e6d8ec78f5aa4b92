"""The commands cluster, classes and tag."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from classgram.cli import app as cli
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
from classgram.options import (
    ClusterOptions,
    ReadOptions,
    RunOptions,
    SearchOptions,
    TextOptions,
    VocabularyOptions,
)

if TYPE_CHECKING:
    from classgram.classes.partition import Partition
    from classgram.clustering.result import Result

_LARGEST = 12
"""The number of classes that are shown at the end."""


@app.command
def cluster(
    *texts: TextPaths,
    output: Annotated[Path | None, Output] = None,
    clustering: Annotated[ClusterOptions, Flat] = ClusterOptions(),
    search: Annotated[SearchOptions, Flat] = SearchOptions(),
    running: Annotated[RunOptions, Flat] = RunOptions(),
    vocabulary: Annotated[VocabularyOptions, Flat] = VocabularyOptions(),
    text: Annotated[TextOptions, Flat] = TextOptions(),
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    memory: str = "2G",
    show: ShowOptions = ShowOptions(),
) -> None:
    """Learn word classes from a text, or from counts that classgram count wrote.

    Parameters
    ----------
    output
        A folder, or a class file ending in .tsv, .paths, .classes or .cls (default: TSV to stdout).
    memory
        Memory for counting n-grams; temporary files are used beyond it.
    """
    spare_matrix_threads()
    from classgram.pipelines.clustering import cluster as cluster_text
    from classgram.pipelines.keywords import as_keywords

    options = as_keywords(clustering, search, running, vocabulary, text, read)
    found = cluster_text(*(texts or ("-",)), output=output, memory=memory, progress=not show.quiet, **options)
    if output is None and not show.json:
        sys.stdout.write(found.partition.classes_tsv().decode())
    _show_result(found, output, show)


def _show_result(result: "Result", output: Path | None, show: ShowOptions) -> None:
    """Print how the search went, and the largest classes."""
    for note in result.notes:
        message(note, show.quiet)
    if show.json:
        print_json(result.history())
        return
    if show.quiet:
        return
    how = "converged" if result.converged else f"stopped ({result.ended}), best classes so far,"
    for number, value in result.curve:
        message(f"{number:,} classes: leaving-one-out F {value:,.1f}")
    message(f"{how} after {len(result.sweeps)} sweeps, F = {result.F:,.1f}")
    if output is not None:
        rows = _largest_classes(result.partition)
        print_table(["class", "words", "count", "most frequent"], rows, str(output))


def _largest_classes(partition: "Partition", most: int = _LARGEST) -> list[list[Any]]:
    """Return a row for each of the largest classes by count."""
    import numpy as np

    totals = np.bincount(partition.words, partition.counts[-1], partition.class_count)
    chosen = np.argsort(-totals, kind="stable")[:most]
    rows = []
    for number in chosen.tolist():
        members = partition.members(number)
        if members:
            words = " ".join(word for word, _ in members[:8])
            rows.append([str(number), f"{len(members):,}", f"{int(totals[number]):,}", words])
    return rows


@app.command
def classes(
    path: Path,
    /,
    *words: str,
    counts: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    show: ShowOptions = ShowOptions(),
) -> None:
    """Show the classes of words, or the largest classes.

    Parameters
    ----------
    path
        A folder that classgram cluster wrote, a class model, or a class file.
    words
        Words whose classes are shown with their members.
    counts
        The text of the classes, or its counts: a terminal then shows neighbours (a model needs none).
    """
    from classgram.reporting.sources import open_classes

    named = open_classes(path)
    partition = named.partition
    if not words:
        rows = _largest_classes(partition, partition.class_count if show.json else _LARGEST)
        if show.json:
            print_json([{"class": int(row[0]), "members": _row_members(partition, row)} for row in rows])
        else:
            print_table(["class", "words", "count", "most frequent"], rows, str(path))
        return
    found: list[dict[str, Any]] = []
    for word in words:
        number = partition.class_of(word)
        members = [member for member, _ in partition.members(number)]
        found.append(
            {"word": word, "known": word in partition.vocabulary, "class": number, "members": members}
        )
    if show.json:
        print_json(found)
        return
    if cli.is_terminal():
        from classgram.reporting.terminal import class_facts

        for entry, facts in zip(found, class_facts(named, words, counts), strict=True):
            unknown = "" if entry["known"] else ", which is unknown: the class of <unk>"
            print_table(["class", str(entry["class"])], facts, f"{entry['word']}{unknown}")
        return
    for entry in found:
        known = "" if entry["known"] else " (unknown: the class of <unk>)"
        shown = " ".join(entry["members"][:20])
        print(f"{entry['word']}\t{entry['class']}{known}\t{shown}")


def _row_members(partition: "Partition", row: list[Any]) -> list[str]:
    """Return the words of a class that is shown."""
    return [word for word, _ in partition.members(int(row[0]))]


@app.command
def tag(
    path: Path,
    /,
    *texts: TextPaths,
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: QuietOption = QuietOption(),
) -> None:
    """Replace the words of a text by their classes, line by line, to standard output.

    Parameters
    ----------
    path
        A folder that classgram cluster wrote.
    """
    from classgram.classes.partition import Partition
    from classgram.classes.tagging import tag_lines, text_lines
    from classgram.text.reading import read_text

    partition = Partition.load(path)
    lines = text_lines(read_text(*(texts or ("-",)), read=read))
    for line in tag_lines(partition, lines, read):
        print(line)
