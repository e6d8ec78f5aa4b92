"""How things are measured: the best of several runs, and ratios within one run."""

import lzma
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple


class Settings(NamedTuple):
    """Where data and rivals are, and how often to repeat."""

    data: Path
    repeat: int
    kenlm_bin: Path | None
    clustercat: Path | None


class Figure(NamedTuple):
    """One measured number."""

    area: str
    what: str
    value: float | None
    unit: str
    note: str = ""

    def line(self) -> str:
        """The figure as a row of the table."""
        value = f"{self.value:12.3f}" if self.value is not None else f"{'skipped':>12}"
        return f"{self.area:12} {self.what:58} {value} {self.unit:10} {self.note}"


def best(repeat: int, call: Callable[[], object]) -> float:
    """The shortest of several times, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def command(arguments: Sequence[str | Path], stdin: Path | None = None) -> None:
    """Run a program to its end, its output thrown away."""
    with (stdin or Path("/dev/null")).open("rb") as source:
        subprocess.run(
            [str(argument) for argument in arguments],
            stdin=source,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )


def classgram(*arguments: str | Path) -> None:
    """Run a classgram command in a process of its own, on one core where it has the choice."""
    command([sys.executable, "-m", "classgram", *arguments, "--quiet"])


def peak_memory(arguments: Sequence[str | Path]) -> float:
    """The peak memory of a classgram command in megabytes."""
    script = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)\n"
    )
    call = [sys.executable, "-c", script, sys.executable, "-m", "classgram", *map(str, arguments), "--quiet"]
    return float(subprocess.run(call, check=True, capture_output=True, text=True).stdout)


def novels(settings: Settings) -> Path | None:
    """The unpacked novels, kept in the temporary folder, or None where there are none."""
    packed = settings.data / "novels.train.txt.xz"
    if not packed.exists():
        return None
    path = Path(tempfile.gettempdir()) / "classgram-bench-novels.txt"
    if not path.exists():
        path.write_bytes(lzma.decompress(packed.read_bytes()))
    return path
