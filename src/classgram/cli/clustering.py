"""Commands on classes: cluster, classes, tag."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from classgram.errors import InputError
from classgram.options import (
    ClusterOptions,
    CountOptions,
    ReadOptions,
    RunOptions,
    SearchOptions,
    TextOptions,
    VocabularyOptions,
)

if TYPE_CHECKING:
    from classgram.classes.partition import Partition
    from classgram.clustering.result import Result
    from classgram.counts.ngram_counts import NgramCounts

LARGEST = 12
"""Classes that are shown at the end."""


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
    """Find word classes in a text, or in the counts of one.

    Parameters
    ----------
    output
        The folder to write, or a file ending in .tsv, .paths, .classes or .cls; without it, TSV to stdout.
    memory
        Memory for the sorting of n-grams; beyond it temporary files are used.
    """
    spare_matrix_threads()
    from classgram.class_files.reading import read_start
    from classgram.clustering.compiling import compile_ahead
    from classgram.clustering.exchange import exchange
    from classgram.runtime.progress import progress
    from classgram.runtime.threads import available_threads

    announce_compilation(show.quiet)
    compile_ahead()
    with held_output(output):
        start = read_start(search.start)
        made = (VocabularyOptions() != vocabulary) or (TextOptions() != text)
        if len(texts) == 1 and is_counts(texts[0]):
            if made:
                raise InputError(f"{texts[0]}: holds counts, whose vocabulary and text options are fixed")
            counts = load_counts(texts[0])
        else:
            counting = CountOptions(order=max(clustering.order, 2), memory=memory)
            threads = available_threads() if running.threads is None else running.threads
            counts = count_texts(texts, counting, (vocabulary, text, read), show.quiet, threads)
        checkpoint = None if output is None else output.with_name(output.name + ".checkpoint")
        with progress("clustering", None, "words", show.quiet) as report:
            result = exchange(counts, clustering, search, running, checkpoint, report, start)
        save_result(result, counts, output, checkpoint, show)
    show_result(result, output, show)


@contextmanager
def held_output(output: Path | None) -> Iterator[None]:
    """Hold the output for this run, noticing at once where it could not be written."""
    from classgram.class_files.writing import check_class_file, is_class_file
    from classgram.files.atomic import lock

    if output is None:
        yield
    elif is_class_file(output):
        check_class_file(output)
        # A file is locked by the name of its checkpoint, because locks are made for folders.
        with lock(output.with_name(output.name + ".checkpoint")):
            yield
    else:
        with lock(output):
            yield


def is_counts(path: str) -> bool:
    """Say whether an input is a folder of counts."""
    from classgram.files.folders import folder_kind

    return Path(path).is_dir() and folder_kind(Path(path)) == "counts"


def load_counts(path: str) -> "NgramCounts":
    """Read counts that were made before."""
    from classgram.counts.ngram_counts import NgramCounts

    return NgramCounts.load(path)


def count_texts(
    texts: tuple[str, ...],
    counting: CountOptions,
    made: tuple[VocabularyOptions, TextOptions, ReadOptions],
    quiet: bool,
    threads: int,
) -> "NgramCounts":
    """Count a text as the options say."""
    from classgram.counts.counting import count_ngrams

    vocabulary, text, read = made
    return count_ngrams(texts or ("-",), counting, vocabulary, text, read, quiet, threads=threads)


def save_result(
    result: "Result", counts: "NgramCounts", output: Path | None, checkpoint: Path | None, show: ShowOptions
) -> None:
    """Write what was found to where it was asked for."""
    import shutil

    from classgram.class_files.writing import is_class_file, write_class_file
    from classgram.clustering.tree import build_tree

    if output is None:
        if not show.json:
            sys.stdout.write(result.partition.classes_tsv().decode())
    elif is_class_file(output):
        write_class_file(result.partition, output, lambda: build_tree(counts, result.partition).paths)
    else:
        result.save(output)
    if checkpoint is not None and result.ended in ("converged", "heuristic", "sweeps", "annealing"):
        shutil.rmtree(checkpoint, ignore_errors=True)


def show_result(result: "Result", output: Path | None, show: ShowOptions) -> None:
    """Say how the search went, and show the largest classes."""
    for note in result.notes:
        message(note, show.quiet)
    if show.json:
        print_json(result.history())
        return
    if show.quiet:
        return
    how = "converged" if result.converged else f"stopped ({result.ended}): the best so far"
    for number, value in result.curve:
        message(f"{number:,} classes: leaving-one-out F {value:,.1f}")
    message(f"{how} after {len(result.sweeps)} sweeps, F = {result.F:,.1f}")
    if output is not None:
        rows = largest_classes(result.partition)
        print_table(["class", "words", "count", "most frequent"], rows, str(output))


def largest_classes(partition: "Partition", most: int = LARGEST) -> list[list[Any]]:
    """Give a row for each of the largest classes by count."""
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
def classes(path: Path, /, *words: str, show: ShowOptions = ShowOptions()) -> None:
    """Show the classes of words, or the largest classes.

    Parameters
    ----------
    path
        A folder made by cluster.
    words
        Words whose classes are shown, with the other words in them.
    """
    from classgram.classes.partition import Partition

    partition = Partition.load(path)
    if not words:
        rows = largest_classes(partition, partition.class_count if show.json else LARGEST)
        if show.json:
            print_json([{"class": int(row[0]), "members": row_members(partition, row)} for row in rows])
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
    for entry in found:
        known = "" if entry["known"] else " (unknown: the class of <unk>)"
        shown = " ".join(entry["members"][:20])
        print(f"{entry['word']}\t{entry['class']}{known}\t{shown}")


def row_members(partition: "Partition", row: list[Any]) -> list[str]:
    """Give the words of a shown class."""
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
        A folder made by cluster.
    """
    from classgram.classes.partition import Partition
    from classgram.classes.tagging import tag_lines, text_lines
    from classgram.text.reading import read_text

    partition = Partition.load(path)
    announce_compilation(show.quiet)
    lines = text_lines(read_text(*(texts or ("-",)), read=read))
    for line in tag_lines(partition, lines, read):
        print(line)
