"""Class lists: words with their classes, as class files hold them, and as partitions of a text."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from classgram.classes.partition import Partition
from classgram.counts.ngram_counts import NgramCounts
from classgram.options import ClassFormat
from classgram.text.vocabulary import BOS, EOS

SENTENCE_ENDS = ("<s>", "</s>")
"""Words of which other programs have no classes: they only mark sentences."""


class Member(NamedTuple):
    """A word in its class, with what the file says of it besides."""

    word: str
    name: str
    seen: int | None = None
    """How often the word occurred."""
    log_probability: float | None = None
    """ln p(word | class)."""


@dataclass(frozen=True)
class ClassList:
    """The words of a class file with their classes, in the order of the file, no word twice."""

    source: str
    format: ClassFormat
    members: tuple[Member, ...]

    @property
    def names(self) -> list[str]:
        """The classes that have words: by number where all have one, else in the order of letters."""
        names = {member.name for member in self.members}
        return sorted(names, key=int) if all(map(is_number, names)) else sorted(names)

    def numbers(self) -> dict[str, int]:
        """The number of each class: its own where all have one, else counted from 0."""
        names = self.names
        numbered = all(map(is_number, names))
        return {name: int(name) if numbered else place for place, name in enumerate(names)}

    @property
    def counted(self) -> bool:
        """Whether every word has a count."""
        return all(member.seen is not None for member in self.members)

    def without(self, *words: str) -> "ClassList":
        """The same list without some words."""
        return replace(self, members=tuple(member for member in self.members if member.word not in words))


def is_number(name: str) -> bool:
    """Whether a class is a whole number as numbers are written, so not 0101, which is a path."""
    return name.isascii() and name.isdigit() and (name == "0" or name[0] != "0") and len(name) < 10


def partition_list(partition: Partition, source: str = "the classes") -> ClassList:
    """The words of a partition with the classes they have as predicted words."""
    counts, classes = partition.counts[-1].tolist(), partition.words.tolist()
    members = (
        Member(word, str(number), count)
        for word, number, count in zip(partition.vocabulary.words, classes, counts, strict=True)
    )
    return ClassList(source, "folder", tuple(members))


def fitted_partition(listed: ClassList, counts: NgramCounts) -> Partition:
    """The classes of a list over the words of a text, with the text's counts.

    Classes are numbered from 0 in the order of their names. <s> and </s> have classes of their own
    behind these, whatever the list says, and all words that it does not name are one more class.
    """
    own = listed.without(*SENTENCE_ENDS)
    numbers = {name: place for place, name in enumerate(own.names)}
    class_of = {member.word: numbers[member.name] for member in own.members}
    first = len(numbers)
    classes = np.array([class_of.get(word, first + 2) for word in counts.vocabulary.words], np.int32)
    classes[BOS], classes[EOS] = first, first + 1
    return Partition("tied", 2, counts.vocabulary, (classes,), (first,), (counts.levels[0].counts,))
