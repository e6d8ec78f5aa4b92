"""The command line for tests: in this process where that will do, in another where it must."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from classgram.__main__ import load_commands
from classgram.cli.app import run

SOURCE = Path(__file__).resolve().parents[2] / "src"


class Result(NamedTuple):
    """What a run printed, and its exit code."""

    code: int
    out: str
    err: str


Command = Callable[..., Result]


def in_process(capsys: pytest.CaptureFixture[str]) -> Command:
    """A function that runs a command in this process."""

    app = load_commands()

    def command(*words: str | Path) -> Result:
        capsys.readouterr()
        code = run(lambda: app([str(word) for word in words]))
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return command


def program(*words: str | Path) -> list[str]:
    """The words that start the command line as another process."""
    return [sys.executable, "-m", "classgram", *map(str, words)]


def environment(**more: str) -> dict[str, str]:
    """This process's environment, with the package found, and more."""
    return {**os.environ, "PYTHONPATH": str(SOURCE), **more}


def in_shell(line: str, **more: str) -> Result:
    """Run a line of shell, in which ``$CLASSGRAM`` is the command."""
    run = subprocess.run(
        ["bash", "-c", line],
        env=environment(CLASSGRAM=f"{sys.executable} -m classgram", **more),
        capture_output=True,
        text=True,
    )
    return Result(run.returncode, run.stdout, run.stderr)
