"""Class files of any format, read as lists of words with their classes.

The format is given, or guessed from the lines and, where these fit several formats, the file's name.
"""

from collections.abc import Iterator
from pathlib import Path

from classgram.class_files.file_format import FoundMembers, Line, Lines
from classgram.class_files.registry import DEFAULT_FORMAT, FORMATS, format_of_name
from classgram.classes.class_list import ClassList, Member, partition_list
from classgram.classes.partition import Partition
from classgram.clustering.start import STARTS
from classgram.errors import InputError
from classgram.files.compressed import display_name, open_decompressed
from classgram.files.folders import folder_kind
from classgram.options import ClassFormat
from classgram.text.reading import BYTE_ORDER_MARK


def read_classes(path: str | Path, form: ClassFormat | None = None) -> ClassList:
    """Read the classes of words from a class file of any format, or from a folder made by cluster.

    Without ``form`` the format is guessed: where all lines can be lines of several formats, the
    name of the file decides between them, then which column holds no word twice.
    """
    path = Path(path)
    if path.is_dir() or form == "folder":
        return partition_list(load_partition(path), str(path))
    name = display_name(path)
    lines = list(_file_lines(path))
    if not lines:
        raise InputError(f"{name}: contains no classes; name a class file or a folder made by cluster")
    chosen = form or _guess_format(lines, path)
    return _checked_list(name, chosen, FORMATS[chosen].members(lines, name))


def read_start(name: str) -> Partition | ClassList | None:
    """Read the classes that ``--start`` names; None where it names a way to start instead."""
    if name in STARTS:
        return None
    path = Path(name)
    if not path.exists():
        raise InputError(f"{path}: no such file; --start takes {', '.join(STARTS)}, a class file or a folder")
    return load_partition(path) if path.is_dir() else read_classes(path)


def load_partition(path: Path) -> Partition:
    """Read a folder made by cluster; another folder raises an error that says what it contains."""
    content = folder_kind(path)
    if path.is_dir() and content != "partition":
        held = f"contains {content}, not classes" if content else "is a folder without classes"
        raise InputError(f"{path}: {held}; name a class file or a folder made by cluster")
    return Partition.load(path)


def _file_lines(path: Path) -> Iterator[Line]:
    """Return the lines of a file that hold anything, decompressed, checked to be UTF-8."""
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
                    f"{display_name(path)}, line {number}: contains a NUL byte; is it a class file?"
                )
            if data.strip():
                yield Line(number, data.rstrip(b"\r\n"))


def _guess_format(lines: Lines, path: Path) -> ClassFormat:
    """Return the format that all lines can have; the file's name decides between several."""
    certain = [form.name for form in FORMATS.values() if form.certain(lines)]
    if certain:
        return certain[0]
    named = format_of_name(path)
    if named is not None and FORMATS[named].fits(lines, True):
        return named
    # A table fits most files of stricter formats, so it comes last.
    strict = [name for name in FORMATS if name != DEFAULT_FORMAT]
    for name in (*strict, DEFAULT_FORMAT):
        if FORMATS[name].fits(lines, False):
            return name
    # Reading the file in the most likely format reports the line that is wrong.
    return named if named is not None and FORMATS[named].parse else _likeliest(lines)


def _likeliest(lines: Lines) -> ClassFormat:
    """Return the format that most lines have, for a file that fits none."""
    return max(FORMATS, key=lambda name: sum(FORMATS[name].fits([line], False) for line in lines))


def _checked_list(name: str, form: ClassFormat, members: FoundMembers) -> ClassList:
    """Return the members as a list; a word in two classes raises an error."""
    found: dict[str, Member] = {}
    for line, member in members:
        known = found.setdefault(member.word, member)
        if known.name != member.name:
            raise InputError(
                f"{name}, line {line.number}: the word {member.word} is in two classes, "
                f"{known.name} and {member.name}; leave it in one"
            )
    return ClassList(name, form, tuple(found.values()))
