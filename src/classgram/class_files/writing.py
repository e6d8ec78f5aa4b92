"""Class lists written in the formats of other programs, each as their readers want it."""

import gzip
import math
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from classgram.class_files.reading import DOLLAR, format_of_name
from classgram.classes.class_list import SENTENCE_ENDS, ClassList, Member, partition_list
from classgram.classes.partition import Partition
from classgram.clustering.tree import Tree, build_tree
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.files.atomic import atomic_file, check_parent
from classgram.options import ClassFormat

Note = Callable[[str], None]

CLUSTER_ENDINGS = (".tsv", ".paths", ".classes", ".cls")
PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zst")
"""Outputs of cluster that are a file; any other name is a folder."""

FIRST_NUMBER = 2
"""mkcls numbers classes from here: 0 is for unknown words, 1 for words too rare to have a class."""


def sorted_rows(listed: ClassList, numbers: dict[str, int]) -> list[tuple[int, Member]]:
    """The members by class, then falling count, then word."""
    rows = [(numbers[member.name], member) for member in listed.members]
    return sorted(rows, key=lambda row: (row[0], -(row[1].seen or 0), row[1].word))


def tsv_lines(listed: ClassList) -> str:
    """``word TAB class TAB count`` by class, then falling count, then word; no counts where unknown."""
    rows = sorted_rows(listed, listed.numbers())
    if not listed.counted:
        return two_columns(rows)
    return "".join(f"{member.word}\t{number}\t{member.seen}\n" for number, member in rows)


def clustercat_lines(listed: ClassList) -> str:
    """``word TAB class`` by class, then falling count, then word; what mkcls numbered counts from 0."""
    numbers = listed.numbers()
    first = min(numbers.values(), default=0) if listed.format in ("mkcls", "cats") else 0
    return two_columns(sorted_rows(listed, {name: number - first for name, number in numbers.items()}))


def two_columns(rows: list[tuple[int, Member]]) -> str:
    """``word TAB class`` in the given order."""
    return "".join(f"{member.word}\t{number}\n" for number, member in rows)


def mkcls_numbers(listed: ClassList) -> dict[str, int]:
    """Numbers from 2 on; those that mkcls itself gave stay."""
    numbers = listed.numbers()
    shift = 0 if listed.format == "mkcls" else max(FIRST_NUMBER - min(numbers.values()), 0)
    return {name: number + shift for name, number in numbers.items()}


def mkcls_lines(listed: ClassList) -> str:
    """``word TAB class`` by word."""
    numbers = mkcls_numbers(listed)
    rows = [(numbers[member.name], member) for member in listed.members]
    return two_columns(sorted(rows, key=lambda row: row[1].word))


def cats_lines(listed: ClassList) -> str:
    """The words of each class on one line, as mkcls leaves them for people in OUT.cats."""
    numbers = mkcls_numbers(listed)
    words: dict[int, list[str]] = defaultdict(list)
    for member in sorted(listed.members, key=lambda member: member.word):
        words[numbers[member.name]].append((DOLLAR if member.word == "$" else member.word) + ",")
    last = max(words)
    rows = "".join(f"{number}:{''.join(words[number])}\n" for number in range(1, last + 1))
    return f";KategProblem:cats: {last - 1}   words: {len(listed.members) + 1}\n0:$,\n{rows}"


def srilm_names(listed: ClassList) -> dict[str, str]:
    """SRILM's names of classes, CLASS-00020 and the like; those that are like this stay."""
    if all(name.startswith("CLASS-") for name in listed.names):
        return {name: name for name in listed.names}
    return {name: f"CLASS-{number:05d}" for name, number in listed.numbers().items()}


def srilm_lines(listed: ClassList) -> str:
    """``CLASS-00020 probability word``; the probability always, since a word may look like one."""
    names = srilm_names(listed)
    taken = set(names.values()) & {member.word for member in listed.members}
    if taken:
        raise InputError(f"{listed.source}: the word {min(taken)} is also the name of a class; rename it")
    rows = sorted_rows(listed, listed.numbers())
    return "".join(
        f"{names[member.name]} {math.exp(log_share(member)):.9g} {member.word}\n" for _, member in rows
    )


def log_share(member: Member) -> float:
    """ln p(word | class) of a member that has one."""
    assert member.log_probability is not None
    return member.log_probability


