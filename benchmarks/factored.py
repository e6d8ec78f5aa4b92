"""What each part of the factored model is worth on the Penn Treebank: ``python -m benchmarks.factored``.

Perplexities are out of fold: parameters are fitted to one half of the validation text and measured on the
other, and the reverse. A row is printed as soon as it is known; names of rows given as arguments choose.
"""

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from classgram.counts.counting import count_sentences, read_sentences
from classgram.models.factored.model import FactoredModel
from classgram.models.factored.recipe import refit, train_factored
from classgram.models.factored.tuning import DEFAULT_TUNING, FactoredTuning
from classgram.models.mixtures.recipe import Training
from classgram.options import CountOptions, ReadOptions, VocabularyOptions
from classgram.text.reading import read_text
from classgram.text.sentences import Sentences, sentences_from_ids
from classgram.text.vocabulary import EOS


class Variant(NamedTuple):
    """One row of the table."""

    name: str
    tuning: FactoredTuning
    cache: bool = False
    fitted: bool = True
    """To validation text, or else to a fold of the training text."""


class Row(NamedTuple):
    """What was measured of a variant."""

    perplexity: float
    cpu_seconds: float
    megabytes: float
    words_per_second: float
    """And core."""


def variants() -> Iterator[Variant]:
    """Return all rows: numbers of clusterings, and one clustering without one part after another."""
    clusterings = DEFAULT_TUNING.clusterings
    one = replace(DEFAULT_TUNING, clusterings=clusterings[1:2])
    for cache in (False, True):
        suffix = ", cache" if cache else ""
        for number in range(1, len(clusterings) + 1):
            tuning = one if number == 1 else replace(DEFAULT_TUNING, clusterings=clusterings[:number])
            yield Variant(f"clusterings: {number}{suffix}", tuning, cache)
    yield Variant("clusterings: 4, no validation text", DEFAULT_TUNING, fitted=False)
    for text in one.both_factors[:-1]:
        both = tuple(other for other in one.both_factors if other != text)
        yield Variant(f"without {text}", replace(one, both_factors=both))
    for text in one.class_factor:
        classes = tuple(other for other in one.class_factor if other != text)
        yield Variant(f"without {text}", replace(one, class_factor=classes))
    yield Variant("without features", replace(one, counted_features=(), varied_features=()))
    yield Variant("pruned from level 3", replace(one, pruned_level=3))


def measure(variant: Variant, training: Training, valid: Sentences) -> Row:
    """Train a variant and measure it out of fold."""
    begun = time.process_time()
    middle = int(valid.offsets[len(valid) // 2])
    halves = [sentences_from_ids(ids, EOS) for ids in (valid.ids[:middle], valid.ids[middle:])]
    fitted_to = halves[0] if variant.fitted else None
    model = train_factored(training, fitted_to, tuning=variant.tuning, cache=variant.cache)
    trained = time.process_time()
    logs = [model.log_probabilities(halves[1])]
    speed = halves[1].tokens / (time.process_time() - trained)
    other = refit(model, halves[1]) if variant.fitted else model
    logs.append(other.log_probabilities(halves[0]))
    perplexity = float(np.exp(-np.concatenate(logs).mean()))
    return Row(perplexity, trained - begun, _megabytes(model), speed)


def _megabytes(model: FactoredModel) -> float:
    """Return the size of a model's arrays."""
    return sum(array.nbytes for array in model.to_files().arrays.values()) / 1e6


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.factored")
    parser.add_argument("names", nargs="*", help="rows whose names contain one of these (default: all)")
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    given = parser.parse_args()
    vocabulary, sentences = read_sentences(
        read_text(given.data / "ptb.train.txt"), VocabularyOptions(), None, ReadOptions(), True
    )
    training = Training(count_sentences(vocabulary, sentences, CountOptions(2)), sentences)
    valid = vocabulary.encode(read_text(given.data / "ptb.valid.txt"), ReadOptions())
    print(f"| variant ({os.cpu_count()} cores) | perplexity | CPU seconds | MB | words per CPU second |")
    print("|---|---|---|---|---|", flush=True)
    for variant in variants():
        if not given.names or any(name in variant.name for name in given.names):
            row = measure(variant, training, valid)
            figures = f"{row.perplexity:.2f} | {row.cpu_seconds:.0f} | {row.megabytes:.0f}"
            print(f"| {variant.name} | {figures} | {row.words_per_second:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
