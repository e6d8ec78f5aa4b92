"""ARPA files checked: every planted defect is found at its line, and sound files pass."""

import bz2
import gzip
import lzma
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import kenlm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classgram.arpa.checking import check_arpa
from classgram.arpa.defects import Defect
from classgram.arpa.repairing import repair_arpa
from classgram.arpa.writing import write_arpa
from classgram.errors import InputError
from classgram.loading import load
from classgram.models.ngram.ngram_model import NgramModel, train_katz, train_kneser_ney
from tests.arpa.planted_defects import GOOD, PLANTED, swap
from tests.helpers.texts import counts_of, random_lines

ROOT = Path(__file__).resolve().parents[2]
LMPLZ = ROOT.parents[0] / "rivals" / "bin" / "lmplz"


def balanced(text: str) -> str:
    """The text with back-offs that make every context sum to one."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "raw.arpa").write_text(text)
        repair_arpa(Path(folder) / "raw.arpa", Path(folder) / "good.arpa")
        return (Path(folder) / "good.arpa").read_text()


@pytest.fixture(scope="module")
def good() -> str:
    return balanced(GOOD)


def line_of(text: str, pattern: str) -> list[int]:
    """The numbers of the lines that match."""
    return [
        number for number, line in enumerate(text.split("\n"), 1) if re.search(pattern, line.rstrip("\r"))
    ]


def test_the_good_file_is_good(good: str, tmp_path: Path) -> None:
    (tmp_path / "good.arpa").write_text(good)
    report = check_arpa(tmp_path / "good.arpa")
    assert report.findings == ()
    assert report.sizes == (5, 4, 2)
    kenlm.Model(str(tmp_path / "good.arpa"))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("name", PLANTED)
def test_planted_defects_are_found_at_their_line(good: str, name: str, tmp_path: Path) -> None:
    edit, kind, place = PLANTED[name]
    broken = edit(good)
    path = tmp_path / "broken.arpa"
    path.write_bytes(broken.encode())
    report = check_arpa(path)
    found = [one for one in report.findings if one.kind is kind]
    assert found, report.findings
    assert (report.violations > 0) != (kind.value.warning and len(report.findings) == len(found))
    if place:
        assert found[0].line in line_of(broken, place)
    repaired = tmp_path / "repaired.arpa"
    repair_arpa(path, repaired)
    assert check_arpa(repaired).findings == ()
    kenlm.Model(str(repaired))


def test_a_word_too_many_is_told_once_and_is_no_shorter_ngram(good: str, tmp_path: Path) -> None:
    broken = good.replace("\ta b a\n", "\ta b a b\n")
    (tmp_path / "broken.arpa").write_text(broken)
    report = check_arpa(tmp_path / "broken.arpa")
    at = line_of(broken, "a b a b")[0]
    assert [one.kind for one in report.findings if one.line == at] == [Defect.WORD_NUMBER]
    assert report.sizes == (5, 4, 1)


def test_unigrams_without_their_section_are_told_once(good: str, tmp_path: Path) -> None:
    (tmp_path / "broken.arpa").write_text(good.replace("\\1-grams:\n", ""))
    report = check_arpa(tmp_path / "broken.arpa")
    assert [(one.line, one.kind) for one in report.findings] == [(6, Defect.MALFORMED_SECTION)]
    assert report.sizes == (5, 4, 2)
    repair_arpa(tmp_path / "broken.arpa", tmp_path / "repaired.arpa")
    assert (tmp_path / "repaired.arpa").read_text() == good


def test_every_kind_is_planted_somewhere() -> None:
    elsewhere = {
        *(
            Defect.INVALID_UTF8,
            Defect.CUT_SHORT,
            Defect.EMPTY_FILE,
            Defect.NO_UNIGRAMS,
            Defect.ONE_ORDER,
            Defect.HIGH_ORDER,
        ),
        *(
            Defect.NO_COUNTS,
            Defect.BLANK_BEFORE_DATA,
            Defect.OMITTED_BACKOFF,
            Defect.CLOSED_VOCABULARY,
        ),
        *(Defect.PRUNED_SUFFIX, Defect.LOW_SUM),
    }
    assert {kind for _, kind, _ in PLANTED.values()} | elsewhere == set(Defect)


def kinds(path: Path) -> set[Defect]:
    """The kinds of findings in a file."""
    return {one.kind for one in check_arpa(path).findings}


def test_defects_of_whole_files(good: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.arpa"
    path.write_bytes(good.encode().replace(b"\tb a\t", b"\tb\xff a\t"))
    assert Defect.INVALID_UTF8 in kinds(path)
    path.write_bytes(b"")
    assert kinds(path) == {Defect.EMPTY_FILE}
    path.write_text("\\data\\\n\n\\end\\\n")
    assert kinds(path) == {Defect.NO_COUNTS, Defect.NO_UNIGRAMS}
    path.write_text("no model at all")
    assert {
        Defect.TEXT_BEFORE_DATA,
        Defect.NO_DATA,
        Defect.NO_END,
        Defect.NO_UNIGRAMS,
    } <= kinds(path)
    with pytest.raises(InputError, match="cannot be repaired"):
        repair_arpa(path, tmp_path / "repaired.arpa")
    path.write_text("\\data\\\nngram 1=0\nngram 2=0\n\n\\1-grams:\n\n\\2-grams:\n\n\\end\\\n")
    assert {Defect.NO_UNIGRAMS, Defect.EMPTY_ORDER} <= kinds(path)
    path.write_text(
        "\\data\\\nngram 1=3\n\n\\1-grams:\n-0.30103\t<unk>\n-99\t<s>\n-0.30103\t</s>\n\n\\end\\\n"
    )
    assert kinds(path) == {Defect.ONE_ORDER}
    repair_arpa(path, tmp_path / "repaired.arpa")
    assert kenlm.Model(str(tmp_path / "repaired.arpa")).order == 2
    packed = tmp_path / "cut.arpa.gz"
    packed.write_bytes(gzip.compress(good.encode())[:-30])
    assert Defect.CUT_SHORT in kinds(packed)
    packed.write_bytes(b"no gzip at all")
    assert kinds(packed) == {Defect.CUT_SHORT}
    with pytest.raises(InputError, match="cannot be read"):
        check_arpa(tmp_path / "missing.arpa")


@pytest.mark.parametrize(
    ("pack", "ending"), [(gzip.compress, "gz"), (bz2.compress, "bz2"), (lzma.compress, "xz")]
)
def test_compressed_files_under_a_plain_name_are_reported(
    good: str, pack: Callable[[bytes], bytes], ending: str, tmp_path: Path
) -> None:
    path = tmp_path / "plain.arpa"
    path.write_bytes(pack(good.encode()))
    with pytest.raises(InputError, match=rf"plain.arpa: is compressed \(.{ending}\)"):
        check_arpa(path)
    with pytest.raises(InputError, match="is compressed"):
        repair_arpa(path, tmp_path / "repaired.arpa")
    assert check_arpa(path.rename(tmp_path / f"plain.arpa.{ending}")).findings == ()


def test_files_with_too_little_left_are_not_repaired(good: str, tmp_path: Path) -> None:
    packed = tmp_path / "cut.arpa.gz"
    packed.write_bytes(gzip.compress(good.encode())[:-30])
    with pytest.raises(InputError, match="cannot be repaired"):
        repair_arpa(packed, tmp_path / "repaired.arpa")
    assert not (tmp_path / "repaired.arpa").exists()
    assert not Defect.CUT_SHORT.value.repairable


def test_high_orders_are_named(tmp_path: Path) -> None:
    model = train_kneser_ney(counts_of(random_lines(1), 7), 7)
    write_arpa(model, tmp_path / "seven.arpa")
    assert kinds(tmp_path / "seven.arpa") == {Defect.HIGH_ORDER}


def as_srilm(model: NgramModel) -> str:
    """A model as SRILM writes it: an empty line first, back-offs only where something follows."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        write_arpa(model, Path(folder) / "model.arpa")
        lines = (Path(folder) / "model.arpa").read_text().split("\n")
    contexts = {line.split("\t")[1].rpartition(" ")[0] for line in lines if "\t" in line}
    made = []
    for line in lines:
        fields = line.split("\t")
        made.append("\t".join(fields[:2]) if len(fields) == 3 and fields[1] not in contexts else line)
    return "\n" + "\n".join(made)