def aalto_lines(listed: ClassList) -> str:
    """``word TAB class ln-probability``."""
    rows = sorted_rows(listed, listed.numbers())
    return "".join(f"{member.word}\t{number} {log_share(member):.9g}\n" for number, member in rows)


def path_lines(listed: ClassList) -> str:
    """``bits TAB word TAB count`` by path, then falling count, then word."""
    rows = sorted(listed.members, key=lambda member: (member.name, -(member.seen or 0), member.word))
    return "".join(f"{member.name}\t{member.word}\t{member.seen}\n" for member in rows)


WRITERS: dict[ClassFormat, Callable[[ClassList], str]] = {
    "tsv": tsv_lines,
    "clustercat": clustercat_lines,
    "mkcls": mkcls_lines,
    "cats": cats_lines,
    "srilm": srilm_lines,
    "aalto": aalto_lines,
    "paths": path_lines,
}
WITH_PROBABILITIES = ("srilm", "aalto")
WITH_SENTENCE_ENDS = ("tsv", "clustercat")


def with_probabilities(listed: ClassList, note: Note) -> ClassList:
    """The list with p(word | class): its own, from counts, or, with a note, alike for all of a class."""
    members = listed.members
    if not members or all(member.log_probability is not None for member in members):
        return listed
    if not listed.counted:
        note(
            f"{listed.source}: has no counts, so the words of a class get equal probabilities; "
            "give --text for their frequencies"
        )
    # Imported here: models and their kernels take time to import, and most formats hold no shares.
    from classgram.models.class_based.class_model import member_shares

    numbers = {name: place for place, name in enumerate(listed.names)}
    classes = np.array([numbers[member.name] for member in members], np.int32)
    counts = np.array([member.seen if listed.counted else 1 for member in members], np.int64)
    logs = np.log(member_shares(classes, counts)).tolist()
    made = (member._replace(log_probability=log) for member, log in zip(members, logs, strict=True))
    return ClassList(listed.source, listed.format, tuple(made))


def tree_list(tree: Tree, source: str = "the classes") -> ClassList:
    """The words of a tree with their bit strings as classes; pinned classes are not in it."""
    paths = tree.paths
    members = partition_list(tree.partition).members
    inside = (
        member._replace(name=paths[int(member.name)]) for member in members if int(member.name) in paths
    )
    return ClassList(source, "paths", tuple(inside))


def format_lines(listed: ClassList, form: ClassFormat, note: Note = lambda text: None) -> bytes:
    """A list in a format that holds just classes; what it needs besides must be in the list."""
    if form not in WITH_SENTENCE_ENDS:
        listed = listed.without(*SENTENCE_ENDS)
    if not listed.members:
        raise InputError(f"{listed.source}: holds no words besides <s> and </s>")
    for member in listed.members:
        if member.word.encode().split() != [member.word.encode()]:
            raise InputError(f"{listed.source}: the word {member.word!r} holds white space; join its parts")
    if form in WITH_PROBABILITIES:
        listed = with_probabilities(listed, note)
    if form == "tsv" and not listed.counted:
        note(f"{listed.source}: has no counts, so the column of counts is left out; give --text for it")
    return WRITERS[form](listed).encode()


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file in one step, packed if its name ends in .gz; ``-`` is standard output."""
    if path.suffix == ".gz":
        data = gzip.compress(data, 6, mtime=0)
    if str(path) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with atomic_file(path) as file:
        file.write(data)


def is_class_file(path: Path) -> bool:
    """Say whether an output of cluster names a class file and not a folder."""
    if path.suffix in PACKED_ENDINGS and path.with_suffix("").suffix in CLUSTER_ENDINGS:
        raise InputError(
            f"{path}: cluster writes no packed files; name {path.with_suffix('')}, or convert it then"
        )
    return path.suffix in CLUSTER_ENDINGS


def check_class_file(path: Path) -> None:
    """Refuse, before any work is done, a class file that could not be written in the end."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file")
    check_parent(path)


def write_class_file(partition: Partition, counts: NgramCounts, path: Path) -> None:
    """Write the classes of a text in the format that the file's ending names."""
    form = format_of_name(path) or "tsv"
    listed = partition_list(partition, str(path))
    if form == "paths":
        listed = tree_list(build_tree(counts, partition), str(path))
    write_bytes(path, format_lines(listed, form))
