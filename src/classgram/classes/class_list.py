"""Words with their classes, as class files list them, and as partitions of a text."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from classgram.classes.partition import Partition
from classgram.counts.ngram_counts import NgramCounts
from classgram.options import ClassFormat
from classgram.runtime.compiled.arrays import Float64Array
from classgram.text.vocabulary import BOS, EOS

SENTENCE_ENDS = ("<s>", "</s>")
"""The symbols of sentence boundaries, which other programs put into no class."""


class Member(NamedTuple):
    """A word in its class, with what the file says of it besides."""

    word: str
    name: str
    seen: int | None = None
    """How often the word occurred."""
    log_probability: float | None = None
    """ln p(word | class)."""
    vector: Float64Array | None = None


@dataclass(frozen=True)
class ClassList:
    """The words of a class file with their classes, in the order of the file, no word twice."""

    source: str
    format: ClassFormat
    members: tuple[Member, ...]

    @property
    def names(self) -> list[str]:
        """The names of the classes: sorted as numbers where all are numbers, else as strings."""
        names = {member.name for member in self.members}
        return sorted(names, key=int) if all(map(_is_number, names)) else sorted(names)

    def numbers(self) -> dict[str, int]:
        """Return the number of each class: its name where all names are numbers, else counted from 0."""
        names = self.names
        numbered = all(map(_is_number, names))
        return {name: int(name) if numbered else index for index, name in enumerate(names)}

    @property
    def counted(self) -> bool:
        """Whether every word has a count."""
        return all(member.seen is not None for member in self.members)

    def without(self, *words: str) -> "ClassList":
        """Return the same list without some words."""
        return replace(self, members=tuple(member for member in self.members if member.word not in words))


def _is_number(name: str) -> bool:
    """Whether a class name is a whole number without leading zeros: 0101 is a path."""
    return name.isascii() and name.isdigit() and (name == "0" or name[0] != "0") and len(name) < 10


def partition_list(partition: Partition, source: str = "the classes") -> ClassList:
    """Return the words of a partition with the classes they have as predicted words (G2)."""
    counts, classes = partition.counts[-1].tolist(), partition.words.tolist()
    members = (
        Member(word, str(number), count)
        for word, number, count in zip(partition.vocabulary.words, classes, counts, strict=True)
    )
    return ClassList(source, "folder", tuple(members))


def path_list(listed: ClassList, paths: Mapping[int, str]) -> ClassList:
    """Return a list with the paths of numbered classes as their names, without classes that have none."""
    inside = (
        member._replace(name=paths[int(member.name)])
        for member in listed.members
        if int(member.name) in paths
    )
    return ClassList(listed.source, "paths", tuple(inside))


def fitted_partition(listed: ClassList, counts: NgramCounts) -> Partition:
    """Return the classes of a list as a partition of a text's words, with the text's counts.

    Classes are numbered from 0 in the order of their names. <s> and </s> have classes of their own
    after these, whatever the list says, and all words that it does not name form one more class.
    """
    own = listed.without(*SENTENCE_ENDS)
    numbers = {name: number for number, name in enumerate(own.names)}
    class_of = {member.word: numbers[member.name] for member in own.members}
    first = len(numbers)
    classes = np.array([class_of.get(word, first + 2) for word in counts.vocabulary.words], np.int32)
    classes[BOS], classes[EOS] = first, first + 1
    return Partition("tied", 2, counts.vocabulary, (classes,), (first,), (counts.levels[0].counts,))
