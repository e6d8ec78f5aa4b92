"""Any model exported as a back-off model over words: its probabilities, and weights that normalise them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from classgram.counts._kernels.counting import Level
from classgram.counts.ngram_counts import NgramCounts, first_level, parents_of
from classgram.counts.suffixes import suffix_links
from classgram.errors import InputError
from classgram.export.batch_stepping import BatchStepper, States, batch_stepper
from classgram.export.growth import Front, Growth, merged, under_new_parents
from classgram.models.language_model import LanguageModel, Note, silent
from classgram.models.mixtures.mixture import MixtureModel
from classgram.models.mixtures.wider_vocabulary import AdaptedModel
from classgram.models.ngram.ngram_model import NgramModel
from classgram.models.ngram.pruning import backoff_weights, completed, prune_trie
from classgram.models.ngram.trie import BackoffTrie, LevelEstimates, assemble, without_double_starts
from classgram.options import ExportOptions
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Float64Array, Int32Array, Int64Array
from classgram.runtime.progress import Report
from classgram.runtime.progress import silent as unseen
from classgram.text.vocabulary import BOS, EOS

_DEFAULT_GROWTH = 1_000_000
"""N-grams that are added to a model that holds none."""


@dataclass(frozen=True)
class Exported:
    """A back-off model, and how it was made."""

    model: NgramModel
    exact: bool
    grown: int = 0
    """The unseen n-grams that it holds, after pruning."""
    pruned: int = 0


@dataclass
class _Tables:
    """The n-grams of every order, their suffixes from order 2 up, and their probabilities."""

    levels: list[Level]
    links: list[Int32Array]
    probabilities: list[Float64Array]


def export_backoff(
    model: LanguageModel,
    options: ExportOptions | None = None,
    counts: NgramCounts | None = None,
    note: Note = silent,
    report: Report = unseen,
) -> Exported:
    """Export any model as a back-off model over words.

    It holds the n-grams of the model's word models and those of ``counts``; with ``options.grow``,
    also the unseen n-grams that bring it nearest to the model.
    """
    options = options or ExportOptions()
    _check_export_options(options)
    model = without_cache(model)
    order = options.order or _exported_order(model, counts)
    longest = max(model.order, _exported_order(model, counts))
    if order > longest:
        raise InputError(f"--order {order}: the model has order {longest}; ask for that or less")
    exact = isinstance(model, NgramModel) and counts is None and order == model.order and not options.grow
    if exact and cast(NgramModel, model).trie.sizes[1]:
        made, grown = cast(NgramModel, model).trie.without_empty_orders(), 0
    else:
        made, grown = _back_off(model, order, options.grow, counts, (note, report))
    kept = made if options.prune is None else prune_trie(made, options.prune)
    if grown and kept is not made:
        grown = _unseen_number(kept, held_levels(model, counts)[:order])
    info = {"recipe": "arpa", "order": kept.order}
    exported = NgramModel(model.vocabulary, kept, info, model.word_counts)
    return Exported(exported, exact and kept is made, grown, sum(made.sizes) - sum(kept.sizes))


def _check_export_options(options: ExportOptions) -> None:
    """Refuse numbers out of range."""
    if options.order is not None and options.order < 2:
        raise InputError(f"--order {options.order}: ARPA files that others read have an order of 2 or more")
    if options.grow < 0:
        raise InputError(f"--grow {options.grow}: the number of n-grams to add must be 0 or more")


def _exported_order(model: LanguageModel, counts: NgramCounts | None) -> int:
    """Return the default order of an export: that of the longest n-grams known, else the model's."""
    held = [one.order for one, _ in _word_models(model)]
    if counts is not None:
        held.append(counts.order)
    return max(held, default=min(model.order, 6))


def without_cache(model: LanguageModel) -> LanguageModel:
    """Return the model without caches; their weight goes to the other components in proportion."""
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


