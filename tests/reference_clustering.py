"""Naive twins for clustering: the criteria and every gain, computed from scratch."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

Pairs = Mapping[tuple[int, int], int]
"""How often each context element was followed by each word."""


def class_pairs(pairs: Pairs, contexts: Sequence[int], words: Sequence[int]) -> Counter[tuple[int, int]]:
    """The counts of pairs of classes."""
    table: Counter[tuple[int, int]] = Counter()
    for (context, word), count in pairs.items():
        table[contexts[context], words[word]] += count
    return table


def side_totals(table: Mapping[tuple[int, int], int], side: int) -> Counter[int]:
    """The counts of context classes (side 0) or of word classes (side 1)."""
    totals: Counter[int] = Counter()
    for pair, count in table.items():
        totals[pair[side]] += count
    return totals


def criterion_terms(
    pairs: Pairs, contexts: Sequence[int], words: Sequence[int], discount: float
) -> list[float]:
    """The terms whose sum is F; discount 0 is maximum likelihood."""
    table = {pair: count for pair, count in class_pairs(pairs, contexts, words).items() if count}
    totals = [side_totals(table, 0), side_totals(table, 1)]
    if discount == 0:
        terms = [n * log(n) for n in table.values()]
        return terms + [-n * log(n) for side in totals for n in side.values()]
    terms = [n * log(n - 1 - discount) for n in table.values() if n > 1]
    terms += [-n * log(n - 1) for side in totals for n in side.values() if n > 1]
    once = sum(n == 1 for n in table.values())
    unseen = len(totals[0]) * len(totals[1]) - len(table)
    if once:
        terms.append(once * log(discount * max(len(table) - 1, 1) / (unseen + 1)))
    return terms


def leaving_one_out(pairs: Pairs, contexts: Sequence[int], words: Sequence[int], discount: float) -> float:
    """F under leaving-one-out the long way: every event in turn predicted from all the others."""
    table = class_pairs(pairs, contexts, words)
    totals = [side_totals(table, 0), side_totals(table, 1)]
    result = 0.0
    for (g1, g2), n in table.items():
        rest = dict(table)
        rest[g1, g2] -= 1
        seen = sum(m > 0 for m in rest.values())
        unseen = len(totals[0]) * len(totals[1]) - seen
        size = sum(rest.values())
        if rest[g1, g2]:
            joint = (rest[g1, g2] - discount) / size
        else:
            joint = discount * seen / unseen / size
        shares = [(side[g] - 1) / size for side, g in zip(totals, (g1, g2), strict=True)]
        result += n * (log(joint) - log(shares[0]) - log(shares[1]))
        # The sum leaves out the constant log(N - 1) that no partition changes.
        result -= n * log(size)
    return result


def criterion(pairs: Pairs, contexts: Sequence[int], words: Sequence[int], discount: float) -> float:
    """F from scratch."""
    return sum(criterion_terms(pairs, contexts, words, discount))


def has_single_count(
    pairs: Pairs, contexts: Sequence[int], words: Sequence[int], sides: Sequence[int]
) -> bool:
    """Whether a class occurs just once on one of the sides."""
    table = class_pairs(pairs, contexts, words)
    return any(1 in side_totals(table, side).values() for side in sides)


def adjusted_rand(one: Sequence[int], two: Sequence[int]) -> float:
    """The adjusted Rand index of two partitions of the same elements."""

    def pairs_of(counts: Mapping[object, int]) -> int:
        return sum(n * (n - 1) // 2 for n in counts.values())

    joint = pairs_of(Counter(zip(one, two, strict=True)))
    first, second = pairs_of(Counter(one)), pairs_of(Counter(two))
    expected = first * second / pairs_of({0: len(one)})
    highest = (first + second) / 2
    return 1.0 if highest == expected else (joint - expected) / (highest - expected)
