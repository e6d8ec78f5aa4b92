"""The texts of the experiments (section 5): a test text, nested training samples, one vocabulary.

Every text is read twice, with punctuation verbalised and without punctuation. Line i of the one is line i
of the other, so that both have the same sentences in every sample.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from classgram.counts.counting import count_sentences
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.files.atomic import write_folder
from classgram.files.folders import Folder, check_range, check_starts, folder_kind, read_folder
from classgram.options import CountOptions, Punctuation, ReadOptions, TextOptions, VocabularyOptions
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import AnyArray, Int32Array, Int64Array
from classgram.text.reading import Text, find_files, read_text
from classgram.text.scanner import WordScanner
from classgram.text.sentences import Sentences, sentences_from_ids
from classgram.text.vocabulary import EOS, UNK, Vocabulary, choose_vocabulary

_KIND = "reproduction-text"

READINGS: tuple[Punctuation, ...] = ("verbalise", "strip")
"""The paper's verbalised (VP) and non-verbalised (NVP) data."""


@dataclass(frozen=True)
class Texts:
    """Which texts the experiments are run on, and how they are divided."""

    train: tuple[str, ...]
    test: tuple[str, ...] = ()
    """Without any, a part of the training text is held out."""
    test_share: float = 0.05
    seed: int = 0
    vocabulary_size: int = 20_000
    most_words: int = 40_000_000
    """Training text beyond this many words is left out."""
    read: ReadOptions = field(default_factory=ReadOptions)

    def fingerprint(self) -> str:
        """Return a digest of the files' bytes and of everything that decides which words a sample holds."""
        digest = hashlib.blake2b(digest_size=16)
        for group in (self.train, self.test):
            digest.update(b"group")
            for path in find_files(group) if group else ():
                if not path.is_file():
                    raise InputError(f"{path}: is read more than once; write it to a file first")
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "blake2b").digest())
        decided = (self.test_share, self.seed, self.vocabulary_size, self.most_words, self.read)
        digest.update(repr(decided).encode())
        return digest.hexdigest()


class Sample(NamedTuple):
    """Which part of the training text a model sees."""

    punctuation: Punctuation
    words: int | None
    """The number of words without punctuation; None is all there is."""


class Facts(NamedTuple):
    """What there is in the texts; words are counted without punctuation."""

    train_words: int
    train_sentences: int
    test_words: int
    test_sentences: int


class Prepared(NamedTuple):
    """A text as ids of one vocabulary, its sentences ranked for the nested samples."""

    vocabulary: Vocabulary
    train: Sentences
    test: Sentences
    ranks: Int64Array
    """The place of each training sentence in the order in which samples grow."""
    lengths: Int64Array
    """The words of each training sentence, punctuation left out."""

    def sentences(self, words: int | None) -> Sentences:
        """Return the sentences of a sample, in the order of the text."""
        if words is None:
            return self.train
        growing = np.cumsum(self.lengths[np.argsort(self.ranks)])
        return _select(self.train, np.flatnonzero(self.ranks <= np.searchsorted(growing, words)))


def prepare_texts(texts: Texts, work: Path) -> Facts:
    """Read the texts, divide them, and write them as ids, a folder for each way of reading."""
    scanned = {punctuation: _scan_lines(texts, punctuation) for punctuation in READINGS}
    usable = _lines_with_words([lines for _, lines in scanned.values()], texts.train)
    held_out, order = _hold_out(np.random.default_rng(texts.seed).permutation(usable), texts)
    lengths = np.diff(scanned["strip"][1].offsets) - 1
    order = order[: np.searchsorted(np.cumsum(lengths[order]), texts.most_words) + 1]
    rising, ranks = np.sort(order), np.argsort(order)
    made: dict[Punctuation, Prepared] = {}
    for punctuation, (scanner, lines) in scanned.items():
        vocabulary, final = _training_vocabulary(scanner, _select(lines, rising), texts, punctuation)
        lines = Sentences(final[lines.ids], lines.offsets)
        test = _read_test(texts, vocabulary) if texts.test else _select(lines, held_out)
        made[punctuation] = Prepared(vocabulary, _select(lines, rising), test, ranks, lengths[rising])
    tested = _lines_with_words([one.test for one in made.values()], texts.test or texts.train)
    for punctuation, one in made.items():
        _save_prepared(text_folder(work, punctuation), one._replace(test=_select(one.test, tested)))
    test_words = int((np.diff(made["strip"].test.offsets) - 1)[tested].sum())
    return Facts(int(lengths[order].sum()), order.size, test_words, tested.size)


def _scan_lines(texts: Texts, punctuation: Punctuation) -> tuple[WordScanner, Sentences]:
    """Return every line of the training text as a sentence, also one without words."""
    scanner = WordScanner(skip_symbols=texts.read.skip_symbols, blank_lines=True)
    return scanner, _all_lines(scanner, _open_texts(texts.train, punctuation, texts.read))


