"""Commands on language models: train, perplexity, compare, surprisal, score, generate."""

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
    announce_compilation,
    app,
    message,
    print_json,
    print_table,
)
from classgram.options import (
    CountOptions,
    GenerateOptions,
    MixtureOptions,
    ModelOptions,
    ReadOptions,
    TextOptions,
    TrainClassesOptions,
    VocabularyOptions,
)
from classgram.runtime.progress import progress

if TYPE_CHECKING:
    from classgram.counts.ngram_counts import NgramCounts
    from classgram.evaluation.filtering import UnitScore
    from classgram.evaluation.perplexity import Evaluation
    from classgram.models.language_model import LanguageModel


ModelsAndText = Annotated[str, Parameter(allow_leading_hyphen=True)]


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
    """Train a language model on a text, or on counts, and save it as a folder.

    Parameters
    ----------
    output
        The folder to write; it appears when it is whole.
    use_classes
        For --recipe class: classes that ``classgram cluster`` wrote; without them they are made.
    valid
        For --recipe mixture: text to find the weights on; without it some is cut from the text.
    """
    from classgram.classes.partition import Partition
    from classgram.files.folders import lock
    from classgram.models.training import make_classes, train_model, training_order

    def note(line: str) -> None:
        message(line, show.quiet)

    announce_compilation(show.quiet)
    with lock(output):
        check_class_options(model, use_classes, classes)
        if model.recipe == "mixture":
            from classgram.cli.mixing import train_default_mixture

            options = (model, mixture, classes)
            made = train_default_mixture(texts, valid, options, (vocabulary, text, read), show.quiet)
            made.save(output)
            message(f"{output}: {describe(made)}", show.quiet)
            return
        if valid or mixture != MixtureOptions():
            from classgram.errors import InputError

            raise InputError(f"--valid, --cache and --fast are for --recipe mixture, not {model.recipe}")
        partition = Partition.load(use_classes) if use_classes else None
        order = training_order(model, partition or classes.shape)
        counting = CountOptions(order, memory=model.memory)
        counts = load_or_count(texts, counting, (vocabulary, text, read), show.quiet)
        if model.recipe == "class" and partition is None:
            with progress("clustering", quiet=show.quiet) as report:
                partition = make_classes(counts, classes, order, note, report)
        trained = train_model(counts, model, partition, note)
        trained.save(output)
    message(f"{output}: {describe(trained)}", show.quiet)


def check_class_options(model: ModelOptions, use_classes: Path | None, classes: TrainClassesOptions) -> None:
    """Refuse options of classes where none are made or used."""
    from classgram.errors import InputError

    made = classes != TrainClassesOptions()
    if model.recipe == "mixture":
        # What of the options a mixture's clusterings take: how hard, with which seed and threads.
        taken = {name: getattr(classes, name) for name in ("seed", "sweeps", "effort", "threads")}
        if use_classes or classes != TrainClassesOptions(**taken):
            raise InputError("--recipe mixture chooses its classes itself; use --recipe class for others")
    elif model.recipe != "class" and (made or use_classes):
        raise InputError(f"--recipe {model.recipe} has no classes; use --recipe class")
    if use_classes and made:
        raise InputError("--use-classes gives the classes; leave out the options that make others")


def load_or_count(
    texts: tuple[str, ...],
    counting: CountOptions,
    options: tuple[VocabularyOptions, TextOptions, ReadOptions],
    quiet: bool,
) -> "NgramCounts":
    """The counts in a folder, or those of a text."""
    from classgram.counts.ngram_counts import NgramCounts, count_ngrams
    from classgram.errors import InputError
    from classgram.files.folders import folder_kind

    if len(texts) == 1 and folder_kind(Path(texts[0])) == "counts":
        counts = NgramCounts.load(texts[0])
        if options[0] != VocabularyOptions() or options[1] not in (TextOptions(), counts.vocabulary.text):
            raise InputError(f"{texts[0]}: counts have their vocabulary; count the text again to change it")
        return counts
    return count_ngrams(texts, counting, *options, quiet)


def describe(model: "LanguageModel") -> str:
    """A model in a line."""
    recipe = model.info.get("recipe", model.form)
    classes = f" with {model.info['classes']:,} classes" if "classes" in model.info else ""
    return f"{recipe} model of order {model.order}{classes}, {len(model.vocabulary):,} words"


