"""The result of a search: classes, and the record of how they were found."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from classgram.classes.partition import Partition
from classgram.clustering.placement import place_uncounted
from classgram.clustering.search.schedule import Ending
from classgram.clustering.search.state import state_from_maps
from classgram.clustering.search.sweep import SearchProgress, Sweep
from classgram.runtime.html_tables import facts_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure


@dataclass(frozen=True)
class Result:
    """Classes, and how they were found."""

    partition: Partition
    criterion: str
    F: float
    converged: bool
    """Whether a full exact sweep found no better class for any element."""
    ended: Ending
    """converged; heuristic (no selected class was better); sweeps, time limit or interrupted; or annealing
    (the best classes were met on the way)."""
    sweeps: tuple[Sweep, ...]
    tokens: int
    notes: tuple[str, ...] = ()
    curve: tuple[tuple[int, float], ...] = ()
    """The numbers of classes tried by ``auto`` with their leaving-one-out criterion."""
    cpu_seconds: float = 0.0
    """Processor time of the sweeps alone, all threads together."""

    def history(self) -> dict[str, Any]:
        """Return the record that history.json holds."""
        partition = self.partition
        record: dict[str, Any] = {
            "criterion": self.criterion,
            "F": self.F,
            "classes": partition.numbers[-1],
            "context_classes": partition.numbers[0],
            "pinned": partition.class_count - partition.numbers[-1],
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

    def plot(self) -> "MatplotlibFigure":
        """Return F and moved words by time, and the curve of ``auto``, as a figure; needs matplotlib."""
        from classgram.clustering.plotting import plot_history

        return plot_history(self.history())

    def _repr_html_(self) -> str:
        """Return how the search went and its classes as tables, as notebooks show them."""
        history = self.history()
        shown = ("criterion", "F", "classes", "converged", "ended", "tokens", "types")
        facts = {**{key: history[key] for key in shown}, "sweeps": len(self.sweeps)}
        return facts_table("Clustering", facts) + self.partition._repr_html_()

    def save(self, path: str | Path) -> None:
        """Write the classes and their history as a folder."""
        self.partition.save(path, self.history())


def finish(progress: SearchProgress, ending: Ending) -> Result:
    """Return the result of a search that has ended, elements without counts placed."""
    problem, state, best = progress.problem, progress.state, progress.best
    value = state.value()
    # Sums of gains, as F is kept during a search, differ from F in the last digits.
    if best is not None and best.value > value + problem.tuning.smallest_gain * abs(value):
        state = state_from_maps(problem, state.criterion, best.maps, state.numberings)
        ending = Ending.ANNEALING if ending is Ending.CONVERGED else ending
    counts = problem.sizes if not problem.tied else (np.array(problem.counts.levels[0].counts),)
    partition = Partition(
        problem.options.shape,
        problem.options.order,
        problem.counts.vocabulary,
        place_uncounted(problem, state),
        tuple(numbering.candidates for numbering in state.numberings),
        tuple(np.ascontiguousarray(count, np.int64) for count in counts),
        problem.contexts,
    )
    return Result(
        partition,
        problem.options.criterion,
        state.value(),
        ending is Ending.CONVERGED,
        ending,
        tuple(progress.history),
        problem.events.total,
    )
