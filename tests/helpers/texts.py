"""Small random languages, the same every time, and their counts."""

import random

import numpy as np

from classgram.counts.counting import count_ngrams
from classgram.counts.ngram_counts import NgramCounts
from classgram.options import CountOptions
from classgram.text.reading import text_from_strings
from classgram.text.vocabulary import Vocabulary

WORDS = [f"w{number}" for number in range(25)]


def random_lines(seed: int, count: int = 120) -> list[str]:
    """Lines of a small language in which some words like to follow others."""
    random = np.random.default_rng(seed)
    likes = random.dirichlet(np.full(len(WORDS), 0.15), size=len(WORDS) + 1)
    lines = []
    for _ in range(count):
        state, words = len(WORDS), []
        for _ in range(int(random.integers(1, 9))):
            state = int(random.choice(len(WORDS), p=likes[state]))
            words.append(WORDS[state])
        lines.append(" ".join(words))
    return lines


HELD_OUT = [*random_lines(2, 40), "never w1 unheard w2", "", "unheard unheard ever"]


def synthetic_text(classes: int, words: int, lines: int) -> tuple[list[str], dict[str, int]]:
    """Text from a class bigram model with strong preferences, and the true class of each word."""
    chance = random.Random(1)
    follow = [[chance.random() ** 6 for _ in range(classes)] for _ in range(classes)]
    truth = {f"w{c}-{i}": c for c in range(classes) for i in range(words)}
    members = [[w for w, c in truth.items() if c == number] for number in range(classes)]
    out = []
    for _ in range(lines):
        current, line = chance.randrange(classes), []
        for _ in range(12):
            line.append(chance.choice(members[current]))
            current = chance.choices(range(classes), follow[current])[0]
        out.append(" ".join(line))
    return out, truth


def counts_of(lines: list[str], order: int = 2, extra: tuple[str, ...] = ()) -> NgramCounts:
    """Counts of the n-grams of some lines, with further words that never occur in the vocabulary."""
    text, options = text_from_strings(lines), CountOptions(order)
    counts = count_ngrams(text, options)
    if not extra:
        return counts
    return count_ngrams(text, options, Vocabulary.from_words([*counts.vocabulary.words, *extra]))
