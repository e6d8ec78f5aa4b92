"""Every number of the mixture's recipe that could be another one, in one place."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RecipeTuning:
    """The numbers of the recipe: which components a text gets, and how their weights are estimated.

    Each was chosen on Penn Treebank validation text and on novels; docs/mixtures.md has the figures under
    the heading that a field names. *Not measured* marks those that were set by judgement. An *event* is
    a predicted word or sentence end.
    """

    words_per_class: tuple[int, ...] = (100, 50, 50, 30, 30, 20, 20, 10)
    """Distinct words per class, a clustering each; equal ones differ in seed. What was tried."""
    most_classes: int = 2000
    """Classes of a clustering at most: a limit on time. Not measured."""
    fewest_repeated_classes: int = 10
    """Classes from which a second clustering of the same size differs enough. Not measured."""
    interleaved: tuple[int, ...] = (0, 3)
    """Indices of the clusterings that also give interleaved n-grams. What was tried."""
    interleaved_order: int = 4
    """Words that interleaved n-grams reach over. What was tried."""

    small_text: int = 50_000
    """Events below which a text gets word models of lower orders, and more of it is held out. Gains."""
    small_text_orders: tuple[int, ...] = (3, 2)
    """Orders of these further word models. Gains."""
    large_text: int = 5_000_000
    """Events above which a text gets fewer components, which gain less there: memory. What was tried."""
    large_words_per_class: tuple[int, ...] = (100, 50, 30, 20, 10)
    """As ``words_per_class``. What was tried."""
    huge_text: int = 30_000_000
    """Events above which it gets fewer still. Not measured beyond the 13 million words of novels."""
    huge_words_per_class: tuple[int, ...] = (100, 30, 10)
    """As ``words_per_class``. What was tried."""

    folds: int = 20
    """Without held-out text, one in so many is held out to estimate the weights. Gains."""
    small_text_folds: int = 10
    """The same for a small text. Gains."""
    enough_events: int = 5000
    """Held-out events that suffice; until then further folds are held out in turn. Gains."""
    stretch: int = 5000
    """Events of a contiguous stretch of held-out text, about: caches need them. Not measured."""

    fast_components: int = 4
    """Components of a mixture with ``--fast``. Gains, words per second."""
    interleaved_cost: float = 2.0
    """Time to score with interleaved n-grams, in that of other components. Gains, words per second."""

    windows: tuple[int, ...] = (100, 500, 2000)
    """Events that the caches look back: for each a cache of words and one of word pairs. What was tried."""

    bucket_quantiles: int = 4
    """Buckets of contexts of one length. What was tried."""
    events_per_bucket: int = 500
    """Held-out events per bucket below which all contexts share one set of weights. Not measured."""
    bucket_prior_events: float = 100.0
    """Events that the weights of the whole text count for in those of a bucket. Not measured."""
    prior_events: float = 10.0
    """Events that the prior, half the weight on the first model, counts for. Not measured."""
    em_rounds: int = 300
    """Rounds of expectation maximisation at most. Not measured."""
    em_tolerance: float = 1e-7
    """Rounds end when the mean log-probability of an event rises by less. Not measured."""


DEFAULT_TUNING = RecipeTuning()
