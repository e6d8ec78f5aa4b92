"""What kernels take and give, from their annotations.

An annotation is made of array aliases that state dtype and dimensions, numbers, tuples and named tuples. A
union, or ``Annotated[Any, one | other]``, is a choice: a kernel has a signature for each, and what is chosen
holds for all its arguments. ``Annotated[Table, one]`` is a named tuple in which the choice is made.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from classgram.runtime.compiled.arguments import INTEGER, REAL, array_kind, tuple_kind

NUMBERS: dict[Any, type[np.generic]] = {int: np.int64, float: np.float64, bool: np.bool_}
"""What Python's own numbers are to a kernel."""

DIMENSIONS = 3
"""The most that arrays have."""

Choices = dict[frozenset[Any], Any]
"""What is chosen of each union."""


class AnnotationError(Exception):
    """An annotation that does not say enough."""


@dataclass(frozen=True)
class Array:
    """An array, its numbers side by side."""

    dtype: np.dtype[Any]
    dimensions: int

    @property
    def kind(self) -> str:
        """What the run side calls it."""
        return array_kind(self.dtype, self.dimensions)


@dataclass(frozen=True)
class Number:
    """A single number."""

    dtype: np.dtype[Any]

    @property
    def kind(self) -> str:
        """What the run side calls it."""
        return REAL if self.dtype.kind == "f" else INTEGER


@dataclass(frozen=True)
class Record:
    """A tuple, named or not."""

    own: type
    parts: tuple["Value", ...]

    @property
    def kind(self) -> str:
        """What the run side calls it."""
        return tuple_kind(self.own, [part.kind for part in self.parts])


Value = Array | Number | Record


@dataclass(frozen=True)
class Signature:
    """What a kernel takes and gives for one choice."""

    arguments: tuple[Value, ...]
    result: Value | None

    @property
    def kinds(self) -> str:
        """What the run side finds it by."""
        return ";".join(argument.kind for argument in self.arguments)


def signatures_of(function: Callable[..., Any]) -> list[Signature]:
    """Give all signatures of a kernel."""
    hints = get_type_hints(function, include_extras=True)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    place = f"kernel {function.__module__}.{function.__qualname__}"
    for name in (*names, "return"):
        if name not in hints:
            raise AnnotationError(f"{place}, {name}: there is no annotation")
    unions = sorted({union for name in names for union in unions_in(hints[name])}, key=str)
    return [
        Signature(
            tuple(value_of(hints[name], chosen, f"{place}, argument {name}") for name in names),
            result_of(hints["return"], chosen, f"{place}, result"),
        )
        for chosen in all_choices(unions)
    ]


def all_choices(unions: list[frozenset[Any]]) -> Iterator[Choices]:
    """Give every way to choose one of each union."""
    for chosen in product(*(sorted(union, key=str) for union in unions)):
        yield dict(zip(unions, chosen, strict=True))


def union_of(annotation: Any) -> frozenset[Any] | None:
    """Give the alternatives that an annotation leaves open, or None."""
    if get_origin(annotation) is Annotated and get_args(annotation)[0] is Any:
        annotation = get_args(annotation)[1]
    return frozenset(get_args(annotation)) if get_origin(annotation) in (Union, UnionType) else None


def unions_in(annotation: Any) -> set[frozenset[Any]]:
    """Give all unions that an annotation leaves open, in any depth."""
    union = union_of(annotation)
    if union is not None:
        return {union}.union(*map(unions_in, union))
    if get_origin(annotation) is Annotated:
        whole, *settled = get_args(annotation)
        return {union for union in unions_in(whole) if not union.intersection(settled)}
    return set[frozenset[Any]]().union(*(unions_in(part) for _, part in parts_of(annotation)))


def parts_of(annotation: Any) -> list[tuple[str, Any]]:
    """Give the names and annotations of what a tuple holds; of anything else, none."""
    if get_origin(annotation) is tuple:
        return [(f"item {place}", part) for place, part in enumerate(get_args(annotation))]
    if isinstance(annotation, type) and issubclass(annotation, tuple):
        return list(get_type_hints(annotation, include_extras=True).items())
    return []


def value_of(annotation: Any, chosen: Choices, place: str) -> Value:
    """Give what an annotation states, once all choices are made; an error names the place."""
    union = union_of(annotation)
    if union is not None:
        return value_of(chosen[union], chosen, place)
    if get_origin(annotation) is Annotated:
        whole, *settled = get_args(annotation)
        made = {union: one for union in unions_in(whole) for one in settled if one in union}
        return value_of(whole, {**chosen, **made}, place)
    if get_origin(annotation) is np.ndarray:
        return array_of(annotation, place)
    number = NUMBERS.get(annotation, annotation)
    if isinstance(number, type) and issubclass(number, np.number | np.bool_):
        return Number(np.dtype(number))
    parts = parts_of(annotation)
    if not parts or any(part is Ellipsis for _, part in parts):
        raise AnnotationError(f"{place}: {annotation} does not say what it holds")
    own = annotation if isinstance(annotation, type) and get_origin(annotation) is None else tuple
    return Record(own, tuple(value_of(part, chosen, f"{place}, {name}") for name, part in parts))


def array_of(annotation: Any, place: str) -> Array:
    """Give what the annotation of an array states."""
    shape, dtype = get_args(annotation)
    dimensions, held = get_args(shape), get_args(dtype)
    if not dimensions or Ellipsis in dimensions:
        raise AnnotationError(f"{place}: {annotation} does not say how many dimensions the array has")
    if len(dimensions) > DIMENSIONS:
        raise AnnotationError(f"{place}: an array has more than {DIMENSIONS} dimensions")
    if len(held) != 1 or not isinstance(held[0], type) or np.dtype(held[0]).kind not in "iufb":
        raise AnnotationError(f"{place}: {annotation} does not say what numbers the array holds")
    return Array(np.dtype(held[0]), len(dimensions))


def result_of(annotation: Any, chosen: Choices, place: str) -> Value | None:
    """Give what a kernel's result is: nothing, a number, or a tuple of numbers."""
    if annotation is NoneType:
        return None
    value = value_of(annotation, chosen, place)
    if not all(isinstance(part, Number) for part in parts_of_result(value)):
        raise AnnotationError(f"{place}: kernels give numbers and tuples of numbers")
    return value


def parts_of_result(value: Value | None) -> tuple[Value, ...]:
    """Give the numbers of a result."""
    if value is None:
        return ()
    return value.parts if isinstance(value, Record) else (value,)
