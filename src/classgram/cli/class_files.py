"""The commands convert, judge and install-dropins."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from classgram.cli.app import (
    Flat,
    QuietOption,
    ShowOptions,
    app,
    message,
    print_json,
    print_table,
    refuse_options,
)
from classgram.errors import InputError
from classgram.options import (
    ClassFormat,
    ConvertOptions,
    CountOptions,
    ReadOptions,
    TextOptions,
    VocabularyOptions,
)

if TYPE_CHECKING:
    from classgram.class_files.comparison import Judgement
    from classgram.counts.ngram_counts import NgramCounts
    from classgram.text.vocabulary import Vocabulary

_Hyphen = Parameter(allow_leading_hyphen=True, validator=refuse_options)
"""Allows - for standard input or output."""

_From = Parameter(name="--from")
_To = Parameter(name="--to")


@app.command
def convert(
    source: Annotated[Path, _Hyphen],
    target: Annotated[Path, _Hyphen],
    *,
    source_format: Annotated[ClassFormat | None, _From] = None,
    target_format: Annotated[ClassFormat | None, _To] = None,
    text: tuple[str, ...] = (),
    options: Annotated[ConvertOptions, Flat] = ConvertOptions(),
    making: Annotated[TextOptions, Flat] = TextOptions(),
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: QuietOption = QuietOption(),
) -> None:
    """Convert classes to another format: TSV, clustercat, mkcls, Brown paths, SRILM, aalto, word2vec, folder.

    Parameters
    ----------
    source
        A class file of any format (.gz .bz2 .xz .zst are decompressed), a folder of classes, or -.
    target
        The file to write (.gz: compressed), - for standard output; a name without an ending is a folder.
    source_format
        The format of the source, if the guess from its content and name is wrong.
    target_format
        The format to write, if the ending of the target does not name it.
    text
        A text, or its counts, for what the source does not contain: counts, a tree, n-grams, vectors.
    """
    from classgram.class_files.converting import convert_classes
    from classgram.evaluation.perplexity import check_text_options
    from classgram.pipelines.counting import Reading, load_or_count

    def count_text(vocabulary: "Vocabulary", order: int) -> "NgramCounts":
        if source.is_dir():
            check_text_options(vocabulary, making)
        else:
            vocabulary = replace(vocabulary, text=making)
        reading = Reading(vocabulary, read=read)
        return load_or_count(text, CountOptions(order), reading, not show.quiet).up_to(order)

    written = convert_classes(
        source,
        target,
        options,
        (source_format, target_format),
        count_text if text else None,
        lambda line: message(line, show.quiet),
    )
    if str(target) != "-":
        message(f"{target}: {written}", show.quiet)


@app.command
def judge(
    *files: Path,
    text: tuple[str, ...],
    test: tuple[str, ...] = (),
    source_format: Annotated[ClassFormat | None, _From] = None,
    vocabulary: Annotated[VocabularyOptions, Flat] = VocabularyOptions(),
    making: Annotated[TextOptions, Flat] = TextOptions(),
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: ShowOptions = ShowOptions(),
) -> None:
    """Compare classes from any program on one text: F by both criteria, and held-out perplexity.

    Parameters
    ----------
    files
        Class files of any format, and folders that classgram cluster wrote.
    text
        The text, or its counts, for F and for training a class bigram model.
    test
        Held-out text for the perplexity of the class bigram model.
    source_format
        The format of the files, if the guess from content and name is wrong.
    """
    from classgram.class_files.comparison import MISSING_RULE, classes_order, judge_classes
    from classgram.pipelines.counting import Reading, load_or_count
    from classgram.text.reading import read_text

    if not files:
        raise InputError("name the class files to judge")
    order = classes_order(files)
    reading = Reading(vocabulary, making, read)
    counts = load_or_count(text, CountOptions(order), reading, not show.quiet).up_to(order)
    known = counts.vocabulary
    held_out = known.encode(read_text(*test, text=known.text, read=read), read) if test else None
    if held_out is not None and held_out.tokens == 0:
        raise InputError(f"{', '.join(test)}: the text is empty: it contains no words")
    judged = [judge_classes(path, counts, held_out, source_format) for path in files]
    if show.json:
        print_json({"missing_words": MISSING_RULE, "files": [row.as_dict() for row in judged]})
        return
    _print_judgements(judged)
    message(f"{MISSING_RULE}; <s> and </s> have classes of their own, which are not counted", show.quiet)
    for row in judged:
        if row.single:
            message(f"{row.name}: {row.single} classes occur once and add nothing to F loo", show.quiet)


def _print_judgements(judged: list["Judgement"]) -> None:
    """Print one table of all files."""
    headings = ["classes of", "format", "classes", "words", "missing", "F ml", "F loo"]
    rows = [
        [
            row.name,
            row.format,
            f"{row.classes:,}",
            f"{row.words:,}",
            f"{row.missing_words:,}",
            f"{row.ml:,.0f}",
            f"{row.loo:,.0f}",
        ]
        for row in judged
    ]
    if all(row.held_out is not None for row in judged):
        headings += ["incl. unknown", "excl. unknown"]
        for cells, row in zip(rows, judged, strict=True):
            assert row.held_out is not None
            cells.append(f"{row.held_out.perplexity_including_unknown:.2f}")
            cells.append(f"{row.held_out.perplexity_excluding_unknown:.2f}")
    print_table(headings, rows)


@app.command
def install_dropins(folder: Path, *, show: QuietOption = QuietOption()) -> None:
    """Link classgram-mkcls and classgram-clustercat into a folder as mkcls and clustercat.

    Parameters
    ----------
    folder
        An existing folder; put it first in your PATH to use the drop-ins.
    """
    from classgram.cli.dropins.install import install_dropins as install

    for path in install(folder):
        message(f"{path}: replaces {path.name}", show.quiet)
