"""Strings from whatever holds them: lists, data frames, datasets, Arrow data; none is imported.

Data is told apart by what it can do, so that this works with packages that are not installed.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from classgram.errors import InputError


class Tabular(Protocol):
    """A table of columns, such as an Arrow table, which need not be iterable."""

    @property
    def schema(self) -> Any:
        """What the columns are."""


def iterate_strings(data: Any, field: str) -> Iterator[str]:
    """Return every text of the data in order, missing ones as empty; ``field`` names the column of a table.

    >>> list(iterate_strings([{"text": "the cat", "n": 1}, {"text": None, "n": 2}], "text"))
    ['the cat', '']
    """
    for value in _column_values(data, field):
        yield "" if _is_missing(value) else value


def _column_values(data: Any, field: str) -> Iterator[Any]:
    """Return the values of the one column of texts."""
    if isinstance(data, str | bytes):
        raise InputError("give a list of strings, not one string")
    if isinstance(data, Mapping):
        yield from _column_values(_named_value(data, field), field)
    elif hasattr(data, "collect"):  # a lazy data frame
        yield from _column_values(data.collect(), field)
    elif hasattr(data, "to_pylist") and not _column_names(data):  # an Arrow array
        for chunk in getattr(data, "chunks", [data]):
            yield from chunk.to_pylist()
    elif hasattr(data, "select_columns"):  # a dataset, whose other columns need not be decoded
        _check_column(field, _column_names(data))
        yield from _row_values(data.select_columns([field]) if _column_names(data) else data, field)
    elif hasattr(data, "column"):  # an Arrow table or record batch
        _check_column(field, _column_names(data))
        yield from _column_values(data.column(field), field)
    elif _column_names(data) and hasattr(data, "__getitem__"):  # a data frame
        _check_column(field, _column_names(data))
        yield from _row_values(data[field], field)
    else:
        yield from _row_values(data, field)


def _row_values(rows: Any, field: str) -> Iterator[Any]:
    """Return the values of rows that are texts, records with fields, Arrow scalars or record batches."""
    if not isinstance(rows, Iterable):
        raise InputError(f"{rows!r:.60} contains no texts; give strings, a data frame or a dataset")
    for row in rows:
        if isinstance(row, Mapping):
            yield _named_value(row, field)
        elif hasattr(row, "as_py"):
            yield row.as_py()
        elif hasattr(row, "to_batches") or (hasattr(row, "column") and hasattr(row, "schema")):
            yield from _column_values(row, field)
        else:
            yield row


def _column_names(data: Any) -> list[str]:
    """Return the names of the columns of a table, none for anything else."""
    for attribute in ("column_names", "columns"):
        names = getattr(data, attribute, None)
        if names is not None and not callable(names):
            return [name for name in names if isinstance(name, str)]
    return list(getattr(getattr(data, "schema", None), "names", []))


def _check_column(field: str, names: list[str]) -> None:
    """Refuse a column that is not there."""
    if names and field not in names:
        raise InputError(f"no column {field!r}; name one with ReadOptions(field=...) of: {', '.join(names)}")


def _named_value(record: Mapping[str, Any], field: str) -> Any:
    """Return a field of a record, or a column of columns."""
    if field not in record:
        held = ", ".join(map(str, record)) or "none"
        raise InputError(f"no field {field!r}; choose one of: {held}, or name it with ReadOptions(field=...)")
    return record[field]


def _is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, or a data frame's own missing value."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)
