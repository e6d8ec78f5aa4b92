"""Text to classes, line by line: features for other programs."""

from collections.abc import Iterable, Iterator

import numpy as np

from classgram.classes.partition import Partition
from classgram.options import ReadOptions
from classgram.text.reading import Text
from classgram.text.vocabulary import EOS

_BATCH_LINES = 4096
"""Lines that are encoded at once."""


def text_lines(text: Text) -> Iterator[str]:
    """Return the lines of a text as they are read, blank ones included."""
    rest = b""
    for chunk in text.chunks():
        *whole, rest = (rest + chunk.data).split(b"\n")
        yield from (line.decode() for line in whole)
    if rest:
        yield rest.decode()


def tag_lines(partition: Partition, lines: Iterable[str], read: ReadOptions | None = None) -> Iterator[str]:
    """Return, for every line, the classes of its words separated by one space.

    Lines are tokenised as the text of the classes was; a word that is not in the vocabulary
    has the class of <unk>, and a blank line stays blank.
    """
    batch: list[str] = []
    for line in lines:
        batch.append(line)
        if len(batch) == _BATCH_LINES:
            yield from _tag_batch(partition, batch, read)
            batch = []
    yield from _tag_batch(partition, batch, read)


def _tag_batch(partition: Partition, lines: list[str], read: ReadOptions | None) -> Iterator[str]:
    """Return the classes of some lines."""
    if not lines:
        return
    sentences = partition.vocabulary.encode_lines(lines, read)
    classes = partition.words[sentences.ids]
    for first, last in zip(sentences.offsets[:-1], sentences.offsets[1:], strict=True):
        assert sentences.ids[last - 1] == EOS
        yield " ".join(map(str, np.asarray(classes[first : last - 1]).tolist()))
