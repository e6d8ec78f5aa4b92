"""What every language model can do: a few primitives, and all else derived from them."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from classgram.errors import InputError
from classgram.files.folders import Folder, write_folder
from classgram.options import ReadOptions
from classgram.text.reading import Chunk, cleaner, valid
from classgram.text.scanner import WordScanner
from classgram.text.sentences import Sentences, sentences_from_ids
from classgram.text.vocabulary import BOS, EOS, UNK, Vocabulary

Floats = npt.NDArray[np.float64]
Lengths = npt.NDArray[np.int64]
State = Hashable
"""What a model remembers of the words before; its form is the model's own matter."""

LOG_10 = float(np.log(10))


class WordScore(NamedTuple):
    """One event of a sentence, as KenLM's ``full_scores`` gives it."""

    log10_probability: float
    ngram_length: int
    unknown: bool


class ModelFiles(NamedTuple):
    """What a folder must hold for a model, its vocabulary apart."""

    config: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]


class LanguageModel(ABC):
    """A distribution over the next word, given the words before it in the sentence.

    A model gives log-probabilities of whole texts in batches, and steps word by word through
    ``start``, ``advance`` and ``distribution``. Perplexity, surprisal, generation and the methods
    known from KenLM and NLTK follow from these.
    """

    def __init_subclass__(cls) -> None:
        """Make every form of model known to the reader of saved models."""
        if "form" in cls.__dict__:
            _FORMS[cls.form] = cls

    form: ClassVar[str]
    """The name under which the model's kind of arrays is saved."""

    vocabulary: Vocabulary
    order: int
    info: dict[str, Any]
    """The recipe and options the model was made with, as config.json tells them."""
    word_counts: npt.NDArray[np.int64] | None
    """How often each word occurred in the training text, where that is known."""

    @abstractmethod
    def log_probabilities(self, sentences: Sentences, bos: bool = True) -> Floats:
        """Natural logarithms of every event's probability, in the order of the sentences' ids.

        With ``bos`` false sentences start in the empty context instead of after <s>.
        """

    def session(self) -> "LanguageModel":
        """The model as it goes through one text; one that learns from the text starts anew."""
        return self

    def unit_log_probabilities(self, sentences: Sentences, units: Lengths) -> Floats:
        """The same of lines or documents that know nothing of each other.

        ``units`` are the numbers of the sentences that begin one. A model that learns from the text
        starts anew at each of them; others forget at every sentence's end anyway.
        """
        return self.log_probabilities(sentences)

    @abstractmethod
    def start(self, bos: bool = True) -> State:
        """The state at a sentence's start, or that of the empty context."""

    @abstractmethod
    def advance(self, state: State, word: int) -> State:
        """The state after one more word."""

    def next_sentence(self, state: State) -> State:
        """The state at the start of the sentence after the one that ends in this state."""
        return self.start()

    @abstractmethod
    def distribution(self, state: State) -> Floats:
        """The probability of every word of the vocabulary; that of <s> is 0."""

    @abstractmethod
    def to_files(self, prefix: str = "") -> ModelFiles:
        """What to write for this model; array names begin with the prefix."""

    @classmethod
    @abstractmethod
    def from_files(
        cls, folder: Folder, config: Mapping[str, Any], vocabulary: Vocabulary, prefix: str = ""
    ) -> "LanguageModel":
        """Read what ``to_files`` gave, checked and memory-mapped."""

    def scores_with_lengths(self, sentences: Sentences, bos: bool = True) -> tuple[Floats, Lengths | None]:
        """Log-probabilities, and the length of the n-gram that gave each, for models made of n-grams."""
        return self.log_probabilities(sentences, bos), None

    def log_probability(self, state: State, word: int) -> float:
        """The natural logarithm of one word's probability."""
        with np.errstate(divide="ignore"):
            return float(np.log(self.distribution(state)[word]))

    def save(self, path: str | Path) -> None:
        """Write the model as a folder, whole or not at all."""
        config, arrays = self.to_files()
        text_config, texts = self.vocabulary.to_files()
        if self.word_counts is not None:
            arrays["word_counts"] = self.word_counts
        write_folder(Path(path), "model", {**config, **text_config}, arrays, texts)

    @cached_property
    def _scanner(self) -> WordScanner:
        return self.vocabulary.scanner(blank_lines=True)

    def encode(self, lines: Sequence[str]) -> Sentences:
        """Each string as a sentence of the model's vocabulary, made into words as its text was."""
        data = "".join(line.replace("\n", " ") + "\n" for line in lines)
        checked = valid(data.encode("utf-8", "surrogatepass"), "strings", (1, 0), ReadOptions())
        chunk = Chunk(cleaner(self.vocabulary.text)(checked), "strings", 1)
        return sentences_from_ids(self._scanner.feed(chunk), EOS)

    def score(
        self,
        text: str,
        context: Sequence[str] | None = None,
        *,
        bos: bool = True,
        eos: bool = True,
    ) -> float:
        """Score a sentence as KenLM does, or a word after a context as NLTK does.

        ``score("a sentence")`` is the sentence's log10-probability. ``score("word", ["some",
        "context"])`` is the word's probability after these words; <s> may be the first of them.
        """
        if context is not None:
            return float(np.exp(self._log_probability_after(text, context)))
        log_probabilities = self.log_probabilities(self.encode([text]), bos)
        return float(log_probabilities[: None if eos else -1].sum()) / LOG_10

    def logscore(self, word: str, context: Sequence[str] = ()) -> float:
        """The log2-probability of a word after a context, as in NLTK."""
        return self._log_probability_after(word, context) / float(np.log(2))

    def _log_probability_after(self, word: str, context: Sequence[str]) -> float:
        if isinstance(context, str | bool):
            raise InputError("the context is a list of words; bos and eos are keywords")
        state = self.start(bos=False)
        for before in context:
            state = self.advance(state, self.vocabulary.id(before))
        return self.log_probability(state, self.vocabulary.id(word))

    def full_scores(self, sentence: str, bos: bool = True, eos: bool = True) -> Iterator[WordScore]:
        """Each event's log10-probability, the length of its n-gram and whether it is unknown."""
        sentences = self.encode([sentence])
        scores, lengths = self.scores_with_lengths(sentences, bos)
        if lengths is None:
            lengths = np.full(sentences.tokens, self.order)
        rows = zip((scores / LOG_10).tolist(), lengths.tolist(), sentences.ids.tolist(), strict=True)
        for score, length, word in list(rows)[: None if eos else -1]:
            yield WordScore(score, length, word == UNK)

    def perplexity(self, texts: str | Iterable[str]) -> float:
        """The perplexity of a sentence or of several together, unknown words and </s> included."""
        lines = [texts] if isinstance(texts, str) else list(texts)
        if not lines:
            raise InputError("perplexity needs at least one sentence")
        return float(np.exp(-self.log_probabilities(self.encode(lines)).mean()))

    def __contains__(self, word: str) -> bool:
        return word in self.vocabulary

    def context_state(self, words: Sequence[str], bos: bool = True) -> State:
        """The state after the given words, from the sentence's start or from no context."""
        state = self.start(bos)
        for word in words:
            state = self.advance(state, self.vocabulary.id(word))
        return state


_FORMS: dict[str, type[LanguageModel]] = {}
"""Every form of model by the name it is saved under; a form is known once its module is imported."""


def component_from_files(
    folder: Folder, config: Mapping[str, Any], vocabulary: Vocabulary, prefix: str = ""
) -> LanguageModel:
    """The model that a folder, or a part of it under a prefix, holds."""
    form = config.get("form")
    if form not in _FORMS:
        raise InputError(f"{folder.path}: unknown form of model {form!r}; install a newer classgram")
    return _FORMS[form].from_files(folder, config, vocabulary, prefix)


def predicted_words(vocabulary: Vocabulary) -> npt.NDArray[np.bool_]:
    """True for every word that can be predicted: all but <s>."""
    predicted = np.ones(len(vocabulary), dtype=np.bool_)
    predicted[BOS] = False
    return predicted
