"""Any model as a back-off model over words: its own probabilities, and weights that make them sum to one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from classgram.counts._kernels.suffixes import link_suffixes
from classgram.counts.ngram_counts import Level, NgramCounts, first_level, parents_of
from classgram.errors import InputError
from classgram.export.batch_stepping import States, Walker, walker_of
from classgram.export.growth import Front, Growth, merged, under_new_parents
from classgram.models.language_model import LanguageModel, Note, silent
from classgram.models.mixtures.mixture import MixtureModel
from classgram.models.mixtures.wider_vocabulary import AdaptedModel
from classgram.models.ngram.ngram_model import NgramModel
from classgram.models.ngram.pruning import backoff_weights, completed, prune_trie
from classgram.models.ngram.trie import BackoffTrie, LevelEstimates, assemble, without_double_starts
from classgram.options import ExportOptions
from classgram.runtime.compiled import frozen
from classgram.runtime.progress import Report
from classgram.runtime.progress import silent as unseen
from classgram.text.vocabulary import BOS, EOS

Floats = npt.NDArray[np.float64]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

DEFAULT_GROWTH = 1_000_000
"""How many n-grams a model gets that holds none."""


@dataclass(frozen=True)
class Exported:
    """A back-off model, and how it came about."""

    model: NgramModel
    exact: bool
    grown: int = 0
    """The unseen n-grams that it holds, after pruning."""
    pruned: int = 0


class Tables(NamedTuple):
    """The n-grams of every order, their suffixes from order 2 up, and their probabilities."""

    levels: list[Level]
    links: list[npt.NDArray[np.int32]]
    probabilities: list[Floats]


def export_backoff(
    model: LanguageModel,
    options: ExportOptions | None = None,
    counts: NgramCounts | None = None,
    note: Note = silent,
    report: Report = unseen,
) -> Exported:
    """Turn any model into a back-off model over words.

    The n-grams are those that the model's word models hold and those of ``counts``; with
    ``options.grow``, also the unseen ones that the model raises most.
    """
    options = options or ExportOptions()
    check_export_options(options)
    model = without_cache(model)
    order = options.order or exported_order(model, counts)
    longest = max(model.order, exported_order(model, counts))
    if order > longest:
        raise InputError(f"--order {order}: the model has order {longest}; ask for that or less")
    exact = isinstance(model, NgramModel) and counts is None and order == model.order and not options.grow
    if exact and cast(NgramModel, model).trie.sizes[1]:
        made, grown = cast(NgramModel, model).trie.without_empty_orders(), 0
    else:
        made, grown = back_off(model, order, options.grow, counts, (note, report))
    kept = made if options.prune is None else prune_trie(made, options.prune)
    if grown and kept is not made:
        grown = unseen_number(kept, held_levels(model, counts)[:order])
    info = {"recipe": "arpa", "order": kept.order}
    exported = NgramModel(model.vocabulary, kept, info, model.word_counts)
    return Exported(exported, exact and kept is made, grown, sum(made.sizes) - sum(kept.sizes))


def check_export_options(options: ExportOptions) -> None:
    """Refuse numbers that make no sense."""
    if options.order is not None and options.order < 2:
        raise InputError(f"--order {options.order}: ARPA files that others read have an order of 2 or more")
    if options.grow < 0:
        raise InputError(f"--grow {options.grow}: the number of n-grams to add must be 0 or more")


def exported_order(model: LanguageModel, counts: NgramCounts | None) -> int:
    """The order of an export that asks for none: the longest n-grams at hand, else the model's."""
    held = [one.order for one, _ in word_models(model)]
    if counts is not None:
        held.append(counts.order)
    return max(held, default=min(model.order, 6))


def without_cache(model: LanguageModel) -> LanguageModel:
    """The model without caches, whose weight goes to the other components in proportion."""
    if isinstance(model, AdaptedModel):
        inner = without_cache(model.model)
        return model if inner is model.model else replace(model, model=inner)
    if not isinstance(model, MixtureModel):
        return model
    components = tuple(without_cache(one) for one in model.components)
    same = all(one is old for one, old in zip(components, model.components, strict=True))
    if same and not model.windows:
        return model
    weights = model.weights[:, : len(components)]
    weights = frozen(weights / weights.sum(axis=1, keepdims=True))
    return replace(model, components=components, weights=weights, windows=())


def back_off(
    model: LanguageModel,
    order: int,
    grow: int,
    counts: NgramCounts | None,
    tell: tuple[Note, Report],
) -> tuple[BackoffTrie, int]:
    """The back-off model of an order, and how many unseen n-grams it got."""
    note, report = tell
    levels = held_levels(model, counts)
    if len(levels) == 1 and not grow and not isinstance(model, NgramModel):
        grow = DEFAULT_GROWTH
        note(f"the model holds no word n-grams: it gets up to {grow:,}, those that its classes raise most")
    walker = walker_of(model)
    walk = LevelWalk(walker, first_probabilities(model), model.word_counts)
    tables = walk.rate(padded(levels, max(order, 2)))
    if len(levels) > order:
        tables = lowered(tables, order, walk.masses(tables))
    growth = Growth(walker, grow, report)
    if grow:
        tables = walk.rate(tables.levels, growth, tables.probabilities[-1])
    if not tables.levels[1].words.size:
        tables = with_one_bigram(walk, tables)
    return assembled(tables), growth.grown


