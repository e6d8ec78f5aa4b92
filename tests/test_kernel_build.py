"""Signatures from annotations: every choice, and a clear error where an annotation does not say enough."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest

from classgram.runtime.compiled import library
from classgram.runtime.compiled.arguments import tuple_name
from classgram.runtime.compiled.arrays import Float64Matrix, Int32Array, Int32Matrix, Int64Array
from classgram.runtime.compiled.self_check import check_calls, mixed
from kernel_build.optimising import AvxError, check_no_avx
from kernel_build.signatures import AnnotationError, signatures_of
from kernel_build.wrappers import Wrapper, result_kind


class Sparse(NamedTuple):
    starts: Int64Array
    counts: Int32Array


Cells = Annotated[Any, Int32Matrix | Sparse]


class Table(NamedTuple):
    cells: Cells
    scale: float


ROOT = Path(__file__).resolve().parents[1]
DENSE, SPARSE = "int32[2]", f"{tuple_name(Sparse)}(int64[1],int32[1])"


def plain(values: Float64Matrix, pair: tuple[int, np.float32], flag: bool) -> tuple[int, float]:
    return int(values.size) + pair[0], float(pair[1] * flag)


def either(table: Table, other: Cells, amounts: Int32Array | Int64Array) -> None:
    pass


def dense(table: Annotated[Table, Int32Matrix]) -> int:
    return int(table.cells.size)


def test_a_kernel_has_a_signature() -> None:
    (signature,) = signatures_of(plain)
    assert signature.kinds == "float64[2];(int,float);int"
    assert result_kind(signature.result) == "(int,float)"


def test_choices_hold_for_all_arguments() -> None:
    kinds = [signature.kinds for signature in signatures_of(either)]
    assert sorted(kinds) == sorted(
        f"{tuple_name(Table)}({cells},float);{cells};{amounts}"
        for cells in (DENSE, SPARSE)
        for amounts in ("int32[1]", "int64[1]")
    )


def test_a_choice_can_be_made() -> None:
    (signature,) = signatures_of(dense)
    assert signature.kinds == f"{tuple_name(Table)}({DENSE},float)"


def test_wrappers_read_numbers_in_order() -> None:
    (signature,) = signatures_of(plain)
    lines = Wrapper(plain, signature).source.splitlines()
    assert lines[2].strip() == (
        "result = kernel(carray(pointer_at(numbers[0]), (numbers[1], numbers[2], ), np.float64), "
        "(numbers[3], np.float32(np.int64(numbers[4]).view(np.float64)), ), numbers[5] != 0)"
    )


def unclear_array(good: int, values: npt.NDArray[np.int32]) -> None:
    pass


def unclear_dtype(values: np.ndarray[tuple[int], np.dtype[Any]]) -> None:
    pass


class Holder(NamedTuple):
    inner: list[int]


def unclear_field(holder: Holder) -> None:
    pass


def unclear_length(values: tuple[int, ...]) -> None:
    pass


def unclear_result(count: int) -> Int32Array:
    return np.zeros(count, np.int32)


def unclear_any(count: Any) -> None:
    pass


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (unclear_array, "unclear_array, argument values: .* how many dimensions"),
        (unclear_dtype, "unclear_dtype, argument values: .* what numbers"),
        (unclear_field, "unclear_field, argument holder, inner: .* does not say what it holds"),
        (unclear_length, "unclear_length, argument values: .* does not say what it holds"),
        (unclear_result, "unclear_result, result: kernels give numbers"),
        (unclear_any, "unclear_any, argument count: .* does not say what it holds"),
    ],
)
def test_an_error_names_the_kernel_and_the_argument(function: Any, told: str) -> None:
    with pytest.raises(AnnotationError, match=told):
        signatures_of(function)


def test_an_annotation_may_not_be_missing() -> None:
    def bare(values) -> None:  # type: ignore[no-untyped-def]
        pass

    with pytest.raises(AnnotationError, match="bare, values: there is no annotation"):
        signatures_of(bare)


def test_no_instruction_of_avx_on_the_lowest_level() -> None:
    check_no_avx("\tmovaps\t%xmm0, %xmm1\n\taddps\t%xmm1, %xmm2\n.verbose: nothing\n", "good")
    for line in ("\tvaddps\t%xmm0, %xmm1, %xmm2", "\tmovq\t%ymm3, %rax"):
        with pytest.raises(AvxError, match="kernel bad for the lowest level has"):
            check_no_avx(f"\tret\n{line}\n", "bad")


@pytest.mark.release
def test_all_kernels_can_be_built_for_the_lowest_level(tmp_path: Path) -> None:
    done = built(tmp_path, sys.executable, "--all-levels")
    assert "kernels for x86-64-v2" in done


@pytest.mark.release
def test_the_oldest_numba_that_is_allowed_builds_them(tmp_path: Path) -> None:
    """The newest is what pip installs for every build."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lowest = [
        name.replace(">=", "==") + ".*" for name in project["build-system"]["requires"] if "num" in name
    ]
    python = str(tmp_path / "venv" / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([*pip, *lowest], check=True)
    built(tmp_path / "libraries", python)
    with patch.object(library, "FOLDER", tmp_path / "libraries"):
        check_calls(library.load_library().kernel(mixed))


def built(folder: Path, python: str, *words: str) -> str:
    """Build libraries in a folder; give what was reported."""
    command = [python, "-m", "kernel_build", "--output", str(folder), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr
