"""Text from data frames, datasets and Arrow data; each package's tests need it installed."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from classgram.counts.counting import count_ngrams
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.estimator import WordClasses
from classgram.options import ReadOptions, TextOptions
from classgram.text.reading import text_from_strings

LINES = ["the cat sat", "a dog ran", None, "the dog sat\nand ran", ""]
STRINGS = [line for line in LINES if line is not None]


def bigrams(counts: NgramCounts) -> list[tuple[tuple[str, ...], int]]:
    return sorted(counts.items(2))


def expected() -> list[tuple[tuple[str, ...], int]]:
    return bigrams(count_ngrams(text_from_strings(STRINGS)))


def generated() -> Iterator[str]:
    yield from STRINGS


PLAIN: dict[str, Callable[[], Any]] = {
    "generator": generated,
    "iterator": lambda: iter(STRINGS),
    "records": lambda: [{"text": line, "n": 1} for line in LINES],
    "streamed records": lambda: ({"text": line} for line in LINES),
    "columns": lambda: {"text": LINES, "n": [1] * len(LINES)},
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_python_yields_text(name: str) -> None:
    assert bigrams(count_ngrams(PLAIN[name]())) == expected()


def arrow(name: str) -> Any:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": LINES, "n": [1] * len(LINES)})
    return {
        "array": pa.array(LINES),
        "chunked": pa.chunked_array([LINES[:2], LINES[2:]]),
        "table": table,
        "batch": table.to_batches()[0],
        "batches": table.to_batches(),
        "reader": table.to_reader(),
        "large": pa.array(LINES, pa.large_string()),
    }[name]


@pytest.mark.parametrize("name", ["array", "chunked", "table", "batch", "batches", "reader", "large"])
def test_arrow_data(name: str) -> None:
    assert bigrams(count_ngrams(arrow(name))) == expected()


def frame(name: str) -> Any:
    package = pytest.importorskip(name.split()[0])
    made = package.DataFrame({"text": LINES, "n": [1] * len(LINES)})
    if name.endswith("column"):
        return made["text"]
    return made.lazy() if name.endswith("lazy") else made


@pytest.mark.parametrize("name", ["pandas", "pandas column", "polars", "polars column", "polars lazy"])
def test_data_frames(name: str) -> None:
    assert bigrams(count_ngrams(frame(name))) == expected()


@pytest.mark.parametrize("dtype", ["string", "object", "category"])
def test_columns_of_pandas_with_their_own_missing_values(dtype: str) -> None:
    pandas = pytest.importorskip("pandas")
    assert bigrams(count_ngrams(pandas.Series(LINES, dtype=dtype))) == expected()


def dataset(kind: str) -> Any:
    datasets = pytest.importorskip("datasets")
    made = datasets.Dataset.from_dict({"text": LINES, "n": [1] * len(LINES)})
    streamed = made.to_iterable_dataset()
    kinds = {
        "split": made,
        "column": made["text"],
        "stream": streamed,
        "filtered stream": streamed.filter(lambda row: row["n"] == 1),
        "splits": datasets.DatasetDict(train=made),
    }
    return kinds[kind]


@pytest.mark.parametrize("kind", ["split", "column", "stream", "filtered stream"])
def test_datasets(kind: str) -> None:
    assert bigrams(count_ngrams(dataset(kind))) == expected()


def test_splits_are_chosen_by_the_user() -> None:
    with pytest.raises(InputError, match="choose one of: train"):
        count_ngrams(dataset("splits"))


def test_the_column_is_named_by_the_read_options() -> None:
    rows = [{"body": line} for line in STRINGS]
    assert bigrams(count_ngrams(rows, read=ReadOptions(field="body"))) == expected()
    with pytest.raises(InputError, match="body"):
        count_ngrams(rows)
    model = WordClasses(2, field="body").fit(rows)
    assert "cat" in model.words_


def test_text_options_apply() -> None:
    counts = count_ngrams(iter(["The CAT"]), text=TextOptions(lowercase=True))
    assert "cat" in counts.vocabulary


def test_names_of_files_stay_names(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(STRINGS))
    for source in (str(path), path, [str(path)], (path,), tmp_path.glob("*.txt")):
        assert bigrams(count_ngrams(source)) == expected()


@pytest.mark.parametrize("data", ["one string", b"bytes", 5, [1, 2], iter([["a", "b"]]), [{"other": "a"}]])
def test_what_is_no_text_is_named(data: Any) -> None:
    with pytest.raises(InputError):
        count_ngrams(text_from_strings(data))
