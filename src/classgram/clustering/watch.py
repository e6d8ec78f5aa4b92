"""What happens beside the sweeps of a search: progress, checkpoints, and the time limit."""

import time
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from classgram.clustering.checkpoint import Checkpoints
from classgram.clustering.search.schedule import Ending, StopSearch
from classgram.clustering.search.sweep import Cursor, SearchProgress
from classgram.runtime.progress import Report, silent

_FIRST_RATE = 2000.0
"""Elements a second that are expected before any has been visited."""


@dataclass
class Watch:
    """Limits and reports of a running search."""

    progress: SearchProgress
    report: Report = silent
    deadline: float | None = None
    """When to stop, on the monotonic clock."""
    checkpoints: Checkpoints | None = None
    checkpoint_every: float = 60.0
    _saved: float = field(default_factory=time.monotonic)
    _rate: float = _FIRST_RATE

    @property
    def chunk(self) -> int:
        """How many elements to visit before looking up again: whole rounds, a quarter of a second."""
        batch = self.progress.batch
        return max(int(self._rate * self.progress.problem.tuning.chunk_seconds) // batch, 1) * batch

    def visited(self, cursor: Cursor, elements: int, seconds: float) -> None:
        """Note that elements have been visited: report, save when it is time, and stop at the limit."""
        cursor.seconds += seconds
        self._rate = elements / max(seconds, 1e-6)
        self.report(cursor.visited, self._note(cursor))
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise StopSearch(Ending.TIME_LIMIT)
        self._save_after(self.checkpoint_every)

    def swept(self) -> None:
        """Note the end of a sweep."""
        self._save_after(min(self.progress.problem.tuning.shortest_pause, self.checkpoint_every))

    def save(self) -> None:
        """Leave everything that is needed to go on from here."""
        self._saved = time.monotonic()
        if self.checkpoints is not None:
            self.checkpoints.write(self.progress)

    def let_finish(self) -> None:
        """Let what comes now go on to its end; the checkpoint stays as it is, for the run to be resumed."""
        self.deadline, self.checkpoints = None, None

    def _save_after(self, seconds: float) -> None:
        if time.monotonic() - self._saved > seconds:
            self.save()

    def _note(self, cursor: Cursor) -> str:
        history = self.progress.history
        note = f"sweep {len(history) + 1}, {cursor.moved:,} moved"
        if history:
            note += f", F {history[-1].F:,.0f}, {self._bits(history[-1].F):.4f} bits a word"
        return note

    def _bits(self, value: float) -> float:
        """Return the bits that the class model needs for a word of the text itself."""
        return -(value + self._members_term) / self.progress.problem.events.total / float(np.log(2))

    @cached_property
    def _members_term(self) -> float:
        """What F leaves out, because no partition changes it: how words share their classes' counts."""
        sizes = self.progress.problem.sizes[-1]
        seen = sizes[sizes > 0].astype(np.float64)
        return float((seen * np.log(seen)).sum())