def _read_test(texts: Texts, vocabulary: Vocabulary) -> Sentences:
    """Return the lines of the test text in the ids of a vocabulary, also those without words."""
    scanner = vocabulary.scanner(texts.read, blank_lines=True)
    return _all_lines(scanner, _open_texts(texts.test, vocabulary.text.punctuation, texts.read))


def _open_texts(paths: tuple[str, ...], punctuation: Punctuation, read: ReadOptions) -> Text:
    """Return a text of the experiments: always in lower case, so that all texts are in one case."""
    return read_text(*paths, text=TextOptions(True, punctuation), read=read)


def _all_lines(scanner: WordScanner, text: Text) -> Sentences:
    """Return the lines of a text."""
    parts = [scanner.feed(chunk) for chunk in text.chunks()]
    return sentences_from_ids(np.concatenate([np.empty(0, np.int32), *parts]), EOS)


def _lines_with_words(readings: list[Sentences], paths: tuple[str, ...]) -> Int64Array:
    """Return the lines that hold a word in every way of reading."""
    usable = np.logical_and.reduce([np.diff(sentences.offsets) > 1 for sentences in readings])
    found = np.flatnonzero(usable)
    if found.size == 0:
        raise InputError(f"{', '.join(paths)}: the text is empty: it contains no words; name another")
    return found


def _hold_out(order: Int64Array, texts: Texts) -> tuple[Int64Array, Int64Array]:
    """Return lines for the test in the order of the text, none where there is a test text, and the others."""
    if texts.test:
        return order[:0], order
    if order.size < 2:
        raise InputError(f"{', '.join(texts.train)}: one sentence, so none can be held out; give --test")
    number = min(max(1, round(order.size * texts.test_share)), order.size - 1)
    return np.sort(order[:number]), order[number:]


def _training_vocabulary(
    scanner: WordScanner, train: Sentences, texts: Texts, punctuation: Punctuation
) -> tuple[Vocabulary, Int32Array]:
    """Return the vocabulary of the training lines, and the final id of every id of the scanner."""
    counts = np.bincount(train.ids, minlength=scanner.types).astype(np.int64)
    options = VocabularyOptions(vocabulary_size=texts.vocabulary_size)
    return choose_vocabulary(scanner, options, None, TextOptions(True, punctuation), counts)


def _select(sentences: Sentences, lines: Int64Array) -> Sentences:
    """Return some lines, given in rising order."""
    kept = np.zeros(len(sentences), np.bool_)
    kept[lines] = True
    return sentences_from_ids(sentences.ids[np.repeat(kept, np.diff(sentences.offsets))], EOS)


def text_folder(work: Path, punctuation: Punctuation) -> Path:
    """Return where the text is kept as ids."""
    return work / f"text-{punctuation}"


def _save_prepared(path: Path, prepared: Prepared) -> None:
    """Write a prepared text as a folder."""
    config, files = prepared.vocabulary.to_files()
    arrays: dict[str, AnyArray] = {
        "train": prepared.train.ids,
        "test": prepared.test.ids,
        "ranks": prepared.ranks.astype(np.int64),
        "lengths": prepared.lengths.astype(np.int64),
    }
    write_folder(path, _KIND, config, arrays, files)


def load_prepared(work: Path, punctuation: Punctuation) -> Prepared:
    """Read a prepared text, memory-mapped."""
    folder = read_folder(text_folder(work, punctuation), _KIND)
    vocabulary = Vocabulary.from_folder(folder)
    train, test = (_read_ids(folder, name, len(vocabulary)) for name in ("train", "test"))
    ranks, lengths = folder.array("ranks", np.int64), folder.array("lengths", np.int64)
    if not ranks.size == lengths.size == len(train):
        raise InputError(f"{folder.path}: its arrays do not belong together; remove {work}")
    return Prepared(vocabulary, train, test, ranks, lengths)


def _read_ids(folder: Folder, name: str, size: int) -> Sentences:
    """Return sentences that a folder holds."""
    ids = folder.array(name, np.int32)
    check_range(folder, name, ids, UNK, size)
    sentences = sentences_from_ids(frozen(ids), EOS)
    check_starts(folder, name, sentences.offsets, len(sentences), ids.size)
    return sentences


def counts_folder(work: Path, sample: Sample, order: int) -> Path:
    """Return where the counts of a sample are kept, shared by all cells."""
    return work / f"counts-{sample.punctuation}-{sample.words or 'all'}-{order}"


def is_whole(folder: Path) -> bool:
    """Return whether a folder has been written; it appears only once it is whole."""
    return folder_kind(folder) is not None


def make_counts(work: Path, sample: Sample, order: int) -> None:
    """Count a sample, unless that was done before."""
    folder = counts_folder(work, sample, order)
    if not is_whole(folder):
        prepared = load_prepared(work, sample.punctuation)
        counted = count_sentences(prepared.vocabulary, prepared.sentences(sample.words), CountOptions(order))
        counted.save(folder)


def load_counts(work: Path, sample: Sample, order: int) -> NgramCounts:
    """Return the counts of a sample."""
    return NgramCounts.load(counts_folder(work, sample, order))
