"""Kernels run as machine code from the disk, as they would by Numba, which is imported only to compile."""

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from llvmlite import binding

from classgram.runtime.compiled import frozen, lean_kernel, packed
from classgram.runtime.compiled.arguments import unpacked
from classgram.runtime.compiled.calling import Kernel
from classgram.runtime.compiled.machine_code import KernelError, MachineCode, linked, with_result
from classgram.runtime.compiled.storing import Store, decoded, encoded, folders
from tests.helpers.command import environment, in_shell

PROGRAM = """
import sys
{before}
import numpy as np
from classgram.runtime.compiled import frozen
from classgram.counts._kernels.counting import renumber
ids = frozen(np.array([1, 0, 5], np.int32))
out = np.empty(2, np.int32)
renumber(ids[:2], ids, out)
print(out.tolist(), "numba" in sys.modules)
{after}
"""

COMPILE = """
from classgram.clustering._kernels.class_table import cell
from classgram.runtime.compiled import lean_kernel

@lean_kernel
def outer(cells, row, column):
    return cell(cells, row, column)

renumber(ids[:2], np.array([7, 8], np.int32), out)
print(out.tolist(), outer(np.eye(2, dtype=np.int32), 1, 1))
"""

LOADED, COMPILED = "[0, 1] False", "[0, 1] True"


