"""Perplexity with unknown words counted as predictions, and with them left out."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from classgram.errors import InputError
from classgram.models.language_model import LOG_10, LanguageModel
from classgram.options import ReadOptions, TextOptions
from classgram.runtime.compiled.arrays import Float64Array
from classgram.runtime.html_tables import facts_table
from classgram.text.reading import Text
from classgram.text.sentences import Sentences, sentences_from_ids
from classgram.text.vocabulary import EOS, UNK, Vocabulary


@dataclass(frozen=True)
class Evaluation:
    """The scores of a text under a model; perplexities are over words and </s>."""

    log_probability: float
    """Natural logarithm, summed over all events."""
    log_probability_known: float
    """The same over known words and </s> alone."""
    sentences: int
    words: int
    unknown: int
    hits: tuple[int, ...] = field(default=())
    """How many events each n-gram length scored, from 1 up; for models made of n-grams."""

    @property
    def perplexity_including_unknown(self) -> float:
        """exp(-mean log p), every event counted: the rule of published Penn Treebank figures."""
        return perplexity_of(self.log_probability, self.words + self.sentences)

    @property
    def perplexity_excluding_unknown(self) -> float:
        """The same without predictions of unknown words, which stay in the contexts."""
        known = self.words + self.sentences - self.unknown
        return perplexity_of(self.log_probability_known, known)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that ``perplexity --json`` prints."""
        including = self.perplexity_including_unknown
        return {
            "perplexity_including_unknown": including,
            "perplexity_excluding_unknown": self.perplexity_excluding_unknown,
            "bits_per_word": math.log2(including),
            "log10_probability": self.log_probability / LOG_10,
            "sentences": self.sentences,
            "words": self.words,
            "unknown": self.unknown,
            **({"hits": list(self.hits)} if self.hits else {}),
        }

    def _repr_html_(self) -> str:
        """Return the figures as a table, as notebooks show them."""
        return facts_table("Perplexity", self.as_dict())

    def __add__(self, other: "Evaluation") -> "Evaluation":
        return Evaluation(
            self.log_probability + other.log_probability,
            self.log_probability_known + other.log_probability_known,
            self.sentences + other.sentences,
            self.words + other.words,
            self.unknown + other.unknown,
            tuple(a + b for a, b in zip(self.hits, other.hits, strict=True)),
        )


def perplexity_of(log_probability: float, events: int) -> float:
    """Return exp(-mean log-probability), capped at exp(700) so that it does not overflow."""
    return float(np.exp(min(-log_probability / events, 700.0)))


def check_text_options(vocabulary: Vocabulary, asked: TextOptions) -> None:
    """Refuse options that contradict how the model's text was tokenised; none are needed."""
    if asked != TextOptions() and asked != vocabulary.text:
        raise InputError(
            f"the model's text was read with {_plain(vocabulary.text)}, not with {_plain(asked)}; "
            "leave these options out, and the model's own are used"
        )


def _plain(options: TextOptions) -> str:
    """Return text options as they are given on the command line."""
    case = "--lowercase" if options.lowercase else "--no-lowercase"
    return f"{case} --punctuation {options.punctuation}"


def _sentence_batches(
    vocabulary: Vocabulary, text: Text, read: ReadOptions | None = None
) -> Iterator[Sentences]:
    """Return a text of any length as batches of whole sentences."""
    scanner = vocabulary.scanner(read)
    held = np.empty(0, np.int32)
    for chunk in text.chunks():
        ids = np.concatenate([held, scanner.feed(chunk)])
        ends = np.flatnonzero(ids == EOS)
        cut = int(ends[-1]) + 1 if ends.size else 0
        held = ids[cut:]
        if cut:
            yield sentences_from_ids(ids[:cut], EOS)


def evaluate_sentences(model: LanguageModel, sentences: Sentences) -> tuple[Evaluation, Float64Array]:
    """Score a batch of sentences; the second is each sentence's log-probability."""
    logs, lengths = model.scores_with_lengths(sentences)
    unknown = sentences.ids == UNK
    hits: list[int] = []
    if lengths is not None:
        hits = np.bincount(lengths, minlength=model.order + 1)[1:].tolist()
    total = Evaluation(
        float(logs.sum()),
        float(logs[~unknown].sum()),
        len(sentences),
        sentences.tokens - len(sentences),
        int(unknown.sum()),
        tuple(hits),
    )
    return total, np.add.reduceat(logs, sentences.offsets[:-1])


def evaluate(model: LanguageModel, text: Text, read: ReadOptions | None = None) -> Evaluation:
    """Score a whole text, in batches, so that its length does not matter."""
    return evaluate_by_sentence(model, text, read)[0]


def evaluate_by_sentence(
    model: LanguageModel, text: Text, read: ReadOptions | None = None
) -> tuple[Evaluation, Float64Array]:
    """Score a whole text, and each of its sentences."""
    model = model.session()
    batches = _sentence_batches(model.vocabulary, text, read)
    scored = [evaluate_sentences(model, batch) for batch in batches]
    if not scored:
        raise InputError(f"{text.name}: the text is empty: it contains no words")
    total = scored[0][0]
    for evaluation, _ in scored[1:]:
        total += evaluation
    return total, np.concatenate([scores for _, scores in scored])