def test_files_in_srilms_manner_pass(tmp_path: Path) -> None:
    for number, train in enumerate((train_kneser_ney, train_katz)):
        model = train(counts_of(random_lines(1), 3, ("never",)), 3)
        path = tmp_path / f"{number}.arpa"
        path.write_text(as_srilm(model))
        report = check_arpa(path)
        assert report.violations == 0
        assert {one.kind for one in report.findings} == {
            Defect.BLANK_BEFORE_DATA,
            Defect.OMITTED_BACKOFF,
        }
        # Without -unk there is no <unk>.
        closed = re.sub(r"ngram 1=(\d+)", lambda found: f"ngram 1={int(found[1]) - 1}", as_srilm(model))
        path.write_text(re.sub(r"^.*\t<unk>.*\n", "", closed, flags=re.MULTILINE))
        assert Defect.CLOSED_VOCABULARY in kinds(path)
        assert check_arpa(path).violations == 0


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("blank line first", Defect.TEXT_BEFORE_DATA),
        ("no unknown word", Defect.NO_UNKNOWN),
        ("back-off too low", Defect.BACKOFF_SUM),
        ("no suffix", Defect.NO_SUFFIX),
    ],
)
def test_one_field_left_out_makes_no_file_srilms(good: str, name: str, kind: Defect, tmp_path: Path) -> None:
    path = tmp_path / "broken.arpa"
    path.write_text(PLANTED[name][0](swap(r"(\t</s>)\t.*", r"\1")(good)))
    report = check_arpa(path)
    found = {one.kind for one in report.findings}
    assert {kind, Defect.NO_UNIGRAM_BACKOFF} <= found
    srilms = {
        Defect.BLANK_BEFORE_DATA,
        Defect.CLOSED_VOCABULARY,
        Defect.PRUNED_SUFFIX,
        Defect.OMITTED_BACKOFF,
    }
    assert not found & srilms


