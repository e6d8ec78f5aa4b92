"""Counting: a text of any size to its n-gram counts, in blocks that are merged."""

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import numpy as np

from classgram.counts._kernels.counting import Level
from classgram.counts.block_counting import count_block
from classgram.counts.id_stream import IdStream
from classgram.counts.merging import apply_cutoffs, merge_levels
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.files.compressed import ByteCount
from classgram.options import CountOptions, ReadOptions, TextOptions, VocabularyOptions
from classgram.runtime.compiled.arrays import Int32Array
from classgram.runtime.progress import human, progress
from classgram.runtime.threads import Threads
from classgram.text.reading import CHUNK_BYTES, Chunk, Strings, Text, read_text, text_from_strings
from classgram.text.scanner import WordScanner
from classgram.text.sentences import Sentences, sentences_from_ids
from classgram.text.vocabulary import (
    EOS,
    Vocabulary,
    check_vocabulary_options,
    choose_vocabulary,
    read_word_list,
)

_BYTES_PER_TOKEN = 40
"""Bytes that counting a block needs at its peak, for each of its tokens."""

_MOST_TOKENS = (1 << 31) - 1
"""Tokens of a block at most: within it, ids and counts of n-grams have 32 bits."""

_BYTES_PER_SHORT_WORD = 4
"""Bytes of a word and of what separates it from the next, where words are short."""

Source = Text | str | Path | Strings
"""A text, the name of a file or a list of such names, or anything that yields texts."""


