"""The kernels mean the same as plain Python, without the compiler."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CHOSEN = "a_counter or blocks_of or joint_events or contexts_are or naive_twin or borders or caches_equal"
"""The tests that reach every kernel, on small texts."""


def test_kernels_agree_with_their_twins_in_plain_python() -> None:
    # Hashes overflow on purpose; NumPy says so where the compiler does not.
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore:overflow"),
            *(
                "tests/counts/test_counts.py",
                "tests/text/test_text.py",
                "tests/models/test_mixture.py",
                "tests/clustering/test_tree.py",
            ),
            *("tests/export/test_backoff_export.py", "tests/models/test_pruning.py", "-k", CHOSEN),
        ],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "CLASSGRAM_EXAMPLES": "5", "PYTHONPATH": "src:."},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout
