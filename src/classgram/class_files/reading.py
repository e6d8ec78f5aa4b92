"""Class files: the classes of words as any program for word classes writes them, read in one way.

A format is named, or guessed: what the lines can be decides, and the file's name between several.
"""

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from classgram.classes.class_list import ClassList, Member, partition_list
from classgram.classes.partition import Partition
from classgram.clustering.start import STARTS
from classgram.errors import InputError
from classgram.files.compressed import COMPRESSED, display_name, open_decompressed
from classgram.files.folders import folder_kind
from classgram.options import ClassFormat
from classgram.text.reading import BYTE_ORDER_MARK

ENDINGS: dict[str, ClassFormat] = {
    ".vcb.classes": "mkcls",
    ".tsv": "tsv",
    ".paths": "paths",
    ".classes": "srilm",
    ".cls": "mkcls",
    ".cats": "cats",
    ".clustercat": "clustercat",
    ".aalto": "aalto",
    ".vec": "word2vec",
}
"""What names of files say. GIZA++ wants the classes that mkcls made under a name in .vcb.classes."""

CATS_HEADER = re.compile(rb";KategProblem:cats: *[0-9]+ +words: *([0-9]+) *")
DOLLAR = "mkcls-mapped-dollar-symbol-$"
"""What mkcls calls the word $ in .cats files, where $ itself stands for the ends of sentences."""


class Line(NamedTuple):
    """A line that is not blank, and where it stands."""

    number: int
    data: bytes


Parser = Callable[[Line], Member | None]
"""Gives what a line says in a format, None where it is no line of that format."""


def parse_listed(line: Line) -> Member | None:
    """``word TAB class [TAB count]``; spaces where there is no TAB."""
    fields = line.data.split(b"\t") if b"\t" in line.data else line.data.split()
    if not 2 <= len(fields) <= 3 or not fields[0] or len(fields[1].split()) != 1:
        return None
    count = whole_number(fields[2]) if len(fields) == 3 else None
    if len(fields) == 3 and count is None:
        return None
    return Member(fields[0].decode(), fields[1].strip().decode(), count)


def parse_path(line: Line) -> Member | None:
    """``bits TAB word TAB count``."""
    fields = line.data.split(b"\t")
    if not 2 <= len(fields) <= 3 or not fields[0] or not fields[1] or fields[0].strip(b"01"):
        return None
    count = whole_number(fields[2]) if len(fields) == 3 else None
    if len(fields) == 3 and count is None:
        return None
    return Member(fields[1].decode(), fields[0].decode(), count)


def parse_srilm(line: Line) -> Member | None:
    """``class probability word``, or ``class word`` without a probability."""
    fields = line.data.split()
    if len(fields) == 2:
        return Member(fields[1].decode(), fields[0].decode())
    probability = real_number(fields[1]) if len(fields) == 3 else None
    if probability is None or not 0 <= probability <= 1:
        return None
    logarithm = math.log(probability) if probability else -math.inf
    return Member(fields[2].decode(), fields[0].decode(), None, logarithm)


def parse_aalto(line: Line) -> Member | None:
    """``word TAB class ln-probability``."""
    word, tab, rest = line.data.partition(b"\t")
    fields = rest.split()
    logarithm = real_number(fields[1]) if len(fields) == 2 else None
    if not tab or not word or b"\t" in rest or logarithm is None or logarithm > 1e-6:
        return None
    return Member(word.decode(), fields[0].decode(), None, min(logarithm, 0.0))


PARSERS: dict[ClassFormat, Parser] = {
    "aalto": parse_aalto,
    "paths": parse_path,
    "srilm": parse_srilm,
    "tsv": parse_listed,
    "clustercat": parse_listed,
    "mkcls": parse_listed,
}
EXPECTED: dict[ClassFormat, str] = {
    "tsv": "a word, a TAB, its class, and perhaps a TAB and its count",
    "clustercat": "a word, a TAB, its class, and perhaps a TAB and its count",
    "mkcls": "a word, a TAB and its class",
    "paths": "a bit string, a TAB, a word, a TAB and its count",
    "srilm": "a class, a probability and one word, separated by spaces",
    "aalto": "a word, a TAB, its class, a space and ln p(word | class)",
}


def whole_number(field: bytes) -> int | None:
    """A count, or None; real files hold counts such as 3.0, too."""
    value = real_number(field)
    return int(value) if value is not None and value >= 0 and value == int(value) else None


def real_number(field: bytes) -> float | None:
    """A finite number or minus infinity, or None."""
    try:
        value = float(field)
    except ValueError:
        return None
    # Python reads numbers such as 1_000, which other programs do not.
    return None if math.isnan(value) or value == math.inf or b"_" in field else value


def format_of_name(path: str | Path) -> ClassFormat | None:
    """The format that a file's name says, packed or not; None if it says nothing."""
    name = Path(path).name.lower()
    for packing in COMPRESSED:
        name = name.removesuffix(packing)
    return next((form for ending, form in ENDINGS.items() if name.endswith(ending)), None)


def read_classes(path: str | Path, form: ClassFormat | None = None) -> ClassList:
    """Read the classes of words from a class file of any format, or from a folder made by cluster.

    Without ``form`` the format is guessed: where all lines can be lines of several formats, the
    name of the file decides between them, then which column holds no word twice.
    """
    path = Path(path)
    if path.is_dir() or form == "folder":
        return partition_list(load_partition(path), str(path))
    name = display_name(path)
    lines = list(file_lines(path))
    if not lines:
        raise InputError(f"{name}: holds no classes; name a class file or a folder made by cluster")
    chosen = form or guess_format(lines, path)
    if chosen == "word2vec":
        raise InputError(f"{name}: holds word vectors, which are no classes; name the classes they came from")
    if chosen == "cats":
        return checked_list(name, chosen, cats_members(lines, name))
    return checked_list(name, chosen, parsed_members(lines, name, chosen))


