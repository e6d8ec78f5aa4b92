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
    pairs: Pairs,
    contexts: Sequence[int],
    words: Sequence[int],
    discount: float,
    cap: float | None = None,
) -> list[float]:
    """The terms whose sum is F; discount 0 is maximum likelihood.

    An unseen pair gets 1 - b, or the cap, at most.
    """
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
        share = discount * max(len(table) - 1, 1) / (unseen + 1)
        terms.append(once * log(min(share, 1 - discount if cap is None else cap)))
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


def criterion(
    pairs: Pairs,
    contexts: Sequence[int],
    words: Sequence[int],
    discount: float,
    cap: float | None = None,
) -> float:
    """F from scratch."""
    return sum(criterion_terms(pairs, contexts, words, discount, cap))


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


class NaiveHeuristic:
    """The heuristic for tied classes under maximum likelihood, step by step as it is defined."""

    def __init__(
        self, pairs: Pairs, classes: list[int], candidates: int, options: tuple[int, int, int]
    ) -> None:
        self.pairs, self.classes, self.candidates = pairs, classes, candidates
        self.targets, self.neighbours, self.renew = options
        self.lists: dict[int, list[list[int]]] = {}
        self.moves = self.renew

    def ranked(self, counts: Mapping[int, int], totals: Mapping[int, int]) -> list[int]:
        """The most frequent classes; ties by larger class, then lower number."""
        seen = [g for g in counts if counts[g] > 0]
        return sorted(seen, key=lambda g: (-counts[g], -totals[g], g))[: self.neighbours]

    def neighbour_lists(self, members: Sequence[int], skip: int = -1) -> list[list[int]]:
        """The lists of classes before and after some words, without an element's pairs with itself."""
        before: Counter[int] = Counter()
        after: Counter[int] = Counter()
        for (one, two), count in self.pairs.items():
            if (one, two) == (skip, skip):
                continue
            if two in members:
                before[self.classes[one]] += count
            if one in members:
                after[self.classes[two]] += count
        table = class_pairs(self.pairs, self.classes, self.classes)
        return [self.ranked(before, side_totals(table, 0)), self.ranked(after, side_totals(table, 1))]

    def members(self, number: int) -> list[int]:
        return [w for w, c in enumerate(self.classes) if c == number]

    def sweep(self, order: Sequence[int], threshold: float) -> int:
        """One sweep; the number of moves."""
        moved = 0
        for word in order:
            if self.moves >= self.renew:
                self.moves = 0
                self.lists = {c: self.neighbour_lists(self.members(c)) for c in range(self.candidates)}
            own = self.classes[word]
            target = self.best(word, threshold)
            if target != own:
                self.classes[word] = target
                for c in (own, target):
                    self.lists[c] = self.neighbour_lists(self.members(c))
                moved += 1
                self.moves += 1
        return moved

    def best(self, word: int, threshold: float) -> int:
        """The best of the classes that are tried."""
        mine = self.neighbour_lists([word], skip=word)
        table = class_pairs(self.pairs, self.classes, self.classes)
        contexts, words = side_totals(table, 0), side_totals(table, 1)
        size = {c: contexts[c] + words[c] for c in range(self.candidates)}
        scores = {
            c: sum(len(set(a) & set(b)) for a, b in zip(self.lists[c], mine, strict=True))
            for c in range(self.candidates)
            if size[c]
        }
        tried = sorted(scores, key=lambda c: (-scores[c], -size[c], c))[: self.targets]
        tried += [c for c in range(self.candidates) if not size[c]][:1]
        own = self.classes[word]
        before = criterion(self.pairs, self.classes, self.classes, 0)
        found, highest = own, threshold
        for c in sorted(tried):
            if c != own:
                self.classes[word] = c
                gain = criterion(self.pairs, self.classes, self.classes, 0) - before
                self.classes[word] = own
                if gain > highest + 1e-9:
                    found, highest = c, gain
        return found


def merge_losses(
    pairs: Pairs, contexts: Sequence[int], words: Sequence[int], inner: Sequence[int], tied: bool
) -> dict[tuple[int, int], float]:
    """What F would lose by merging each pair of word classes, and of context classes where tied."""
    before = sum(criterion_terms(pairs, contexts, words, 0))
    losses = {}
    for place, a in enumerate(inner):
        for b in inner[place + 1 :]:
            merged = [a if g == b else g for g in words]
            other = [a if g == b else g for g in contexts] if tied else contexts
            losses[a, b] = before - sum(criterion_terms(pairs, other, merged, 0))
    return losses


def highest_columns(scores: Sequence[float], limit: float, most: int) -> list[int]:
    """The columns of the highest scores above a limit, the first of equal ones first."""
    above = [column for column, score in enumerate(scores) if score > limit]
    return sorted(above, key=lambda column: -scores[column])[:most]
