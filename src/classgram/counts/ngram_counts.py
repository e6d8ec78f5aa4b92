"""N-gram counts: every order as compressed sorted rows, from a text of any size."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt

from classgram.counts._kernels import counting as kernel
from classgram.counts.id_stream import Spool, temporary_room
from classgram.errors import InputError
from classgram.files.folders import check_range, check_starts, read_folder, write_folder
from classgram.options import CountOptions, ReadOptions, TextOptions, VocabularyOptions
from classgram.runtime.compiled import Number, frozen
from classgram.runtime.progress import human, progress
from classgram.runtime.threads import ALONE, Span, Threads
from classgram.text.reading import CHUNK, Chunk, Strings, Text, read_text, text_from_strings
from classgram.text.scanner import WordScanner
from classgram.text.sentences import Sentences, sentences_from_ids
from classgram.text.vocabulary import (
    BOS,
    EOS,
    Vocabulary,
    check_vocabulary_options,
    choose_vocabulary,
    read_word_list,
)

BYTES_PER_TOKEN = 40
"""What counting a block needs at its peak, for each of its tokens."""

MOST_TOKENS = (1 << 31) - 1
"""Tokens of a block at most: within it, n-grams have numbers and counts of 32 bits."""

ROOM_SHARE = 4
"""Tokens that a thread must get for each number of its own tables, so that these take little memory beside
what is counted."""

SHORT_WORD = 4
"""The bytes of a word and what separates it from the next, where words are short."""

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

Source = Text | str | Path | Strings
"""A text, the name of a file or a list of such names, or anything that yields texts."""


class Level(NamedTuple):
    """The n-grams of one order in compressed rows.

    Those with prefix p are the entries starts[p] to starts[p + 1], sorted by word; an n-gram's id is
    its entry's index. starts: int64, words: int32, counts: int64.
    """

    starts: npt.NDArray[np.int64]
    words: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]

    def frozen(self) -> "Level":
        """The same level as kernels take it."""
        return Level(frozen(self.starts), frozen(self.words), frozen(self.counts))


@dataclass(frozen=True)
class NgramCounts:
    """The n-grams of a text up to an order, each ending at a predicted event (a word or </s>).

    Contexts at a sentence's start are padded with <s>. levels[0] has an entry for every word of the
    vocabulary, so that a unigram's id is its word's id. Each level but the highest also holds, with
    count 0, the n-gram of <s> alone: it is never predicted, but a prefix of others.
    """

    vocabulary: Vocabulary
    levels: tuple[Level, ...]

    @property
    def order(self) -> int:
        """The highest order counted."""
        return len(self.levels)

    @property
    def tokens(self) -> int:
        """The number of predicted events: words and sentence ends."""
        return int(self.levels[0].counts.sum())

    def items(self, order: int) -> Iterator[tuple[tuple[str, ...], int]]:
        """Every n-gram of an order with its count, for people and tests; kernels use the levels."""
        words = self.vocabulary.words
        columns = gram_words(self.levels, order)
        for entry, count in enumerate(self.levels[order - 1].counts.tolist()):
            if count:
                yield tuple(words[word] for word in columns[entry]), count

    def up_to(self, order: int) -> "NgramCounts":
        """The same counts without the orders above."""
        if order > self.order:
            raise InputError(f"the counts go up to order {self.order}; count again with --order {order}")
        return replace(self, levels=self.levels[:order])

    def save(self, path: str | Path) -> None:
        """Write the counts as a folder."""
        config, texts = self.vocabulary.to_files()
        arrays: dict[str, npt.NDArray[np.generic]] = {"counts-1": self.levels[0].counts}
        for order, level in enumerate(self.levels[1:], start=2):
            arrays |= {
                f"starts-{order}": level.starts,
                f"words-{order}": level.words,
                f"counts-{order}": level.counts,
            }
        summary = {"order": self.order, "tokens": self.tokens, "types": len(self.vocabulary)}
        write_folder(Path(path), "counts", {**summary, **config}, arrays, texts)

    @classmethod
    def load(cls, path: str | Path) -> "NgramCounts":
        """Read counts, memory-mapped, after checking that every id and start is in range."""
        folder = read_folder(Path(path), "counts")
        vocabulary = Vocabulary.from_folder(folder)
        size = len(vocabulary)
        unigrams = folder.array("counts-1", np.int64)
        if unigrams.size != size:
            raise InputError(f"{folder.path}: vocabulary.txt and counts-1.npy differ in length")
        check_range(folder, "counts-1", unigrams, 0, 1 << 62)
        levels = [first_level(unigrams)]
        for order in range(2, folder.whole_number("order") + 1):
            level = Level(
                folder.array(f"starts-{order}", np.int64),
                folder.array(f"words-{order}", np.int32),
                folder.array(f"counts-{order}", np.int64),
            )
            parents = levels[-1].words.size
            check_starts(folder, f"starts-{order}", level.starts, parents, level.words.size)
            check_range(folder, f"words-{order}", level.words, 0, size)
            check_range(folder, f"counts-{order}", level.counts, 0, 1 << 62)
            if level.counts.size != level.words.size:
                raise InputError(f"{folder.path}: words-{order}.npy and counts-{order}.npy differ")
            levels.append(level)
        return cls(vocabulary, tuple(levels))


def first_level(counts: npt.NDArray[np.int64]) -> Level:
    """The unigrams as a level: the one row below the empty prefix."""
    return Level(np.array([0, counts.size], np.int64), np.arange(counts.size, dtype=np.int32), counts)


def parents_of(level: Level) -> npt.NDArray[np.int64]:
    """The prefix id of every entry of a level."""
    return np.repeat(np.arange(level.starts.size - 1), np.diff(level.starts))


def gram_words(levels: tuple[Level, ...], order: int) -> npt.NDArray[np.int32]:
    """The words of every n-gram of an order, a row each."""
    columns = np.empty((levels[order - 1].words.size, order), np.int32)
    entries = np.arange(columns.shape[0])
    for position in range(order - 1, -1, -1):
        level = levels[position]
        columns[:, position] = level.words[entries]
        entries = parents_of(level)[entries]
    return columns


def count_ngrams(
    source: Source,
    options: CountOptions | None = None,
    vocabulary: Vocabulary | VocabularyOptions | None = None,
    text: TextOptions | None = None,
    read: ReadOptions | None = None,
    quiet: bool = True,
    *,
    threads: int = 1,
) -> NgramCounts:
    """Count the n-grams of a text.

    ``source`` is a Text, a path, a list of paths, or anything else that yields texts: an iterator of
    strings, a column of a data frame, a dataset, Arrow data (``read.field`` names the column of a
    table). For strings in a list see ``text_from_strings``. A given vocabulary fixes the text
    options; otherwise one is made from the text as its options say. Threads share the work; the counts
    are the same for any number of them.
    """
    options = options or CountOptions()
    check_count_options(options)
    opened = open_source(source, agreed_options(vocabulary, text), read)
    memory = parse_size(options.memory)
    with Spool(memory // 4, expected_ids(opened)) as spool, Threads(threads) as shared:
        made, final = fill_spool(spool, opened, vocabulary or VocabularyOptions(), read, quiet, shared)
        levels = count_spool(spool, final, options.order, len(made), memory, shared)
    return NgramCounts(made, apply_cutoffs(levels, options.cutoffs))


def read_sentences(
    source: Source,
    vocabulary: Vocabulary | VocabularyOptions | None = None,
    text: TextOptions | None = None,
    read: ReadOptions | None = None,
    quiet: bool = True,
    *,
    threads: int = 1,
) -> tuple[Vocabulary, Sentences]:
    """Read a whole text into memory as sentences of a vocabulary, given or made from the text."""
    opened = open_source(source, agreed_options(vocabulary, text), read)
    with Spool(1 << 62, expected_ids(opened)) as spool, Threads(threads) as shared:
        made, final = fill_spool(spool, opened, vocabulary or VocabularyOptions(), read, quiet, shared)
        return made, sentences_from_ids(spool.taken(final, shared)[:-1], EOS)


def count_sentences(
    vocabulary: Vocabulary, sentences: Sentences, options: CountOptions, *, threads: int = 1
) -> NgramCounts:
    """Count the n-grams of sentences that are in memory."""
    check_count_options(options)
    memory = parse_size(options.memory)
    with Spool(1 << 62, sentences.ids.size + 1) as spool, Threads(threads) as shared:
        spool.append(sentences.ids)
        final = np.arange(len(vocabulary), dtype=np.int32)
        levels = count_spool(spool, final, options.order, len(vocabulary), memory, shared)
    return NgramCounts(vocabulary, apply_cutoffs(levels, options.cutoffs))


def agreed_options(
    vocabulary: Vocabulary | VocabularyOptions | None, text: TextOptions | None
) -> TextOptions | None:
    """The text options asked for, which a given vocabulary fixes."""
    if not isinstance(vocabulary, Vocabulary):
        return text
    if text is not None and text != vocabulary.text:
        raise InputError(f"the vocabulary was made with {vocabulary.text}, not with {text}")
    return vocabulary.text


def open_source(source: Source, text: TextOptions | None, read: ReadOptions | None) -> Text:
    """A Text from whatever names one."""
    if isinstance(source, Text):
        if text is not None and text != source.options:
            raise InputError(f"the text is read with {source.options}, but {text} is asked for")
        return source
    if isinstance(source, str | Path):
        return read_text(source, text=text, read=read)
    if isinstance(source, Iterator):
        # What comes first tells files from texts, and must not be lost.
        first = list(islice(source, 1))
        source = [*first, *source] if first and isinstance(first[0], Path) else chain(first, source)
    if isinstance(source, list | tuple) and all(isinstance(name, str | Path) for name in source):
        return read_text(*source, text=text, read=read)
    return text_from_strings(source, text, read)


def check_count_options(options: CountOptions) -> None:
    """Refuse numbers that make no sense."""
    if options.order < 1:
        raise InputError("--order must be 1 or more")
    if any(cutoff < 1 for cutoff in options.cutoffs):
        raise InputError("--cutoffs must be 1 or more")


def parse_size(size: str) -> int:
    """Bytes from a number with an optional suffix K, M, G or T.

    >>> parse_size("1.5G")
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