def read_start(name: str) -> Partition | ClassList | None:
    """Read the classes that ``--start`` names; None where it names a way to start instead."""
    if name in STARTS:
        return None
    path = Path(name)
    if not path.exists():
        raise InputError(f"{path}: no such file; --start takes {', '.join(STARTS)}, a class file or a folder")
    return load_partition(path) if path.is_dir() else read_classes(path)


def load_partition(path: Path) -> Partition:
    """Read a folder made by cluster; another kind of folder is an error that says so."""
    kind = folder_kind(path)
    if path.is_dir() and kind != "partition":
        held = f"holds {kind}, not classes" if kind else "is a folder without classes"
        raise InputError(f"{path}: {held}; name a class file or a folder made by cluster")
    return Partition.load(path)


def file_lines(path: Path) -> Iterator[Line]:
    """The lines of a file that hold anything, unpacked, checked to be UTF-8."""
    if str(path) != "-" and not path.exists():
        raise InputError(f"{path}: no such file; name a class file or a folder made by cluster")
    with open_decompressed(path) as file:
        for number, data in enumerate(file, start=1):
            data = data.removeprefix(BYTE_ORDER_MARK) if number == 1 else data
            try:
                data.decode()
            except UnicodeDecodeError:
                raise InputError(
                    f"{display_name(path)}, line {number}: is not UTF-8 text; convert the file first"
                ) from None
            if b"\0" in data:
                raise InputError(
                    f"{display_name(path)}, line {number}: holds a NUL byte; is it a class file?"
                )
            if data.strip():
                yield Line(number, data.rstrip(b"\r\n"))


def guess_format(lines: list[Line], path: Path) -> ClassFormat:
    """The format that lines have: what all of them can be, then what the name says."""
    if CATS_HEADER.fullmatch(lines[0].data):
        return "cats"
    if are_vectors(lines):
        return "word2vec"
    named = format_of_name(path)
    possible = [form for form in PARSERS if all(possible_line(form, line, named) for line in lines)]
    if not possible:
        # The reader of the most likely format says which line is wrong.
        return named if named in PARSERS else likeliest(lines)
    if "paths" in possible and repeats(lines, 0):
        return "paths"
    if named in possible:
        return named
    if "paths" in possible and repeats(lines, 1):
        return "tsv"
    return possible[0]


def possible_line(form: ClassFormat, line: Line, named: ClassFormat | None) -> bool:
    """Whether a line can be one of a format, without being told so.

    Lines of paths have three fields, mkcls's two, and SRILM's no TAB. The name must say so where two
    fields without a TAB are to be SRILM's, or two fields a path and a word.
    """
    if PARSERS[form](line) is None:
        return False
    if form == "srilm":
        return b"\t" not in line.data and (named == "srilm" or len(line.data.split()) > 2)
    if form == "paths":
        return line.data.count(b"\t") == 2 or named == "paths"
    return form != "mkcls" or line.data.count(b"\t") == 1


def likeliest(lines: list[Line]) -> ClassFormat:
    """The format that most lines have, for a file with some line that is wrong."""
    forms: tuple[ClassFormat, ...] = ("tsv", "paths", "srilm", "aalto")
    return max(forms, key=lambda form: sum(possible_line(form, line, None) for line in lines))


def repeats(lines: list[Line], column: int) -> bool:
    """Whether something stands twice in a column: then it holds classes, not words."""
    values = [line.data.split(b"\t")[column] for line in lines]
    return len(set(values)) < len(values)


def are_vectors(lines: list[Line]) -> bool:
    """Whether lines are word vectors: ``V D``, then V lines of a word and D numbers."""
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


def parsed_members(lines: list[Line], name: str, form: ClassFormat) -> Iterator[tuple[Line, Member]]:
    """What the lines of a file say, read in one format."""
    parse = PARSERS.get(form)
    if parse is None:
        raise InputError(f"{name}: {form} is a folder, and this is a file; name another format")
    for line in lines:
        member = parse(line)
        if member is None:
            raise InputError(f"{name}, line {line.number}: expected {EXPECTED[form]} ({form})")
        yield line, member


def cats_members(lines: list[Line], name: str) -> Iterator[tuple[Line, Member]]:
    """What a .cats file of mkcls says; words with commas in them cannot be told apart there."""
    found: list[tuple[Line, Member]] = []
    header = CATS_HEADER.fullmatch(lines[0].data)
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
        found += [(line, Member("$" if word == DOLLAR else word, number.decode())) for word in ordinary]
    if int(header[1]) != len(found) + 1 or not all(member.word for _, member in found):
        raise InputError(
            f"{name}: holds words with commas, which cannot be told apart there; read the file without .cats"
        )
    yield from found


def checked_list(name: str, form: ClassFormat, members: Iterator[tuple[Line, Member]]) -> ClassList:
    """The members as a list, no word in two classes."""
    found: dict[str, Member] = {}
    for line, member in members:
        known = found.setdefault(member.word, member)
        if known.name != member.name:
            raise InputError(
                f"{name}, line {line.number}: the word {member.word} is in two classes, "
                f"{known.name} and {member.name}; leave it in one"
            )
    return ClassList(name, form, tuple(found.values()))
