"""``word TAB class``, as mkcls writes it for GIZA++."""

from classgram.class_files.file_format import FileFormat, parse_table, two_columns
from classgram.classes.class_list import ClassList

_FIRST_CLASS = 2
"""mkcls numbers classes from here: 0 is for unknown words, 1 for words too rare to have a class."""


def mkcls_numbers(listed: ClassList) -> dict[str, int]:
    """Return class numbers from 2 on; those that mkcls itself assigned are kept."""
    numbers = listed.numbers()
    shift = 0 if listed.format == "mkcls" else max(_FIRST_CLASS - min(numbers.values()), 0)
    return {name: number + shift for name, number in numbers.items()}


def _write(listed: ClassList) -> str:
    """Return lines by word."""
    numbers = mkcls_numbers(listed)
    rows = [(numbers[member.name], member) for member in listed.members]
    return two_columns(sorted(rows, key=lambda row: row[1].word))


FORMAT = FileFormat(
    "mkcls",
    # GIZA++ looks for the classes that mkcls made under a name in .vcb.classes.
    (".cls", ".vcb.classes"),
    _write,
    parse_table,
    line="a word, a TAB and its class",
    plausible=lambda lines, named: named and all(line.data.count(b"\t") == 1 for line in lines),
    cluster_output=True,
)
