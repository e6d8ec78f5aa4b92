"""The library of kernels: made when the package is built, for several levels of processors."""

import ctypes
import platform
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from classgram.errors import InputError
from classgram.runtime.compiled.calls import Entry, LibraryKernel
from classgram.runtime.compiled.results import KernelError
from classgram.runtime.compiled.sources import are_editable, digest_of_sources

FOLDER = Path(__file__).parent / "libraries"
NAME = "kernels-v"
"""What the name of a library begins with; the level of the processors that it needs follows."""

MANIFEST, LEVEL = "classgram_manifest", "classgram_level"
"""What a library exports besides kernels: a text (see Library), and a function that gives the level of this
processor."""

_prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_char_p)


class NoLibraryError(InputError):
    """There is no library that this processor can run and that is up to date."""


class Library(NamedTuple):
    """A library that is loaded."""

    level: int
    """The level of the processors that it was made for."""
    entries: dict[str, list[Entry]]
    """The machine code of each kernel, by its full name."""

    @property
    def processor(self) -> str:
        """The name of that level."""
        machine = platform.machine()
        return f"x86-64-v{self.level}" if machine in ("x86_64", "AMD64") else machine

    def kernel(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Give a kernel as Python calls it."""
        name = f"{function.__module__}.{function.__qualname__}"
        if name not in self.entries:
            raise KernelError(f"the library has no kernel {name}; CLASSGRAM_KERNELS=numba compiles it")
        return LibraryKernel(function, self.entries[name])


def load_library() -> Library:
    """Load the best library for this processor."""
    files = {int(path.stem.removeprefix(NAME)): path for path in FOLDER.glob(f"{NAME}*")}
    if not files:
        raise NoLibraryError("the package was built without compiled kernels")
    # The way to ask for the processor's level needs no more than the lowest one.
    lowest = opened(files[min(files)])
    here = int(lowest[LEVEL]())
    fitting = [level for level in files if level <= here]
    if not fitting:
        raise NoLibraryError(f"the compiled kernels need a processor of level {min(files)}, this is {here}")
    level = max(fitting)
    return read_library(lowest if level == min(files) else opened(files[level]), level)


def opened(path: Path) -> ctypes.CDLL:
    """Open a library, which stays open until the process ends."""
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise NoLibraryError(f"the compiled kernels cannot be loaded: {error}") from None


def read_library(library: ctypes.CDLL, level: int) -> Library:
    """Read what a library holds: a digest, and in a line each a kernel with what it takes and gives."""
    text = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(library, MANIFEST))).decode()
    digest, *lines = text.splitlines()
    if are_editable() and digest != digest_of_sources():
        raise NoLibraryError("the compiled kernels are older than their sources")
    entries = defaultdict(list)
    for line in lines:
        name, symbol, result, kinds = line.split("\t")
        entries[name].append(Entry(tuple(kinds.split(";")), _prototype((symbol, library)), result))
    return Library(level, dict(entries))
