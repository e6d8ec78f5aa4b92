"""ARPA files: word models written as strict readers want them, and any such file as a model."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import numpy as np
import numpy.typing as npt

from classgram.arpa._kernels.lines import LINE_NUMBERS, write_lines
from classgram.errors import InputError
from classgram.files.atomic import atomic_file
from classgram.models.language_model import LOG_10, LanguageModel
from classgram.models.ngram.ngram_model import NgramModel
from classgram.models.ngram.trie import BackoffTrie
from classgram.runtime.compiled import frozen
from classgram.text.vocabulary import Vocabulary

BLOCK = 1 << 18
"""N-grams written at a time."""


def write_arpa(model: LanguageModel, path: str | Path) -> None:
    """Write a word n-gram model as an ARPA file, packed if the name ends in .gz."""
    if not isinstance(model, NgramModel):
        raise InputError(
            "only word n-gram models are ARPA files as they are; export_backoff makes one of any"
        )
    trie = model.trie.without_empty_orders()
    with atomic_file(Path(path)) as file, packed(file, Path(path)) as out:
        for piece in arpa_pieces(model.vocabulary, trie):
            out.write(piece)


@contextmanager
def packed(file: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    """The file, or one that packs into it; no name or time goes in, so that bytes repeat."""
    if path.suffix != ".gz":
        yield file
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as out:
        yield cast(IO[bytes], out)


def arpa_pieces(vocabulary: Vocabulary, trie: BackoffTrie) -> Iterator[bytes]:
    """The bytes of an ARPA file, piece by piece."""
    counts = "".join(f"ngram {order}={size}\n" for order, size in enumerate(trie.sizes, start=1))
    yield f"\\data\\\n{counts}".encode()
    for order in range(1, trie.order + 1):
        yield f"\n\\{order}-grams:\n".encode()
        yield from level_pieces(vocabulary, trie, order)
    yield b"\n\\end\\\n"


def level_pieces(vocabulary: Vocabulary, trie: BackoffTrie, order: int) -> Iterator[bytes]:
    """The lines of one order."""
    letters = np.frombuffer(vocabulary.letters, np.uint8)
    ends = np.flatnonzero(letters == ord("\n")) + 1
    longest = int(np.diff(ends, prepend=0).max())
    out = np.empty(BLOCK * (LINE_NUMBERS + order * longest), np.uint8)
    nodes = list(trie.levels())[order - 1]
    for first in range(nodes.start, nodes.stop, BLOCK):
        block = np.arange(first, min(first + BLOCK, nodes.stop))
        numbers = (log10s(trie.arrays.log_probabilities[block]), backoffs_of(trie, order, block))
        paths = frozen(trie.paths(block, order))
        size = write_lines(paths, numbers, frozen(letters), frozen(ends), out)
        yield out[:size].tobytes()


def log10s(logs: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Natural logarithms as those of base 10, -99 for none and never above 0."""
    values = np.minimum(logs.astype(np.float64) / LOG_10, 0.0)
    # Single precision holds -99 times log 10 not quite, and readers want it exactly.
    return frozen(np.where(values < -98.9999, -99.0, values))


def backoffs_of(trie: BackoffTrie, order: int, nodes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The back-off weights of n-grams in log10, none at the highest order of all."""
    if order == trie.order:
        return frozen(np.empty(0))
    return frozen(np.maximum(trie.arrays.log_backoffs[nodes].astype(np.float64) / LOG_10, -99.0))


def write_unigrams(vocabulary: Vocabulary, path: str | Path) -> None:
    """Write the words that decoders may use, one a line: all but <unk>, <s> and </s>."""
    with atomic_file(Path(path)) as file:
        file.write("".join(f"{word}\n" for word in vocabulary.words[3:]).encode())