def fill_spool(
    spool: Spool,
    text: Text,
    vocabulary: Vocabulary | VocabularyOptions,
    read: ReadOptions | None,
    quiet: bool,
    threads: Threads = ALONE,
) -> tuple[Vocabulary, npt.NDArray[np.int32]]:
    """Read a text into a spool; return its vocabulary, and the final id of every spooled one."""
    if isinstance(vocabulary, Vocabulary):
        scan_into(spool, text, vocabulary.scanner(read), quiet, threads)
        return vocabulary, np.arange(len(vocabulary), dtype=np.int32)
    # What is wrong with the options is said before the text is read, which may take long.
    check_vocabulary_options(vocabulary)
    listed = None if vocabulary.words is None else read_word_list(vocabulary.words, text.options)
    scanner = WordScanner(skip_symbols=read.skip_symbols if read else False)
    scan_into(spool, text, scanner, quiet, threads)
    return choose_vocabulary(scanner, vocabulary, listed, text.options)


def expected_ids(text: Text) -> int:
    """About as many ids as a text will hardly have more of, and a chunk's, for which room is made ahead."""
    return (text.size or 0) // SHORT_WORD + CHUNK


def scan_into(spool: Spool, text: Text, scanner: WordScanner, quiet: bool, threads: Threads) -> None:
    """Read a text to its end, ids into the spool; a chunk is scanned while the next ones are read."""

    def scan(chunk: Chunk) -> None:
        spool.keep(scanner.feed_into(spool.room(scanner.most_ids(chunk)), chunk))

    with progress("reading", text.size, "bytes", quiet) as report:
        for _ in threads.map_behind(scan, text.chunks()):
            report(text.consumed[0], f"{human(spool.size)} words")
    if spool.size == 0:
        raise InputError(f"{text.name}: the text is empty: it holds no words; name another")


