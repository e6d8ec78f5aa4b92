"""What machine code gets of Python's values: numbers of eight bytes each, and a kind that tells their types.

A number is itself; of an array it is the place of the object, in which the rest stands; a tuple is the
numbers of all it holds. To look through a large named tuple takes longer than many a kernel runs, so one
that is passed on again and again is packed once.
"""

from collections.abc import Callable
from functools import cache
from struct import Struct
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

T = TypeVar("T")
Described = tuple[str, bytes]
"""The kind of a value, and its numbers."""

CONTIGUOUS, TRANSPOSED, ALIGNED, WRITABLE = 0x1, 0x2, 0x100, 0x400
"""NumPy's flags that make another type to Numba."""

RELEVANT = CONTIGUOUS | TRANSPOSED | ALIGNED | WRITABLE

_integer = Struct("q").pack
_real = Struct("d").pack


def described(value: Any) -> Described:
    """Give the kind of a value, and its numbers."""
    return _WAYS[type(value)](value)


def described_array(array: npt.NDArray[Any]) -> Described:
    """Give the kind of an array, and the place of the object."""
    return array_kind(array.dtype, array.ndim, array.flags.num & RELEVANT), _integer(id(array))


@cache
def array_kind(dtype: np.dtype[Any], dimensions: int, flags: int) -> str:
    """Give the kind of arrays; those that lie in both orders, as a single row does, count as contiguous."""
    if flags & CONTIGUOUS:
        flags &= ~TRANSPOSED
    return f"{dtype.str}[{dimensions},{flags:x}]"


def described_scalar(value: np.generic) -> Described:
    """Give the kind of one of NumPy's numbers, and itself, made eight bytes long."""
    return value.dtype.name, value.tobytes().ljust(8, b"\0")


def described_tuple(values: tuple[Any, ...]) -> Described:
    """Give the kind of a tuple, and its numbers; those of a packed one are ready."""
    ready: Described | None = getattr(values, "ready_numbers", None)
    if ready is not None:
        return ready
    parts = [described(value) for value in values]
    kinds = ",".join([kind for kind, _ in parts])
    return f"{plain_type(values).__name__}({kinds})", b"".join([numbers for _, numbers in parts])


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
        bool: lambda value: ("bool", _integer(value)),
        int: lambda value: ("int64", _integer(value)),
        float: lambda value: ("float64", _real(value)),
    }
)


@cache
def packed_type(plain: type) -> Any:
    """Give the type of the packed tuples of a type; a copy of one has other arrays, and is a plain tuple."""
    own = {"plain_type": plain, "__reduce__": lambda values: (tuple.__new__, (plain, tuple(values)))}
    return type(plain.__name__, (plain,), own)


def with_numbers(values: T) -> T:
    """Give an equal tuple that keeps its numbers ready."""
    if hasattr(values, "ready_numbers"):
        return values
    fields = cast(tuple[Any, ...], values)
    result = tuple.__new__(packed_type(plain_type(values)), fields)
    result.ready_numbers = described_tuple(fields)
    return cast(T, result)


def unpacked(value: Any) -> Any:
    """Give what was packed as it was before."""
    if not isinstance(value, tuple):
        return value
    return tuple.__new__(plain_type(value), [unpacked(part) for part in value])


def plain_type(values: Any) -> type:
    """Give the type of a tuple, or the one that it had before it was packed."""
    return getattr(values, "plain_type", type(values))
