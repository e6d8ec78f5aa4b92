"""Contexts to elements: a walk down the tree of contexts, last word first."""

from typing import NamedTuple

from classgram.counts._kernels.suffixes import find
from classgram.runtime.compiled import kernel
from classgram.runtime.compiled.arrays import Int32Array, Int64Array


class ContextTree(NamedTuple):
    """The tree of contexts, read from the last word backwards; its first nodes are the single words.

    The children of node p are starts[p] to starts[p + 1], sorted by word; elements holds a node's element,
    or -1 where the context is only the end of longer ones.
    """

    starts: Int64Array
    words: Int32Array
    elements: Int32Array


@kernel
def find_elements(
    ids: Int32Array, positions: Int64Array, tree: ContextTree, length: int, out: Int32Array
) -> None:
    """Write the element of the longest suffix, of up to ``length`` words, before each position."""
    for k in range(positions.size):
        position = positions[k]
        node = int(ids[position - 1])
        best = tree.elements[node]
        for back in range(2, length + 1):
            node = find(tree.words, tree.starts[node], tree.starts[node + 1], ids[position - back])
            if node < 0:
                break
            if tree.elements[node] >= 0:
                best = tree.elements[node]
        out[k] = best
