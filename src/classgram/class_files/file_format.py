"""What a class-file format consists of, and what several formats share."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from classgram.classes.class_list import ClassList, Member
from classgram.errors import InputError
from classgram.options import ClassFormat


class Line(NamedTuple):
    """A line that is not blank, and its number in the file, from 1."""

    number: int
    data: bytes


Lines = Sequence[Line]
FoundMembers = Iterator[tuple[Line, Member]]
Needed = Literal["counts", "probabilities", "tree", "vectors"]


@dataclass(frozen=True)
class FileFormat:
    """A class-file format: how it is recognised, read and written.

    ``parse`` returns what a line says, None where it is no line of the format. Formats whose lines
    cannot be read one by one have ``read`` instead.
    """

    name: ClassFormat
    endings: tuple[str, ...]
    """The endings of file names that imply the format; of several that fit the longest decides."""
    write: Callable[[ClassList], str]
    """Returns the whole file; the list holds what ``needs`` names."""
    parse: Callable[[bytes], Member | None] | None = None
    read: Callable[[Lines, str], FoundMembers] | None = None
    """Returns the members of a whole file, given its lines and its name for messages."""
    line: str = ""
    """What a line holds, for error messages."""
    plausible: Callable[[Lines, bool], bool] = lambda lines, named: True
    """Whether lines that can be parsed may be of this format, given whether the file's name implies it."""
    certain: Callable[[Lines], bool] = lambda lines: False
    """Whether lines can be of no other format, whatever the file's name implies."""
    needs: Needed | None = None
    """What must be known of the words besides their classes."""
    sentence_ends: bool = False
    """Whether <s> and </s> are listed."""
    cluster_output: bool = False
    """Whether ``cluster`` writes a file, not a folder, where its output has one of the endings."""

    def fits(self, lines: Lines, named: bool) -> bool:
        """Whether a file may be of this format, by its lines, and by whether its name implies the format."""
        parse = self.parse
        if parse is None or any(parse(line.data) is None for line in lines):
            return False
        return self.plausible(lines, named)

    def members(self, lines: Lines, name: str) -> FoundMembers:
        """Yield the members listed in the lines of a file."""
        if self.read is not None:
            yield from self.read(lines, name)
            return
        assert self.parse is not None
        for line in lines:
            member = self.parse(line.data)
            if member is None:
                raise InputError(f"{name}, line {line.number}: expected {self.line} ({self.name})")
            yield line, member


def parse_table(data: bytes) -> Member | None:
    """Parse ``word TAB class [TAB count]``; spaces may separate the fields where there is no TAB."""
    fields = data.split(b"\t") if b"\t" in data else data.split()
    if not 2 <= len(fields) <= 3 or not fields[0] or len(fields[1].split()) != 1:
        return None
    count = whole_number(fields[2]) if len(fields) == 3 else None
    if len(fields) == 3 and count is None:
        return None
    return Member(fields[0].decode(), fields[1].strip().decode(), count)


def whole_number(field: bytes) -> int | None:
    """Return a count, None if it is none; real files also hold counts such as 3.0."""
    value = real_number(field)
    return int(value) if value is not None and value >= 0 and value == int(value) else None


def real_number(field: bytes) -> float | None:
    """Return a finite number or minus infinity, None if the field is neither."""
    try:
        value = float(field)
    except ValueError:
        return None
    # Python reads numbers such as 1_000, which other programs do not.
    return None if math.isnan(value) or value == math.inf or b"_" in field else value


def sorted_rows(listed: ClassList, numbers: dict[str, int]) -> list[tuple[int, Member]]:
    """Return class numbers and members by class, then falling count, then word."""
    rows = [(numbers[member.name], member) for member in listed.members]
    return sorted(rows, key=lambda row: (row[0], -(row[1].seen or 0), row[1].word))


def two_columns(rows: list[tuple[int, Member]]) -> str:
    """Return ``word TAB class`` lines in the given order."""
    return "".join(f"{member.word}\t{number}\n" for number, member in rows)


def log_share(member: Member) -> float:
    """Return ln p(word | class) of a member that has one."""
    assert member.log_probability is not None
    return member.log_probability
