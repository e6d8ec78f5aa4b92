"""Every number of the factored recipe that could be another one, in one place."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FactoredTuning:
    """The numbers of the factored recipe; docs/factored.md has the figures behind them.

    A context is written as a list of symbols from coarse to fine: ``c2`` is the class of the word before
    last, ``w2`` that word, ``k2`` its class among those of class n-grams, ``f`` the first word of the
    sentence. An *event* is a predicted word or sentence end.
    """

    both_factors: tuple[str, ...] = (
        "c1 w1 c2 w2 c3 w3",
        "c1 w1 c3 w3 c4 w4",
        "c2 w2 c3 w3",
        "c3 w3",
        "c4 w4",
        "c5 w5",
        "f",
        "",
    )
    """Contexts of the experts of either factor; the empty one is the frequency of the class or word."""
    class_factor: tuple[str, ...] = ("c1 w1 c4 w4 c5 w5", "k1 k2 k3 k4 k5 k6")
    """Contexts of further experts of the class factor."""
    clusterings: tuple[tuple[float, float, float], ...] = (
        (1.0, 5.0, 1.0),
        (2.0, 3.33, 2.0),
        (3.33, 2.0, 3.33),
        (0.7, 3.33, 2.0),
    )
    """Numbers of predicted, context and n-gram classes of each model, in square roots of the vocabulary."""
    pruned_level: int = 99
    """Contexts of so many symbols or more that occurred once are dropped."""

    counted_features: tuple[str, ...] = (
        "c1 w1",
        "c1 w1 c2 w2",
        "c1 w1 c2 w2 c3 w3",
        "c2 w2",
        "c2 w2 c3 w3",
        "c1 w1 c3 w3",
        "k1 k2 k3 k4",
    )
    """Contexts whose counts, log(1 + n), are features of the exponents."""
    varied_features: tuple[str, ...] = ("c1 w1", "c1 w1 c2 w2")
    """Contexts whose numbers of different outcomes, in counts, are."""

    least_probability: float = 1e-9
    """What an expert gives an outcome at least, before the logarithm is taken."""
    epochs: int = 6
    """Passes of Adam over the held-out events."""
    batch: int = 256
    """Events of a step."""
    rate: float = 0.007
    """The first step's size; it falls to 0 in a straight line."""
    feature_rate: float = 0.3
    """The size of steps of the features' exponents, in those of the others."""
    decay: float = 1e-3
    """The weight of squares of the features' exponents."""
    class_half_lives: tuple[float, ...] = (40.0, 200.0, 4000.0)
    """Half-lives in events of class unigrams in caches; the last one is below n-grams."""
    word_half_lives: tuple[float, ...] = (40.0, 200.0, 800.0)
    """The same of words in their class."""
    ngram_half_lives: tuple[float, ...] = (500.0, 6000.0)
    """Half-lives of n-grams of classes; those of words have the second."""
    cache_strengths: tuple[float, ...] = (0.2, 0.7, 0.3, 0.5)
    """What coarser counts weigh: class unigrams, class n-grams, word unigrams, word n-grams."""
    cache_events: int = 30_000
    """Events before a batch that caches remember."""
    gate_epochs: int = 6
    """Passes of Adam over the held-out events for the gate."""
    gate_rate: float = 0.01
    """The first step's size."""
    gate_decay: float = 1e-4
    """The weight of squares of the gate's parameters."""
    fitted_events: int = 100_000
    """Held-out events used at most."""


DEFAULT_TUNING = FactoredTuning()