def test_wrong_sums_in_srilms_manner_are_violations(tmp_path: Path) -> None:
    text = as_srilm(train_kneser_ney(counts_of(random_lines(1), 3), 3))
    path = tmp_path / "low.arpa"
    path.write_text(swap(r"(\tw1\t).*", r"\1-3")(text))
    report = check_arpa(path)
    assert [one.kind for one in report.findings if not one.kind.value.warning] == [Defect.BACKOFF_SUM]
    omitted = [one for one in report.findings if one.kind is Defect.OMITTED_BACKOFF]
    assert omitted[0].detail.endswith("of order 1")
    assert "pyctcdecode" in omitted[0].kind.value.readers


def test_files_pruned_in_srilms_manner_pass(tmp_path: Path) -> None:
    text = as_srilm(train_kneser_ney(counts_of(random_lines(1), 3), 3))
    first = re.search(r"\\3-grams:\n[\s\S]*?\tw\d+ (w\d+ w\d+)\n", text)
    assert first
    # The suffix of the first trigram goes; with it go all trigrams that begin with it.
    gone = first[1]
    kept = [
        line for line in text.split("\n") if not (line.split("\t")[1:2] == [gone] or f"\t{gone} " in line)
    ]
    sizes = {order: sum(line.count(" ") == order - 1 for line in kept if "\t" in line) for order in (2, 3)}
    path = tmp_path / "pruned.arpa"
    joined = "\n".join(kept)
    for order, size in sizes.items():
        joined = re.sub(rf"ngram {order}=\d+", f"ngram {order}={size}", joined)
    path.write_text(joined)
    report = check_arpa(path)
    assert {Defect.PRUNED_SUFFIX} <= {one.kind for one in report.findings}
    assert all(one.kind.value.warning or one.kind is Defect.BACKOFF_SUM for one in report.findings)


def test_files_by_lmplz_pass(tmp_path: Path) -> None:
    if not LMPLZ.exists():
        pytest.skip(f"{LMPLZ} is not here")
    text = "\n".join(random_lines(1, 300)) + "\n"
    for order in ("2", "4"):
        options = ["-o", order, "--discount_fallback", "-S", "100M", "-T", str(tmp_path)]
        run = subprocess.run([LMPLZ, *options], input=text.encode(), capture_output=True, check=True)
        (tmp_path / "lmplz.arpa").write_bytes(run.stdout)
        report = check_arpa(tmp_path / "lmplz.arpa")
        assert report.violations == 0
        assert {one.kind for one in report.findings} == {Defect.START_ZERO}


def test_repair_changes_no_score_of_a_sound_file(tmp_path: Path) -> None:
    model = train_kneser_ney(counts_of(random_lines(1), 4), 4)
    write_arpa(model, tmp_path / "model.arpa")
    text = (tmp_path / "model.arpa").read_text()
    (tmp_path / "untidy.arpa").write_text("\n\n" + text.replace("\t", "  ").replace("ngram ", " ngram  "))
    repair_arpa(tmp_path / "untidy.arpa", tmp_path / "repaired.arpa")
    sentences = random_lines(2, 20)
    again = load(tmp_path / "repaired.arpa")
    np.testing.assert_allclose(
        [again.score(line) for line in sentences], [model.score(line) for line in sentences], atol=1e-4
    )


@given(st.data())
def test_any_damage_is_survived(data: st.DataObject) -> None:
    import tempfile

    lines = GOOD.encode().split(b"\n")
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(lines) - 1))
        change = data.draw(st.sampled_from(["drop", "double", "swap", "cut", "bytes"]))
        if change == "drop" and len(lines) > 1:
            del lines[place]
        elif change == "double":
            lines.insert(place, lines[place])
        elif change == "swap":
            lines[0], lines[place] = lines[place], lines[0]
        elif change == "cut":
            lines[place] = lines[place][: len(lines[place]) // 2]
        else:
            lines[place] = data.draw(st.binary(max_size=8)).replace(b"\n", b"") + lines[place]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.arpa"
        path.write_bytes(b"\n".join(lines))
        report = check_arpa(path)
        assert all(one.line >= 1 for one in report.findings)
        try:
            repair_arpa(path, Path(folder) / "repaired.arpa")
        except InputError:
            return
        assert check_arpa(Path(folder) / "repaired.arpa").violations == 0
        kenlm.Model(str(Path(folder) / "repaired.arpa"))


def test_docs_list_every_check() -> None:
    text = (ROOT / "docs" / "arpa.md").read_text(encoding="utf-8")
    missing = [kind for kind in Defect if f"`{kind.name.lower().replace('_', '-')}`" not in text]
    assert not missing
