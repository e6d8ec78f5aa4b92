"""What an export costs: perplexity before and after, on a text or on sentences that the model draws."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from classgram.evaluation.perplexity import perplexity_of
from classgram.export.batch_stepping import States, Walker, Wanted, walker_of
from classgram.models.language_model import LanguageModel
from classgram.runtime.compiled import frozen
from classgram.text.sentences import Sentences, sentences_from_ids
from classgram.text.vocabulary import EOS

Int32s = npt.NDArray[np.int32]

DRAWN = 500
"""How many sentences are drawn where no text is given."""

LONGEST = 100
"""Drawn sentences that have not ended after so many words are left out."""

PLACES = 1 << 22
"""Probabilities held at a time while drawing."""


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


def draw_sentences(model: LanguageModel, number: int = DRAWN, seed: int = 0) -> Sentences:
    """Sentences drawn from a model, all at once; the same seed draws the same."""
    walker = walker_of(model)
    random = np.random.default_rng(seed)
    states = np.repeat(walker.start(True), number, axis=0)
    drawn = np.full((number, LONGEST), EOS, np.int32)
    alive = np.arange(number)
    for place in range(LONGEST):
        words = draw_words(walker, states, len(model.vocabulary), random)
        drawn[alive, place] = words
        going = words != EOS
        alive = alive[going]
        if not alive.size:
            break
        states, _ = walker.step(states[going], words[going])
    ended = np.ones(number, bool)
    ended[alive] = False
    lengths = (drawn == EOS).argmax(axis=1) + 1
    kept = [drawn[row, : lengths[row]] for row in np.flatnonzero(ended)]
    return sentences_from_ids(np.concatenate(kept or [np.array([EOS], np.int32)]), EOS)


def draw_words(walker: Walker, states: States, size: int, random: np.random.Generator) -> Int32s:
    """A word for each state, by its distribution."""
    words = np.empty(len(states), np.int32)
    rows = max(1, PLACES // size)
    for first in range(0, len(states), rows):
        block = states[first : first + rows]
        wanted = Wanted(
            frozen(np.arange(len(block) + 1) * size),
            frozen(np.tile(np.arange(size, dtype=np.int32), len(block))),
        )
        out = np.zeros(len(block) * size)
        walker.add(block, wanted, np.ones(len(block)), out)
        totals = np.cumsum(out.reshape(len(block), size), axis=1)
        drawn = random.random(len(block)) * totals[:, -1]
        words[first : first + rows] = (totals <= drawn[:, None]).sum(axis=1)
    return np.minimum(words, size - 1)
