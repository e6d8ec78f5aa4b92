"""Converting and judging classes: what a text supplies, what is said where it is missing."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from classgram.class_files.comparison import judge_classes
from classgram.class_files.converting import convert_classes
from classgram.class_files.reading import read_classes
from classgram.classes.partition import Partition
from classgram.clustering.exchange import exchange
from classgram.clustering.start import given_start
from classgram.counts.counting import count_ngrams
from classgram.errors import InputError
from classgram.models.class_based.class_ngrams import train_class_ngrams
from classgram.options import ClusterOptions, CountOptions, RunOptions
from classgram.text.reading import read_text
from tests.clustering.naive_clustering import criterion_terms
from tests.helpers.class_files import groups
from tests.helpers.command import Command, in_process, in_shell
from tests.helpers.texts import synthetic_text


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return in_process(capsys)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a text, and classes of it as a folder."""
    folder = tmp_path_factory.mktemp("made")
    lines, _ = synthetic_text(8, 20, 600)
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    counts = count_ngrams(folder / "text.txt")
    exchange(counts, ClusterOptions(classes=8), run=RunOptions(threads=1)).save(folder / "classes")
    return folder


NAMES = ("x.tsv", "x.clustercat", "x.cls", "x.paths", "x.classes", "x.aalto.gz", "x.cats", "x-folder")


@pytest.mark.parametrize("first", NAMES)
def test_every_format_to_every_other(first: str, made: Path, tmp_path: Path, command: Command) -> None:
    text = ("--text", made / "text.txt", "--quiet")
    assert command("convert", made / "classes", tmp_path / first, *text) == (0, "", "")
    expected = groups(read_classes(tmp_path / first).without("<s>", "</s>"))
    ours = groups(read_classes(made / "classes").without("<s>", "</s>"))
    assert expected == ours
    for second in NAMES:
        target = tmp_path / f"second-{second}"
        assert command("convert", tmp_path / first, target, *text)[0] == 0
        found = read_classes(target)
        assert groups(found.without("<s>", "</s>")) == ours


@pytest.mark.parametrize("name", NAMES)
def test_any_format_starts_a_run(name: str, made: Path, tmp_path: Path, command: Command) -> None:
    text = ("--text", made / "text.txt", "--quiet")
    assert command("convert", made / "classes", tmp_path / name, *text)[0] == 0
    partition = Partition.load(made / "classes")
    started = given_start(read_classes(tmp_path / name), partition.vocabulary)["words"]
    same = {(int(a), int(b)) for a, b in zip(started[3:], partition.words[3:], strict=True)}
    assert len(same) == np.unique(partition.words[3:]).size
    code, out, err = command(
        "cluster", made / "text.txt", "--classes", "8", "--start", tmp_path / name, "--json", "--quiet"
    )
    assert code == 0, err
    # A converged run ends where it ended before.
    assert [sweep["moved"] for sweep in json.loads(out)["sweeps"]] == [0]


def test_cluster_writes_paths(made: Path, tmp_path: Path, command: Command) -> None:
    arguments = ("cluster", made / "text.txt", "--classes", "8", "--quiet", "-o")
    assert command(*arguments, tmp_path / "x.paths") == (0, "", "")
    listed = read_classes(tmp_path / "x.paths")
    assert listed.format == "paths"
    assert listed.counted
    shape = ("--shape", "joint", "--context-classes", "4")
    assert command(*arguments, tmp_path / "joint.paths", *shape)[0] == 0


def test_what_is_missing_is_said(made: Path, tmp_path: Path, command: Command) -> None:
    plain = tmp_path / "plain.cls"
    plain.write_text("the\t2\na\t2\ncat\t3\n")
    for target in ("x.paths", "x.vec"):
        code, out, err = command("convert", plain, tmp_path / target)
        assert (code, out) == (2, "")
        assert "--text" in err
        assert not (tmp_path / target).exists()
    code, _, err = command("convert", plain, tmp_path / "x.classes")
    assert code == 0
    assert "equal probabilities" in err
    assert (tmp_path / "x.classes").read_text().splitlines()[0] == "CLASS-00002 0.5 a"
    code, _, err = command("convert", plain, tmp_path / "x.tsv")
    assert (code, "column of counts" in err) == (0, True)
    code, _, err = command("convert", made / "classes", tmp_path / "y.paths")
    assert (code, "--text" in err) == (2, True)


def test_words_of_the_file_alone_are_kept(made: Path, tmp_path: Path, command: Command) -> None:
    plain = tmp_path / "plain.cls"
    plain.write_text("w0-0\t2\nw0-1\t2\nw1-0\t3\nnever-seen\t4\n1986\t5\n")
    text = ("--text", made / "text.txt", "--quiet")
    for name in ("x.tsv", "x.paths", "x.classes", "x.aalto"):
        assert command("convert", plain, tmp_path / name, *text)[0] == 0
        words = {member.word for member in read_classes(tmp_path / name).members}
        assert words == {"w0-0", "w0-1", "w1-0", "never-seen", "1986"}
    assert command("convert", plain, tmp_path / "x.vec", "--dimensions", "2", *text)[0] == 0
    head, *rows = (tmp_path / "x.vec").read_text().splitlines()
    assert head == "5 2"
    assert len(rows) == 5
    assert all(math.isfinite(float(value)) for row in rows for value in row.split()[1:])


