"""The door to compiled code: what kernels are marked with, and what is passed to them.

Kernels come from a library that was made when the package was built. Where there is none, Numba compiles them
when they are first called. ``CLASSGRAM_KERNELS`` chooses: ``library``, ``numba``, or ``python`` for neither.
"""

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np
import numpy.typing as npt

from classgram.errors import InputError
from classgram.runtime.compiled.arguments import with_numbers
from classgram.runtime.compiled.library import Library, NoLibraryError, load_library
from classgram.runtime.compiled.results import KernelError
from classgram.runtime.compiled.self_check import check_calls, mixed

__all__ = ["ENTRIES", "MODE", "frozen", "inlined", "kernel", "part", "prepared", "when_numba_compiles"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Number = TypeVar("Number", bound=np.generic)

LIBRARY, NUMBA, PYTHON, BUILD = "library", "numba", "python", "build"
"""Where kernels come from. To build a library, Numba compiles them and keeps nothing."""

ENTRIES: list[Callable[..., Any]] = []
"""All kernels that Python calls, in the order of their definition."""


class Mode(NamedTuple):
    """Where kernels come from in this process."""

    name: str
    library: Library | None = None
    folder: Path | None = None
    """Where Numba keeps what it compiles."""

    def __str__(self) -> str:
        """Say it in words."""
        if self.library:
            return f"compiled for {self.library.processor}"
        return "plain Python" if self.name == PYTHON else "compiled by Numba when first used"

    @property
    def compiles(self) -> bool:
        """Whether Numba compiles."""
        return self.name in (NUMBA, BUILD)


def chosen_mode(wanted: str) -> Mode:
    """Give the mode that is wanted; where none is, a library if there is one, and else Numba."""
    if wanted in (LIBRARY, ""):
        try:
            return Mode(LIBRARY, checked(load_library()))
        except NoLibraryError as error:
            if wanted or not find_spec("numba"):
                hint = "" if wanted else "; pip install 'classgram[numba]' lets Numba compile them"
                raise NoLibraryError(f"{error}{hint}") from None
            print(f"classgram: {error}; Numba compiles what is needed", file=sys.stderr)
    if wanted in (NUMBA, ""):
        from classgram.runtime.compiled.by_numba import cache_folder

        return Mode(NUMBA, folder=cache_folder())
    if wanted not in (PYTHON, BUILD):
        raise InputError(f"CLASSGRAM_KERNELS={wanted}: it can be {LIBRARY}, {NUMBA} or {PYTHON}")
    return Mode(wanted)


def checked(library: Library) -> Library:
    """Have a library show that it takes and gives all kinds of values."""
    try:
        check_calls(library.kernel(mixed))
    except (KernelError, TypeError) as error:
        raise NoLibraryError(f"the compiled kernels do not work here ({error})") from None
    return library


MODE = chosen_mode(os.environ.get("CLASSGRAM_KERNELS", ""))
"""Where kernels come from, chosen once."""


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a kernel that Python calls; its annotations must state all types (see arrays)."""
    ENTRIES.append(function)
    if MODE.library:
        return cast(Callable[P, R], MODE.library.kernel(function))
    return _compiled(function)


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a part of kernels, which only they call."""
    return _compiled(function)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a part of one kernel that is compiled into it, instead of on its own and then once more."""
    return _compiled(function, inline=True)


def _compiled(function: Callable[P, R], inline: bool = False) -> Callable[P, R]:
    if not MODE.compiles:
        return function
    from classgram.runtime.compiled.by_numba import compiled

    return cast(Callable[P, R], compiled(function, MODE.folder, inline))


def when_numba_compiles(action: Callable[[], None]) -> None:
    """Have something done if it is Numba that compiles: it may import it."""
    if MODE.compiles:
        action()


def prepared(values: T) -> T:
    """Give an equal (named) tuple that costs less to pass to kernels, for one that is passed many times."""
    return with_numbers(values) if MODE.library else values


def frozen(array: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """A read-only, contiguous view: the one form in which kernels get their inputs.

    A writable array is another type to Numba, and so another compilation of the same kernel.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


ENTRIES.append(mixed)
