"""The commands train, perplexity, compare, surprisal, score and generate."""

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from classgram.cli.app import (
    Flat,
    Output,
    QuietOption,
    ShowOptions,
    TextPaths,
    app,
    message,
    print_json,
    print_table,
)
from classgram.options import (
    GenerateOptions,
    MixtureOptions,
    ModelOptions,
    ReadOptions,
    TextOptions,
    TrainClassesOptions,
    VocabularyOptions,
)

if TYPE_CHECKING:
    from classgram.evaluation.filtering import UnitScore
    from classgram.evaluation.perplexity import Evaluation
    from classgram.models.language_model import LanguageModel


_ModelsAndText = Annotated[str, Parameter(allow_leading_hyphen=True)]


@app.command
def train(
    *texts: TextPaths,
    output: Annotated[Path, Output],
    model: Annotated[ModelOptions, Flat] = ModelOptions(),
    use_classes: Path | None = None,
    classes: Annotated[TrainClassesOptions, Flat] = TrainClassesOptions(),
    valid: Path | None = None,
    mixture: Annotated[MixtureOptions, Flat] = MixtureOptions(),
    vocabulary: Annotated[VocabularyOptions, Flat] = VocabularyOptions(),
    text: Annotated[TextOptions, Flat] = TextOptions(),
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: QuietOption = QuietOption(),
) -> None:
    """Train a language model on a text or on counts, and save it as a folder.

    Parameters
    ----------
    output
        The folder to write; it appears when it is complete.
    use_classes
        For --recipe class: a folder that classgram cluster wrote (default: classes are learned).
    valid
        For --recipe mixture, factored: validation text for the weights (default: folds of the training text).
    """
    from classgram.pipelines.keywords import as_keywords
    from classgram.pipelines.training import train as train_model

    trained = train_model(
        *texts,
        output=output,
        use_classes=use_classes,
        valid=valid,
        progress=not show.quiet,
        note=lambda line: message(line, show.quiet),
        **as_keywords(model, classes, mixture, vocabulary, text, read),
    )
    message(f"{output}: {_describe(trained)}", show.quiet)


def _describe(model: "LanguageModel") -> str:
    """Return a one-line description of a model."""
    recipe = model.info.get("recipe", model.form)
    classes = f" with {model.info['classes']:,} classes" if "classes" in model.info else ""
    return f"{recipe} model of order {model.order}{classes}, {len(model.vocabulary):,} words"


def _open_model(path: str | Path, text: TextOptions) -> "LanguageModel":
    """Load a model, and raise InputError where text options contradict its own.

    An ARPA file does not record how its text was tokenised; there the options given are used.
    """
    from classgram.evaluation.perplexity import check_text_options
    from classgram.loading import load

    model = load(path, text)
    check_text_options(model.vocabulary, text)
    return model


@app.command
def perplexity(
    model: Path,
    *texts: TextPaths,
    text: Annotated[TextOptions, Flat] = TextOptions(),
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: ShowOptions = ShowOptions(),
) -> None:
    """Compute the perplexity of a text, with unknown words included and excluded.

    Parameters
    ----------
    model
        A model folder, or an ARPA file.
    """
    from classgram.evaluation.perplexity import evaluate
    from classgram.text.reading import read_text

    loaded = _open_model(model, text)
    result = evaluate(loaded, read_text(*texts, text=loaded.vocabulary.text, read=read), read)
    if show.json:
        print_json(result.as_dict())
    else:
        _print_evaluation(result, str(model))


def _print_evaluation(result: "Evaluation", title: str) -> None:
    """Print the figures of one model."""
    rows: list[tuple[str, str]] = [
        ("perplexity, unknown words included", f"{result.perplexity_including_unknown:.2f}"),
        ("perplexity, unknown words excluded", f"{result.perplexity_excluding_unknown:.2f}"),
        ("bits per word (log2)", f"{result.as_dict()['bits_per_word']:.3f}"),
        ("log10 probability", f"{result.as_dict()['log10_probability']:.2f}"),
        ("sentences (each with one </s>)", f"{result.sentences:,}"),
        ("words", f"{result.words:,}"),
        ("unknown words", f"{result.unknown:,}"),
    ]
    events = result.words + result.sentences
    for order, hits in enumerate(result.hits, start=1):
        rows.append((f"predicted by {order}-grams", f"{hits:,} ({100 * hits / events:.1f} %)"))
    print_table(["", ""], rows, title)


@app.command
def compare(
    *paths: _ModelsAndText,
    text: Annotated[TextOptions, Flat] = TextOptions(),
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: ShowOptions = ShowOptions(),
) -> None:
    """Compare the perplexity of models on a text, each with the first, by a paired permutation test.

    Parameters
    ----------
    paths
        Two or more models, then the text.
    """
    from classgram.errors import InputError
    from classgram.evaluation.comparison import compare_models
    from classgram.text.reading import read_text

    if len(paths) < 3:
        raise InputError("compare needs two or more models and then a text")
    if paths[-1] == "-":
        raise InputError("compare reads its text once for each model; name a file instead of -")
    models = [_open_model(path, text) for path in paths[:-1]]
    evaluations, comparisons = compare_models(models, read_text(paths[-1], read=read), read)
    if len({loaded.vocabulary.letters for loaded in models}) > 1:
        message("the models' vocabularies differ: compare with care, their unknown words differ", show.quiet)
    rows = []
    for index, (path, evaluation) in enumerate(zip(paths, evaluations, strict=False)):
        against = comparisons[index - 1] if index else None
        rows.append({"model": path, **evaluation.as_dict(), **(vars(against) if against else {})})
    if show.json:
        print_json({"text": paths[-1], "models": rows})
        return
    print_table(
        ["model", "incl. unknown", "excl. unknown", "bits/word", "change %", "better", "worse", "p"],
        [_comparison_row(row) for row in rows],
        f"perplexity on {paths[-1]}; change and p against {paths[0]}",
    )


