"""The command reference, made from the help texts: ``python -m tests.helpers.cli_manual docs/cli.md``."""

import io
import sys
from pathlib import Path

from cyclopts import App
from rich.console import Console

from classgram.__main__ import load_commands

HEAD = """# Commands

Made from the help texts by `make docs`. Every command prints results on standard output or into the
named file, and messages on standard error; the exit code is 0, or 2 for what you can correct.
"""


def help_of(app: App, *names: str) -> str:
    """A command's help as plain text, eighty columns wide."""
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=False, color_system=None, legacy_windows=False)
    app.help_print([*names], console=console)
    return "\n".join(line.rstrip() for line in out.getvalue().strip().split("\n"))


def command_names(app: App) -> list[str]:
    """The names of all commands and of their parts, options such as --help left out."""
    names = sorted(name for name in app if not name.startswith("-"))
    return [one for name in names for one in (name, *(f"{name} {part}" for part in command_names(app[name])))]


def manual() -> str:
    """The whole reference."""
    app = load_commands()
    parts = [HEAD, f"```text\n{help_of(app)}\n```\n"]
    for name in command_names(app):
        parts.append(f"## classgram {name}\n\n```text\n{help_of(app, *name.split())}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(manual(), encoding="utf-8")
