"""Mixtures: several models in one, weighted by how well they predict held-out text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from classgram.errors import InputError
from classgram.files.folders import Folder
from classgram.models.language_model import (
    Floats,
    LanguageModel,
    Lengths,
    ModelFiles,
    State,
    component_from_files,
)
from classgram.models.mixtures.cache import cache_distributions, cache_probabilities
from classgram.models.mixtures.weights import bucket_weights, em_weights, weak_prior
from classgram.models.ngram.ngram_model import NgramModel
from classgram.runtime.compiled import frozen
from classgram.text.sentences import Sentences
from classgram.text.vocabulary import BOS, EOS, UNK, Vocabulary

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

_SHARES = 4
"""Into how many buckets the contexts of one length are divided."""

EVENTS_PER_BUCKET = 500
"""Held-out text with fewer events for each bucket gives one set of weights for all contexts."""


class Buckets(NamedTuple):
    """Contexts sorted by how much is known of them, according to a word n-gram model.

    A context's bucket is the length that the model knows of it, and where its back-off weight lies
    between ``edges``, a row for each length.
    """

    guide: int
    edges: Floats

    @property
    def number(self) -> int:
        """How many buckets there are."""
        return int(self.edges.shape[0] * (self.edges.shape[1] + 1))


class MixtureState(NamedTuple):
    """The components' states, and the events before, as far as a cache looks back."""

    states: tuple[State, ...]
    history: tuple[int, ...]


