"""``word TAB class``, as clustercat writes it."""

from classgram.class_files.file_format import FileFormat, parse_table, sorted_rows, two_columns
from classgram.classes.class_list import ClassList


def _write(listed: ClassList) -> str:
    """Return lines by class, then falling count, then word; mkcls's class numbers are shifted to 0."""
    numbers = listed.numbers()
    first = min(numbers.values(), default=0) if listed.format in ("mkcls", "cats") else 0
    return two_columns(sorted_rows(listed, {name: number - first for name, number in numbers.items()}))


FORMAT = FileFormat(
    "clustercat",
    (".clustercat",),
    _write,
    parse_table,
    line="a word, a TAB, its class, and perhaps a TAB and its count",
    plausible=lambda lines, named: named,
    sentence_ends=True,
)
