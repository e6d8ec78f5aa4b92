"""Checkpoints: everything a search needs to go on after a crash, to the same result."""

import shutil
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from classgram.classes.partition import options_record
from classgram.clustering.problem import Task
from classgram.clustering.search.state import Numbering, State
from classgram.errors import InputError
from classgram.files.folders import check_range, read_folder, write_folder
from classgram.options import SearchOptions

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Checkpoints:
    """Where a search leaves its checkpoints, and what identifies it."""

    path: Path
    task: Task
    options: SearchOptions

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What must be equal for a search to be continued, by name; short searches never ask for it."""
        return search_identity(self.task, self.options)

    def write(self, cursor: dict[str, Any], arrays: Arrays) -> None:
        """Replace the checkpoint in one step."""
        write_folder(self.path, "checkpoint", {"identity": self.identity, "cursor": cursor}, arrays)

    def read(self) -> tuple[dict[str, Any], Arrays]:
        """Read the checkpoint of the same search; any other is refused, saying what differs."""
        folder = read_folder(self.path, "checkpoint")
        folder.verify()
        held = folder.require("identity")
        for name, value in self.identity.items():
            if not isinstance(held, dict) or held.get(name) != value:
                raise InputError(
                    f"{self.path}: belongs to a run with another {name.replace('_', ' ')}; "
                    "repeat that run, or start anew without --resume"
                )
        listed = folder.config["arrays"]
        arrays = {
            name: np.array(folder.array(name, entry["dtype"], len(entry["shape"])))
            for name, entry in listed.items()
        }
        return dict(folder.require("cursor")), arrays

    def remove(self) -> None:
        """Remove the checkpoint of a search that is done."""
        shutil.rmtree(self.path, ignore_errors=True)


def search_identity(task: Task, search: SearchOptions) -> dict[str, Any]:
    """Give what must be equal for a search to be continued, by name."""
    options = {f"--{key.replace('_', '-')}": value for key, value in options_record(task.options).items()}
    options |= {f"--{key.replace('_', '-')}": value for key, value in asdict(search).items()}
    return {
        "vocabulary": task.counts.vocabulary.fingerprint,
        "text": task.fingerprint(),
        **options,
    }


def state_arrays(state: State) -> Arrays:
    """Give the arrays that a state can be made from again."""
    arrays: Arrays = {f"map-{i}": classes for i, classes in enumerate(state.maps)}
    for i, side in enumerate(state.sides):
        arrays |= {f"{name}-{i}": values for name, values in side.arrays.memory._asdict().items()}
    return arrays


def restore_memory(state: State, arrays: Arrays) -> None:
    """Put back what a state remembers besides its classes."""
    for i, side in enumerate(state.sides):
        for name, values in side.arrays.memory._asdict().items():
            values[:] = arrays[f"{name}-{i}"]


def check_maps(path: Path, arrays: Arrays, numbers: tuple[Numbering, ...], task: Task) -> None:
    """Refuse a checkpoint whose classes do not fit the task."""
    folder = read_folder(path, "checkpoint")
    for i, numbering in enumerate(numbers):
        classes = arrays.get(f"map-{i}")
        if classes is None or classes.size != task.sizes[i].size:
            raise InputError(f"{path}: damaged; start anew without --resume")
        check_range(folder, f"map-{i}", classes, 0, numbering.total)
