"""A search under way: sweeps over all elements, each put where the criterion is highest.

What each sweep looks at is chosen here; which kind of sweep comes next is another matter (schedule.py).
"""

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from classgram.clustering._kernels.heuristic import Candidates, run_heuristic
from classgram.clustering._kernels.runners_up import (
    RETRY_AT_ONCE,
    TouchedClasses,
    mark_uncertain,
    mark_worth_retrying,
)
from classgram.clustering._kernels.side_arrays import N_ONCE, NOISE_VALUES, MoveRule, ProfileBuffers
from classgram.clustering.checkpoint import Checkpoints, restore_memory, state_arrays
from classgram.clustering.criteria import LeavingOneOut, estimated_discount
from classgram.clustering.problem import Task, state_from_maps
from classgram.clustering.search.engine import Engine, Rounds
from classgram.clustering.search.merge_split import propose, swapped
from classgram.clustering.search.schedule import ADDING, OF_RIVALS, Sweep, next_kind
from classgram.clustering.search.state import ClassMap, State
from classgram.options import SearchOptions
from classgram.runtime.progress import Report, silent

SMALLEST_GAIN = 1e-9
"""A move must gain more than this share of |F|."""

REGROUPING_GAIN = 2e-5
"""Regrouping must gain more than this share of |F|: the sweeps after it cost more than it does."""

LARGEST_BATCH = 2048
SWEEP_ROUNDS = 24
"""Rounds hold one part in so many of the elements, up to the largest batch: threads wait after each."""

MARGIN = 2.0
"""A class by whose choice F would fall by less than this, times the root of an element's size, is a
rival of the element's class."""

LEEWAY = 2.0
"""Close runners-up: what may have changed beyond what turnover tells."""

FEW_PLACES = 1_000_000
"""Below this product of elements and classes whole sweeps are quick, and other kernels not needed."""

FEW_TOUCHED = 0.5
"""The largest share of touched classes for which a sweep keeps to the elements that are unsure."""

LITTLE_SLACK = 8.0
"""Elements whose slack is below this are unsure of their class where they occur with one that changed."""

ANNEALING_SWEEPS = {"low": 0, "normal": 12, "high": 60}
SHORTEST_PAUSE = 2.0
"""Seconds between checkpoints at least: many sweeps take less time than writing them down."""

CHUNK_SECONDS = 0.25
"""Kernels return at least this often, so that a limit or Ctrl-C is noticed."""


@dataclass(frozen=True)
class Part:
    """Elements of a side that a sweep looks at."""

    side: int
    elements: npt.NDArray[np.int32]


class StopSearch(Exception):  # noqa: N818 - it reports no error
    """The search must end here; the message says why."""


