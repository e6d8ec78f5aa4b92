"""The commands report and similar."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from classgram.cli.app import (
    Flat,
    Output,
    QuietOption,
    ShowOptions,
    app,
    message,
    print_json,
    print_table,
)
from classgram.options import ReadOptions, TextOptions

_Paths = Annotated[tuple[str, ...], Parameter(consume_multiple=True)]


@app.command
def report(
    *sources: Path,
    output: Annotated[Path, Output],
    text: _Paths = (),
    counts: _Paths = (),
    open_browser: Annotated[bool, Parameter(name="--open")] = False,
    making: Annotated[TextOptions, Flat] = TextOptions(),
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: QuietOption = QuietOption(),
) -> None:
    """Write one HTML page that shows classes, how they were found, models, and the paper's experiments.

    Parameters
    ----------
    sources
        Models, folders of classes, class files, and folders that classgram reproduce wrote.
    output
        The page to write; it needs no network and no server.
    text
        A text on which the models are compared, word by word and line by line.
    counts
        The text of the classes, or its counts, for their neighbours and their tree (default: --text).
    open_browser
        Open the page in the browser.
    """
    from classgram.pipelines.keywords import as_keywords
    from classgram.reporting.reporting import open_page
    from classgram.reporting.reporting import report as make_report

    options = as_keywords(making, read)
    page = make_report(*sources, output=output, text=text, counts=counts, progress=not show.quiet, **options)
    message(f"{output}: {len(page.html.encode()) / 1e6:.1f} MB", show.quiet)
    if open_browser:
        open_page(output)


@app.command
def similar(
    path: Path,
    word: str,
    /,
    *,
    counts: _Paths = (),
    most: int = 20,
    show: ShowOptions = ShowOptions(),
) -> None:
    """Show the words most like a word: those of its class, then those of the nearest classes.

    Parameters
    ----------
    path
        A class model, a folder that classgram cluster wrote, or a class file.
    word
        The word.
    counts
        The text of the classes, or its counts, to find the nearest classes (a model needs none).
    most
        The number of words.
    """
    from classgram.reporting.similar import similar_words

    found = similar_words(path, word, counts, most)
    if show.json:
        print_json([one._asdict() for one in found])
        return
    rows = [[one.word, one.number, f"{one.occurrences:,}", f"{100 * one.alike:.0f} %"] for one in found]
    print_table(["word", "class", "count", "alike"], rows, f"words like {word}")
