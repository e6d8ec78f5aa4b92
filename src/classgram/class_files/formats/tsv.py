"""``word TAB class TAB count``: the classes as a table."""

from classgram.class_files.file_format import FileFormat, parse_table, sorted_rows, two_columns
from classgram.classes.class_list import ClassList


def _write(listed: ClassList) -> str:
    """Return lines by class, then falling count, then word; without the counts where some are unknown."""
    rows = sorted_rows(listed, listed.numbers())
    if not listed.counted:
        return two_columns(rows)
    return "".join(f"{member.word}\t{number}\t{member.seen}\n" for number, member in rows)


FORMAT = FileFormat(
    "tsv",
    (".tsv",),
    _write,
    parse_table,
    line="a word, a TAB, its class, and perhaps a TAB and its count",
    needs="counts",
    sentence_ends=True,
    cluster_output=True,
)