def count_ngrams(
    source: Source,
    options: CountOptions | None = None,
    vocabulary: Vocabulary | VocabularyOptions | None = None,
    text: TextOptions | None = None,
    read: ReadOptions | None = None,
    quiet: bool = True,
    *,
    threads: int | None = 1,
) -> NgramCounts:
    """Count the n-grams of a text.

    ``source`` is a Text, a path, a list of paths, or anything else that yields texts: an iterator of
    strings, a column of a data frame, a dataset, Arrow data (``read.field`` names the column of a
    table). For strings in a list see ``text_from_strings``. A given vocabulary fixes the text
    options; otherwise one is made from the text as its options say. ``threads`` share the work (None: as many
    as there are cores for this process); the counts are the same for any number of them.
    """
    options = options or CountOptions()
    _check_count_options(options)
    opened = _open_source(source, _agreed_options(vocabulary, text), read)
    memory = _parse_size(options.memory)
    with IdStream(memory // 4, _expected_ids(opened)) as stream, Threads(threads) as shared:
        made, final = _fill(stream, opened, vocabulary or VocabularyOptions(), read, quiet, shared)
        levels = _count(stream, final, options.order, len(made), memory, shared)
    return NgramCounts(made, apply_cutoffs(levels, options.cutoffs))


def read_sentences(
    source: Source,
    vocabulary: Vocabulary | VocabularyOptions | None = None,
    text: TextOptions | None = None,
    read: ReadOptions | None = None,
    quiet: bool = True,
    *,
    threads: int | None = 1,
) -> tuple[Vocabulary, Sentences]:
    """Read a whole text into memory as sentences of a vocabulary, given or made from the text."""
    opened = _open_source(source, _agreed_options(vocabulary, text), read)
    with IdStream(1 << 62, _expected_ids(opened)) as stream, Threads(threads) as shared:
        made, final = _fill(stream, opened, vocabulary or VocabularyOptions(), read, quiet, shared)
        return made, sentences_from_ids(stream.taken(final, shared)[:-1], EOS)


def count_sentences(
    vocabulary: Vocabulary, sentences: Sentences, options: CountOptions, *, threads: int | None = 1
) -> NgramCounts:
    """Count the n-grams of sentences that are in memory."""
    _check_count_options(options)
    memory = _parse_size(options.memory)
    with IdStream(1 << 62, sentences.ids.size + 1) as stream, Threads(threads) as shared:
        stream.append(sentences.ids)
        final = np.arange(len(vocabulary), dtype=np.int32)
        levels = _count(stream, final, options.order, len(vocabulary), memory, shared)
    return NgramCounts(vocabulary, apply_cutoffs(levels, options.cutoffs))


def _agreed_options(
    vocabulary: Vocabulary | VocabularyOptions | None, text: TextOptions | None
) -> TextOptions | None:
    """Return the text options asked for, which a given vocabulary fixes."""
    if not isinstance(vocabulary, Vocabulary):
        return text
    if text is not None and text != vocabulary.text:
        raise InputError(f"the vocabulary was made with {vocabulary.text}, not with {text}")
    return vocabulary.text


def _open_source(source: Source, text: TextOptions | None, read: ReadOptions | None) -> Text:
    """Return a Text from whatever names one."""
    if isinstance(source, Text):
        if text is not None and text != source.options:
            raise InputError(f"the text is read with {source.options}, but {text} is asked for")
        return source
    if isinstance(source, str | Path):
        return read_text(source, text=text, read=read)
    if isinstance(source, Iterator):
        # The first item tells files from texts, and must not be lost.
        first = list(islice(source, 1))
        source = [*first, *source] if first and isinstance(first[0], Path) else chain(first, source)
    if isinstance(source, list | tuple) and all(isinstance(name, str | Path) for name in source):
        return read_text(*source, text=text, read=read)
    return text_from_strings(source, text, read)


def _check_count_options(options: CountOptions) -> None:
    """Refuse an order or cut-offs below 1."""
    if options.order < 1:
        raise InputError("--order must be 1 or more")
    if any(cutoff < 1 for cutoff in options.cutoffs):
        raise InputError("--cutoffs must be 1 or more")


def _parse_size(size: str) -> int:
    """Return the bytes that a number means with an optional suffix K, M, G or T.

    >>> _parse_size("1.5G")
    1610612736
    """
    number, unit = size.strip().upper().removesuffix("B"), 1
    for power, suffix in enumerate("KMGT", start=1):
        if number.endswith(suffix):
            number, unit = number[:-1], 1024**power
    try:
        value = int(float(number) * unit)
    except (ValueError, OverflowError):
        raise InputError(f"--memory {size}: not a size; write for example 500M or 2G") from None
    if value < 1 << 20:
        raise InputError(f"--memory {size}: at least 1M is needed")
    return value


def _fill(
    stream: IdStream,
    text: Text,
    vocabulary: Vocabulary | VocabularyOptions,
    read: ReadOptions | None,
    quiet: bool,
    threads: Threads,
) -> tuple[Vocabulary, Int32Array]:
    """Read a text into a stream of ids; return its vocabulary, and the final id of every id of the stream."""
    if isinstance(vocabulary, Vocabulary):
        _scan(stream, text, vocabulary.scanner(read), quiet, threads)
        return vocabulary, np.arange(len(vocabulary), dtype=np.int32)
    # Wrong options are reported before the text is read, which may take long.
    check_vocabulary_options(vocabulary)
    listed = None if vocabulary.words is None else read_word_list(vocabulary.words, text.options)
    scanner = WordScanner(skip_symbols=read.skip_symbols if read else False)
    _scan(stream, text, scanner, quiet, threads)
    return choose_vocabulary(scanner, vocabulary, listed, text.options)


def _expected_ids(text: Text) -> int:
    """Return about the most ids that a text will have, and those of one more chunk, which is read ahead."""
    return (text.size or 0) // _BYTES_PER_SHORT_WORD + CHUNK_BYTES


def _scan(stream: IdStream, text: Text, scanner: WordScanner, quiet: bool, threads: Threads) -> None:
    """Read a text to its end into a stream of ids; a chunk is scanned while the next ones are read."""

    def scan(chunk: Chunk) -> None:
        stream.keep(scanner.feed_into(stream.buffer(scanner.most_ids(chunk)), chunk))

    count = ByteCount()
    with progress("reading", text.size, "bytes", quiet) as report:
        for _ in threads.map_behind(scan, text.chunks(count)):
            report(count.total, f"{human(stream.size)} words")
    if stream.size == 0:
        raise InputError(f"{text.name}: the text is empty: it contains no words; name another")


def _count(
    stream: IdStream, final: Int32Array, order: int, size: int, memory: int, threads: Threads
) -> tuple[Level, ...]:
    """Count a stream of ids, which is emptied, block by block and merge the blocks' levels."""
    block = min(max(memory // _BYTES_PER_TOKEN, 1 << 16), _MOST_TOKENS)
    if stream.size <= block:
        return count_block(stream.taken(final, threads), 0, order, size, threads)
    runs: list[tuple[int, tuple[Level, ...]]] = []
    for start in range(0, stream.size, block):
        carry = min(start, order - 1)
        ids = stream.renumbered(final, (start - carry, start + block), threads)
        runs.append((1, count_block(ids, carry, order, size, threads)))
        last = start + block >= stream.size
        # Equal numbers of blocks merge at once, as in a binary counter: every n-gram is copied few times.
        while len(runs) > 1 and (last or runs[-1][0] == runs[-2][0]):
            (one, levels), (two, more) = runs[-2:]
            runs[-2:] = [(one + two, merge_levels(levels, more, memory))]
    return runs[0][1]
