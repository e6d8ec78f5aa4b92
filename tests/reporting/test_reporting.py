"""What a report is made of, what it refuses, and what stands in for it in terminals and notebooks."""

import hashlib
import json
from pathlib import Path

import pytest

import classgram
from classgram.reporting.page import embedded
from classgram.reporting.paper_data import paper_data
from tests.helpers.command import Command, in_process
from tests.helpers.texts import random_lines

ROOT = Path(__file__).resolve().parents[2]
LINES = random_lines(1, 150)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Classes, counts, a class model and a word model of a small text."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "text.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    (folder / "empty.txt").write_text("\n", encoding="utf-8")
    classgram.count(LINES, output=folder / "counts")
    found = classgram.cluster(LINES, classes=5, threads=1, output=folder / "classes")
    classgram.train(LINES, recipe="class", use_classes=found.partition, output=folder / "model")
    classgram.train(LINES, recipe="kneser-ney", order=2, output=folder / "words")
    (folder / "classes.tsv").write_bytes(found.partition.classes_tsv())
    return folder


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return in_process(capsys)


def test_the_bundle_is_built_from_its_sources() -> None:
    web, assets = ROOT / "web", ROOT / "src" / "classgram" / "reporting" / "assets"
    names = [
        "build.mjs",
        "package-lock.json",
        *sorted(f"src/{path.name}" for path in (web / "src").iterdir()),
    ]
    sources = b"".join(name.encode() + b"\n" + (web / name).read_bytes() + b"\n" for name in names)
    bundle = (assets / "page.js").read_bytes() + (assets / "page.css").read_bytes()
    digests = {
        key: hashlib.sha256(data).hexdigest() for key, data in (("sources", sources), ("bundle", bundle))
    }
    recorded = json.loads((assets / "digests.json").read_text(encoding="utf-8"))
    assert recorded == digests, "the page is not built from its sources: cd web && npm ci && npm run build"


def test_data_cannot_end_its_element() -> None:
    hostile = "</script><!--<script>\u2028\u2029&\ud800"
    text = embedded({"word": hostile})
    assert not set("<>&\u2028\u2029\ud800") & set(text)
    assert json.loads(text)["word"] == hostile


def test_the_command_writes_a_page(made: Path, command: Command, tmp_path: Path) -> None:
    sources = [made / name for name in ("classes", "model", "words", "classes.tsv")]
    page = tmp_path / "page.html"
    code, _, err = command("report", *sources, "-o", page, "--text", made / "text.txt", "--quiet")
    assert (code, err) == (0, "")
    text = page.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert "unsafe" not in text.split("</head>")[0].split("<style>")[0]
    assert "http://www.w3.org/2000/svg" in text
    assert 'src="' not in text.split("<script>")[0]


def test_neighbours_are_those_of_the_text(made: Path) -> None:
    page = classgram.report(made / "classes", counts=made / "counts")
    data = page.data["classes"][0]
    counts = classgram.NgramCounts.load(made / "counts")
    starts = [sum(data["shown"][:number]) for number in range(len(data["shown"]))]
    number = 0
    inside = set(data["words"][starts[0] : starts[0] + data["shown"][0]])
    after = [n for (first, _), n in counts.items(2) if first in inside]
    for other, share, examples in data["right"][number]:
        if isinstance(other, str):
            continue
        members = set(data["words"][starts[other] : starts[other] + data["shown"][other]])
        pairs = dict.fromkeys(members, 0)
        for (first, second), n in counts.items(2):
            if first in inside and second in members:
                pairs[second] += n
        assert share == pytest.approx(sum(pairs.values()) / sum(after), abs=1e-4)
        assert pairs[data["words"][examples[0]]] == max(pairs.values())
    assert len(data["tree"]) == len(data["numbers"]) - 1
    assert data["tokens"] == sum(data["counts"])


