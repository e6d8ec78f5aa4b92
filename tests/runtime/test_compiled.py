"""Kernels of the library as Python calls them, and what happens where the library cannot be used."""

import ctypes
import os
import pickle
import subprocess
import sys
import threading
from copy import deepcopy
from pathlib import Path
from struct import pack, unpack
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest

from classgram.errors import InputError
from classgram.runtime import compiled
from classgram.runtime.compiled import NUMBA, Mode, chosen_mode, frozen, library, self_check
from classgram.runtime.compiled.arguments import described, with_numbers
from classgram.runtime.compiled.calls import Entry, LibraryKernel
from classgram.runtime.compiled.library import NoLibraryError, load_library
from classgram.runtime.compiled.results import KernelError, with_result
from classgram.runtime.compiled.self_check import Sample, check_calls, mixed, sample_arguments
from tests.helpers.command import in_shell

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with libraries for all levels that hold the kernel of the self-check alone."""
    folder = tmp_path_factory.mktemp("libraries")
    words = ["-m", "kernel_build", "--all-levels", "--only", "classgram.runtime.compiled.self_check"]
    command = [sys.executable, *words, "--output", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def here(small: Path) -> Any:
    """The same, as if it had come with the package."""
    with patch.object(library, "FOLDER", small):
        yield small


@pytest.mark.usefixtures("here")
def test_every_kind_of_argument_arrives() -> None:
    kernel = load_library().kernel(mixed)
    check_calls(kernel)
    given, expected = sample_arguments(), sample_arguments()
    sample = with_numbers(given[0]._replace(narrow=with_numbers(given[0].narrow)))
    result = kernel(sample, with_numbers(given[1]), frozen(given[2]))
    assert result == mixed(*expected)
    assert [type(value) for value in result] == [int, float, bool, int]
    # What was frozen is written to all the same: only plain Python and Numba look at the flag.
    assert given[2].tolist() == expected[2].tolist()


@pytest.mark.usefixtures("here")
def test_every_level_gives_the_same(small: Path) -> None:
    assert sorted(path.name for path in small.iterdir()) == [f"kernels-v{level}.so" for level in (2, 3, 4)]
    best = load_library()
    for level in range(2, best.level + 1):
        opened = library.opened(small / f"kernels-v{level}.so")
        check_calls(library.read_library(opened, level).kernel(mixed))


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "change",
    [
        {"cube": np.zeros((2, 2, 3), np.int64)},
        {"matrix": np.zeros((3, 2), np.int64).T},
        {"bits": np.zeros((1, 1), np.uint64)},
        {"singles": np.zeros(4, np.float32)[::2]},
        {"reals": np.zeros((3, 2)).astype(">f8")},
        {"whole": 0.5},
        {"narrow": (1, 2)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_the_kernel_does_not_state_is_refused(change: dict[str, Any]) -> None:
    sample, *others = sample_arguments()
    with pytest.raises(TypeError, match="the kernel mixed takes"):
        load_library().kernel(mixed)(sample._replace(**change), *others)


@pytest.mark.usefixtures("here")
def test_integers_become_floats_where_the_kernel_takes_floats() -> None:
    sample, _, out = sample_arguments()
    kernel = load_library().kernel(mixed)
    for _ in range(2):
        assert kernel(sample._replace(real=3), (7, 2), out) == mixed(sample._replace(real=3.0), (7, 2.0), out)


def test_other_values_are_refused() -> None:
    for value in ("text", None, [1], np.datetime64(1, "s"), np.zeros((1, 1, 1, 1))):
        with pytest.raises(TypeError, match="kernels take"):
            described(value)


def named(fields: str) -> Any:
    """A named tuple that is called like others."""

    class Pair(NamedTuple):
        first: int
        second: float

    class Swapped(NamedTuple):
        second: int
        first: float

    Swapped.__qualname__, Swapped.__name__ = Pair.__qualname__, Pair.__name__
    return (Pair if fields == "first" else Swapped)(1, 2.0)


def test_named_tuples_of_one_name_with_swapped_fields_are_told_apart() -> None:
    pair, swapped = named("first"), named("second")
    assert type(pair).__qualname__ == type(swapped).__qualname__
    kinds = (described(pair)[0],)

    def total(pair: Any) -> float:
        return float(pair[0] + pair[1])

    def enter(numbers: bytes, room: Any) -> int:
        whole, real = unpack("qd", numbers)
        room[:8] = pack("d", whole + real)
        return 0

    kernel = LibraryKernel(total, [Entry(kinds, enter, "float")])
    assert kernel(pair) == 3.0
    with pytest.raises(TypeError, match="total takes"):
        kernel(swapped)


def test_a_kernel_that_ends_badly_raises_an_error() -> None:
    with pytest.raises(KernelError, match="failing ended with status 1"):
        with_result(lambda numbers, room: 1, "", None, "failing")(b"")


@pytest.mark.usefixtures("here")
def test_a_kernel_that_is_not_in_the_library_is_named() -> None:
    with pytest.raises(KernelError, match=r"no kernel .*described.*CLASSGRAM_KERNELS=numba"):
        load_library().kernel(described)


def test_prepared_tuples_are_what_they_were() -> None:
    plain: Sample = sample_arguments()[0]
    ready = with_numbers(plain)
    assert with_numbers(ready) is ready
    assert isinstance(ready, Sample)
    assert described(ready) == described(plain)
    for copy in (deepcopy(ready), pickle.loads(pickle.dumps(ready))):
        assert type(copy) is Sample
        assert copy.cube.tolist() == plain.cube.tolist()
    # What is changed is described anew.
    assert described(ready._replace(whole=5)) == described(plain._replace(whole=5))


def test_memory_mapped_arrays_are_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "matrix.npy", np.ones((2, 3), np.float32))
    assert described(np.load(tmp_path / "matrix.npy", mmap_mode="r"))[0] == "float32[2]"


@pytest.mark.usefixtures("here")
def test_threads_run_a_kernel_at_the_same_time() -> None:
    kernel, right = load_library().kernel(mixed), mixed(*sample_arguments())
    results: list[Any] = []
    calls = [threading.Thread(target=lambda: results.append(kernel(*sample_arguments()))) for _ in range(8)]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    assert results == [right] * 8


@pytest.mark.usefixtures("here")
def test_a_stale_library_is_reported_once_and_numba_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    with patch.object(library, "digest_of_sources", return_value="other"):
        mode = chosen_mode("")
        with pytest.raises(NoLibraryError, match="older than their sources"):
            chosen_mode("library")
    assert (mode.name, mode.library) == (NUMBA, None)
    assert capsys.readouterr().err == (
        "classgram: the compiled kernels are older than their sources; Numba compiles what is needed\n"
    )


@pytest.mark.usefixtures("here")
def test_a_library_that_fails_its_check_is_not_used(capsys: pytest.CaptureFixture[str]) -> None:
    with patch.object(self_check, "mixed", lambda *_: (0, 0.0, False, 0)):
        mode = chosen_mode("")
    assert mode.name == NUMBA
    told = capsys.readouterr().err
    assert told.startswith("classgram: the compiled kernels do not work here (compiled kernels give (")
    assert told.count("\n") == 1


def test_without_a_library_numba_compiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with patch.object(library, "FOLDER", tmp_path):
        assert chosen_mode("").name == NUMBA
        assert "built without compiled kernels; Numba compiles" in capsys.readouterr().err
        with (
            patch.object(compiled, "find_spec", return_value=None),
            pytest.raises(InputError, match=r"kernels; pip install .classgram\[numba\]"),
        ):
            chosen_mode("")


def test_a_damaged_library_is_no_library(tmp_path: Path) -> None:
    (tmp_path / "kernels-v2.so").write_bytes(b"no library")
    with patch.object(library, "FOLDER", tmp_path), pytest.raises(NoLibraryError, match="cannot be loaded"):
        load_library()


@pytest.mark.usefixtures("here")
def test_a_processor_of_a_lower_level_is_told() -> None:
    class Old(ctypes.CDLL):
        def __getitem__(self, name: str) -> Any:
            return lambda: 1

    with (
        patch.object(library, "opened", lambda path: Old(str(path))),
        pytest.raises(NoLibraryError, match="need a processor of level 2, this is 1"),
    ):
        load_library()


def test_modes_have_names() -> None:
    assert str(Mode("python")) == "plain Python"
    assert str(Mode(NUMBA)) == "compiled by Numba when first used"
    with pytest.raises(InputError, match="CLASSGRAM_KERNELS=fast: it can be library, numba or python"):
        chosen_mode("fast")


@pytest.mark.usefixtures("here")
def test_a_mode_tells_the_level() -> None:
    assert str(Mode("library", load_library())).startswith("compiled for x86-64-v")


def test_the_command_tells_the_mode() -> None:
    told = in_shell("$CLASSGRAM info --version --json", CLASSGRAM_KERNELS="python")
    assert '"kernels": "plain Python"' in told.out
    assert in_shell("$CLASSGRAM info --version", CLASSGRAM_KERNELS="fast").code == 2


def test_no_command_imports_numba_with_a_library(tmp_path: Path) -> None:
    if compiled.MODE.library is None:
        assert os.environ.get("CLASSGRAM_KERNELS") or not list(library.FOLDER.glob("*"))
        return
    (tmp_path / "text").write_text("a b c d\nb c a d e\nc a b f\n" * 20)
    (tmp_path / "run.py").write_text(
        "import sys\nfrom classgram.__main__ import load_commands\n"
        'load_commands()(sys.argv[1:], result_action="return_value")\n'
        'print([name for name in ("numba", "llvmlite") if name in sys.modules])\n'
    )
    for line in ("count text -o counts", "cluster text --classes 5 --criterion loo -o classes"):
        done = in_shell(f"cd {tmp_path} && {sys.executable} run.py {line} --quiet")
        assert done.out.splitlines()[-1:] == ["[]"], done.err
