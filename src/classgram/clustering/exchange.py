"""Exchange clustering: from counts to classes, and the record of how they were found."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from classgram.classes.class_list import ClassList
from classgram.classes.partition import Partition
from classgram.clustering.checkpoint import Checkpoints, check_maps
from classgram.clustering.class_number import choose_class_number
from classgram.clustering.compiling import await_kernels, compile_ahead
from classgram.clustering.criteria import Criterion, LeavingOneOut, choose_criterion
from classgram.clustering.heuristic import make_candidates, selects_all
from classgram.clustering.placement import place_uncounted
from classgram.clustering.problem import Task, class_numbers, make_task, start_state, state_from_maps
from classgram.clustering.search.engine import Engine, LocalEngine
from classgram.clustering.search.merge_split import MOST_CLASSES
from classgram.clustering.search.schedule import Sweep
from classgram.clustering.search.state import State
from classgram.clustering.search.sweep import (
    SMALLEST_GAIN,
    Search,
    annealing_sweeps,
    default_batch,
    gumbel_noise,
)
from classgram.clustering.start import STARTS
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.options import ClusterOptions, RunOptions, SearchOptions
from classgram.runtime.progress import Report, silent

CLIMBING_SWEEPS = 5
"""Sweeps that tell large numbers of classes apart."""


@dataclass(frozen=True)
class Result:
    """Classes, and how they were found."""

    partition: Partition
    criterion: str
    F: float
    converged: bool
    """Whether a whole exact sweep found no better place for any element."""
    ended: str
    """converged, heuristic (no selected class was better), sweeps, time limit or interrupted."""
    sweeps: tuple[Sweep, ...]
    tokens: int
    notes: tuple[str, ...] = ()
    curve: tuple[tuple[int, float], ...] = ()
    """The numbers of classes tried by ``auto`` with their leaving-one-out criterion."""
    cpu_seconds: float = 0.0
    """Processor time of the sweeps alone, all threads together."""

    def history(self) -> dict[str, Any]:
        """Give the record that history.json holds."""
        partition = self.partition
        pinned = partition.class_count - partition.numbers[-1]
        record: dict[str, Any] = {
            "criterion": self.criterion,
            "F": self.F,
            "classes": partition.numbers[-1],
            "context_classes": partition.numbers[0],
            "pinned": pinned,
            "converged": self.converged,
            "ended": self.ended,
            "sweeps": [
                {
                    "sweep": sweep.sweep,
                    "moved": sweep.moved,
                    "F": sweep.F,
                    "seconds": round(sweep.seconds, 6),
                    "kind": sweep.kind,
                }
                for sweep in self.sweeps
            ],
            "tokens": self.tokens,
            "types": len(partition.vocabulary),
        }
        if self.curve:
            record["curve"] = [{"classes": number, "F": value} for number, value in self.curve]
        return record

    def save(self, path: str | Path) -> None:
        """Write the classes and their history as a folder."""
        self.partition.save(path, self.history())


def exchange(
    counts: NgramCounts,
    options: ClusterOptions | None = None,
    search: SearchOptions | None = None,
    run: RunOptions | None = None,
    checkpoint: Path | None = None,
    report: Report = silent,
    start: Partition | ClassList | None = None,
) -> Result:
    """Cluster the words of a text, and its contexts where they have classes of their own.

    ``start`` holds classes found earlier, which ``search.start`` names if it is a path. Interrupted (time
    limit, Ctrl-C), the run still gives the best classes so far and says so.
    """
    options, search, run = options or ClusterOptions(), search or SearchOptions(), run or RunOptions()
    check_search(search, run)
    check_start(search, start)
    compile_ahead()
    task = make_task(counts, options)
    await_kernels()
    deadline = None if run.time_limit is None else time.monotonic() + run.time_limit
    with LocalEngine(run.threads) as engine:
        curve: tuple[tuple[int, float], ...] = ()
        classes = options.classes
        if classes == "auto":
            classes, curve = choose_class_number(task, climber(engine, deadline), report)
        under_way, notes = prepare(task, search, classes, engine, (checkpoint, run.resume), start)
        under_way.deadline = deadline
        under_way.checkpoint_every = run.checkpoint_every
        under_way.report = report
        begun = time.process_time()
        ended = under_way.run()
        seconds = time.process_time() - begun
    return replace(finish(under_way, ended, notes, curve), cpu_seconds=seconds)


def check_search(search: SearchOptions, run: RunOptions) -> None:
    """Refuse numbers that make no sense, and an engine that is not there."""
    if run.engine != "local" or run.address is not None:
        raise InputError("only --engine local works so far, on the threads of this machine")
    for name, number, least in (
        ("--sweeps", search.sweeps, 0),
        ("--annealing", search.annealing, 0),
        ("--temperature", search.temperature, 0),
        ("--batch", search.batch, 1),
        ("--targets", search.targets, 1),
        ("--neighbours", search.neighbours, 1),
        ("--renew", search.renew, 1),
        ("--threads", run.threads, 1),
        ("--seed", search.seed, 0),
    ):
        if number is not None and number < least:
            raise InputError(f"{name} must be {least} or more, not {number}")
    if run.time_limit is not None and run.time_limit < 0:
        raise InputError("--time-limit must be 0 or more seconds")


def check_start(search: SearchOptions, start: Partition | ClassList | None) -> None:
    """Refuse a start that is neither known by name nor given."""
    if search.start not in STARTS and start is None:
        raise InputError(
            f"{search.start}: --start takes {', '.join(STARTS)}, a class file or a folder; from Python, "
            "pass exchange() what classgram.read_classes or Partition.load gives as start="
        )


def prepare(
    task: Task,
    options: SearchOptions,
    classes: int,
    engine: Engine,
    saved: tuple[Path | None, bool],
    start: Partition | ClassList | None,
) -> tuple[Search, list[str]]:
    """Give a search at its start, or where its last checkpoint left it."""
    numbers = class_numbers(task, classes)
    criterion: Criterion = choose_criterion(task.options)
    path, resume = saved
    checkpoints = Checkpoints(path, task, options) if path is not None else None
    restored = None
    notes: list[str] = []
    if resume and checkpoints is not None and checkpoints.path.exists():
        cursor, arrays = checkpoints.read()
        check_maps(checkpoints.path, arrays, numbers, task)
        if isinstance(criterion, LeavingOneOut):
            criterion = LeavingOneOut(float(cursor.pop("discount")))
        else:
            cursor.pop("discount")
        maps = tuple(arrays[f"map-{i}"] for i in range(len(numbers)))
        state = state_from_maps(task, criterion, maps, numbers)
        restored = (cursor, arrays)
    else:
        if resume:
            notes.append("there is no checkpoint to resume from: the run starts at its beginning")
        state, mended = start_state(task, criterion, numbers, options, start)
        notes += mended
    movable = max(side.movable.size for side in state.sides)
    batch = options.batch or default_batch(movable)
    noise = np.zeros(1, np.float32)
    if annealing_sweeps(options):
        noise = gumbel_noise(options.seed, max(side.width for side in state.sides))
    search = Search(task, options, state, engine, batch, checkpoints=checkpoints, noise=noise)
    if options.heuristic and not selects_all(state, options):
        search.candidates = [make_candidates(state, i, options) for i in range(len(state.sides))]
    if restored is not None:
        try:
            search.restore(*restored)
        except (KeyError, ValueError) as error:
            raise InputError(
                f"{path}: damaged, or of another version; start anew without --resume"
            ) from error
    return search, notes


def climber(engine: Engine, deadline: float | None) -> Callable[[Task, State], State]:
    """Give a function that improves a state, for the choice of the class number.

    Few classes are cheap enough to be searched to the end; of many, some sweeps tell enough.
    """

    def climb(task: Task, state: State) -> State:
        few = max(numbering.candidates for numbering in state.numberings) <= MOST_CLASSES
        batch = default_batch(max(side.movable.size for side in state.sides))
        options = SearchOptions(sweeps=None if few else CLIMBING_SWEEPS)
        search = Search(task, options, state, engine, batch, deadline)
        search.run()
        return search.state

    return climb


def finish(search: Search, ended: str, notes: list[str], curve: tuple[tuple[int, float], ...]) -> Result:
    """Give the result of a search that has ended, elements without counts placed."""
    task, state = search.task, search.state
    value = state.value()
    # Sums of gains, as F is kept while classes are sought, differ from F in the last digits.
    if search.best is not None and search.best[0] > value + SMALLEST_GAIN * abs(value):
        state = state_from_maps(task, state.criterion, search.best[1], state.numberings)
        ended = "annealing" if ended == "converged" else ended
    maps = place_uncounted(task, state)
    numbers = tuple(numbering.candidates for numbering in state.numberings)
    counts = task.sizes if not task.tied else (np.array(task.counts.levels[0].counts),)
    partition = Partition(
        task.options.shape,
        task.options.order,
        task.counts.vocabulary,
        maps,
        numbers,
        tuple(np.ascontiguousarray(count, np.int64) for count in counts),
        task.contexts,
    )
    return Result(
        partition,
        task.options.criterion,
        state.value(),
        ended == "converged",
        ended,
        tuple(search.sweeps),
        task.events.total,
        tuple(notes),
        curve,
    )
