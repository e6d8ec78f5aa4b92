"""Checkpoints: everything a search needs to go on after a crash, to the same result.

The one module that knows what a checkpoint holds.
"""

from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from classgram.classes.partition import options_record
from classgram.clustering.criteria import LeavingOneOut
from classgram.clustering.problem import ClusteringProblem
from classgram.clustering.search.state import state_from_maps
from classgram.clustering.search.sweep import Best, Cursor, SearchProgress, Sweep, SweepKind
from classgram.errors import InputError
from classgram.files.atomic import write_folder
from classgram.files.folders import Folder, check_range, read_folder
from classgram.options import SearchOptions
from classgram.runtime.compiled.arrays import AnyArray, Int32Array

_NOTHING_TO_RESUME = "there is no checkpoint to resume from: the run starts at its beginning"


@dataclass(frozen=True)
class Checkpoints:
    """Where a search leaves its checkpoints, and what identifies it."""

    path: Path
    problem: ClusteringProblem
    options: SearchOptions

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What must be equal for a search to be continued, by name; short searches never ask for it."""
        fields = {**options_record(self.problem.options), **asdict(self.options)}
        return {
            "vocabulary": self.problem.counts.vocabulary.fingerprint,
            "text": self.problem.fingerprint(),
            **{f"--{name.replace('_', '-')}": value for name, value in fields.items()},
        }

    def write(self, progress: SearchProgress) -> None:
        """Replace the checkpoint in one step."""
        record = {"identity": self.identity, "search": _search_record(progress)}
        write_folder(self.path, "checkpoint", record, _search_arrays(progress))

    def restore(self, progress: SearchProgress) -> None:
        """Bring a search that has just begun to where the checkpoint left it."""
        folder = read_folder(self.path, "checkpoint")
        folder.verify()
        self._check_identity(folder)
        try:
            _restore(progress, folder)
        except (InputError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise InputError(
                f"{self.path}: damaged, or of another version; start anew without --resume"
            ) from error

    def _check_identity(self, folder: Folder) -> None:
        """Refuse the checkpoint of another search, saying what differs."""
        held = folder.require("identity")
        for name, value in self.identity.items():
            if not isinstance(held, dict) or held.get(name) != value:
                raise InputError(
                    f"{self.path}: belongs to a run with another {name.replace('_', ' ')}; "
                    "repeat that run, or start anew without --resume"
                )


def resume(progress: SearchProgress, saved: Checkpoints | None, notes: list[str]) -> list[str]:
    """Go on from the checkpoint, if there is one; return the notes on how the search begins."""
    if saved is None or not saved.path.exists():
        return [_NOTHING_TO_RESUME, *notes]
    saved.restore(progress)
    return []


def _search_record(progress: SearchProgress) -> dict[str, Any]:
    """Return what a checkpoint holds in config.json."""
    cursor = progress.cursor
    return {
        "discount": progress.state.criterion.discount,
        "history": [[s.sweep, s.moved, s.F, s.seconds, s.kind] for s in progress.history],
        "best": None if progress.best is None else progress.best.value,
        "cursor": None
        if cursor is None
        else {
            "kind": cursor.kind,
            "value": cursor.value,
            "threshold": cursor.threshold,
            "side": cursor.side,
            "position": cursor.position,
            "moved": cursor.moved,
            "seconds": cursor.seconds,
        },
    }


def _search_arrays(progress: SearchProgress) -> dict[str, AnyArray]:
    """Return what a checkpoint holds in arrays."""
    state = progress.state
    arrays: dict[str, AnyArray] = {f"map-{i}": classes for i, classes in enumerate(state.maps)}
    for i, side in enumerate(state.sides):
        arrays |= {f"{name}-{i}": values for name, values in side.arrays.memory._asdict().items()}
    for i, candidates in enumerate(progress.neighbour_lists):
        arrays |= {f"lists-{i}": candidates.lists, f"list-moves-{i}": candidates.moves}
    arrays |= {f"visited-{i}": classes for i, classes in enumerate(progress.visited_classes)}
    if progress.cursor is not None:
        arrays |= {f"elements-{i}": part for i, part in enumerate(progress.cursor.elements)}
    if progress.best is not None:
        arrays |= {f"best-{i}": classes for i, classes in enumerate(progress.best.maps)}
    return arrays


def _restore(progress: SearchProgress, folder: Folder) -> None:
    """Fill a search that has just begun from a checkpoint's folder."""
    record, sides = folder.require("search"), range(len(progress.state.sides))
    criterion = progress.state.criterion
    if isinstance(criterion, LeavingOneOut):
        criterion = LeavingOneOut(float(record["discount"]))
    numberings = progress.state.numberings
    maps = _class_maps(folder, "map", progress)
    progress.state = state_from_maps(progress.problem, criterion, maps, numberings)
    for i, side in enumerate(progress.state.sides):
        for name, values in side.arrays.memory._asdict().items():
            values[:] = folder.array(f"{name}-{i}", values.dtype, values.ndim)
    for i, candidates in enumerate(progress.neighbour_lists):
        candidates.lists[:] = folder.array(f"lists-{i}", np.int32, 3)
        candidates.moves[:] = folder.array(f"list-moves-{i}", np.int64)
    progress.history = [
        Sweep(int(sweep), int(moved), float(value), float(seconds), SweepKind(kind))
        for sweep, moved, value, seconds, kind in record["history"]
    ]
    if "visited-0" in folder.config["arrays"]:
        progress.visited_classes = tuple(_array(folder, f"visited-{i}") for i in sides)
    if record["best"] is not None:
        progress.best = Best(float(record["best"]), _class_maps(folder, "best", progress))
    if record["cursor"] is not None:
        progress.cursor = _cursor(record["cursor"], tuple(_array(folder, f"elements-{i}") for i in sides))


def _cursor(record: dict[str, Any], elements: tuple[Int32Array, ...]) -> Cursor:
    """Return the sweep that a checkpoint left open."""
    return Cursor(
        SweepKind(record["kind"]),
        elements,
        float(record["value"]),
        float(record["threshold"]),
        int(record["side"]),
        int(record["position"]),
        int(record["moved"]),
        float(record["seconds"]),
    )


def _array(folder: Folder, name: str) -> Int32Array:
    """Return a copy of an array of ids, which a search may change."""
    return np.array(folder.array(name, np.int32))


def _class_maps(folder: Folder, name: str, progress: SearchProgress) -> tuple[Int32Array, ...]:
    """Return class maps that fit the problem."""
    maps = []
    for i, (sizes, numbering) in enumerate(
        zip(progress.problem.sizes, progress.state.numberings, strict=True)
    ):
        classes = _array(folder, f"{name}-{i}")
        if classes.size != sizes.size:
            raise ValueError("classes of another problem")
        check_range(folder, f"{name}-{i}", classes, 0, numbering.total)
        maps.append(classes)
    return tuple(maps)
