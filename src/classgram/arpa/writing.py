"""Word n-gram models written as ARPA files, in the layout that strict readers expect."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import numpy as np

from classgram.arpa._kernels.lines import LINE_OVERHEAD, write_lines
from classgram.errors import InputError
from classgram.files.atomic import atomic_file
from classgram.models.language_model import LOG_10, LanguageModel
from classgram.models.ngram.ngram_model import NgramModel
from classgram.models.ngram.trie import BackoffTrie
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Float32Array, Float64Array, Int64Array
from classgram.text.vocabulary import Vocabulary

_BLOCK_NGRAMS = 1 << 18
"""N-grams written at a time."""


def write_arpa(model: LanguageModel, path: str | Path) -> None:
    """Write a word n-gram model as an ARPA file, compressed if the name ends in .gz."""
    if not isinstance(model, NgramModel):
        raise InputError(
            "only word n-gram models can be written as they are; export_backoff makes one of any model"
        )
    trie = model.trie.without_empty_orders()
    with atomic_file(Path(path)) as file, _compressed(file, Path(path)) as out:
        for piece in _arpa_pieces(model.vocabulary, trie):
            out.write(piece)


@contextmanager
def _compressed(file: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    """Return the file, or one that compresses into it, without name and time, so that bytes repeat."""
    if path.suffix != ".gz":
        yield file
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as out:
        yield cast(IO[bytes], out)


def _arpa_pieces(vocabulary: Vocabulary, trie: BackoffTrie) -> Iterator[bytes]:
    """Return the bytes of an ARPA file, piece by piece."""
    counts = "".join(f"ngram {order}={size}\n" for order, size in enumerate(trie.sizes, start=1))
    yield f"\\data\\\n{counts}".encode()
    for order in range(1, trie.order + 1):
        yield f"\n\\{order}-grams:\n".encode()
        yield from _level_pieces(vocabulary, trie, order)
    yield b"\n\\end\\\n"


def _level_pieces(vocabulary: Vocabulary, trie: BackoffTrie, order: int) -> Iterator[bytes]:
    """Return the lines of one order, block by block."""
    letters = np.frombuffer(vocabulary.letters, np.uint8)
    ends = np.flatnonzero(letters == ord("\n")) + 1
    longest = int(np.diff(ends, prepend=0).max())
    out = np.empty(_BLOCK_NGRAMS * (LINE_OVERHEAD + order * longest), np.uint8)
    nodes = list(trie.levels())[order - 1]
    for first in range(nodes.start, nodes.stop, _BLOCK_NGRAMS):
        block = np.arange(first, min(first + _BLOCK_NGRAMS, nodes.stop))
        logs, backoffs = _log10s(trie.arrays.log_probabilities[block]), _backoffs_of(trie, order, block)
        paths = frozen(trie.paths(block, order))
        size = write_lines(paths, logs, backoffs, frozen(letters), frozen(ends), out)
        yield out[:size].tobytes()


def _log10s(logs: Float32Array) -> Float64Array:
    """Return natural logarithms in base 10, -99 for log 0 and never above 0."""
    values = np.minimum(logs.astype(np.float64) / LOG_10, 0.0)
    # Single precision cannot hold -99 times log 10 exactly, and readers compare with -99.
    return frozen(np.where(values < -98.9999, -99.0, values))


def _backoffs_of(trie: BackoffTrie, order: int, nodes: Int64Array) -> Float64Array:
    """Return the back-off weights of n-grams in log10, none at the highest order."""
    if order == trie.order:
        return frozen(np.empty(0))
    return frozen(np.maximum(trie.arrays.log_backoffs[nodes].astype(np.float64) / LOG_10, -99.0))


def write_unigrams(vocabulary: Vocabulary, path: str | Path) -> None:
    """Write the words that decoders may use, one a line: all but <unk>, <s> and </s>."""
    with atomic_file(Path(path)) as file:
        file.write("".join(f"{word}\n" for word in vocabulary.words[3:]).encode())
