"""ARPA files: KenLM reads what is written and agrees; what is read is checked line by line."""

import gzip
import re
from pathlib import Path

import kenlm
import numpy as np
import pytest
from hypothesis import given

from classgram.arpa._kernels.lines import write_number
from classgram.arpa.reading import read_arpa
from classgram.arpa.writing import write_arpa, write_unigrams
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.loading import load
from classgram.models.ngram.ngram_model import NgramModel, train_backoff, train_katz, train_kneser_ney
from tests.helpers.models import joint_model, small_texts
from tests.helpers.texts import HELD_OUT, counts_of, random_lines


@pytest.fixture(scope="module")
def counts() -> NgramCounts:
    return counts_of(random_lines(1), 5, ("never", "ever"))


@pytest.fixture(scope="module", params=["kneser-ney 2", "kneser-ney 5", "backoff 4", "katz 3"])
def model(request: pytest.FixtureRequest, counts: NgramCounts) -> NgramModel:
    recipe, order = request.param.split()
    if recipe == "backoff":
        return train_backoff(counts, int(order), (4, 3, 2))
    return {"kneser-ney": train_kneser_ney, "katz": train_katz}[recipe](counts, int(order))


def test_kenlm_scores_as_we_do(model: NgramModel, tmp_path: Path) -> None:
    write_arpa(model, tmp_path / "model.arpa")
    judge = kenlm.Model(str(tmp_path / "model.arpa"))
    assert judge.order == model.order
    for line in HELD_OUT:
        for bos in (True, False):
            for eos in (True, False):
                expected = judge.score(line, bos=bos, eos=eos)
                assert model.score(line, bos=bos, eos=eos) == pytest.approx(expected, abs=1e-3)
    line = "w1 never unheard w3"
    ours, theirs = list(model.full_scores(line)), list(judge.full_scores(line))
    assert [unknown for *_, unknown in ours] == [unknown for *_, unknown in theirs]
    np.testing.assert_allclose([row[0] for row in ours], [row[0] for row in theirs], atol=1e-3)


def test_kenlm_matches_the_same_lengths(counts: NgramCounts, tmp_path: Path) -> None:
    model = train_kneser_ney(counts, 4)
    write_arpa(model, tmp_path / "model.arpa")
    judge = kenlm.Model(str(tmp_path / "model.arpa"))
    for line in HELD_OUT[:20]:
        ours = [length for _, length, _ in model.full_scores(line)]
        assert ours == [length for _, length, _ in judge.full_scores(line)]


def test_what_is_written_is_read_again(model: NgramModel, tmp_path: Path) -> None:
    write_arpa(model, tmp_path / "model.arpa.gz")
    again = load(tmp_path / "model.arpa.gz")
    assert isinstance(again, NgramModel)
    assert again.trie.sizes == model.trie.sizes
    ours = model.log_probabilities(model.encode(HELD_OUT))
    np.testing.assert_allclose(again.log_probabilities(again.encode(HELD_OUT)), ours, atol=1e-5)
    again.save(tmp_path / "folder")
    np.testing.assert_array_equal(
        load(tmp_path / "folder").log_probabilities(again.encode(HELD_OUT)),
        again.log_probabilities(again.encode(HELD_OUT)),
    )


def test_layout_is_what_strict_readers_want(model: NgramModel, tmp_path: Path) -> None:
    write_arpa(model, tmp_path / "model.arpa")
    text = (tmp_path / "model.arpa").read_text(encoding="utf-8")
    assert text.startswith("\\data\\\nngram 1=")
    assert text.endswith("\n\n\\end\\\n")
    sections = re.split(r"\n\n\\(\d)-grams:\n", text.removesuffix("\n\n\\end\\\n"))
    known: set[tuple[str, ...]] = {()}
    orders = range(1, model.order + 1)
    assert sections[1::2] == [str(order) for order in orders]
    for order, section in zip(orders, sections[2::2], strict=True):
        lines = [line.split("\t") for line in section.split("\n")]
        assert f"\nngram {order}={len(lines)}" in text
        for fields in lines:
            assert len(fields) == (2 if order == model.order else 3)
            assert -99 <= float(fields[0]) <= 0
            words = tuple(fields[1].split(" "))
            assert len(words) == order
            assert words[:-1] in known
            assert words[1:] in known
            known.add(words)
    assert {("<s>",), ("</s>",), ("<unk>",)} <= known
    assert re.search(r"^-99\t<s>\t", text, re.MULTILINE)


def test_bytes_repeat(model: NgramModel, tmp_path: Path) -> None:
    for name in ("one.arpa.gz", "two.arpa.gz"):
        write_arpa(model, tmp_path / name)
    assert (tmp_path / "one.arpa.gz").read_bytes() == (tmp_path / "two.arpa.gz").read_bytes()
    write_arpa(model, tmp_path / "three.arpa")
    assert gzip.decompress((tmp_path / "one.arpa.gz").read_bytes()) == (tmp_path / "three.arpa").read_bytes()


