"""Class files: the classes of words as other programs read them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from classgram.errors import InputError
from classgram.folders import atomic_file
from classgram.partition import Partition
from classgram.vocabulary import BOS


def tsv_lines(partition: Partition) -> bytes:
    """Give ``word TAB class TAB count`` lines."""
    return partition.classes_tsv()


def srilm_lines(partition: Partition) -> bytes:
    """Give SRILM's ``CLASS-00020 probability word`` lines, p(word | class) as relative frequency."""
    totals = np.bincount(partition.words, partition.counts[-1], partition.class_count)
    lines = []
    for line in partition.classes_tsv().decode().splitlines():
        word, number, count = line.split("\t")
        if word != partition.vocabulary.words[BOS]:
            total = totals[int(number)]
            probability = int(count) / total if total else 1.0
            lines.append(f"CLASS-{int(number):05d} {probability:.9g} {word}\n")
    return "".join(lines).encode()


def mkcls_lines(partition: Partition) -> bytes:
    """Give mkcls's ``word TAB class`` lines by word, classes from 2 on, without <s> and </s>."""
    words = partition.vocabulary.words
    rows = sorted((word, int(partition.words[i]) + 2) for i, word in enumerate(words) if i not in (1, 2))
    return "".join(f"{word}\t{number}\n" for word, number in rows).encode()


WRITERS: dict[str, Callable[[Partition], bytes]] = {
    ".tsv": tsv_lines,
    ".classes": srilm_lines,
    ".cls": mkcls_lines,
}
"""The endings of class files and what they hold."""


def is_class_file(path: Path) -> bool:
    """Say whether an output names a class file and not a folder."""
    return path.suffix in (*WRITERS, ".paths")


def check_class_file(path: Path) -> None:
    """Refuse, before any work is done, a class file that could not be written in the end."""
    if path.suffix not in WRITERS:
        known = ", ".join(WRITERS)
        raise InputError(f"{path}: cluster writes {known} or a folder; convert the folder for others")
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InputError(f"{path}: there is no folder {parent}; create it first")


def write_class_file(partition: Partition, path: Path) -> None:
    """Write the classes in the format that the file's ending names."""
    check_class_file(path)
    with atomic_file(path) as file:
        file.write(WRITERS[path.suffix](partition))
