"""The recipes' shell lines run, in order, in a folder with the files that they name."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.command import environment, in_process
from tests.helpers.texts import random_lines

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT.parent / "rivals" / "bin"
PAGES = ("ctc-decoding", "kaldi-k2", "from-kenlm", "filtering-a-crawl", "reading-study")


def shell_lines(page: Path) -> str:
    """All that a page tells one to type."""
    return "\n".join(
        re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    )


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


def run_in_shell(line: str, folder: Path) -> None:
    """Run a line with a pipe, or of another tool."""
    path = os.pathsep.join([str(folder / "bin"), str(TOOLS), os.environ["PATH"]])
    run = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", line],
        cwd=folder,
        env=environment(PATH=path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, f"{line}: {run.stderr}"
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("name", PAGES)
def test_recipes_run(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = shell_lines(ROOT / "docs" / "recipes" / f"{name}.md").splitlines()
    assert any(line.startswith("classgram ") for line in lines)
    prepare(tmp_path)
    install(tmp_path / "bin")
    monkeypatch.chdir(tmp_path)
    command = in_process(capsys)
    for line in lines:
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if "|" in line or words[0] != "classgram":
            run_in_shell(line, tmp_path)
            continue
        target = words[words.index(">") + 1] if ">" in words else None
        result = command(*words[1 : words.index(">") if target else None])
        assert result.code == 0, f"{line}: {result.err}"
        if target:
            (tmp_path / target).write_text(result.out)
