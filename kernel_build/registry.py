"""All entry kernels of the package, found by importing the modules that hold them."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

from classgram.runtime.compiled import ENTRIES
from classgram.runtime.compiled.sources import PACKAGE, kernel_sources
from kernel_build.signatures import Signature, signatures_of


class Task(NamedTuple):
    """A kernel to be compiled for one signature."""

    module: str
    function: str
    choice: int
    """Which of the kernel's signatures."""

    @property
    def name(self) -> str:
        """What the run side calls the kernel."""
        return f"{self.module}.{self.function}"

    @property
    def symbol(self) -> str:
        """What the linker calls it."""
        return f"{self.name}.{self.choice}".replace(".", "_")

    def kernel(self) -> Callable[..., Any]:
        """Give the kernel, as Numba calls it."""
        found: Callable[..., Any] = getattr(import_module(self.module), self.function)
        return found

    def signature(self) -> Signature:
        """Give the signature."""
        kernel = self.kernel()
        return signatures_of(getattr(kernel, "py_func", kernel))[self.choice]


def import_kernels() -> None:
    """Import all modules that hold kernels."""
    for path in kernel_sources():
        words = path.relative_to(PACKAGE.parent).with_suffix("").parts
        import_module(".".join(words).removesuffix(".__init__"))


def all_tasks() -> list[Task]:
    """Give all kernels and signatures of the package."""
    import_kernels()
    return [task for function in ENTRIES for task in tasks_of(function)]


def tasks_of(function: Callable[..., Any]) -> Iterator[Task]:
    """Give a kernel for each of its signatures."""
    for choice in range(len(signatures_of(function))):
        yield Task(function.__module__, function.__name__, choice)


def all_groups() -> list[list[Task]]:
    """Give all tasks in groups that share most of their parts, those that take longest first.

    A part is compiled once in a process; kernels of one module, for one form of tables, have many in common.
    """
    groups: dict[tuple[str, int], list[Task]] = {}
    for task in all_tasks():
        groups.setdefault((task.module, task.choice), []).append(task)
    return sorted(groups.values(), key=lambda group: -sum(len(task.signature().kinds) for task in group))
