"""Word classes in scikit-learn's manner, without depending on it."""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from classgram.class_files.reading import read_start
from classgram.classes.partition import Partition
from classgram.clustering.exchange import exchange
from classgram.clustering.result import Result
from classgram.counts.counting import count_ngrams
from classgram.errors import InputError
from classgram.options import (
    ClusterOptions,
    CountOptions,
    ReadOptions,
    RunOptions,
    SearchOptions,
    TextOptions,
    VocabularyOptions,
)
from classgram.text.reading import Strings, text_from_strings


class WordClasses:
    """An estimator of word classes: ``WordClasses(n_classes=100).fit(texts).predict(words)``.

    After ``fit``, ``labels_`` holds the class of every word of ``words_``; ``partition_``,
    ``objective_`` (F), ``converged_`` and ``n_iter_`` (sweeps) say more.

    >>> model = WordClasses(n_classes=2).fit(["the cat sat", "a dog ran", "the dog sat"])
    >>> model.predict(["cat", "dog"]).shape
    (2,)
    """

    def __init__(
        self,
        n_classes: int | Literal["auto"] = "auto",
        *,
        criterion: Literal["ml", "loo"] = "ml",
        start: str = "frequency",
        effort: Literal["low", "normal", "high"] = "low",
        min_count: int = 1,
        lowercase: bool = False,
        field: str = "text",
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_classes: int | Literal["auto"] = n_classes
        self.criterion: Literal["ml", "loo"] = criterion
        self.start = start
        self.effort: Literal["low", "normal", "high"] = effort
        self.min_count = min_count
        self.lowercase = lowercase
        self.field = field
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, texts: Strings, y: object = None) -> "WordClasses":
        """Find the classes of the words of some texts, one sentence a line.

        Texts are strings, a column of a data frame, or a table or dataset whose column is ``field``.
        """
        counts = count_ngrams(
            text_from_strings(texts, TextOptions(lowercase=self.lowercase), ReadOptions(self.field)),
            CountOptions(2),
            VocabularyOptions(min_count=self.min_count),
        )
        self.result_: Result = exchange(
            counts,
            ClusterOptions(classes=self.n_classes, criterion=self.criterion),
            SearchOptions(start=self.start, seed=self.random_state, effort=self.effort),
            RunOptions(threads=self.n_jobs),
            start=read_start(self.start),
        )
        self.partition_: Partition = self.result_.partition
        self.words_: tuple[str, ...] = counts.vocabulary.words
        self.labels_: npt.NDArray[np.int32] = self.partition_.words
        self.objective_ = self.result_.F
        self.converged_ = self.result_.converged
        self.n_iter_ = len(self.result_.sweeps)
        return self

    def predict(self, words: Iterable[str]) -> npt.NDArray[np.int32]:
        """Give the class of each word, that of <unk> for words that were not seen."""
        if not hasattr(self, "partition_"):
            raise InputError("fit the estimator before predicting")
        return np.array([self.partition_.class_of(word) for word in words], np.int32)

    def fit_predict(self, texts: Strings, y: object = None) -> npt.NDArray[np.int32]:
        """Find classes and give the class of every word of the vocabulary."""
        return self.fit(texts).labels_

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Give the parameters by name."""
        return {name: getattr(self, name) for name in PARAMETERS}

    def set_params(self, **parameters: Any) -> "WordClasses":
        """Set parameters by name."""
        for name, value in parameters.items():
            if name not in PARAMETERS:
                raise InputError(f"WordClasses has no parameter {name!r}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        return f"WordClasses({', '.join(f'{k}={v!r}' for k, v in self.get_params().items())})"


PARAMETERS = (
    "n_classes",
    "criterion",
    "start",
    "effort",
    "min_count",
    "lowercase",
    "field",
    "random_state",
    "n_jobs",
)
