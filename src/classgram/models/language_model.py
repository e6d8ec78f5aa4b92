"""What every language model can do: a few primitives, and all else derived from them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from classgram.errors import InputError
from classgram.files.atomic import write_folder
from classgram.files.folders import Folder
from classgram.options import ReadOptions
from classgram.runtime.compiled.arrays import AnyArray, BoolArray, Float64Array, Int64Array
from classgram.runtime.html_tables import facts_table
from classgram.text.cleaning import cleaner
from classgram.text.reading import Chunk, valid
from classgram.text.scanner import WordScanner
from classgram.text.sentences import Sentences, sentences_from_ids
from classgram.text.vocabulary import BOS, EOS, UNK, Vocabulary

State = Hashable
"""What a model remembers of the words before; only the model itself knows what is in it."""

Note = Callable[[str], None]
"""Takes a line about how a model was made."""

LOG_10 = float(np.log(10))


def silent(text: str) -> None:
    """Ignore a note."""


class WordScore(NamedTuple):
    """One event of a sentence, as KenLM's ``full_scores`` gives it."""

    log10_probability: float
    ngram_length: int
    unknown: bool


class ModelFiles(NamedTuple):
    """What a folder must hold for a model, its vocabulary apart."""

    config: dict[str, Any]
    arrays: dict[str, AnyArray]


class LanguageModel(ABC):
    """A distribution over the next word, given the words before it in the sentence.

    A model gives log-probabilities of whole texts in batches, and steps word by word through
    ``start``, ``advance`` and ``distribution``. Perplexity, surprisal, generation and the methods
    known from KenLM and NLTK follow from these.
    """

    form: ClassVar[str]
    """The name under which a class of models is saved, and by which ``load`` finds it."""

    vocabulary: Vocabulary
    order: int
    info: dict[str, Any]
    """The recipe and options that the model was made with, as in config.json."""
    word_counts: Int64Array | None
    """How often each word occurred in the training text; None if unknown."""

    @abstractmethod
    def log_probabilities(self, sentences: Sentences, bos: bool = True) -> Float64Array:
        """Return natural logarithms of every event's probability, in the order of the sentences' ids.

        With ``bos`` false sentences start in the empty context instead of after <s>.
        """

    def session(self) -> "LanguageModel":
        """Return the model to score one text with, batch by batch; one with a cache starts with it empty."""
        return self

    def unit_log_probabilities(self, sentences: Sentences, units: Int64Array) -> Float64Array:
        """Return the same for lines or documents that are scored independently of each other.

        ``units`` are the indices of the sentences that begin one. A cache is emptied at each of them;
        models without one forget everything at the end of a sentence anyway.
        """
        return self.log_probabilities(sentences)

    @abstractmethod
    def start(self, bos: bool = True) -> State:
        """Return the state at a sentence's start, or that of the empty context."""

    @abstractmethod
    def advance(self, state: State, word: int) -> State:
        """Return the state after one more word."""

    def next_sentence(self, state: State) -> State:
        """Return the state at the start of the sentence after the one that ends in this state."""
        return self.start()

    @abstractmethod
    def distribution(self, state: State) -> Float64Array:
        """Return the probability of every word of the vocabulary; that of <s> is 0."""

    @abstractmethod
    def to_files(self, prefix: str = "") -> ModelFiles:
        """Return what to write for this model; array names begin with the prefix."""

    @classmethod
    @abstractmethod
    def from_files(
        cls, folder: Folder, config: Mapping[str, Any], vocabulary: Vocabulary, prefix: str = ""
    ) -> "LanguageModel":
        """Read what ``to_files`` gave, checked and memory-mapped."""

    def scores_with_lengths(
        self, sentences: Sentences, bos: bool = True
    ) -> tuple[Float64Array, Int64Array | None]:
        """Return log-probabilities, and the n-gram length behind each; None if the model has no n-grams."""
        return self.log_probabilities(sentences, bos), None

    def log_probability(self, state: State, word: int) -> float:
        """Return the natural logarithm of one word's probability."""
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
        """Return each string as a sentence of ids, tokenised as the model's training text was."""
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
        """Return the log2-probability of a word after a context, as in NLTK."""
        return self._log_probability_after(word, context) / float(np.log(2))

    def _log_probability_after(self, word: str, context: Sequence[str]) -> float:
        if isinstance(context, str | bool):
            raise InputError("the context is a list of words; bos and eos are keywords")
        state = self.start(bos=False)
        for before in context:
            state = self.advance(state, self.vocabulary.id(before))
        return self.log_probability(state, self.vocabulary.id(word))

    def full_scores(self, sentence: str, bos: bool = True, eos: bool = True) -> Iterator[WordScore]:
        """Return each event's log10-probability, the length of its n-gram and whether it is unknown."""
        sentences = self.encode([sentence])
        scores, lengths = self.scores_with_lengths(sentences, bos)
        if lengths is None:
            lengths = np.full(sentences.tokens, self.order)
        rows = zip((scores / LOG_10).tolist(), lengths.tolist(), sentences.ids.tolist(), strict=True)
        for score, length, word in list(rows)[: None if eos else -1]:
            yield WordScore(score, length, word == UNK)

    def perplexity(self, texts: str | Iterable[str]) -> float:
        """Return the perplexity of a sentence or of several together, unknown words and </s> included."""
        lines = [texts] if isinstance(texts, str) else list(texts)
        if not lines:
            raise InputError("perplexity needs at least one sentence")
        return float(np.exp(-self.log_probabilities(self.encode(lines)).mean()))

    def __contains__(self, word: str) -> bool:
        return word in self.vocabulary

    def facts(self) -> dict[str, Any]:
        """Return what kind of model this is: its recipe, order, number of words and of classes."""
        known = {"recipe": self.info.get("recipe", self.form), "order": self.order}
        classes = {"classes": self.info["classes"]} if "classes" in self.info else {}
        return {**known, "vocabulary": len(self.vocabulary), **classes}

    def _repr_html_(self) -> str:
        """Return the facts as a table, as notebooks show them."""
        return facts_table("Language model", self.facts())


_CLASSES: dict[str, type[LanguageModel]] = {}
"""The classes of models that can be read, by the name they are saved under."""


def register(*classes: type[LanguageModel]) -> None:
    """Make classes of models known to the reader of saved models."""
    _CLASSES.update({one.form: one for one in classes})


def component_from_files(
    folder: Folder, config: Mapping[str, Any], vocabulary: Vocabulary, prefix: str = ""
) -> LanguageModel:
    """Return the model that a folder holds, or the part of its arrays under a prefix."""
    form = config.get("form")
    if form not in _CLASSES:
        raise InputError(f"{folder.path}: unknown form of model {form!r}; install a newer classgram")
    return _CLASSES[form].from_files(folder, config, vocabulary, prefix)


def predicted_words(vocabulary: Vocabulary) -> BoolArray:
    """Return a mask of the words that can be predicted: all but <s>."""
    predicted = np.ones(len(vocabulary), dtype=np.bool_)
    predicted[BOS] = False
    return predicted
