"""Classes of any origin compared on one text, by the same rules for all of them.

<s> and </s> have classes of their own, whatever a file says, and the words of the text that a file
does not list form one more class, which counts as a class.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from classgram.class_files.reading import load_partition, read_classes
from classgram.classes.class_list import ClassList, fitted_partition, partition_list
from classgram.classes.partition import Partition
from classgram.clustering.class_pairs import count_pairs, pair_value, side_totals
from classgram.clustering.criteria import LeavingOneOut, MaximumLikelihood
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.evaluation.perplexity import Evaluation, evaluate_sentences
from classgram.files.folders import folder_kind
from classgram.models.training import train_class_model
from classgram.options import ClassFormat, ModelOptions
from classgram.runtime.html_tables import facts_table
from classgram.text.sentences import Sentences

MISSING_RULE = "words of the text that a file does not list are one more class"


@dataclass(frozen=True)
class Judgement:
    """F and perplexity of one set of classes on a text."""

    name: str
    format: str
    classes: int
    """Classes that words of the text have, that of missing words among them; not <s> and </s>."""
    words: int
    """Different words of the text."""
    missing_words: int
    """Those of them that have no class in the file."""
    missing_tokens: int
    """How often these occur."""
    ml: float
    loo: float
    """F by maximum likelihood, and by leaving-one-out (b = 0.75)."""
    single: int
    """Classes that occur once: leaving-one-out has no value for them, and they add nothing to it."""
    held_out: Evaluation | None = None
    """The class bigram model on held-out text."""

    def as_dict(self) -> dict[str, Any]:
        """The fields that ``judge --json`` prints."""
        held_out = {} if self.held_out is None else {"test": self.held_out.as_dict()}
        return {
            "file": self.name,
            "format": self.format,
            "classes": self.classes,
            "words": self.words,
            "missing_words": self.missing_words,
            "missing_tokens": self.missing_tokens,
            "F_ml": self.ml,
            "F_loo": self.loo,
            "classes_seen_once": self.single,
            **held_out,
        }

    def _repr_html_(self) -> str:
        """The fields as a table, as notebooks show them."""
        return facts_table(self.name, self.as_dict())


def classes_order(paths: Iterable[Path]) -> int:
    """Return the order of counts that judging needs: 2, or that of a folder of joint contexts."""
    folders = (path for path in paths if folder_kind(path) == "partition")
    return max([2, *(load_partition(path).order for path in folders)])


def judge_classes(
    path: str | Path,
    counts: NgramCounts,
    test: Sentences | None = None,
    form: ClassFormat | None = None,
) -> Judgement:
    """Judge the classes of a file or folder on the counts of a text, and on held-out sentences."""
    partition, listed = _judged_partition(Path(path), counts, form)
    unigrams = counts.levels[0].counts
    known = {member.word for member in listed.members}
    seen = [i for i, word in enumerate(counts.vocabulary.words) if i > 2 or (i == 0 and unigrams[0])]
    missing = [i for i in seen if counts.vocabulary.words[i] not in known]
    pairs = count_pairs(partition, counts)
    return Judgement(
        listed.source,
        listed.format,
        int(np.unique(partition.words[seen]).size),
        len(seen),
        len(missing),
        int(unigrams[missing].sum()),
        pair_value(pairs, MaximumLikelihood()),
        pair_value(pairs, LeavingOneOut()),
        sum(int((totals == 1).sum()) for totals in side_totals(pairs)),
        None if test is None else _held_out_evaluation(partition, counts, test),
    )


def _judged_partition(
    path: Path, counts: NgramCounts, form: ClassFormat | None
) -> tuple[Partition, ClassList]:
    """Return the classes over the words of the text, and what the file itself lists."""
    if not path.is_dir():
        listed = read_classes(path, form)
        return fitted_partition(listed, counts), listed
    partition = load_partition(path)
    listed = partition_list(partition, str(path))
    if partition.vocabulary.text != counts.vocabulary.text:
        raise InputError(
            f"{path}: its text was read with {partition.vocabulary.text}, this one with "
            f"{counts.vocabulary.text}; give the same options"
        )
    if partition.tied:
        return fitted_partition(listed, counts), listed
    if partition.vocabulary.words != counts.vocabulary.words:
        raise InputError(f"{path}: {partition.shape} classes are judged on the text they were made from")
    return partition, listed


def _held_out_evaluation(partition: Partition, counts: NgramCounts, test: Sentences) -> Evaluation:
    """Evaluate the interpolated class model, of the order of the classes, on held-out sentences."""
    options = ModelOptions("class", order=partition.order, smoothing="interpolated")
    return evaluate_sentences(train_class_model(counts, partition, options), test)[0]
