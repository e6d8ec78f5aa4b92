"""ARPA files mended: what can be read is read, completed, and written as strict readers want it."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from classgram.arpa import write_arpa
from classgram.arpa_check import CLEARLY_OFF, ArpaReport, report_on
from classgram.arpa_kinds import Kind
from classgram.arpa_reading import Grams, build, close_under_affixes, with_unknown
from classgram.arpa_scan import Scan, ScannedSection, scan_arpa
from classgram.errors import InputError
from classgram.language_model import LOG_10
from classgram.ngram_lm import NgramModel
from classgram.ngrams import parents_of
from classgram.pruning import (
    LEAST_REST,
    backoff_weights,
    probabilities_by_level,
    suffixes_by_level,
)
from classgram.trie import BackoffTrie, LevelEstimates, assemble
from classgram.vocabulary import Vocabulary

Floats = npt.NDArray[np.float64]
Int32s = npt.NDArray[np.int32]

HOPELESS = (Kind.CUT_SHORT, Kind.EMPTY_FILE, Kind.NO_UNIGRAMS)
"""Where these are found there is too little left to make a model of."""

SPELLINGS = {b"<s>": "<s>", b"</s>": "</s>", b"<unk>": "<unk>"}


def fix_arpa(path: str | Path, output: str | Path) -> ArpaReport:
    """Mend a file, and return what was wrong with it."""
    scan = scan_arpa(path)
    report = report_on(scan)
    for finding in report.findings:
        if finding.kind in HOPELESS:
            raise InputError(
                f"{path}, line {finding.line}: {finding.kind.value.text}; that cannot be mended, "
                "get the file again"
            )
    write_arpa(mended(scan), output)
    return report


def mended(scan: Scan) -> NgramModel:
    """The model that a file was meant to hold."""
    vocabulary, ids = number_words(scan)
    grams = [
        rows_of(scan.sections.get(order) or ScannedSection(order, 0), order, ids)
        for order in range(1, scan.order + 1)
    ]
    while len(grams) > 1 and not len(grams[-1].rows):
        grams.pop()
    if len(grams) == 1:
        grams.append(sentence_end(vocabulary))
    grams[0] = with_unknown(grams[0], len(vocabulary))
    trie = normalised(build(close_under_affixes(grams)))
    return NgramModel(vocabulary, trie, {"recipe": "arpa", "order": trie.order})


def number_words(scan: Scan) -> tuple[Vocabulary, Int32s]:
    """The vocabulary, likely words first, and the id of each word as the scan numbered them."""
    names = [SPELLINGS.get(name.lower(), name.decode()) for name in scan.words]
    unigrams = scan.sections.get(1) or ScannedSection(1, 0)
    likely = np.argsort(-np.frombuffer(unigrams.logs, np.float64), kind="stable")
    first = [names[unigrams.ids[entry]] for entry in likely]
    vocabulary = Vocabulary.from_words([*first, *names])
    return vocabulary, np.array([vocabulary.id(name) for name in names], np.int32)


def rows_of(section: ScannedSection, order: int, ids: Int32s) -> Grams:
    """The entries of a section as sorted rows of ids; of duplicates the first stays."""
    rows = ids[np.frombuffer(section.ids, np.int32)].reshape(-1, order)
    logs, backoffs = np.frombuffer(section.logs, np.float64), np.frombuffer(section.backoffs, np.float64)
    by_row = np.lexsort(rows.T[::-1])
    rows = rows[by_row]
    once = np.ones(len(rows), bool)
    once[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    chosen = by_row[once]
    return Grams(rows[once], logs[chosen] * LOG_10, np.nan_to_num(backoffs[chosen]) * LOG_10)


def sentence_end(vocabulary: Vocabulary) -> Grams:
    """The bigram <s> </s>, to be filled in: readers want two orders."""
    row = np.array([[vocabulary.id("<s>"), vocabulary.id("</s>")]], np.int32)
    return Grams(row, np.array([np.nan]), np.zeros(1))


def normalised(trie: BackoffTrie) -> BackoffTrie:
    """The trie with new back-off weights where the words after a context did not sum to one."""
    probabilities = probabilities_by_level(trie)
    probabilities[0] /= max(float(probabilities[0].sum()), 1.0)
    estimates = []
    links = suffixes_by_level(trie)
    contexts = list(trie.levels())
    for number, (level, link) in enumerate(zip(trie.to_levels()[1:], links, strict=True)):
        parents, size = parents_of(level), level.starts.size - 1
        own = np.bincount(parents, probabilities[number + 1], size)
        probabilities[number + 1] *= np.where(
            own > 1 - LEAST_REST, (1 - LEAST_REST) / np.maximum(own, 1e-300), 1.0
        )[parents]
        lower = probabilities[number][link]
        own = np.bincount(parents, probabilities[number + 1], size)
        rest = np.maximum(1.0 - np.bincount(parents, lower, size), 0.0)
        given = np.exp(trie.arrays.log_backoffs[contexts[number]].astype(np.float64))
        right = backoff_weights(level, probabilities[number + 1], lower)
        wrong = (np.abs(own + given * rest - 1.0) > CLEARLY_OFF) & (own > 0)
        weights = np.where(wrong, right, given)
        estimates.append(LevelEstimates(level, link, probabilities[number + 1], weights))
    return assemble(probabilities[0], estimates)
