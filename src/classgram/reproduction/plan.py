"""What is run on a text at a scale: training sets, class numbers, and the settings that the paper names."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from classgram.options import ClusterOptions, Effort, ModelOptions, Punctuation, SearchOptions, Shape
from classgram.reproduction import paper
from classgram.reproduction.cells import Clustering, Mixture, WordModel
from classgram.reproduction.samples import Facts, Sample

_RARE = 5
"""Words seen fewer times are not moved."""

_DISCOUNT = 0.75


@dataclass(frozen=True)
class Scale:
    """How large the experiments are."""

    name: str
    training_sets: dict[str, int]
    search_words: int
    """The words that tables 1 to 4 and the questions about the search are run on."""
    class_numbers: tuple[int, ...]
    many_classes: int
    bigram_classes: int
    trigram_sets: dict[str, int]
    trigram_reference: int
    trigram_classes: tuple[int, int]
    """The classes of contexts and of words."""
    contexts: int
    criterion_sets: tuple[str, ...]
    mixture_effort: Effort

    @property
    def most_words(self) -> int:
        """The words of the largest training set."""
        return max(*self.training_sets.values(), *self.trigram_sets.values())


_FULL = Scale(
    name="full",
    training_sets=paper.TRAINING_SETS,
    search_words=1_000_000,
    class_numbers=(10, 20, 40, 80, 160, 320),
    many_classes=1000,
    bigram_classes=2000,
    trigram_sets={"5.2M": 5_200_000, "all": 41_000_000},
    trigram_reference=3000,
    trigram_classes=(7000, 1000),
    contexts=500_000,
    criterion_sets=("T3", "T4"),
    mixture_effort="normal",
)

SMALL = Scale(
    name="small",
    training_sets={name: words for name, words in paper.TRAINING_SETS.items() if words <= 350_000},
    search_words=120_000,
    class_numbers=(10, 20, 40, 80, 160, 320),
    many_classes=500,
    bigram_classes=2000,
    trigram_sets={"60k": 60_000, "all": 350_000},
    trigram_reference=500,
    trigram_classes=(1000, 200),
    contexts=20_000,
    criterion_sets=("T2", "T3"),
    mixture_effort="low",
)

SCALES = {"small": SMALL, "full": _FULL}


class TrainingSet(NamedTuple):
    """A part of the text that models are trained on."""

    name: str
    words: int | None
    """None: all there is, because the text holds no more than this set should."""

    def sample(self, punctuation: Punctuation) -> Sample:
        """Return the sample in a way of reading."""
        return Sample(punctuation, self.words)


@dataclass(frozen=True)
class Plan:
    """A scale on a text that may hold less than the scale asks for."""

    scale: Scale
    facts: Facts
    seed: int = 0

    def sets(self, wanted: dict[str, int]) -> list[TrainingSet]:
        """Return the sets that the text is large enough for; the next larger one is the whole text."""
        found = []
        for name, words in sorted(wanted.items(), key=lambda item: item[1]):
            whole = words >= self.facts.train_words
            found.append(TrainingSet(name, None if whole else words))
            if whole:
                break
        return found

    def missing(self, wanted: dict[str, int]) -> tuple[str, ...]:
        """Return a note on the sets that the text is too small for."""
        there = {one.name for one in self.sets(wanted)}
        missing = [name for name in wanted if name not in there]
        if not missing:
            return ()
        return (f"{', '.join(missing)}: the training text contains only {self.facts.train_words:,} words.",)

    @property
    def search_sample(self) -> Sample:
        """The training set of tables 1 to 4."""
        enough = self.scale.search_words < self.facts.train_words
        return Sample("verbalise", self.scale.search_words if enough else None)

    def heuristic(self, targets: int, neighbours: int, renew: int) -> SearchOptions:
        """Return a search by the heuristic with t, h and u."""
        return replace(self.exact, heuristic=True, targets=targets, neighbours=neighbours, renew=renew)

    @property
    def exact(self) -> SearchOptions:
        """The exact search: single moves, as in the paper, without merging and splitting whole classes."""
        return SearchOptions(seed=self.seed, no_regroup=True)

    @property
    def chosen_heuristic(self) -> SearchOptions:
        """The search that the paper chose for its results: t = 10, h = 5, u = 1000."""
        return self.heuristic(10, 5, 1000)

    def class_bigram(self, one: TrainingSet, punctuation: Punctuation) -> Clustering:
        """Return the clustered model of tables 7 and 8."""
        classes = leaving_one_out("joint", self.scale.bigram_classes, self.scale.bigram_classes)
        return Clustering(one.sample(punctuation), classes, self.chosen_heuristic)

    def backoff(self, one: TrainingSet, punctuation: Punctuation, cutoff: int) -> WordModel:
        """Return the back-off model of tables 5 to 8."""
        return WordModel(one.sample(punctuation), ModelOptions("backoff", 2, cutoff=(cutoff,)))

    def mixture(self, one: TrainingSet, order: int) -> Mixture:
        """Return the mixture of word and class models."""
        return Mixture(one.sample("verbalise"), order, self.seed, self.scale.mixture_effort)


def leaving_one_out(shape: Shape, classes: int, context_classes: int | None = None) -> ClusterOptions:
    """Return class bigrams found by the paper's criterion."""
    return ClusterOptions(
        classes=classes,
        context_classes=context_classes,
        criterion="loo-paper",
        shape=shape,
        discount=_DISCOUNT,
        move_min_count=_RARE,
    )
