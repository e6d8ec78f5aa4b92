"""Compare what two runs of a command printed and wrote, but for what legitimately differs."""

import io
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from itertools import zip_longest
from pathlib import Path

import numpy as np

MASKS: tuple[tuple[bytes, bytes], ...] = (
    # Times: of a sweep (history.json, checkpoints excepted), of the cells of ``reproduce``, of the demo.
    (rb'"((?:cpu_)?seconds)": [0-9.e+-]+', rb'"\1": *'),
    (rb"(?m) +[0-9]+\.[0-9]{2} s$", b" * s"),
    (rb"[0-9,]+ words/s", b"* words/s"),
    # Versions: "provenance" of config.json, ``info`` and report.md.
    (rb'"classgram": "[^"]+"', b'"classgram": "*"'),
    (rb"\bclassgram [0-9]+\.[0-9][\w.+-]*", b"classgram *"),
    # config.json's size and checksum of history.json, which holds times; that file itself is compared.
    (rb'("[^"]+\.json": \{\s*"bytes": )[0-9]+(,\s*"checksum": )"[0-9a-f]+"', rb"\1*\2*"),
    # Each side compiles its kernels when they are first used.
    (rb"compiling kernels, first run only\n", b""),
)
"""What is masked in printed text and in files with the endings of MASKED; all else must be equal."""

MASKED = (".json", ".md")
SHOWN = 160

Renames = Mapping[str, str]
State = dict[str, tuple[int, int, int]]


def normalised(data: bytes, renames: Renames) -> bytes:
    """Mask times and versions, and give sweeps of renamed kinds their new names."""
    for pattern, replacement in MASKS:
        data = re.sub(pattern, replacement, data)
    for old, new in renames.items():
        data = data.replace(f'"kind": "{old}"'.encode(), f'"kind": "{new}"'.encode())
    return data


def text_difference(old: bytes, new: bytes) -> str | None:
    """Say where two texts differ first, or None."""
    if old == new:
        return None
    lines = zip_longest(old.split(b"\n"), new.split(b"\n"))
    number, (one, two) = next((n, pair) for n, pair in enumerate(lines, start=1) if pair[0] != pair[1])
    return f"line {number}\n    - {shown(one)}\n    + {shown(two)}"


def shown(line: bytes | None) -> str:
    """A line as it is told, cut where it is long."""
    return "(no such line)" if line is None else line.decode(errors="replace")[:SHOWN]


def array_difference(old: bytes, new: bytes) -> str | None:
    """Say how two .npy files differ, or None."""
    if old == new:
        return None
    one, two = (np.load(io.BytesIO(data), allow_pickle=False) for data in (old, new))
    if (one.dtype, one.shape) != (two.dtype, two.shape):
        return f"{one.dtype} {one.shape} became {two.dtype} {two.shape}"
    places = np.flatnonzero((one != two).ravel())
    if not places.size:
        return "the same values, stored otherwise"
    first = int(places[0])
    values = f"{one.ravel()[first]} became {two.ravel()[first]}"
    return f"{places.size:,} of {one.size:,} values, first at {first}: {values}"


def file_difference(old: Path, new: Path, renames: Renames) -> str | None:
    """Say how two files differ, or None; of links the last part of the target counts."""
    for path, side in ((old, "old"), (new, "new")):
        if not os.path.lexists(path):
            return f"not written by {side}"
    if old.is_symlink() or new.is_symlink():
        return text_difference(*(link_name(path) for path in (old, new)))
    one, two = old.read_bytes(), new.read_bytes()
    if one == two:
        return None
    if old.suffix == ".npy":
        return array_difference(one, two)
    if old.suffix in MASKED:
        return text_difference(normalised(one, renames), normalised(two, renames))
    return text_difference(one, two) if is_text(one) and is_text(two) else bytes_difference(one, two)


def link_name(path: Path) -> bytes:
    """What a link points to, without the folder of the installation."""
    return path.readlink().name.encode() if path.is_symlink() else b"(no link)"


def is_text(data: bytes) -> bool:
    """Whether a file seems to be text."""
    return b"\0" not in data[:4096] and not data.startswith(b"\x1f\x8b")


def bytes_difference(old: bytes, new: bytes) -> str:
    """Say where two files of bytes differ first."""
    place = next((n for n, (one, two) in enumerate(zip(old, new, strict=False)) if one != two), None)
    at = min(len(old), len(new)) if place is None else place
    return f"byte {at:,} ({len(old):,} and {len(new):,} bytes)"


def state_of(folder: Path) -> State:
    """All files below a folder, and what changes when one is written anew."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_symlink() or path.is_file():
            facts = path.lstat()
            found[str(path.relative_to(folder))] = (facts.st_ino, facts.st_mtime_ns, facts.st_size)
    return found


def written(before: State, after: State) -> set[str]:
    """The files that were written, or removed, between two states."""
    return {name for name in {*before, *after} if before.get(name) != after.get(name)}


def first_difference(
    folders: tuple[Path, Path], names: Iterable[str], skipped: Iterable[str], renames: Renames
) -> str | None:
    """Name the first file of a set that differs between two folders, and say how, or None."""
    # config.json holds checksums of all the others, which say more.
    for name in sorted(names, key=lambda name: (name.endswith("config.json"), name)):
        old, new = (folder / name for folder in folders)
        gone = not os.path.lexists(old) and not os.path.lexists(new)
        if gone or any(fnmatch(name, pattern) for pattern in skipped):
            continue
        if (told := file_difference(old, new, renames)) is not None:
            return f"{name}: {told}"
    return None


def copy_over(name: str, source: Path, target: Path) -> None:
    """Put a file or folder of one side in the place of the other's."""
    shutil.rmtree(target / name, ignore_errors=True)
    if (source / name).is_dir():
        shutil.copytree(source / name, target / name, symlinks=True)
    else:
        shutil.copy2(source / name, target / name)
