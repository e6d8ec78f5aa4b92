"""Options as keyword arguments: which dataclass each belongs to, and whether its value is possible."""

from dataclasses import fields
from difflib import get_close_matches
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from classgram.errors import InputError


def as_keywords(*options: Any) -> dict[str, Any]:
    """Return the fields of options dataclasses as keyword arguments.

    >>> from classgram.options import MixtureOptions
    >>> as_keywords(MixtureOptions(cache=True))
    {'cache': True, 'fast': False}
    """
    return {field.name: getattr(one, field.name) for one in options for field in fields(one)}


def from_keywords(call: str, given: dict[str, Any], *kinds: type) -> list[Any]:
    """Return an instance of each options dataclass, made from the keyword arguments of a call."""
    homes = {name: (kind, hint) for kind in kinds for name, hint in get_type_hints(kind).items()}
    made: dict[type, dict[str, Any]] = {kind: {} for kind in kinds}
    for name, value in given.items():
        if name not in homes:
            near = get_close_matches(name, homes, 1)
            advice = f"; did you mean {near[0]!r}?" if near else f"; it has {', '.join(sorted(homes))}"
            raise TypeError(f"{call}() has no option {name!r}{advice}")
        kind, hint = homes[name]
        made[kind][name] = _checked(name, value, hint)
    return [kind(**values) for kind, values in made.items()]


def _checked(name: str, value: Any, hint: Any) -> Any:
    """Return an option's value in the type of its field, or raise InputError where it cannot be one."""
    if get_origin(hint) is tuple:
        # One number is as good as a list of one.
        value = tuple(value) if isinstance(value, list | tuple) else (value,)
    elif isinstance(value, str) and hint in (Path, Path | None):
        value = Path(value)
    if not _fits(value, hint):
        raise InputError(f"{name}={value!r}: must be {_described(hint)}")
    # A number of NumPy's becomes one of Python's.
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else value


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value is one of a type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return isinstance(value, str) and value in arguments
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in arguments)
    if origin is tuple:
        return all(_fits(one, arguments[0]) for one in value)
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, {int: Integral, float: Real}.get(hint, hint))


def _described(hint: Any) -> str:
    """Return the name of a type, for people."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return ", ".join(map(repr, arguments))
    if origin in (Union, UnionType):
        return " or ".join(_described(one) for one in arguments)
    if origin is tuple:
        return f"a list of {_described(arguments[0])}"
    return "None" if hint is type(None) else str(hint.__name__)
