"""Kernels mean the same from the library, compiled by Numba, and as plain Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import OWN_KERNELS

ROOT = Path(__file__).resolve().parents[2]

CHOSEN = "a_counter or blocks_of or joint_events or contexts_are or naive_twin or borders or caches_equal"
"""The tests that reach every kernel, on small texts."""

KERNELS = (
    "tests/counts/test_counts.py",
    "tests/text/test_text.py",
    "tests/text/test_eight_bytes.py",
    "tests/models/test_mixture.py",
    "tests/clustering/test_tree.py",
    "tests/export/test_backoff_export.py",
    "tests/models/test_pruning.py",
)


def run_tests(mode: str, *words: str) -> None:
    """Run tests in another mode."""
    # Hashes overflow on purpose; NumPy says so where the compiler does not.
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore:overflow", *words],
        cwd=ROOT,
        env={**os.environ, "CLASSGRAM_KERNELS": mode, "PYTHONPATH": "src:."},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout


def test_kernels_agree_with_their_twins_in_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLASSGRAM_EXAMPLES", "5")
    run_tests("python", *KERNELS, "-k", CHOSEN)


def test_kernels_of_the_tests_own_compiled_by_numba() -> None:
    run_tests("numba", *(f"tests/{name}" for name in OWN_KERNELS))


@pytest.mark.release
def test_kernels_compiled_by_numba() -> None:
    run_tests("numba", "tests/clustering", "tests/models/test_kernels.py", "-m", "not slow and not release")
    run_tests("numba", *KERNELS, "-k", CHOSEN)
