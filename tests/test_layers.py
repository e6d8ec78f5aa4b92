"""What a kernel may import, and that nobody uses private names of what kernels are compiled with."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"
KERNELS = sorted(SOURCE.glob("classgram/*/_kernels/*.py"))
ALLOWED = ("numpy", "typing", "collections.abc", "math", "classgram.runtime.compiled", "numba.extending")


def imported(path: Path) -> list[str]:
    """The modules that a file imports."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return names


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_kernels_import_the_door_other_kernels_and_numpy_alone(path: Path) -> None:
    others = [name for name in imported(path) if "._kernels" not in name]
    assert [name for name in others if not name.startswith(ALLOWED)] == []


ROOT = SOURCE.parent
FOREIGN = ("numba", "llvmlite", "numpy", "ctypes")
OURS = {"_fields", "_replace", "_asdict", "_make"}
"""Names of named tuples that are documented in spite of their underscore."""


def private(name: object) -> bool:
    """Whether a name is private, and neither Python's own nor of named tuples."""
    return isinstance(name, str) and name.startswith("_") and not name.endswith("__") and name not in OURS


def root_name(node: ast.expr) -> str:
    """The name that a chain of attributes and calls begins with."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def private_uses(path: Path) -> Iterator[str]:
    """The private names of other packages that a file uses: by import, attribute or getattr."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    bound, strict = set(), "compiled" in path.parts or "kernel_build" in path.parts
    for node in nodes:
        module = getattr(node, "module", None) or ""
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                words = [*module.split("."), *alias.name.split(".")]
                foreign = next(filter(None, words)) in FOREIGN
                bound |= {alias.asname or alias.name.split(".")[0]} if foreign else set()
                yield from (f"{node.lineno}: {word}" for word in words if foreign and private(word))
    for node in nodes:
        if isinstance(node, ast.Attribute) and private(node.attr):
            base = root_name(node.value)
            if base in bound or (strict and base not in ("self", "cls")):
                yield f"{node.lineno}: {node.attr}"
        elif isinstance(node, ast.Call) and root_name(node.func) in ("getattr", "hasattr", "setattr"):
            yield from (
                f"{node.lineno}: {word.value!r}"
                for word in node.args
                if isinstance(word, ast.Constant) and private(word.value)
            )


def test_nobody_uses_private_names_of_numba_llvmlite_numpy_or_ctypes() -> None:
    files = [*SOURCE.rglob("*.py"), *(ROOT / "kernel_build").glob("*.py"), ROOT / "hatch_build.py"]
    used = [f"{path.relative_to(ROOT)}:{use}" for path in files for use in private_uses(path)]
    assert used == []


@pytest.mark.parametrize(
    "line",
    [
        "import numpy as np; np._core",
        "from numba import njit; njit(len)._cache",
        "import ctypes; getattr(ctypes, '_fix')",
        "from llvmlite._x import y",
        "from numpy import _core",
    ],
)
def test_private_names_are_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "file.py").write_text(line)
    assert list(private_uses(tmp_path / "file.py"))
