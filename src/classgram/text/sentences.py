"""Sentences as ids: what models score and counts are made of."""

from dataclasses import dataclass

import numpy as np

from classgram.runtime.compiled.arrays import Int32Array, Int64Array


@dataclass(frozen=True)
class Sentences:
    """Ragged rows of word ids, each closed by </s>: every id is a predicted event.

    ids: int32; offsets: int64, sentence i being ids[offsets[i]:offsets[i + 1]].
    """

    ids: Int32Array
    offsets: Int64Array

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __getitem__(self, index: int) -> Int32Array:
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    @property
    def tokens(self) -> int:
        """The number of predicted events: words and sentence ends."""
        return self.ids.size


def sentences_from_ids(ids: Int32Array, end: int) -> Sentences:
    """Return the sentences of a stream of ids in which ``end`` closes each."""
    ends = np.flatnonzero(ids == end) + 1
    offsets = np.concatenate([np.zeros(1, np.int64), ends.astype(np.int64)])
    return Sentences(ids, offsets)