@dataclass(frozen=True)
class MixtureModel(LanguageModel):
    """A weighted sum of models and, with windows, of caches of the text before.

    ``weights`` has a row for each bucket of contexts and a column for each component, then for each
    cache. Where nothing came before, the caches' weights go to the others in proportion.
    """

    form: ClassVar[str] = "mixture"

    vocabulary: Vocabulary
    components: tuple[LanguageModel, ...]
    weights: Floats
    buckets: Buckets | None = None
    windows: tuple[int, ...] = ()
    info: dict[str, Any] = field(default_factory=dict)
    word_counts: Int64s | None = None

    @property
    def order(self) -> int:  # type: ignore[override]
        """The longest order among the components."""
        return max(model.order for model in self.components)

    def log_probabilities(self, sentences: Sentences, bos: bool = True) -> Floats:
        """Natural logarithms of every event's probability; a cache starts empty."""
        return self.session().log_probabilities(sentences, bos)

    def session(self) -> "MixtureModel":
        """The model as it goes through one text: with a cache, each batch continues the last."""
        parts = {item.name: getattr(self, item.name) for item in fields(self)}
        return _MixtureSession(**parts | {"components": tuple(one.session() for one in self.components)})

    def unit_log_probabilities(self, sentences: Sentences, units: Lengths) -> Floats:
        """The same of units that know nothing of each other: caches start empty in each."""
        logs, buckets = _component_logs(self.components, self.buckets, sentences, units=units)
        firsts = sentences.offsets[units]
        limits = np.repeat(firsts, np.diff(firsts, append=sentences.tokens))
        nothing = np.empty(0, np.int32)
        cached = cache_probabilities(nothing, sentences.ids, self.windows, len(self.vocabulary), limits)
        return _mixed_logs(logs, cached, self.weights[buckets])

    def start(self, bos: bool = True) -> MixtureState:
        """The state at the start of a text."""
        return MixtureState(tuple(model.start(bos) for model in self.components), ())

    def advance(self, state: State, word: int) -> MixtureState:
        """The state after one more event; after </s> the next sentence begins, the cache filled."""
        states, history = _as_mixture_state(state)
        if word == EOS:
            states = tuple(m.next_sentence(one) for m, one in zip(self.components, states, strict=True))
        else:
            states = tuple(m.advance(one, word) for m, one in zip(self.components, states, strict=True))
        longest = max(self.windows, default=0)
        if word == BOS:
            return MixtureState(states, history)
        # One event more than the windows: it is the context of the first event in them.
        return MixtureState(states, (*history, word)[-longest - 1 :] if longest else ())

    def next_sentence(self, state: State) -> MixtureState:
        """The state at the start of the next sentence, the caches filled."""
        return self.advance(state, EOS)

    def distribution(self, state: State) -> Floats:
        """The probability of every word of the vocabulary."""
        states, history = _as_mixture_state(state)
        rows = [model.distribution(one) for model, one in zip(self.components, states, strict=True)]
        cached = cache_distributions(np.array(history, np.int32), self.windows, len(self.vocabulary))
        weights = self.weights[self._bucket(states)][: len(rows) + cached.shape[0]]
        usable = np.concatenate([np.ones(len(rows), bool), cached[:, BOS] >= 0])
        return cast(Floats, weights[usable] @ np.stack([*rows, *cached])[usable] / weights[usable].sum())

    def log_probability(self, state: State, word: int) -> float:
        """The natural logarithm of one word's probability."""
        states, history = _as_mixture_state(state)
        logs = [m.log_probability(one, word) for m, one in zip(self.components, states, strict=True)]
        cached = cache_distributions(np.array(history, np.int32), self.windows, len(self.vocabulary))
        weights = self.weights[[self._bucket(states)]]
        return float(_mixed_logs(np.array([logs]), cached[:, word][None], weights)[0])

    def _bucket(self, states: Sequence[State]) -> int:
        if self.buckets is None:
            return 0
        context = cast(int, states[self.buckets.guide])
        return int(find_buckets(self._guide, self.buckets.edges, np.array([context]))[0])

    @property
    def _guide(self) -> NgramModel:
        assert self.buckets is not None
        return cast(NgramModel, self.components[self.buckets.guide])

    def to_files(self, prefix: str = "") -> ModelFiles:
        """The weights, and every component under a prefix of its own."""
        arrays: dict[str, npt.NDArray[Any]] = {prefix + "weights": self.weights}
        configs = []
        if self.buckets:
            arrays[prefix + "edges"] = self.buckets.edges
        for number, model in enumerate(self.components):
            config, part = model.to_files(f"{prefix}{number}/")
            configs.append(config)
            arrays |= part
        config = {
            "form": self.form,
            **self.info,
            "windows": list(self.windows),
            "guide": self.buckets.guide if self.buckets else None,
            "components": configs,
        }
        return ModelFiles(config, arrays)

    @classmethod
    def from_files(
        cls, folder: Folder, config: Mapping[str, Any], vocabulary: Vocabulary, prefix: str = ""
    ) -> "MixtureModel":
        """Read the components, and check that weights belong to them."""
        parts = config.get("components")
        if not isinstance(parts, list) or not parts:
            raise InputError(f"{folder.path}: config.json lists no components; make the model again")
        components = tuple(
            component_from_files(folder, part, vocabulary, f"{prefix}{number}/")
            for number, part in enumerate(parts)
        )
        windows, guide = config.get("windows", []), config.get("guide")
        if not isinstance(windows, list) or not all(isinstance(one, int) and one > 0 for one in windows):
            raise InputError(f"{folder.path}: config.json has no valid windows; make the model again")
        if guide is not None and (not isinstance(guide, int) or not 0 <= guide < len(components)):
            raise InputError(f"{folder.path}: config.json names no valid guide; make the model again")
        weights = folder.array(prefix + "weights", np.float64, 2)
        buckets = Buckets(guide, folder.array(prefix + "edges", np.float64, 2)) if guide is not None else None
        info = {
            key: config[key] for key in ("recipe", "chosen", "kept", "notes", "held_out") if key in config
        }
        model = cls(vocabulary, components, weights, buckets, tuple(windows), info)
        _check_mixture(folder, model)
        return model


