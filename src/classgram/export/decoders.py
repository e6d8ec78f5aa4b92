"""Any model inside CTC decoders, without conversion, behind the interfaces of these decoders.

Nothing of the decoders is needed to import this module.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from classgram.errors import InputError
from classgram.loading import load
from classgram.models.language_model import LOG_10, LanguageModel, State
from classgram.text.vocabulary import EOS, UNK

_USUAL_WORD_LETTERS = 6
"""Letters beyond which a partial word that no word begins with costs more, as in pyctcdecode."""


class PyctcdecodeModel:
    """A model as ``pyctcdecode.BeamSearchDecoderCTC`` takes it instead of its own language model.

    ``alpha`` weighs the model, ``beta`` rewards each word, ``unk_score_offset`` is added for unknown
    words, in log10, and ``score_boundary`` scores the sentence's end: names and defaults are
    pyctcdecode's.
    """

    def __init__(
        self,
        model: LanguageModel,
        alpha: float = 0.5,
        beta: float = 1.5,
        unk_score_offset: float = -10.0,
        score_boundary: bool = True,
    ) -> None:
        self.model = model
        self.alpha, self.beta = alpha, beta
        self.unk_score_offset, self.score_boundary = unk_score_offset, score_boundary

    @property
    def order(self) -> int:
        """The order of the model."""
        return self.model.order

    def reset_params(self, **params: float) -> None:
        """Set alpha, beta, unk_score_offset or score_boundary."""
        for name, value in params.items():
            if name not in ("alpha", "beta", "unk_score_offset", "score_boundary"):
                raise InputError(f"{name} is no parameter of a decoder's model")
            if value is not None:
                setattr(self, name, value)

    def get_start_state(self) -> State:
        """Return the state at a sentence's start."""
        return self.model.start(bos=self.score_boundary)

    @cached_property
    def _sorted_words(self) -> list[str]:
        return sorted(self.model.vocabulary.words[EOS + 1 :])

    def score_partial_token(self, partial_token: str) -> float:
        """Return the penalty of a partial word that no word begins with, 0 for others."""
        words = self._sorted_words
        first = bisect_left(words, partial_token)
        if first < len(words) and words[first].startswith(partial_token):
            return 0.0
        return self.unk_score_offset * max(1.0, len(partial_token) / _USUAL_WORD_LETTERS)

    def score(self, prev_state: State, word: str, is_last_word: bool = False) -> tuple[float, State]:
        """Return the weighted natural log-probability of a word after a state, and the next state."""
        number = _word_id(self.model, word)
        score = self.model.log_probability(prev_state, number)
        after = self.model.advance(prev_state, number)
        if number == UNK:
            score += self.unk_score_offset * LOG_10
        if is_last_word and self.score_boundary:
            # The state before the sentence's end is returned: the decoder may go on from it.
            score += self.model.log_probability(after, EOS)
        return self.alpha * score + self.beta, after

    def save_to_dir(self, filepath: str) -> None:
        """Write the model as a folder inside the decoder's folder."""
        self.model.save(Path(filepath) / "classgram")

    @classmethod
    def load_from_dir(cls, filepath: str) -> "PyctcdecodeModel":
        """Read what ``save_to_dir`` wrote."""
        return cls(load(Path(filepath) / "classgram"))


def _word_id(model: LanguageModel, word: str) -> int:
    """Return the id of a decoder's word, lowercased if the model's text was."""
    return model.vocabulary.id(word.lower() if model.vocabulary.text.lowercase else word)


class _DecoderState:
    """A node of the decoder's search, for decoders without a state type of their own."""

    def __init__(self) -> None:
        self.children: dict[int, _DecoderState] = {}

    def child(self, index: int) -> "_DecoderState":
        """Return the node one word further, the same each time."""
        return self.children.setdefault(index, _DecoderState())


class _WordSteps:
    """The interface of torchaudio's ``CTCDecoderLM``: start, score and finish."""

    model: LanguageModel
    word_ids: list[int]
    state_type: Any
    states: dict[Any, State]

    def start(self, start_with_nothing: bool) -> Any:
        """Return the state at a sentence's start, or that of the empty context."""
        first = self.state_type()
        self.states.clear()
        self.states[first] = self.model.start(bos=not start_with_nothing)
        return first

    def score(self, state: Any, usr_token_idx: int) -> tuple[Any, float]:
        """Return the state after a word of the decoder's list, and the word's natural log-probability."""
        if not 0 <= usr_token_idx < len(self.word_ids):
            raise InputError(f"the decoder's word {usr_token_idx} is not in the list given to the model")
        word = self.word_ids[usr_token_idx]
        after = state.child(usr_token_idx)
        if after not in self.states:
            self.states[after] = self.model.advance(self.states[state], word)
        return after, self.model.log_probability(self.states[state], word)

    def finish(self, state: Any) -> tuple[Any, float]:
        """Return the state after the sentence's end, and its natural log-probability."""
        after = state.child(len(self.word_ids))
        self.states.setdefault(after, self.states[state])
        return after, self.model.log_probability(self.states[state], EOS)


_DECODER_CLASSES = (
    ("torchaudio.models.decoder", "CTCDecoderLM", "CTCDecoderLMState"),
    ("flashlight.lib.text.decoder", "LM", "LMState"),
)
"""Modules and base classes that decoders require of models and states; the first installed is used."""


def decoder_types() -> tuple[type, type]:
    """Return the base classes of a decoder's model and state; plain ones if no decoder is installed."""
    for module_name, model, state in _DECODER_CLASSES:
        try:
            module = import_module(module_name)
            return getattr(module, model), getattr(module, state)
        except (ImportError, AttributeError, RuntimeError):
            continue
    return object, _DecoderState


def ctc_decoder_model(model: LanguageModel, words: Sequence[str]) -> Any:
    """Return a model as torchaudio's ``ctc_decoder`` or flashlight's decoders take it.

    ``words`` are the decoder's words by index: the lines of its ``lm_dict``, or of the lexicon.
    """
    base, state_type = decoder_types()
    made = type("CTCDecoderModel", (_WordSteps, base), {})()
    made.model, made.state_type, made.states = model, state_type, {}
    made.word_ids = [_word_id(model, word) for word in words]
    return made
