"""``class:word,word,``: the second file of mkcls, ``OUT.cats``, for people."""

import re
from collections import defaultdict

from classgram.class_files.file_format import FileFormat, FoundMembers, Line, Lines, whole_number
from classgram.class_files.formats.mkcls import mkcls_numbers
from classgram.classes.class_list import ClassList, Member
from classgram.errors import InputError

_HEADER = re.compile(rb";KategProblem:cats: *[0-9]+ +words: *([0-9]+) *")
_DOLLAR = "mkcls-mapped-dollar-symbol-$"
"""What mkcls calls the word $ here, where $ itself stands for the ends of sentences."""


def _read(lines: Lines, name: str) -> FoundMembers:
    """Return the members; words with commas in them cannot be told apart."""
    found: list[tuple[Line, Member]] = []
    header = _HEADER.fullmatch(lines[0].data)
    if header is None:
        raise InputError(f"{name}, line 1: expected ;KategProblem:cats: and the numbers of classes and words")
    for line in lines[1:]:
        if line.data.startswith((b";", b"Problem(", b" ", b"#value")):
            break
        number, colon, rest = line.data.partition(b":")
        if not colon or whole_number(number) is None:
            raise InputError(f"{name}, line {line.number}: expected a class, a colon and words (cats)")
        words = rest.removesuffix(b",").decode().split(",") if rest else []
        ordinary = (word for word in words if not (number == b"0" and word == "$"))
        found += [(line, Member("$" if word == _DOLLAR else word, number.decode())) for word in ordinary]
    if int(header[1]) != len(found) + 1 or not all(member.word for _, member in found):
        raise InputError(
            f"{name}: contains words with commas, which it does not separate; read the file without .cats"
        )
    yield from found


def _write(listed: ClassList) -> str:
    """Return the words of each class on one line."""
    numbers = mkcls_numbers(listed)
    words: dict[int, list[str]] = defaultdict(list)
    for member in sorted(listed.members, key=lambda member: member.word):
        words[numbers[member.name]].append((_DOLLAR if member.word == "$" else member.word) + ",")
    last = max(words)
    rows = "".join(f"{number}:{''.join(words[number])}\n" for number in range(1, last + 1))
    return f";KategProblem:cats: {last - 1}   words: {len(listed.members) + 1}\n0:$,\n{rows}"


FORMAT = FileFormat(
    "cats",
    (".cats",),
    _write,
    read=_read,
    certain=lambda lines: _HEADER.fullmatch(lines[0].data) is not None,
)
