"""What a kernel may import: the door to compiled code, other kernels, and NumPy."""

import ast
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