def count_spool(
    spool: Spool, final: Int32s, order: int, size: int, memory: int, threads: Threads = ALONE
) -> tuple[Level, ...]:
    """Count spooled ids, which are taken, block by block and merge the blocks' levels."""
    block = min(max(memory // BYTES_PER_TOKEN, 1 << 16), MOST_TOKENS)
    if spool.size <= block:
        return count_block(spool.taken(final, threads), 0, order, size, threads)
    runs: list[tuple[int, tuple[Level, ...]]] = []
    for start in range(0, spool.size, block):
        carry = min(start, order - 1)
        ids = spool.renumbered(final, (start - carry, start + block), threads)
        runs.append((1, count_block(ids, carry, order, size, threads)))
        # Equal weights merge at once, as in a binary counter: every n-gram is copied few times.
        while len(runs) > 1 and runs[-1][0] == runs[-2][0]:
            runs[-2:] = [merge_runs(runs[-2], runs[-1], memory)]
    while len(runs) > 1:
        runs[-2:] = [merge_runs(runs[-2], runs[-1], memory)]
    return runs[0][1]


class Share(NamedTuple):
    """A span of positions, and how often each word stands there."""

    span: Span
    words: Int64s


def count_block(
    ids: Int32s, carry: int, order: int, size: int, threads: Threads = ALONE
) -> tuple[Level, ...]:
    """The levels of a block of ids; its first ``carry`` ids are context from the block before.

    The last of ``ids`` is overwritten: it stands for the <s> before all sentences. The n-grams of an
    order are sorted as (n-gram one shorter that ends just before, word), and their ids are the
    prefixes of the next order.
    """
    total = ids.size - 1
    ids[total] = BOS
    ids = frozen(ids)

    def share_of(span: Span) -> Share:
        words = np.zeros(size, np.int64)
        kernel.count_words(ids[span[0] : span[1]], words)
        return Share(span, words)

    shares = threads.map(share_of, threads.shares(carry, total, ROOM_SHARE * size))
    levels = [first_level(sum_words(shares))]
    # Behind a full carry the text goes on: there, a position's n-gram must lie in the block.
    behind = carry == order - 1
    grams = ids
    for current in range(2, order):
        # What ends outside of the block, before it or at the virtual <s>, is a prefix only.
        first = min(carry, current - 1) if behind else 0
        outside = [*range(first, carry), total]
        wider = widened(shares, ids, outside)
        starts, parents = sorted_parents(ids, grams, wider, threads)
        level = counted_level(starts, parents, np.empty_like(parents), levels[-1].words.size, threads)
        grams = grams_at(ids, wider, (starts, parents), level, threads)
        np.subtract.at(level.counts, grams[outside], 1)
        levels.append(level)
    if order > 1:
        starts, parents = sorted_parents(ids, grams, shares, threads)
        levels.append(counted_level(starts, parents, parents, levels[-1].words.size, threads))
    return tuple(levels)


def sum_words(shares: list[Share]) -> Int64s:
    """How often each word stands in all shares."""
    words: Int64s = np.sum([share.words for share in shares], axis=0)
    return words


def widened(shares: list[Share], ids: Int32s, outside: list[int]) -> list[Share]:
    """Shares with the positions around them: the last one behind them, any others before."""
    *before, behind = outside
    wider = [Share(share.span, share.words.copy()) for share in shares]
    np.add.at(wider[0].words, ids[before], 1)
    wider[-1].words[ids[behind]] += 1
    wider[0] = Share((wider[0].span[0] - len(before), wider[0].span[1]), wider[0].words)
    wider[-1] = Share((wider[-1].span[0], behind + 1), wider[-1].words)
    return wider


def places(shares: list[Share], starts: Int64s) -> list[tuple[Span, Int64s]]:
    """For each share, where its first of each word goes among all that are sorted by word."""
    filled = np.cumsum([starts[:-1], *(share.words for share in shares[:-1])], axis=0)
    return [(share.span, fill) for share, fill in zip(shares, filled, strict=True)]


def sorted_parents(
    ids: Int32s, grams: Int32s, shares: list[Share], threads: Threads
) -> tuple[Int64s, Int32s]:
    """The n-grams just before the positions of all shares, sorted by the word there; each word's start."""
    starts = np.append(np.zeros(1, np.int64), np.cumsum(sum_words(shares)))
    parents = np.empty(starts[-1], np.int32)
    grams = frozen(grams)

    def sort(place: tuple[Span, Int64s]) -> None:
        span, fill = place
        kernel.bucket_parents(ids, grams, EOS, span, fill, parents)

    threads.map(sort, places(shares, starts))
    return starts, parents


def counted_level(
    starts: Int64s, parents: Int32s, different: Int32s, parent_count: int, threads: Threads
) -> Level:
    """The level of n-grams whose parents are sorted by word.

    ``different`` is written over; it may be ``parents`` itself, where these are not needed any more.
    """
    starts = frozen(starts)
    # Memory that is not used in the end is never touched, and takes no room.
    tallied = np.empty(starts.size - 1, np.int32), different, np.empty(parents.size, np.int32)
    ranges = word_ranges(starts, threads, ROOM_SHARE * parent_count)

    def tally(words: Span) -> Int64s:
        kernel.tally_parents(starts, parents, words, np.zeros(parent_count, np.int32), tallied)
        first = starts[words[0]]
        last = first + tallied[0][words[0] : words[1]].sum(dtype=np.int64)
        rows = np.zeros(parent_count, np.int64)
        kernel.count_words(frozen(different[first:last]), rows)
        return rows

    lengths = threads.map(tally, ranges)
    rows = np.append(np.zeros(1, np.int64), np.cumsum(np.sum(lengths, axis=0)))
    level = Level(rows, np.empty(rows[-1], np.int32), np.empty(rows[-1], np.int64))

    def write(place: tuple[Span, Int64s]) -> None:
        (first, last), fill = place
        kernel.fill_level((first, last, int(starts[first])), tallied, fill, (level.words, level.counts))

    # Words come in order: in each row, those of one range stand behind those of the ranges before it.
    threads.map(write, zip(ranges, np.cumsum([rows[:-1], *lengths[:-1]], axis=0), strict=True))
    return level


def word_ranges(starts: Int64s, threads: Threads, least: int) -> list[Span]:
    """Ranges of words with about as many positions each, one for each thread at most."""
    ends = [last for _, last in threads.shares(0, int(starts[-1]), least)]
    cuts = [0, *np.searchsorted(starts, ends[:-1]).tolist(), starts.size - 1]
    return list(pairwise(cuts))


def grams_at(
    ids: Int32s, shares: list[Share], by_word: tuple[Int64s, Int32s], level: Level, threads: Threads
) -> Int32s:
    """The n-gram at every position of the shares, from their parents, which are written over."""
    starts, parents = by_word
    kernel.parents_to_grams(frozen(starts), level.starts[:-1].copy(), frozen(level.words), parents)
    found = frozen(parents)
    grams = np.empty(ids.size, np.int32)

    def write(place: tuple[Span, Int64s]) -> None:
        span, fill = place
        kernel.grams_in_text(ids, span, fill, found, grams)

    threads.map(write, places(shares, starts))
    return grams


Run = tuple[int, tuple[Level, ...]]


def merge_runs(one: Run, two: Run, memory: int) -> Run:
    """Two blocks' levels as one, in memory or, beyond a limit, in temporary files."""
    return one[0] + two[0], merge_levels(one[1], two[1], memory)


def merge_levels(one: tuple[Level, ...], two: tuple[Level, ...], memory: int) -> tuple[Level, ...]:
    """The counts of two texts of one vocabulary, added up."""
    size = one[0].words.size
    merged = [first_level(one[0].counts + two[0].counts)]
    places = (frozen(np.arange(size)), frozen(np.arange(size)))
    for a, b in zip(one[1:], two[1:], strict=True):
        most = a.words.size + b.words.size
        rows = merged[-1].words.size + 1
        level = Level(
            np.zeros(rows, np.int64),
            scratch_array(most, np.int32, memory),
            scratch_array(most, np.int64, memory),
        )
        maps = (np.empty(a.words.size, np.int64), np.empty(b.words.size, np.int64))
        entries = kernel.merge_level(a.frozen(), b.frozen(), places, level, maps)
        merged.append(Level(level.starts, level.words[:entries], level.counts[:entries]))
        places = (frozen(maps[0]), frozen(maps[1]))
    return tuple(merged)


def scratch_array(size: int, dtype: type[Number], memory: int) -> npt.NDArray[Number]:
    """An array in memory, or in a temporary file if it is large beside the memory allowed."""
    if size * np.dtype(dtype).itemsize <= memory // 8 or size == 0:
        return np.empty(size, dtype)
    with temporary_room(), tempfile.TemporaryFile(prefix="classgram-") as file:
        reserve(file, size * np.dtype(dtype).itemsize)
        return np.memmap(file, dtype, "r+", shape=(size,)).view(np.ndarray)


def reserve(file: IO[bytes], size: int) -> None:
    """Make a file so large, with room for it on the disk where the system can promise that.

    Without the promise, a disk that fills up ends the process when the mapped file is written.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        file.truncate(size)


def apply_cutoffs(levels: tuple[Level, ...], cutoffs: tuple[int, ...]) -> tuple[Level, ...]:
    """Drop n-grams seen fewer times than their order's cut-off, and those with a dropped prefix."""
    if not cutoffs or max(cutoffs) <= 1:
        return levels
    kept_levels = [levels[0]]
    kept_parents = np.arange(levels[0].words.size)
    for index, level in enumerate(levels[1:]):
        cutoff = cutoffs[min(index, len(cutoffs) - 1)]
        size = level.words.size
        out = Level(
            np.zeros(kept_parents.size + 1, np.int64),
            np.empty(size, np.int32),
            np.empty(size, np.int64),
        )
        kept = np.empty(size, np.int64)
        entries = kernel.keep_entries(level.frozen(), cutoff, frozen(kept_parents), out, kept)
        kept_levels.append(Level(out.starts, out.words[:entries].copy(), out.counts[:entries].copy()))
        kept_parents = kept[:entries]
    return tuple(kept_levels)
