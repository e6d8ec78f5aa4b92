"""Kernels that choose the unseen n-grams that get an entry of their own in a back-off model."""

from typing import NamedTuple

import numpy as np

from classgram.export._kernels.batch_stepping import Wanted
from classgram.runtime.compiled import kernel
from classgram.runtime.compiled.arrays import Float64Array, Int32Array, Int64Array

_ROUNDS = 3
"""How often the words are chosen, each time with the back-off weight that follows from the last choice."""


class CandidateValues(NamedTuple):
    """The probabilities of candidates: by the model, and after the shorter context."""

    probabilities: Float64Array
    lower: Float64Array


class KnownEntries(NamedTuple):
    """The words that have an entry already: those of context i are words[starts[i]:ends[i]], sorted."""

    starts: Int64Array
    ends: Int64Array
    words: Int32Array


class LowerRows(NamedTuple):
    """The probabilities after shorter contexts: those of row i are probabilities[starts[i]:starts[i + 1]]."""

    starts: Int64Array
    probabilities: Float64Array


@kernel
def gain(probability: float, backed_off: float) -> float:
    """Return by how much the relative entropy to the model falls when a word gets its own entry.

    This is the word's term p log(p / q) - p + q, where q is the backed-off probability.
    """
    if probability <= 0.0:
        return backed_off
    logarithm: float = np.log(probability / backed_off)
    return probability * logarithm - probability + backed_off


@kernel
def choose_words(
    wanted: Wanted,
    values: CandidateValues,
    known: KnownEntries,
    masses: Float64Array,
    threshold: float,
    gains: Float64Array,
) -> None:
    """Write to ``gains`` the gain of each candidate worth an entry of its own, and 0 for the others.

    ``wanted`` lists the candidates of each context; ``masses`` are the contexts' own probabilities.
    """
    starts, words = wanted
    probabilities, lower = values
    firsts, ends, entries = known
    for context in range(masses.size):
        begin, end = starts[context], starts[context + 1]
        entry = firsts[context]
        own = 0.0
        covered = 0.0
        for candidate in range(begin, end):
            gains[candidate] = 0.0
            while entry < ends[context] and entries[entry] < words[candidate]:
                entry += 1
            if entry < ends[context] and entries[entry] == words[candidate]:
                gains[candidate] = -1.0
                own += probabilities[candidate]
                covered += lower[candidate]
        chosen_own = own
        chosen_covered = covered
        for _ in range(_ROUNDS):
            weight = max(1.0 - chosen_own, 1e-12) / max(1.0 - chosen_covered, 1e-12)
            chosen_own = own
            chosen_covered = covered
            for candidate in range(begin, end):
                if gains[candidate] < 0.0 or lower[candidate] <= 0.0:
                    continue
                backed_off = weight * lower[candidate]
                # An upper bound that needs no logarithm, since log x is at most x - 1.
                apart = probabilities[candidate] - backed_off
                gained = 0.0
                if masses[context] * apart * apart > threshold * backed_off:
                    gained = masses[context] * gain(probabilities[candidate], backed_off)
                gains[candidate] = gained if gained > threshold else 0.0
                if gained > threshold:
                    chosen_own += probabilities[candidate]
                    chosen_covered += lower[candidate]
        for candidate in range(begin, end):
            gains[candidate] = max(gains[candidate], 0.0)


@kernel
def count_candidates(rows: LowerRows, contexts: Int64Array, least: Float64Array, counts: Int64Array) -> None:
    """Write to ``counts`` how many words of each context's row reach the context's least probability.

    ``contexts`` holds the row of each context.
    """
    starts, lower = rows
    for index in range(contexts.size):
        count = 0
        for entry in range(starts[contexts[index]], starts[contexts[index] + 1]):
            if lower[entry] >= least[index]:
                count += 1
        counts[index] = count


@kernel
def list_candidates(rows: LowerRows, contexts: Int64Array, least: Float64Array, entries: Int64Array) -> None:
    """Write to ``entries`` where these words stand in the rows, context after context."""
    starts, lower = rows
    at = 0
    for index in range(contexts.size):
        for entry in range(starts[contexts[index]], starts[contexts[index] + 1]):
            if lower[entry] >= least[index]:
                entries[at] = entry
                at += 1
