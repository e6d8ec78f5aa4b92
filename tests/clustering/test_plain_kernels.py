"""The clustering kernels as plain Python do what they do compiled."""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json, warnings
warnings.simplefilter("ignore")
from classgram.clustering.exchange import exchange
from classgram.clustering.tuning import SearchTuning
from classgram.counts.counting import count_ngrams
from classgram.options import ClusterOptions, RunOptions, SearchOptions
from classgram.text.reading import text_from_strings
counts = count_ngrams(text_from_strings(["a b c a", "b c a d", "d a b", "c c a b"] * 2))
found = []
for options, sparse in (
    (ClusterOptions(classes=2), False),
    (ClusterOptions(classes=2, criterion="loo"), False),
    (ClusterOptions(classes=2, shape="joint", criterion="loo"), False),
    (ClusterOptions(classes=2, shape="joint", criterion="loo"), True),
    (ClusterOptions(classes=2, shape="predictive"), True),
):
    for search in (SearchOptions(), SearchOptions(effort="normal"), SearchOptions(heuristic=True, targets=1)):
        tuning = SearchTuning(largest_dense_bytes=-1) if sparse else SearchTuning()
        result = exchange(counts, options, search, RunOptions(threads=1), tuning=tuning)
        found.append([result.F, [classes.tolist() for classes in result.partition.maps]])
print(json.dumps(found))
"""


def run(**environment: str) -> object:
    source = str(Path(__file__).resolve().parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONPATH": source, **environment},
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return json.loads(done.stdout)


def test_plain_python_gives_the_same_classes() -> None:
    assert run(NUMBA_DISABLE_JIT="1") == run()
