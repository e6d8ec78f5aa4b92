"""Class lists written as files of any format."""

import gzip
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from classgram.class_files.registry import DEFAULT_FORMAT, FORMATS, format_of_name
from classgram.classes.class_list import SENTENCE_ENDS, ClassList, partition_list, path_list
from classgram.classes.membership import member_shares
from classgram.classes.partition import Partition
from classgram.errors import InputError
from classgram.files.atomic import atomic_file, check_parent
from classgram.files.compressed import COMPRESSED
from classgram.options import ClassFormat

Note = Callable[[str], None]


def format_lines(listed: ClassList, form: ClassFormat, note: Note = lambda text: None) -> bytes:
    """Return a list as a file of a format; paths and vectors must be in the list where they are needed."""
    file_format = FORMATS[form]
    if not file_format.sentence_ends:
        listed = listed.without(*SENTENCE_ENDS)
    if not listed.members:
        raise InputError(f"{listed.source}: contains no words besides <s> and </s>")
    for member in listed.members:
        if member.word.encode().split() != [member.word.encode()]:
            raise InputError(f"{listed.source}: {member.word!r} contains white space; join its parts")
    if file_format.needs == "probabilities":
        listed = _with_probabilities(listed, note)
    if file_format.needs == "counts" and not listed.counted:
        note(f"{listed.source}: has no counts, so the column of counts is left out; give --text for it")
    return file_format.write(listed).encode()


def _with_probabilities(listed: ClassList, note: Note) -> ClassList:
    """Return the list with p(word | class): its own, from counts, or, with a note, equal within a class."""
    members = listed.members
    if all(member.log_probability is not None for member in members):
        return listed
    if not listed.counted:
        note(
            f"{listed.source}: has no counts, so the words of a class get equal probabilities; "
            "give --text for their frequencies"
        )
    numbers = {name: number for number, name in enumerate(listed.names)}
    classes = np.array([numbers[member.name] for member in members], np.int32)
    counts = np.array([member.seen if listed.counted else 1 for member in members], np.int64)
    logs = np.log(member_shares(classes, counts)).tolist()
    made = (member._replace(log_probability=log) for member, log in zip(members, logs, strict=True))
    return ClassList(listed.source, listed.format, tuple(made))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file in one step, compressed if its name ends in .gz; ``-`` is standard output."""
    if path.suffix == ".gz":
        data = gzip.compress(data, 6, mtime=0)
    if str(path) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with atomic_file(path) as file:
        file.write(data)


def is_class_file(path: Path) -> bool:
    """Whether an output of cluster names a class file and not a folder."""
    endings = [ending for form in FORMATS.values() if form.cluster_output for ending in form.endings]
    if path.suffix in COMPRESSED and path.with_suffix("").suffix in endings:
        raise InputError(
            f"{path}: cluster writes no compressed files; "
            f"name {path.with_suffix('')}, and convert that afterwards"
        )
    return path.suffix in endings


def check_class_file(path: Path) -> None:
    """Refuse, before any work is done, a class file that could not be written in the end."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file")
    check_parent(path)


def write_class_file(partition: Partition, path: Path, tree_paths: Callable[[], Mapping[int, str]]) -> None:
    """Write classes in the format that the file's ending names; ``tree_paths`` makes the paths of a tree."""
    form = format_of_name(path) or DEFAULT_FORMAT
    needs_tree = FORMATS[form].needs == "tree"
    listed = partition_list(partition, str(path))
    write_bytes(path, format_lines(path_list(listed, tree_paths()) if needs_tree else listed, form))