def _comparison_row(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the row of a model in the table of a comparison."""
    figures = (
        str(row["model"]),
        f"{row['perplexity_including_unknown']:.2f}",
        f"{row['perplexity_excluding_unknown']:.2f}",
        f"{row['bits_per_word']:.3f}",
    )
    if "p_value" not in row:
        return (*figures, "", "", "", "")
    return (
        *figures,
        f"{row['perplexity_change_percent']:+.2f}",
        f"{row['sentences_better']:,}",
        f"{row['sentences_worse']:,}",
        f"{row['p_value']:.4f}",
    )


@app.command
def surprisal(
    *paths: _ModelsAndText,
    text: Annotated[TextOptions, Flat] = TextOptions(),
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: ShowOptions = ShowOptions(),
) -> None:
    """Print the surprisal of every word of a text in bits: a row for each word, a column for each model.

    Parameters
    ----------
    paths
        One or more models, then the text (- for standard input).
    """
    from classgram.errors import InputError
    from classgram.evaluation.surprisal import surprisals
    from classgram.text.records import read_records

    if len(paths) < 2:
        raise InputError("surprisal needs a model and then a text (- for standard input)")
    models = [_open_model(path, text) for path in paths[:-1]]
    lines = (line for record in read_records(paths[-1:], read) for line in record.text.split("\n"))
    names = [Path(path).name for path in paths[:-1]]
    columns = ["sentence", "position", "word", "tokens", "unknown", "log10_frequency"]
    if not show.json:
        print("\t".join([*columns, *(f"bits:{name}" for name in names)]))
    for row in surprisals(models, lines):
        frequency = "" if row.tokens == 0 else f"{row.log10_frequency:.4f}"
        if show.json:
            fields = dict(zip(columns, row[:6], strict=True))
            fields["log10_frequency"] = row.log10_frequency if row.tokens else None
            print(json.dumps({**fields, "bits": list(row.bits)}, ensure_ascii=False))
        else:
            bits = (f"{value:.4f}" for value in row.bits)
            print("\t".join([*map(str, row[:4]), str(int(row.unknown)), frequency, *bits]))


@app.command
def score(
    model: Path,
    *texts: TextPaths,
    unit: Literal["line", "document"] = "line",
    keep_below: Annotated[float | None, Parameter(name="--keep-below")] = None,
    text: Annotated[TextOptions, Flat] = TextOptions(),
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: ShowOptions = ShowOptions(),
) -> None:
    """Score the lines or documents of a stream, or filter them by perplexity.

    A row has the perplexity, log10 probability, words, unknown words and the text. JSON records are
    written with a field "perplexity" added. With --keep-below, plain text is written unchanged.

    Parameters
    ----------
    model
        A model folder, or an ARPA file.
    unit
        What is scored: a line, or a document, which ends at a blank line or is one JSON record.
    keep_below
        Keep only what has a perplexity below this, unknown words included.
    """
    from classgram.evaluation.filtering import score_units
    from classgram.text.records import read_records

    loaded = _open_model(model, text)
    begun = time.perf_counter()
    total = words = kept = 0
    for unit_score in score_units(loaded, read_records(texts or ("-",), read), unit):
        total += 1
        words += unit_score.words
        if keep_below is None or unit_score.perplexity < keep_below:
            kept += 1
            sys.stdout.write(_score_row(unit_score, show.json, keep_below is not None, unit))
    sys.stdout.flush()
    speed = words / max(time.perf_counter() - begun, 1e-9)
    message(f"{total:,} {unit}s, {words:,} words, {kept:,} kept; {speed:,.0f} words/s", show.quiet)


def _score_row(scored: "UnitScore", as_json: bool, keep: bool, unit: str) -> str:
    """Return what is written for one line or document."""
    first = scored.records[0]
    if first.fields is not None or as_json:
        fields = first.fields or {"text": "\n".join(record.text for record in scored.records)}
        return json.dumps({**fields, "perplexity": scored.perplexity}, ensure_ascii=False) + "\n"
    if keep:
        end = "\n\n" if unit == "document" else "\n"
        return "\n".join(record.text for record in scored.records) + end
    text = " ".join(record.text for record in scored.records)
    figures = (f"{scored.perplexity:.2f}", f"{scored.log10_probability:.4f}")
    return "\t".join([*figures, str(scored.words), str(scored.unknown), text]) + "\n"


@app.command
def generate(
    model: Path,
    options: Annotated[GenerateOptions, Flat] = GenerateOptions(),
    show: ShowOptions = ShowOptions(),
) -> None:
    """Sample sentences from a model.

    Parameters
    ----------
    model
        A model folder, or an ARPA file.
    """
    from classgram.evaluation.generation import generate as draw
    from classgram.loading import load

    sentences = (" ".join(words) for words in draw(load(model), options))
    if show.json:
        print_json({"sentences": list(sentences)})
        return
    for sentence in sentences:
        print(sentence)
