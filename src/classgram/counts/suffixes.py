"""Links from n-grams to their suffixes: the same n-gram without its first word, one level down."""

from collections.abc import Sequence

import numpy as np

from classgram.counts._kernels.counting import Level
from classgram.counts._kernels.suffixes import link_suffixes
from classgram.errors import InputError
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Int32Array


def suffix_links(level: Level, below: Level, links_below: Int32Array | None) -> Int32Array:
    """Return each n-gram's suffix, an entry of the level below, or -1 where that is not there.

    ``links_below`` are the links of the level below; None where that holds the unigrams.
    """
    if links_below is None:
        return frozen(level.words)
    out = np.empty(level.words.size, np.int32)
    upper, lower = level.frozen(), below.frozen()
    link_suffixes(upper.starts, upper.words, frozen(links_below), lower.starts, lower.words, out)
    return frozen(out)


def link_levels(levels: Sequence[Level]) -> list[Int32Array]:
    """Return the links of every level from the bigrams up."""
    links: list[Int32Array] = []
    for level, below in zip(levels[1:], levels, strict=False):
        links.append(suffix_links(level, below, links[-1] if links else None))
        if links[-1].size and links[-1].min() < 0:
            raise InputError(
                "the counts are missing shorter n-grams that longer ones end in; "
                "count again without cut-offs, or with some that do not fall as the order rises"
            )
    return links
