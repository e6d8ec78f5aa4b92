"""The wheel: built, installed where there is no Numba, and every command run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.same import Text, command_line, write_inputs
from benchmarks.same_steps import STEPS
from classgram.text.demo_text import demo_text

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.release
def test_every_command_runs_from_the_wheel_without_numba(tmp_path: Path) -> None:
    pip = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, *pip, "wheel", "--no-deps", "-w", tmp_path, ROOT], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.split("-")[-1] != "any.whl"
    programs = tmp_path / "venv" / "bin"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([programs / "python", *pip, "install", wheel], check=True)
    assert subprocess.run([programs / "python", "-c", "import numba"], capture_output=True).returncode == 1
    lines = demo_text().read_bytes().splitlines(keepends=True)[:1200]
    write_inputs(tmp_path / "work", Text("demo", lines[:1000], lines[1000:], 20, True))
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables |= {"PATH": f"{programs}:{os.environ['PATH']}", "XDG_CACHE_HOME": "/nowhere"}
    for step in STEPS:
        line = command_line(step, 20)
        run = subprocess.run(
            ["bash", "-c", f"{line} <{step.stdin or '/dev/null'}"],
            cwd=tmp_path / "work",
            env=variables,
            capture_output=True,
            text=True,
        )
        assert run.returncode == step.code, f"{line}: {run.stderr}"
        assert "Numba" not in run.stderr
