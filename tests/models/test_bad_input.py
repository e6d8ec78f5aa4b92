"""Damaged models, odd texts and wrong options: a clear error or a sane number, never a traceback."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from classgram.counts._kernels.counting import Level
from classgram.counts.counting import count_ngrams
from classgram.counts.merging import apply_cutoffs
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.evaluation.perplexity import evaluate
from classgram.loading import load
from classgram.models.language_model import LanguageModel
from classgram.models.ngram.ngram_model import train_backoff, train_katz, train_kneser_ney
from classgram.models.training import train_model
from classgram.options import CountOptions, ModelOptions
from classgram.text.reading import text_from_strings
from tests.helpers.models import MODELS
from tests.helpers.texts import HELD_OUT, counts_of, random_lines

SAVED = ("kneser-ney 3", "class kneser-ney", "joint interpolated", "positional paper")


@pytest.fixture(scope="module", params=SAVED)
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved model of each form."""
    counts = counts_of(random_lines(1), 5, ("never",))
    path = tmp_path_factory.mktemp("models") / "model"
    MODELS[request.param](counts).save(path)
    return path


def copy_of(saved: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(saved, tmp_path / "model"))


def assert_refused(path: Path, what: str = "") -> None:
    """Loading fails with one line that names the folder."""
    with pytest.raises(InputError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_truncated_and_foreign_files(saved: Path, tmp_path: Path) -> None:
    for file in sorted(saved.iterdir()):
        for damage in ("missing", "empty", "truncated", "foreign"):
            path = copy_of(saved, tmp_path)
            target = path / file.name
            if damage == "missing":
                target.unlink()
            else:
                data = target.read_bytes()
                size = {"empty": 0, "truncated": len(data) // 2, "foreign": 0}[damage]
                target.write_bytes(b"something else\n" if damage == "foreign" else data[:size])
            assert_refused(path)
            shutil.rmtree(path)


def test_swapped_files_are_refused_or_harmless(saved: Path, tmp_path: Path) -> None:
    arrays = sorted(saved.glob("*.npy"))
    for one in arrays:
        for two in arrays:
            if one.name < two.name:
                path = copy_of(saved, tmp_path)
                shutil.copy(one, path / two.name)
                shutil.copy(two, path / one.name)
                load_or_refuse(path)
                shutil.rmtree(path)


def load_or_refuse(path: Path) -> None:
    """Either an InputError, or a model whose numbers are numbers."""
    try:
        model = load(path)
    except InputError:
        return
    assert np.isfinite(model.log_probabilities(model.encode(HELD_OUT))).all()


@pytest.mark.parametrize("value", [-7, 10**8, np.nan])
def test_values_out_of_range_never_reach_a_kernel(saved: Path, tmp_path: Path, value: float) -> None:
    for file in sorted(saved.glob("*.npy")):
        array = np.load(file)
        if np.isnan(value) and array.dtype.kind != "f":
            continue
        for place in (0, array.size // 2, array.size - 1):
            if array.size == 0:
                continue
            path = copy_of(saved, tmp_path)
            changed = array.copy()
            changed.flat[place] = value
            np.save(path / file.name, changed)
            load_or_refuse(path)
            shutil.rmtree(path)


def edit_config(path: Path, edit: Callable[[dict[str, object]], object]) -> None:
    """Change a folder's config.json."""
    config = json.loads((path / "config.json").read_text())
    edit(config)
    (path / "config.json").write_text(json.dumps(config))


def test_config_that_does_not_fit(saved: Path, tmp_path: Path) -> None:
    edits: dict[str, Callable[[dict[str, object]], object]] = {
        "newer classgram": lambda config: config.update(version=99),
        "unknown form of model": lambda config: config.update(form="telepathy"),
        "holds counts, not model": lambda config: config.update(format="classgram-counts"),
        "not written by classgram": lambda config: config.pop("format"),
    }
    for what, edit in edits.items():
        path = copy_of(saved, tmp_path)
        edit_config(path, edit)
        assert_refused(path, what)
        shutil.rmtree(path)
    for key in ("sizes", "order"):
        for value in (None, [], "x", [10**9], 1, -3):
            path = copy_of(saved, tmp_path)
            edit_config(path, lambda config, key=key, value=value: config.update({key: value}))  # type: ignore[misc]
            load_or_refuse(path)
            shutil.rmtree(path)


def test_a_vocabulary_of_another_model_is_refused(saved: Path, tmp_path: Path) -> None:
    path = copy_of(saved, tmp_path)
    data = (path / "vocabulary.txt").read_bytes() + b"more\n"
    (path / "vocabulary.txt").write_bytes(data)
    edit_config(path, lambda config: config["texts"]["vocabulary.txt"].update(bytes=len(data)))  # type: ignore[index]
    assert_refused(path)


def test_no_such_model(tmp_path: Path) -> None:
    assert_refused(tmp_path / "nothing", "no such folder")
    (tmp_path / "file").write_text("x")
    assert_refused(tmp_path / "file", "is a file")


TRAINERS: list[Callable[[NgramCounts], LanguageModel]] = [train_kneser_ney, train_katz, train_backoff]


@pytest.mark.parametrize("train", TRAINERS)
@pytest.mark.parametrize(
    "lines", [["one"], ["a a a a"], ["a"] * 50, ["<unk>"], ["<unk> <unk>", "<unk>"], ["a b"] * 9]
)
def test_tiny_texts_give_sane_models(train: Callable[[NgramCounts], LanguageModel], lines: list[str]) -> None:
    for order in (2, 3):
        model = train(counts_of(lines, order))
        for state in (model.start(), model.start(False), model.advance(model.start(), 0)):
            assert model.distribution(state).sum() == pytest.approx(1, abs=1e-5)
        for text in ([""], ["zzz"], lines):
            logs = model.log_probabilities(model.encode(text))
            assert np.isfinite(logs).all()
            assert (logs <= 1e-6).all()
        assert evaluate(model, text_from_strings(["zzz yyy"])).unknown == 2


def test_options_that_make_no_sense() -> None:
    counts = counts_of(random_lines(1), 3)
    wrong = {
        "order from 2": ModelOptions("kneser-ney", order=1),
        "count again with --order 4": ModelOptions("kneser-ney", order=4),
        "--smoothing is for class models": ModelOptions("kneser-ney", smoothing="paper"),
        "--use-classes": ModelOptions(recipe="class"),
        "train_mixture": ModelOptions(),
        "cut-offs are counts of 1": ModelOptions(recipe="backoff", cutoff=(0,)),
    }
    for message, options in wrong.items():
        with pytest.raises(InputError, match=message):
            train_model(counts, options)


def test_counts_with_gaps_are_refused() -> None:
    lines = ["a b c", "a b c", "b c d"] * 3 + ["x b c"]
    counts = count_ngrams(text_from_strings(lines), CountOptions(3))
    gaps = apply_cutoffs(counts.levels[:2], (7,))
    broken = NgramCounts(counts.vocabulary, (*gaps, first_rows(counts.levels[2], gaps[1].words.size)))
    with pytest.raises(InputError, match="that do not fall as the order rises"):
        train_kneser_ney(broken)


def first_rows(level: Level, rows: int) -> Level:
    """A level with only its first rows: n-grams whose suffixes need not be there."""
    end = int(level.starts[rows])
    return Level(level.starts[: rows + 1], level.words[:end], level.counts[:end])


def test_wrong_states_and_contexts() -> None:
    model = train_kneser_ney(counts_of(random_lines(1), 3))
    with pytest.raises(InputError, match="no state"):
        model.distribution("w1")
    with pytest.raises(InputError, match="list of words"):
        model.score("w1", "w2 w3")
    with pytest.raises(InputError, match="<s>"):
        model.score("a <s> b")
    with pytest.raises(InputError, match="at least one sentence"):
        model.perplexity([])
