"""Class files: every format keeps every word, is recognised, and is refused where it is broken."""

import gzip
import math
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classgram.class_files import formats
from classgram.class_files.reading import read_classes
from classgram.class_files.registry import FORMATS, format_of_name
from classgram.class_files.writing import format_lines, write_bytes
from classgram.classes.class_list import ClassList, Member
from classgram.errors import InputError
from classgram.options import ClassFormat
from tests.helpers.class_files import groups

STRANGE = (
    "#", "|", '"', "$", ",", "1,5", "1986", "0101", "0", "1", "0.5", "1e-3", "nan", "-inf", "<unk>", "CLASS",
    "x\u00a0y", "\u00a0", "\u2028", "\u0085", "e\u0301", "\u0301", "中文", "العربية", "हिन्दी", "🙂",
    "\\", "'", ";", ":", ";KategProblem:cats:", "\u200b", "a\u3000b", "\x1c", "\x1f",
)  # fmt: skip
"""Words that some reader somewhere takes for something else."""

SPACES = " \t\n\r\x0b\x0c\0"
anything = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=SPACES), min_size=1, max_size=6
)
words = st.one_of(st.sampled_from(STRANGE), anything).filter(
    # A byte-order mark at the start of a file is none of its words; sentence ends are no words.
    lambda word: not word.startswith("\ufeff") and word not in ("<s>", "</s>")
)


@st.composite
def class_lists(draw: st.DrawFn) -> ClassList:
    chosen = draw(st.lists(words, unique=True, min_size=1, max_size=12))
    names = draw(st.lists(st.integers(0, 4), min_size=len(chosen), max_size=len(chosen)))
    counts = draw(st.lists(st.integers(0, 1000), min_size=len(chosen), max_size=len(chosen)))
    members = (Member(word, str(name), n) for word, name, n in zip(chosen, names, counts, strict=True))
    return ClassList("drawn", "tsv", tuple(members))


LINE_FORMATS = [name for name, form in FORMATS.items() if form.parse is not None]


def test_every_format_has_its_module_and_its_name() -> None:
    modules = {module.name for module in pkgutil.iter_modules(formats.__path__)}
    assert modules == set(FORMATS) == set(get_args(ClassFormat)) - {"folder"}
    for name, form in FORMATS.items():
        assert form.name == name
        assert all(format_of_name(f"x{ending}.gz") == name for ending in form.endings)


def written(listed: ClassList, form: ClassFormat, folder: Path) -> Path:
    path = folder / f"x{FORMATS[form].endings[0]}{'.gz' if form == 'aalto' else ''}"
    write_bytes(path, format_lines(listed, form))
    return path


def with_paths(listed: ClassList) -> ClassList:
    """The same classes under names that are bit strings of one length."""
    members = (member._replace(name=f"{int(member.name):03b}") for member in listed.members)
    return ClassList(listed.source, "paths", tuple(members))


@pytest.mark.parametrize("form", LINE_FORMATS)
@given(listed=class_lists())
def test_round_trips_keep_every_word(
    form: ClassFormat, listed: ClassList, tmp_path_factory: pytest.TempPathFactory
) -> None:
    given_list = with_paths(listed) if FORMATS[form].needs == "tree" else listed
    path = written(given_list, form, tmp_path_factory.mktemp("lists"))
    for back in (read_classes(path), read_classes(path, form)):
        assert back.format == form
        assert groups(back) == groups(listed)
        if FORMATS[form].needs in ("counts", "tree"):
            counts = {member.word: member.seen for member in listed.members}
            assert {member.word: member.seen for member in back.members} == counts


@pytest.mark.parametrize("form", ["srilm", "aalto"])
@given(listed=class_lists())
def test_members_share_their_class(
    form: ClassFormat, listed: ClassList, tmp_path_factory: pytest.TempPathFactory
) -> None:
    back = read_classes(written(listed, form, tmp_path_factory.mktemp("lists")))
    totals: dict[str, float] = {}
    for member in back.members:
        assert member.log_probability is not None
        assert member.log_probability > -math.inf
        totals[member.name] = totals.get(member.name, 0.0) + math.exp(member.log_probability)
    assert all(total == pytest.approx(1.0, abs=1e-6) for total in totals.values())


