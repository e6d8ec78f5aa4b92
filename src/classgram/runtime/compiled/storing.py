"""Machine code on disk: found by kernel, types of arguments and processor, and taken if it is up to date.

Where nothing can be read or written, kernels are compiled each time.
"""

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import llvmlite
import numpy as np
from llvmlite import binding

from classgram.runtime.compiled.machine_code import MachineCode

SOURCES = Path(__file__).parents[2]
DIGEST = 16
"""The bytes of a checksum."""


class Store:
    """The files of one kernel: a checksum of the rest, what it was made from, and machine code."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._source = Path(function.__code__.co_filename)
        self._name = f"{self._source.stem}.{function.__qualname__}"

    def load(self, kinds: Iterable[str]) -> MachineCode | None:
        """Give machine code, or None where there is none, or it is damaged or out of date."""
        name = self._file(kinds)
        for folder in folders(self._source):
            with suppress(OSError):
                written = (folder / name).read_bytes()
                if written[:DIGEST] == checksum(written[DIGEST:]) and self._is_current(written):
                    return decoded(written[2 * DIGEST :])
        return None

    def save(self, kinds: Iterable[str], code: MachineCode) -> None:
        """Write machine code, whole or not at all, where that is possible."""
        name = self._file(kinds)
        for folder in folders(self._source):
            with suppress(OSError):
                content = stamp(self._source) + encoded(code)
                folder.mkdir(parents=True, exist_ok=True)
                return write_whole(folder / name, checksum(content) + content)
        return None

    @property
    def holds_some(self) -> bool:
        """Whether there is machine code for arguments of any types that is up to date."""
        for folder in folders(self._source):
            with suppress(OSError):
                if any(self._is_current(beginning(path)) for path in folder.glob(f"{self._name}.*.code")):
                    return True
        return False

    @property
    def is_writable(self) -> bool:
        """Whether there is a folder in which something can be written."""
        for folder in folders(self._source):
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                if os.access(folder, os.W_OK):
                    return True
        return False

    def _file(self, kinds: Iterable[str]) -> str:
        key = repr((*kinds, processor(), sys.implementation.cache_tag))
        return f"{self._name}.{checksum(key.encode()).hex()}.code"

    def _is_current(self, written: bytes) -> bool:
        return written[DIGEST : 2 * DIGEST] == stamp(self._source)


def beginning(path: Path) -> bytes:
    """Read what tells whether a file is up to date."""
    with path.open("rb") as file:
        return file.read(2 * DIGEST)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is there as a whole or not at all."""
    unfinished = path.with_name(f"{path.name}.{os.urandom(8).hex()}")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def folders(source: Path) -> list[Path]:
    """Give the folders for the kernels of a source file, the best one first.

    As for Numba's own cache, it is the one that the user names; or one beside the source, or the user's.
    """
    beside = source.absolute().parent
    name = f"{beside.name}_{checksum(bytes(beside)).hex()}"
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return [Path(named, name)]
    result = [beside / "__pycache__"]
    # Not everybody has a home.
    with suppress(RuntimeError):
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
        result.append(home / "classgram" / name)
    return result


def stamp(source: Path) -> bytes:
    """Give a checksum of all that machine code of a source file depends on, besides the processor."""
    return stamp_with(None if source.is_relative_to(SOURCES) else source)


@cache
def stamp_with(other: Path | None) -> bytes:
    """Give a checksum of all sources, since a kernel is made of parts in many files, and one more.

    Whatever Numba is told counts, too.
    """
    told = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
    told.pop("NUMBA_CACHE_DIR", None)
    versions = (sys.version, llvmlite.__version__, np.__version__, sorted(told.items()))
    files = [
        *sorted(SOURCES.glob("runtime/compiled/*.py")),
        *sorted(SOURCES.glob("*/_kernels/*.py")),
        *([other] if other else []),
    ]
    return checksum(repr(versions).encode(), numba_version(), *(path.read_bytes() for path in files))


def numba_version() -> bytes:
    """Give what tells Numba's version, or when it was installed, without importing it."""
    found = find_spec("numba")
    if found is None or found.origin is None:
        raise FileNotFoundError("Numba has no folder")
    origin = Path(found.origin)
    version = origin.with_name("_version.py")
    return version.read_bytes() if version.exists() else str(origin.stat().st_mtime_ns).encode()


@cache
def processor() -> str:
    """Give the name of the processor and all that it can do."""
    return f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"


def checksum(*parts: bytes) -> bytes:
    """Give a checksum."""
    result = blake2b(digest_size=DIGEST)
    for part in parts:
        result.update(len(part).to_bytes(8, "little"))
        result.update(part)
    return result.digest()


def encoded(code: MachineCode) -> bytes:
    """Give machine code as bytes: a line that tells the result and a size, and both objects."""
    return f"{code.result} {len(code.kernel)}\n".encode() + code.kernel + code.entry


def decoded(content: bytes) -> MachineCode:
    """Read the same."""
    line, _, objects = content.partition(b"\n")
    result, _, size = line.decode().partition(" ")
    return MachineCode(result, objects[: int(size)], objects[int(size) :])
