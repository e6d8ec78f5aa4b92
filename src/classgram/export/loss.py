"""The loss of an export: perplexity before and after, on a text or on sentences drawn from the model."""

from typing import NamedTuple

import numpy as np

from classgram.evaluation.perplexity import perplexity_of
from classgram.export._kernels.batch_stepping import Wanted
from classgram.export.batch_stepping import BatchStepper, States, batch_stepper
from classgram.models.language_model import LanguageModel
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Int32Array
from classgram.text.sentences import Sentences, sentences_from_ids
from classgram.text.vocabulary import EOS

DRAWN_SENTENCES = 500
"""Sentences drawn where no text is given."""

_LONGEST_SENTENCE = 100
"""Words of the longest sentence drawn; sentences that have not ended by then are left out."""

_BLOCK_PROBABILITIES = 1 << 22
"""Probabilities in memory at a time while drawing."""


class Loss(NamedTuple):
    """Perplexity of a model and of its export on the same sentences, unknown words included."""

    model: float
    exported: float
    text: str
    """Which sentences these were."""

    @property
    def percent(self) -> float:
        """The rise of perplexity in percent."""
        return 100.0 * (self.exported / self.model - 1.0)


def measure_loss(model: LanguageModel, exported: LanguageModel, sentences: Sentences, text: str) -> Loss:
    """Compare a model with its export on sentences."""
    before, after = (float(one.log_probabilities(sentences).sum()) for one in (model, exported))
    events = sentences.tokens
    return Loss(perplexity_of(before, events), perplexity_of(after, events), text)


def draw_sentences(model: LanguageModel, number: int = DRAWN_SENTENCES, seed: int = 0) -> Sentences:
    """Draw sentences from a model, all at once; the same seed draws the same ones."""
    stepper = batch_stepper(model)
    random = np.random.default_rng(seed)
    states = np.repeat(stepper.start(True), number, axis=0)
    drawn = np.full((number, _LONGEST_SENTENCE), EOS, np.int32)
    alive = np.arange(number)
    for position in range(_LONGEST_SENTENCE):
        words = _draw_words(stepper, states, len(model.vocabulary), random)
        drawn[alive, position] = words
        going = words != EOS
        alive = alive[going]
        if not alive.size:
            break
        states, _ = stepper.step(states[going], words[going])
    ended = np.ones(number, bool)
    ended[alive] = False
    lengths = (drawn == EOS).argmax(axis=1) + 1
    kept = [drawn[row, : lengths[row]] for row in np.flatnonzero(ended)]
    return sentences_from_ids(np.concatenate(kept or [np.array([EOS], np.int32)]), EOS)


def _draw_words(stepper: BatchStepper, states: States, size: int, random: np.random.Generator) -> Int32Array:
    """Draw a word for each state from its distribution."""
    words = np.empty(len(states), np.int32)
    rows = max(1, _BLOCK_PROBABILITIES // size)
    for first in range(0, len(states), rows):
        block = states[first : first + rows]
        wanted = Wanted(
            frozen(np.arange(len(block) + 1) * size),
            frozen(np.tile(np.arange(size, dtype=np.int32), len(block))),
        )
        out = np.zeros(len(block) * size)
        stepper.add(block, wanted, np.ones(len(block)), out)
        totals = np.cumsum(out.reshape(len(block), size), axis=1)
        drawn = random.random(len(block)) * totals[:, -1]
        words[first : first + rows] = (totals <= drawn[:, None]).sum(axis=1)
    return np.minimum(words, size - 1)
