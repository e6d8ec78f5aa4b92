"""Two installations of classgram side by side: an earlier commit and the working tree."""

import os
import signal
import subprocess
import sys
import tarfile
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".same"
"""Earlier commits, their installations and the demo text, kept between runs."""

DATA = ROOT.parent / "shared" / "data"
HEAVY = ("PYTHONPATH", "NUMBA_CACHE_DIR", "PYTHONDONTWRITEBYTECODE")
"""Variables that would mix the two commits' code or compiled kernels, or keep bytecode from being stored."""


class Pair(NamedTuple):
    """The folders of programs of the two installations."""

    old: Path
    new: Path


class Ran(NamedTuple):
    """How a program ended, and what it printed; a program that took too long has no code."""

    code: int | None
    stdout: bytes
    stderr: bytes


def add_options(parser: ArgumentParser) -> None:
    """Add the options that say which two installations are meant, and on what text."""
    parser.add_argument("old", nargs="?", help="the earlier commit")
    parser.add_argument("--old-bin", type=Path, help="the programs of an installation, instead of a commit")
    parser.add_argument("--new-bin", type=Path, help="the programs beside these; by default this Python's")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder with the Penn Treebank")


def find_pair(parser: ArgumentParser, given: Namespace) -> Pair:
    """Find both installations, installing the earlier commit where that was not done before."""
    # Not resolved: a virtual environment's Python is a link to the one it was made from.
    new = given.new_bin or Path(sys.executable).parent
    if given.old_bin is None and not given.old:
        parser.error("name the earlier commit, as in OLD=HEAD~1, or an installation with --old-bin")
    old = given.old_bin or installed(given.old, new)
    for folder in (old, new):
        if not (folder / "classgram").is_file():
            parser.error(f"{folder}: holds no classgram; install it there first")
    return Pair(old.absolute(), new.absolute())


def installed(name: str, like: Path) -> Path:
    """Install a commit below KEPT with the dependencies of another installation; give its programs."""
    commit = git("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}").decode().strip()
    folder = KEPT / commit
    source, environment = folder / "source", folder / "venv"
    # Another NumPy may add in another order: both sides must use the same versions.
    versions = check(like / "python", "-m", "pip", "freeze", "--exclude-editable").decode()
    mark = folder / "installed"
    if mark.is_file() and mark.read_text() == versions:
        return environment / "bin"
    print(f"installing {name} ({commit[:10]}) in {folder}", file=sys.stderr, flush=True)
    extract(commit, source)
    limits = folder / "versions.txt"
    limits.write_text(versions)
    check(like / "python", "-m", "venv", "--clear", environment)
    pip = (environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    check(*pip, "--constraint", limits, "--editable", f"{source}[plot]")
    mark.write_text(versions)
    return environment / "bin"


def extract(commit: str, target: Path) -> None:
    """Unpack a commit; unlike a worktree it leaves no trace in the repository."""
    target.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=BytesIO(git("archive", commit))) as archive:
        archive.extractall(target, filter="data")


def git(*arguments: str) -> bytes:
    """Ask git about this repository."""
    return check("git", "-C", ROOT, *arguments)


def check(*arguments: str | Path) -> bytes:
    """Run a program that must succeed, and give what it prints."""
    ran = run(arguments, ROOT, 1800)
    if ran.code != 0:
        told = ran.stderr.decode(errors="replace").strip() or "took too long"
        raise SystemExit(f"{' '.join(map(str, arguments))}: {told}")
    return ran.stdout


def run(
    arguments: Sequence[str | Path],
    folder: Path,
    timeout: float,
    stdin: bytes = b"",
    extra: Mapping[str, str] | None = None,
) -> Ran:
    """Run a program in a folder, and end it with its own children where it takes too long."""
    with subprocess.Popen(
        [str(argument) for argument in arguments],
        cwd=folder,
        env=environment(extra or {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            stdout, stderr = process.communicate(stdin, timeout)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return Ran(None, *process.communicate())
        return Ran(process.returncode, stdout, stderr)


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The variables of a run: the same for both sides."""
    kept = {name: value for name, value in os.environ.items() if name not in HEAVY}
    settled = {"COLUMNS": "100", "LC_ALL": "C.UTF-8", "MPLCONFIGDIR": str(KEPT / "matplotlib")}
    return {**kept, **settled, **extra}


def demo_text(programs: Path) -> bytes:
    """The demo text, made once by ``classgram demo``, which keeps it in the cache folder."""
    KEPT.mkdir(exist_ok=True)
    extra = {"XDG_CACHE_HOME": str(KEPT)}
    if not list(KEPT.glob("classgram/demo-*.txt")):
        ran = run([programs / "classgram", "demo", "--quiet"], ROOT, 600, extra=extra)
        if ran.code != 0:
            raise SystemExit(f"classgram demo: {ran.stderr.decode(errors='replace').strip()}")
    return max(KEPT.glob("classgram/demo-*.txt")).read_bytes()
