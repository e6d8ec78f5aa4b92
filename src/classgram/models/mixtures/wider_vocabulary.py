"""A model over the words of another vocabulary: what it does not know shares its <unk>."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from classgram.errors import InputError
from classgram.files.folders import Folder, check_range
from classgram.models.language_model import (
    LanguageModel,
    ModelFiles,
    State,
    component_from_files,
)
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Float64Array, Int32Array, Int64Array
from classgram.text.sentences import Sentences
from classgram.text.vocabulary import UNK, Vocabulary


@dataclass(frozen=True)
class AdaptedModel(LanguageModel):
    """A model whose <unk> is shared equally by <unk> and the words that it does not know.

    ``own`` maps the words of the wider vocabulary to those of the model.
    """

    form: ClassVar[str] = "adapted"

    vocabulary: Vocabulary
    model: LanguageModel
    own: Int32Array
    info: dict[str, Any] = field(default_factory=dict)
    word_counts: Int64Array | None = None

    @property
    def order(self) -> int:  # type: ignore[override]
        """The order of the model."""
        return self.model.order

    @property
    def _shares(self) -> Float64Array:
        """What each word's probability is divided by, as a logarithm."""
        unknown = self.own == UNK
        return np.where(unknown, np.log(np.count_nonzero(unknown)), 0.0)

    def log_probabilities(self, sentences: Sentences, bos: bool = True) -> Float64Array:
        """Return natural logarithms of every event's probability."""
        own = Sentences(self.own[sentences.ids], sentences.offsets)
        return self.model.log_probabilities(own, bos) - self._shares[sentences.ids]

    def unit_log_probabilities(self, sentences: Sentences, units: Int64Array) -> Float64Array:
        """Return the same of units that know nothing of each other."""
        own = Sentences(self.own[sentences.ids], sentences.offsets)
        return self.model.unit_log_probabilities(own, units) - self._shares[sentences.ids]

    def session(self) -> "AdaptedModel":
        """Return the model as it goes through one text."""
        return replace(self, model=self.model.session())

    def start(self, bos: bool = True) -> State:
        """Return the model's state at a sentence's start."""
        return self.model.start(bos)

    def advance(self, state: State, word: int) -> State:
        """Return the model's state after one more word."""
        return self.model.advance(state, int(self.own[word]))

    def next_sentence(self, state: State) -> State:
        """Return the model's state at the start of the next sentence."""
        return self.model.next_sentence(state)

    def log_probability(self, state: State, word: int) -> float:
        """Return the natural logarithm of one word's probability."""
        return self.model.log_probability(state, int(self.own[word])) - float(self._shares[word])

    def distribution(self, state: State) -> Float64Array:
        """Return the probability of every word of the wider vocabulary."""
        return self.model.distribution(state)[self.own] * np.exp(-self._shares)

    def to_files(self, prefix: str = "") -> ModelFiles:
        """Return the model with its own vocabulary, and the map between the two."""
        config, arrays = self.model.to_files(prefix + "own/")
        letters = np.frombuffer(self.model.vocabulary.letters, np.uint8)
        arrays |= {prefix + "own_ids": self.own, prefix + "own_letters": letters}
        return ModelFiles({"form": self.form, **self.info, "model": config}, arrays)

    @classmethod
    def from_files(
        cls, folder: Folder, config: Mapping[str, Any], vocabulary: Vocabulary, prefix: str = ""
    ) -> "AdaptedModel":
        """Read the model and check that the map fits both vocabularies."""
        letters = folder.array(prefix + "own_letters", np.uint8).tobytes()
        narrow = Vocabulary(letters, vocabulary.text)
        model = component_from_files(folder, config.get("model", {}), narrow, prefix + "own/")
        own = folder.array(prefix + "own_ids", np.int32)
        check_range(folder, prefix + "own_ids", own, 0, len(narrow))
        if own.size != len(vocabulary):
            raise InputError(f"{folder.path}: own_ids.npy does not belong to this model; recreate the folder")
        return cls(vocabulary, model, own)


def one_vocabulary(models: Sequence[LanguageModel]) -> tuple[list[LanguageModel], str | None]:
    """Return the models over the words of all of them together, and a note on how they differed.

    The words of the first model come first, then those that later ones add.
    """
    first = models[0].vocabulary
    if any(model.vocabulary.text != first.text for model in models):
        raise InputError("the models' texts were tokenised differently (case, punctuation); train them alike")
    if all(model.vocabulary.words == first.words for model in models):
        return list(models), None
    words = list(dict.fromkeys(word for model in models for word in model.vocabulary.words))
    union = Vocabulary.from_words(words, first.text)
    missing = [len(union) - len(model.vocabulary) for model in models]
    note = (
        f"the vocabularies differ: of {len(union):,} words in all, the models are missing "
        f"{', '.join(f'{number:,}' for number in missing)}; words missing from a model share its <unk>"
    )
    return [_adapted(model, union) for model in models], note


def _adapted(model: LanguageModel, union: Vocabulary) -> LanguageModel:
    """Return a model over a wider vocabulary."""
    if model.vocabulary.words == union.words:
        return model
    own = np.array([model.vocabulary.id(word) for word in union.words], np.int32)
    counts = None
    if model.word_counts is not None:
        counts = np.where(np.arange(own.size) == UNK, model.word_counts[UNK], model.word_counts[own])
        counts[(own == UNK) & (np.arange(own.size) != UNK)] = 0
    return AdaptedModel(union, model, frozen(own), {}, counts)