def test_a_class_file_gives_the_same_page_as_its_folder(made: Path) -> None:
    whole, listed = (
        classgram.report(made / name, counts=made / "counts").data["classes"][0]
        for name in ("classes", "classes.tsv")
    )
    assert [set(one.split(", ")) for one in whole["names"]] == [
        set(one.split(", ")) for one in listed["names"]
    ]
    shares = [[[row[1] for row in rows] for rows in data["right"]] for data in (whole, listed)]
    assert shares[0] == shares[1]
    assert len(whole["tree"]) == len(listed["tree"]) == len(listed["numbers"]) - 1


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("counts",), "holds counts alone"),
        (("nothing",), "no such file or folder"),
        ((".",), "nothing that a report shows"),
        (("model", "--text", "empty.txt"), "the text is empty"),
        (("classes", "--text", "empty.txt"), "empty"),
        (("model", "--text", "nowhere.txt"), "nowhere.txt"),
        (("model", "--text", "text.txt", "--lowercase"), "not with --lowercase"),
        ((), "needs something to show"),
    ],
)
def test_bad_input_is_one_line(
    made: Path, command: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], reason: str
) -> None:
    monkeypatch.chdir(made)
    code, out, err = command("report", *words, "-o", "page.html", "--quiet")
    assert (code, out) == (2, "")
    assert reason in err
    assert err.count("\n") == 1
    assert not Path("page.html").exists()


def test_a_text_must_be_a_file(made: Path) -> None:
    with pytest.raises(classgram.InputError, match="name a file instead of -"):
        classgram.report(made / "model", text="-")


def test_classes_and_similar_take_models_and_files(made: Path, command: Command) -> None:
    partition = classgram.Partition.load(made / "classes")
    mates = {word for word, _ in partition.members(partition.class_of("w1"))} - {"w1", "<unk>"}
    for name in ("classes", "model", "classes.tsv"):
        code, out, _ = command("classes", made / name, "w1", "--json")
        assert code == 0
        assert set(json.loads(out)[0]["members"]) - {"<unk>"} == {"w1", *mates}
        code, out, _ = command("similar", made / name, "w1", "--json", "--quiet")
        found = [row["word"] for row in json.loads(out)]
        assert set(found[: len(mates)]) == mates
    assert len(json.loads(command("similar", made / "model", "w1", "--most", "12", "--json")[1])) == 12
    assert "words like w1" in command("similar", made / "model", "w1")[1]
    assert command("similar", made / "model", "unheard")[0] == 2
    assert command("similar", made / "words", "w1")[0] == 2


def test_terminals_get_tables_of_neighbours(
    made: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("classgram.cli.app.is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    for words in (("model", "w1"), ("classes", "w1", "--counts", "counts")):
        monkeypatch.chdir(made)
        code, out, _ = command("classes", *words)
        assert code == 0
        assert all(part in out for part in ("words", "typically before", "typically after", "nearest"))
    assert "most frequent" in command("classes", made / "classes")[1]


def test_notebooks_show_tables_with_words_as_text() -> None:
    result = classgram.cluster(["<b> <i> x", "<b> y"] * 3, classes=2, threads=1)
    shown = result._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    model = classgram.train(LINES, recipe="kneser-ney", order=2)
    assert "kneser-ney" in model._repr_html_()
    assert classgram.report(result)._repr_html_().startswith("<iframe srcdoc=")


def test_a_result_is_plotted() -> None:
    result = classgram.cluster(LINES, classes="auto", threads=1)
    assert len(result.plot().axes) == 3


def test_tables_of_the_paper_keep_their_headings(tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    rows = [
        {"set": "T1", "tokens": 1000, "paper_reference": 20, "reference": 18.5, "clustered": 15.25,
         "paper_clustered": 17, "improvement": 17.6}
    ]  # fmt: skip
    record = {"name": "table-7", "title": "Table 7", "rows": rows, "notes": ["a note"]}
    (tables / "table-7.json").write_text(json.dumps(record), encoding="utf-8")
    cells = "| T1 | 1,000 | 20 | 18.5 | 15.2 | 17 | +17.6 |"
    heads = "| set | tokens | back-off: paper | back-off: ours | clustered: ours | clustered: paper | % \\| |"
    lines = ["**Table 7**", "", heads, "|---|" * 7, cells]
    (tables / "table-7.md").write_text("\n".join(lines), encoding="utf-8")
    (table,) = classgram.report(tmp_path).data["paper"][0]["tables"]
    assert table["headings"][-1] == "% |"
    assert table["rows"] == [["T1", "1,000", "20", "18.5", "15.2", "17", "+17.6"]]
    assert [panel["title"] for panel in table["panels"]] == ["Perplexity", "Improvement"]
    assert table["panels"][0]["lines"][0] == {"label": "back-off, ours", "points": [(1000.0, 18.5)]}
    (tables / "table-7.json").write_text("{", encoding="utf-8")
    with pytest.raises(classgram.InputError, match="damaged"):
        paper_data(tmp_path)
