"""``V D``, then ``word v1 ... vD``: word vectors, which are written but not read."""

from classgram.class_files.file_format import FileFormat, FoundMembers, Lines, real_number
from classgram.classes.class_list import ClassList, Member
from classgram.errors import InputError


def _are_vectors(lines: Lines) -> bool:
    """Whether lines are V and D, then V lines of a word and D numbers; the first of these is looked at."""
    head = lines[0].data.split()
    if len(head) != 2 or not all(field.isdigit() for field in head) or len(lines) < 2:
        return False
    rows, width = int(head[0]), int(head[1])
    fields = lines[1].data.split()
    return (
        len(lines) == rows + 1
        and len(fields) == width + 1
        and width > 1
        and all(real_number(field) is not None for field in fields[1:])
    )


def _refuse(lines: Lines, name: str) -> FoundMembers:
    raise InputError(f"{name}: contains word vectors, which are no classes; name the classes they came from")


def _write(listed: ClassList) -> str:
    """Return the header, then a line for each word by falling count."""
    members = sorted(listed.members, key=lambda member: (-(member.seen or 0), member.word))
    rows = (f"{member.word} {' '.join(f'{value:.6g}' for value in _vector(member))}\n" for member in members)
    return f"{len(members)} {len(_vector(members[0]))}\n{''.join(rows)}"


def _vector(member: Member) -> list[float]:
    assert member.vector is not None
    return member.vector.tolist()


FORMAT = FileFormat("word2vec", (".vec",), _write, read=_refuse, certain=_are_vectors, needs="vectors")
