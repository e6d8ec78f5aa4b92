"""Scores of lines or documents as they stream past, for filtering text by perplexity."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from classgram.evaluation.perplexity import perplexity_of
from classgram.models.language_model import LOG_10, LanguageModel
from classgram.text.records import Record
from classgram.text.vocabulary import UNK

Unit = Literal["line", "document"]

BATCH_LINES = 5000
_BATCH_LETTERS = 1 << 20


class UnitScore(NamedTuple):
    """A line or document, its records as they were read, and what the model makes of it."""

    records: list[Record]
    log10_probability: float
    words: int
    sentences: int
    unknown: int

    @property
    def perplexity(self) -> float:
        """Over all words, unknown ones included, and sentence ends."""
        events = max(self.words + self.sentences, 1)
        return perplexity_of(self.log10_probability * LOG_10, events)


def score_units(model: LanguageModel, records: Iterable[Record], unit: Unit) -> Iterator[UnitScore]:
    """Score every unit in order.

    A line is a sentence, also one without words. Of plain text, lines up to a blank one are a
    document; of JSON records, each is a unit: one sentence as a line, a sentence for each of its
    lines as a document. Units know nothing of each other: a cache starts empty in each.
    """
    for batch in _batches(_units(records, unit)):
        lines = [_sentence_lines(records, unit) for records in batch]
        sentences = model.encode([line for group in lines for line in group])
        bounds = np.cumsum([0, *map(len, lines)])
        logs = model.unit_log_probabilities(sentences, bounds[:-1])
        sums = np.concatenate([[0.0], np.cumsum(logs)])
        unknown = np.concatenate([[0], np.cumsum(sentences.ids == UNK)])
        edges = sentences.offsets[bounds]
        for index, records_of in enumerate(batch):
            start, end = int(edges[index]), int(edges[index + 1])
            yield UnitScore(
                records_of,
                float(sums[end] - sums[start]) / LOG_10,
                end - start - len(lines[index]),
                len(lines[index]),
                int(unknown[end] - unknown[start]),
            )


def _sentence_lines(records: list[Record], unit: Unit) -> list[str]:
    """Return the sentences of a unit; in documents blank lines are none."""
    if unit == "line":
        return [record.text for record in records]
    lines = [line for record in records for line in record.text.split("\n")]
    return [line for line in lines if line.strip()] or [""]


def _units(records: Iterable[Record], unit: Unit) -> Iterator[list[Record]]:
    """Return the records of each unit."""
    held: list[Record] = []
    for record in records:
        if unit == "line" or record.fields is not None:
            yield [record]
        elif record.text.strip():
            held.append(record)
        elif held:
            yield held
            held = []
    if held:
        yield held


def _batches(groups: Iterable[list[Record]]) -> Iterator[list[list[Record]]]:
    """Return units gathered into batches that are worth a kernel's call."""
    batch: list[list[Record]] = []
    lines = letters = 0
    for group in groups:
        batch.append(group)
        lines += len(group)
        letters += sum(len(record.text) for record in group)
        if lines >= BATCH_LINES or letters >= _BATCH_LETTERS:
            yield batch
            batch, lines, letters = [], 0, 0
    if batch:
        yield batch
