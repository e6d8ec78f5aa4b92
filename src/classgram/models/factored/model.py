"""The factored model: a linear mixture of models over different clusterings."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from classgram.errors import InputError
from classgram.files.folders import Folder
from classgram.models.factored.clustered import ClusteredModel
from classgram.models.factored.contexts import NO_SYMBOL, Stream, make_stream
from classgram.models.factored.storage import clustered_arrays, read_clustered, read_tuning, tuning_config
from classgram.models.factored.tuning import DEFAULT_TUNING, FactoredTuning
from classgram.models.language_model import LanguageModel, ModelFiles, State
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import (
    AnyArray,
    Float64Array,
    Float64Matrix,
    Int32Array,
    Int32Matrix,
    Int64Array,
)
from classgram.runtime.threads import Threads
from classgram.text.sentences import Sentences
from classgram.text.vocabulary import BOS, EOS, Vocabulary

_FEW_EVENTS = 1000
"""Events up to which one thread scores all clusterings."""

_INFO_KEYS = ("recipe", "chosen", "notes", "held_out")


class FactoredState(NamedTuple):
    """The events before, as far as the model looks back, and what it knows of the sentence."""

    before: int
    """What stands before these events: </s> at the start of a text, or nothing known."""
    history: tuple[int, ...]
    first_word: int
    position: int


@dataclass(frozen=True)
class FactoredModel(LanguageModel):
    """A weighted sum of models over different clusterings; contexts go on across sentence ends."""

    form: ClassVar[str] = "factored"

    vocabulary: Vocabulary
    models: tuple[ClusteredModel, ...]
    weights: Float64Array
    tuning: FactoredTuning = DEFAULT_TUNING
    info: dict[str, Any] = field(default_factory=dict)
    word_counts: Int64Array | None = None

    @property
    def order(self) -> int:  # type: ignore[override]
        """One more than the words that contexts look back."""
        return self._reach + 1

    @cached_property
    def _reach(self) -> int:
        """The events that a context looks back."""
        return max((int(one[1:]) for one in self.models[0].tree.symbols if one != "f"), default=0)

    def log_probabilities(self, sentences: Sentences, bos: bool = True) -> Float64Array:
        """Return natural logarithms of every event's probability; nothing came before the first one."""
        if bos:
            return self.session().log_probabilities(sentences)
        return self._logs(make_stream(sentences.ids, sentences.offsets[:-1]), NO_SYMBOL)

    def session(self) -> "FactoredModel":
        """Return the model to score one text with: contexts go on from batch to batch."""
        return _FactoredSession(**{item.name: getattr(self, item.name) for item in fields(self)})

    def unit_log_probabilities(self, sentences: Sentences, units: Int64Array) -> Float64Array:
        """Return the same for units scored independently of each other."""
        return self._logs(make_stream(sentences.ids, sentences.offsets[units]))

    def factor_logs(self, sentences: Sentences) -> tuple[Float64Matrix, Float64Matrix]:
        """Return each clustering's log-probabilities of the classes, and of the words in them."""
        parts = [model.log_factors(make_stream(sentences.ids)) for model in self.models]
        return np.stack([part[:, 0] for part in parts], 1), np.stack([part[:, 1] for part in parts], 1)

    @property
    def adapts(self) -> bool:
        """Whether the model has caches of the text before."""
        return self.models[0].adapts

    def _logs(self, stream: Stream, before_units: int = EOS, skipped: int = 0) -> Float64Array:
        """Return the mixed log-probabilities of a stream's events, the first ones skipped."""

        def score(model: ClusteredModel) -> Float64Array:
            logs: Float64Array = model.log_factors(stream, before_units, skipped).sum(axis=1)
            return logs

        with Threads(None if stream.limits.size > _FEW_EVENTS else 1) as threads:
            parts = threads.map(score, self.models)
        return mixed_logs(np.stack(parts, axis=1), self.weights)

    def start(self, bos: bool = True) -> FactoredState:
        """Return the state at the start of a text."""
        return FactoredState(EOS if bos else NO_SYMBOL, (), EOS, 0)

    def advance(self, state: State, word: int) -> FactoredState:
        """Return the state after one more event; after </s> the next sentence begins."""
        before, history, first_word, position = _as_state(state)
        if word == BOS:
            # It says that a sentence begins: after nothing, or after a sentence's end.
            begins = history[-1:] == (EOS,) or (not history and before == EOS)
            return FactoredState(before, history, EOS, 0) if begins else self.start()
        first = word if position == 0 else first_word
        history = (*history, word)
        if len(history) > self._remembered:
            before, history = NO_SYMBOL, history[-self._remembered :]
        return FactoredState(before, history, *((EOS, 0) if word == EOS else (first, position + 1)))

    @property
    def _remembered(self) -> int:
        """The events before that matter."""
        return self.tuning.cache_events if self.adapts else self._reach

    def next_sentence(self, state: State) -> FactoredState:
        """Return the state at the start of the next sentence."""
        return self.advance(state, EOS)

    def distribution(self, state: State) -> Float64Array:
        """Return the probability of every word of the vocabulary."""
        stream, before = self._stream_after(state, EOS), _as_state(state).before
        rows = np.stack([model.distribution(stream, before) for model in self.models])
        mixed: Float64Array = self.weights @ rows
        return mixed

    def log_probability(self, state: State, word: int) -> float:
        """Return the natural logarithm of one word's probability."""
        if word == BOS:
            return -np.inf
        stream = self._stream_after(state, word)
        return float(self._logs(stream, _as_state(state).before, stream.limits.size - 1)[0])

    def _stream_after(self, state: State, word: int) -> Stream:
        """Return a word after a state as the last event of a stream; with caches, all before are events."""
        _, history, first_word, position = _as_state(state)
        ids = np.array([*history, word], np.int32)
        if not self.adapts:
            return Stream(ids, *(np.array([value], np.int32) for value in (first_word, position, 0)))
        whole = make_stream(ids)
        first_words, positions = whole.first_words.copy(), whole.positions.copy()
        first_words[-1], positions[-1] = first_word, position
        return Stream(ids, frozen(first_words), frozen(positions), whole.limits)

    def log_probabilities_after(self, contexts: Int32Matrix, words: Int32Array) -> Float64Array:
        """Return the log-probability of each word after a context of its own; caches are empty.

        A context is a row: the words before, ``NO_SYMBOL`` for none, the sentence's first word, </s> at
        its start, and the position in it.
        """
        stream, last = _context_stream(contexts, np.where(words == BOS, np.int32(EOS), words))
        parts = [model.log_factors_at(stream, last).sum(axis=1) for model in self.models]
        logs = mixed_logs(np.stack(parts, axis=1), self.weights)
        return np.where(words == BOS, -np.inf, logs)

    def distribution_after(self, context: Int32Array) -> Float64Array:
        """Return the distribution after such a context."""
        stream, last = _context_stream(context[None], np.array([EOS], np.int32))
        mixed: Float64Array = self.weights @ [model.distribution_at(stream, last) for model in self.models]
        return mixed

    def to_files(self, prefix: str = "") -> ModelFiles:
        """Return the weights, and every clustering's model under a prefix of its own."""
        arrays: dict[str, AnyArray] = {prefix + "weights": self.weights}
        for number, model in enumerate(self.models):
            arrays |= clustered_arrays(model, f"{prefix}{number}/")
        config = {
            "form": self.form,
            **self.info,
            "models": len(self.models),
            "cache": self.adapts,
            "contexts": tuning_config(self.tuning),
        }
        return ModelFiles(config, arrays)

    @classmethod
    def from_files(
        cls, folder: Folder, config: Mapping[str, Any], vocabulary: Vocabulary, prefix: str = ""
    ) -> "FactoredModel":
        """Read the models, and check that the weights belong to them."""
        number = config.get("models")
        if not isinstance(number, int) or number < 1:
            raise InputError(f"{folder.path}: config.json lists no models; make the model again")
        cache = config.get("cache") is True
        tuning = read_tuning(folder, config.get("contexts"))
        models = tuple(
            read_clustered(folder, f"{prefix}{index}/", len(vocabulary), tuning, cache)
            for index in range(number)
        )
        weights = folder.array(prefix + "weights", np.float64)
        whole = weights.size == number and np.isfinite(weights).all() and (weights >= 0).all()
        if not whole or not np.isclose(weights.sum(), 1.0):
            raise InputError(f"{folder.path}: weights.npy does not belong to this model; make it again")
        info = {key: config[key] for key in _INFO_KEYS if key in config}
        return cls(vocabulary, models, weights, tuning, info)


