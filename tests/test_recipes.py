"""The recipes' shell lines run, in order, in a folder with the files that they name."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import environment
from tests.test_models import random_lines

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT.parent / "rivals" / "bin"
PAGES = ("ctc-decoding", "kaldi-k2", "from-kenlm", "filtering-a-crawl", "reading-study")


def shell_lines(page: Path) -> str:
    """All that a page tells one to type."""
    return "\n".join(re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE))


def prepare(folder: Path) -> None:
    """The files that the recipes speak of."""
    lines = [line.replace("w1", "Word,") for line in random_lines(1, 250)]
    (folder / "corpus.txt").write_text("\n".join(lines) + "\n")
    (folder / "held-out.txt").write_text("\n".join(lines[::5]) + "\n")
    (folder / "stimuli.txt").write_text("\n".join(lines[::9]) + "\n")
    records = "".join(f'{{"id": {number}, "text": "{line}"}}\n' for number, line in enumerate(lines[::4]))
    (folder / "crawl.jsonl").write_text(records)


def install(folder: Path) -> None:
    """The command, and stand-ins that say so for tools of others that are not here."""
    folder.mkdir()
    (folder / "classgram").write_text(f'#!/bin/sh\nexec {sys.executable} -m classgram "$@"\n')
    for tool in ("build_binary", "query", "fstcompile", "fstarcsort"):
        if not (TOOLS / tool).exists() and shutil.which(tool) is None:
            (folder / tool).write_text(f"#!/bin/sh\ncat > /dev/null\necho {tool} is not here >&2\n")
    for script in folder.iterdir():
        script.chmod(0o755)


@pytest.mark.parametrize("name", PAGES)
def test_recipes_run(name: str, tmp_path: Path) -> None:
    lines = shell_lines(ROOT / "docs" / "recipes" / f"{name}.md")
    assert "classgram " in lines
    prepare(tmp_path)
    install(tmp_path / "bin")
    path = os.pathsep.join([str(tmp_path / "bin"), str(TOOLS), os.environ["PATH"]])
    run = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", lines],
        cwd=tmp_path,
        env=environment(PATH=path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert "Traceback" not in run.stderr
