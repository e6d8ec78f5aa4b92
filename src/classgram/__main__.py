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
    "reporting": ("report", "similar"),
}
"""The modules of ``classgram.cli``, and the commands that each defines."""

_COLLECTED = 400_000
"""The number of new objects after which Python collects garbage. With its default it would do so hundreds of
times during imports, whose objects (150,000 of them with Numba's) all stay in use."""


def load_commands(wanted: str | None = None) -> "App":
    """Return the application with all commands, or only with those of the module of the wanted one."""
    modules = [module for module, names in COMMANDS.items() if wanted in names]
    for name in modules or COMMANDS:
        import_module(f"classgram.cli.{name}")
    from classgram.cli.app import app

    return app


def main() -> None:
    """Run the command line."""
    gc.set_threshold(_COLLECTED)
    _open_streams()
    try:
        from classgram.cli.app import run, terminate

        signal.signal(signal.SIGTERM, terminate)
        app = load_commands(*sys.argv[1:2])
    except KeyboardInterrupt:
        print("classgram: stopped", file=sys.stderr)
        _leave(128 + signal.SIGINT)
    _leave(run(app))


def _open_streams() -> None:
    """Redirect standard output and standard error to nowhere in a process started without them."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))


def _leave(code: int) -> NoReturn:
    """End the process once all output is written, without Python's clean-up.

    To free thousands of modules and objects would take as long as to write a result, for nothing: files
    are closed, and threads and locks gone, when a command has ended.
    """
    for stream in (sys.stdout, sys.stderr):
        # Either may be closed, or its reader gone: that was reported before, or nobody is reading.
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