@dataclass
class _History:
    """The last events of a text."""

    events: Int32Array


class _FactoredSession(FactoredModel):
    """A model that scores one text batch by batch, in the contexts of the batches before."""

    @cached_property
    def _before(self) -> _History:
        return _History(np.empty(0, np.int32))

    def log_probabilities(self, sentences: Sentences, bos: bool = True) -> Float64Array:
        """Return natural logarithms of every event's probability, after those of earlier batches."""
        if not bos:
            return super().log_probabilities(sentences, bos)
        before = self._before.events
        ids = np.concatenate([before, sentences.ids])
        # Caches see whole sentences, so that the first words of them are known.
        self._before.events = ids[-self._remembered :]
        stream = make_stream(frozen(ids))
        if self.adapts:
            return self._logs(stream, skipped=before.size)
        return self._logs(stream.tail(before.size))


def _context_stream(contexts: Int32Matrix, words: Int32Array) -> tuple[Stream, slice]:
    """Return contexts, each with its word, as units of a stream, and where the words stand in it."""
    rows = np.column_stack([contexts[:, :-2], words]).astype(np.int32)
    size, width = rows.shape
    limits = np.repeat(np.arange(size, dtype=np.int32) * width, width).astype(np.int32)
    last = slice(width - 1, None, width)
    first_words, positions = np.full(rows.size, EOS, np.int32), np.zeros(rows.size, np.int32)
    first_words[last], positions[last] = contexts[:, -2], contexts[:, -1]
    return Stream(rows.ravel(), first_words, positions, limits), last


def _as_state(state: State) -> FactoredState:
    """Return a state of a factored model."""
    if not isinstance(state, FactoredState):
        raise InputError(f"{state!r} is no state of this model; take it from start or advance")
    return state


def mixed_logs(logs: Float64Matrix, weights: Float64Array) -> Float64Array:
    """Return the logarithm of weighted sums of probabilities, a row of logarithms each."""
    highest = logs.max(axis=1)
    mixed: Float64Array = highest + np.log(np.exp(logs - highest[:, None]) @ weights)
    return mixed
