"""Progress of long work: a bar on standard error, or nothing where nobody would see it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[..., None]
"""``report(done, note="")``: how much is done in all, and a few words beside the bar."""


def silent(done: float, note: str = "") -> None:
    """Show nothing."""


@contextmanager
def progress(
    description: str, total: float | None = None, unit: str = "words", quiet: bool = False
) -> Iterator[Report]:
    """Show a bar with the rate and the remaining time while the block runs.

    It is drawn on standard error, and only if that is a terminal and ``quiet`` is false.
    """
    if quiet or not sys.stderr.isatty():
        yield silent
        return
    # Imported here: rich takes time to import, and most runs draw nothing.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total, rate="", note="")

        def report(done: float, note: str = "") -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = f"{human(done / elapsed)} {unit}/s" if elapsed > 0 else ""
            bar.update(task, completed=done, rate=rate, note=note)

        yield report


def human(number: float) -> str:
    """Return a number in three digits with a thousands suffix.

    >>> human(1234567)
    '1.23M'
    """
    for suffix in ("", "k", "M", "G"):
        if abs(number) < 999.5:
            return f"{number:.3g}{suffix}"
        number /= 1000
    return f"{number:.3g}T"