@given(small_texts)
def test_kenlm_reads_models_of_any_small_text(lines: list[str]) -> None:
    import tempfile

    model = train_kneser_ney(counts_of(lines, 3))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.arpa"
        write_arpa(model, path)
        judge = kenlm.Model(str(path))
        for line in [*lines, "a zz b", ""]:
            assert model.score(line) == pytest.approx(judge.score(line), abs=1e-3)


@pytest.mark.parametrize("value", [0.0, -0.0, -1.5, -99.0, -0.0000001, -12.3456789, 0.30103, -1e-9])
def test_numbers_are_written_as_python_would(value: float) -> None:
    out = np.zeros(40, np.uint8)
    text = out[: write_number(value, out, 0)].tobytes().decode()
    assert float(text) == pytest.approx(value, abs=5.1e-8)
    assert not text.endswith(".")


def test_class_models_are_no_arpa_files(counts: NgramCounts, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only word n-gram models"):
        write_arpa(joint_model(counts, "paper"), tmp_path / "model.arpa")


def test_unigrams_for_decoders(model: NgramModel, tmp_path: Path) -> None:
    write_unigrams(model.vocabulary, tmp_path / "unigrams.txt")
    words = (tmp_path / "unigrams.txt").read_text(encoding="utf-8").split("\n")[:-1]
    assert words == list(model.vocabulary.words[3:])


GOOD = """\\data\\
ngram 1=5
ngram 2=3
ngram 3=1

\\1-grams:
-1\t<unk>\t0
-99\t<s>\t-0.5
-0.7\t</s>
-0.6\ta\t-0.3
-0.8\tb\t-0.1

\\2-grams:
-0.3\t<s> a\t-0.2
-0.4\ta b
-0.5\tb </s>

\\3-grams:
-0.1\tb a b

\\end\\
"""


def test_a_pruned_file_is_completed(tmp_path: Path) -> None:
    """``b a`` is missing, though ``b a b`` is there: reading adds it without changing any score."""
    path = tmp_path / "pruned.arpa"
    path.write_text(GOOD)
    model = read_arpa(path)
    assert model.trie.sizes == (5, 4, 1)
    # b a: back-off of b and the unigram; then b a b is found, then b </s>.
    assert model.score("b a b", bos=False) == pytest.approx(-0.8 - 0.1 - 0.6 - 0.1 - 0.5)
    assert model.score("a b") == pytest.approx(-0.3 - 0.2 - 0.4 - 0.5)
    assert model.score("zz", bos=False, eos=False) == pytest.approx(-1)


def test_spaces_and_capital_unknowns_are_read(tmp_path: Path) -> None:
    path = tmp_path / "model.arpa"
    path.write_text(
        "\n" + GOOD.replace("<unk>", "<UNK>").replace("\t", " ").replace("ngram 1=5", "ngram 1 = 5")
    )
    assert read_arpa(path).score("zz", bos=False, eos=False) == pytest.approx(-1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\\data\\\n", "", "line 1: .*data.* was expected"),
        ("ngram 2=3\n", "", "line 3: 'ngram 2=...' was expected"),
        ("ngram 3=1", "ngram 3=0", "order 3 is empty"),
        ("ngram 1=5", "ngram 1=4", "line 11: .2-grams: was expected"),
        ("ngram 1=5", "ngram 1=6", "a probability, 1 word"),
        ("ngram 3=1", "ngram 3=1\nngram 4=2", "4-grams: was expected"),
        ("-0.4\ta b", "-0.4\ta q", "hold .q., which is no unigram"),
        ("-0.4\ta b", "0.4\ta b", "line 15: 0.4 is no log10-probability"),
        ("-0.4\ta b", "nan\ta b", "line 15: nan is no log10-probability"),
        ("-0.4\ta b", "x\ta b", "line 15: a number was expected"),
        ("-0.4\ta b", "-0.4\tb </s>", "'b </s>' is there twice"),
        ("-0.4\ta b", "-0.4\ta", "line 15: a probability, 2 word"),
        ("\\end\\\n", "", "ends without .end. after line 20"),
        ("-99\t<s>\t-0.5", "-99\tsss\t-0.5", "<s>, which is no unigram|no unigram <s>"),
    ],
)
def test_broken_files_are_refused_with_their_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    path = tmp_path / "broken.arpa"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(InputError, match=message) as caught:
        read_arpa(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_arpa(tmp_path / "missing.arpa")
    (tmp_path / "cut.arpa.gz").write_bytes(gzip.compress(GOOD.encode())[:60])
    with pytest.raises(InputError, match=r"cut\.arpa\.gz: broken or cut short"):
        read_arpa(tmp_path / "cut.arpa.gz")
