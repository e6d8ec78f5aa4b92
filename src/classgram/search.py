"""A search under way: sweeps over all elements, each put where the criterion is highest.

It ends when a whole sweep moves nothing. Between whole sweeps it looks only at elements that came
close to moving when they were last looked at; the last sweep is always a whole one, so that a
converged result is a local optimum, certified.
"""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from classgram.checkpoint import Checkpoints, state_arrays
from classgram.criteria import LeavingOneOut, estimated_discount
from classgram.engine import Engine
from classgram.kernels.heuristic import Candidates, run_heuristic
from classgram.kernels.problem import NOISE_VALUES, ONCE, RESTLESS, Rule, Scratch
from classgram.options import SearchOptions
from classgram.progress import Report, silent
from classgram.regrouping import propose, swapped
from classgram.state import State
from classgram.task import Task, state_from_maps

SMALLEST_GAIN = 1e-9
"""A move must gain more than this share of |F|."""

REGROUPING_GAIN = 2e-5
"""Regrouping must gain more than this share of |F|: the sweeps after it cost more than it does."""

LARGEST_BATCH = 512
SWEEP_ROUNDS = 16
"""Rounds hold one sixteenth of the elements, up to the largest batch: larger ones gain nothing."""

WORTHWHILE = 0.02
"""Sweeps over restless elements go on while they move more than this share of them."""

ANNEALING_SWEEPS = {"low": 0, "normal": 12, "high": 60}
SHORTEST_PAUSE = 0.5
"""Seconds between checkpoints at least: many sweeps take less time than writing them down."""

CHUNK_SECONDS = 0.25
"""Kernels return at least this often, so that a limit or Ctrl-C is noticed."""