def word_models(
    model: LanguageModel, own: Int32s | None = None
) -> Iterator[tuple[NgramModel, Int32s | None]]:
    """The word n-gram models in a model, and where their words are in its vocabulary (None: the same)."""
    if isinstance(model, NgramModel):
        yield model, own
    elif isinstance(model, AdaptedModel):
        back = np.zeros(len(model.model.vocabulary), np.int32)
        # Words that the model lacks have its <unk>, and <unk> itself comes first.
        back[model.own[::-1]] = np.arange(model.own.size, dtype=np.int32)[::-1]
        yield from word_models(model.model, back if own is None else own[back])
    elif isinstance(model, MixtureModel):
        for part in model.components:
            yield from word_models(part, own)


def first_probabilities(model: LanguageModel) -> Floats | None:
    """The unigrams of a mixture's word model, which are made for backing off; else the model's own.

    Class models know words by their frequency, which for a word that follows few others is no
    measure of how likely it is where nothing else is known.
    """
    if not isinstance(model, MixtureModel):
        return None
    for part, own in word_models(model):
        if own is None:
            return part.trie.distribution(part.start(bos=False))
    return None


def held_levels(model: LanguageModel, counts: NgramCounts | None) -> list[Level]:
    """The n-grams of a model's word models, and of counts, all orders together."""
    sources = [(one.trie.to_levels(), own) for one, own in word_models(model)]
    if counts is not None:
        if counts.vocabulary.words != model.vocabulary.words:
            raise InputError("the counts have another vocabulary than the model; give the text instead")
        sources.append((without_double_starts(counts.levels), None))
    size = len(model.vocabulary)
    if len(sources) == 1 and sources[0][1] is None:
        return trimmed(sources[0][0])
    return trimmed(united(sources, size))


def unseen_number(trie: BackoffTrie, seen: list[Level]) -> int:
    """How many n-grams of a trie are not among those seen."""
    together = united([(trie.to_levels(), None), (seen, None)], seen[0].words.size)
    return sum(level.words.size for level in together) - sum(level.words.size for level in seen)


def trimmed(levels: list[Level]) -> list[Level]:
    """The levels without empty ones at the top."""
    while len(levels) > 1 and not levels[-1].words.size:
        levels = levels[:-1]
    return levels


def padded(levels: list[Level], order: int) -> list[Level]:
    """The levels with empty ones on top, up to an order."""
    levels = list(levels)
    while len(levels) < order:
        levels.append(no_entries(levels[-1].words.size))
    return levels


def no_entries(parents: int) -> Level:
    """A level without entries."""
    return Level(
        frozen(np.zeros(parents + 1, np.int64)), frozen(np.empty(0, np.int32)), frozen(np.empty(0, np.int64))
    )


def united(sources: Sequence[tuple[Sequence[Level], Int32s | None]], size: int) -> list[Level]:
    """The n-grams of several sets together; a map gives a set's words where they have other ids."""
    made = [first_level(np.zeros(size, np.int64))]
    places = [np.arange(size) if own is None else own.astype(np.int64) for _, own in sources]
    for depth in range(1, max((len(levels) for levels, _ in sources), default=1)):
        keys: list[Int64s] = []
        for (levels, own), place in zip(sources, places, strict=True):
            if depth >= len(levels):
                keys.append(np.empty(0, np.int64))
                continue
            words = levels[depth].words if own is None else own[levels[depth].words]
            keys.append(place[parents_of(levels[depth])] * size + words)
        found = np.unique(np.concatenate(keys))
        places = [np.searchsorted(found, one) for one in keys]
        starts = np.searchsorted(found, np.arange(made[-1].words.size + 1) * size)
        counts = np.zeros(found.size, np.int64)
        made.append(Level(frozen(starts), frozen((found % size).astype(np.int32)), frozen(counts)))
    return made


