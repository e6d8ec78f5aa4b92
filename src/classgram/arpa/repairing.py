"""Repair of ARPA files: what can be read is completed, and written as strict readers expect it."""

from pathlib import Path

import numpy as np

from classgram.arpa.checking import LARGEST_BACKOFF, SUM_TOLERANCE, ArpaReport, report_on
from classgram.arpa.defects import Defect
from classgram.arpa.reading import Grams, build_trie, close_under_affixes, with_unknown
from classgram.arpa.scanning import Scan, ScannedSection, scan_arpa
from classgram.arpa.writing import write_arpa
from classgram.counts.ngram_counts import parents_of
from classgram.errors import InputError
from classgram.models.language_model import LOG_10
from classgram.models.ngram.ngram_model import NgramModel
from classgram.models.ngram.pruning import LEAST_REST, completed, probabilities_by_level, suffixes_by_level
from classgram.models.ngram.trie import BackoffTrie, LevelEstimates, assemble, logarithm
from classgram.runtime.compiled.arrays import Int32Array
from classgram.text.vocabulary import BOS, EOS, Vocabulary

_UNREPAIRABLE = (Defect.CUT_SHORT, Defect.EMPTY_FILE, Defect.NO_UNIGRAMS)
"""Defects that leave too little of a model."""

_SPELLINGS = {b"<s>": "<s>", b"</s>": "</s>", b"<unk>": "<unk>"}


def repair_arpa(path: str | Path, output: str | Path) -> ArpaReport:
    """Write a repaired file, and return the report on the original."""
    scan = scan_arpa(path)
    report = report_on(scan)
    for finding in report.findings:
        if finding.kind in _UNREPAIRABLE:
            raise InputError(
                f"{path}, line {finding.line}: {finding.kind.value.text}; this cannot be repaired; "
                "get the file again"
            )
    write_arpa(_repaired_model(scan), output)
    return report


def _repaired_model(scan: Scan) -> NgramModel:
    """Return the model that the file was meant to hold."""
    vocabulary, ids = _number_words(scan)
    grams = [
        _rows_of(scan.sections.get(order) or ScannedSection(order, 0), order, ids)
        for order in range(1, scan.order + 1)
    ]
    while len(grams) > 1 and not len(grams[-1].rows):
        grams.pop()
    if len(grams) == 1:
        grams.append(_sentence_end(vocabulary))
    grams[0] = _whole_unigrams(grams[0], len(vocabulary))
    trie = _normalised(build_trie(close_under_affixes(grams)))
    return NgramModel(vocabulary, trie, {"recipe": "arpa", "order": trie.order})


def _number_words(scan: Scan) -> tuple[Vocabulary, Int32Array]:
    """Return the vocabulary, likeliest words first, and the id of each word of the scan."""
    names = [_SPELLINGS.get(name.lower(), name.decode()) for name in scan.words]
    unigrams = scan.sections.get(1) or ScannedSection(1, 0)
    likely = np.argsort(-np.frombuffer(unigrams.logs, np.float64), kind="stable")
    first = [names[unigrams.ids[entry]] for entry in likely]
    vocabulary = Vocabulary.from_words([*first, *names])
    return vocabulary, np.array([vocabulary.id(name) for name in names], np.int32)


def _rows_of(section: ScannedSection, order: int, ids: Int32Array) -> Grams:
    """Return the entries of a section as sorted rows of ids; of duplicates the first stays.

    Those with <s> or </s> inside, which no sentence has, are left out.
    """
    rows = ids[np.frombuffer(section.ids, np.int32)].reshape(-1, order)
    logs, backoffs = np.frombuffer(section.logs, np.float64), np.frombuffer(section.backoffs, np.float64)
    weights = np.minimum(np.nan_to_num(backoffs), LARGEST_BACKOFF)
    by_row = np.lexsort(rows.T[::-1])
    rows = rows[by_row]
    once = np.ones(len(rows), bool)
    once[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    once &= ~(rows[:, 1:] == BOS).any(axis=1) & ~(rows[:, :-1] == EOS).any(axis=1)
    chosen = by_row[once]
    return Grams(rows[once], logs[chosen] * LOG_10, weights[chosen] * LOG_10)


def _whole_unigrams(unigrams: Grams, size: int) -> Grams:
    """Return a row for every word; those that were missing share what the others leave of one."""
    filled = with_unknown(unigrams, size)
    missing = np.ones(size, bool)
    missing[unigrams.rows[:, 0]] = False
    missing[BOS] = False
    probabilities = np.where(missing | (np.arange(size) == BOS), 0.0, np.exp(filled.logs))
    rest = 1.0 - float(probabilities.sum())
    if missing.any() and rest > LEAST_REST:
        probabilities[missing] = rest / np.count_nonzero(missing)
    elif abs(rest) > SUM_TOLERANCE / 2 or rest < 0:
        probabilities /= max(float(probabilities.sum()), LEAST_REST)
    return Grams(filled.rows, logarithm(probabilities), filled.backoffs)


def _sentence_end(vocabulary: Vocabulary) -> Grams:
    """Return the bigram <s> </s>, its probability to be filled in: readers need two orders."""
    row = np.array([[vocabulary.id("<s>"), vocabulary.id("</s>")]], np.int32)
    return Grams(row, np.array([np.nan]), np.zeros(1))


def _normalised(trie: BackoffTrie) -> BackoffTrie:
    """Return the trie normalised in the contexts after which the words did not sum to one."""
    probabilities = probabilities_by_level(trie)
    estimates = []
    levels = zip(trie.to_levels()[1:], suffixes_by_level(trie), trie.levels(), strict=False)
    for number, (level, link, nodes) in enumerate(levels):
        parents, size = parents_of(level), level.starts.size - 1
        own, lower = probabilities[number + 1], probabilities[number][link]
        given = np.exp(trie.arrays.log_backoffs[nodes].astype(np.float64))
        total, covered = np.bincount(parents, own, size), np.bincount(parents, lower, size)
        wrong = np.abs(total + given * np.maximum(1.0 - covered, 0.0) - 1.0) > SUM_TOLERANCE / 2
        wrong |= (total > 1.0) | (given * np.maximum(1.0 - covered, 0.0) > 1.0)
        wrong &= np.diff(level.starts) > 0
        scaled, weights = completed(level, own, lower)
        probabilities[number + 1] = np.where(wrong[parents], scaled, own)
        weights = np.where(wrong, weights, given)
        estimates.append(LevelEstimates(level, link, probabilities[number + 1], weights))
    return assemble(probabilities[0], estimates)
