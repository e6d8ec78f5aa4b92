"""``classgram.report``: from classes, models and results to the page."""

import html
import webbrowser
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from classgram._version import __version__
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.files.atomic import atomic_file
from classgram.options import ReadOptions, TextOptions
from classgram.pipelines.keywords import from_keywords
from classgram.reporting.classes_data import classes_data
from classgram.reporting.documents_data import documents_data
from classgram.reporting.history_data import history_data
from classgram.reporting.models_data import models_data
from classgram.reporting.neighbours import neighbours_of
from classgram.reporting.page import render_page
from classgram.reporting.paper_data import paper_data
from classgram.reporting.sources import Source, Sources, open_sources
from classgram.reporting.text_data import text_data
from classgram.runtime.progress import Report as Progress
from classgram.runtime.progress import progress as progress_bar
from classgram.text.reading import read_text
from classgram.text.records import read_records

_ALL_PATHS = str | Path | tuple[str | Path, ...] | None


@dataclass(frozen=True)
class ReportPage:
    """A page as HTML, and the data that it shows."""

    html: str = field(repr=False)
    data: dict[str, Any] = field(repr=False)

    def save(self, path: str | Path) -> None:
        """Write the page as a file, whole or not at all."""
        with atomic_file(Path(path)) as file:
            file.write(self.html.encode())

    def _repr_html_(self) -> str:
        """Return the page in a frame, as notebooks show it."""
        return f'<iframe srcdoc="{html.escape(self.html)}" width="100%" height="700" title="report"></iframe>'


def report(
    *sources: Source,
    output: str | Path | None = None,
    text: _ALL_PATHS = None,
    counts: _ALL_PATHS | NgramCounts = None,
    progress: bool = False,
    **options: Any,
) -> ReportPage:
    """Make a page of classes, models and results of ``reproduce``, and save it if ``output`` is given.

    A source is the name of a folder or file, a ``Partition``, a ``Result`` or a ``LanguageModel``. On
    ``text`` models are compared. ``counts``, by default ``text``, is the text or its counts in which
    the neighbours of classes are counted; for the classes of a model, the model says what it expects.
    Options are the fields of ``TextOptions`` and ``ReadOptions``.
    """
    making, read = from_keywords("report", options, TextOptions, ReadOptions)
    found = open_sources(sources, making)
    texts = _as_paths(text)
    if texts and not (found.models or found.classes):
        raise InputError("a text is shown with models or classes; name some")
    if "-" in texts:
        raise InputError("a report reads its text several times; name a file instead of -")
    counted = counts if isinstance(counts, NgramCounts) else _as_paths(counts) or texts
    with progress_bar("report", None, "parts", not progress) as show:
        data = _page_data(found, texts, counted, read, show)
    page = ReportPage(render_page(data["title"], data), data)
    if output is not None:
        page.save(output)
    return page


def open_page(path: Path) -> None:
    """Open a page in the browser."""
    webbrowser.open(path.resolve().as_uri())


def _as_paths(names: _ALL_PATHS) -> tuple[str, ...]:
    """Return the names of files as a tuple."""
    if names is None:
        return ()
    return (str(names),) if isinstance(names, str | Path) else tuple(map(str, names))


def _page_data(
    found: Sources,
    texts: tuple[str, ...],
    counted: tuple[str, ...] | NgramCounts,
    read: ReadOptions,
    show: Progress,
) -> dict[str, Any]:
    """Return all that the page shows."""
    names = [*(one.name for one in found.classes), *(name for name, _ in found.models)]
    names = list(dict.fromkeys([*names, *(path.name for path in found.experiments)]))
    data: dict[str, Any] = {"title": f"classgram: {', '.join(names)}", "version": __version__}
    show(0, "models")
    text = read_text(*texts, read=read) if texts else None
    data["models"] = models_data(found.models, text, read)
    data["text"] = data["documents"] = None
    if texts:
        data["source"] = ", ".join(texts)
    if texts and found.models:
        records = list(read_records(texts, read))
        lines = [line for record in records for line in record.text.split("\n")]
        show(1, "text")
        data["text"] = text_data(found.models, lines)
        show(2, "documents")
        data["documents"] = documents_data(found.models, records)
    show(3, "classes")
    data["classes"] = [
        classes_data(one.name, one.partition, neighbours_of(one.partition, one.model, counted, read))
        for one in found.classes
    ]
    data["histories"] = [history_data(*one) for one in found.histories]
    data["paper"] = [paper_data(folder) for folder in found.experiments]
    return data
