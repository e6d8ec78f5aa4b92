"""Check that two commits give the same results, byte for byte, with every command."""

import argparse
import gzip
import json
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.commits import Pair, Ran, add_options, demo_text, find_pair, run
from benchmarks.comparing import (
    Renames,
    copy_over,
    first_difference,
    normalised,
    state_of,
    text_difference,
    written,
)
from benchmarks.same_steps import STEPS, Step

DEMO_LINES, HELD_OUT, FEW = 3000, 300, 400
WIDTH = 100
BROKEN = """\\data\\
ngram 1=4
ngram 2=2

\\1-grams:
-0.5\t<s>\t-0.3
-0.4\t</s>
0.5\ta\t-0.2
-0.7\tb

\\2-grams:
-0.2\ta c
-0.1\t<s> a

"""
"""An ARPA file with defects: no <unk>, a probability above one, an unknown word, no end."""


class Text(NamedTuple):
    """A text on which the commands are run."""

    name: str
    train: list[bytes]
    valid: list[bytes]
    classes: int
    small: bool


class Settings(NamedTuple):
    """What holds for all commands."""

    pair: Pair
    timeout: float
    renames: Renames


def main() -> None:
    """Run the commands on both sides and print a table; exit with 1 where anything differs."""
    parser = argparse.ArgumentParser(prog="make same")
    add_options(parser)
    parser.add_argument("--scale", choices=("small", "both"), default="both", help="small: no Treebank")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for a command")
    parser.add_argument("--renamed", action="append", default=[], metavar="OLD=NEW", help="a kind of sweeps")
    given = parser.parse_args()
    if any(pair.count("=") != 1 for pair in given.renamed):
        parser.error("--renamed takes OLD=NEW")
    renames = dict(pair.split("=") for pair in given.renamed)
    settings = Settings(find_pair(parser, given), given.timeout, renames)
    print(f"old: {settings.pair.old}\nnew: {settings.pair.new}", flush=True)
    total = different = 0
    for text in texts(settings.pair.old, given.scale, given.data):
        ran, unlike = check_text(text, settings)
        total, different = total + ran, different + unlike
    print(f"{total} commands, {total - different} the same, {different} DIFFERENT")
    sys.exit(1 if different else 0)


def texts(programs: Path, scale: str, data: Path) -> Iterator[Text]:
    """Give the demo text, and the Treebank where it is wanted and present."""
    lines = demo_text(programs).splitlines(keepends=True)
    held_out = lines[DEMO_LINES : DEMO_LINES + HELD_OUT]
    yield Text("the demo text", lines[:DEMO_LINES], held_out, 40, True)
    train, valid = data / "ptb.train.txt", data / "ptb.valid.txt"
    if scale == "small":
        print("Penn Treebank: SKIPPED, the scale is small")
    elif not train.is_file() or not valid.is_file():
        print(f"Penn Treebank: SKIPPED, no ptb.train.txt and ptb.valid.txt in {data}")
    else:
        known, other = (path.read_bytes().splitlines(keepends=True) for path in (train, valid))
        yield Text("Penn Treebank", known, other, 200, False)


def check_text(text: Text, settings: Settings) -> tuple[int, int]:
    """Run all commands on one text; give how many there were, and how many differ."""
    work = Path(tempfile.mkdtemp(prefix="classgram-same-"))
    folders = (work / "old", work / "new")
    for folder in folders:
        write_inputs(folder, text)
    chosen = [step for step in STEPS if text.small or not step.small]
    different = 0
    print(f"\n{text.name}: {len(chosen)} commands in {work}", flush=True)
    for step in chosen:
        line = command_line(step, text.classes)
        begun = time.monotonic()
        told = check_step(step, line, folders, settings)
        different += told is not None
        verdict = "same" if told is None else f"DIFFERENT: {told}"
        print(f"{line[:WIDTH]:{WIDTH}} {time.monotonic() - begun:5.0f} s  {verdict}", flush=True)
    if different:
        print(f"the folders stay for a closer look: {work}")
    else:
        shutil.rmtree(work)
    return len(chosen), different


def write_inputs(folder: Path, text: Text) -> None:
    """Write the files that the commands read, the same on both sides."""
    folder.mkdir()
    (folder / "programs").mkdir()
    train, valid = b"".join(text.train), b"".join(text.valid)
    words = sorted(set(train.split()) - {b"<s>", b"</s>", b"<unk>"})
    records = (json.dumps({"id": n, "body": line.decode().strip()}) for n, line in enumerate(text.valid))
    files = {
        "train.txt": train,
        "valid.txt": valid,
        "few.txt": b"".join(text.train[:FEW]),
        "train.txt.gz": gzip.compress(train, mtime=0),
        "valid.jsonl": "\n".join([*records, ""]).encode(),
        "words.txt": b"\n".join([*words[::3], b""]),
        "documents.txt": b"".join(line + b"\n" * (n % 5 == 4) for n, line in enumerate(text.valid)),
        "odd.txt": b"".join(text.valid[:50]) + b"<s> caf\xe9 and \xc3\xa9t\xc3\xa9 </s>\n\n  a\tb\r\n",
        "broken.arpa": BROKEN.encode(),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)


def command_line(step: Step, classes: int) -> str:
    """The whole command line of a step."""
    line = step.line.format(c=classes)
    return line if line.startswith("classgram-") else f"classgram {line}"


def check_step(step: Step, line: str, folders: tuple[Path, Path], settings: Settings) -> str | None:
    """Run a command on both sides; say what differs first, or None."""
    for name in step.from_old:
        copy_over(name, *folders)
    results, names = [], set()
    for folder, programs in zip(folders, settings.pair, strict=True):
        before = state_of(folder)
        results.append(run_step(step, line, folder, programs, settings.timeout))
        names |= written(before, state_of(folder))
    return printed_difference(step, results[0], results[1], settings.renames) or first_difference(
        folders, names, step.skip, settings.renames
    )


def run_step(step: Step, line: str, folder: Path, programs: Path, timeout: float) -> Ran:
    """Run a command in a side's folder, where its demo text is kept, too."""
    program, *arguments = shlex.split(line)
    stdin = (folder / step.stdin).read_bytes() if step.stdin else b""
    return run([programs / program, *arguments], folder, timeout, stdin, {"XDG_CACHE_HOME": str(folder)})


def printed_difference(step: Step, old: Ran, new: Ran, renames: Renames) -> str | None:
    """Say how exit codes or printed texts differ, or that a command did not do what it should, or None."""
    for side, ran in (("old", old), ("new", new)):
        if ran.code != step.code:
            # Two failures alike would pass as the same, and nothing would have been compared.
            last = ran.stderr.decode(errors="replace").strip().split("\n")[-1]
            return f"{side} ended with {'a timeout' if ran.code is None else ran.code}: {last[:WIDTH]}"
    for stream in ("stdout", "stderr"):
        one, two = (normalised(getattr(ran, stream), renames) for ran in (old, new))
        if (told := text_difference(one, two)) is not None:
            return f"{stream}: {told}"
    return None


if __name__ == "__main__":
    main()
