"""A partition: the class of each word (G2) and of each context (G1), as clustering finds them."""

import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from classgram.counts.contexts import Contexts
from classgram.errors import InputError
from classgram.files.atomic import write_folder
from classgram.files.folders import Folder, check_range, read_folder
from classgram.options import ClusterOptions
from classgram.runtime.compiled.arrays import AnyArray, Int32Array, Int64Array
from classgram.runtime.html_tables import html_table
from classgram.text.vocabulary import Vocabulary

_CLASSES_FILE, _CONTEXTS_FILE, _HISTORY_FILE = "classes.tsv", "contexts.tsv", "history.json"


@dataclass(frozen=True)
class Partition:
    """Word classes, and context classes where contexts have their own.

    ``maps`` holds one map for tied classes; otherwise the contexts' map first and the words' last.
    A map gives the class of each element; classes from ``numbers`` on are the pinned ones. The
    elements of the contexts' map are the words, then the longer tuples of ``contexts``.
    ``counts`` holds, for each map, how often each element occurred.
    """

    shape: str
    order: int
    vocabulary: Vocabulary = field(repr=False)
    maps: tuple[Int32Array, ...] = field(repr=False)
    numbers: tuple[int, ...]
    counts: tuple[Int64Array, ...] = field(repr=False)
    contexts: Contexts | None = field(default=None, repr=False)

    @property
    def words(self) -> Int32Array:
        """The class of each word as a predicted word (G2)."""
        return self.maps[-1]

    @property
    def context_map(self) -> Int32Array:
        """The class of each context element (G1), the words' for tied classes."""
        return self.maps[0]

    @property
    def tied(self) -> bool:
        """Whether words have the same classes in every position."""
        return len(self.maps) == 1

    @cached_property
    def class_count(self) -> int:
        """One more than the highest class number of words, pinned classes included."""
        return _class_count(self.words, self.numbers[-1])

    @cached_property
    def context_class_count(self) -> int:
        """One more than the highest class number of contexts, pinned classes included."""
        return _class_count(self.context_map, self.numbers[0])

    def class_of(self, word: str) -> int:
        """Return the class of a word, that of <unk> for a word that is not in the vocabulary."""
        return int(self.words[self.vocabulary.id(word)])

    def members(self, number: int) -> list[tuple[str, int]]:
        """Return the words of a class with their counts, the most frequent first."""
        chosen = np.flatnonzero(self.words == number)
        rows = [(self.vocabulary.words[word], int(self.counts[-1][word])) for word in chosen]
        return sorted(rows, key=lambda row: (-row[1], row[0]))

    def largest(self, most: int) -> list[tuple[int, list[tuple[str, int]]]]:
        """Return the most frequent classes with their words and the counts of these."""
        totals = np.bincount(self.words, self.counts[-1], self.class_count)
        chosen = np.argsort(-totals, kind="stable")[:most].tolist()
        return [(number, members) for number in chosen if (members := self.members(number))]

    def _repr_html_(self) -> str:
        """Return the most frequent classes as a table, as notebooks show them."""
        shown = [
            (number, len(members), sum(count for _, count in members), " ".join(w for w, _ in members[:8]))
            for number, members in self.largest(12)
        ]
        title = f"{self.class_count:,} classes of {len(self.vocabulary):,} words"
        return html_table(title, ("class", "words", "count", "most frequent"), shown)

    def save(self, path: str | Path, history: dict[str, Any] | None = None) -> None:
        """Write the partition as a folder, with its classes as text for people."""
        config, texts = self.vocabulary.to_files()
        arrays: dict[str, AnyArray] = {}
        for number, (classes, counts) in enumerate(zip(self.maps, self.counts, strict=True)):
            arrays |= {f"map-{number}": classes, f"counts-{number}": counts}
        texts[_CLASSES_FILE] = self.classes_tsv()
        if not self.tied:
            texts[_CONTEXTS_FILE] = self.contexts_tsv()
        if self.contexts is not None:
            arrays["contexts"] = self.contexts.tuples
        if history is not None:
            texts[_HISTORY_FILE] = (json.dumps(history, indent=1) + "\n").encode()
        facts = {"shape": self.shape, "order": self.order, "numbers": list(self.numbers)}
        write_folder(Path(path), "partition", {**facts, **config}, arrays, texts)

    @classmethod
    def load(cls, path: str | Path) -> "Partition":
        """Read a partition after checking that every number is in range."""
        return cls.from_folder(read_folder(Path(path), "partition"))

    @classmethod
    def from_folder(cls, folder: Folder) -> "Partition":
        """Return the partition that an opened folder holds."""
        vocabulary = Vocabulary.from_folder(folder)
        numbers = tuple(int(number) for number in folder.require("numbers"))
        order = int(folder.require("order"))
        contexts = None
        if "contexts" in folder.config["arrays"]:
            tuples = folder.array("contexts", np.int32, 2)
            check_range(folder, "contexts", tuples, -1, len(vocabulary))
            contexts = Contexts(len(vocabulary), order - 1, tuples)
        maps, counts = [], []
        sizes = [len(vocabulary)] * len(numbers)
        if contexts is not None:
            sizes[0] = len(contexts)
        for number, size in enumerate(sizes):
            classes = folder.array(f"map-{number}", np.int32)
            count = folder.array(f"counts-{number}", np.int64)
            if classes.size != size or count.size != size:
                raise InputError(f"{folder.path}: map-{number}.npy does not fit vocabulary.txt")
            check_range(folder, f"map-{number}", classes, 0, numbers[number] + size)
            maps.append(classes)
            counts.append(count)
        if not maps:
            raise InputError(f"{folder.path}: contains no classes; recreate the folder")
        shape = str(folder.require("shape"))
        return cls(shape, order, vocabulary, tuple(maps), numbers, tuple(counts), contexts)

    def classes_tsv(self) -> bytes:
        """Return ``word TAB class TAB count`` lines by class, then falling count, then word."""
        return _table_lines(list(self.vocabulary.words), self.words, self.counts[-1])

    def contexts_tsv(self) -> bytes:
        """Return the same for contexts, their words separated by one space."""
        words = self.vocabulary.words
        names = list(words)
        if self.contexts is not None:
            names += [
                " ".join(words[word] for word in row if word >= 0) for row in self.contexts.tuples.tolist()
            ]
        return _table_lines(names, self.context_map, self.counts[0])


def _class_count(classes: Int32Array, number: int) -> int:
    """Return one more than the highest class number."""
    return max(int(classes.max()) + 1 if classes.size else 0, number)


def _table_lines(names: list[str], classes: Int32Array, counts: Int64Array) -> bytes:
    """Return a line for each element by class, then falling count, then name."""
    # Sorted by name first, in the order of code points, so that a stable sort keeps it in ties.
    by_name = sorted(range(len(names)), key=names.__getitem__)
    first = np.array(by_name, np.int64)
    order = first[np.lexsort((-counts[first], classes[first]))].tolist()
    numbers, amounts = classes.tolist(), counts.tolist()
    lines = [f"{names[i]}\t{numbers[i]}\t{amounts[i]}\n" for i in order]
    return "".join(lines).encode()


def options_record(options: ClusterOptions) -> dict[str, Any]:
    """Return options as config.json holds them."""
    record = asdict(options)
    record["pins"] = list(options.pins)
    return record
