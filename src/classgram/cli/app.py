"""What all commands share: the application, how results are printed, and how errors end a run."""

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
    # Help texts speak of <s> and <unk>, which a reader of mark-up would swallow.
    help_format="plaintext",
    default_parameter=Parameter(negative=()),
    # All errors end in ``run``, and results are printed by the commands themselves.
    exit_on_error=False,
    print_error=False,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)

Flat = Parameter(name="*")
"""Marks an options dataclass whose fields are options of the command itself."""

Output = Parameter(name=["--output", "-o"])


@Flat
@dataclass(frozen=True, slots=True)
class ShowOptions:
    """What is shown, and how."""

    json: bool = False
    """Print the result as JSON on standard output."""

    quiet: bool = False
    """Show no progress and no messages, only results and errors."""


@Flat
@dataclass(frozen=True, slots=True)
class QuietOption:
    """Whether anything is shown on the way."""

    quiet: bool = False
    """Show no progress and no messages, only errors."""


def message(text: str, quiet: bool = False) -> None:
    """A line for people, on standard error."""
    if not quiet:
        print(text, file=sys.stderr)


def print_json(value: Any) -> None:
    """A result for programs, on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False))


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]], title: str | None = None) -> None:
    """A table for people, on standard output; all columns but the first are numbers, to the right."""
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


def announce_compilation(quiet: bool) -> None:
    """Say so when kernels are compiled, once: it happens on the first run and takes seconds."""
    if quiet:
        return
    from classgram.runtime.compiled.calling import before_compiling

    before_compiling(listen_to_compiler)


def listen_to_compiler() -> None:
    """Have Numba tell when it compiles."""
    from numba.core import event

    class Notice(event.Listener):
        """Prints one line at the first compilation."""

        def on_start(self, event: object) -> None:
            """A compilation begins."""
            if not said:
                said.append(True)
                message("compiling kernels, first run only")

        def on_end(self, event: object) -> None:
            """A compilation ended."""

    said: list[bool] = []
    event.register("numba:compile", Notice())  # type: ignore[no-untyped-call]


def spare_matrix_threads() -> None:
    """Let NumPy, imported later, start no threads for products of matrices, in a command without them.

    Each would wait for work at full speed for a tenth of a second.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def run(call: Callable[[], object]) -> int:
    """Run a command and return its exit code; what the user can mend is one line and exit code 2."""
    try:
        call()
        sys.stdout.flush()
    except InputError as error:
        return failed(str(error))
    except CycloptsError as error:
        said = str(error)
        # A list of commands may end in an ellipsis.
        said = said if said.endswith("...") else said.rstrip(".")
        return failed(f"{said}; see classgram --help")
    except KeyboardInterrupt as error:
        # By Ctrl-C, or by the signal that ``terminate`` names.
        return failed("stopped", 128 + (error.args[0] if error.args else signal.SIGINT))
    except MemoryError:
        return failed("not enough memory; give less text, fewer n-grams or a smaller --memory")
    except OSError as error:
        abandon_output()
        # The reader of our output went away, as in `classgram ... | head`: nothing is wrong.
        if isinstance(error, BrokenPipeError):
            return 0
        place = f"{error.filename}: " if error.filename else "output cannot be written: "
        return failed(f"{place}{error.strerror or error}")
    return 0


def terminate(number: int, _: object) -> None:
    """Answer a signal to end as one answers Ctrl-C, so that nothing half-written stays behind."""
    raise KeyboardInterrupt(number)


def failed(reason: str, code: int = 2) -> int:
    """Say on one line of standard error why a run ended, and return its exit code."""
    print("classgram:", " ".join(reason.splitlines()), file=sys.stderr)
    return code


def abandon_output() -> None:
    """Send what is left in standard output's buffer nowhere, so that the end of the run is silent."""
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)


def refuse_options(_: object, given: object) -> None:
    """Refuse, among the names of texts, what is meant as an option; - alone is standard input."""
    for name in given if isinstance(given, tuple) else (given,):
        if str(name).startswith("-") and str(name) != "-":
            raise InputError(f"unknown option {name}; see classgram --help")


TextPaths = Annotated[
    str,
    Parameter(
        help="Files, folders, globs, or - for standard input; .gz .bz2 .xz .zst .jsonl are read as such.",
        allow_leading_hyphen=True,
        validator=refuse_options,
    ),
]