@dataclass(frozen=True)
class Sweep:
    """What one sweep did."""

    sweep: int
    moved: int
    F: float
    seconds: float
    kind: str
    """whole, restless (only elements that came close to moving), regrouping, annealing or heuristic."""


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
    elements: list[npt.NDArray[np.int32]] = field(default_factory=list)
    noise: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(1, np.float32))
    best: tuple[float, tuple[npt.NDArray[np.int32], ...]] | None = None
    """The highest F so far and its classes, where F may fall on the way."""
    candidates: list[Candidates] = field(default_factory=list)
    """What the heuristic keeps for each side; none for the exact algorithm."""
    _scratch: dict[int, Scratch] = field(default_factory=dict)
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
        if last.kind == "whole":
            if last.moved == 0:
                return "whole" if self._better_discount() else None
            return "restless" if self.fast else "whole"
        if last.kind == "regrouping":
            return "restless" if self.fast else "whole"
        looked_at = sum(elements.size for elements in self.elements)
        return "restless" if last.moved > WORTHWHILE * looked_at else "whole"

    @property
    def fast(self) -> bool:
        """Whether sweeps over restless elements come between whole ones: not in the plain algorithm."""
        return self.batch > 1 and self.options.sweeps is None and not self.options.heuristic

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
        """Go on from regrouped classes; elements whose class is as it was keep their slack."""
        moved = 0
        for old, new in zip(self.state.sides, state.sides, strict=True):
            same = old.problem.classes == new.problem.classes
            new.problem.slacks[:] = np.where(same, old.problem.slacks, 0.0)
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
        once = int(self.state.sides[0].problem.numbers[ONCE])
        discount = estimated_discount(once, self.state.seen_twice())
        total = self.task.events.total
        self.state.use_criterion(LeavingOneOut(discount), total)
        if self.state.value() > before + SMALLEST_GAIN * abs(before):
            return True
        self.state.use_criterion(criterion, total)
        return False

    def _open_sweep(self, kind: str) -> None:
        """Begin a sweep: choose its elements and fix its threshold."""
        value = self.state.value()
        self._keep_best(value)
        self.elements = [self._chosen(number, kind) for number in range(len(self.state.sides))]
        self.cursor = {
            "open": True,
            "kind": kind,
            "side": 0,
            "position": 0,
            "moved": 0,
            "threshold": SMALLEST_GAIN * abs(value),
            "seconds": 0.0,
        }

    def _chosen(self, number: int, kind: str) -> npt.NDArray[np.int32]:
        """Give the elements of one side that a sweep looks at, in order."""
        side = self.state.sides[number]
        if kind != "restless":
            return side.movable
        problem = side.problem
        sizes = problem.sizes[side.movable].sum(axis=1)
        restless = problem.slacks[side.movable] < RESTLESS * np.sqrt(sizes + 1.0)
        chosen: npt.NDArray[np.int32] = side.movable[restless]
        return chosen

    def _finish_sweep(self) -> None:
        """Go through the rest of the open sweep, and record it."""
        cursor = self.cursor
        while cursor["side"] < len(self.state.sides):
            elements = self.elements[cursor["side"]]
            while cursor["position"] < elements.size:
                self._step(elements)
                self._look_up()
            cursor["side"] += 1
            cursor["position"] = 0
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

    def _step(self, elements: npt.NDArray[np.int32]) -> None:
        """Work on some rounds of the open sweep."""
        cursor = self.cursor
        started = time.perf_counter()
        rounds = max(int(self._rate * CHUNK_SECONDS) // self.batch, 1)
        first = cursor["position"]
        part = elements[first : first + rounds * self.batch]
        cursor["moved"] += self._work(cursor["side"], part)
        # Advanced at once after the work, so that Ctrl-C finds state and cursor in step.
        cursor["position"] = first + part.size
        seconds = time.perf_counter() - started
        cursor["seconds"] += seconds
        self._rate = part.size / max(seconds, 1e-6)

    def _work(self, number: int, elements: npt.NDArray[np.int32]) -> int:
        """Find better classes for some elements of a side; give how many moved."""
        if not self.candidates:
            return self.engine.sweep(self.state, number, elements, self.batch, self._rule())
        side = self.state.sides[number]
        if number not in self._scratch:
            # Lists of ranked counts share the room for rows, two numbers an entry.
            scratch = side.scratch()
            room = 2 * max(self.options.targets + 2, self.options.neighbours) + 8
            self._scratch[number] = scratch._replace(rows=np.zeros(room, np.int64))
        return int(
            run_heuristic(
                side.problem,
                side.mirror,
                (self.state.terms, self.state.ready),
                self._scratch[number],
                elements,
                self.candidates[number],
                self._rule(),
            )
        )

    def _rule(self) -> Rule:
        """Give the rule of the open sweep."""
        cursor = self.cursor
        threshold, temperature, number = cursor["threshold"], 0.0, len(self.sweeps)
        if cursor["kind"] == "annealing":
            last = annealing_sweeps(self.options)
            temperature = self.options.temperature * (last - number) / last
            threshold = 0.0
        # A seed for every sweep and side; the kernel mixes in the element.
        seed = (self.options.seed * 1009 + number) * 2 + int(cursor["side"])
        return Rule(threshold, temperature, seed, self.noise)

    def _look_up(self) -> None:
        """Report, save when it is time, and stop at the time limit."""
        cursor = self.cursor
        last = self.sweeps[-1] if self.sweeps else None
        note = f"sweep {len(self.sweeps) + 1}, {cursor['moved']:,} moved"
        if last is not None:
            note += f", F {last.F:,.0f}, {self._bits(last.F):.4f} bits a word"
        total = sum(part.size for part in self.elements)
        done = sum(part.size for part in self.elements[: cursor["side"]]) + cursor["position"]
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
        sizes = self.task.sizes[-1][self.task.sizes[-1] > 0].astype(np.float64)
        # F leaves out what no partition changes: how words share their classes' counts.
        words = float((sizes * np.log(sizes)).sum())
        return -(value + words) / self.task.events.total / float(np.log(2))

    def _save_checkpoint(self) -> None:
        """Leave everything that is needed to go on from here."""
        self._saved = time.monotonic()
        if self.checkpoints is None:
            return
        arrays = state_arrays(self.state)
        for number, elements in enumerate(self.elements):
            arrays[f"elements-{number}"] = elements
        for number, candidates in enumerate(self.candidates):
            arrays[f"lists-{number}"] = candidates.lists
            arrays[f"list-moves-{number}"] = candidates.moves
        if self.best is not None:
            arrays |= {f"best-{i}": classes for i, classes in enumerate(self.best[1])}
        cursor = {
            **self.cursor,
            "best": None if self.best is None else self.best[0],
            "discount": self.state.criterion.discount,
            "sweeps": [[s.sweep, s.moved, s.F, s.seconds, s.kind] for s in self.sweeps],
        }
        self.checkpoints.write(cursor, arrays)

    def restore(self, cursor: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Go on from a checkpoint, whose classes the state has already."""
        for number, side in enumerate(self.state.sides):
            side.problem.slacks[:] = arrays[f"slacks-{number}"]
        for number, candidates in enumerate(self.candidates):
            candidates.lists[:] = arrays[f"lists-{number}"]
            candidates.moves[:] = arrays[f"list-moves-{number}"]
        self.sweeps = [Sweep(*row) for row in cursor.pop("sweeps")]
        self.elements = [
            arrays[f"elements-{number}"]
            for number in range(len(self.state.sides))
            if f"elements-{number}" in arrays
        ]
        value = cursor.pop("best")
        if value is not None:
            maps = tuple(arrays[f"best-{i}"] for i in range(len(self.state.maps)))
            self.best = (value, maps)
        self.cursor = cursor


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
