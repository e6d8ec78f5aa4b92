"""Work in processes of their own: one that dies takes its job along, and nothing else."""

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple

from classgram.errors import InputError

Perform = Callable[[Any], Any]


class Job(NamedTuple):
    """A piece of work; ``needs`` names jobs that must have been done before."""

    name: str
    work: Any
    needs: tuple[str, ...] = ()


class Failure(NamedTuple):
    """Why a job gave no result."""

    reason: str


Outcome = Any
"""What a job gave, or a Failure."""


@dataclass
class _Worker:
    """A process, and the job that it is busy with."""

    process: SpawnProcess
    connection: "Connection[Any, Any]"
    job: Job | None = None


@dataclass
class Pool:
    """Some processes that perform jobs; a context manager that ends them in the end."""

    number: int
    prepare: Callable[[], None]
    perform: Perform
    workers: list[_Worker] = field(default_factory=list)

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.process.terminate()
        for worker in self.workers:
            worker.process.join()

    def run(self, jobs: Iterable[Job], done: Callable[[Job, Outcome], None]) -> dict[str, Outcome]:
        """Perform all jobs, those that come first first; ``done`` is called with each."""
        waiting = list(jobs)
        outcomes: dict[str, Outcome] = {}

        def settle(job: Job, outcome: Outcome) -> None:
            outcomes[job.name] = outcome
            done(job, outcome)

        while waiting or any(worker.job for worker in self.workers):
            for job in _doomed(waiting, outcomes):
                waiting.remove(job)
                settle(job, _first_failure(job, outcomes))
            self._hand_out(waiting, outcomes)
            for worker in self._ready():
                settle(*self._receive(worker))
        return outcomes

    def _hand_out(self, waiting: list[Job], outcomes: dict[str, Outcome]) -> None:
        """Give every idle worker a job that can be done, and start workers while there are too few."""
        while True:
            job = next((one for one in waiting if all(need in outcomes for need in one.needs)), None)
            if job is None:
                return
            worker = self._idle_worker()
            if worker is None:
                return
            waiting.remove(job)
            worker.job = job
            # One that has died since is noticed when its answer is waited for.
            with suppress(OSError):
                worker.connection.send(job.work)

    def _idle_worker(self) -> _Worker | None:
        """Return a worker without a job, started if there are too few."""
        self.workers = [one for one in self.workers if one.job or one.process.is_alive()]
        idle = next((one for one in self.workers if one.job is None), None)
        if idle is None and len(self.workers) < self.number:
            idle = _start_worker(self.prepare, self.perform)
            self.workers.append(idle)
        return idle

    def _ready(self) -> list[_Worker]:
        """Wait for busy workers that have finished or died."""
        busy = {worker.connection: worker for worker in self.workers if worker.job}
        return [busy[connection] for connection in wait(list(busy))] if busy else []  # type: ignore[index]

    def _receive(self, worker: _Worker) -> tuple[Job, Outcome]:
        """Return a worker's job and its outcome; a worker that died is removed."""
        job, worker.job = worker.job, None
        assert job is not None
        try:
            return job, worker.connection.recv()
        except (EOFError, OSError):
            worker.process.join()
            self.workers.remove(worker)
            return job, Failure(_reason_of_death(worker.process.exitcode))


def _doomed(waiting: Sequence[Job], outcomes: dict[str, Outcome]) -> list[Job]:
    """Return the jobs that need one that failed."""
    return [job for job in waiting if any(isinstance(outcomes.get(need), Failure) for need in job.needs)]


def _first_failure(job: Job, outcomes: dict[str, Outcome]) -> Failure:
    """Return the failure that a job fails by, too."""
    return next(found for need in job.needs if isinstance(found := outcomes.get(need), Failure))


def _reason_of_death(code: int | None) -> str:
    """Return why a process ended that should not have."""
    if code == -signal.SIGKILL:
        return "its process was killed, most likely for lack of memory"
    return f"its process ended with exit code {code}"


def _start_worker(prepare: Callable[[], None], perform: Perform) -> _Worker:
    """Start a process that waits for work."""
    # Spawned, not forked: threads and compiled code do not survive a fork.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, prepare, perform), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _serve(connection: "Connection[Any, Any]", prepare: Callable[[], None], perform: Perform) -> None:
    """Perform what is asked for until nobody asks any more."""
    # Ctrl-C goes to the whole group of processes; the one that started us decides what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepared = False
    while True:
        try:
            work = connection.recv()
        except EOFError:
            return
        try:
            if not prepared:
                prepare()
                prepared = True
            outcome = perform(work)
        except MemoryError:
            outcome = Failure("not enough memory")
        except InputError as error:
            outcome = Failure(str(error))
        except Exception as error:
            outcome = Failure(f"{type(error).__name__}: {error}")
        try:
            connection.send(outcome)
        except OSError:
            return
