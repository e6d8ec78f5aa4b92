"""Entropy pruning: the n-grams go whose absence changes a back-off model least (Stolcke 1998)."""

import itertools

import numpy as np

from classgram.counts._kernels.counting import Level
from classgram.counts.ngram_counts import parents_of
from classgram.errors import InputError
from classgram.models._kernels.pruning import entropy_losses, raise_losses
from classgram.models.ngram.trie import BackoffTrie, LevelEstimates, assemble
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import BoolArray, Float64Array, Int32Array
from classgram.text.vocabulary import BOS, EOS

LEAST_REST = 1e-6
"""What a context keeps for the words without an entry, at the least: less is lost in a file's digits."""


def prune_trie(trie: BackoffTrie, limit: float) -> BackoffTrie:
    """Drop n-grams up to a limit: a threshold below 1, or the number of n-grams to keep.

    An n-gram goes if perplexity rises by less than the threshold, as a share of itself, without it.
    Those that others begin or end with stay as long as these do, and all unigrams stay.
    """
    if not limit >= 0:
        raise InputError(f"pruning to {limit}: give a threshold between 0 and 1, or a number of n-grams")
    levels = trie.to_levels()
    links = suffixes_by_level(trie)
    probabilities = probabilities_by_level(trie)
    losses = worths(levels, links, probabilities)
    kept = _above(losses[1:], np.log1p(limit)) if limit < 1 else _best(trie.sizes[0], losses[1:], int(limit))
    _keep_one_bigram(kept, losses[1])
    estimates = []
    for number, (level, link) in enumerate(zip(levels[1:], links, strict=True)):
        lower = probabilities[number][link]
        weights = backoff_weights(level, probabilities[number + 1], lower, kept[number])
        estimates.append(LevelEstimates(level, link, probabilities[number + 1], weights))
    return assemble(probabilities[0], estimates, kept).without_empty_orders()


def suffixes_by_level(trie: BackoffTrie) -> list[Int32Array]:
    """Return each entry's suffix as an entry of the level below, from order 2 up."""
    return [
        frozen(trie.arrays.suffixes[here] - np.int32(below.start))
        for below, here in itertools.pairwise(trie.levels())
    ]


def probabilities_by_level(trie: BackoffTrie) -> list[Float64Array]:
    """Return the probabilities of every order; that of <s> is none."""
    made = [np.exp(trie.arrays.log_probabilities[here].astype(np.float64)) for here in trie.levels()]
    made[0][BOS] = 0.0
    return made


def worths(
    levels: list[Level], links: list[Int32Array], probabilities: list[Float64Array]
) -> list[Float64Array]:
    """Return what every n-gram is worth: its own relative entropy, or that of one that needs it."""
    masses = probabilities[0].copy()
    masses[BOS], masses[EOS] = masses[EOS], 0.0
    losses = [np.full(masses.size, np.inf)]
    for number, (level, link) in enumerate(zip(levels[1:], links, strict=True), start=1):
        own = np.empty(level.words.size)
        lower = frozen(probabilities[number - 1][link])
        entropy_losses(level.starts, frozen(probabilities[number]), lower, frozen(masses), own)
        losses.append(own)
        masses = masses[parents_of(level)] * probabilities[number]
    for number in range(len(levels) - 1, 1, -1):
        raise_losses(levels[number].starts, links[number - 1], frozen(losses[number]), losses[number - 1])
    return losses


def _above(losses: list[Float64Array], threshold: float) -> list[BoolArray]:
    """Return which n-grams are worth more than a threshold."""
    return [one > threshold for one in losses]


def _best(unigrams: int, losses: list[Float64Array], size: int) -> list[BoolArray]:
    """Return which n-grams to keep so that so many are left: of equal ones the shorter, which others need."""
    if size <= unigrams:
        raise InputError(
            f"pruning to {size:,} n-grams: the {unigrams:,} words alone are as many; ask for more, or "
            "train with fewer words"
        )
    joined = np.concatenate(losses)
    order = np.argsort(-joined, kind="stable")
    kept = np.zeros(joined.size, bool)
    kept[order[: size - unigrams]] = True
    return np.split(kept, np.cumsum([one.size for one in losses])[:-1])


def _keep_one_bigram(kept: list[BoolArray], losses: Float64Array) -> None:
    """Keep the bigram that is worth most in any case: files without any are not read by others."""
    if losses.size and not kept[0].any():
        kept[0][int(np.argmax(losses))] = True


def backoff_weights(
    level: Level, probabilities: Float64Array, lower: Float64Array, kept: BoolArray | None = None
) -> Float64Array:
    """Return the weight of each context that gives its other words what its entries leave over."""
    contexts, size = parents_of(level), level.starts.size - 1
    if kept is not None:
        probabilities, lower = probabilities * kept, lower * kept
    rest = 1.0 - np.bincount(contexts, probabilities, size)
    lower_rest = 1.0 - np.bincount(contexts, lower, size)
    weights = np.maximum(rest, LEAST_REST) / np.maximum(lower_rest, LEAST_REST)
    # Where all words have entries there is nothing to weigh.
    return np.where(lower_rest <= LEAST_REST, 1.0, weights)


def completed(
    level: Level, probabilities: Float64Array, lower: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return probabilities scaled where they leave too little or too much over, and the back-off weights.

    Where the entries cover all that there is they sum to one; elsewhere something is left for others.
    """
    contexts, size = parents_of(level), level.starts.size - 1
    total = np.bincount(contexts, probabilities, size)
    covered = np.bincount(contexts, lower, size)
    most = np.where(covered >= 1.0 - LEAST_REST, 1.0, np.minimum(total, 1.0 - LEAST_REST))
    scaled = probabilities * (most / np.where(total > 0, total, 1.0))[contexts]
    return scaled, backoff_weights(level, scaled, lower)
