"""A factored model in plain Python: chains by dictionaries, and a log-linear mixture of their rows."""

from collections import Counter, defaultdict

import numpy as np

from classgram.models.factored.clustered import ClusteredModel
from classgram.models.factored.contexts import Path
from classgram.models.ngram.discounts import modified_kneser_ney_discounts
from classgram.runtime.compiled.arrays import Float64Array
from classgram.text.vocabulary import EOS

Context = tuple[int, ...]


def symbol(model: ClusteredModel, ids: list[int], event: int, name: str, outside: int) -> int:
    """Return a symbol before an event; ``outside`` is what stands before the </s> before the text."""
    if name == "f":
        first = event
        while first > 0 and ids[first - 1] != EOS:
            first -= 1
        return EOS if first == event else ids[first]
    back = event - int(name[1:])
    if back < -1:
        return outside
    word = EOS if back == -1 else ids[back]
    if name[0] == "w":
        return word
    return int((model.maps.contexts if name[0] == "c" else model.maps.ngrams)[word])


class NaiveChain:
    """One Kneser-Ney chain over a number of outcomes that may depend on a first, given symbol."""

    def __init__(self, contexts: list[Context], outcomes: list[int], first: int = 0) -> None:
        depth = len(contexts[0])
        seen = Counter((context, outcome) for context, outcome in zip(contexts, outcomes, strict=True))
        self.levels: list[dict[Context, Counter[int]]] = []
        self.discounts: list[Float64Array] = []
        for _ in range(depth, first - 1, -1):
            level: dict[Context, Counter[int]] = defaultdict(Counter)
            for (context, outcome), count in seen.items():
                level[context][outcome] = count
            self.levels.insert(0, level)
            counts = np.array(list(seen.values()), np.int64)
            self.discounts.insert(0, modified_kneser_ney_discounts(counts).values)
            # In how many finer contexts: each of them counts once below.
            seen = Counter((context[:-1], outcome) for context, outcome in seen)
        self.first = first

    def row(self, context: Context, size: int) -> Float64Array:
        row = np.full(size, 1.0 / size)
        for level, (counts, discounts) in enumerate(zip(self.levels, self.discounts, strict=True)):
            found = counts.get(context[: self.first + level])
            if not found:
                break
            total = sum(found.values())
            row *= sum(discounts[min(count, 3)] for count in found.values()) / total
            for outcome, count in found.items():
                row[outcome] += (count - discounts[min(count, 3)]) / total
        return row


class NaiveModel:
    """The factors of a clustered model, counted again from its training text."""

    def __init__(self, model: ClusteredModel, text: list[int]) -> None:
        self.model, self.events = model, range(len(text))
        classes = [int(model.maps.predicted[word]) for word in text]
        ranks = [int(model.members.ranks[word]) for word in text]
        self.counts: dict[Path, Counter[Context]] = {}
        self.types: dict[Path, dict[Context, set[int]]] = {}

        def contexts(path: Path) -> list[Context]:
            return [tuple(symbol(model, text, event, one, 0) for one in path) for event in self.events]

        self.class_chains = [NaiveChain(contexts(path), classes) for path in model.tree.class_experts]
        self.word_chains = [
            NaiveChain([(c, *context) for c, context in zip(classes, contexts(path), strict=True)], ranks, 1)
            for path in model.tree.word_experts
        ]
        for path in model.tree.paths:
            self.counts[path] = Counter(contexts(path))
            self.types[path] = defaultdict(set)
            for context, label in zip(contexts(path), classes, strict=True):
                self.types[path][context].add(label)

    def features(self, ids: list[int], event: int) -> Float64Array:
        model, plan = self.model, self.model.parameters.plan
        values = []
        for index in plan.counted:
            path = model.tree.paths[index]
            values.append(np.log1p(self.counts[path][self._context(ids, event, path)]))
        for index in plan.varied:
            path = model.tree.paths[index]
            context = self._context(ids, event, path)
            count = self.counts[path][context]
            values.append(len(self.types[path][context]) / count if count else 0.0)
        position = 0
        while event - position > 0 and ids[event - position - 1] != EOS:
            position += 1
        values += [float(position == 0), np.log1p(position)]
        return np.array([1.0, *((np.array(values) - plan.means) * plan.scales)])

    def _context(self, ids: list[int], event: int, path: Path) -> Context:
        return tuple(symbol(self.model, ids, event, one, -1) for one in path)

    def log_factors(self, ids: list[int], event: int) -> tuple[float, float]:
        model, features = self.model, self.features(ids, event)
        label, rank = int(model.maps.predicted[ids[event]]), int(model.members.ranks[ids[event]])
        found = []
        for experts, chains, mixing, size, outcome, first in (
            (model.tree.class_experts, self.class_chains, model.parameters.class_mixing,
             model.members.sizes.size, label, ()),
            (model.tree.word_experts, self.word_chains, model.parameters.word_mixing,
             int(model.members.sizes[label]), rank, (label,)),
        ):  # fmt: skip
            scores = mixing.biases.copy() if mixing.biases.size else np.zeros(size)
            for expert, (path, chain) in enumerate(zip(experts, chains, strict=True)):
                row = chain.row((*first, *self._context(ids, event, path)), size)
                scores += (mixing.exponents[expert] @ features) * np.log(np.maximum(row, 1e-9))
            found.append(float(scores[outcome] - np.log(np.exp(scores).sum())))
        return found[0], found[1]
