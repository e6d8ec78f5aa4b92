"""The vocabulary: which words there are, their ids, and how their text was cleaned (section 5: the data)."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import numpy as np

from classgram.errors import InputError
from classgram.files.folders import CONFIG, Folder, checksum
from classgram.options import Punctuation, ReadOptions, TextOptions, VocabularyOptions
from classgram.runtime.compiled.arrays import Int32Array, Int64Array
from classgram.text.cleaning import cleaner
from classgram.text.reading import Chunk, Text, encoded, read_text
from classgram.text.scanner import SYMBOLS, WordScanner
from classgram.text.sentences import Sentences, sentences_from_ids

UNK, BOS, EOS = 0, 1, 2
"""The ids of <unk>, <s> and </s>."""

_FILE = "vocabulary.txt"


@dataclass(frozen=True)
class Vocabulary:
    """Words and their ids, frozen, with the text options that made them.

    <unk>, <s> and </s> are 0, 1 and 2; the other words follow by falling frequency in the text they
    were taken from, ties by first appearance. ``letters`` holds the words, each ended by a line end.
    """

    letters: bytes = field(repr=False)
    text: TextOptions = field(default_factory=TextOptions)

    @classmethod
    def from_words(cls, words: Iterable[str], text: TextOptions | None = None) -> "Vocabulary":
        """Return a vocabulary of the symbols and the given words, in this order.

        >>> Vocabulary.from_words(["the", "cat"]).id("cat")
        4
        """
        listed = dict.fromkeys(words)
        ordinary = [word for word in listed if word not in SYMBOLS]
        for word in ordinary:
            letters = encoded(word, repr(word), ReadOptions())
            if letters.split() != [letters]:
                raise InputError(f"{word!r} cannot be a word: it is empty or contains white space")
        return cls("\n".join([*SYMBOLS, *ordinary, ""]).encode(), text or TextOptions())

    def __len__(self) -> int:
        return self._size

    @cached_property
    def _size(self) -> int:
        return self.letters.count(b"\n")

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All words by id."""
        return tuple(self.letters.decode().split("\n")[:-1])

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def word(self, number: int) -> str:
        """Return the word with this id."""
        return self.words[number]

    def id(self, word: str) -> int:
        """Return a word's id, that of <unk> for a word that is not in the vocabulary."""
        return self._ids.get(word, UNK)

    def __contains__(self, word: str) -> bool:
        return word in self._ids

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the words and the text options, equal for equal vocabularies."""
        return checksum(repr(self.text).encode() + self.letters)

    def scanner(self, read: ReadOptions | None = None, blank_lines: bool = False) -> WordScanner:
        """Return a scanner that knows these words alone."""
        skip = read.skip_symbols if read else False
        scanner = WordScanner(self.letters, grow=False, skip_symbols=skip, blank_lines=blank_lines)
        if scanner.types != len(self):
            raise InputError("the vocabulary contains a word twice, or one with white space in it")
        return scanner

    def encode(self, text: Text, read: ReadOptions | None = None) -> Sentences:
        """Return a whole text as sentences; its text options must be those of this vocabulary."""
        if text.options != self.text:
            raise InputError(f"the text is read with {text.options}, the vocabulary with {self.text}")
        scanner = self.scanner(read)
        parts = [scanner.feed(chunk) for chunk in text.chunks()]
        ids = np.concatenate(parts) if parts else np.empty(0, np.int32)
        return sentences_from_ids(ids, EOS)

    def encode_lines(self, lines: Sequence[str], read: ReadOptions | None = None) -> Sentences:
        """Return each string as one sentence, also one without words; line ends in it count as spaces."""
        reading = read or ReadOptions()
        data = b"".join(
            encoded(line, f"strings, line {number}", reading).replace(b"\n", b" ") + b"\n"
            for number, line in enumerate(lines, start=1)
        )
        scanner = self.scanner(read, blank_lines=True)
        ids = scanner.feed(Chunk(cleaner(self.text)(data), "strings", 1))
        return sentences_from_ids(ids, EOS)

    def to_files(self, prefix: str = "") -> tuple[dict[str, Any], dict[str, bytes]]:
        """Return what a folder must hold for this vocabulary: an entry of its config, and a text."""
        return {"text": asdict(self.text)}, {prefix + _FILE: self.letters}

    @classmethod
    def from_folder(cls, folder: Folder, prefix: str = "") -> "Vocabulary":
        """Return the vocabulary that a folder holds."""
        path = folder.path / (prefix + _FILE)
        letters = folder.text(prefix + _FILE)
        words = letters.split()
        whole = letters.endswith(b"\n") and b"\0" not in letters and len(set(words)) == letters.count(b"\n")
        if not whole or words[: len(SYMBOLS)] != [symbol.encode() for symbol in SYMBOLS]:
            raise InputError(f"{path}: is not a vocabulary; recreate the folder")
        try:
            letters.decode()
        except UnicodeDecodeError:
            raise InputError(f"{path}: is not UTF-8; recreate the folder") from None
        return cls(letters, _text_options(folder))


def _text_options(folder: Folder) -> TextOptions:
    """Return the text options in a folder's config.json."""
    try:
        options = TextOptions(**folder.require("text"))
        known = isinstance(options.lowercase, bool) and options.punctuation in get_args(Punctuation)
    except TypeError:
        known = False
    if not known:
        raise InputError(f"{folder.path / CONFIG}: unknown text options; install a newer classgram")
    return options


def read_word_list(path: Path, text: TextOptions) -> list[bytes]:
    """Return the words of a list, one a line, cleaned as the text options say."""
    words = [word for chunk in read_text(path, text=text).chunks() for word in chunk.data.split()]
    if not words:
        raise InputError(f"{path}: the word list is empty; write one word a line")
    return words


def choose_vocabulary(
    scanner: WordScanner,
    options: VocabularyOptions,
    listed: list[bytes] | None,
    text: TextOptions,
    counts: Int64Array | None = None,
) -> tuple[Vocabulary, Int32Array]:
    """Return the vocabulary of a scanned text, and the final id of every id the scanner gave.

    With ``listed``, what ``options.words`` holds, just these words and all of them are chosen. Where a
    part of the text decides, ``counts`` are the words' counts in it.
    """
    counts = scanner.counts if counts is None else counts
    # Stable: words of one frequency stay in the order of their first appearance.
    order = np.argsort(-counts[len(SYMBOLS) :], kind="stable") + len(SYMBOLS)
    unseen = b""
    if listed is not None:
        wanted = set(listed) - {symbol.encode() for symbol in SYMBOLS}
        seen = scanner.words(order).split(b"\n")
        chosen = [index for index, word in enumerate(seen) if word in wanted]
        missing = wanted - {seen[index] for index in chosen}
        unseen = b"".join(word + b"\n" for word in dict.fromkeys(listed) if word in missing)
        order = order[chosen]
    order = order[counts[order] >= options.min_count][: options.vocabulary_size]
    final = np.full(scanner.types, UNK, np.int32)
    final[: len(SYMBOLS)] = np.arange(len(SYMBOLS))
    final[order] = np.arange(len(SYMBOLS), len(SYMBOLS) + order.size)
    symbols = "\n".join((*SYMBOLS, "")).encode()
    return Vocabulary(symbols + scanner.words(order) + unseen, text), final


def check_vocabulary_options(options: VocabularyOptions) -> None:
    """Refuse numbers that make no sense."""
    if options.vocabulary_size is not None and options.vocabulary_size < 1:
        raise InputError("--vocabulary-size must be 1 or more")
    if options.min_count < 1:
        raise InputError("--min-count must be 1 or more")
