"""Mixtures: a weighted sum of models, with weights that maximise the likelihood of held-out text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from classgram.errors import InputError
from classgram.files.folders import Folder
from classgram.models.language_model import (
    LanguageModel,
    ModelFiles,
    State,
    component_from_files,
)
from classgram.models.mixtures.cache import cache_distributions, cache_probabilities
from classgram.models.mixtures.tuning import DEFAULT_TUNING, RecipeTuning
from classgram.models.mixtures.weights import bucket_weights, em_weights, weak_prior
from classgram.models.ngram.ngram_model import NgramModel
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import AnyArray, Float64Array, Float64Matrix, Int32Array, Int64Array
from classgram.text.sentences import Sentences
from classgram.text.vocabulary import BOS, EOS, UNK, Vocabulary


class Buckets(NamedTuple):
    """Contexts grouped by how much a word n-gram model, the guide, knows of them.

    A context's bucket is given by how many of its words the guide knows, and by where its back-off
    weight lies between ``edges``, a row for each length.
    """

    guide: int
    """The index of a component."""
    edges: Float64Matrix

    @property
    def number(self) -> int:
        """The number of buckets."""
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
    weights: Float64Matrix
    buckets: Buckets | None = None
    windows: tuple[int, ...] = ()
    info: dict[str, Any] = field(default_factory=dict)
    word_counts: Int64Array | None = None

    @property
    def order(self) -> int:  # type: ignore[override]
        """The longest order among the components."""
        return max(model.order for model in self.components)

    def log_probabilities(self, sentences: Sentences, bos: bool = True) -> Float64Array:
        """Return natural logarithms of every event's probability; a cache starts empty."""
        return self.session().log_probabilities(sentences, bos)

    def session(self) -> "MixtureModel":
        """Return the model to score one text with: its caches go on from batch to batch."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return _MixtureSession(**values | {"components": tuple(one.session() for one in self.components)})

    def unit_log_probabilities(self, sentences: Sentences, units: Int64Array) -> Float64Array:
        """Return the same for units scored independently: caches start empty in each."""
        logs, buckets = _component_logs(self.components, self.buckets, sentences, units=units)
        firsts = sentences.offsets[units]
        limits = np.repeat(firsts, np.diff(firsts, append=sentences.tokens))
        nothing = np.empty(0, np.int32)
        cached = cache_probabilities(nothing, sentences.ids, self.windows, len(self.vocabulary), limits)
        return _mixed_logs(logs, cached, self.weights[buckets])

    def start(self, bos: bool = True) -> MixtureState:
        """Return the state at the start of a text."""
        return MixtureState(tuple(model.start(bos) for model in self.components), ())

    def advance(self, state: State, word: int) -> MixtureState:
        """Return the state after one more event; after </s> the next sentence begins, the cache filled."""
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
        """Return the state at the start of the next sentence, the caches filled."""
        return self.advance(state, EOS)

    def distribution(self, state: State) -> Float64Array:
        """Return the probability of every word of the vocabulary."""
        states, history = _as_mixture_state(state)
        rows = [model.distribution(one) for model, one in zip(self.components, states, strict=True)]
        cached = cache_distributions(np.array(history, np.int32), self.windows, len(self.vocabulary))
        weights = self.weights[self._bucket(states)][: len(rows) + cached.shape[0]]
        usable = np.concatenate([np.ones(len(rows), bool), cached[:, BOS] >= 0])
        return cast(
            Float64Array, weights[usable] @ np.stack([*rows, *cached])[usable] / weights[usable].sum()
        )

    def log_probability(self, state: State, word: int) -> float:
        """Return the natural logarithm of one word's probability."""
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
        """Return the weights, and every component under a prefix of its own."""
        arrays: dict[str, AnyArray] = {prefix + "weights": self.weights}
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


@dataclass
class _History:
    """The last events of a text, as many as the caches need."""

    events: Int32Array


class _MixtureSession(MixtureModel):
    """A mixture that scores one text batch by batch, with caches of the batches before."""

    @cached_property
    def _history(self) -> _History:
        return _History(np.empty(0, np.int32))

    def log_probabilities(self, sentences: Sentences, bos: bool = True) -> Float64Array:
        """Return natural logarithms of every event's probability, the caches filled by earlier batches."""
        logs, buckets = _component_logs(self.components, self.buckets, sentences, bos)
        history = self._history.events
        cached = cache_probabilities(history, sentences.ids, self.windows, len(self.vocabulary))
        self._history.events = np.concatenate([history, sentences.ids])[-max(self.windows, default=0) - 1 :]
        return _mixed_logs(logs, cached, self.weights[buckets])


def _as_mixture_state(state: State) -> MixtureState:
    """Return a state of a mixture."""
    if not isinstance(state, MixtureState):
        raise InputError(f"{state!r} is no state of this model; take it from start or advance")
    return state


def _check_mixture(folder: Folder, model: MixtureModel) -> None:
    """Refuse weights and buckets that do not belong to the components."""
    columns = len(model.components) + 2 * len(model.windows)
    rows = model.buckets.number if model.buckets else 1
    whole = model.weights.shape == (rows, columns) and np.isfinite(model.weights).all()
    if not whole or (model.weights < 0).any() or not np.allclose(model.weights.sum(axis=1), 1.0):
        raise InputError(f"{folder.path}: weights.npy does not belong to this model; recreate the folder")
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
    units: Int64Array | None = None,
) -> tuple[Float64Matrix, Int64Array]:
    """Return every component's log-probabilities, a column each, and the bucket of every event."""
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


