"""Words like a word: those of its class, then those of the classes with like neighbours."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from classgram.errors import InputError
from classgram.options import ReadOptions
from classgram.reporting.neighbours import neighbours_of
from classgram.reporting.sources import open_classes
from classgram.text.vocabulary import BOS, EOS, UNK


class SimilarWord(NamedTuple):
    """A word, its class, its count, and how like its class is to that of the word asked for: 0 to 1."""

    word: str
    number: int
    occurrences: int
    alike: float


def similar_words(path: str | Path, word: str, counts: tuple[str, ...], most: int) -> list[SimilarWord]:
    """Return the words most like a word, by falling likeness of their classes, then by falling count."""
    if most < 1:
        raise InputError(f"--most must be 1 or more, not {most}")
    classes = open_classes(Path(path))
    partition = classes.partition
    if word not in partition.vocabulary:
        raise InputError(f"{path}: the word {word} is not in the vocabulary")
    number = partition.class_of(word)
    alike = np.zeros(partition.class_count)
    found = neighbours_of(partition, classes.model, counts, ReadOptions())
    if found is not None:
        alike = found.similarities()[number]
    alike[number] = 1.0
    shares, totals = alike[partition.words], partition.counts[-1]
    order = np.lexsort((-totals, -shares)).tolist()
    own = partition.vocabulary.id(word)
    chosen = [one for one in order if one not in (own, UNK, BOS, EOS) and shares[one] > 0][:most]
    words = partition.vocabulary.words
    return [
        SimilarWord(words[one], int(partition.words[one]), int(totals[one]), float(shares[one]))
        for one in chosen
    ]
