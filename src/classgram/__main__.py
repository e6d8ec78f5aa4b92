"""The entry point of the ``classgram`` command and of ``python -m classgram``."""

import gc
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclopts import App

COMMANDS = ("counting", "clustering", "class_files", "models", "mixing", "exporting", "reproducing")
"""The modules of ``classgram.cli`` that hold commands."""


COLLECTED = 100_000
"""New objects after which Python looks for unused ones: it would else do so hundreds of times while modules
are imported, whose objects all stay in use."""


def load_commands() -> "App":
    """The application with every command registered."""
    for name in COMMANDS:
        import_module(f"classgram.cli.{name}")
    from classgram.cli.app import app

    return app


def main() -> None:
    """Run the command line."""
    gc.set_threshold(COLLECTED)
    from classgram.cli.app import run, terminate

    signal.signal(signal.SIGTERM, terminate)
    code = run(load_commands())
    # What is left ends with the process: it need not be looked through once more for what is unused.
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