def _back_off(
    model: LanguageModel,
    order: int,
    grow: int,
    counts: NgramCounts | None,
    reporting: tuple[Note, Report],
) -> tuple[BackoffTrie, int]:
    """Return the back-off model of an order, and how many unseen n-grams were added."""
    note, report = reporting
    levels = held_levels(model, counts)
    if len(levels) == 1 and not grow and not isinstance(model, NgramModel):
        grow = _DEFAULT_GROWTH
        note(f"the model contains no word n-grams: up to {grow:,} are added, those its classes raise most")
    stepper = batch_stepper(model)
    rater = _LevelStepper(stepper, _first_probabilities(model), model.word_counts)
    tables = rater.rate(_padded(levels, max(order, 2)))
    if len(levels) > order:
        tables = _lowered(tables, order, rater.masses(tables))
    growth = Growth(stepper, grow, report)
    if grow:
        tables = rater.rate(tables.levels, growth, tables.probabilities[-1])
    if not tables.levels[1].words.size:
        tables = _with_one_bigram(rater, tables)
    return _assembled(tables), growth.grown


def _word_models(
    model: LanguageModel, own: Int32Array | None = None
) -> Iterator[tuple[NgramModel, Int32Array | None]]:
    """Return the word n-gram models in a model, with the ids of their words in it (None: the same)."""
    if isinstance(model, NgramModel):
        yield model, own
    elif isinstance(model, AdaptedModel):
        back = np.zeros(len(model.model.vocabulary), np.int32)
        # Words unknown to the inner model map to its <unk>; reversed, the first one, <unk> itself, wins.
        back[model.own[::-1]] = np.arange(model.own.size, dtype=np.int32)[::-1]
        yield from _word_models(model.model, back if own is None else own[back])
    elif isinstance(model, MixtureModel):
        for component in model.components:
            yield from _word_models(component, own)


def _first_probabilities(model: LanguageModel) -> Float64Array | None:
    """Return the unigrams of a mixture's word model, which are estimated for backing off; else None.

    Class models estimate words by frequency, which overestimates a word that follows few others
    after all other contexts.
    """
    if not isinstance(model, MixtureModel):
        return None
    for word_model, own in _word_models(model):
        if own is None:
            return word_model.trie.distribution(word_model.start(bos=False))
    return None


def held_levels(model: LanguageModel, counts: NgramCounts | None) -> list[Level]:
    """Return the n-grams of a model's word models, and of counts, by order."""
    sources = [(one.trie.to_levels(), own) for one, own in _word_models(model)]
    if counts is not None:
        if counts.vocabulary.words != model.vocabulary.words:
            raise InputError("the counts have another vocabulary than the model; give the text instead")
        sources.append((without_double_starts(counts.levels), None))
    size = len(model.vocabulary)
    if len(sources) == 1 and sources[0][1] is None:
        return _trimmed(sources[0][0])
    return _trimmed(_united(sources, size))


def _unseen_number(trie: BackoffTrie, seen: list[Level]) -> int:
    """Return how many n-grams of a trie are not among those seen."""
    together = _united([(trie.to_levels(), None), (seen, None)], seen[0].words.size)
    return sum(level.words.size for level in together) - sum(level.words.size for level in seen)


def _trimmed(levels: list[Level]) -> list[Level]:
    """Return the levels without empty ones at the top."""
    while len(levels) > 1 and not levels[-1].words.size:
        levels = levels[:-1]
    return levels


def _padded(levels: list[Level], order: int) -> list[Level]:
    """Return the levels with empty ones on top, up to an order."""
    levels = list(levels)
    while len(levels) < order:
        levels.append(_no_entries(levels[-1].words.size))
    return levels


def _no_entries(parents: int) -> Level:
    """Return a level without entries."""
    return Level(
        frozen(np.zeros(parents + 1, np.int64)), frozen(np.empty(0, np.int32)), frozen(np.empty(0, np.int64))
    )


