"""From a text, or its counts, to word classes, in one call."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from classgram.class_files.reading import read_start
from classgram.class_files.writing import check_class_file, is_class_file, write_class_file
from classgram.clustering.exchange import exchange
from classgram.clustering.result import Result
from classgram.clustering.search.schedule import Ending
from classgram.clustering.tree import build_tree
from classgram.options import (
    ClusterOptions,
    CountOptions,
    ReadOptions,
    RunOptions,
    SearchOptions,
    TextOptions,
    VocabularyOptions,
)
from classgram.pipelines.counting import Reading, Source, held, load_or_count
from classgram.pipelines.keywords import from_keywords
from classgram.runtime.progress import progress as progress_bar

_DONE = (Ending.CONVERGED, Ending.HEURISTIC, Ending.SWEEPS, Ending.ANNEALING)
"""Endings after which a run has nothing left to resume."""


def cluster(
    *text: Source,
    output: str | Path | None = None,
    memory: str = "2G",
    progress: bool = False,
    **options: Any,
) -> Result:
    """Find word classes, as the command ``cluster`` does, and save them if ``output`` is given.

    The text is given as for ``count``; a folder of counts, or ``NgramCounts``, will do as well.
    Options are the fields of ``ClusterOptions``, ``SearchOptions``, ``RunOptions``,
    ``VocabularyOptions``, ``TextOptions`` and ``ReadOptions``. The output is a folder, or a class file
    by its ending; a checkpoint stands beside it while the search runs.

    >>> result = cluster(["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5, classes=3)
    >>> result.partition.class_of("cat") == result.partition.class_of("dog")
    True
    """
    kinds = (ClusterOptions, SearchOptions, RunOptions, VocabularyOptions, TextOptions, ReadOptions)
    clustering, search, run, *reading = from_keywords("cluster", options, *kinds)
    counting = CountOptions(order=max(clustering.order, 2), memory=memory)
    checkpoint = None if output is None else _checkpoint_path(Path(output))
    with _held_output(output):
        start = read_start(search.start)
        counts = load_or_count(text, counting, Reading(*reading), progress, run.threads)
        with progress_bar("clustering", None, "words", not progress) as report:
            result = exchange(counts, clustering, search, run, checkpoint, report, start)
        if output is not None and is_class_file(Path(output)):
            write_class_file(
                result.partition, Path(output), lambda: build_tree(counts, result.partition).paths
            )
        elif output is not None:
            result.save(output)
        if checkpoint is not None and result.ended in _DONE:
            shutil.rmtree(checkpoint, ignore_errors=True)
    return result


def _checkpoint_path(output: Path) -> Path:
    """Return where the checkpoint of an output stands."""
    return output.with_name(output.name + ".checkpoint")


@contextmanager
def _held_output(output: str | Path | None) -> Iterator[None]:
    """Hold the output for this run, and notice before any work is done where it could not be written."""
    if output is not None and is_class_file(Path(output)):
        check_class_file(Path(output))
        # A file is locked by the name of its checkpoint, because locks are made for folders.
        output = _checkpoint_path(Path(output))
    with held(output):
        yield
