"""The command ``reproduce``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from classgram.cli.app import (
    Flat,
    Output,
    ShowOptions,
    app,
    message,
    print_json,
    print_table,
)
from classgram.errors import InputError
from classgram.options import ReadOptions

if TYPE_CHECKING:
    from classgram.reproduction.run import Outcomes
    from classgram.reproduction.tables import Table


@app.command
def reproduce(
    *,
    output: Annotated[Path, Output],
    train: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    test: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    test_share: float = 0.05,
    only: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    scale: Literal["small", "full"] = "small",
    seed: int = 0,
    workers: int = 2,
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: ShowOptions = ShowOptions(),
) -> None:
    """Run the experiments of the paper on a text, and compare the results with the paper's figures.

    If it is interrupted or killed, the same command continues where it stopped.

    Parameters
    ----------
    output
        The folder of results: report.md, tables, figures, and a file for each finished cell.
    train
        The training text (default: the documentation that comes with Python).
    test
        The test text (default: held-out sentences of the training text).
    test_share
        The share of sentences held out if there is no test text.
    only
        Experiments to run: table-1 to table-9, section-2, section-3, beyond (default: all).
    scale
        small: minutes, on at most 350,000 words; full: the paper's sizes, an hour or more.
    seed
        The seed of the samples and of all other random choices.
    workers
        Processes that run cells in parallel, with one thread each.
    """
    from classgram.files.atomic import lock
    from classgram.reproduction.plan import SCALES
    from classgram.reproduction.report import filled, write_report
    from classgram.reproduction.run import reproduce as run
    from classgram.reproduction.samples import Texts
    from classgram.runtime.progress import progress
    from classgram.text.demo_text import demo_text

    _check(train, test, test_share, seed)
    wanted = SCALES[scale]
    texts = Texts(
        train or (str(demo_text()),), test, test_share, seed, most_words=wanted.most_words, read=read
    )
    with lock(output), progress("reproducing", None, "cells", show.quiet) as report:

        def report_cells(done: int, of: int, what: str) -> None:
            if done == 0:
                message(f"{of} cells to run" if of else "every cell was run before", show.quiet)
            report(done, f"of {of}: {what}")

        outcomes = run(texts, wanted, output, only, workers, report_cells)
        tables = filled(outcomes)
        write_report(outcomes, tables, lambda line: message(line, show.quiet))
    _show_report(outcomes, tables, show)
    if outcomes.stopped is not None:
        raise outcomes.stopped


def _check(train: tuple[str, ...], test: tuple[str, ...], test_share: float, seed: int) -> None:
    """Raise InputError for a test text without a training text, and for numbers out of range."""
    if test and not train:
        raise InputError("--test needs --train; name a training text, or leave both out")
    if not 0 < test_share < 1:
        raise InputError(f"--test-share {test_share}: must be between 0 and 1, such as 0.05")
    if seed < 0:
        raise InputError(f"--seed must be 0 or more, not {seed}")


def _show_report(outcomes: "Outcomes", tables: "dict[str, list[Table]]", show: ShowOptions) -> None:
    """Print what was run, what failed, and where the results are."""
    from classgram.reproduction.report import as_record
    from classgram.reproduction.run import NOT_RUN
    from classgram.reproduction.tables import Gap

    if show.json:
        every = {name: [as_record(part) for part in parts] for name, parts in tables.items()}
        print_json(
            {"facts": outcomes.plan.facts._asdict(), "complete": outcomes.stopped is None, "tables": every}
        )
        return
    rows: list[list[Any]] = []
    for experiment in outcomes.experiments:
        found = [outcomes.results(cell) for cell in experiment.cells]
        failed = sum(isinstance(one, Gap) and one != NOT_RUN for one in found)
        done = sum(not isinstance(one, Gap) for one in found)
        rows.append([experiment.name, f"{done} of {len(found)}", failed or ""])
    print_table(["experiment", "cells", "failed"], rows, str(outcomes.store.folder / "report.md"))
    for failure in dict.fromkeys(failure.reason for failure in outcomes.failures.values()):
        message(f"failed: {failure}", show.quiet)
