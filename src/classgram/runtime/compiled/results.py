"""What machine code gives: numbers of eight bytes, read as a value, a tuple, or a named tuple."""

import ctypes
from collections.abc import Callable
from struct import Struct
from typing import Any

Enter = Callable[[bytes, Any], int]
"""Machine code: it takes the numbers of all arguments, and room for those of the result."""

Call = Callable[[bytes], Any]
"""The same with its result read."""

LETTERS = {"int": "q", "uint": "Q", "float": "d", "bool": "?7x"}
"""How ``struct`` reads a number of each kind."""


class KernelError(RuntimeError):
    """A kernel did not end well, or there is none."""


def with_result(enter: Enter, result: str, make: Callable[..., Any] | None, name: str) -> Call:
    """Give a function that calls machine code and reads what it gives.

    ``result`` is the kind of its result, empty for none, or several in brackets; ``make`` makes a named tuple
    of these.
    """
    layout = Struct("".join(LETTERS[kind] for kind in result.strip("()").split(",") if kind))
    room_type = ctypes.c_char * layout.size

    def run(numbers: bytes) -> None:
        check(enter(numbers, None), name)

    def give(numbers: bytes) -> Any:
        room = room_type()
        check(enter(numbers, room), name)
        values = layout.unpack(room)
        if make:
            return make(*values)
        return values if result.startswith("(") else values[0]

    return give if result else run


def check(status: int, name: str) -> None:
    """Raise an error where a kernel did not end well."""
    if status:
        raise KernelError(f"the kernel {name} ended with status {status}")
