"""What a report is made of: classes, models and results of ``reproduce``, by name or from memory."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from classgram.class_files.reading import read_classes
from classgram.classes.class_list import ClassList
from classgram.classes.partition import Partition
from classgram.clustering.result import Result
from classgram.errors import InputError
from classgram.evaluation.perplexity import check_text_options
from classgram.files.folders import folder_kind, read_folder
from classgram.loading import load
from classgram.models.class_based.class_model import ClassModel
from classgram.models.class_based.class_ngrams import ClassNgramModel
from classgram.models.class_based.interleaved import InterleavedModel
from classgram.models.language_model import LanguageModel
from classgram.models.mixtures.mixture import MixtureModel
from classgram.models.mixtures.wider_vocabulary import AdaptedModel
from classgram.options import TextOptions
from classgram.runtime.compiled.arrays import Int32Array, Int64Array
from classgram.text.vocabulary import BOS, EOS, Vocabulary

Source = str | Path | Partition | Result | LanguageModel
"""A file or folder by its name, or what it holds."""

_HISTORY_FILE = "history.json"
_ARPA_ENDINGS = (".arpa", ".arpa.gz", ".lm", ".lm.gz")
_ADVICE = "name classes, a model or a folder of reproduce"


@dataclass(frozen=True)
class NamedClasses:
    """Classes under the name they are shown by; with the model that they come from, where it is one."""

    name: str
    partition: Partition
    """Tied classes over words alone, whatever shape they were found in."""
    model: LanguageModel | None = None


@dataclass
class Sources:
    """All that a report was given, by kind."""

    classes: list[NamedClasses] = field(default_factory=list)
    histories: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    models: list[tuple[str, LanguageModel]] = field(default_factory=list)
    experiments: list[Path] = field(default_factory=list)


def open_sources(given: Sequence[Source], text: TextOptions) -> Sources:
    """Open everything that is given, in order; names that occur twice are numbered."""
    if not given:
        raise InputError(f"a report needs something to show; {_ADVICE}")
    found = Sources()
    names: set[str] = set()
    for source in given:
        name = _unused_name(source, names)
        names.add(name)
        if isinstance(source, str | Path):
            _open_path(found, Path(source), name, text)
        else:
            _add(found, source, name, text)
    return found


def _unused_name(source: Source, names: set[str]) -> str:
    """Return the name to show something by."""
    base = "model" if isinstance(source, LanguageModel) else "classes"
    if isinstance(source, str | Path):
        base = Path(source).name or str(source)
    name, number = base, 1
    while name in names:
        number += 1
        name = f"{base} ({number})"
    return name


def open_classes(path: Path, text: TextOptions | None = None) -> NamedClasses:
    """Open the classes of a folder, a model or a class file; without any this is an error."""
    found = Sources()
    _open_path(found, path, path.name, text or TextOptions())
    if not found.classes:
        raise InputError(f"{path}: holds no word classes; name a folder of classes or a class model")
    return found.classes[0]


def _open_path(found: Sources, path: Path, name: str, text: TextOptions) -> None:
    """Open what a name stands for."""
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; {_ADVICE}")
    kind = folder_kind(path) if path.is_dir() else None
    if kind == "counts":
        raise InputError(f"{path}: holds counts alone; {_ADVICE}, and these as --counts")
    if kind == "partition":
        check_text_options(Partition.load(path).vocabulary, text)
        _add(found, Partition.load(path), name, text)
        if (history := _read_history(path)) is not None:
            found.histories.append((name, history))
    elif kind == "model" or path.name.endswith(_ARPA_ENDINGS):
        _add(found, load(path, text), name, text)
    elif path.is_dir() and list(path.glob("tables/*.json")):
        found.experiments.append(path)
    elif path.is_dir():
        raise InputError(f"{path}: holds {kind or 'nothing that a report shows'}; {_ADVICE}")
    else:
        found.classes.append(NamedClasses(name, _listed_partition(read_classes(path), text)))


def _add(found: Sources, source: Partition | Result | LanguageModel, name: str, text: TextOptions) -> None:
    """Add classes, a result with its history, or a model with its classes."""
    if isinstance(source, Result):
        found.histories.append((name, source.history()))
        source = source.partition
    check_text_options(source.vocabulary, text)
    if isinstance(source, Partition):
        found.classes.append(NamedClasses(name, _tied(source)))
        return
    found.models.append((name, source))
    classes = _class_map(source)
    if classes is not None:
        partition = _map_partition(source.vocabulary, classes, source.word_counts)
        found.classes.append(NamedClasses(name, partition, source))


def _read_history(path: Path) -> dict[str, Any] | None:
    """Return how the classes of a folder were found, where it says so."""
    folder = read_folder(path, "partition")
    if _HISTORY_FILE not in folder.config["texts"]:
        return None
    try:
        found = json.loads(folder.text(_HISTORY_FILE))
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("sweeps"), list):
        raise InputError(f"{path / _HISTORY_FILE}: damaged; make the folder again")
    return found


def _tied(partition: Partition) -> Partition:
    """Return the classes of words alone, as if contexts had the same."""
    if partition.tied:
        return partition
    own = {"maps": (partition.words,), "numbers": partition.numbers[-1:], "counts": partition.counts[-1:]}
    return replace(partition, shape="tied", order=2, contexts=None, **own)  # type: ignore[arg-type]


def _listed_partition(listed: ClassList, text: TextOptions) -> Partition:
    """Return the classes of a class file; a word without a count counts once."""
    vocabulary = Vocabulary.from_words((member.word for member in listed.members), text)
    numbers = {name: number for number, name in enumerate(listed.names)}
    members = {member.word: member for member in listed.members}
    rows = [members.get(word) for word in vocabulary.words]
    # Symbols that the file does not list have a class to themselves.
    classes = np.array([len(numbers) if row is None else numbers[row.name] for row in rows], np.int32)
    seen = [0 if row is None else 1 if row.seen is None else row.seen for row in rows]
    return _map_partition(vocabulary, classes, np.array(seen, np.int64))


def _class_map(model: LanguageModel) -> Int32Array | None:
    """Return the class of each word in a model; of a mixture, in its first component that has classes."""
    match model:
        case ClassModel():
            return model.maps.predicted
        case ClassNgramModel():
            return model.class_of
        case InterleavedModel():
            return model.symbols
        case AdaptedModel():
            own = _class_map(model.model)
            return None if own is None else own[model.own]
        case MixtureModel():
            maps = (_class_map(component) for component in model.components)
            return next((found for found in maps if found is not None), None)
    return None


def _map_partition(vocabulary: Vocabulary, classes: Int32Array, counts: Int64Array | None) -> Partition:
    """Return a map of words as a partition, its classes numbered without gaps, those of <s> and </s> last."""
    ordinary = np.ones(classes.size, np.bool_)
    ordinary[[BOS, EOS]] = False
    used, numbers = np.unique(classes[ordinary], return_inverse=True)
    words = np.empty(classes.size, np.int32)
    words[ordinary] = numbers
    words[BOS], words[EOS] = used.size, used.size + 1
    known = np.ones(classes.size, np.int64) if counts is None else np.asarray(counts)
    return Partition("tied", 2, vocabulary, (words,), (int(used.size),), (known,))
