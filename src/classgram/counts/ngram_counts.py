"""N-gram counts (N(.) of section 2): every order as compressed sorted rows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from classgram.counts._kernels.counting import Level as Level
from classgram.errors import InputError
from classgram.files.atomic import write_folder
from classgram.files.folders import check_range, check_starts, read_folder
from classgram.runtime.compiled.arrays import AnyArray, Int32Matrix, Int64Array
from classgram.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class NgramCounts:
    """The n-grams of a text up to an order, each ending at a predicted event (a word or </s>).

    Contexts at a sentence's start are padded with <s>. levels[0] has an entry for every word of the
    vocabulary, so that a unigram's id is its word's id. Each level but the highest also holds, with
    count 0, the n-gram of <s> alone: it is never predicted, but a prefix of others.
    """

    vocabulary: Vocabulary
    levels: tuple[Level, ...]

    @property
    def order(self) -> int:
        """The highest order counted."""
        return len(self.levels)

    @property
    def tokens(self) -> int:
        """The number of predicted events: words and sentence ends."""
        return int(self.levels[0].counts.sum())

    def items(self, order: int) -> Iterator[tuple[tuple[str, ...], int]]:
        """Return every n-gram of an order with its count, for people; kernels use the levels."""
        words = self.vocabulary.words
        columns = gram_words(self.levels, order)
        for entry, count in enumerate(self.levels[order - 1].counts.tolist()):
            if count:
                yield tuple(words[word] for word in columns[entry]), count

    def up_to(self, order: int) -> "NgramCounts":
        """Return the same counts without the orders above."""
        if order > self.order:
            raise InputError(f"the counts go up to order {self.order}; count again with --order {order}")
        return replace(self, levels=self.levels[:order])

    def save(self, path: str | Path) -> None:
        """Write the counts as a folder."""
        config, texts = self.vocabulary.to_files()
        arrays: dict[str, AnyArray] = {"counts-1": self.levels[0].counts}
        for order, level in enumerate(self.levels[1:], start=2):
            arrays |= {
                f"starts-{order}": level.starts,
                f"words-{order}": level.words,
                f"counts-{order}": level.counts,
            }
        summary = {"order": self.order, "tokens": self.tokens, "types": len(self.vocabulary)}
        write_folder(Path(path), "counts", {**summary, **config}, arrays, texts)

    @classmethod
    def load(cls, path: str | Path) -> "NgramCounts":
        """Read counts, memory-mapped, after checking that every id and start is in range."""
        folder = read_folder(Path(path), "counts")
        vocabulary = Vocabulary.from_folder(folder)
        size = len(vocabulary)
        unigrams = folder.array("counts-1", np.int64)
        if unigrams.size != size:
            raise InputError(f"{folder.path}: vocabulary.txt and counts-1.npy differ in length")
        check_range(folder, "counts-1", unigrams, 0, 1 << 62)
        levels = [first_level(unigrams)]
        for order in range(2, folder.whole_number("order") + 1):
            level = Level(
                folder.array(f"starts-{order}", np.int64),
                folder.array(f"words-{order}", np.int32),
                folder.array(f"counts-{order}", np.int64),
            )
            parents = levels[-1].words.size
            check_starts(folder, f"starts-{order}", level.starts, parents, level.words.size)
            check_range(folder, f"words-{order}", level.words, 0, size)
            check_range(folder, f"counts-{order}", level.counts, 0, 1 << 62)
            if level.counts.size != level.words.size:
                raise InputError(f"{folder.path}: words-{order}.npy and counts-{order}.npy differ")
            levels.append(level)
        return cls(vocabulary, tuple(levels))


def first_level(counts: Int64Array) -> Level:
    """Return the unigrams as a level: the one row below the empty prefix."""
    return Level(np.array([0, counts.size], np.int64), np.arange(counts.size, dtype=np.int32), counts)


def parents_of(level: Level) -> Int64Array:
    """Return the prefix id of every entry of a level."""
    return np.repeat(np.arange(level.starts.size - 1), np.diff(level.starts))


def gram_words(levels: tuple[Level, ...], order: int) -> Int32Matrix:
    """Return the words of every n-gram of an order, a row each."""
    columns = np.empty((levels[order - 1].words.size, order), np.int32)
    entries = np.arange(columns.shape[0])
    for position in range(order - 1, -1, -1):
        level = levels[position]
        columns[:, position] = level.words[entries]
        entries = parents_of(level)[entries]
    return columns
