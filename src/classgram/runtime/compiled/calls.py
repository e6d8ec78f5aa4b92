"""Kernels of the library as Python calls them: by the kinds of their arguments, without the GIL."""

from collections.abc import Callable
from functools import update_wrapper
from struct import Struct
from typing import Any, NamedTuple

from classgram.runtime.compiled.arguments import INTEGER, REAL, described, real
from classgram.runtime.compiled.results import Call, Enter, with_result

whole = Struct("q")
Kinds = tuple[str, ...]
"""The kinds of all arguments of a kernel."""


class Entry(NamedTuple):
    """Machine code for arguments of some kinds."""

    kinds: Kinds
    enter: Enter
    result: str


class LibraryKernel:
    """A function that runs as machine code of the library."""

    def __init__(self, function: Callable[..., Any], entries: list[Entry]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._name = function.__name__
        made = function.__annotations__.get("return")
        make = made if isinstance(made, type) and issubclass(made, tuple) else None
        self._calls: dict[Kinds, Call] = {
            entry.kinds: with_result(entry.enter, entry.result, make, self._name) for entry in entries
        }

    def __call__(self, *arguments: Any) -> Any:
        """Run the machine code for arguments of these kinds."""
        kinds, numbers = zip(*map(described, arguments), strict=True) if arguments else ((), ())
        call = self._calls.get(kinds) or self._converting(kinds)
        return call(b"".join(numbers))

    def _converting(self, given: Kinds) -> Call:
        """Give a call that makes floats of integers where the kernel takes floats, as Python would."""
        for taken, call in list(self._calls.items()):
            places = places_to_convert(",".join(given), ",".join(taken))
            if places is not None:
                self._calls[given] = call_with_floats(call, places)
                return self._calls[given]
        known = "\n  ".join(map(", ".join, self._calls))
        raise TypeError(f"the kernel {self._name} takes\n  {known}\nand not\n  {', '.join(given)}")


def places_to_convert(given: str, taken: str) -> list[int] | None:
    """Say which numbers are integers and should be floats; None where the kinds differ in anything else."""
    places, place = [], 0
    ours, theirs = split(given), split(taken)
    if len(ours) != len(theirs):
        return None
    for one, other in zip(ours, theirs, strict=True):
        # A kernel that states a plain tuple takes any named one, too.
        if other and one != other:
            if (one, other) != (INTEGER, REAL):
                return None
            places.append(place)
        place += numbers_of(one)
    return places


def split(kinds: str) -> list[str]:
    """Cut kinds into those of single values, and the brackets between them."""
    return kinds.replace("(", ",(,").replace(")", ",),").split(",")


def numbers_of(kind: str) -> int:
    """Give how many numbers a single value has: an array its address and its shape."""
    if kind in (INTEGER, REAL):
        return 1
    return int(kind.partition("[")[2][:1]) + 1 if "[" in kind else 0


def call_with_floats(call: Call, places: list[int]) -> Call:
    """Give a call that makes floats of the integers at some places first."""

    def run(numbers: bytes) -> Any:
        changed = bytearray(numbers)
        for place in places:
            here = slice(8 * place, 8 * place + 8)
            changed[here] = real(*whole.unpack(changed[here]))
        return call(bytes(changed))

    return run
