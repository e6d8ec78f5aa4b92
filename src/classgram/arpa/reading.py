"""Any ARPA file read as a model; errors name the line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from classgram.counts._kernels.counting import Level
from classgram.counts.ngram_counts import parents_of
from classgram.counts.suffixes import link_levels
from classgram.errors import InputError
from classgram.files.compressed import open_decompressed
from classgram.models.language_model import LOG_10
from classgram.models.ngram.ngram_model import NgramModel
from classgram.models.ngram.trie import BackoffTrie, LevelEstimates, assemble
from classgram.options import TextOptions
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Float64Array, Int32Array, Int32Matrix, Int64Array
from classgram.text.vocabulary import BOS, Vocabulary

_MISSING_UNKNOWN = -100.0
"""The log10-probability of <unk> where a file has none."""


class _Section(NamedTuple):
    """The n-grams of one order: their words, log10-probabilities and back-offs."""

    words: tuple[tuple[bytes, ...], ...]
    log10s: Float64Array
    backoffs: Float64Array


class Grams(NamedTuple):
    """The n-grams of one order as rows of word ids, sorted; NaN marks probabilities to be filled in."""

    rows: Int32Matrix
    logs: Float64Array
    backoffs: Float64Array


@dataclass
class _Lines:
    """The lines of a file, counted, without the white space around them."""

    path: Path
    lines: Iterator[bytes]
    number: int = 0

    def next(self) -> bytes:
        """Return the next line; a file that ends here is cut short."""
        for line in self.lines:
            self.number += 1
            return line.strip()
        raise InputError(f"{self.path}: ends without \\end\\ after line {self.number}; fetch it again")

    def next_filled(self) -> bytes:
        """Return the next line that is not empty."""
        while not (line := self.next()):
            pass
        return line

    def error(self, problem: str) -> InputError:
        """Return an error at the current line."""
        return InputError(f"{self.path}, line {self.number}: {problem}")


def read_arpa(path: str | Path, text: TextOptions | None = None) -> NgramModel:
    """Read an ARPA file, plain or compressed (.gz, .bz2, .xz, .zst), of any order.

    Missing prefixes and suffixes of n-grams are added with the probability that the back-off
    implies, which changes no probability.
    """
    path = Path(path)
    with open_decompressed(path) as file:
        sections = _read_sections(_Lines(path, iter(file)))
    vocabulary, grams = _number_words(path, sections)
    vocabulary = replace(vocabulary, text=text or TextOptions())
    closed = close_under_affixes(grams)
    trie = build_trie(closed)
    return NgramModel(vocabulary, trie, {"recipe": "arpa", "order": trie.order})


def _read_sections(lines: _Lines) -> list[_Section]:
    """Return all sections of a file, checked against the counts in its header."""
    sizes = _read_head(lines)
    sections = [_read_section(lines, order, size) for order, size in enumerate(sizes, start=1)]
    if lines.next_filled() != b"\\end\\":
        raise lines.error("\\end\\ was expected here; the counts in the header do not fit the sections")
    return sections


def _read_head(lines: _Lines) -> list[int]:
    """Return the number of n-grams of each order; the blank line after them is read, too."""
    if lines.next_filled() != b"\\data\\":
        raise lines.error("\\data\\ was expected here; is this an ARPA file?")
    sizes: list[int] = []
    while line := lines.next():
        found = re.fullmatch(rb"ngram\s+(\d+)\s*=\s*(\d+)", line)
        if not found or int(found[1]) != len(sizes) + 1:
            raise lines.error(f"'ngram {len(sizes) + 1}=...' was expected here")
        sizes.append(int(found[2]))
    while len(sizes) > 1 and sizes[-1] == 0:
        raise lines.error(f"order {len(sizes)} is empty; remove it from the file")
    if not sizes or sizes[0] == 0:
        raise lines.error("the file lists no unigrams")
    return sizes


def _read_section(lines: _Lines, order: int, size: int) -> _Section:
    """Return the n-grams of one order."""
    if lines.next_filled() != b"\\%d-grams:" % order:
        raise lines.error(f"\\{order}-grams: was expected here; the section before is too long or short")
    words: list[tuple[bytes, ...]] = []
    log10s = np.empty(size)
    backoffs = np.zeros(size)
    for index in range(size):
        fields = lines.next().split()
        if len(fields) not in (order + 1, order + 2):
            raise lines.error(f"a probability, {order} word(s) and perhaps a back-off were expected")
        try:
            log10s[index] = float(fields[0])
            backoffs[index] = float(fields[order + 1]) if len(fields) > order + 1 else 0.0
        except ValueError:
            raise lines.error("a number was expected as probability and as back-off") from None
        if not log10s[index] <= 0 or not backoffs[index] < np.inf:
            raise lines.error(f"{log10s[index]} is no log10-probability; it must be 0 or less")
        words.append(tuple(fields[1 : order + 1]))
    return _Section(tuple(words), np.maximum(log10s, -99.0), np.maximum(backoffs, -99.0))


def _number_words(path: Path, sections: list[_Section]) -> tuple[Vocabulary, list[Grams]]:
    """Return the vocabulary, likeliest words first, and every order's n-grams as sorted rows of ids."""
    names = [words[0] for words in sections[0].words]
    by_probability = np.argsort(-sections[0].log10s, kind="stable")
    # Some tools write the unknown word in capitals.
    aliases = {b"<UNK>": b"<unk>"} if b"<unk>" not in names else {}
    try:
        listed = [aliases.get(names[index], names[index]).decode() for index in by_probability]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: a unigram is not UTF-8 ({error})") from None
    vocabulary = Vocabulary.from_words(listed)
    ids = {word.encode(): number for number, word in enumerate(vocabulary.words)}
    ids |= {alias: ids[word] for alias, word in aliases.items()}
    if "<s>" not in listed or "</s>" not in listed:
        raise InputError(f"{path}: has no unigram <s> or </s>; it is no model of sentences")
    grams = []
    for order, section in enumerate(sections, start=1):
        try:
            flat = [ids[word] for words in section.words for word in words]
        except KeyError as error:
            word = error.args[0].decode("utf-8", "replace")
            raise InputError(f"{path}: the {order}-grams hold {word!r}, which is no unigram") from None
        grams.append(_sorted_grams(path, np.array(flat, np.int32).reshape(-1, order), section))
    return vocabulary, [with_unknown(grams[0], len(vocabulary)), *grams[1:]]


