"""What ``make same`` and ``make bench-compare`` compute: masks, differences, ratios."""

import io
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.commits import run
from benchmarks.compare_speed import ratio, turns
from benchmarks.comparing import (
    array_difference,
    file_difference,
    first_difference,
    normalised,
    state_of,
    text_difference,
    written,
)
from benchmarks.same import command_line
from benchmarks.same_steps import STEPS

MANUAL = Path(__file__).parents[1] / "docs" / "cli.md"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (b'{"F": -1.5, "seconds": 0.02}', b'{"F": -1.5, "seconds": 1e-06}'),
        (b'{"cpu_seconds": 3.25}', b'{"cpu_seconds": 4}'),
        (b'"provenance": {"classgram": "0.1.0"}', b'"provenance": {"classgram": "0.2.0.dev1"}'),
        (b"3 lines; 1,200 words/s\n", b"3 lines; 900 words/s\n"),
        (b"Katz, order 3  7.53      1.20 s\n", b"Katz, order 3  7.53     11.20 s\n"),
        (b"compiling kernels, first run only\ndone\n", b"done\n"),
        (
            b'"history.json": {\n "bytes": 12,\n "checksum": "ab"',
            b'"history.json": {\n "bytes": 9,\n "checksum": "cd"',
        ),
    ],
)
def test_times_and_versions_are_masked(one: bytes, two: bytes) -> None:
    assert normalised(one, {}) == normalised(two, {})


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (b'{"F": -1.5, "seconds": 0.02}', b'{"F": -1.6, "seconds": 0.02}'),
        (b'{"seconds": 0.02}', b'{"second": 0.02}'),
        (b'"classes.tsv": {"bytes": 12, "checksum": "ab"', b'"classes.tsv": {"bytes": 12, "checksum": "cd"'),
        (b'{"bytes": 1}', b'{"bytes": 2}'),
        (b'{"kind": "whole"}', b'{"kind": "full"}'),
    ],
)
def test_nothing_else_is_masked(one: bytes, two: bytes) -> None:
    assert normalised(one, {}) != normalised(two, {})


def test_kinds_of_sweeps_may_be_renamed() -> None:
    renames = {"whole": "full"}
    assert normalised(b'{"kind": "whole"}', renames) == normalised(b'{"kind": "full"}', renames)
    assert normalised(b'{"name": "whole"}', renames) != normalised(b'{"name": "full"}', renames)


def test_the_first_line_that_differs_is_told() -> None:
    assert text_difference(b"a\nb\n", b"a\nb\n") is None
    assert text_difference(b"a\nb\nc\n", b"a\nx\ny\n") == "line 2\n    - b\n    + x"
    assert text_difference(b"a", b"a\nb") == "line 2\n    - (no such line)\n    + b"


def npy(*values: float, kind: str = "f8") -> bytes:
    file = io.BytesIO()
    np.save(file, np.array(values, kind))
    return file.getvalue()


def test_arrays_are_compared_by_value() -> None:
    assert array_difference(npy(1, 2), npy(1, 2)) is None
    assert array_difference(npy(1, 2, 3), npy(1, 5, 4)) == "2 of 3 values, first at 1: 2.0 became 5.0"
    assert array_difference(npy(1), npy(1, kind="f4")) == "float64 (1,) became float32 (1,)"


def test_files_that_one_side_lacks_or_alters_are_found(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        (folder / "deep").mkdir(parents=True)
        (folder / "deep" / "a.tsv").write_text("a\t1\n")
    before = state_of(new)
    (new / "b.json").write_text('{"seconds": 1}')
    (new / "deep" / "a.tsv").write_text("a\t22\n")
    names = written(before, state_of(new))
    assert names == {"b.json", "deep/a.tsv"}
    assert first_difference((old, new), names, (), {}) == "b.json: not written by old"
    assert (first_difference((old, new), names, ("*.json",), {}) or "").startswith("deep/a.tsv: line 1")
    (old / "b.json").write_text('{"seconds": 2}')
    assert file_difference(old / "b.json", new / "b.json", {}) is None
    assert first_difference((old, new), names, ("deep/*",), {}) is None


def test_every_command_is_compared() -> None:
    commands = set(re.findall(r"^## classgram (.+)$", MANUAL.read_text(), re.MULTILINE)) - {"arpa"}
    lines = [command_line(step, 10) for step in STEPS]
    assert {
        name for name in commands if not any(f"classgram {name} " in f"{line} " for line in lines)
    } == set()
    assert len(lines) == len(set(lines))


def test_ratios_are_of_pairs_and_of_bests() -> None:
    found = ratio([2.0, 4.0, 1.0], [1.0, 4.0, 3.0])
    assert found == (1.0, 0.5, 3.0, 1.0)


def test_sides_take_turns() -> None:
    assert turns(3) == [0, 1, 1, 0, 0, 1]


def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    assert run(["sleep", "30"], tmp_path, 0.1).code is None
    assert run(["cat"], tmp_path, 5, b"text").stdout == b"text"
