"""Kernels that choose which unseen n-grams a back-off model should hold itself."""

import numpy as np

from classgram.runtime.compiled import lean_kernel

ROUNDS = 3
"""How often the words are chosen again, each time with the back-off weight that the last choice gives."""


@lean_kernel
def gain(probability: float, backed_off: float) -> float:
    """How much nearer a context's distribution comes to the model's when a word gets its own entry.

    This is the word's share of the relative entropy, after the back-off weight has followed.
    """
    if probability <= 0.0:
        return backed_off
    logarithm: float = np.log(probability / backed_off)
    return probability * logarithm - probability + backed_off


@lean_kernel
def choose_words(
    wanted: tuple[np.ndarray, np.ndarray],
    values: tuple[np.ndarray, np.ndarray],
    known: tuple[np.ndarray, np.ndarray, np.ndarray],
    masses: np.ndarray,
    threshold: float,
    gains: np.ndarray,
) -> None:
    """Write the gain of each word that is worth an entry of its own, and 0 for the others.

    ``wanted`` is (starts, words) of the candidates of each context; ``values`` their (probabilities by
    the model, probabilities after the shorter context); ``known`` is (starts, ends, words) of those
    that have an entry already; ``masses`` the contexts' own probabilities.
    """
    starts, words = wanted
    probabilities, lower = values
    firsts, ends, entries = known
    for context in range(masses.size):
        begin, end = starts[context], starts[context + 1]
        entry = firsts[context]
        own = 0.0
        covered = 0.0
        for place in range(begin, end):
            gains[place] = 0.0
            while entry < ends[context] and entries[entry] < words[place]:
                entry += 1
            if entry < ends[context] and entries[entry] == words[place]:
                gains[place] = -1.0
                own += probabilities[place]
                covered += lower[place]
        chosen_own = own
        chosen_covered = covered
        for _ in range(ROUNDS):
            weight = max(1.0 - chosen_own, 1e-12) / max(1.0 - chosen_covered, 1e-12)
            chosen_own = own
            chosen_covered = covered
            for place in range(begin, end):
                if gains[place] < 0.0 or lower[place] <= 0.0:
                    continue
                backed_off = weight * lower[place]
                # An upper bound that needs no logarithm, since log x is at most x - 1.
                apart = probabilities[place] - backed_off
                gained = 0.0
                if masses[context] * apart * apart > threshold * backed_off:
                    gained = masses[context] * gain(probabilities[place], backed_off)
                gains[place] = gained if gained > threshold else 0.0
                if gained > threshold:
                    chosen_own += probabilities[place]
                    chosen_covered += lower[place]
        for place in range(begin, end):
            gains[place] = max(gains[place], 0.0)


@lean_kernel
def count_candidates(
    rows: tuple[np.ndarray, np.ndarray], contexts: np.ndarray, least: np.ndarray, counts: np.ndarray
) -> None:
    """Write how many words of each context's row have at least its least probability.

    ``rows`` is (starts, probabilities after the shorter context); ``contexts`` tells each one's row.
    """
    starts, lower = rows
    for index in range(contexts.size):
        count = 0
        for place in range(starts[contexts[index]], starts[contexts[index] + 1]):
            if lower[place] >= least[index]:
                count += 1
        counts[index] = count


@lean_kernel
def list_candidates(
    rows: tuple[np.ndarray, np.ndarray],
    contexts: np.ndarray,
    least: np.ndarray,
    places: np.ndarray,
) -> None:
    """Write the places of these words, context after context."""
    starts, lower = rows
    at = 0
    for index in range(contexts.size):
        for place in range(starts[contexts[index]], starts[contexts[index] + 1]):
            if lower[place] >= least[index]:
                places[at] = place
                at += 1