def _united(sources: Sequence[tuple[Sequence[Level], Int32Array | None]], size: int) -> list[Level]:
    """Return the union of several sets of n-grams; a map gives a set's words where they have other ids."""
    made = [first_level(np.zeros(size, np.int64))]
    places = [np.arange(size) if own is None else own.astype(np.int64) for _, own in sources]
    for depth in range(1, max((len(levels) for levels, _ in sources), default=1)):
        keys: list[Int64Array] = []
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


class _LevelStepper:
    """A model stepped through n-grams order by order, from the state of each one's prefix."""

    def __init__(
        self, stepper: BatchStepper, unigrams: Float64Array | None, word_counts: Int64Array | None
    ) -> None:
        self.walker, self.unigrams, self.word_counts = stepper, unigrams, word_counts

    def rate(
        self, levels: Sequence[Level], growth: Growth | None = None, top: Float64Array | None = None
    ) -> _Tables:
        """Return the model's probability of every n-gram; ``growth`` adds n-grams of each order.

        ``top`` replaces the probabilities of the known n-grams of the highest order.
        """
        levels = list(levels)
        states, unigrams = self._first(levels[0].words.size)
        tables = _Tables([levels[0]], [], [unigrams])
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
            masses = _contexts_only(masses[parents] * probabilities, level.words)
            links = suffix_links(level, tables.levels[-1], tables.links[-1] if tables.links else None)
            tables.levels.append(level)
            tables.links.append(links)
            tables.probabilities.append(probabilities)
            rows = links.astype(np.int64)
        return tables

    def masses(self, tables: _Tables) -> list[Float64Array]:
        """Return how likely each n-gram is as a context: the product of its words' probabilities."""
        made = [self._first_masses(tables.probabilities[0])]
        for level, probabilities in zip(tables.levels[1:], tables.probabilities[1:], strict=True):
            made.append(_contexts_only(made[-1][parents_of(level)] * probabilities, level.words))
        return made

    def _first(self, size: int) -> tuple[States, Float64Array]:
        """Return the states after single words, and the words' probabilities."""
        words = np.arange(size, dtype=np.int32)
        states, logs = self.walker.step(np.repeat(self.walker.start(False), size, axis=0), words)
        states[BOS] = self.walker.start(True)[0]
        unigrams = np.exp(logs) if self.unigrams is None else self.unigrams.copy()
        unigrams[BOS] = 0.0
        return states, unigrams

    def _first_masses(self, unigrams: Float64Array) -> Float64Array:
        """Return the probability of each word: by its count, where that is known; <s> as likely as </s>."""
        counts = self.word_counts
        # One event more than was counted, so that unseen words get a share.
        masses = unigrams.copy() if counts is None else (counts + unigrams) / (counts.sum() + 1)
        masses[BOS] = masses[EOS]
        return _contexts_only(masses, np.arange(masses.size))


def _contexts_only(masses: Float64Array, words: Int32Array | Int64Array) -> Float64Array:
    """Return the masses, 0 for n-grams that end in </s>, which nothing follows."""
    return np.where(words == EOS, 0.0, masses)


def _lowered(tables: _Tables, order: int, masses: list[Float64Array]) -> _Tables:
    """Return the tables cut to an order; the highest order gets the mean of the longer n-grams.

    p(w | h) is the mean of p(w | v h) over the words v before, weighted by the probability of v h.
    The lower orders of a back-off model are estimated for words that were not seen after the longer
    context, and would be wrong as the highest order.
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
        # Rounding can leave values just below zero; and nothing precedes <s>.
        probabilities[-1] = np.where(known & (mean > 0), np.minimum(mean, 1.0), lower)
    return _Tables(levels, links, probabilities)


def _assembled(tables: _Tables) -> BackoffTrie:
    """Return the trie: entries scaled where they sum to one or more, and each context's back-off weight."""
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


def _with_one_bigram(rater: _LevelStepper, tables: _Tables) -> _Tables:
    """Return the tables with the bigram <s> </s>: readers need two orders at least, none of them empty."""
    size = tables.levels[0].words.size
    level, _ = merged(_no_entries(size), np.array([BOS], np.int64), np.array([EOS], np.int32))
    return rater.rate([tables.levels[0], level])
