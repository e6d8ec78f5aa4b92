"""Modified Kneser-Ney smoothing (Chen and Goodman 1998), interpolated, by the conventions of lmplz."""

from collections.abc import Sequence

import numpy as np

from classgram.counts._kernels.counting import Level
from classgram.counts.suffixes import link_levels
from classgram.models._kernels.estimation import LevelCounts, LevelOutput, count_continuations, interpolate
from classgram.models.language_model import Note, silent
from classgram.models.ngram.discounts import Discounts, modified_kneser_ney_discounts
from classgram.models.ngram.trie import BackoffTrie, LevelEstimates, assemble, without_double_starts
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import BoolArray, BoolMatrix, Float64Array, Int32Array, Int64Array
from classgram.text.vocabulary import BOS


def estimate_kneser_ney(
    levels: Sequence[Level], predicted: BoolArray | BoolMatrix, note: Note = silent
) -> BackoffTrie:
    """Estimate a modified Kneser-Ney model from the counts of all its orders.

    ``predicted`` marks the words (or classes) that share the uniform distribution below the unigrams.
    It has several rows where symbols are of several types and a context determines the type of the
    next one: each type then has a unigram distribution of its own.
    ``note`` receives a line for each order whose discounts could not be estimated.
    """
    levels = without_double_starts(levels)
    links = link_levels(levels)
    counts = _adjusted_counts(levels, links)
    discounts = [modified_kneser_ney_discounts(level) for level in counts]
    _report_fallbacks(discounts, note)
    unigrams = np.zeros(len(counts[0]))
    for of_type in np.atleast_2d(predicted):
        own = _interpolated_unigrams(frozen(counts[0] * of_type), discounts[0].values, of_type)
        unigrams[of_type] = own[of_type]
    estimates: list[LevelEstimates] = []
    lower = unigrams
    for index, (level, suffixes) in enumerate(zip(levels[1:], links, strict=True), start=1):
        out = LevelOutput(np.empty(len(level.words)), np.empty(len(level.starts) - 1))
        known = LevelCounts(level.starts, counts[index], frozen(lower[suffixes]))
        interpolate(known, frozen(discounts[index].values), out)
        estimates.append(LevelEstimates(level, suffixes, *out))
        lower = out.probabilities
    return assemble(unigrams, estimates)


def _adjusted_counts(levels: Sequence[Level], links: Sequence[Int32Array]) -> list[Int64Array]:
    """Return the counts of the highest order, and for lower orders the numbers of different words before.

    N-grams that begin with <s> have no word before them, and keep their counts.
    """
    adjusted = [levels[-1].counts]
    first, last = BOS, BOS + 1
    raw = [(first, last)]
    for level in levels[1:]:
        first, last = int(level.starts[first]), int(level.starts[last])
        raw.append((first, last))
    for level, suffixes, (first, last) in zip(levels[-2::-1], links[::-1], raw[-2::-1], strict=True):
        counts = np.zeros(len(level.words), np.int64)
        count_continuations(suffixes, counts)
        counts[first:last] = level.counts[first:last]
        adjusted.insert(0, frozen(counts))
    return adjusted


def _interpolated_unigrams(counts: Int64Array, discounts: Float64Array, predicted: BoolArray) -> Float64Array:
    """Return unigram probabilities, interpolated with the uniform distribution."""
    uniform = predicted / predicted.sum()
    starts = np.array([0, len(counts)], dtype=np.int64)
    out = LevelOutput(np.empty(len(counts)), np.empty(1))
    interpolate(LevelCounts(frozen(starts), counts, frozen(uniform)), frozen(discounts), out)
    return out.probabilities


def _report_fallbacks(discounts: Sequence[Discounts], note: Note) -> None:
    """Report the orders whose discounts are not estimates, in one line each."""
    for order, (values, problem) in enumerate(discounts, start=1):
        if problem:
            given = ", ".join(f"{value:g}" for value in values[1:])
            note(f"Kneser-Ney, order {order}: {problem}, so the discounts are {given}")
