"""Classes for the page: words, names, neighbours, nearest classes, and the tree over them."""

from typing import Any

import numpy as np

from classgram.classes.partition import Partition
from classgram.clustering.class_pairs import ClassPairs
from classgram.clustering.tree import merge_classes
from classgram.reporting.neighbours import Neighbours
from classgram.runtime.compiled.arrays import Int64Array
from classgram.text.vocabulary import BOS, EOS, UNK

_NAME_WORDS = 3
_NEIGHBOURS = 8
_EXAMPLE_WORDS = 3

_MAX_TREE_CLASSES = 2000
"""Above this number of classes no tree is built: its time grows with the cube."""

_MAX_WORDS = 40_000
"""Words shown at most, the most frequent ones; but of each class at least the next."""

_WORDS_OF_EACH_CLASS = 10


def classes_data(name: str, partition: Partition, neighbours: Neighbours | None) -> dict[str, Any]:
    """Return the record of one set of classes; the most frequent class first."""
    totals = np.bincount(partition.words, partition.counts[-1], partition.class_count)
    sizes = np.bincount(partition.words, minlength=partition.class_count)
    order = _shown_classes(partition, totals)
    place = {number: index for index, number in enumerate(order)}
    rows = _shown_words(partition, order)
    words = partition.vocabulary.words
    flat = [word for row in rows for word in row]
    index = {word: position for position, word in enumerate(flat)}
    record: dict[str, Any] = {
        "name": name,
        "types": int(sizes[order].sum()),
        "tokens": int(totals[order].sum()),
        "numbers": order,
        "names": [class_name([words[word] for word in row]) for row in rows],
        "totals": totals[order].astype(np.int64).tolist(),
        "sizes": sizes[order].tolist(),
        "shown": [len(row) for row in rows],
        "words": [words[word] for word in flat],
        "counts": partition.counts[-1][flat].tolist(),
    }
    if neighbours is not None:
        record |= _neighbour_rows(partition, neighbours, place, index)
        record["tree"] = _tree_rows(partition, neighbours, place)
    return record


def class_name(words: list[str]) -> str:
    """Return a readable name: the most frequent words, those with letters before numbers and punctuation.

    >>> class_name(["5", "monday", "--", "friday", "sunday", "N"])
    'monday, friday, sunday'
    """
    telling = [word for word in words if any(letter.isalpha() for letter in word) and word[0] != "<"]
    chosen = telling + [word for word in words[:_NAME_WORDS] if word not in telling]
    return ", ".join(chosen[:_NAME_WORDS])


def _shown_classes(partition: Partition, totals: Any) -> list[int]:
    """Return the classes that have words, by falling frequency; not those of <s> and </s> alone."""
    ordinary = np.ones(partition.words.size, np.bool_)
    ordinary[[BOS, EOS]] = False
    if partition.counts[-1][0] == 0:
        ordinary[0] = False
    used = np.unique(partition.words[ordinary])
    chosen: list[int] = used[np.argsort(-totals[used], kind="stable")].tolist()
    return chosen


def _shown_words(partition: Partition, order: list[int]) -> list[list[int]]:
    """Return the words of each class by falling frequency, the rarest of a large vocabulary left out."""
    counts = partition.counts[-1]
    ranked = np.argsort(-counts, kind="stable")
    rows: dict[int, list[int]] = {number: [] for number in order}
    classes = partition.words.tolist()
    for rank, word in enumerate(ranked.tolist()):
        row = rows.get(classes[word])
        symbol = word in (BOS, EOS) or (word == 0 and counts[0] == 0)
        if row is not None and not symbol and (rank < _MAX_WORDS or len(row) < _WORDS_OF_EACH_CLASS):
            row.append(word)
    return list(rows.values())


def _neighbour_rows(
    partition: Partition, neighbours: Neighbours, place: dict[int, int], index: dict[int, int]
) -> dict[str, Any]:
    """Return the typical neighbours of every class on both sides, and the classes most like it."""
    beside = neighbours.words_beside(partition, _EXAMPLE_WORDS)
    alike = neighbours.similarities()
    labels = {
        int(partition.words[UNK]): "<unk>",
        int(partition.words[BOS]): "<s>",
        int(partition.words[EOS]): "</s>",
    }
    rows: dict[str, Any] = {"left": [], "right": [], "near": []}
    for number in place:
        for side, before in (("left", True), ("right", False)):
            rows[side].append(
                [
                    [
                        place.get(other, labels.get(other, "")),
                        round(share, 4),
                        [index[word] for word in beside.get((number, other, before), []) if word in index],
                    ]
                    for other, share in neighbours.typical(number, before, _NEIGHBOURS)
                ]
            )
        nearest = np.argsort(-alike[number], kind="stable").tolist()
        chosen = [other for other in nearest if other != number and other in place][:_NEIGHBOURS]
        rows["near"].append([[place[other], round(float(alike[number, other]), 3)] for other in chosen])
    return rows


def _tree_rows(
    partition: Partition, neighbours: Neighbours, place: dict[int, int]
) -> list[tuple[int, int]] | None:
    """Return the merges of the tree in order, the second class joining the first; None without a tree."""
    if not 1 < partition.numbers[-1] <= _MAX_TREE_CLASSES:
        return None
    shown: dict[int, int | None] = {number: place.get(number) for number in range(partition.class_count)}
    rows = []
    for kept, joined in merge_classes(partition, _rounded_pairs(neighbours)).merges.tolist():
        first, second = shown[kept], shown[joined]
        if first is not None and second is not None:
            rows.append((first, second))
        # A class that is not shown leaves no trace: what joins it takes its place.
        shown[kept] = second if first is None else first
    return rows


def _rounded_pairs(neighbours: Neighbours) -> ClassPairs:
    """Return pairs as whole numbers, which what a model expects is not."""
    counts: Any = np.rint(neighbours.pairs).astype(np.int64)
    contexts, classes = np.nonzero(counts)
    both: tuple[Int64Array, Int64Array] = contexts, classes
    return ClassPairs(*both, counts[contexts, classes], counts.shape[0])
