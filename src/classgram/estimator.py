"""Word classes with the interface of a scikit-learn estimator, without importing scikit-learn."""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from classgram.classes.partition import Partition
from classgram.clustering.result import Result
from classgram.errors import InputError
from classgram.options import Criterion, ReadOptions, TextOptions
from classgram.pipelines.clustering import cluster
from classgram.text.reading import Strings, text_from_strings


class WordClasses:
    """An estimator of word classes: ``WordClasses(n_classes=100).fit(texts).predict(words)``.

    After ``fit``, ``labels_`` holds the class of each word of ``words_``, ``objective_`` is F,
    ``n_iter_`` the number of sweeps and ``converged_`` whether no single word can be moved to raise F;
    ``partition_`` and ``result_`` are what ``classgram.cluster`` finds.

    >>> model = WordClasses(n_classes=2).fit(["the cat sat", "a dog ran", "the dog sat"])
    >>> model.predict(["cat", "dog"]).shape
    (2,)
    """

    def __init__(
        self,
        n_classes: int | Literal["auto"] = "auto",
        *,
        criterion: Criterion = "ml",
        start: str = "frequency",
        effort: Literal["low", "normal", "high"] = "low",
        min_count: int = 1,
        lowercase: bool = False,
        field: str = "text",
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_classes: int | Literal["auto"] = n_classes
        self.criterion: Criterion = criterion
        self.start = start
        self.effort: Literal["low", "normal", "high"] = effort
        self.min_count = min_count
        self.lowercase = lowercase
        self.field = field
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, texts: Strings, y: object = None) -> "WordClasses":
        """Learn word classes from texts, in which every line is a sentence.

        Texts are a list of strings, a column of a data frame, or a table or dataset with a column ``field``.
        """
        text = text_from_strings(texts, TextOptions(lowercase=self.lowercase), ReadOptions(self.field))
        self.result_: Result = cluster(
            text,
            classes=self.n_classes,
            criterion=self.criterion,
            start=self.start,
            seed=self.random_state,
            effort=self.effort,
            min_count=self.min_count,
            threads=self.n_jobs,
        )
        self.partition_: Partition = self.result_.partition
        self.words_: tuple[str, ...] = self.partition_.vocabulary.words
        self.labels_: npt.NDArray[np.int32] = self.partition_.words
        self.objective_ = self.result_.F
        self.converged_ = self.result_.converged
        self.n_iter_ = len(self.result_.sweeps)
        return self

    def predict(self, words: Iterable[str]) -> npt.NDArray[np.int32]:
        """Return the class of each word, that of <unk> for words not in the vocabulary."""
        if not hasattr(self, "partition_"):
            raise InputError("fit the estimator before predicting")
        return np.array([self.partition_.class_of(word) for word in words], np.int32)

    def fit_predict(self, texts: Strings, y: object = None) -> npt.NDArray[np.int32]:
        """Learn classes, and return ``labels_``: the class of each word of ``words_``."""
        return self.fit(texts).labels_

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **parameters: Any) -> "WordClasses":
        """Set parameters by name."""
        for name, value in parameters.items():
            if name not in _PARAMETERS:
                raise InputError(f"WordClasses has no parameter {name!r}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        return f"WordClasses({', '.join(f'{k}={v!r}' for k, v in self.get_params().items())})"


_PARAMETERS = (
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