class LevelWalk:
    """A model taken through n-grams order by order, each one's state made from its prefix's."""

    def __init__(self, walker: Walker, unigrams: Floats | None, word_counts: Int64s | None) -> None:
        self.walker, self.unigrams, self.word_counts = walker, unigrams, word_counts

    def rate(
        self, levels: Sequence[Level], growth: Growth | None = None, top: Floats | None = None
    ) -> Tables:
        """The model's probability of every n-gram; ``growth`` adds n-grams of each order on the way.

        ``top`` gives the probabilities of the highest order instead, those that were there before.
        """
        levels = list(levels)
        states, unigrams = self._first(levels[0].words.size)
        tables = Tables([levels[0]], [], [unigrams])
        masses = self._first_masses(unigrams)
        rows = np.zeros(unigrams.size, np.int64)
        for depth in range(1, len(levels)):
            level, known = levels[depth], np.arange(levels[depth].words.size)
            if growth:
                front = Front(states, masses, rows, tables.levels[-1], tables.probabilities[-1])
                added = growth.additions(front, level, levels[depth + 1] if depth + 1 < len(levels) else None)
                level, known = merged(level, added.contexts, added.words)
                if depth + 1 < len(levels):
                    levels[depth + 1] = under_new_parents(levels[depth + 1], known, level.words.size)
            parents = parents_of(level)
            states, logs = self.walker.step(states[parents], level.words)
            probabilities = np.exp(logs)
            if top is not None and depth + 1 == len(levels):
                probabilities[known] = top
            masses = contexts_only(masses[parents] * probabilities, level.words)
            links = suffix_links(level, tables)
            tables.levels.append(level)
            tables.links.append(links)
            tables.probabilities.append(probabilities)
            rows = links.astype(np.int64)
        return tables

    def masses(self, tables: Tables) -> list[Floats]:
        """How likely one meets each n-gram as a context, by the chain of its words' probabilities."""
        made = [self._first_masses(tables.probabilities[0])]
        for level, probabilities in zip(tables.levels[1:], tables.probabilities[1:], strict=True):
            made.append(contexts_only(made[-1][parents_of(level)] * probabilities, level.words))
        return made

    def _first(self, size: int) -> tuple[States, Floats]:
        """The states after single words, and the words' probabilities."""
        words = np.arange(size, dtype=np.int32)
        states, logs = self.walker.step(np.repeat(self.walker.start(False), size, axis=0), words)
        states[BOS] = self.walker.start(True)[0]
        unigrams = np.exp(logs) if self.unigrams is None else self.unigrams.copy()
        unigrams[BOS] = 0.0
        return states, unigrams

    def _first_masses(self, unigrams: Floats) -> Floats:
        """How often each word is met: by its count, where that is known; <s> as often as </s>."""
        counts = self.word_counts
        # One event more than was counted is shared by the words never met.
        masses = unigrams.copy() if counts is None else (counts + unigrams) / (counts.sum() + 1)
        masses[BOS] = masses[EOS]
        return contexts_only(masses, np.arange(masses.size))


def contexts_only(masses: Floats, words: npt.NDArray[np.integer]) -> Floats:
    """The masses, none for what ends in </s>, after which nothing follows."""
    return np.where(words == EOS, 0.0, masses)


def suffix_links(level: Level, tables: Tables) -> Int32s:
    """Where each entry of the next level has its suffix in the level made last."""
    if not tables.links:
        return frozen(level.words)
    below = tables.levels[-1]
    out = np.empty(level.words.size, np.int32)
    link_suffixes(level.starts, level.words, tables.links[-1], below.starts, below.words, out)
    return frozen(out)


def lowered(tables: Tables, order: int, masses: list[Floats]) -> Tables:
    """The tables cut to an order; the highest left gets what the longer n-grams said on average.

    p(w | h) is the mean of p(w | v h) over the words v before, by how likely one meets v h. The
    probabilities that a back-off model gives after a shorter context are made for words that were
    not seen after the longer one, and would be wrong as the model's last word.
    """
    levels, links = list(tables.levels), list(tables.links)
    probabilities = list(tables.probabilities)
    while len(levels) > order:
        above, links_above, own = levels.pop(), links.pop(), probabilities.pop()
        lower = probabilities[-1]
        parents = parents_of(above)
        mass = masses[len(levels) - 1]
        weights = backoff_weights(above, own, lower[links_above])
        size = levels[-2].words.size
        # The contexts v h that share the suffix h, and their entries that share the suffix h w.
        raised = np.bincount(
            links_above, mass[parents] * (own - weights[parents] * lower[links_above]), lower.size
        )
        shared = links[-1]
        base = np.bincount(shared, mass * weights, size)
        total = np.bincount(shared, mass, size)
        contexts = parents_of(levels[-1])
        known = total[contexts] > 0
        mean = (raised + lower * base[contexts]) / np.where(known, total[contexts], 1.0)
        # Rounding can leave a trace below zero; and nothing stands before <s>.
        probabilities[-1] = np.where(known & (mean > 0), np.minimum(mean, 1.0), lower)
    return Tables(levels, links, probabilities)


def assembled(tables: Tables) -> BackoffTrie:
    """The trie: entries scaled where they leave nothing over, and each context's back-off weight."""
    estimates = []
    unigrams = tables.probabilities[0] / tables.probabilities[0].sum()
    below = unigrams
    for level, links, probabilities in zip(
        tables.levels[1:], tables.links, tables.probabilities[1:], strict=True
    ):
        scaled, weights = completed(level, probabilities, below[links])
        estimates.append(LevelEstimates(level, links, scaled, weights))
        below = scaled
    return assemble(unigrams, estimates).without_empty_orders()


def with_one_bigram(walk: LevelWalk, tables: Tables) -> Tables:
    """The tables with the bigram <s> </s>: readers want two orders at least, none of them empty."""
    size = tables.levels[0].words.size
    level, _ = merged(no_entries(size), np.array([BOS], np.int64), np.array([EOS], np.int32))
    return walk.rate([tables.levels[0], level])
