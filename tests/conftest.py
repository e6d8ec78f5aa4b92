"""Settings for all tests: a kernel cache of their own, and calm hypothesis profiles."""

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("tests.helpers")

# A job in the background of a script starts with Ctrl-C ignored, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests compile everything anew: what an earlier version compiled is no test of this one.
_CACHE = os.environ.get("NUMBA_CACHE_DIR") or tempfile.mkdtemp(prefix="classgram-kernels-")
os.environ["NUMBA_CACHE_DIR"] = _CACHE

from classgram.runtime.compiled import MODE  # noqa: E402, for what stands above

OWN_KERNELS = [
    "clustering/test_ranking.py",
    "clustering/test_score_errors.py",
    "text/test_eight_bytes.py",
]
"""Tests with kernels of their own, which no library holds: make test-all runs them with Numba."""

collect_ignore = OWN_KERNELS if MODE.library else []

settings.register_profile(
    "classgram",
    deadline=None,
    max_examples=int(os.environ.get("CLASSGRAM_EXAMPLES", "60")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("classgram")

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_sessionfinish(session: pytest.Session) -> None:
    if "classgram-kernels-" in _CACHE and not hasattr(session.config, "workerinput"):
        shutil.rmtree(_CACHE, ignore_errors=True)


@pytest.fixture
def treebank() -> Path:
    """The Penn Treebank's training text, where it lies beside the project."""
    path = DATA / "ptb.train.txt"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    return path


@pytest.fixture
def treebank_valid() -> Path:
    """The Penn Treebank's validation text, where it lies beside the project."""
    path = DATA / "ptb.valid.txt"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    return path