def test_standard_input_and_output(made: Path) -> None:
    listed = made / "classes" / "classes.tsv"
    result = in_shell(f"cat {listed} | $CLASSGRAM convert - - --to clustercat --quiet")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [line.rpartition("\t")[0] for line in listed.read_text().splitlines()]


def test_depth_and_number_of_classes(made: Path, tmp_path: Path, command: Command) -> None:
    text = ("--text", made / "text.txt", "--quiet")
    source = made / "classes"
    assert command("convert", source, tmp_path / "x.paths", *text)[0] == 0
    assert command("convert", source, tmp_path / "four.tsv", "--classes", "4", *text)[0] == 0
    four = groups(read_classes(tmp_path / "four.tsv").without("<s>", "</s>"))
    assert len(four) == 4
    assert command("convert", tmp_path / "x.paths", tmp_path / "two.tsv", "--depth", "1", "--quiet")[0] == 0
    assert command("convert", source, tmp_path / "two-too.tsv", "--depth", "1", *text)[0] == 0
    two = groups(read_classes(tmp_path / "two.tsv"))
    assert len(two) == 2
    assert two == groups(read_classes(tmp_path / "two-too.tsv").without("<s>", "</s>"))
    assert all(any(small <= large for large in two) for small in four)
    for wrong in (
        ("--classes", "0"),
        ("--classes", "9"),
        ("--depth", "0"),
        ("--depth", "1", "--classes", "2"),
    ):
        assert command("convert", source, tmp_path / "no.tsv", *wrong, *text)[0] == 2


def test_srilm_model_scores_as_ours(made: Path, tmp_path: Path, command: Command) -> None:
    kenlm = pytest.importorskip("kenlm")
    arpa, classes = tmp_path / "x.arpa", tmp_path / "x.classes"
    assert command(
        "convert", made / "classes", classes, "--arpa", arpa, "--order", "3", "--text", made / "text.txt"
    )[0] == 0  # fmt: skip
    partition = Partition.load(made / "classes")
    counts = count_ngrams(made / "text.txt", CountOptions(3), partition.vocabulary)
    ours = train_class_ngrams(counts, partition.words, 3)
    judge = kenlm.Model(str(arpa))
    listed = {member.word: member for member in read_classes(classes).members}
    for line in (made / "text.txt").read_text().splitlines()[:20]:
        members = [listed[word] for word in line.split()]
        sequence = " ".join(member.name for member in members)
        shares = sum(member.log_probability or 0.0 for member in members) / math.log(10)
        # In the ARPA file <unk> has a share of the uniform distribution, too.
        assert judge.score(sequence) + shares == pytest.approx(ours.score(line), abs=2e-2)


def test_vectors_bring_alike_words_together(made: Path, tmp_path: Path, command: Command) -> None:
    text = ("--text", made / "text.txt", "--quiet")
    assert command("convert", made / "classes", tmp_path / "x.vec", "--dimensions", "6", *text)[0] == 0
    rows = [line.split(" ") for line in (tmp_path / "x.vec").read_text().splitlines()[1:]]
    vectors = np.array([[float(value) for value in row[1:]] for row in rows])
    partition = Partition.load(made / "classes")
    classes = np.array([partition.class_of(row[0]) for row in rows])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    likeness = unit @ unit.T
    same = classes[:, None] == classes[None, :]
    assert likeness[same].mean() > likeness[~same].mean() + 0.5
    code, _, err = command("convert", made / "classes", tmp_path / "y.vec", "--dimensions", "999", *text[:2])
    assert (code, "instead of 999" in err) == (0, True)
    assert command("convert", made / "classes", tmp_path / "y.vec", "--dimensions", "0", *text)[0] == 2
    code, _, err = command("convert", tmp_path / "x.vec", tmp_path / "z.tsv")
    assert (code, "vectors" in err) == (2, True)


def test_judge_agrees_with_the_definitions(made: Path, tmp_path: Path) -> None:
    counts = count_ngrams(made / "text.txt")
    vocabulary = counts.vocabulary
    listed = {word: f"c{i % 5}" for i, word in enumerate(vocabulary.words[3:]) if i % 4}
    path = tmp_path / "some.tsv"
    path.write_text("".join(f"{word}\t{name}\n" for word, name in listed.items()))
    held_out = vocabulary.encode(read_text(made / "text.txt"))
    found = judge_classes(path, counts, held_out)
    names = [{1: "<s>", 2: "</s>"}.get(i, listed.get(word, "?")) for i, word in enumerate(vocabulary.words)]
    numbers = [sorted(set(names)).index(name) for name in names]
    ids = vocabulary.id
    pairs = {(ids(pair[0]), ids(pair[1])): n for pair, n in counts.items(2)}
    assert found.ml == pytest.approx(sum(criterion_terms(pairs, numbers, numbers, 0)))
    assert found.loo == pytest.approx(sum(criterion_terms(pairs, numbers, numbers, 0.75)))
    assert found.classes == 6
    assert found.words == len(vocabulary) - 3
    assert found.missing_words == len(vocabulary) - 3 - len(listed)
    assert found.held_out is not None
    assert 1 < found.held_out.perplexity_including_unknown < len(vocabulary)


