"""The build: every kernel is compiled in one of several processes; a library is linked for each level."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from kernel_build.linking import link
from kernel_build.targets import Target

NUMBA = {
    "CLASSGRAM_KERNELS": "build",
    "NUMBA_OPT": "1",
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_LOOP_VECTORIZE": "0",
    "NUMBA_SLP_VECTORIZE": "0",
}
"""What Numba is told: what it translates must suit all processors, and LLVM makes vectors afterwards."""

Say = Callable[[str], None]


class Compiled(NamedTuple):
    """What one process made of a group of kernels."""

    objects: dict[Target, list[Path]]
    lines: list[str]
    """What the manifest says of them."""
    seconds: float


class Plan(NamedTuple):
    """What is to be built, and how."""

    targets: Sequence[Target]
    linker: str
    folder: Path
    """Where the libraries go."""
    processes: int
    only: tuple[str, ...] = ()
    """Modules whose kernels are built, to try them; without any, all."""

    def library(self, target: Target) -> Path:
        """Give the file of a library."""
        return self.folder / f"kernels-v{target.level}.so"


def is_current(plan: Plan) -> bool:
    """Say whether all libraries are there, made from the sources as they are."""
    os.environ.update(NUMBA)
    from classgram.runtime.compiled.sources import digest_of_sources

    digest = digest_of_sources().encode()
    files = [plan.library(target) for target in plan.targets]
    return all(path.exists() and digest in path.read_bytes() for path in files)


def build(plan: Plan, say: Say) -> list[Path]:
    """Build the libraries; give their files."""
    os.environ.update(NUMBA)
    from classgram.runtime.compiled.sources import digest_of_sources
    from kernel_build.compiling import write_manifest

    began, digest = time.perf_counter(), digest_of_sources()
    with TemporaryDirectory() as scratch:
        made = list(all_compiled(plan, Path(scratch), say))
        text = "\n".join([digest, *(line for group in made for line in group.lines)])
        if digest != digest_of_sources():
            raise RuntimeError("the kernels were edited while they were compiled")
        plan.folder.mkdir(parents=True, exist_ok=True)
        libraries = []
        for target in plan.targets:
            objects = [path for group in made for path in group.objects[target]]
            objects.append(write_manifest(text, target, Path(scratch)))
            library = plan.library(target)
            link(plan.linker, target, objects, library)
            say(f"linked {library.name}: {library.stat().st_size >> 10} KB")
            libraries.append(library)
    say(f"built in {time.perf_counter() - began:.0f} s")
    return libraries


def all_compiled(plan: Plan, scratch: Path, say: Say) -> Iterator[Compiled]:
    """Have all kernels compiled, by several processes."""
    from kernel_build.compiling import compile_group
    from kernel_build.registry import all_groups

    groups = [group for group in all_groups() if not plan.only or group[0].module in plan.only]
    say(f"{sum(map(len, groups))} kernels for {', '.join(target.processor for target in plan.targets)}")
    # New processes find what Numba is told in their environment.
    with ProcessPoolExecutor(plan.processes, get_context("spawn")) as pool:
        waiting = {pool.submit(compile_group, group, plan.targets, scratch): group for group in groups}
        try:
            for number, done in enumerate(as_completed(waiting), 1):
                result, group = done.result(), waiting[done]
                names = ", ".join(task.function for task in group)
                say(f"[{number}/{len(groups)}] {result.seconds:.1f} s: {names}")
                yield result
        finally:
            pool.shutdown(cancel_futures=True)
