"""Naive twins of the language models: dictionaries, plain loops, one definition after another."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise

Gram = tuple[str, ...]
Distribution = Callable[[Gram, str], float]

BOS, EOS, UNK = "<s>", "</s>", "<unk>"


def word_grams(sentences: Sequence[Sequence[str]], order: int) -> list[Counter[Gram]]:
    """The n-grams of each order from 1 up, in sentences with one <s> before and </s> behind."""
    grams: list[Counter[Gram]] = [Counter() for _ in range(order)]
    for sentence in sentences:
        words = (BOS, *sentence, EOS)
        for end in range(1, len(words)):
            for length in range(1, min(order, end + 1) + 1):
                grams[length - 1][words[end + 1 - length : end + 1]] += 1
    return grams


def class_grams(sentences: Sequence[Sequence[str]], order: int) -> Counter[Gram]:
    """The n-grams of one order, contexts padded with <s>."""
    grams: Counter[Gram] = Counter()
    for sentence in sentences:
        words = (*[BOS] * (order - 1), *sentence, EOS)
        for end in range(order - 1, len(words)):
            grams[words[end + 1 - order : end + 1]] += 1
    return grams


def kneser_ney(sentences: Sequence[Sequence[str]], order: int, predicted: Sequence[str]) -> Distribution:
    """Modified Kneser-Ney as Chen and Goodman define it, interpolated down to the uniform distribution."""
    grams = word_grams(sentences, order)
    adjusted: list[dict[Gram, int]] = [dict(grams[-1])]
    for lower, higher in reversed(list(pairwise(grams))):
        before: dict[Gram, set[str]] = defaultdict(set)
        for gram in higher:
            before[gram[1:]].add(gram[0])
        adjusted.insert(
            0, {gram: count if gram[0] == BOS else len(before[gram]) for gram, count in lower.items()}
        )
    discounts = [three_discounts(Counter(level.values())) for level in adjusted]

    def probability(context: Gram, word: str) -> float:
        context = context[len(context) - order + 1 :] if len(context) >= order else context
        lower = probability(context[1:], word) if context else 1 / len(predicted)
        followers = {
            gram[-1]: count for gram, count in adjusted[len(context)].items() if gram[:-1] == context
        }
        total = sum(followers.values())
        if not total:
            return lower
        taken = {follower: discounts[len(context)][min(count, 3)] for follower, count in followers.items()}
        own = (followers[word] - taken[word]) / total if word in followers else 0.0
        return own + sum(taken.values()) / total * lower

    return probability


def three_discounts(n: Counter[int]) -> list[float]:
    """The discounts of counts 1, 2 and 3 or more; fixed ones where these are out of range."""
    fixed = [0.0, 0.5, 1.0, 1.5]
    if not all(n[count] for count in (1, 2, 3, 4)):
        return fixed
    y = n[1] / (n[1] + 2 * n[2])
    estimated = [0.0, *(c - (c + 1) * y * n[c + 1] / n[c] for c in (1, 2, 3))]
    return estimated if all(0 < estimated[c] <= c for c in (1, 2, 3)) else fixed


def smoothed_unigrams(sentences: Sequence[Sequence[str]], predicted: Sequence[str]) -> dict[str, float]:
    """Relative frequencies; words that never occurred share 0.75 of each one that did."""
    counts = Counter(word for sentence in sentences for word in (*sentence, EOS))
    total = sum(counts.values())
    unseen = [word for word in predicted if not counts[word]]
    taken = 0.75 if unseen else 0.0
    return {
        word: (counts[word] - taken) / total if counts[word] else taken * len(counts) / total / len(unseen)
        for word in predicted
    }


def back_off(
    sentences: Sequence[Sequence[str]],
    order: int,
    predicted: Sequence[str],
    keep: Callable[[int, dict[str, int]], dict[str, float]],
) -> Distribution:
    """A back-off model; ``keep`` gives the discounted counts of the words kept after a context."""
    grams = word_grams(sentences, order)
    unigrams = smoothed_unigrams(sentences, predicted)

    def probability(context: Gram, word: str) -> float:
        context = context[len(context) - order + 1 :] if len(context) >= order else context
        if not context:
            return unigrams[word]
        followers = {gram[-1]: count for gram, count in grams[len(context)].items() if gram[:-1] == context}
        kept = keep(len(context) + 1, followers) if followers else {}
        if not kept:
            return probability(context[1:], word)
        covered = sum(probability(context[1:], other) for other in kept)
        total = sum(followers.values())
        if 1 - covered < 1e-12:
            return kept.get(word, 0.0) / sum(kept.values())
        if sum(kept.values()) >= total:
            total = int(sum(kept.values())) + 1
        if word in kept:
            return kept[word] / total
        left = (total - sum(kept.values())) / total
        return left * probability(context[1:], word) / (1 - covered)

    return probability


def paper_backoff(
    sentences: Sequence[Sequence[str]], order: int, predicted: Sequence[str], cutoffs: Sequence[int]
) -> Distribution:
    """Counts below a cut-off are dropped; where none is, the cut-off rises until one is."""

    def keep(length: int, followers: dict[str, int]) -> dict[str, float]:
        cutoff = cutoffs[min(length - 2, len(cutoffs) - 1)]
        while all(count >= cutoff for count in followers.values()):
            cutoff += 1
        return {word: float(count) for word, count in followers.items() if count >= cutoff}

    return back_off(sentences, order, predicted, keep)


def katz(sentences: Sequence[Sequence[str]], order: int, predicted: Sequence[str]) -> Distribution:
    """Good-Turing discounts for counts up to five, or absolute ones where these fail."""
    grams = word_grams(sentences, order)
    factors = [good_turing(Counter(level.values())) for level in grams]

    def keep(length: int, followers: dict[str, int]) -> dict[str, float]:
        return {word: count * factors[length - 1].get(count, 1.0) for word, count in followers.items()}

    return back_off(sentences, order, predicted, keep)


def good_turing(n: Counter[int]) -> dict[int, float]:
    """What counts up to five are multiplied with."""
    if all(n[count] for count in range(1, 7)) and 6 * n[6] != n[1]:
        common = 6 * n[6] / n[1]
        factors = {r: ((r + 1) * n[r + 1] / n[r] / r - common) / (1 - common) for r in range(1, 6)}
        if all(0 < factor < 1 for factor in factors.values()):
            return factors
    taken = min(max(n[1] / (n[1] + 2 * n[2]), 0.1), 0.9) if n[1] else 0.75
    return {r: (r - taken) / r for r in range(1, 6)}


def member_probability(
    word: str, counts: Counter[str], class_of: dict[str, int], predicted: Sequence[str]
) -> float:
    """p(w | g2), with a share for words that never occurred."""
    members = [other for other in predicted if class_of[other] == class_of[word]]
    total = sum(counts[other] for other in members)
    unseen = [other for other in members if not counts[other]]
    taken = 0.75 if unseen else 0.0
    if counts[word]:
        return (counts[word] - taken) / total
    return taken * (len(members) - len(unseen)) / total / len(unseen)


def interpolated_classes(
    grams: Counter[Gram],
    class_of: dict[str, int],
    context_class_of: dict[str, int],
    continued: bool = False,
) -> Callable[[Gram, int], float]:
    """p(g2 | class context) by absolute discounting, each context interpolated with the next shorter.

    With ``continued`` the last one is by the number of contexts that a class followed.
    """
    order = len(next(iter(grams)))
    pairs: list[Counter[tuple[tuple[int, ...], int]]] = [Counter() for _ in range(order)]
    for gram, count in grams.items():
        context = tuple(context_class_of[word] for word in gram[:-1])
        for length in range(order):
            pairs[length][context[order - 1 - length :], class_of[gram[-1]]] += count

    if continued:
        pairs[0] = Counter(((), label) for _, label in pairs[1])
    discounts = []
    for level in pairs:
        three = three_discounts(Counter(level.values()))
        discounts.append([0.0, 0.75, 0.75, 0.75] if three == [0.0, 0.5, 1.0, 1.5] else three)

    def probability(context: tuple[int, ...], label: int) -> float:
        followers = {g: count for (c, g), count in pairs[len(context)].items() if c == context}
        total = sum(followers.values())
        if not context:
            return followers.get(label, 0) / total
        lower = probability(context[1:], label)
        if not total:
            return lower
        taken = {g: discounts[len(context)][min(count, 3)] for g, count in followers.items()}
        own = (followers[label] - taken[label]) / total if label in followers else 0.0
        return own + sum(taken.values()) / total * lower

    return lambda words, label: probability(tuple(context_class_of[word] for word in words), label)


def paper_classes(
    grams: Counter[Gram], class_of: dict[str, int], context_class_of: dict[str, int]
) -> Callable[[Gram, int], float]:
    """p(g2 | g1) by the paper's joint estimate, normalised for each g1; for contexts of one word."""
    pairs: Counter[tuple[int, int]] = Counter()
    for (before, word), count in grams.items():
        pairs[context_class_of[before], class_of[word]] += count
    labels = sorted({label for _, label in pairs})
    contexts = {context for context, _ in pairs}
    seen = len(pairs)
    unseen = len(contexts) * len(labels) - seen

    def weight(context: int, label: int) -> float:
        count = pairs[context, label]
        if count:
            return count - 0.75
        return min(seen * 0.75 / unseen, 0.25) if unseen else 0.0

    def probability(words: Gram, label: int) -> float:
        context = context_class_of[words[-1]]
        if context not in contexts:
            return 1 / len(labels)
        return weight(context, label) / sum(weight(context, other) for other in labels)

    return probability
