"""Naive twins of the fast code: plain Python that says what is meant."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from classgram.options import TextOptions
from classgram.text.punctuation import PUNCTUATION

Gram = tuple[str, ...]

SEPARATORS = " \t\n\r\x0b\x0c"


def cleaned(text: str, options: TextOptions) -> str:
    """Text with case and punctuation treated as the options say."""
    if options.lowercase:
        text = text.lower()
    if options.punctuation == "keep":
        return text
    spoken = {mark.text: f" {mark.text}{mark.name} " for mark in PUNCTUATION}
    if options.punctuation == "strip":
        spoken = dict.fromkeys(spoken, " ")
    return re.sub(f"[^{SEPARATORS}]+", lambda word: split_marks(word.group(), spoken), text)


def split_marks(word: str, spoken: dict[str, str]) -> str:
    """A word cut at dashes and ellipses, and its pieces rid of the marks at their edges."""
    inside = sorted((mark.text for mark in PUNCTUATION if mark.inside), key=lambda text: -len(text))
    pieces = re.split("(" + "|".join(map(re.escape, inside)) + ")", word)
    out = []
    for piece in pieces:
        if piece in inside:
            out.append(spoken[piece])
            continue
        left, right = 0, len(piece)
        while left < right and piece[left] in spoken:
            left += 1
        while right > left and piece[right - 1] in spoken:
            right -= 1
        out += [spoken[mark] for mark in piece[:left]]
        out.append(piece[left:right])
        out += [spoken[mark] for mark in piece[right:]]
    return "".join(out)


def first_fault(data: bytes) -> int:
    """Where bytes are no UTF-8, or -1."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return -1


def sentences(text: str, options: TextOptions | None = None) -> list[list[str]]:
    """The sentences of a text: its lines that have words."""
    lines = cleaned(text, options or TextOptions()).encode().split(b"\n")
    split = [[word.decode() for word in line.split()] for line in lines]
    return [words for words in split if words]


def vocabulary(
    texts: list[list[str]], size: int | None = None, min_count: int = 1, words: Sequence[str] | None = None
) -> list[str]:
    """The words by id."""
    symbols = ["<unk>", "<s>", "</s>"]
    counts = Counter(word for sentence in texts for word in sentence if word not in symbols)
    # most_common is stable: words of one frequency stay in the order of their first appearance.
    ranked = [word for word, count in counts.most_common() if count >= min_count]
    if words is not None:
        listed = [word for word in dict.fromkeys(words) if word not in symbols]
        ranked = [word for word in ranked if word in set(listed)][:size]
        ranked += [word for word in listed if word not in counts]
        return symbols + ranked
    return symbols + ranked[:size]


def ngrams(texts: list[list[str]], order: int, known: Iterable[str]) -> dict[int, Counter[Gram]]:
    """The counts of every order, contexts padded with <s>."""
    known = set(known)
    counts: dict[int, Counter[Gram]] = {n: Counter() for n in range(1, order + 1)}
    for sentence in texts:
        words = [word if word in known else "<unk>" for word in sentence] + ["</s>"]
        padded = ["<s>"] * (order - 1) + words
        for end in range(order, len(padded) + 1):
            for n in range(1, order + 1):
                counts[n][tuple(padded[end - n : end])] += 1
    return counts


def cut(counts: dict[int, Counter[Gram]], cutoffs: Sequence[int]) -> dict[int, Counter[Gram]]:
    """The counts without n-grams below their cut-off or with a dropped prefix."""
    kept = {1: counts[1]}
    for n in range(2, len(counts) + 1):
        cutoff = cutoffs[min(n - 2, len(cutoffs) - 1)] if cutoffs else 1
        kept[n] = Counter(
            {
                gram: count
                for gram, count in counts[n].items()
                if count >= cutoff and (n == 2 or gram[:-1] in kept[n - 1] or set(gram[:-1]) == {"<s>"})
            }
        )
    return kept


def joint_elements(counts: dict[int, Counter[Gram]], wanted: int | None, ids: dict[str, int]) -> list[Gram]:
    """The longer contexts that are elements: the most frequent, ties by ids."""
    order = len(counts)
    frequency: Counter[Gram] = Counter()
    for n in range(3, order + 1):
        for gram, count in counts[n].items():
            frequency[gram[:-1]] += count
    ranked = sorted(frequency, key=lambda gram: (-frequency[gram], tuple(ids[word] for word in gram)))
    return ranked[:wanted]


def element(context: Gram, elements: set[Gram]) -> Gram:
    """The longest suffix of a context that is an element; single words always are."""
    while len(context) > 1 and context not in elements:
        context = context[1:]
    return context


def joint_events(
    counts: dict[int, Counter[Gram]], wanted: int | None, ids: dict[str, int]
) -> Counter[tuple[Gram, str]]:
    """How often each word followed each context element."""
    elements = set(joint_elements(counts, wanted, ids))
    events: Counter[tuple[Gram, str]] = Counter()
    for gram, count in counts[len(counts)].items():
        events[element(gram[:-1], elements), gram[-1]] += count
    return events


def stacked(before: list[tuple[int, int]], after: list[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """A word's contexts, then its followers, those numbered from the size of the vocabulary on."""
    return before + [(word + size, count) for word, count in after]
