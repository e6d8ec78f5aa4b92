"""Every sort of model over small random texts."""

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from classgram.counts.events import joint_events
from classgram.counts.ngram_counts import NgramCounts
from classgram.models.class_based.class_model import ClassMaps, estimate_class_model
from classgram.models.class_based.class_ngrams import train_class_ngrams
from classgram.models.class_based.interleaved import train_interleaved
from classgram.models.language_model import LanguageModel
from classgram.models.mixtures.mixture import mix_models
from classgram.models.mixtures.wider_vocabulary import one_vocabulary
from classgram.models.ngram.ngram_model import train_backoff, train_katz, train_kneser_ney
from classgram.options import Smoothing
from classgram.text.vocabulary import BOS, EOS
from tests.helpers.texts import counts_of, random_lines

small_texts = st.lists(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=6
)


def some_classes(counts: NgramCounts, classes: int, seed: int = 3) -> np.ndarray:
    """Random classes; <s> and </s> have their own."""
    made = np.random.default_rng(seed).integers(2, 2 + classes, len(counts.vocabulary)).astype(np.int32)
    made[[BOS, EOS]] = [0, 1]
    return made


def joint_model(counts: NgramCounts, smoothing: Smoothing) -> LanguageModel:
    """A model of random joint classes with some tuples as elements of their own."""
    contexts, _ = joint_events(counts, 30, 3)
    first = np.random.default_rng(5).integers(0, 12, len(contexts)).astype(np.int32)
    maps = ClassMaps(first[None], some_classes(counts, 6), contexts)
    return estimate_class_model(counts, 3, maps, smoothing)


def tuple_model(counts: NgramCounts, order: int, smoothing: Smoothing) -> LanguageModel:
    """A model of classes that differ from position to position."""
    maps = np.stack([some_classes(counts, 5, seed) for seed in range(order - 1)])
    return estimate_class_model(counts, order, ClassMaps(maps, some_classes(counts, 6)), smoothing)


MODELS: dict[str, Callable[[NgramCounts], LanguageModel]] = {
    **{f"kneser-ney {n}": lambda counts, n=n: train_kneser_ney(counts, n) for n in (2, 3, 5)},  # type: ignore[misc]
    **{f"katz {n}": lambda counts, n=n: train_katz(counts, n) for n in (2, 4)},  # type: ignore[misc]
    "backoff 2": lambda counts: train_backoff(counts, 2),
    "backoff 4": lambda counts: train_backoff(counts, 4, (4, 3, 2)),
    "class kneser-ney": lambda counts: train_class_ngrams(counts, some_classes(counts, 6), 4),
    "joint kneser-ney": lambda counts: joint_model(counts, "kneser-ney"),
    **{
        f"{shape} {smoothing}": build
        for smoothing in ("interpolated", "paper")
        for shape, build in {
            "joint": lambda counts, s=smoothing: joint_model(counts, s),
            "bigram": lambda counts, s=smoothing: tuple_model(counts, 2, s),
            "positional": lambda counts, s=smoothing: tuple_model(counts, 4, s),
        }.items()
    },
}


def interleaved_model(counts: NgramCounts) -> LanguageModel:
    """N-grams over words and random classes in turn."""
    sentences = counts.vocabulary.encode_lines(random_lines(1))
    return train_interleaved(sentences, counts.vocabulary, some_classes(counts, 6), 3)


def adapted_model(counts: NgramCounts) -> LanguageModel:
    """A model of fewer words, two of which occur nowhere else, over the words of all."""
    narrow = train_kneser_ney(counts_of(["w1 w2 w3 w2", "w3 w1 <unk>", "w2 new newer w1"] * 4, 3), 3)
    return one_vocabulary([train_kneser_ney(counts, 2), narrow])[0][1]


def mixture(counts: NgramCounts, windows: tuple[int, ...] = ()) -> LanguageModel:
    """Models of every kind mixed, one of them a mixture itself."""
    held_out = counts.vocabulary.encode_lines(random_lines(4, 30))
    models = [MODELS[name](counts) for name in ("kneser-ney 3", "class kneser-ney", "joint interpolated")]
    inner = mix_models([*models[:2], interleaved_model(counts)], held_out, windows)
    return mix_models([*models, inner], held_out, windows)


MODELS |= {
    "interleaved": interleaved_model,
    "adapted": adapted_model,
    "mixture": mixture,
    "mixture with caches": lambda counts: mixture(counts, (3, 20)),
}


def adapts(model: LanguageModel) -> bool:
    """Whether a model learns from the text that it scores."""
    return bool(getattr(model, "windows", ()))
