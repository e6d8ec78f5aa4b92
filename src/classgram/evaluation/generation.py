"""Sentences drawn from a model."""

from collections.abc import Iterator

import numpy as np

from classgram.errors import InputError
from classgram.models.language_model import LanguageModel
from classgram.options import GenerateOptions
from classgram.text.vocabulary import EOS, UNK


def generate(model: LanguageModel, options: GenerateOptions | None = None) -> Iterator[list[str]]:
    """Draw sentences word by word; the same seed draws the same sentences."""
    options = options or GenerateOptions()
    if options.temperature <= 0:
        raise InputError("--temperature must be above 0")
    if options.sentences < 0 or options.max_words < 1:
        raise InputError("--sentences and --max-words must be positive")
    random = np.random.default_rng(options.seed)
    prompt = model.encode([options.prompt]).ids[:-1].tolist()
    for _ in range(options.sentences):
        yield [*options.prompt.split(), *_draw_sentence(model, prompt, options, random)]


def _draw_sentence(
    model: LanguageModel, prompt: list[int], options: GenerateOptions, random: np.random.Generator
) -> Iterator[str]:
    """Draw the words after a prompt up to </s> or the longest length allowed."""
    state = model.start()
    for word in prompt:
        state = model.advance(state, word)
    for _ in range(options.max_words):
        weights = model.distribution(state)
        if not options.unknown:
            weights[UNK] = 0.0
        weights = (weights / weights.max()) ** (1 / options.temperature)
        total = np.cumsum(weights)
        word = int(np.searchsorted(total, random.random() * total[-1], side="right"))
        if word == EOS:
            return
        yield model.vocabulary.word(word)
        state = model.advance(state, word)
