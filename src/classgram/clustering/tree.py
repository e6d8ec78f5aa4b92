"""A binary tree over classes: the two that lose least are merged, until one is left.

Loss is that of F under maximum likelihood. The path from the root to a class is a bit string, and
words whose strings begin alike are a class: every length of prefix is a clustering, each nested in
the next, and F never rises as the prefix shrinks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from classgram.classes.partition import Partition
from classgram.clustering._kernels.merging import Merging, cheapest_pair, fill_losses, merge_pair
from classgram.clustering.class_pairs import ClassPairs, count_pairs, pair_value
from classgram.clustering.criteria import MaximumLikelihood, small_values
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.runtime.compiled.arrays import Int32Array
from classgram.runtime.progress import Report, silent

TABLE_CELLS = 1 << 29
"""The largest table that is made: 4 GB."""


@dataclass(frozen=True)
class Tree:
    """The merges of a partition's word classes, in order: the second class joins the first.

    Pinned classes, such as those of <s> and </s>, are contexts like all others but have no place in
    the tree. ``values`` holds F of the partition, then F after each merge.
    """

    partition: Partition
    merges: npt.NDArray[np.int32] = field(repr=False)
    values: npt.NDArray[np.float64] = field(repr=False)

    @cached_property
    def classes(self) -> npt.NDArray[np.int64]:
        """The numbers of the classes in the tree: those with words that are not pinned."""
        return inner_classes(self.partition)

    @cached_property
    def paths(self) -> dict[int, str]:
        """The bit string of every class; 0 leads to the more frequent side."""
        root = int(self.merges[-1, 0]) if self.merges.size else int(self.classes[0])
        paths = {root: "" if self.merges.size else "0"}
        for (kept, joined), larger in zip(self.merges[::-1].tolist(), self._larger()[::-1], strict=True):
            path = paths[kept]
            paths[kept], paths[joined] = (path + "0", path + "1") if larger else (path + "1", path + "0")
        return paths

    def _larger(self) -> list[bool]:
        """Whether, at each merge, the class that stays is at least as frequent as the other."""
        totals = np.bincount(self.partition.words, self.partition.counts[-1], self.partition.class_count)
        larger = []
        for kept, joined in self.merges.tolist():
            larger.append(bool(totals[kept] >= totals[joined]))
            totals[kept] += totals[joined]
        return larger

    def cut(self, classes: int) -> Partition:
        """The partition with so many classes, pinned ones not counted: the merges before that are done."""
        if not 1 <= classes <= self.classes.size:
            raise InputError(f"the tree can be cut into 1 to {self.classes.size} classes, not {classes}")
        target = np.arange(self.partition.class_count)
        for kept, joined in self.merges[: self.classes.size - classes][::-1].tolist():
            target[joined] = target[kept]
        return self._merged(target)

    def prefix(self, depth: int) -> Partition:
        """The partition whose classes are the words with the same first bits of their paths."""
        if depth < 0:
            raise InputError("a prefix has 0 bits or more")
        target = np.arange(self.partition.class_count)
        first: dict[str, int] = {}
        for number, path in sorted(self.paths.items()):
            target[number] = first.setdefault(path[:depth], number)
        return self._merged(target)

    def _merged(self, target: npt.NDArray[np.int64]) -> Partition:
        """The partition with every class replaced by another, numbered anew without gaps."""
        partition = self.partition
        own = partition.numbers[-1]
        used = np.unique(target[self.classes])
        numbers = np.zeros(partition.class_count, np.int32)
        numbers[used] = np.arange(used.size)
        numbers[own:] = used.size + np.arange(partition.class_count - own)
        words = numbers[target[partition.words]]
        maps: tuple[Int32Array, ...] = (*partition.maps[:-1], words)
        return replace(partition, maps=maps, numbers=(*partition.numbers[:-1], int(used.size)))


def inner_classes(partition: Partition) -> npt.NDArray[np.int64]:
    """The numbers of the classes that have words and are not pinned."""
    used = np.unique(partition.words)
    inner = used[used < partition.numbers[-1]].astype(np.int64)
    if inner.size == 0:
        raise InputError("there are no classes to make a tree of")
    return inner


def build_tree(counts: NgramCounts, partition: Partition, report: Report = silent) -> Tree:
    """Merge the word classes of a partition bottom-up, by the counts of a text of its vocabulary.

    Where contexts have their own classes, these stay as they are, and the words' are merged.
    """
    return merge_classes(partition, count_pairs(partition, counts), report)


def merge_classes(partition: Partition, pairs: ClassPairs, report: Report = silent) -> Tree:
    """Merge the word classes of a partition bottom-up, by the counts of their pairs."""
    classes = inner_classes(partition)
    merging = start_merging(partition, pairs)
    merges = np.zeros((classes.size - 1, 2), np.int32)
    values = np.empty(classes.size)
    values[0] = pair_value(pairs, MaximumLikelihood())
    for number, (kept, joined, loss) in enumerate(merge_all(merging, classes)):
        merges[number] = kept, joined
        # Merging cannot raise F; what rounding says beyond that is not true.
        values[number + 1] = values[number] - max(loss, 0.0)
        report(number + 1, f"{classes.size - number - 1:,} classes")
    return Tree(partition, merges, values)


def start_merging(partition: Partition, pairs: ClassPairs) -> Merging:
    """The table of all classes before any is merged."""
    columns = partition.class_count
    rows = 2 * columns if partition.tied else partition.context_class_count
    if (rows + columns) * columns > TABLE_CELLS:
        raise InputError(
            f"a tree of {columns:,} classes by {rows:,} contexts does not fit into memory; use fewer classes"
        )
    cells = np.zeros((rows, columns), np.int64)
    cells[pairs.contexts, pairs.classes] = pairs.counts
    totals = [cells.sum(axis=0)]
    if partition.tied:
        cells[columns + pairs.classes, pairs.contexts] = pairs.counts
        totals.append(cells[columns:].sum(axis=0))
    losses = np.zeros((columns, columns))
    return Merging(cells, np.stack(totals), losses, small_values(0.0), columns if partition.tied else 0)


def merge_all(merging: Merging, classes: npt.NDArray[np.int64]) -> Iterator[tuple[int, int, float]]:
    """Merge the cheapest pair until one class is left; give each pair and what it lost."""
    alive = classes.astype(np.int32)
    found = np.empty(alive.size, np.int64)
    pair = np.empty(2, np.int64)
    fill_losses(merging, alive, found)
    while alive.size > 1:
        loss = cheapest_pair(merging, alive, pair)
        kept, joined = int(pair[0]), int(pair[1])
        alive = alive[alive != joined]
        merge_pair(merging, kept, joined, alive, found)
        yield kept, joined, float(loss)
