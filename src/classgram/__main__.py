"""The entry point of the ``classgram`` command and of ``python -m classgram``."""

import gc
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from cyclopts import App

COMMANDS = {
    "counting": ("count", "info", "demo"),
    "clustering": ("cluster", "classes", "tag"),
    "class_files": ("convert", "judge", "install-dropins"),
    "models": ("train", "perplexity", "compare", "surprisal", "score", "generate"),
    "mixing": ("mix",),
    "exporting": ("export", "arpa"),
    "reproducing": ("reproduce",),
}
"""The modules of ``classgram.cli`` that hold commands, and which."""


COLLECTED = 400_000
"""New objects after which Python looks for unused ones: it would else do so hundreds of times while modules
are imported, whose objects (150,000 of them with Numba's) all stay in use."""


def load_commands(wanted: str | None = None) -> "App":
    """The application with every command registered, or just with those beside the one that is wanted."""
    modules = [module for module, names in COMMANDS.items() if wanted in names]
    for name in modules or COMMANDS:
        import_module(f"classgram.cli.{name}")
    from classgram.cli.app import app

    return app


def main() -> None:
    """Run the command line."""
    gc.set_threshold(COLLECTED)
    open_streams()
    try:
        from classgram.cli.app import run, terminate

        signal.signal(signal.SIGTERM, terminate)
        app = load_commands(*sys.argv[1:2])
    except KeyboardInterrupt:
        print("classgram: stopped", file=sys.stderr)
        leave(128 + signal.SIGINT)
    leave(run(app))


def open_streams() -> None:
    """Give a process that was started without output or messages something to write them to."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))


def leave(code: int) -> NoReturn:
    """End the process once all is written, as it stands.

    To take apart thousands of modules and objects first, as Python does, would take as long as to write a
    result, and change nothing: files are closed, threads and locks gone when a command has ended.
    """
    for stream in (sys.stdout, sys.stderr):
        # Either may be closed, or its reader gone; that was said before, or nobody is there to be told.
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
