"""Naive twins of exporting: growth's gain, entropy pruning and lowering, by definition."""

import math
from collections.abc import Mapping

Gram = tuple[int, ...]


def relative_entropy(model: Mapping[int, float], other: Mapping[int, float]) -> float:
    """Return sum p log(p / q) over all words."""
    return sum(p * math.log(p / other[word]) for word, p in model.items() if p > 0)


def backed_off(entries: Mapping[int, float], lower: Mapping[int, float], kept: set[int]) -> dict[int, float]:
    """Return a context's distribution with just these entries kept; the rest is backed off."""
    own = sum(entries[word] for word in kept)
    covered = sum(lower[word] for word in kept)
    weight = (1 - own) / (1 - covered) if covered < 1 - 1e-12 else 1.0
    return {word: entries[word] if word in kept else weight * lower[word] for word in lower}


class NaiveBackoff:
    """A back-off model as dictionaries of n-grams, all probabilities worked out by definition."""

    def __init__(self, grams: Mapping[Gram, float], words: list[int], weights: Mapping[Gram, float]) -> None:
        self.grams, self.words, self.weights = dict(grams), words, dict(weights)

    def probability(self, context: Gram, word: int) -> float:
        """Return p(word | context), backing off by the weights."""
        if (*context, word) in self.grams:
            return self.grams[(*context, word)]
        if not context:
            return 0.0
        return self.weights.get(context, 1.0) * self.probability(context[1:], word)

    def distribution(self, context: Gram) -> dict[int, float]:
        """Return p(word | context) of all words."""
        return {word: self.probability(context, word) for word in self.words}

    def mass(self, context: Gram, start: int, end: int) -> float:
        """Return how likely one meets a context: the chain of its words, <s> as likely as </s>."""
        total = self.grams[(end,)] if context[0] == start else self.grams[context[:1]]
        for place in range(1, len(context)):
            total *= self.grams[context[: place + 1]]
        return total

    def entries(self, context: Gram) -> dict[int, float]:
        """Return the words with an entry of their own after a context."""
        size = len(context) + 1
        return {gram[-1]: p for gram, p in self.grams.items() if len(gram) == size and gram[:-1] == context}

    def loss(self, gram: Gram, start: int, end: int) -> float:
        """Return the relative entropy, weighted by the context's mass, of doing without an n-gram."""
        context, word = gram[:-1], gram[-1]
        entries, lower = self.entries(context), self.distribution(context[1:])
        before = backed_off({**lower, **entries}, lower, set(entries))
        after = backed_off({**lower, **entries}, lower, set(entries) - {word})
        return self.mass(context, start, end) * relative_entropy(before, after)