def _sorted_grams(path: Path, rows: Int32Matrix, section: _Section) -> Grams:
    """Return n-grams in the order of their ids; a duplicate raises an error."""
    order = np.lexsort(rows.T[::-1])
    rows = rows[order]
    same = (rows[1:] == rows[:-1]).all(axis=1)
    if same.any():
        twice = section.words[order[int(np.flatnonzero(same)[0])]]
        raise InputError(f"{path}: {b' '.join(twice).decode('utf-8', 'replace')!r} is there twice")
    return Grams(rows, section.log10s[order] * LOG_10, section.backoffs[order] * LOG_10)


def with_unknown(unigrams: Grams, size: int) -> Grams:
    """Return a row for every word, also for <unk> where the file has none."""
    logs = np.full(size, _MISSING_UNKNOWN * LOG_10)
    backoffs = np.zeros(size)
    logs[unigrams.rows[:, 0]] = unigrams.logs
    backoffs[unigrams.rows[:, 0]] = unigrams.backoffs
    logs[BOS] = -99 * LOG_10
    return Grams(np.arange(size, dtype=np.int32)[:, None], logs, backoffs)


def close_under_affixes(grams: list[Grams]) -> list[Grams]:
    """Return the n-grams together with all their prefixes and suffixes."""
    closed = list(grams)
    for index in range(len(grams) - 1, 1, -1):
        rows = closed[index].rows
        wanted = np.unique(np.concatenate([_as_keys(rows[:, :-1]), _as_keys(rows[:, 1:])]))
        below = closed[index - 1]
        missing = wanted[~np.isin(wanted, _as_keys(below.rows))]
        if missing.size:
            added = missing.view(np.int32).reshape(missing.size, -1)
            merged = np.concatenate([below.rows, added])
            logs = np.concatenate([below.logs, np.full(missing.size, np.nan)])
            backoffs = np.concatenate([below.backoffs, np.zeros(missing.size)])
            order = np.lexsort(merged.T[::-1])
            closed[index - 1] = Grams(merged[order], logs[order], backoffs[order])
    return closed


def _as_keys(rows: Int32Matrix) -> npt.NDArray[np.void]:
    """Return each row as one value that can be compared."""
    rows = np.ascontiguousarray(rows)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]


def build_trie(grams: list[Grams]) -> BackoffTrie:
    """Return the trie of n-grams whose prefixes and suffixes are all among them."""
    size = len(grams[0].rows)
    levels = [Level(np.array([0, size]), grams[0].rows[:, 0], np.zeros(size, np.int64))]
    for gram in grams[1:]:
        parents = np.zeros(len(gram.rows), np.int64)
        for level, column in zip(levels, gram.rows.T[:-1], strict=True):
            parents = _children(level, parents, column)
        starts = np.searchsorted(parents, np.arange(len(levels[-1].words) + 1))
        words = np.ascontiguousarray(gram.rows[:, -1])
        levels.append(Level(frozen(starts), frozen(words), frozen(np.zeros(len(words), np.int64))))
    estimates: list[LevelEstimates] = []
    lower = grams[0].logs
    for gram, below, level, links in zip(grams[1:], grams, levels[1:], link_levels(levels), strict=False):
        implied = below.backoffs[parents_of(level)] + lower[links]
        lower = np.where(np.isnan(gram.logs), implied, gram.logs)
        estimates.append(LevelEstimates(level, links, np.exp(lower), np.exp(below.backoffs)))
    return assemble(np.exp(grams[0].logs), estimates)


def _children(level: Level, parents: Int64Array, words: Int32Array) -> Int64Array:
    """Return the entries of a level that are these parents' children with these words."""
    size = np.int64(max(int(level.words.max()), int(words.max())) + 1)
    keys = parents_of(level) * size + level.words
    return np.searchsorted(keys, parents * size + words)