def run(cache: Path, before: str = "", after: str = "", program: str = PROGRAM) -> list[str]:
    """What a process prints that calls a kernel."""
    folder = tempfile.mkdtemp(prefix="classgram-program-")
    path = Path(folder, "program.py")
    path.write_text(program.format(before=before, after=after))
    done = subprocess.run(
        [sys.executable, str(path)],
        env=environment(NUMBA_CACHE_DIR=str(cache)),
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
    assert run(cache) == [COMPILED]
    return cache


@pytest.fixture
def copied(filled: Path, tmp_path: Path) -> Path:
    """The same, to be damaged."""
    return Path(shutil.copytree(filled, tmp_path / "copied"))


def only_file(cache: Path) -> Path:
    """The machine code that a cache holds."""
    (path,) = cache.glob("*/*.code")
    return path


def test_a_kernel_on_disk_runs_without_numba(filled: Path) -> None:
    assert run(filled) == [LOADED]


def test_kernels_compile_after_one_was_loaded(copied: Path) -> None:
    assert run(copied, after=COMPILE) == [LOADED, "[8, 7] 1"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[: len(content) // 2],
        lambda content: content[:600] + bytes([content[600] ^ 1]) + content[601:],
        lambda content: b"x" * len(content),
    ],
)
def test_a_damaged_file_is_made_again(copied: Path, damage: Callable[[bytes], bytes]) -> None:
    path = only_file(copied)
    path.write_bytes(damage(path.read_bytes()))
    assert run(copied) == [COMPILED]
    assert run(copied) == [LOADED]


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_damaged_files_of_parts_are_made_again(copied: Path, ending: str) -> None:
    only_file(copied).unlink()
    damaged = list(copied.glob(f"*/*.{ending}"))
    for path in damaged:
        path.write_bytes(b"garbage" if ending == "nbc" else path.read_bytes()[:40])
    assert damaged
    assert run(copied) == [COMPILED]
    assert run(copied) == [LOADED]


def test_nobody_needs_a_home() -> None:
    with (
        patch.dict(os.environ),
        patch.object(Path, "expanduser", side_effect=RuntimeError("no home")),
    ):
        os.environ.pop("NUMBA_CACHE_DIR", None)
        os.environ.pop("XDG_CACHE_HOME", None)
        assert folders(Path("/somewhere/kernel.py")) == [Path("/somewhere/__pycache__")]


def test_a_file_for_other_sources_is_made_again(copied: Path, tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    folder = str(tmp_path / "sources")
    other = f"from classgram.runtime.compiled import storing; storing.SOURCES = storing.Path({folder!r})"
    assert run(copied, other) == [COMPILED]
    assert run(copied, other) == [LOADED]
    assert run(copied) == [COMPILED]


def test_a_kernel_whose_part_was_edited_is_compiled_again(tmp_path: Path) -> None:
    source = tmp_path / "edited.py"
    text = (
        "from classgram.runtime.compiled import lean_kernel\n@lean_kernel\ndef part(x):\n    return x + {}\n"
        "@lean_kernel\ndef whole(x):\n    return 10 * part(x)\nprint(whole(1))\n"
    )
    for number in (1, 2):
        source.write_text(text.format(number))
        cache = environment(NUMBA_CACHE_DIR=str(tmp_path / "cache"))
        done = subprocess.run([sys.executable, str(source)], env=cache, capture_output=True, text=True)
        assert done.stdout == f"{10 * (1 + number)}\n", done.stderr


def test_without_a_writable_folder_kernels_are_compiled_each_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for _ in range(2):
        assert run(tmp_path / "file" / "cache") == [COMPILED]


@pytest.mark.parametrize(
    "before",
    [
        # A name that this process does not know.
        "from classgram.runtime.compiled import calling\n"
        "def refuse(*_): raise RuntimeError\ncalling.linked = refuse",
        # A Numba of another make.
        "from classgram.runtime.compiled import numba_compiler\n"
        "def fail(*_): raise AttributeError\n"
        "numba_compiler.machine_code = fail",
        "from numba.core import caching; del caching.CompileResultCacheImpl",
    ],
)
def test_where_machine_code_cannot_be_had_numba_calls_the_kernel(tmp_path: Path, before: str) -> None:
    after = "from classgram.runtime.compiled import packed\n"
    after += "from classgram.counts._kernels.counting import Level, Tallies, fill_level\n"
    after += "one, counts = np.ones(1, np.int32), np.zeros(1, np.int64)\n"
    after += "tallies = packed(Tallies(one, np.zeros(1, np.int32), one))\n"
    after += "level = Level(counts, np.zeros(1, np.int32), counts)\n"
    after += "fill_level(0, 1, 0, tallies, np.zeros(1, np.int64), level)\n"
    after += "print(counts)\n"
    for _ in range(2):
        assert run(tmp_path, before, after) == [COMPILED, "[1]"]


def test_code_that_calls_what_is_not_here_is_refused() -> None:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(codemodel="jitdefault", jit=True)
    text = "declare i32 @no_such_name()\ndefine i32 @enter_kernel(i64 %a, i64 %b) {\n"
    text += "  %r = call i32 @no_such_name()\n  ret i32 %r\n}\n"
    entry = machine.emit_object(binding.parse_assembly(text))
    kernel = machine.emit_object(binding.parse_assembly("define i32 @other() {\n  ret i32 0\n}\n"))
    with pytest.raises(RuntimeError, match="missing"):
        linked(MachineCode("", kernel, entry), "missing")


def test_a_kernel_that_ends_badly_raises_an_error() -> None:
    with pytest.raises(KernelError, match="failing ended with status 1"):
        with_result(lambda numbers, room: 1, "", "failing")(b"")


def test_machine_code_survives_its_file() -> None:
    code = MachineCode("(d0xl0x)", b"\n kernel \x00", b"entry\n")
    assert decoded(encoded(code)) == code


class Inner(NamedTuple):
    numbers: np.ndarray
    scale: float


class Outer(NamedTuple):
    inner: Inner
    matrix: np.ndarray
    flag: bool
    shift: int


def total_of(
    outer: Outer, pair: tuple[np.ndarray, int], factor: Any, out: np.ndarray
) -> tuple[float, int, bool]:
    """Use everything that kernels can get."""
    total = 0.0
    for row in range(outer.matrix.shape[0]):
        for column in range(outer.matrix.shape[1]):
            total += outer.matrix[row, column] * (row + 3 * column) * outer.inner.scale
    for index in range(outer.inner.numbers.size):
        total += outer.inner.numbers[index] + factor
    for index in range(out.size):
        out[index] = pair[0][index] + pair[1] + outer.shift
    return total, out.size - 7, outer.flag


total_kernel = lean_kernel(total_of)


def matrices() -> list[np.ndarray]:
    """A matrix in every layout."""
    plain = np.arange(6, dtype=np.float32).reshape(2, 3)
    wide = np.arange(24, dtype=np.float32).reshape(4, 6)
    return [plain, frozen(plain), np.asfortranarray(plain), plain.T, wide[::2, ::2], plain[:1], plain[:0]]


@pytest.mark.parametrize("matrix", matrices(), ids=lambda matrix: f"{matrix.shape} {matrix.strides}")
@pytest.mark.parametrize(
    "factor", [2, -3, 0.5, True, np.int8(-5), np.uint16(7), np.float32(1.5), np.bool_(True)]
)
def test_machine_code_gets_and_gives_what_the_plain_function_does(matrix: np.ndarray, factor: Any) -> None:
    outer = Outer(Inner(np.array([1, -2], np.int16), 1.25), matrix, matrix.shape[0] == 2, -4)
    out, expected = np.zeros(3, np.int64), np.zeros(3, np.int64)
    pair = (np.array([5, 6, 7], np.int32), 100)
    assert total_kernel(outer, pair, factor, out) == total_of(outer, pair, factor, expected)
    assert out.tolist() == expected.tolist()
    again = total_kernel(packed(outer), packed(pair), factor, out)
    assert again == total_of(outer, pair, factor, expected)
    assert [type(value) for value in again] == [float, int, bool]


def test_memory_mapped_arrays_are_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "matrix.npy", np.ones((2, 3), np.float32))
    matrix = np.load(tmp_path / "matrix.npy", mmap_mode="r")
    outer = Outer(Inner(np.zeros(0, np.int16), 1.0), matrix, False, 0)
    nothing = np.zeros(0, np.int64)
    assert total_kernel(outer, (nothing, 0), 0, nothing) == (21.0, -7, False)


def test_packed_tuples_are_what_they_were() -> None:
    plain = Outer(Inner(np.zeros(1), 2.0), np.zeros((1, 1)), True, 3)
    ready = packed(plain._replace(inner=packed(plain.inner)))
    assert isinstance(ready, Outer)
    assert ready.shift == 3
    assert type(unpacked(ready)) is Outer
    assert type(unpacked(ready).inner) is Inner
    for copy in (deepcopy(ready), pickle.loads(pickle.dumps(ready))):
        assert type(copy) is Outer
        assert copy.matrix.tolist() == [[0.0]]
    # What is changed is described anew.
    other = ready._replace(inner=Inner(np.array([4], np.int16), 1.0))
    nothing = np.zeros(0, np.int64)
    assert total_kernel(other, (nothing, 0), 1, nothing)[0] == 5.0


def test_other_values_are_refused() -> None:
    with pytest.raises(TypeError, match="not str"):
        total_kernel("text", (1, 2), 3, 4)  # type: ignore[arg-type]


@lean_kernel
def busy(rounds: int, out: np.ndarray) -> int:
    """Take time."""
    for index in range(rounds):
        out[index & 7] += index ^ out[(index + 1) & 7]
    return rounds


def test_threads_load_a_kernel_once_and_run_it_at_the_same_time() -> None:
    fresh: Any = Kernel(busy.py_func, busy.targetoptions)  # type: ignore[attr-defined]
    results: list[int] = []
    threads = [
        threading.Thread(target=lambda: results.append(fresh(1000, np.zeros(8, np.int64)))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [1000] * 8
    assert len(fresh._calls) == 1


def test_python_goes_on_while_a_kernel_runs() -> None:
    out = np.zeros(8, np.int64)
    busy(1, out)
    ended = []
    # For a second or so. If a kernel kept Python's lock, it would be over before this thread's turn.
    thread = threading.Thread(target=lambda: ended.append(busy(1_000_000_000, out)))
    thread.start()
    turns = 0
    while not ended and turns < 10:
        time.sleep(0.001)
        turns += 1
    assert not ended
    thread.join()
    assert ended == [1_000_000_000]


INTERRUPTED = """
import signal, sys
import numpy as np
from classgram.runtime.compiled import calling
from classgram.counts._kernels.counting import count_words
linked, ids, out = calling.linked, np.zeros(3, np.int32), np.zeros(2, np.int64)

def interrupt(*arguments):
    signal.raise_signal(signal.SIGINT)
    return linked(*arguments)

calling.linked = interrupt
try:
    count_words(ids, out)
except KeyboardInterrupt:
    print("interrupted")
calling.linked = linked
count_words(ids, out)
print(out.tolist(), "numba" in sys.modules)
"""


def test_a_kernel_whose_loading_was_interrupted_is_loaded_again(tmp_path: Path) -> None:
    run(
        tmp_path,
        after="from classgram.counts._kernels.counting import count_words\n"
        "count_words(np.zeros(3, np.int32), np.zeros(2, np.int64))",
    )
    assert run(tmp_path, program=INTERRUPTED) == ["interrupted", "[3, 0] False"]


def test_what_cannot_be_stored_has_no_file() -> None:
    space: dict[str, Any] = {}
    exec(compile("def shown(x):\n    return x", "<prompt>", "exec"), space)
    store = Store(space["shown"])
    store.save(("int64",), MachineCode("", b"", b""))
    assert store.load(("int64",)) is None


WARM = """
import sys
from classgram.__main__ import load_commands
load_commands()(sys.argv[1:], result_action="return_value")
print([name for name in ("numba", "llvmlite") if name in sys.modules])
"""


@pytest.mark.parametrize(
    "command",
    ["count", "cluster --classes 5 --quiet", "cluster --classes 5 --criterion loo --threads 2 --quiet"],
)
def test_commands_whose_kernels_are_on_disk_do_not_import_numba(tmp_path: Path, command: str) -> None:
    (tmp_path / "text").write_text("a b c d\nb c a d e\nc a b f\n" * 20)
    (tmp_path / "warm.py").write_text(WARM)
    line = f"cd {tmp_path} && {sys.executable} warm.py {command.replace(' ', ' text ', 1)}"
    line += "" if " " in command else " text"
    for folder in ("one", "two"):
        done = in_shell(f"{line} -o {folder}")
    assert done.code == 0, done.err
    assert done.out.splitlines()[-1] == "['llvmlite']"
