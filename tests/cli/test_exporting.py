"""The commands export, arpa check and arpa prune as users run them."""

import gzip
import json
import subprocess
from pathlib import Path

import kenlm
import numpy as np
import pytest

from classgram.arpa.checking import check_arpa
from classgram.clustering.exchange import exchange
from classgram.loading import load
from classgram.models.class_based.class_ngrams import train_class_ngrams
from classgram.models.mixtures.mixture import mix_models
from classgram.models.ngram.ngram_model import train_kneser_ney
from classgram.options import ClusterOptions, SearchOptions
from tests.helpers.command import Command, in_process
from tests.helpers.models import MODELS, tuple_model
from tests.helpers.texts import counts_of, random_lines

BUILD_BINARY = Path(__file__).resolve().parents[3] / "rivals" / "bin" / "build_binary"


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return in_process(capsys)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models, and a text."""
    made = tmp_path_factory.mktemp("models")
    counts = counts_of(random_lines(1), 5)
    for name in ("kneser-ney 3", "mixture", "mixture with caches", "class kneser-ney"):
        MODELS[name](counts).save(made / name.replace(" ", "-"))
    tuple_model(counts, 2, "interpolated").save(made / "bigrams")
    (made / "text.txt").write_text("\n".join(random_lines(1)) + "\n")
    (made / "valid.txt").write_text("\n".join(random_lines(2)) + "\n")
    counts.save(made / "counts")
    return made


def test_exact_exports_say_so(command: Command, folder: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    result = command("export", folder / "kneser-ney-3", tmp_path / "m.arpa.gz", "--unigrams", words)
    assert result.code == 0
    assert "exact" in result.err
    assert len(words.read_text().split()) == 25
    # Not every build of KenLM unpacks files.
    (tmp_path / "m.arpa").write_bytes(gzip.decompress((tmp_path / "m.arpa.gz").read_bytes()))
    judge, model = kenlm.Model(str(tmp_path / "m.arpa")), load(folder / "kneser-ney-3")
    for line in random_lines(2, 10):
        assert model.score(line) == pytest.approx(judge.score(line), abs=1e-3)


def test_the_perplexity_lost_is_told(command: Command, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.arpa"
    valid = folder / "valid.txt"
    losses = []
    for grow in ("0", "800"):
        result = command("export", folder / "mixture", out, "--valid", valid, "--json", "--grow", grow)
        report = json.loads(result.out)
        told = report["perplexity"]
        assert told["text"] == str(valid)
        checked = command("perplexity", out, valid, "--json")
        assert json.loads(checked.out)["perplexity_including_unknown"] == pytest.approx(
            told["exported"], rel=1e-4
        )
        own = command("perplexity", folder / "mixture", valid, "--json")
        assert json.loads(own.out)["perplexity_including_unknown"] == pytest.approx(told["model"])
        losses.append(told["lost_percent"])
        assert report["grown"] <= int(grow)
        assert sum(report["sizes"]) == sum(check_arpa(out).sizes)
    # Random classes may do better where they cannot be followed; with growth they are followed.
    assert abs(losses[1]) < abs(losses[0])
    drawn = command("export", folder / "mixture", out)
    assert "sentences sampled from the model" in drawn.err


def ngrams_in(path: Path) -> set[str]:
    """The n-grams of an ARPA file."""
    return {line.split("\t")[1] for line in path.read_text().split("\n") if "\t" in line}


def test_unseen_ngrams_are_counted_after_pruning(command: Command, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.arpa"
    assert command("export", folder / "mixture", out, "--order", "3").code == 0
    seen = ngrams_in(out)
    made: list[int] = []
    for prune in ((), ("--prune", "400"), ("--prune", "1e-4")):
        options = ("--order", "3", "--grow", "300", "--json", *prune)
        report = json.loads(command("export", folder / "mixture", out, *options).out)
        assert report["grown"] == len(ngrams_in(out) - seen)
        made.append(report["grown"])
    assert 0 < made[1] < made[0]


def test_caches_are_left_out_with_a_note(command: Command, folder: Path, tmp_path: Path) -> None:
    result = command("export", folder / "mixture-with-caches", tmp_path / "m.arpa")
    assert result.code == 0
    assert "cache" in result.err
    assert command("arpa", "check", tmp_path / "m.arpa").code == 0


@pytest.mark.parametrize("source", ["text.txt", "counts"])
def test_class_models_take_their_ngrams_from_a_text(
    command: Command, folder: Path, source: str, tmp_path: Path
) -> None:
    out = tmp_path / "m.arpa"
    options = ("--ngrams", folder / source, "--order", "3", "--json")
    report = json.loads(command("export", folder / "class-kneser-ney", out, *options).out)
    counts = counts_of(random_lines(1), 3)
    twice = sum(gram[:2] == ("<s>", "<s>") for gram, _ in counts.items(3))
    # Word models see one <s>.
    assert report["sizes"][2] == counts.levels[2].words.size - twice
    assert report["sizes"][1] == counts.levels[1].words.size - 1
    assert command("arpa", "check", out).code == 0


def test_transducers(command: Command, folder: Path, tmp_path: Path) -> None:
    result = command("export", folder / "bigrams", tmp_path / "g.fst.txt", "--disambiguate")
    assert result.code == 0
    assert (tmp_path / "g.words.txt").read_text().startswith("<eps> 0\n")
    assert "\t#0\t<eps>\t" in (tmp_path / "g.fst.txt").read_text()
    result = command("export", folder / "mixture", tmp_path / "h.fst.txt")
    assert result.code == 2
    assert "order 2" in result.err
    assert not (tmp_path / "h.fst.txt").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("m.txt",), "must end in .arpa"),
        (("m.arpa", "--order", "1"), "--order 1"),
        (("m.arpa", "--order", "9"), "the model has order"),
        (("m.arpa", "--grow", "-5"), "--grow -5"),
        (("m.arpa", "--prune", "-5"), "pruning to -5"),
        (("m.arpa", "--prune", "10"), "words alone"),
        (("m.arpa", "--numbers"), "for transducers"),
        (("m.fst.txt", "--grow", "5"), "are for ARPA"),
        (("missing/m.arpa",), "no folder"),
        (("m.arpa", "--valid", "nowhere.txt"), "nowhere.txt"),
        (("m.arpa", "--ngrams", "nowhere.txt"), "nowhere.txt"),
    ],
)
def test_what_can_be_mended_is_told_in_a_line(
    command: Command, folder: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    result = command("export", folder / "mixture", tmp_path / options[0], *options[1:])
    assert result.code == 2
    assert message in result.err
    assert result.err.strip().splitlines()[-1].startswith("classgram: ")


@pytest.mark.parametrize("model", ["mixture", "kneser-ney-3"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--unigrams", "/proc/u.txt"), "/proc/u.txt"),
        (("--unigrams", "{folder}"), "is a folder; name a file"),
        (("--unigrams", "{folder}/none/u.txt"), "there is no folder"),
        (("--valid", "nowhere.txt"), "nowhere.txt: no such file"),
        (("--ngrams", "nowhere.txt"), "nowhere.txt: no such file"),
        (("--valid", "{folder}/empty.txt"), "the text is empty"),
        (("--valid", "{folder}/empty.txt", "--grow", "5"), "the text is empty"),
    ],
)
def test_nothing_is_written_if_a_file_is_wrong(
    command: Command, folder: Path, tmp_path: Path, model: str, options: tuple[str, ...], message: str
) -> None:
    (tmp_path / "empty.txt").write_text("\n\n")
    filled = [option.format(folder=tmp_path) for option in options]
    result = command("export", folder / model, tmp_path / "m.arpa", *filled)
    assert result.code == 2
    assert message in result.err.strip().splitlines()[-1]
    assert [path.name for path in tmp_path.iterdir()] == ["empty.txt"]


def test_check_prints_findings_and_mends(command: Command, folder: Path, tmp_path: Path) -> None:
    good, bad, mended = tmp_path / "good.arpa", tmp_path / "bad.arpa", tmp_path / "mended.arpa"
    command("export", folder / "kneser-ney-3", good)
    result = command("arpa", "check", good)
    assert (result.code, "no violations" in result.out) == (0, True)
    bad.write_text("\n" + good.read_text().replace("ngram 1=", "ngram 1 = ").replace("\tw1 w", "\tw1  w"))
    result = command("arpa", "check", bad)
    assert result.code == 2
    assert "line 1: violation: text precedes \\data\\" in result.out
    assert "line 3: violation: a line like 'ngram 1=7'" in result.out
    assert "breaks KenLM" in result.out
    report = json.loads(command("arpa", "check", bad, "--json").out)
    assert report["violations"] == len(report["findings"])
    assert {"line", "kind", "level", "text", "detail", "readers", "mendable"} == set(report["findings"][0])
    result = command("arpa", "check", bad, "--fix", mended)
    assert result.code == 0
    assert command("arpa", "check", mended).code == 0
    judge = kenlm.Model(str(mended))
    model = load(good)
    for line in random_lines(2, 5):
        assert judge.score(line) == pytest.approx(model.score(line), abs=1e-3)


def test_many_findings_of_a_kind_are_counted(command: Command, folder: Path, tmp_path: Path) -> None:
    command("export", folder / "kneser-ney-3", tmp_path / "m.arpa")
    (tmp_path / "m.arpa").write_bytes((tmp_path / "m.arpa").read_bytes().replace(b"\n", b"\r\n"))
    result = command("arpa", "check", tmp_path / "m.arpa")
    assert result.code == 2
    assert "more lines: the line ends in CR LF" in result.out
    assert len(result.out.splitlines()) < 110


def test_pruning_files(command: Command, folder: Path, tmp_path: Path) -> None:
    whole, small = tmp_path / "m.arpa", tmp_path / "s.arpa.gz"
    command("export", folder / "kneser-ney-3", whole)
    assert command("arpa", "prune", whole, small, "--size", "100").code == 0
    assert sum(check_arpa(small).sizes) == 100
    assert command("arpa", "prune", whole, small, "--threshold", "1e-4").code == 0
    assert 28 < sum(check_arpa(small).sizes) < sum(check_arpa(whole).sizes)
    for options in ((), ("--size", "9", "--threshold", "0.1"), ("--threshold", "2"), ("--size", "0")):
        assert command("arpa", "prune", whole, small, *options).code == 2
    assert command("arpa", "prune", folder / "bigrams", small, "--size", "100").code == 2
    assert command("arpa", "prune", whole, tmp_path / "s.txt", "--size", "100").code == 2


def test_kenlms_trie_takes_every_export(command: Command, folder: Path, tmp_path: Path) -> None:
    if not BUILD_BINARY.exists():
        pytest.skip(f"{BUILD_BINARY} is not here")
    for name, options in (
        ("kneser-ney-3", ()),
        ("mixture", ("--grow", "500")),
        ("mixture", ("--grow", "500", "--prune", "1e-4")),
        ("class-kneser-ney", ("--grow", "300")),
        ("bigrams", ("--prune", "60")),
    ):
        assert command("export", folder / name, tmp_path / "m.arpa", *options).code == 0
        words = [str(BUILD_BINARY), "trie", str(tmp_path / "m.arpa"), str(tmp_path / "m.bin")]
        built = subprocess.run(words, capture_output=True, text=True)
        assert built.returncode == 0, built.stderr
        plain, trie = kenlm.Model(str(tmp_path / "m.arpa")), kenlm.Model(str(tmp_path / "m.bin"))
        for line in random_lines(2, 10):
            assert trie.score(line) == pytest.approx(plain.score(line), abs=1e-3)


def test_treebank_exports_scored_by_kenlm(
    command: Command, treebank: Path, treebank_valid: Path, tmp_path: Path
) -> None:
    """What is exported of a small mixture loses, and what is grown wins some of it back."""
    lines, held_out = treebank.read_text().splitlines()[:3000], treebank_valid.read_text().splitlines()[:300]
    counts = counts_of(lines, 3)
    classes = exchange(counts.up_to(2), ClusterOptions(classes=60), SearchOptions(sweeps=3, effort="low"))
    parts = [train_kneser_ney(counts, 3), train_class_ngrams(counts, classes.partition.words, 3)]
    model = mix_models(parts, counts.vocabulary.encode_lines(held_out))
    model.save(tmp_path / "m")
    scores = [-model.log_probabilities(model.encode(held_out)).sum() / np.log(10)]
    for grow in (0, 30000):
        out = tmp_path / f"{grow}.arpa"
        assert command("export", tmp_path / "m", out, "--grow", str(grow)).code == 0
        judge = kenlm.Model(str(out))
        scores.append(-sum(judge.score(line) for line in held_out))
    assert scores[0] < scores[2] < scores[1]
    assert scores[2] - scores[0] < 0.8 * (scores[1] - scores[0])
