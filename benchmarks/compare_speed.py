"""Measure two commits in turn, in one run, as ratios of the new one's times to the old one's."""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.commits import ROOT, Pair, add_options, check, demo_text, environment, find_pair, git

RESULTS = Path(__file__).parent / "results"
HELD_OUT = 2000


class Job(NamedTuple):
    """A measured command: a program of the installation, and its arguments."""

    name: str
    line: str


JOBS = (
    Job("start-up", "classgram --version"),
    Job("import", "python -c import\tclassgram"),
    Job("count-5", "classgram count train.txt -o counts --order 5 --quiet"),
    Job("cluster-100", "classgram cluster train.txt -o classes --classes 100 --threads 1 --quiet"),
    Job("cluster-1000", "classgram cluster train.txt -o classes --classes 1000 --threads 1 --quiet"),
    Job("train-kn5", "classgram train train.txt -o kn5 --recipe kneser-ney --quiet"),
    Job("perplexity-kn5", "classgram perplexity kn5 valid.txt --quiet"),
    Job("score-kn5", "classgram score kn5 valid.txt --quiet"),
    Job("train-mixture", "classgram train train.txt -o mixture --valid valid.txt --threads 1 --quiet"),
)
MODEL = next(job for job in JOBS if job.name == "train-kn5")
"""Makes what the jobs of scoring read."""


class Times(NamedTuple):
    """The seconds of one run."""

    wall: float
    user: float


class Ratio(NamedTuple):
    """New times in old ones: of runs that were neighbours, and of the best runs."""

    median: float
    least: float
    most: float
    bests: float

    def line(self) -> str:
        """The ratio as part of a row."""
        return f"{self.median:6.3f} ({self.least:.3f}..{self.most:.3f}), bests {self.bests:.3f}"


def ratio(old: Sequence[float], new: Sequence[float]) -> Ratio:
    """Compare the times of runs, the first of one side with the first of the other, and so on."""
    pairs = [two / one for one, two in zip(old, new, strict=True)]
    return Ratio(median(pairs), min(pairs), max(pairs), min(new) / min(old))


def turns(repeat: int) -> list[int]:
    """Whose turn it is, 0 (old) or 1 (new): ABBA, so that a machine that slows down favours neither."""
    return [side for number in range(repeat) for side in ((0, 1) if number % 2 == 0 else (1, 0))]


def main() -> None:
    """Measure the jobs, print a table, and write JSON."""
    parser = argparse.ArgumentParser(prog="make bench-compare")
    add_options(parser)
    parser.add_argument("--repeat", type=int, default=5, help="measured runs of each side")
    parser.add_argument("--only", action="append", choices=[job.name for job in JOBS], help="one measurement")
    given = parser.parse_args()
    if given.repeat < 1:
        parser.error("--repeat must be 1 or more")
    pair = find_pair(parser, given)
    for programs in pair:
        compile_bytecode(programs)
    rows = []
    with tempfile.TemporaryDirectory(prefix="classgram-compare-") as name:
        text = write_texts(Path(name), pair, given.data)
        print(f"old: {pair.old}\nnew: {pair.new}\ntext: {text}; new / old: median (least..most) of pairs")
        for job in JOBS:
            if given.only is None or job.name in given.only:
                rows.append(measure(job, pair, Path(name), given.repeat))
    save(rows, pair, text)


def compile_bytecode(programs: Path) -> None:
    """Have Python's bytecode stored, which an installation in daily use has."""
    place = check(programs / "python", "-c", "import classgram; print(classgram.__path__[0])")
    check(programs / "python", "-m", "compileall", "-q", place.decode().strip())


def write_texts(folder: Path, pair: Pair, data: Path) -> str:
    """Write the texts for both sides: the Treebank, or where there is none the demo text."""
    train, valid = data / "ptb.train.txt", data / "ptb.valid.txt"
    if train.is_file() and valid.is_file():
        name, parts = "Penn Treebank", (train.read_bytes(), valid.read_bytes())
    else:
        lines = demo_text(pair.old).splitlines(keepends=True)
        name, parts = "demo text", (b"".join(lines[:-HELD_OUT]), b"".join(lines[-HELD_OUT:]))
    for side in ("old", "new"):
        (folder / side).mkdir()
        (folder / side / "train.txt").write_bytes(parts[0])
        (folder / side / "valid.txt").write_bytes(parts[1])
    return name


def measure(job: Job, pair: Pair, work: Path, repeat: int) -> dict[str, object]:
    """Run a job on both sides in turn, once unmeasured; print its row, and give its figures."""
    folders = (work / "old", work / "new")
    for programs, folder in zip(pair, folders, strict=True):
        if " kn5 " in job.line and job != MODEL and not (folder / "kn5").exists():
            timed(MODEL, programs, folder)
        timed(job, programs, folder)
    times: tuple[list[Times], list[Times]] = ([], [])
    for side in turns(repeat):
        times[side].append(timed(job, pair[side], folders[side]))
    figures: dict[str, object] = {"name": job.name, "command": job.line.replace("\t", " ")}
    parts = []
    for kind in Times._fields:
        old, new = ([getattr(one, kind) for one in side] for side in times)
        found = ratio(old, new)
        parts.append(f"{kind} {found.line()}, best {min(old):.2f} s, {min(new):.2f} s")
        figures[kind] = {"old": old, "new": new, "ratio": found._asdict()}
    print(f"{job.name:15} {'; '.join(parts)}", flush=True)
    return figures


def timed(job: Job, programs: Path, folder: Path) -> Times:
    """Run a job to its end; its children's processor time is its own."""
    # A tab stands for a blank within an argument.
    program, *arguments = (part.replace("\t", " ") for part in job.line.split(" "))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    begun = time.perf_counter()
    ran = subprocess.run(
        [programs / program, *arguments],
        cwd=folder,
        env=environment({}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    wall = time.perf_counter() - begun
    if ran.returncode != 0:
        raise SystemExit(f"{programs / program}: {job.line}: {ran.stderr.decode(errors='replace').strip()}")
    return Times(wall, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)


def save(rows: list[dict[str, object]], pair: Pair, text: str) -> None:
    """Write the figures beside those of the other benchmarks."""
    RESULTS.mkdir(exist_ok=True)
    document = {
        "machine": platform.processor() or platform.machine(),
        "python": sys.version.split()[0],
        "load": os.getloadavg()[0],
        "head": git("rev-parse", "HEAD").decode().strip(),
        "old": str(pair.old),
        "new": str(pair.new),
        "text": text,
        "figures": rows,
    }
    path = RESULTS / "compare.json"
    path.write_text(json.dumps(document, indent=1))
    print(f"written to {path.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
