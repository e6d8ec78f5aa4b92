"""Perplexity under both rules for unknown words, and comparison of models on one text."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from classgram.errors import InputError
from classgram.models.language_model import LOG_10, LanguageModel
from classgram.options import ReadOptions, TextOptions
from classgram.text.reading import Text
from classgram.text.sentences import Sentences, sentences_from_ids
from classgram.text.vocabulary import EOS, UNK, Vocabulary

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Evaluation:
    """What a model makes of a text; perplexities are over words and </s>."""

    log_probability: float
    """Natural logarithm, summed over all events."""
    log_probability_known: float
    """The same over known words and </s> alone."""
    sentences: int
    words: int
    unknown: int
    hits: tuple[int, ...] = field(default=())
    """How many events each order gave, from 1 up; for models made of n-grams."""

    @property
    def perplexity_including_unknown(self) -> float:
        """exp(-mean log p), every event counted: the rule of published Penn Treebank figures."""
        return perplexity_of(self.log_probability, self.words + self.sentences)

    @property
    def perplexity_excluding_unknown(self) -> float:
        """The same without predictions of unknown words, which still stand in contexts."""
        known = self.words + self.sentences - self.unknown
        return perplexity_of(self.log_probability_known, known)

    def as_dict(self) -> dict[str, Any]:
        """The fields that ``perplexity --json`` prints."""
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
    """exp(-mean); a mean too low for a number gives the largest there is."""
    return float(np.exp(min(-log_probability / events, 700.0)))


def check_text_options(vocabulary: Vocabulary, asked: TextOptions) -> None:
    """Refuse options that contradict how the model's text was made into words; none are needed."""
    if asked != TextOptions() and asked != vocabulary.text:
        raise InputError(
            f"the model's text was read with {_plain(vocabulary.text)}, not with {_plain(asked)}; "
            "leave these options out, and the model's own are used"
        )


def _plain(options: TextOptions) -> str:
    """Text options as they are given on the command line."""
    case = "--lowercase" if options.lowercase else "--no-lowercase"
    return f"{case} --punctuation {options.punctuation}"


def _sentence_batches(
    vocabulary: Vocabulary, text: Text, read: ReadOptions | None = None
) -> Iterator[Sentences]:
    """A text of any length as batches of whole sentences."""
    scanner = vocabulary.scanner(read)
    held = np.empty(0, np.int32)
    for chunk in text.chunks():
        ids = np.concatenate([held, scanner.feed(chunk)])
        ends = np.flatnonzero(ids == EOS)
        cut = int(ends[-1]) + 1 if ends.size else 0
        held = ids[cut:]
        if cut:
            yield sentences_from_ids(ids[:cut], EOS)


def evaluate_sentences(model: LanguageModel, sentences: Sentences) -> tuple[Evaluation, Floats]:
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
    return _evaluate_by_sentence(model, text, read)[0]


def _evaluate_by_sentence(
    model: LanguageModel, text: Text, read: ReadOptions | None = None
) -> tuple[Evaluation, Floats]:
    """Score a whole text, and each of its sentences."""
    model = model.session()
    parts = [evaluate_sentences(model, batch) for batch in _sentence_batches(model.vocabulary, text, read)]
    if not parts:
        raise InputError(f"{text.name}: the text is empty: it holds no words")
    total = parts[0][0]
    for part, _ in parts[1:]:
        total += part
    return total, np.concatenate([scores for _, scores in parts])


@dataclass(frozen=True)
class Comparison:
    """Two models on the same sentences: the second against the first."""

    perplexity_change_percent: float
    """Of the perplexity that includes unknown words."""
    sentences_better: int
    sentences_worse: int
    p_value: float
    """How often so large a mean difference would come about if the models were equally good."""


def compare_scores(first: Floats, second: Floats, events: int, seed: int = 0) -> Comparison:
    """Compare sentences' log-probabilities by a paired permutation test."""
    if first.shape != second.shape:
        raise InputError(
            f"the models make {first.size} and {second.size} sentences of the text; compare models "
            "whose text was read with the same options"
        )
    difference = second - first
    return Comparison(
        100 * (math.exp(min(-difference.sum() / events, 700.0)) - 1),
        int((difference > 0).sum()),
        int((difference < 0).sum()),
        permutation_p_value(difference, seed),
    )


_MOST_BLOCKS = 2000
_PERMUTATIONS = 9999


def permutation_p_value(differences: Floats, seed: int = 0) -> float:
    """The two-sided p-value of a mean difference under random signs.

    Neighbouring sentences of a long text are taken together, at most 2,000 blocks: they are not
    independent, and the test stays fast.
    """
    if not differences.any():
        return 1.0
    edges = np.linspace(0, differences.size, min(differences.size, _MOST_BLOCKS) + 1).astype(int)
    blocks = np.add.reduceat(differences, edges[:-1])
    observed = abs(blocks.sum())
    random = np.random.default_rng(seed)
    extreme = 0
    for size in (1000,) * (_PERMUTATIONS // 1000) + (_PERMUTATIONS % 1000,):
        signs = random.integers(0, 2, (size, blocks.size), dtype=np.int8) * 2 - 1
        extreme += int((np.abs(signs @ blocks) >= observed * (1 - 1e-12)).sum())
    return (extreme + 1) / (_PERMUTATIONS + 1)


def compare_models(
    models: Sequence[LanguageModel], text: Text, read: ReadOptions | None = None
) -> tuple[list[Evaluation], list[Comparison]]:
    """Evaluate models on one text, and compare each with the first, sentence by sentence."""
    evaluations, scores = [], []
    for model in models:
        own = replace(text, options=model.vocabulary.text)
        total, by_sentence = _evaluate_by_sentence(model, own, read)
        evaluations.append(total)
        scores.append(by_sentence)
    events = evaluations[0].words + evaluations[0].sentences
    return evaluations, [compare_scores(scores[0], other, events) for other in scores[1:]]
