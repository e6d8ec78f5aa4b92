"""What all commands share: the application, printing of results, and errors with their exit codes."""

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, CycloptsError, Parameter

from classgram._version import __version__
from classgram.errors import InputError

app = App(
    name="classgram",
    version=__version__,
    help="Learn word classes from text and build class-based n-gram language models.",
    version_flags=["--version"],
    # Help texts mention <s> and <unk>, which other formats would take for mark-up.
    help_format="plaintext",
    default_parameter=Parameter(negative=()),
    # All errors end in ``run``, and results are printed by the commands themselves.
    exit_on_error=False,
    print_error=False,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)

Flat = Parameter(name="*")
"""Makes the fields of an options dataclass options of the command."""

Output = Parameter(name=["--output", "-o"])


@Flat
@dataclass(frozen=True, slots=True)
class ShowOptions:
    """What is printed."""

    json: bool = False
    """Print the result as JSON on standard output."""

    quiet: bool = False
    """Print results and errors only: no progress, no messages."""


@Flat
@dataclass(frozen=True, slots=True)
class QuietOption:
    """Whether progress and messages are printed."""

    quiet: bool = False
    """Print errors only: no progress, no messages."""


def message(text: str, quiet: bool = False) -> None:
    """Print a line for people on standard error."""
    if not quiet:
        print(text, file=sys.stderr)


def print_json(value: Any) -> None:
    """Print a result for programs on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False))


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]], title: str | None = None) -> None:
    """Print a table on standard output; all columns but the first are aligned to the right.

    In a terminal long cells are wrapped, and letters of any width are aligned.
    """
    if is_terminal():
        _print_rich_table(headings, rows, title)
        return
    cells = [list(headings), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    if title:
        print(title)
    for number, row in enumerate(cells):
        first, *others = (
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join([first, *others]).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))


def is_terminal() -> bool:
    """Return whether people, not programs, read standard output."""
    return sys.stdout.isatty()


def _print_rich_table(headings: Sequence[str], rows: Sequence[Sequence[object]], title: str | None) -> None:
    """Print a table as wide as the terminal; what stands in cells is no mark-up."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title) if title else None, title_justify="left", box=SIMPLE_HEAD)
    for column, heading in enumerate(headings):
        words = any(not str(row[column])[:1].isdigit() for row in rows)
        table.add_column(Text(heading), justify="left" if column == 0 or words else "right")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    Console(markup=False, highlight=False).print(table)


def spare_matrix_threads() -> None:
    """Keep NumPy, imported later, from starting threads for matrix products in commands without any.

    Idle, each of them would keep a core busy for a tenth of a second.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def run(call: Callable[[], object]) -> int:
    """Run a command and return its exit code: 2, after one line, for what the user can correct."""
    try:
        call()
        sys.stdout.flush()
    except InputError as error:
        return _failed(str(error))
    except CycloptsError as error:
        reason = str(error)
        # A list of commands may end in an ellipsis.
        reason = reason if reason.endswith("...") else reason.rstrip(".")
        return _failed(f"{reason}; see classgram --help")
    except KeyboardInterrupt as error:
        # By Ctrl-C, or by the signal that ``terminate`` names.
        return _failed("stopped", 128 + (error.args[0] if error.args else signal.SIGINT))
    except MemoryError:
        return _failed("not enough memory; give less text, fewer n-grams or a smaller --memory")
    except OSError as error:
        _abandon_output()
        # The reader of our output went away, as in `classgram ... | head`: nothing is wrong.
        if isinstance(error, BrokenPipeError):
            return 0
        where = f"{error.filename}: " if error.filename else "output cannot be written: "
        return _failed(f"{where}{error.strerror or error}")
    return 0


def terminate(number: int, _: object) -> None:
    """Handle SIGTERM like Ctrl-C, so that nothing half-written stays behind."""
    raise KeyboardInterrupt(number)


def _failed(reason: str, code: int = 2) -> int:
    """Print in one line on standard error why a run failed, and return its exit code."""
    print("classgram:", " ".join(reason.splitlines()), file=sys.stderr)
    return code


def _abandon_output() -> None:
    """Discard what is left in the buffer of standard output, so that the run ends silently."""
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)


def refuse_options(_: object, given: object) -> None:
    """Raise InputError for a misspelt option among the names of texts; - alone is standard input."""
    for name in given if isinstance(given, tuple) else (given,):
        if str(name).startswith("-") and str(name) != "-":
            raise InputError(f"unknown option {name}; see classgram --help")


TextPaths = Annotated[
    str,
    Parameter(
        help="Files, folders, globs, or - for standard input; .gz .bz2 .xz .zst are decompressed, and of "
        ".jsonl and .parquet files the field or column --field is read.",
        allow_leading_hyphen=True,
        validator=refuse_options,
    ),
]
