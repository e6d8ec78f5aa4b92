"""The sources of all kernels, and a digest of them: machine code is compared with what it was made from."""

from hashlib import blake2b
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
"""The folder of the package."""


def kernel_sources() -> list[Path]:
    """Give the files that hold kernels, and those that say what their annotations mean."""
    own = [PACKAGE / "runtime" / "compiled" / name for name in ("arrays.py", "self_check.py")]
    return [*own, *sorted(PACKAGE.glob("*/_kernels/*.py"))]


def digest_of_sources() -> str:
    """Give a digest of all kernels, since each is made of parts in many files."""
    result = blake2b(digest_size=16)
    for path in kernel_sources():
        content = path.read_bytes()
        result.update(f"{path.relative_to(PACKAGE).as_posix()} {len(content)}\n".encode() + content)
    return result.hexdigest()


def are_editable() -> bool:
    """Say whether the package runs from a source tree, where somebody may edit it."""
    return (PACKAGE.parents[1] / "pyproject.toml").exists()
