"""``bits TAB word TAB count``: the paths of a binary tree, as Brown clustering writes them."""

from classgram.class_files.file_format import FileFormat, Lines, whole_number
from classgram.classes.class_list import ClassList, Member


def _parse(data: bytes) -> Member | None:
    """Parse a line; the count may be missing."""
    fields = data.split(b"\t")
    if not 2 <= len(fields) <= 3 or not fields[0] or not fields[1] or fields[0].strip(b"01"):
        return None
    count = whole_number(fields[2]) if len(fields) == 3 else None
    if len(fields) == 3 and count is None:
        return None
    return Member(fields[1].decode(), fields[0].decode(), count)


def _repeats(lines: Lines, column: int) -> bool:
    """Whether something stands twice in a column: then it holds classes, not words."""
    values = [line.data.split(b"\t")[column] for line in lines]
    return len(set(values)) < len(values)


def _three_columns(lines: Lines) -> bool:
    """Whether every line is a path, a word and a count."""
    return all(line.data.count(b"\t") == 2 and _parse(line.data) is not None for line in lines)


def _write(listed: ClassList) -> str:
    """Return lines by path, then falling count, then word."""
    rows = sorted(listed.members, key=lambda member: (member.name, -(member.seen or 0), member.word))
    return "".join(f"{member.name}\t{member.word}\t{member.seen}\n" for member in rows)


FORMAT = FileFormat(
    "paths",
    (".paths",),
    _write,
    _parse,
    line="a bit string, a TAB, a word, a TAB and its count",
    plausible=lambda lines, named: named or (_three_columns(lines) and not _repeats(lines, 1)),
    certain=lambda lines: _three_columns(lines) and _repeats(lines, 0),
    needs="tree",
    cluster_output=True,
)
