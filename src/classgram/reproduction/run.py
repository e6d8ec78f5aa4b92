"""The run: every cell that has no result yet, by some processes, and then the report."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from classgram.errors import InputError
from classgram.files.atomic import atomic_file, write_error
from classgram.files.folders import CONFIG, VERSION, folder_kind
from classgram.reproduction.cells import (
    Cell,
    cell_key,
    load_result,
    run_cell,
    save_result,
    shares_counts,
    warm_up,
)
from classgram.reproduction.experiments import EXPERIMENTS, all_experiments, check_names, running_order
from classgram.reproduction.plan import Plan, Scale
from classgram.reproduction.samples import (
    READINGS,
    Facts,
    Sample,
    Texts,
    counts_folder,
    is_whole,
    make_counts,
    prepare_texts,
    text_folder,
)
from classgram.reproduction.tables import Experiment, Gap
from classgram.reproduction.workers import Failure, Job, Outcome, Pool

_KIND = "reproduction"

NOT_RUN = Gap("not run")

OnProgress = Callable[[int, int, str], None]
"""Called with how many cells are done, of how many, and what the last one was."""


class _CellWork(NamedTuple):
    """What a worker does for a cell: run it, and save its result."""

    cell: Cell
    work: Path
    result: Path


class _CountWork(NamedTuple):
    """What a worker does for counts that cells share."""

    sample: Sample
    order: int
    work: Path


@dataclass(frozen=True)
class Store:
    """Where results are kept: a folder with a file for each cell, and a folder for what cells share."""

    folder: Path
    text: str
    """The fingerprint of the texts."""

    @property
    def work(self) -> Path:
        """What cells of this text share."""
        return self.folder / "work" / self.text

    def path(self, cell: Cell) -> Path:
        """Return the file of a cell's result."""
        return self.folder / "cells" / f"{cell_key(cell, self.text)}.json"

    @property
    def facts_path(self) -> Path:
        """The file that says how large the texts are."""
        return self.folder / "cells" / f"text-{self.text}.json"

    def facts(self) -> Facts | None:
        """Return how large the texts are, if they have been read before."""
        try:
            return Facts(**json.loads(self.facts_path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None


@dataclass(frozen=True)
class Outcomes:
    """All that a run gave, and all that earlier ones left."""

    plan: Plan
    experiments: list[Experiment]
    store: Store
    failures: dict[Path, Failure]
    stopped: KeyboardInterrupt | None = None
    """What stopped the run before its end."""

    def results(self, cell: Cell) -> dict[str, Any] | Gap:
        """Return a cell's results, or why there are none."""
        path = self.store.path(cell)
        if path in self.failures:
            return Gap(f"failed: {self.failures[path].reason}")
        return load_result(path) or NOT_RUN


def _open_store(output: Path, texts: Texts) -> Store:
    """Return the folder of results, made if it is not there."""
    if output.is_dir() and folder_kind(output) not in (None, _KIND):
        raise InputError(f"{output}: contains another result of classgram; choose another name")
    store = Store(output, texts.fingerprint())
    try:
        output.mkdir(exist_ok=True)
        # First of all, so that the folder is known again even if the run ends here.
        _write_config(store, {})
        for folder in (output / "cells", output / "tables", store.work):
            folder.mkdir(parents=True, exist_ok=True)
            _remove_leftovers(folder)
    except OSError as error:
        raise write_error(output, error) from None
    return store


def _remove_leftovers(folder: Path) -> None:
    """Remove what a killed run had not finished writing; such names begin with a dot."""
    for path in folder.glob(".*"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _describe_run(texts: Texts, plan: Plan) -> dict[str, Any]:
    """Return what was run on what, for config.json."""
    return {
        "scale": plan.scale.name,
        "seed": plan.seed,
        "train": list(texts.train),
        "test": list(texts.test) or f"{texts.test_share:.0%} of the sentences, held out",
        "facts": plan.facts._asdict(),
    }


def _write_config(store: Store, described: dict[str, Any]) -> None:
    """Say what the folder holds, as all results of classgram do."""
    config = {"format": f"classgram-{_KIND}", "version": VERSION, **described, "arrays": {}, "texts": {}}
    with atomic_file(store.folder / CONFIG) as file:
        file.write((json.dumps(config, indent=1, ensure_ascii=False) + "\n").encode())


def _read_facts(store: Store, texts: Texts) -> Facts:
    """Return how large the texts are: from an earlier run, or by reading them."""
    facts = store.facts()
    if facts is None:
        facts = prepare_texts(texts, store.work)
        with atomic_file(store.facts_path) as file:
            file.write((json.dumps(facts._asdict()) + "\n").encode())
    return facts


def _perform(work: _CellWork | _CountWork) -> None:
    """Do a worker's work; results go to files, so that they outlive whoever asked for them."""
    if isinstance(work, _CountWork):
        make_counts(work.work, work.sample, work.order)
    elif load_result(work.result) is None:
        save_result(work.result, work.cell, run_cell(work.cell, work.work))


def reproduce(
    texts: Texts, scale: Scale, output: Path, only: Sequence[str], processes: int, on_progress: OnProgress
) -> Outcomes:
    """Run what has no result yet; stopped by Ctrl-C, everything done so far is kept."""
    check_names(only)
    if processes < 1:
        raise InputError("--workers must be 1 or more")
    store = _open_store(output, texts)
    plan = Plan(scale, _read_facts(store, texts), texts.seed)
    _write_config(store, _describe_run(texts, plan))
    experiments = all_experiments(plan)
    missing = _missing_cells(store, experiments, running_order(only or list(EXPERIMENTS)))
    on_progress(0, len(missing), "")
    if missing and not all(is_whole(text_folder(store.work, reading)) for reading in READINGS):
        prepare_texts(texts, store.work)
    failures, stopped = _run_cells(store, missing, processes, on_progress)
    return Outcomes(plan, experiments, store, failures, stopped)


def _run_cells(
    store: Store, cells: Sequence[Cell], processes: int, on_progress: OnProgress
) -> tuple[dict[Path, Failure], KeyboardInterrupt | None]:
    """Run cells in processes; give what failed, and what stopped the run if it was stopped."""
    failures: dict[Path, Failure] = {}
    finished = 0

    def done(job: Job, outcome: Outcome) -> None:
        nonlocal finished
        if isinstance(job.work, _CellWork):
            finished += 1
            if isinstance(outcome, Failure):
                failures[job.work.result] = outcome
            on_progress(finished, len(cells), _describe(job.work.cell))

    try:
        with Pool(processes, warm_up, _perform) as pool:
            pool.run(_jobs_for(store, cells), done)
    except KeyboardInterrupt as interrupt:
        return failures, interrupt
    return failures, None


def _missing_cells(store: Store, experiments: Sequence[Experiment], names: Sequence[str]) -> list[Cell]:
    """Return the cells of the named experiments that have no result, each once, in the order to run them."""
    by_name = {experiment.name: experiment for experiment in experiments}
    wanted = dict.fromkeys(cell for name in names for cell in by_name[name].cells)
    return [cell for cell in wanted if load_result(store.path(cell)) is None]


def _jobs_for(store: Store, cells: Sequence[Cell]) -> list[Job]:
    """Return the jobs of cells, each after the counts that it shares with others."""
    jobs: dict[str, Job] = {}
    for cell in cells:
        needs: tuple[str, ...] = ()
        if shares_counts(cell):
            folder = counts_folder(store.work, cell.sample, cell.order)
            jobs[folder.name] = Job(folder.name, _CountWork(cell.sample, cell.order, store.work))
            needs = (folder.name,)
        path = store.path(cell)
        jobs[path.name] = Job(path.name, _CellWork(cell, store.work, path), needs)
    return list(jobs.values())


def _describe(cell: Cell) -> str:
    """Return a cell in a few words, for the progress bar."""
    sample = f"{cell.sample.words:,} words" if cell.sample.words else "all words"
    return f"{type(cell).__name__.lower()}, {sample}"
