"""Python's values as machine code gets them: a list of numbers of eight bytes, and a kind that tells types.

An integer is itself, a float its bits; an array is the address of its data and its shape; a tuple is the
numbers of all that it holds. To look through a large named tuple takes longer than many a kernel runs, so one
that is passed again and again is prepared once.
"""

from collections.abc import Callable, Iterable
from functools import cache
from struct import Struct
from typing import Any, TypeVar, cast
from zlib import crc32

import numpy as np
import numpy.typing as npt

T = TypeVar("T")
Described = tuple[str, bytes]
"""The kind of a value, and its numbers."""

INTEGER, REAL = "int", "float"
"""The kinds of single numbers: of any width, since the way in makes of them what the kernel states."""

integer, unsigned, real = Struct("q").pack, Struct("Q").pack, Struct("d").pack
layouts = [Struct(f"P{dimensions}q").pack for dimensions in range(4)]


def described(value: Any) -> Described:
    """Give the kind of a value, and its numbers."""
    return _WAYS[type(value)](value)


def described_array(array: npt.NDArray[Any]) -> Described:
    """Give the kind of an array, and its address and shape."""
    flags = array.flags
    kind = array_kind(array.dtype, array.ndim, flags.c_contiguous and flags.aligned)
    return kind, layouts[array.ndim](array.ctypes.data, *array.shape)


@cache
def array_kind(dtype: np.dtype[Any], dimensions: int, regular: bool = True) -> str:
    """Give the kind of arrays; kernels take none whose numbers do not lie side by side."""
    if dimensions >= len(layouts):
        raise TypeError(f"kernels take arrays of up to {len(layouts) - 1} dimensions, not {dimensions}")
    foreign = "" if dtype.isnative else "foreign "
    return f"{foreign}{dtype.name}[{dimensions}]" + ("" if regular else " with gaps")


def described_scalar(value: np.generic) -> Described:
    """Give the kind of one of NumPy's numbers, and its number."""
    if value.dtype.kind == "f":
        return REAL, real(float(value))
    if value.dtype.kind not in "iub":
        raise TypeError(f"kernels take numbers, arrays and tuples of them, not {value.dtype}")
    return INTEGER, (unsigned if value.dtype.kind == "u" else integer)(int(value))


def described_tuple(values: tuple[Any, ...]) -> Described:
    """Give the kind of a tuple, and its numbers; those of a prepared one are there."""
    ready: Described | None = getattr(values, "ready_numbers", None)
    if ready is not None:
        return ready
    parts = [described(value) for value in values]
    kind = tuple_kind(plain_type(values), [kind for kind, _ in parts])
    return kind, b"".join([numbers for _, numbers in parts])


def tuple_kind(own: type, kinds: Iterable[str]) -> str:
    """Give the kind of tuples: a named one is told by its module, its name, and the names of its fields."""
    return f"{tuple_name(own)}({','.join(kinds)})"


@cache
def tuple_name(own: type) -> str:
    """Give what tells tuples of a type from others."""
    if own is tuple:
        return ""
    fields = ",".join(getattr(own, "_fields", ()))
    return f"{own.__module__}.{own.__qualname__}#{crc32(fields.encode()):08x}"


class Ways(dict[type, Callable[[Any], Described]]):
    """How values of each type are described; of a type not met before, as those of the type it extends."""

    def __missing__(self, kind: type) -> Callable[[Any], Described]:
        for base, way in (
            (tuple, described_tuple),
            (np.generic, described_scalar),
            (np.ndarray, described_array),
        ):
            if issubclass(kind, base):
                self[kind] = way
                return way
        raise TypeError(f"kernels take numbers, arrays and tuples of them, not {kind.__name__}")


_WAYS = Ways(
    {
        bool: lambda value: (INTEGER, integer(value)),
        int: lambda value: (INTEGER, integer(value)),
        float: lambda value: (REAL, real(value)),
    }
)


@cache
def prepared_type(plain: type) -> Any:
    """Give the type of prepared tuples; a copy of one has other arrays, and is a plain tuple."""
    own = {"plain_type": plain, "__reduce__": lambda values: (tuple.__new__, (plain, tuple(values)))}
    return type(plain.__name__, (plain,), own)


def with_numbers(values: T) -> T:
    """Give an equal tuple that keeps its numbers ready."""
    if hasattr(values, "ready_numbers"):
        return values
    fields = cast(tuple[Any, ...], values)
    result = tuple.__new__(prepared_type(plain_type(values)), fields)
    result.ready_numbers = described_tuple(fields)
    return cast(T, result)


def plain_type(values: Any) -> type:
    """Give the type of a tuple, or the one that it had before it was prepared."""
    return getattr(values, "plain_type", type(values))
