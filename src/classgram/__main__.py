"""The entry point of the ``classgram`` command and of ``python -m classgram``."""

import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

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


def load_commands(wanted: str | None = None) -> "App":
    """Return the application with all commands, or only with those of the module of the wanted one."""
    modules = [module for module, names in COMMANDS.items() if wanted in names]
    for name in modules or COMMANDS:
        import_module(f"classgram.cli.{name}")
    from classgram.cli.app import app

    return app


def main() -> None:
    """Run the command line."""
    _open_streams()
    try:
        from classgram.cli.app import run, terminate

        signal.signal(signal.SIGTERM, terminate)
        app = load_commands(*sys.argv[1:2])
    except KeyboardInterrupt:
        print("classgram: stopped", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
    sys.exit(run(app))


def _open_streams() -> None:
    """Redirect standard output and standard error to nowhere in a process started without them."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))


if __name__ == "__main__":
    main()
