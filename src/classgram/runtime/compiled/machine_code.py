"""Machine code: a kernel as the compiler left it, and the way in, linked and called without the compiler."""

import ctypes
from collections.abc import Callable
from functools import cache
from itertools import count
from struct import Struct
from typing import Any, NamedTuple

from llvmlite import binding

ENTRY = "enter_kernel"
"""The name of the way in: it takes the numbers of all arguments, and room for those of the result."""

FINE = (0, -2)
"""What Numba's functions give that ended well: with a result, and without."""

Call = Callable[[bytes], Any]
_prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_char_p)
_numbers = count()
_loaded: list[Any] = []
"""What is loaded stays until the process ends."""


class MachineCode(NamedTuple):
    """A kernel for arguments of some types."""

    result: str
    """What it gives: a letter of ``struct`` for each number, in brackets if they are a tuple."""
    kernel: bytes
    """An object file, of the kind that this machine's linker takes."""
    entry: bytes
    """Another one, with the way in."""


class KernelError(RuntimeError):
    """A kernel did not end well."""


@cache
def linker() -> Any:
    """Give what lays object files into memory."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.create_lljit_compiler(suppress_errors=True)


def linked(code: MachineCode, name: str) -> Call:
    """Load machine code; a RuntimeError tells that it calls something that is not here."""
    builder = binding.JITLibraryBuilder()
    builder.add_object_img(code.kernel).add_object_img(code.entry).add_current_process().export_symbol(ENTRY)
    library = builder.link(linker(), f"{name} {next(_numbers)}")
    _loaded.append(library)
    return with_result(_prototype(library[ENTRY]), code.result, name)


def with_result(enter: Any, result: str, name: str) -> Call:
    """Give a function that calls machine code and reads what it gives."""
    layout = Struct(result.strip("()"))
    room_type = ctypes.c_char * layout.size

    def run(numbers: bytes) -> None:
        check(enter(numbers, None), name)

    def give(numbers: bytes) -> Any:
        room = room_type()
        check(enter(numbers, room), name)
        values = layout.unpack(room)
        return values if result.startswith("(") else values[0]

    return give if result else run


def check(status: int, name: str) -> None:
    """Raise an error where a kernel did not end well."""
    if status not in FINE:
        raise KernelError(f"the kernel {name} ended with status {status}")