def _mixed_logs(logs: Float64Matrix, cached: Float64Matrix, weights: Float64Matrix) -> Float64Array:
    """Return the logarithm of weighted rows: models' log-probabilities, then caches' probabilities.

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
    return cast(Float64Array, highest + np.log(np.maximum(mixed, np.finfo(float).tiny)))


def find_buckets(guide: NgramModel, edges: Float64Matrix, contexts: Int64Array) -> Int64Array:
    """Return the bucket of each context of the guide."""
    lengths, backoffs = guide.trie.knowledge(contexts)
    shares = (backoffs[:, None] > edges[lengths]).sum(axis=1)
    return cast(Int64Array, lengths * (edges.shape[1] + 1) + shares)


class Trial(NamedTuple):
    """Models, and held-out sentences that none of them was trained on."""

    components: tuple[LanguageModel, ...]
    sentences: Sentences
    count_unknown: bool = True
    """Whether unknown words count; models of a text without any know nothing of them."""


def _make_buckets(trial: Trial, tuning: RecipeTuning) -> Buckets | None:
    """Return buckets of about equally many held-out events for each context length, if there are enough."""
    components, sentences = trial.components, trial.sentences
    guides = [number for number, model in enumerate(components) if isinstance(model, NgramModel)]
    if not guides or len(components) == 1:
        return None
    guide = cast(NgramModel, components[guides[0]])
    quantiles = tuning.bucket_quantiles
    if sentences.tokens < tuning.events_per_bucket * guide.order * quantiles:
        return None
    lengths, backoffs = guide.trie.knowledge(guide.scores_with_contexts(sentences)[1])
    edges = np.zeros((guide.order, quantiles - 1))
    for length in range(guide.order):
        if (lengths == length).any():
            edges[length] = np.quantile(backoffs[lengths == length], np.arange(1, quantiles) / quantiles)
    return Buckets(guides[0], frozen(edges))


def mix_models(
    components: Sequence[LanguageModel],
    sentences: Sentences,
    windows: Sequence[int] = (),
    by_context: bool = True,
    tuning: RecipeTuning = DEFAULT_TUNING,
) -> MixtureModel:
    """Mix models of one vocabulary with the weights that are best for held-out sentences."""
    return mix_by_trials([Trial(tuple(components), sentences)], windows, by_context, tuning)


def mix_by_trials(
    trials: Sequence[Trial],
    windows: Sequence[int] = (),
    by_context: bool = True,
    tuning: RecipeTuning = DEFAULT_TUNING,
) -> MixtureModel:
    """Mix the models of the first trial with the weights that are best for all trials together."""
    for trial in trials:
        _check_trial(trial)
    components = trials[0].components
    vocabulary = components[0].vocabulary
    # The edges of buckets are those of one guide, so that several trials have none.
    buckets = _make_buckets(trials[0], tuning) if by_context and len(trials) == 1 else None
    found = [trial_probabilities(trial, windows, buckets) for trial in trials]
    probabilities, of_event = (np.concatenate(parts) for parts in zip(*found, strict=True))
    if buckets:
        weights = bucket_weights(probabilities, of_event, buckets.number, tuning)
    else:
        weights = em_weights(probabilities, weak_prior(probabilities.shape[1], tuning), tuning)[None]
    held_out = {
        "sentences": sum(len(trial.sentences) for trial in trials),
        "events": sum(trial.sentences.tokens for trial in trials),
    }
    return MixtureModel(
        vocabulary,
        components,
        frozen(weights),
        buckets,
        tuple(windows),
        {"recipe": "mixture", "held_out": held_out},
        components[0].word_counts,
    )


def _check_trial(trial: Trial) -> None:
    """Refuse models that cannot be mixed, and held-out text that cannot give weights."""
    components, sentences = trial.components, trial.sentences
    if not components:
        raise InputError("a mixture needs at least one model")
    vocabulary = components[0].vocabulary
    if any(model.vocabulary.words != vocabulary.words for model in components):
        raise InputError("the models' vocabularies differ; bring them to one vocabulary first")
    if sentences.tokens == 0:
        raise InputError("the held-out text contains no sentence to estimate weights on")
    if not (sentences.ids > EOS).any():
        raise InputError("the held-out text contains no word that the models know; give another text")


def trial_probabilities(
    trial: Trial, windows: Sequence[int] = (), buckets: Buckets | None = None
) -> tuple[Float64Matrix, Int64Array]:
    """Return the probability of every held-out event that counts by every model and cache, and its bucket."""
    components, sentences = trial.components, trial.sentences
    logs, of_event = _component_logs(components, buckets, sentences)
    size = len(components[0].vocabulary)
    cached = cache_probabilities(np.empty(0, np.int32), sentences.ids, windows, size)
    counted = (sentences.ids != UNK) | trial.count_unknown
    probabilities = np.concatenate([np.exp(logs), np.maximum(cached, 0.0)], axis=1)
    return probabilities[counted], of_event[counted]
