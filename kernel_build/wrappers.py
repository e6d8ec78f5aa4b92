"""The ways into kernels: functions that take a flat list of numbers, in the form that Numba translates.

All have one type, int32(int64* numbers, int64* results), whatever the kernel takes.
"""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import carray, cfunc, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

from kernel_build.signatures import Array, Number, Record, Signature, Value, parts_of_result

ENTRY = types.int32(types.CPointer(types.int64), types.CPointer(types.int64))  # type: ignore[no-untyped-call]

RESULTS = {"i": "int", "u": "uint", "f": "float", "b": "bool"}
"""What the run side calls results, by NumPy's letter."""


@intrinsic
def pointer_at(context: Any, address: Any) -> Any:
    """Make a pointer of an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return types.voidptr(address), generate


class Wrapper:
    """The source of a way into a kernel."""

    def __init__(self, kernel: Callable[..., Any], signature: Signature) -> None:
        self.names: dict[str, Any] = {
            "__name__": __name__,
            "np": np,
            "carray": carray,
            "pointer_at": pointer_at,
            "kernel": kernel,
        }
        places = count()
        arguments = ", ".join(self._expression(value, places) for value in signature.arguments)
        results = list(written(signature.result))
        lines = [f"numbers = carray(inputs, ({next(places)},))"]
        lines += [f"{'result = ' if results else ''}kernel({arguments})"]
        lines += [f"room = carray(outputs, ({len(results)},))"] if results else []
        lines += [f"room[{place}] = {result}" for place, result in enumerate(results)]
        self.source = "\n    ".join(["def enter(inputs, outputs):", *lines, "return 0\n"])

    def _expression(self, value: Value, places: Iterator[int]) -> str:
        """Give the expression that reads a value from the numbers."""
        if isinstance(value, Record):
            parts = "".join(f"{self._expression(part, places)}, " for part in value.parts)
            return f"{self._name_of(value.own)}({parts})"
        first = f"numbers[{next(places)}]"
        if isinstance(value, Array):
            shape = "".join(f"numbers[{next(places)}], " for _ in range(value.dimensions))
            return f"carray(pointer_at({first}), ({shape}), np.{value.dtype.type.__name__})"
        return read_number(value, first)

    def _name_of(self, own: type) -> str:
        """Give the name of a named tuple in the source, and none for other tuples."""
        if own is tuple:
            return ""
        name = f"{own.__name__}_of_{own.__module__.replace('.', '_')}"
        self.names[name] = own
        return name

    def translated(self) -> Any:
        """Have Numba translate it."""
        exec(compile(self.source, __file__, "exec"), self.names)
        return cfunc(ENTRY, error_model="numpy")(self.names["enter"])


def read_number(value: Number, place: str) -> str:
    """Give the expression that makes of eight bytes a number of the type that a kernel states."""
    if value.dtype.kind == "f":
        bits = f"np.int64({place}).view(np.float64)"
        return bits if value.dtype == np.float64 else f"np.{value.dtype.type.__name__}({bits})"
    if value.dtype.kind == "b":
        return f"{place} != 0"
    return place if value.dtype == np.int64 else f"np.{value.dtype.type.__name__}({place})"


def written(result: Value | None) -> Iterator[str]:
    """Give the expressions that make eight bytes of the numbers of a result."""
    for place, part in enumerate(parts_of_result(result)):
        name = f"result[{place}]" if isinstance(result, Record) else "result"
        real = isinstance(part, Number) and part.dtype.kind == "f"
        yield f"np.float64({name}).view(np.int64)" if real else f"np.int64({name})"


def result_kind(result: Value | None) -> str:
    """Tell the run side how to read a result."""
    kinds = ",".join(RESULTS[part.dtype.kind] for part in parts_of_result(result) if isinstance(part, Number))
    return f"({kinds})" if isinstance(result, Record) else kinds


def as_part(kernel: Any) -> Any:
    """Give a kernel as Numba calls it from another."""
    is_compiled = hasattr(kernel, "py_func")
    return kernel if is_compiled else numba.njit(nogil=True, error_model="numpy")(kernel)