@dataclass
class Search:
    """A search under way: the state, and where in which sweep it is."""

    task: Task
    options: SearchOptions
    state: State
    engine: Engine
    batch: int
    deadline: float | None = None
    checkpoints: Checkpoints | None = None
    checkpoint_every: float = 60.0
    report: Report = silent
    sweeps: list[Sweep] = field(default_factory=list)
    cursor: dict[str, Any] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    """What the open sweep looks at."""
    known: list[npt.NDArray[np.int32]] = field(default_factory=list)
    """The classes of each side's elements when all of them were last about to be looked at."""
    noise: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(1, np.float32))
    best: tuple[float, tuple[npt.NDArray[np.int32], ...]] | None = None
    """The highest F so far and its classes, where F may fall on the way."""
    candidates: list[Candidates] = field(default_factory=list)
    """What the heuristic keeps for each side; none for the exact algorithm."""
    _buffers: dict[int, ProfileBuffers] = field(default_factory=dict)
    _saved: float = field(default_factory=time.monotonic)
    _rate: float = 2000.0

    def run(self) -> str:
        """Sweep until nothing moves or a limit is reached; give the reason of the end."""
        try:
            while True:
                if not self.cursor.get("open"):
                    limit = self.options.sweeps
                    if limit is not None and len(self.sweeps) >= limit:
                        raise StopSearch("sweeps")
                    kind = self._next_kind()
                    if kind is None and self._regroup():
                        continue
                    if kind is None:
                        return "converged" if not self.candidates else "heuristic"
                    self._open_sweep(kind)
                self._finish_sweep()
        except StopSearch as reason:
            self._save_checkpoint()
            if str(reason) != "sweeps":
                self._cool()
            return str(reason)
        except KeyboardInterrupt:
            self._cool()
            return "interrupted"

    def _cool(self) -> None:
        """Look at all elements once more without noise, where annealing is cut short: it ends hot."""
        if self.candidates or len(self.sweeps) >= annealing_sweeps(self.options):
            return
        # A checkpoint of the annealing stays as it is, for the run to be resumed.
        self.deadline, self.checkpoints = None, None
        try:
            self._open_sweep("whole")
            self._finish_sweep()
        except KeyboardInterrupt:
            return

    def _next_kind(self) -> str | None:
        """Give the kind of the next sweep, or None where the search has converged."""
        last = self.sweeps[-1] if self.sweeps else None
        if self.candidates:
            return None if last is not None and last.moved == 0 else "heuristic"
        if len(self.sweeps) < annealing_sweeps(self.options):
            return "annealing"
        if last is None or last.kind == "annealing":
            return "whole"
        if last.kind == "whole" and last.moved == 0:
            return "whole" if self._better_discount() else None
        if not self.fast:
            return "whole"
        movable = sum(side.movable.size for side in self.state.sides)
        return next_kind(self.sweeps, movable, self._few_touched)

    def _unsure(self, number: int) -> npt.NDArray[np.bool_]:
        """Say which of the movable elements of a side are unsure of their class."""
        side = self.state.sides[number]
        marks = self._touched(number)
        # Tied classes stand opposite themselves; contexts that never move stand opposite as they were.
        if side.arrays.tied > 0:
            rows = np.tile(marks[: side.arrays.tied], 2)
        elif len(self.state.sides) > 1:
            rows = self._touched(1 - number)
        else:
            rows = np.zeros(side.rows, np.uint8)
        unsure = np.zeros(side.movable.size, np.uint8)
        mark_uncertain(side.arrays, TouchedClasses(marks, rows), side.movable, LITTLE_SLACK, unsure)
        return unsure > 0

    def _touched(self, number: int) -> npt.NDArray[np.uint8]:
        """Mark the classes of a side that elements left or joined since all were last looked at."""
        side = self.state.sides[number]
        return touched_classes(self.known[number], side.arrays.classes, side.width)

    def _few_touched(self) -> bool:
        """Say whether few classes were touched."""
        return all(
            self._touched(number).sum() <= FEW_TOUCHED * side.arrays.candidates
            for number, side in enumerate(self.state.sides)
        )

    @property
    def fast(self) -> bool:
        """Whether other sweeps come between whole ones: not in the plain algorithm, nor in small tasks."""
        places = sum(side.movable.size * side.arrays.candidates for side in self.state.sides)
        plain = self.batch == 1 or self.options.sweeps is not None or self.options.heuristic
        return not plain and places >= FEW_PLACES

    def _regroup(self) -> bool:
        """Merge and split classes where that raises F; say whether anything was changed."""
        options = self.options
        if options.no_regroup or options.sweeps is not None or self.candidates or options.batch == 1:
            return False
        started = time.perf_counter()
        before = self.state.value()
        proposals = propose(self.state)
        most = max(len(proposal.swaps) for proposal in proposals)
        while most > 0:
            maps = swapped(self.state, proposals, most)
            state = state_from_maps(self.task, self.state.criterion, maps, self.state.numberings)
            value = state.value()
            if value > before + REGROUPING_GAIN * abs(before):
                self._take_regrouped(state, value, time.perf_counter() - started)
                return True
            most //= 2
        return False

    def _take_regrouped(self, state: State, value: float, seconds: float) -> None:
        """Go on from regrouped classes; all elements of classes that are not as they were are restless."""
        moved = 0
        for old, new in zip(self.state.sides, state.sides, strict=True):
            classes = new.arrays.classes
            same = old.arrays.classes == classes
            kept = touched_classes(old.arrays.classes, classes, new.width)[classes] == 0
            memory, before = new.arrays.memory, old.arrays.memory
            for name in memory._fields:
                getattr(memory, name)[:] = getattr(before, name)
            # Any class will do as a rival: restless elements try them all.
            memory.runners_up[~kept, 0] = 0
            memory.retry_at[~kept] = RETRY_AT_ONCE
            moved += int((~same).sum())
        self.state = state
        self._keep_best(value)
        self.sweeps.append(Sweep(len(self.sweeps) + 1, moved, value, seconds, "regrouping"))

    def _better_discount(self) -> bool:
        """Estimate the discount again, and say whether F rises with it."""
        criterion = self.state.criterion
        if self.task.options.discount != "estimate" or not isinstance(criterion, LeavingOneOut):
            return False
        before = self.state.value()
        once = int(self.state.sides[0].arrays.pair_numbers[N_ONCE])
        discount = estimated_discount(once, self.state.seen_twice())
        total = self.task.events.total
        self.state.use_criterion(LeavingOneOut(discount), total)
        if self.state.value() > before + SMALLEST_GAIN * abs(before):
            return True
        self.state.use_criterion(criterion, total)
        return False

    def _value_known(self) -> bool:
        """Say whether the last sweep's F is that of the state: not if the criterion has changed since."""
        if not self.sweeps:
            return False
        last = self.sweeps[-1]
        # Where nothing moves, only another discount makes a search go on.
        return not (last.kind == "whole" and last.moved == 0)

    def _open_sweep(self, kind: str) -> None:
        """Begin a sweep: choose its elements and fix its threshold."""
        value = self.sweeps[-1].F if kind in ADDING and self._value_known() else self.state.value()
        self._keep_best(value)
        for side in self.state.sides:
            side.arrays.memory.gained[0] = 0.0
        self.parts = [Part(number, self._chosen(number, kind)) for number in range(len(self.state.sides))]
        if kind in ("whole", "unsure"):
            self.known = [np.array(side.arrays.classes) for side in self.state.sides]
        self.cursor = {
            "open": True,
            "kind": kind,
            "part": 0,
            "position": 0,
            "moved": 0,
            "F": value,
            "threshold": SMALLEST_GAIN * abs(value),
            "seconds": 0.0,
        }

    def _chosen(self, number: int, kind: str) -> npt.NDArray[np.int32]:
        """Give what a sweep looks at on one side, in order."""
        side = self.state.sides[number]
        if kind in OF_RIVALS:
            marks = np.zeros(side.movable.size, np.uint8)
            mark_worth_retrying(side.arrays, side.movable, leeway(kind), marks)
            chosen = marks > 0
        elif kind == "restless":
            chosen = side.arrays.memory.runners_up[side.movable, 0] >= 0
        elif kind == "unsure":
            chosen = self._unsure(number)
        else:
            return side.movable
        elements: npt.NDArray[np.int32] = side.movable[chosen]
        return elements

    def _finish_sweep(self) -> None:
        """Go through the rest of the open sweep, and record it."""
        cursor = self.cursor
        while cursor["part"] < len(self.parts):
            part = self.parts[cursor["part"]]
            while cursor["position"] < part.elements.size:
                self._step(part)
                self._look_up()
            cursor["part"] += 1
            cursor["position"] = 0
        if cursor["kind"] in ADDING:
            value = cursor["F"] + sum(float(side.arrays.memory.gained[0]) for side in self.state.sides)
        else:
            value = self.state.value()
        self._keep_best(value)
        number = len(self.sweeps) + 1
        self.sweeps.append(Sweep(number, cursor["moved"], value, cursor["seconds"], cursor["kind"]))
        self.cursor = {"open": False}
        self._save_after(min(SHORTEST_PAUSE, self.checkpoint_every))

    def _keep_best(self, value: float) -> None:
        """Remember the best classes so far; only annealing can lose them."""
        if annealing_sweeps(self.options) and (self.best is None or value > self.best[0]):
            self.best = (value, tuple(np.array(classes) for classes in self.state.maps))

    def _step(self, part: Part) -> None:
        """Work on some rounds of the open sweep."""
        cursor = self.cursor
        started = time.perf_counter()
        rounds = max(int(self._rate * CHUNK_SECONDS) // self.batch, 1)
        first = cursor["position"]
        elements = part.elements[first : first + rounds * self.batch]
        cursor["moved"] += self._work(part.side, elements)
        # Advanced at once after the work, so that Ctrl-C finds state and cursor in step.
        cursor["position"] = first + elements.size
        seconds = time.perf_counter() - started
        cursor["seconds"] += seconds
        self._rate = elements.size / max(seconds, 1e-6)

    def _work(self, number: int, elements: npt.NDArray[np.int32]) -> int:
        """Find better classes for some elements of a side; give how many moved."""
        if not self.candidates:
            rounds = Rounds(self.batch, self._rule(number), self.cursor["kind"] in OF_RIVALS)
            return self.engine.sweep(self.state, number, elements, rounds)
        side = self.state.sides[number]
        if number not in self._buffers:
            self._buffers[number] = side.buffers().profile
        return int(
            run_heuristic(
                side.arrays,
                side.mirror,
                self.state.kernel_criterion.terms,
                self._buffers[number],
                elements,
                self.candidates[number],
                self._rule(number),
            )
        )

    def _rule(self, side: int) -> MoveRule:
        """Give the rule of the open sweep for a side."""
        cursor = self.cursor
        threshold, temperature, number = cursor["threshold"], 0.0, len(self.sweeps)
        if cursor["kind"] == "annealing":
            last = annealing_sweeps(self.options)
            temperature = self.options.temperature * (last - number) / last
            threshold = 0.0
        # A seed for every sweep and side; the kernel mixes in the element.
        seed = ((self.options.seed * 1009 + number) * 2 + side) % (1 << 63)
        return MoveRule(threshold, MARGIN, leeway(cursor["kind"]), temperature, seed, self.noise)

    def _look_up(self) -> None:
        """Report, save when it is time, and stop at the time limit."""
        cursor = self.cursor
        last = self.sweeps[-1] if self.sweeps else None
        note = f"sweep {len(self.sweeps) + 1}, {cursor['moved']:,} moved"
        if last is not None:
            note += f", F {last.F:,.0f}, {self._bits(last.F):.4f} bits a word"
        total = sum(part.elements.size for part in self.parts)
        done = sum(part.elements.size for part in self.parts[: cursor["part"]]) + cursor["position"]
        self.report(min(done, total), note)
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise StopSearch("time limit")
        self._save_after(self.checkpoint_every)

    def _save_after(self, seconds: float) -> None:
        """Save where the last checkpoint is older than this."""
        if time.monotonic() - self._saved > seconds:
            self._save_checkpoint()

    def _bits(self, value: float) -> float:
        """Give the bits that the class model needs for a word of the text itself."""
        return -(value + self._shared) / self.task.events.total / float(np.log(2))

    @cached_property
    def _shared(self) -> float:
        """What F leaves out, because no partition changes it: how words share their classes' counts."""
        sizes = self.task.sizes[-1][self.task.sizes[-1] > 0].astype(np.float64)
        return float((sizes * np.log(sizes)).sum())

    def _save_checkpoint(self) -> None:
        """Leave everything that is needed to go on from here."""
        self._saved = time.monotonic()
        if self.checkpoints is None:
            return
        arrays = state_arrays(self.state)
        for number, part in enumerate(self.parts):
            arrays[f"elements-{number}"] = part.elements
        arrays |= {f"known-{number}": classes for number, classes in enumerate(self.known)}
        for number, candidates in enumerate(self.candidates):
            arrays[f"lists-{number}"] = candidates.lists
            arrays[f"list-moves-{number}"] = candidates.moves
        if self.best is not None:
            arrays |= {f"best-{i}": classes for i, classes in enumerate(self.best[1])}
        cursor = {
            **self.cursor,
            "sides": [part.side for part in self.parts],
            "best": None if self.best is None else self.best[0],
            "discount": self.state.criterion.discount,
            "sweeps": [[s.sweep, s.moved, s.F, s.seconds, s.kind] for s in self.sweeps],
        }
        self.checkpoints.write(cursor, arrays)

    def restore(self, cursor: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Go on from a checkpoint, whose classes the state has already."""
        restore_memory(self.state, arrays)
        for number, candidates in enumerate(self.candidates):
            candidates.lists[:] = arrays[f"lists-{number}"]
            candidates.moves[:] = arrays[f"list-moves-{number}"]
        self.sweeps = [Sweep(*row) for row in cursor.pop("sweeps")]
        self.parts = [
            Part(side, arrays[f"elements-{number}"]) for number, side in enumerate(cursor.pop("sides"))
        ]
        if "known-0" in arrays:
            self.known = [arrays[f"known-{number}"] for number in range(len(self.state.sides))]
        value = cursor.pop("best")
        if value is not None:
            maps = tuple(arrays[f"best-{i}"] for i in range(len(self.state.maps)))
            self.best = (value, maps)
        self.cursor = cursor


def leeway(kind: str) -> float:
    """Give the leeway of runners-up in a sweep of some kind (see MoveRule)."""
    return LEEWAY if kind == "close" else 0.0


def touched_classes(then: ClassMap, now: ClassMap, width: int) -> npt.NDArray[np.uint8]:
    """Mark the classes that elements have left or joined."""
    marks = np.zeros(width, np.uint8)
    moved = now != then
    marks[then[moved]] = 1
    marks[now[moved]] = 1
    return marks


def gumbel_noise(seed: int, width: int) -> npt.NDArray[np.float32]:
    """Give Gumbel noise for rows of a width, starting anywhere."""
    values = np.random.default_rng(seed).gumbel(size=NOISE_VALUES).astype(np.float32)
    return np.concatenate([values, np.resize(values, width)])


def annealing_sweeps(options: SearchOptions) -> int:
    """Give the number of sweeps of annealing: what is asked for, or what the effort stands for."""
    return ANNEALING_SWEEPS[options.effort] if options.annealing is None else options.annealing


def default_batch(elements: int) -> int:
    """Give the size of a round: it decides the result, so it depends on the task alone."""
    return max(1, min(LARGEST_BATCH, elements // SWEEP_ROUNDS))
