"""Comparison of models on one text, sentence by sentence, with a significance test."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from classgram.errors import InputError
from classgram.evaluation.perplexity import Evaluation, evaluate_by_sentence
from classgram.models.language_model import LanguageModel
from classgram.options import ReadOptions
from classgram.runtime.compiled.arrays import Float64Array
from classgram.runtime.html_tables import facts_table
from classgram.text.reading import Text

_MAX_BLOCKS = 2000
"""Blocks of neighbouring sentences that are permuted, at most."""

_PERMUTATIONS = 9999


@dataclass(frozen=True)
class Comparison:
    """The second of two models against the first, on the same sentences."""

    perplexity_change_percent: float
    """Of the perplexity that counts unknown words."""
    sentences_better: int
    sentences_worse: int
    p_value: float
    """The probability of so large a mean difference if the models were equally good."""

    def _repr_html_(self) -> str:
        """Return the figures as a table, as notebooks show them."""
        return facts_table("Second model against the first", vars(self))


def compare_scores(first: Float64Array, second: Float64Array, events: int, seed: int = 0) -> Comparison:
    """Compare sentences' log-probabilities by a paired permutation test."""
    if first.shape != second.shape:
        raise InputError(
            f"the models split the text into {first.size} and {second.size} sentences; compare models "
            "whose text was read with the same options"
        )
    difference = second - first
    return Comparison(
        100 * (math.exp(min(-difference.sum() / events, 700.0)) - 1),
        int((difference > 0).sum()),
        int((difference < 0).sum()),
        permutation_p_value(difference, seed),
    )


def permutation_p_value(differences: Float64Array, seed: int = 0) -> float:
    """Return the two-sided p-value of a mean difference under random signs.

    Neighbouring sentences of a long text, which are not independent, are summed into blocks; that also
    keeps the test fast.
    """
    if not differences.any():
        return 1.0
    edges = np.linspace(0, differences.size, min(differences.size, _MAX_BLOCKS) + 1).astype(int)
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
        total, by_sentence = evaluate_by_sentence(model, own, read)
        evaluations.append(total)
        scores.append(by_sentence)
    events = evaluations[0].words + evaluations[0].sentences
    return evaluations, [compare_scores(scores[0], other, events) for other in scores[1:]]