@given(listed=class_lists())
def test_cats_are_read_back_or_refused(listed: ClassList, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("lists") / "x.cats"
    write_bytes(path, format_lines(listed, "cats"))
    if any("," in member.word for member in listed.members):
        with pytest.raises(InputError, match="commas"):
            read_classes(path)
    else:
        assert groups(read_classes(path)) == groups(listed)


def test_mkcls_as_giza_wants_it() -> None:
    members = (Member("b", "0", 2), Member("<s>", "7", 0), Member("a", "1", 3), Member("$", "0", 1))
    listed = ClassList("x", "tsv", members)
    assert format_lines(listed, "mkcls") == b"$\t2\na\t3\nb\t2\n"
    cats = b";KategProblem:cats: 2   words: 4\n0:$,\n1:\n2:mkcls-mapped-dollar-symbol-$,b,\n3:a,\n"
    assert format_lines(listed, "cats") == cats


def test_the_layouts_of_the_other_formats() -> None:
    members = (Member("b", "0", 2), Member("c", "0", 2), Member("a", "1", 3), Member("</s>", "2", 1))
    listed = ClassList("x", "tsv", members)
    assert format_lines(listed, "tsv") == b"b\t0\t2\nc\t0\t2\na\t1\t3\n</s>\t2\t1\n"
    assert format_lines(listed, "clustercat") == b"b\t0\nc\t0\na\t1\n</s>\t2\n"
    assert format_lines(listed, "srilm") == b"CLASS-00000 0.5 b\nCLASS-00000 0.5 c\nCLASS-00001 1 a\n"
    assert format_lines(listed, "aalto") == b"b\t0 -0.693147181\nc\t0 -0.693147181\na\t1 0\n"


GUESSES: dict[str, tuple[str, bytes, ClassFormat]] = {
    "two columns": ("x", b"the\t3\ncat\t4\n", "tsv"),
    "three columns": ("x", b"the\t3\t10\ncat\t4\t2\n", "tsv"),
    "spaces": ("x", b"the 3\ncat 4\n", "tsv"),
    "paths": ("x", b"010\tthe\t10\n010\ta\t4\n11\tcat\t2\n", "paths"),
    "paths under another name": ("x.tsv", b"010\tthe\t10\n010\ta\t4\n11\tcat\t2\n", "paths"),
    "paths with one word each": ("x", b"0\tthe\t10\n10\ta\t4\n11\tcat\t2\n", "paths"),
    "words like paths": ("x", b"0101\t7\t3\n11\t7\t2\n0\t8\t1\n", "tsv"),
    "words like paths, named": ("x.tsv", b"0101\t7\t3\n11\t6\t2\n0\t8\t1\n", "tsv"),
    "one word that is no path": ("x", b"0101\t1\t3\n12\t1\t2\n", "tsv"),
    "numbers only": ("x", b"1986\t2\n1987\t2\n", "mkcls"),
    "srilm": ("x", b"CLASS-1 0.5 the\nCLASS-1 0.5 a\n", "srilm"),
    "srilm, words like numbers": ("x", b"CLASS-1 0.5 0.25\nCLASS-1 0.5 7\n", "srilm"),
    "srilm without probabilities": ("x.classes", b"CLASS-1 the\nCLASS-2 a\n", "srilm"),
    "mkcls under GIZA's name": ("en.vcb.classes", b"the\t2\na\t3\n", "mkcls"),
    "mkcls under SRILM's name": ("x.classes", b"the\t2\na\t3\n", "tsv"),
    "two classes": ("x", b"the\t0\t1\na\t1\t1\n", "tsv"),
    "aalto": ("x", b"the\t3 -0.5\na\t3 -0.9\n", "aalto"),
    "byte-order mark, CR LF, blank lines": ("x", b"\xef\xbb\xbfthe\t3\r\n\r\na\t3\r\n", "tsv"),
}


@pytest.mark.parametrize("case", GUESSES)
def test_formats_are_guessed(case: str, tmp_path: Path) -> None:
    name, data, form = GUESSES[case]
    path = tmp_path / name
    path.write_bytes(data)
    found = read_classes(path)
    alike = ("tsv", "mkcls", "clustercat")
    assert found.format == form or (found.format in alike and form in alike)
    assert {member.word for member in found.members} & {"the", "0101", "1986", "0.25"}


def test_a_format_that_is_named_is_believed(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"010\t7\t3\n11\t8\t2\n")
    assert [member.word for member in read_classes(path, "tsv").members] == ["010", "11"]
    assert [member.word for member in read_classes(path, "paths").members] == ["7", "8"]


def test_packed_files(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv.gz"
    path.write_bytes(gzip.compress(b"the\t3\n"))
    assert read_classes(path).members == (Member("the", "3"),)
    path.write_bytes(gzip.compress(b"the\t3\n" * 99)[:-9])
    with pytest.raises(InputError, match="cut short"):
        read_classes(path)


BROKEN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "contains no classes"),
    "blank": (b"\n \n", "contains no classes"),
    "one column": (b"the\t1\ncat\n", "line 2: expected a word"),
    "no class": (b"the\t1\ncat\t\n", "line 2"),
    "a count that is none": (b"the\t1\t5\ncat\t2\tx\n", "line 2"),
    "two classes": (b"the\t1\ncat\t2\nthe\t2\n", "line 3: the word the is in two classes, 1 and 2"),
    "Latin-1": (b"caf\xe9\t1\n", "line 1: is not UTF-8"),
    "NUL": (b"a\t1\nb\0\t1\n", "line 2"),
    "several words": (b"CLASS-1 0.5 a\nCLASS-1 0.5 new york\n", "line 2"),
    "vectors": (b"2 3\na 1 2 3\nb 4 5 6\n", "word vectors"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_named_with_their_line(case: str, tmp_path: Path) -> None:
    data, message = BROKEN[case]
    path = tmp_path / "broken"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        read_classes(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_files_and_other_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_classes(tmp_path / "missing.tsv")
    with pytest.raises(InputError, match="folder"):
        read_classes(tmp_path)


REFUSED: dict[str, Callable[[], bytes]] = {
    "white space": lambda: format_lines(ClassList("x", "tsv", (Member("new york", "1"),)), "tsv"),
    "name": lambda: format_lines(ClassList("x", "tsv", (Member("CLASS-00001", "1"),)), "srilm"),
    "no words": lambda: format_lines(ClassList("x", "tsv", (Member("<s>", "1"),)), "mkcls"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_a_format_cannot_hold_is_refused(reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        REFUSED[reason]()