class _MixtureSession(MixtureModel):
    """A mixture on its way through a text: it remembers the events that its caches need."""

    @cached_property
    def _seen(self) -> list[Int32s]:
        return [np.empty(0, np.int32)]

    def log_probabilities(self, sentences: Sentences, bos: bool = True) -> Floats:
        """Natural logarithms of every event's probability, the caches filled by earlier batches."""
        logs, buckets = _component_logs(self.components, self.buckets, sentences, bos)
        history = self._seen[0]
        cached = cache_probabilities(history, sentences.ids, self.windows, len(self.vocabulary))
        self._seen[0] = np.concatenate([history, sentences.ids])[-max(self.windows, default=0) - 1 :]
        return _mixed_logs(logs, cached, self.weights[buckets])


def _as_mixture_state(state: State) -> MixtureState:
    """A state of a mixture."""
    if not isinstance(state, MixtureState):
        raise InputError(f"{state!r} is no state of this model; take it from start or advance")
    return state


def _check_mixture(folder: Folder, model: MixtureModel) -> None:
    """Refuse weights and buckets that do not belong to the components."""
    columns = len(model.components) + 2 * len(model.windows)
    rows = model.buckets.number if model.buckets else 1
    whole = model.weights.shape == (rows, columns) and np.isfinite(model.weights).all()
    if not whole or (model.weights < 0).any() or not np.allclose(model.weights.sum(axis=1), 1.0):
        raise InputError(f"{folder.path}: weights.npy does not belong to this model; make it again")
    # Where a cache has nothing to say the models have all the weight, so that they need some.
    if not (model.weights[:, : len(model.components)].sum(axis=1) > 0).all():
        raise InputError(f"{folder.path}: weights.npy gives the models no weight; make the model again")
    if model.buckets is None:
        return
    guide = model.components[model.buckets.guide]
    if not isinstance(guide, NgramModel) or guide.order != model.buckets.edges.shape[0]:
        raise InputError(f"{folder.path}: config.json names no valid guide; make the model again")


def _component_logs(
    components: Sequence[LanguageModel],
    buckets: Buckets | None,
    sentences: Sentences,
    bos: bool = True,
    units: Lengths | None = None,
) -> tuple[Floats, Int64s]:
    """Every component's log-probabilities, a column each, and the bucket of every event."""
    logs = np.empty((sentences.tokens, len(components)))
    of_event = np.zeros(sentences.tokens, np.int64)
    for column, model in enumerate(components):
        if buckets and column == buckets.guide:
            logs[:, column], contexts = cast(NgramModel, model).scores_with_contexts(sentences, bos)
            of_event = find_buckets(cast(NgramModel, model), buckets.edges, contexts)
        elif units is None:
            logs[:, column] = model.log_probabilities(sentences, bos)
        else:
            logs[:, column] = model.unit_log_probabilities(sentences, units)
    return logs, of_event


def _mixed_logs(logs: Floats, cached: Floats, weights: Floats) -> Floats:
    """The logarithm of weighted rows: models' log-probabilities, then caches' probabilities.

    A cache of -1 gives its weight to the others. Exact also where probabilities are too small for
    numbers.
    """
    usable = cached >= 0
    if not usable.all():
        weights = weights.copy()
        weights[:, logs.shape[1] :] *= usable
        weights /= weights.sum(axis=1, keepdims=True)
    highest = logs.max(axis=1)
    mixed = np.einsum("ij,ij->i", np.exp(logs - highest[:, None]), weights[:, : logs.shape[1]])
    if cached.shape[1]:
        from_caches = np.einsum("ij,ij->i", np.maximum(cached, 0.0), weights[:, logs.shape[1] :])
        mixed = mixed + from_caches * np.exp(np.minimum(-highest, 700.0))
    return cast(Floats, highest + np.log(np.maximum(mixed, np.finfo(float).tiny)))


def find_buckets(guide: NgramModel, edges: Floats, contexts: Int64s) -> Int64s:
    """The bucket of each context of the guide."""
    lengths, backoffs = guide.trie.knowledge(contexts)
    shares = (backoffs[:, None] > edges[lengths]).sum(axis=1)
    return cast(Int64s, lengths * (edges.shape[1] + 1) + shares)


