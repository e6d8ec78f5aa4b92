"""Kernels come from the disk without readying the compiler, and Numba's own way is always left."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.command import environment

PROGRAM = """
import numba.core.base as base
refreshed = []
plain = base.BaseContext.refresh
base.BaseContext.refresh = lambda context: (refreshed.append(1), plain(context))[1]
{before}
import numpy as np
from classgram.kernels import frozen
from classgram.kernels.counting import renumber
ids = frozen(np.array([1, 0, 5], np.int32))
out = np.empty(2, np.int32)
renumber(ids[:2], ids, out)
print(out.tolist(), len(renumber.stats.cache_hits), len(refreshed) > 0)
{after}
"""

COMPILE = """
from classgram.kernels.class_table import cell
from classgram.kernels import lean_kernel

@lean_kernel
def outer(cells, row, column):
    return cell(cells, row, column)

renumber(ids[:2], np.array([7, 8], np.int32), out)
print(out.tolist(), outer(np.eye(2, dtype=np.int32), 1, 1))
"""


def run(cache: Path | None, before: str = "", after: str = "") -> list[str]:
    """What a process prints that calls a kernel."""
    folder = tempfile.mkdtemp(prefix="classgram-program-")
    program = Path(folder, "program.py")
    program.write_text(PROGRAM.format(before=before, after=after))
    done = subprocess.run(
        [sys.executable, str(program)],
        env=environment(**({} if cache is None else {"NUMBA_CACHE_DIR": str(cache)})),
        capture_output=True,
        text=True,
    )
    shutil.rmtree(folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that holds the kernel."""
    cache = tmp_path_factory.mktemp("kernels")
    assert run(cache) == ["[0, 1] 0 True"]
    return cache


def test_a_kernel_on_disk_is_loaded_without_the_compiler(filled: Path) -> None:
    assert run(filled) == ["[0, 1] 1 False"]


def test_kernels_compile_after_one_was_loaded(filled: Path) -> None:
    assert run(filled, after=COMPILE) == ["[0, 1] 1 False", "[8, 7] 1"]


@pytest.mark.parametrize(
    "before",
    [
        # A name whose address is not known.
        "from llvmlite import binding; binding.address_of_symbol = lambda name: None",
        # A runtime that cannot be made ready alone.
        "from numba.core.runtime import nrt; nrt.rtsys = None",
    ],
)
def test_what_is_missing_is_fetched_in_numbas_own_way(filled: Path, before: str) -> None:
    assert run(filled, before) == ["[0, 1] 1 True"]


def test_a_numba_with_other_inner_names_caches_in_its_own_way(tmp_path: Path) -> None:
    other = "from numba.core import caching; del caching.CompileResultCacheImpl"
    assert run(tmp_path, other) == ["[0, 1] 0 True"]
    assert run(tmp_path, other) == ["[0, 1] 1 True"]
    # The two kinds of files do not meet.
    assert run(tmp_path) == ["[0, 1] 0 True"]


def test_names_that_numba_does_not_tell_are_never_known() -> None:
    from llvmlite import binding

    from classgram.kernels.caching import called_names

    assert all(binding.address_of_symbol(name) is None for name in called_names(object()))


@pytest.mark.parametrize("before", ["", "from numba.core import caching; del caching.CompileResultCacheImpl"])
def test_without_a_writable_folder_kernels_are_compiled_each_time(before: str) -> None:
    locked = "import tempfile\ndef refuse(*_, **__): raise PermissionError\ntempfile.TemporaryFile = refuse\n"
    for _ in range(2):
        assert run(None, locked + before) == ["[0, 1] 0 True"]
