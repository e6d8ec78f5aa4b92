"""The exchange algorithm: figures 1 and 2 of the paper.

Start from some classes; move each element, the most frequent first, to the class where the criterion F is
highest; repeat until a full sweep moves nothing. For N-grams (figure 2) the elements are the words, classes
G2, and then the contexts, classes G1. A sweep is cut into rounds of ``--batch`` elements: the best class of
each is found against a fixed table (*propose*), then they are moved in order, each gain checked again on the
table as it then is (*apply*). Rounds of one element are the paper's algorithm.

Begin reading at ``run_sweep``. The glossary of what the kernels work on is ``_kernels/side_arrays.py``.
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from classgram.classes.class_list import ClassList
from classgram.classes.partition import Partition
from classgram.clustering.checkpoint import Checkpoints, resume
from classgram.clustering.class_number import Climb, choose_class_number
from classgram.clustering.heuristic import sweep_heuristically
from classgram.clustering.problem import ClusteringProblem, make_problem
from classgram.clustering.result import Result, finish
from classgram.clustering.search.annealing import is_annealing, keep_best, move_rule
from classgram.clustering.search.engine import Engine, LocalEngine
from classgram.clustering.search.schedule import Ending, StopSearch, schedule
from classgram.clustering.search.state import State
from classgram.clustering.search.sweep import (
    Cursor,
    SearchProgress,
    Sweep,
    SweepKind,
    open_sweep,
    value_after,
)
from classgram.clustering.start import begin_search, begin_with, check_search
from classgram.clustering.tuning import TUNING, SearchTuning
from classgram.clustering.watch import Watch
from classgram.counts.ngram_counts import NgramCounts
from classgram.options import ClusterOptions, RunOptions, SearchOptions
from classgram.runtime.compiled.arrays import Int32Array
from classgram.runtime.progress import Report, silent


def exchange(
    counts: NgramCounts,
    options: ClusterOptions | None = None,
    search: SearchOptions | None = None,
    run: RunOptions | None = None,
    checkpoint: Path | None = None,
    report: Report = silent,
    start: Partition | ClassList | None = None,
    tuning: SearchTuning = TUNING,
) -> Result:
    """Cluster the words of a text, and its contexts where they have classes of their own.

    ``start`` contains classes found earlier. Interrupted (time limit, Ctrl-C), the run still returns the best
    classes so far and says so.
    """
    options, search, run = options or ClusterOptions(), search or SearchOptions(), run or RunOptions()
    check_search(search, run, start)
    problem = make_problem(counts, options, tuning)  # section 3: which shape, which elements move
    deadline = None if run.time_limit is None else time.monotonic() + run.time_limit
    with LocalEngine(run.threads, tuning) as engine:
        classes, curve = choose_class_number(problem, climber(engine, deadline), report)
        saved = Checkpoints(checkpoint, problem, search) if checkpoint is not None else None
        progress, notes = begin_search(problem, search, classes, start)  # an initial G1, G2
        if run.resume:
            notes = resume(progress, saved, notes)
        watch = Watch(progress, report, deadline, saved, run.checkpoint_every)
        begun = time.process_time()
        ending = climb(progress, engine, watch)
        seconds = time.process_time() - begun
    return replace(finish(progress, ending), notes=tuple(notes), curve=curve, cpu_seconds=seconds)


def climb(progress: SearchProgress, engine: Engine, watch: Watch) -> Ending:
    """Sweep until a full sweep moves nothing, or a limit is reached; return why the search ended."""
    try:
        for cursor in schedule(progress):
            run_sweep(progress, cursor, engine, watch)
        return Ending.HEURISTIC if progress.neighbour_lists else Ending.CONVERGED
    except StopSearch as stop:
        watch.save()
        if stop.ending is not Ending.SWEEPS:
            _cool(progress, engine, watch)
        return stop.ending
    except KeyboardInterrupt:
        _cool(progress, engine, watch)
        return Ending.INTERRUPTED


def run_sweep(progress: SearchProgress, cursor: Cursor, engine: Engine, watch: Watch) -> None:
    """Move each element, the most frequent first, to the class where F is highest (figures 1 and 2)."""
    while (elements := cursor.next_elements(watch.chunk)) is not None:  # words (G2), then contexts (G1)
        started = time.perf_counter()
        rule = move_rule(progress, cursor)
        if progress.neighbour_lists:
            moved = sweep_heuristically(progress.state, cursor.side, elements, progress.neighbour_lists, rule)
        else:
            moved = 0
            rounds = engine.rounds(progress.state, cursor.side, rule, cursor.kind.tries_runners_up)
            for members in _cut_into_rounds(elements, progress.batch):
                proposals = rounds.propose(members)  # all threads, against a fixed table
                moved += rounds.apply(members, proposals)  # one thread, in order
        # Advanced right after the moves, so that the cursor agrees with the classes if Ctrl-C comes now.
        cursor.moved, cursor.position = cursor.moved + moved, cursor.position + elements.size
        watch.visited(cursor, elements.size, time.perf_counter() - started)
    value = value_after(progress, cursor)
    keep_best(progress, value)
    number = len(progress.history) + 1
    progress.history.append(Sweep(number, cursor.moved, value, cursor.seconds, cursor.kind))
    progress.cursor = None
    watch.swept()


def climber(engine: Engine, deadline: float | None) -> Climb:
    """Return a function that improves a state, for the choice of the number of classes.

    Few classes are cheap enough to be searched to the end; of many, some sweeps tell enough.
    """

    def improve(problem: ClusteringProblem, state: State) -> State:
        tuning = problem.tuning
        few = max(numbering.candidates for numbering in state.numberings) <= tuning.merge_split_classes
        options = SearchOptions(sweeps=None if few else tuning.climbing_sweeps)
        progress = begin_with(problem, options, state)
        climb(progress, engine, Watch(progress, deadline=deadline))
        return progress.state

    return improve


def _cool(progress: SearchProgress, engine: Engine, watch: Watch) -> None:
    """Visit all elements once more without noise if annealing was cut short."""
    if progress.neighbour_lists or not is_annealing(progress):
        return
    watch.let_finish()
    with suppress(KeyboardInterrupt):
        progress.cursor = open_sweep(progress, SweepKind.FULL)
        keep_best(progress, progress.cursor.value)
        run_sweep(progress, progress.cursor, engine, watch)


def _cut_into_rounds(elements: Int32Array, size: int) -> Iterator[Int32Array]:
    """Yield the elements of each round."""
    for first in range(0, elements.size, size):
        yield elements[first : first + size]