class Trial(NamedTuple):
    """Models, and held-out sentences that none of them was trained on."""

    components: Sequence[LanguageModel]
    sentences: Sentences
    count_unknown: bool = True
    """Whether unknown words count, which models of a text without any know nothing of."""


def _make_buckets(trial: Trial) -> Buckets | None:
    """Buckets of about equally many held-out events for each context length, if there are enough."""
    components, sentences = trial.components, trial.sentences
    guides = [number for number, model in enumerate(components) if isinstance(model, NgramModel)]
    if not guides or len(components) == 1:
        return None
    guide = cast(NgramModel, components[guides[0]])
    if sentences.tokens < EVENTS_PER_BUCKET * guide.order * _SHARES:
        return None
    lengths, backoffs = guide.trie.knowledge(guide.scores_with_contexts(sentences)[1])
    edges = np.zeros((guide.order, _SHARES - 1))
    for length in range(guide.order):
        if (lengths == length).any():
            edges[length] = np.quantile(backoffs[lengths == length], np.arange(1, _SHARES) / _SHARES)
    return Buckets(guides[0], frozen(edges))


def mix_models(
    components: Sequence[LanguageModel],
    sentences: Sentences,
    windows: Sequence[int] = (),
    by_context: bool = True,
) -> MixtureModel:
    """Mix models of one vocabulary with the weights that held-out sentences ask for."""
    return mix_by_trials([Trial(components, sentences)], windows, by_context)


def mix_by_trials(
    trials: Sequence[Trial], windows: Sequence[int] = (), by_context: bool = True
) -> MixtureModel:
    """Mix the models of the first trial with the weights that all trials together ask for."""
    for trial in trials:
        _check_trial(trial)
    components = trials[0].components
    vocabulary = components[0].vocabulary
    # The edges of buckets are those of one guide, so that several trials have none.
    buckets = _make_buckets(trials[0]) if by_context and len(trials) == 1 else None
    found = [trial_probabilities(trial, windows, buckets) for trial in trials]
    probabilities, of_event = (np.concatenate(parts) for parts in zip(*found, strict=True))
    if buckets:
        weights = bucket_weights(probabilities, of_event, buckets.number)
    else:
        weights = em_weights(probabilities, *weak_prior(probabilities.shape[1]))[None]
    held_out = {
        "sentences": sum(len(trial.sentences) for trial in trials),
        "events": sum(trial.sentences.tokens for trial in trials),
    }
    return MixtureModel(
        vocabulary,
        tuple(components),
        frozen(weights),
        buckets,
        tuple(windows),
        {"recipe": "mixture", "held_out": held_out},
        components[0].word_counts,
    )


def _check_trial(trial: Trial) -> None:
    """Refuse models that cannot be mixed, and held-out text that tells nothing."""
    components, sentences = trial.components, trial.sentences
    if not components:
        raise InputError("a mixture needs at least one model")
    vocabulary = components[0].vocabulary
    if any(model.vocabulary.words != vocabulary.words for model in components):
        raise InputError("the models' vocabularies differ; bring them to one vocabulary first")
    if sentences.tokens == 0:
        raise InputError("the held-out text holds no sentence to find weights on")
    if not (sentences.ids > EOS).any():
        raise InputError("the held-out text holds no word that the models know; give another text")


def trial_probabilities(
    trial: Trial, windows: Sequence[int] = (), buckets: Buckets | None = None
) -> tuple[Floats, Int64s]:
    """The probability of every held-out event that counts by every model and cache, and its bucket."""
    components, sentences = trial.components, trial.sentences
    logs, of_event = _component_logs(components, buckets, sentences)
    size = len(components[0].vocabulary)
    cached = cache_probabilities(np.empty(0, np.int32), sentences.ids, windows, size)
    counted = (sentences.ids != UNK) | trial.count_unknown
    probabilities = np.concatenate([np.exp(logs), np.maximum(cached, 0.0)], axis=1)
    return probabilities[counted], of_event[counted]
