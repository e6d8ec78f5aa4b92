"""Tables of results: columns, entries, and the gaps where a cell has no result."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from classgram.reproduction.cells import Cell


class Gap(NamedTuple):
    """An entry that is missing, and why."""

    reason: str


Entry = int | float | str | None | Gap

Results = Callable[[Cell], dict[str, Any] | Gap]
"""Gives the results of a cell."""

Form = Literal["text", "count", "perplexity", "percent", "seconds", "criterion", "ratio", "exponent"]


class Column(NamedTuple):
    """A column: its name for programs, its heading for people, and how its entries are written."""

    key: str
    heading: str
    form: Form = "perplexity"


@dataclass(frozen=True)
class Table:
    """A filled table."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = ()

    def column(self, key: str) -> list[Entry]:
        """Return all entries of a column."""
        place = [column.key for column in self.columns].index(key)
        return [row[place] for row in self.rows]


@dataclass(frozen=True)
class Experiment:
    """A table of the paper, or another question: the cells that it needs, and the tables they fill."""

    name: str
    title: str
    cells: tuple[Cell, ...]
    fill: Callable[[Results], list[Table]] = field(repr=False)


def entry(results: Results, cell: Cell, key: str) -> Entry:
    """Return one figure of a cell, or the gap in its place."""
    found = results(cell)
    if isinstance(found, Gap):
        return found
    value: Entry = found.get(key)
    return value


def number(value: Entry) -> float | None:
    """Return an entry as a number; None if it is not one."""
    return float(value) if isinstance(value, int | float) else None


def change(reference: Entry, value: Entry) -> float | None:
    """Return by how many percent a value is above the reference."""
    a, b = number(reference), number(value)
    return 100 * (b - a) / a if a and b is not None else None


def improvement(reference: Entry, value: Entry) -> float | None:
    """Return by how many percent a value is below the reference, as the paper has it."""
    changed = change(reference, value)
    return None if changed is None else -changed


def ratio(one: Entry, two: Entry) -> float | None:
    """Return the quotient of two entries; None without it."""
    a, b = number(one), number(two)
    return a / b if a is not None and b else None


def exponent(xs: Sequence[Entry], ys: Sequence[Entry]) -> float | None:
    """Return p of y = a x^p, by least squares of the logarithms; None with fewer than two points.

    >>> round(exponent([1, 10, 100], [3, 300, 30000]), 6)
    2.0
    """
    points = [(math.log(x), math.log(y)) for x, y in _known_pairs(xs, ys) if x > 0 and y > 0]
    if len({x for x, _ in points}) < 2:
        return None
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


def _known_pairs(xs: Sequence[Entry], ys: Sequence[Entry]) -> list[tuple[float, float]]:
    """Return the pairs of two columns in which both are numbers."""
    pairs = [(number(x), number(y)) for x, y in zip(xs, ys, strict=True)]
    return [(x, y) for x, y in pairs if x is not None and y is not None]


def correlation(xs: Sequence[Entry], ys: Sequence[Entry]) -> float | None:
    """Return the linear correlation of two columns; None with fewer than three pairs or all alike.

    >>> round(correlation([1, 2, 3], [9, 8, 7]), 6)
    -1.0
    """
    pairs = _known_pairs(xs, ys)
    if len(pairs) < 3:
        return None
    mean_x, mean_y = (sum(pair[side] for pair in pairs) / len(pairs) for side in (0, 1))
    spreads = [sum((x - mean_x) ** 2 for x, _ in pairs), sum((y - mean_y) ** 2 for _, y in pairs)]
    product = math.sqrt(spreads[0]) * math.sqrt(spreads[1])
    return sum((x - mean_x) * (y - mean_y) for x, y in pairs) / product if product else None


def rank_correlation(xs: Sequence[Entry], ys: Sequence[Entry]) -> float | None:
    """Return Spearman's correlation of two columns: that of the ranks."""
    pairs = _known_pairs(xs, ys)
    return correlation(ranks([x for x, _ in pairs]), ranks([y for _, y in pairs]))


def ranks(values: Sequence[float]) -> list[float]:
    """Return the 0-based rank of each value; ties get their mean rank."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def written(value: Entry, form: Form) -> str:
    """Return an entry for people."""
    if isinstance(value, Gap):
        return value.reason
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    return _FORMS[form](value)


def _written_perplexity(value: float) -> str:
    """Return a perplexity with at least three digits; the paper's as it prints them."""
    return f"{value:,.0f}" if value >= 1000 or isinstance(value, int) else f"{value:.1f}"


def _written_seconds(value: float) -> str:
    """Return seconds with at least three digits; the paper's are whole."""
    return f"{value:,.0f}" if value >= 100 or isinstance(value, int) else f"{value:.2f}"


_FORMS: dict[str, Callable[[float], str]] = {
    "text": str,
    "count": lambda value: f"{value:,.0f}",
    "perplexity": _written_perplexity,
    "percent": lambda value: f"{value:+.1f}",
    "seconds": _written_seconds,
    "criterion": lambda value: f"{value:.5g}",
    "ratio": lambda value: f"{value:.1f}",
    "exponent": lambda value: f"{value:.2f}",
}
