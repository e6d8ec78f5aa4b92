"""The commands on classes: outputs, bad input, and runs that are killed and resumed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from classgram.classes.partition import Partition
from classgram.errors import InputError
from classgram.estimator import WordClasses
from classgram.files.atomic import lock
from tests.helpers.texts import synthetic_text

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")}


def start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "classgram", *arguments],
        cwd=cwd,
        env=ENVIRONMENT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run(*arguments: str, cwd: Path, text: str = "") -> tuple[int, str, str]:
    process = start(*arguments, cwd=cwd)
    out, err = process.communicate(text, timeout=300)
    return process.returncode, out, err


@pytest.fixture
def text(tmp_path: Path) -> Path:
    lines, _ = synthetic_text(12, 40, 1500)
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_cluster_classes_and_tag(text: Path, tmp_path: Path) -> None:
    code, out, err = run("cluster", text.name, "--classes", "10", "-o", "made", cwd=tmp_path)
    assert code == 0, err
    assert "converged after" in err
    assert "most frequent" in out
    history = json.loads((tmp_path / "made" / "history.json").read_text())
    assert history["classes"] == 10
    assert history["pinned"] == 2
    assert history["converged"] is True
    assert {"sweep", "moved", "F", "seconds"} <= set(history["sweeps"][0])
    code, out, _ = run("classes", "made", "w0-0", "nowhere", "--json", cwd=tmp_path)
    assert code == 0
    rows = json.loads(out)
    assert rows[0]["known"]
    assert "w0-0" in rows[0]["members"]
    assert not rows[1]["known"]
    partition = Partition.load(tmp_path / "made")
    code, out, _ = run("tag", "made", cwd=tmp_path, text="w0-0 w1-1\n\nnowhere w0-0\n")
    expected = [
        [partition.class_of("w0-0"), partition.class_of("w1-1")],
        [],
        [partition.class_of("<unk>"), partition.class_of("w0-0")],
    ]
    assert [[int(field) for field in line.split()] for line in out.splitlines()] == expected


def test_single_files_and_standard_output(text: Path, tmp_path: Path) -> None:
    arguments = ("cluster", text.name, "--classes", "4", "--sweeps", "2", "--quiet")
    code, plain, err = run(*arguments, cwd=tmp_path)
    assert code == 0, err
    for name in ("a.tsv", "a.classes", "a.cls"):
        code, out, err = run(*arguments, "-o", name, cwd=tmp_path)
        assert (code, out, err) == (0, "", "")
    assert (tmp_path / "a.tsv").read_text() == plain
    assert (tmp_path / "a.classes").read_text().startswith("CLASS-00000 ")
    assert all(len(line.split("\t")) == 2 for line in (tmp_path / "a.cls").read_text().splitlines())
    assert [path.name for path in tmp_path.iterdir() if "checkpoint" in path.name] == []


def test_json_and_counts_as_input(text: Path, tmp_path: Path) -> None:
    assert run("count", text.name, "-o", "counts", "--order", "3", "--quiet", cwd=tmp_path)[0] == 0
    code, out, err = run(
        "cluster", "counts", "--classes", "5", "--shape", "joint", "--order", "3", "--contexts", "50",
        "--criterion", "loo", "--json", "--quiet", cwd=tmp_path,
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["criterion"] == "loo"
    code, _, err = run("cluster", "counts", "--lowercase", "--classes", "5", cwd=tmp_path)
    assert code == 2
    assert "fixed" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["text.txt", "--classes", "999999"], "or fewer"),
        (["text.txt", "--classes", "0"], "--classes must be 1 or more"),
        (["text.txt", "--classes", "3", "--move-min-count", "99999"], "lower --move-min-count"),
        (["text.txt", "--classes", "3", "-o", "nowhere/made"], "there is no folder"),
        (["text.txt", "--classes", "3", "-o", "text.txt"], "text.txt"),
        (["missing.txt", "--classes", "3"], "missing.txt"),
        (["text.txt", "--classes", "3", "--start", "missing.tsv"], "missing.tsv"),
        (["text.txt", "--classes", "3", "--threads", "0"], "--threads"),
    ],
)
def test_bad_input_is_one_line(text: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    code, out, err = run("cluster", *arguments, "--quiet", cwd=tmp_path)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert out == ""


def test_an_output_that_another_run_writes(text: Path, tmp_path: Path) -> None:
    with lock(tmp_path / "made"):
        code, _, err = run("cluster", text.name, "--classes", "3", "-o", "made", "--quiet", cwd=tmp_path)
    assert code == 2
    assert "another run is writing" in err


LONG = ("--classes", "10", "--effort", "high", "--batch", "16", "--threads", "1", "--quiet",
        "--checkpoint-every", "0.02", "-o")  # fmt: skip


def kill_in_mid_run(text: Path, tmp_path: Path) -> None:
    """Start a run and kill it once it has left a checkpoint."""
    process = start("cluster", text.name, *LONG, "made", cwd=tmp_path)
    until = time.monotonic() + 200
    while not (tmp_path / "made.checkpoint" / "config.json").exists():
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.005)
    time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "made").exists()


def test_killed_and_resumed_gives_the_same_bytes(text: Path, tmp_path: Path) -> None:
    assert run("cluster", text.name, *LONG, "whole", cwd=tmp_path)[0] == 0
    kill_in_mid_run(text, tmp_path)
    refused = {
        "vocabulary": ("cluster", text.name, "--min-count", "20", *LONG, "made", "--resume"),
        "--seed": ("cluster", text.name, "--seed", "5", *LONG, "made", "--resume"),
    }
    for name, arguments in refused.items():
        code, _, err = run(*arguments, cwd=tmp_path)
        assert code == 2
        assert name in err
    code, _, err = run("cluster", text.name, *LONG, "made", "--resume", cwd=tmp_path)
    assert code == 0, err
    for name in ("classes.tsv", "map-0.npy", "counts-0.npy"):
        assert (tmp_path / "made" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not (tmp_path / "made.checkpoint").exists()


def test_a_corrupt_checkpoint(text: Path, tmp_path: Path) -> None:
    kill_in_mid_run(text, tmp_path)
    path = tmp_path / "made.checkpoint" / "map-0.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    code, _, err = run("cluster", text.name, *LONG, "made", "--resume", cwd=tmp_path)
    assert code == 2
    assert "map-0.npy" in err


def test_interrupted_and_limited_runs_keep_the_best(text: Path, tmp_path: Path) -> None:
    code, _, err = run("cluster", text.name, *LONG, "made", "--time-limit", "0", cwd=tmp_path)
    assert code == 0, err
    history = json.loads((tmp_path / "made" / "history.json").read_text())
    assert history["converged"] is False
    assert history["ended"] == "time limit"


def test_estimator() -> None:
    lines, truth = synthetic_text(4, 6, 300)
    model = WordClasses(n_classes=4, start="round-robin", n_jobs=1).fit(lines)
    assert model.labels_.shape == (len(truth) + 3,)
    assert model.converged_
    assert np.array_equal(model.predict(model.words_), model.labels_)
    assert WordClasses(**model.get_params()).get_params() == model.get_params()
    with pytest.raises(InputError):
        WordClasses().predict(["a"])
    with pytest.raises(InputError):
        WordClasses().fit("one string")
    with pytest.raises(InputError):
        WordClasses().set_params(nothing=1)


def test_no_regroup_is_an_option(text: Path, tmp_path: Path) -> None:
    code, out, err = run("cluster", text.name, "--classes", "8", "--no-regroup", "--json", cwd=tmp_path)
    assert code == 0, err
    assert all(sweep["kind"] != "merge and split" for sweep in json.loads(out)["sweeps"])