def test_judge_shows_one_table(made: Path, tmp_path: Path, command: Command) -> None:
    text = made / "text.txt"
    bad = tmp_path / "one.cls"
    bad.write_text("w0-0\t2\n")
    shown = ("judge", made / "classes", bad, "--text", text, "--test", text)
    code, out, err = command(*shown)
    assert code == 0
    assert len(out.splitlines()) == 4
    assert "one more class" in err
    code, out, err = command(*shown, "--json", "--quiet")
    assert (code, err) == (0, "")
    good, poor = json.loads(out)["files"]
    history = json.loads((made / "classes" / "history.json").read_text())
    assert good["F_ml"] == pytest.approx(history["F"])
    assert good["missing_words"] == 0
    assert poor["classes"] == 2
    assert good["F_ml"] > poor["F_ml"]
    assert good["test"]["perplexity_including_unknown"] < poor["test"]["perplexity_including_unknown"]


def test_judge_takes_joint_classes_and_counts(made: Path, tmp_path: Path, command: Command) -> None:
    counts = count_ngrams(made / "text.txt", CountOptions(3))
    counts.save(tmp_path / "counts")
    options = ClusterOptions(classes=6, context_classes=5, shape="joint", order=3, contexts=40)
    result = exchange(counts, options, run=RunOptions(threads=1))
    result.save(tmp_path / "joint")
    judged = command(
        "judge", tmp_path / "joint", "--text", tmp_path / "counts", "--test", made / "text.txt", "--json"
    )
    assert json.loads(judged.out)["files"][0]["F_ml"] == pytest.approx(result.F)
    other = tmp_path / "other.txt"
    other.write_text("some other words\n" * 5)
    assert command("judge", tmp_path / "joint", "--text", other).code == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["convert", "missing.tsv", "x.cls"], "missing.tsv: no such file"),
        (["convert", "text.txt", "x.cls"], "expected"),
        (["convert", "classes", "nowhere/x.cls"], "no folder"),
        (["convert", "classes", "x.txt"], "--to"),
        (["convert", "classes", "--nonsense"], "--nonsense"),
        (["convert", "classes", "x.tsv", "--arpa", "x.arpa", "--text", "text.txt"], "OUT.classes"),
        (["convert", "classes", "x.cls", "--text", "missing.txt"], "missing.txt"),
        (["convert", "classes", "x.cls", "--to", "nonsense"], "nonsense"),
        (["judge", "classes", "--text", "missing.txt"], "missing.txt"),
        (["judge", "--text", "text.txt"], "name the class files"),
        (["judge", "text.txt", "--text", "text.txt"], "expected"),
        (["judge", "classes"], "--text"),
        (["convert", "classes", "x.paths", "--text", "text.txt", "--lowercase"], "lowercase"),
    ],
)
def test_mistakes_are_one_line(
    words: list[str], message: str, made: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made)
    code, out, err = command(*words)
    assert (code, out) == (2, "")
    assert message in err
    assert len([line for line in err.splitlines() if not line.startswith("compiling")]) == 1


def test_words_of_a_counts_folder_must_suffice(made: Path, tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("nowhere\t1\n")
    counts = count_ngrams(made / "text.txt")
    with pytest.raises(InputError, match="nowhere"):
        convert_classes(tmp_path / "x.tsv", tmp_path / "y.tsv", count_text=lambda vocabulary, order: counts)


def test_bad_inputs_and_outputs_are_refused_before_the_work(
    made: Path, tmp_path: Path, command: Command
) -> None:
    text = ("--text", made / "text.txt")
    (tmp_path / "empty").write_text("")
    refused = {
        "contains no words": ("judge", made / "classes", *text, "--test", tmp_path / "empty"),
        "order of 2 or more": (
            *("convert", made / "classes", tmp_path / "x.classes", *text),
            *("--arpa", tmp_path / "x.arpa", "--order", "0"),
        ),
        "no compressed files": (
            "cluster",
            made / "text.txt",
            "--classes",
            "3",
            "-o",
            tmp_path / "x.paths.gz",
        ),
    }
    for said, arguments in refused.items():
        code, out, err = command(*arguments)
        assert (code, out, said in err) == (2, "", True), err
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_clustercat_classes_are_numbered_from_0(made: Path, tmp_path: Path, command: Command) -> None:
    assert command("convert", made / "classes", tmp_path / "x.cls", "--text", made / "text.txt")[0] == 0
    assert command("convert", tmp_path / "x.cls", tmp_path / "x.clustercat")[0] == 0
    lines = (tmp_path / "x.clustercat").read_text().splitlines()
    assert min(int(line.split("\t")[1]) for line in lines) == 0
