"""Commands on class files: convert, judge, install-dropins."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from classgram.cli.app import (
    Flat,
    QuietOption,
    ShowOptions,
    announce_compilation,
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

Hyphen = Parameter(allow_leading_hyphen=True, validator=refuse_options)
"""Lets a name be -, for standard input or output."""

From = Parameter(name="--from")
To = Parameter(name="--to")


@app.command
def convert(
    source: Annotated[Path, Hyphen],
    target: Annotated[Path, Hyphen],
    *,
    source_format: Annotated[ClassFormat | None, From] = None,
    target_format: Annotated[ClassFormat | None, To] = None,
    text: tuple[str, ...] = (),
    options: Annotated[ConvertOptions, Flat] = ConvertOptions(),
    making: Annotated[TextOptions, Flat] = TextOptions(),
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: QuietOption = QuietOption(),
) -> None:
    """Write classes in another format: TSV, clustercat, mkcls, Brown paths, SRILM, aalto, word2vec, a folder.

    Parameters
    ----------
    source
        A class file of any format (.gz .bz2 .xz .zst are unpacked), a folder made by cluster, or -.
    target
        The file to write (.gz is packed), - for standard output; a name without an ending is a folder.
    source_format
        The format of the source, where the guess from its content and name is wrong.
    target_format
        The format to write, where the target's name does not say it.
    text
        The text, or its counts, that supplies what the source lacks: counts, a tree, n-grams, neighbours.
    """
    from classgram.class_files.converting import convert_classes

    if text:
        announce_compilation(show.quiet)

    def count_text(vocabulary: "Vocabulary", order: int) -> "NgramCounts":
        if source.is_dir():
            check_same_text(vocabulary, making)
        else:
            vocabulary = replace(vocabulary, text=making)
        return text_counts(text, order, (vocabulary, None, read), show.quiet)

    form = convert_classes(
        source,
        target,
        options,
        (source_format, target_format),
        count_text if text else None,
        lambda line: message(line, show.quiet),
    )
    if str(target) != "-":
        message(f"{target}: {form}", show.quiet)


def check_same_text(vocabulary: "Vocabulary", asked: TextOptions) -> None:
    """Refuse options that contradict how the text of the classes was made into words."""
    from classgram.evaluation.perplexity import check_text_options

    check_text_options(vocabulary, asked)


Reading = tuple["Vocabulary | VocabularyOptions | None", TextOptions | None, ReadOptions]


def text_counts(texts: tuple[str, ...], order: int, reading: Reading, quiet: bool) -> "NgramCounts":
    """The counts of a text, or of a folder of counts that was named instead."""
    from classgram.counts.counting import count_ngrams
    from classgram.counts.ngram_counts import NgramCounts
    from classgram.files.folders import folder_kind

    if len(texts) == 1 and folder_kind(Path(texts[0])) == "counts":
        return NgramCounts.load(texts[0]).up_to(order)
    vocabulary, text, read = reading
    return count_ngrams(texts, CountOptions(order), vocabulary, text, read, quiet)


@app.command
def judge(
    *files: Path,
    text: tuple[str, ...],
    test: tuple[str, ...] = (),
    source_format: Annotated[ClassFormat | None, From] = None,
    vocabulary: Annotated[VocabularyOptions, Flat] = VocabularyOptions(),
    making: Annotated[TextOptions, Flat] = TextOptions(),
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: ShowOptions = ShowOptions(),
) -> None:
    """Compare classes of any origin on one text: F by both criteria, perplexity of held-out text.

    Parameters
    ----------
    files
        Class files of any format, and folders made by cluster.
    text
        The text, or its counts, on which F is computed and the class bigram model is trained.
    test
        Held-out text whose perplexity under the class bigram model is computed.
    source_format
        The format of the files, where the guess from content and name is wrong.
    """
    from classgram.class_files.comparison import MISSING_RULE, classes_order, judge_classes
    from classgram.text.reading import read_text

    if not files:
        raise InputError("name the class files to judge")
    announce_compilation(show.quiet)
    counts = text_counts(text, classes_order(files), (vocabulary, making, read), show.quiet)
    known = counts.vocabulary
    held_out = known.encode(read_text(*test, text=known.text, read=read), read) if test else None
    if held_out is not None and held_out.tokens == 0:
        raise InputError(f"{', '.join(test)}: the text is empty: it holds no words")
    judged = [judge_classes(path, counts, held_out, source_format) for path in files]
    if show.json:
        print_json({"missing_words": MISSING_RULE, "files": [row.as_dict() for row in judged]})
        return
    print_judgements(judged)
    message(f"{MISSING_RULE}; <s> and </s> have classes of their own, which are not counted", show.quiet)
    for row in judged:
        if row.single:
            message(f"{row.name}: {row.single} classes occur once and add nothing to F loo", show.quiet)


def print_judgements(judged: list["Judgement"]) -> None:
    """One table of all files."""
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
        An existing folder; nothing is replaced until you put it in front of your PATH.
    """
    from classgram.cli.dropins.install import install_dropins as install

    for path in install(folder):
        message(f"{path}: stands for {path.name}", show.quiet)