def open_model(path: str | Path, text: TextOptions) -> "LanguageModel":
    """A model, after a check that the text options asked for are its own.

    An ARPA file does not tell how its text was read, so that for it the options are taken as given.
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
    """Say how well a model predicts a text, by both rules for unknown words.

    Parameters
    ----------
    model
        A model folder, or an ARPA file.
    """
    from classgram.evaluation.perplexity import evaluate
    from classgram.text.reading import read_text

    announce_compilation(show.quiet)
    loaded = open_model(model, text)
    result = evaluate(loaded, read_text(*texts, text=loaded.vocabulary.text, read=read), read)
    if show.json:
        print_json(result.as_dict())
    else:
        print_evaluation(result, str(model))


def print_evaluation(result: "Evaluation", title: str) -> None:
    """One model's figures for people."""
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
    *paths: ModelsAndText,
    text: Annotated[TextOptions, Flat] = TextOptions(),
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: ShowOptions = ShowOptions(),
) -> None:
    """Compare models on a text, each with the first one, sentence by sentence.

    Parameters
    ----------
    paths
        Two or more models, and then the text.
    """
    from classgram.errors import InputError
    from classgram.evaluation.comparison import compare_models
    from classgram.text.reading import read_text

    if len(paths) < 3:
        raise InputError("compare needs two or more models and then a text")
    if paths[-1] == "-":
        raise InputError("compare reads its text once for each model; name a file instead of -")
    announce_compilation(show.quiet)
    models = [open_model(path, text) for path in paths[:-1]]
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
        [comparison_row(row) for row in rows],
        f"perplexity on {paths[-1]}; change and p against {paths[0]}",
    )


def comparison_row(row: dict[str, Any]) -> tuple[str, ...]:
    """A model's line in the table of a comparison."""
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
    *paths: ModelsAndText,
    text: Annotated[TextOptions, Flat] = TextOptions(),
    read: Annotated[ReadOptions, Flat] = ReadOptions(),
    show: ShowOptions = ShowOptions(),
) -> None:
    """Print a row for each word of a text with its surprisal in bits, a column for each model.

    Parameters
    ----------
    paths
        One or more models, and then the text (- for standard input).
    """
    from classgram.errors import InputError
    from classgram.evaluation.surprisal import surprisals
    from classgram.text.records import read_records

    if len(paths) < 2:
        raise InputError("surprisal needs a model and then a text (- for standard input)")
    announce_compilation(show.quiet)
    models = [open_model(path, text) for path in paths[:-1]]
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
    """Score lines or documents as they stream past, or keep the likely ones.

    Rows are perplexity, log10 probability, words, unknown words and the text. JSON records pass
    through with a field "perplexity" added. With --keep-below, plain text passes as it is.

    Parameters
    ----------
    model
        A model folder, or an ARPA file.
    unit
        Score each line, or each document: lines up to a blank one, or a whole JSON record.
    keep_below
        Pass on only what has a perplexity below this, unknown words included.
    """
    from classgram.evaluation.filtering import score_units
    from classgram.text.records import read_records

    announce_compilation(show.quiet)
    loaded = open_model(model, text)
    begun = time.perf_counter()
    total = words = kept = 0
    for unit_score in score_units(loaded, read_records(texts or ("-",), read), unit):
        total += 1
        words += unit_score.words
        if keep_below is None or unit_score.perplexity < keep_below:
            kept += 1
            sys.stdout.write(score_row(unit_score, show.json, keep_below is not None, unit))
    sys.stdout.flush()
    speed = words / max(time.perf_counter() - begun, 1e-9)
    message(f"{total:,} {unit}s, {words:,} words, {kept:,} passed on; {speed:,.0f} words/s", show.quiet)


def score_row(scored: "UnitScore", as_json: bool, keep: bool, unit: str) -> str:
    """What is written for one unit."""
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
    """Draw sentences from a model.

    Parameters
    ----------
    model
        A model folder, or an ARPA file.
    """
    from classgram.evaluation.generation import generate as draw
    from classgram.loading import load

    announce_compilation(show.quiet)
    sentences = (" ".join(words) for words in draw(load(model), options))
    if show.json:
        print_json({"sentences": list(sentences)})
        return
    for sentence in sentences:
        print(sentence)
