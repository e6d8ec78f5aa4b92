"""The commands export, arpa check and arpa prune."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from classgram.cli.app import (
    Flat,
    QuietOption,
    ShowOptions,
    app,
    message,
    print_json,
)
from classgram.options import ExportOptions
from classgram.runtime.progress import progress

if TYPE_CHECKING:
    from classgram.arpa.checking import ArpaReport
    from classgram.counts.ngram_counts import NgramCounts
    from classgram.export.backoff_export import Exported
    from classgram.export.loss import Loss
    from classgram.models.language_model import LanguageModel
    from classgram.text.sentences import Sentences

_SHOWN = 100
"""The number of lines printed for one kind of defect; --json prints all."""

arpa = App(name="arpa", help="Check, repair and prune ARPA files.")
app.command(arpa)


@app.command
def export(
    model: Path,
    output: Path,
    *,
    options: Annotated[ExportOptions, Flat] = ExportOptions(),
    ngrams: Path | None = None,
    valid: Path | None = None,
    unigrams: Path | None = None,
    symbols: Path | None = None,
    disambiguate: bool = False,
    numbers: bool = False,
    show: ShowOptions = ShowOptions(),
) -> None:
    """Write a model as an ARPA file, or a class bigram as a transducer, for other tools.

    Word models are written exactly. From other models, the n-grams seen get the model's probabilities,
    --grow adds unseen ones, every context sums to one, and the loss of perplexity is reported.

    Parameters
    ----------
    model
        A model folder, or an ARPA file.
    output
        The file to write: OUT.arpa, OUT.arpa.gz, or OUT.fst.txt for a transducer.
    ngrams
        A text, or counts, whose n-grams are written; class models contain none of their own.
    valid
        Text for the reported loss of perplexity (default: sentences sampled from the model).
    unigrams
        Also write the words to this file, one a line, for decoders that need a list.
    symbols
        For transducers: the file of the symbol table (default: OUT.words.txt).
    disambiguate
        For transducers: put #0 on epsilon arcs, as Kaldi and k2 expect.
    numbers
        For transducers: write ids instead of symbols.
    """
    from classgram.arpa.writing import write_unigrams
    from classgram.errors import InputError
    from classgram.loading import load

    transducer = output.name.endswith(".fst.txt")
    if not transducer and not output.name.endswith((".arpa", ".arpa.gz")):
        raise InputError(f"{output}: the name must end in .arpa, .arpa.gz or .fst.txt")
    if not transducer and (symbols or disambiguate or numbers):
        raise InputError("--symbols, --disambiguate and --numbers are for transducers, OUT.fst.txt")
    if transducer and (options != ExportOptions() or ngrams or valid):
        raise InputError("transducers are exact: --order, --grow, --prune, --ngrams, --valid are for ARPA")
    table = symbols or output.with_name(output.name.removesuffix(".fst.txt") + ".words.txt")
    _check_files((output, unigrams, table if transducer else None), (ngrams, valid))
    loaded = load(model)
    if transducer:
        _export_transducer(loaded, output, table, (disambiguate, numbers), show)
    else:
        _export_arpa(loaded, output, options, (ngrams, valid), show)
    if unigrams is not None:
        write_unigrams(loaded.vocabulary, unigrams)


def _check_files(outputs: Iterable[Path | None], inputs: Iterable[Path | None]) -> None:
    """Raise InputError, before any work is done, for outputs that cannot be written and missing texts."""
    from classgram.files.folders import folder_kind
    from classgram.text.reading import find_files

    for path in outputs:
        if path is not None:
            _check_output(path)
    for path in inputs:
        if path is not None and folder_kind(path) != "counts":
            find_files([path])


def _check_output(path: Path) -> None:
    """Raise InputError for a file that could not be written."""
    from classgram.errors import InputError
    from classgram.files.atomic import check_parent, write_error

    check_parent(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file")
    if path.exists() and not path.is_file():
        return  # A device or a pipe, which is written to as it is.
    try:
        # Some folders, as those of /proc, call themselves writable and take no files.
        with TemporaryFile(dir=path.resolve().parent):
            pass
    except OSError as error:
        raise write_error(path, error) from None


def _export_transducer(
    model: "LanguageModel", output: Path, symbols: Path, forms: tuple[bool, bool], show: ShowOptions
) -> None:
    """Write a class bigram as a transducer."""
    from classgram.export.fst import write_fst

    write_fst(model, output, symbols, *forms)
    if show.json:
        print_json({"file": str(output), "symbols": str(symbols)})
    message(f"{output}: exact class bigram; symbols in {symbols}", show.quiet)


def _export_arpa(
    model: "LanguageModel",
    output: Path,
    options: ExportOptions,
    texts: tuple[Path | None, Path | None],
    show: ShowOptions,
) -> None:
    """Write an ARPA file, and report its loss of perplexity."""
    from classgram.arpa.writing import write_arpa
    from classgram.export.backoff_export import export_backoff, without_cache

    def note(line: str) -> None:
        message(line, show.quiet)

    ngrams, valid = texts
    held_out = _sentences_of(model, valid) if valid else None
    counts = _counts_for(model, ngrams, options.order) if ngrams else None
    plain = without_cache(model)
    if plain is not model:
        note("the cache depends on the text and cannot be exported: its weight goes to the models")
    with progress("exporting", unit="n-grams", quiet=show.quiet) as report:
        exported = export_backoff(plain, options, counts, note, report)
    write_arpa(exported.model, output)
    loss = None if exported.exact else _loss_of(plain, exported, held_out)
    if show.json:
        print_json(_export_dict(output, exported, loss))
    for line in _export_lines(output, exported, loss):
        note(line)


def _counts_for(model: "LanguageModel", path: Path, order: int | None) -> "NgramCounts":
    """Return the n-grams of a text in the vocabulary of the model, or counts as they are."""
    from classgram.options import CountOptions
    from classgram.pipelines.counting import Reading, load_or_count

    counting = CountOptions(order or min(model.order, 6))
    counts = load_or_count((path,), counting, Reading(model.vocabulary))
    return counts.up_to(min(order or counts.order, counts.order))


def _sentences_of(model: "LanguageModel", valid: Path) -> "tuple[str, Sentences]":
    """Return the name of a held-out text, and its sentences in the vocabulary of the model."""
    from classgram.errors import InputError
    from classgram.text.reading import read_text

    sentences = model.vocabulary.encode(read_text(str(valid), text=model.vocabulary.text))
    if not sentences.tokens:
        raise InputError(f"{valid}: the text is empty: it contains no words")
    return str(valid), sentences


def _loss_of(
    model: "LanguageModel", exported: "Exported", held_out: "tuple[str, Sentences] | None"
) -> "Loss":
    """Return the loss of perplexity on a text, or on sentences sampled from the model."""
    from classgram.export.loss import DRAWN_SENTENCES, draw_sentences, measure_loss

    name, sentences = held_out or (
        f"{DRAWN_SENTENCES} sentences sampled from the model",
        draw_sentences(model),
    )
    return measure_loss(model, exported.model, sentences, name)


def _export_dict(output: Path, exported: "Exported", loss: "Loss | None") -> dict[str, object]:
    """Return what ``export --json`` prints."""
    return {
        "file": str(output),
        "sizes": list(exported.model.trie.sizes),
        "exact": exported.exact,
        "grown": exported.grown,
        "pruned": exported.pruned,
        **({"perplexity": loss._asdict() | {"lost_percent": loss.percent}} if loss else {}),
    }


def _export_lines(output: Path, exported: "Exported", loss: "Loss | None") -> list[str]:
    """Return the same for people."""
    sizes = exported.model.trie.sizes
    changes = f", {exported.grown:,} of them unseen" if exported.grown else ""
    changes += f", {exported.pruned:,} pruned" if exported.pruned else ""
    lines = [f"{output}: order {len(sizes)}, {sum(sizes):,} n-grams{changes}"]
    if exported.exact:
        lines.append("exact: it gives the same scores as the model")
    if loss:
        change = f"{loss.model:.2f} -> {loss.exported:.2f} ({loss.percent:+.1f} %)"
        lines.append(f"perplexity on {loss.text}: {change}")
    if len(sizes) > 6:
        lines.append("KenLM as usually built reads orders up to 6; use --order 6 for it")
    return lines


@arpa.command
def check(
    file: Path,
    *,
    fix: Path | None = None,
    show: ShowOptions = ShowOptions(),
) -> None:
    """List every violation in an ARPA file with its line and the programs that fail on it.

    The exit code is 0 if there are none and 2 otherwise. Warnings, which do not count, are for what
    KenLM or SRILM writes on purpose and other programs reject.

    Parameters
    ----------
    file
        An ARPA file, which may be compressed.
    fix
        Write a repaired file here, as far as its content allows.
    """
    from classgram.arpa.checking import check_arpa
    from classgram.errors import InputError

    if fix is not None:
        from classgram.arpa.repairing import repair_arpa

        report = repair_arpa(file, fix)
    else:
        report = check_arpa(file)
    if show.json:
        print_json(report.as_dict())
    else:
        _print_report(report)
    if fix is not None:
        left = check_arpa(fix)
        if left.violations:
            raise InputError(
                f"{fix}: written, but {_counted_violations(left.violations)} could not be repaired"
            )
        message(f"{fix}: repaired", show.quiet)
    elif report.violations:
        raise InputError(
            f"{file}: {_counted_violations(report.violations)}; --fix OUT repairs what can be repaired"
        )


def _counted_violations(violations: int) -> str:
    """Return the number of violations in words."""
    return "1 violation" if violations == 1 else f"{violations:,} violations"


def _print_report(report: "ArpaReport") -> None:
    """Print the findings, a line each."""
    shown: dict[str, int] = {}
    for one in report.findings:
        defect = one.kind.value
        shown[defect.text] = shown.get(defect.text, 0) + 1
        if shown[defect.text] > _SHOWN:
            continue
        level = "warning" if defect.warning else "violation"
        detail = f" ({one.detail})" if one.detail else ""
        print(f"line {one.line}: {level}: {defect.text}{detail}; breaks {defect.readers}")
    for text, number in shown.items():
        if number > _SHOWN:
            print(f"... and {number - _SHOWN:,} more lines: {text}; --json lists all")
    sizes = ", ".join(f"{size:,}" for size in report.sizes)
    if not report.violations:
        print(f"{report.path}: no violations; n-grams by order: {sizes}")


@arpa.command
def prune(
    file: Path,
    output: Path,
    *,
    threshold: float | None = None,
    size: Annotated[int | None, Parameter(name="--size")] = None,
    show: QuietOption = QuietOption(),
) -> None:
    """Prune an ARPA file by relative entropy: drop the n-grams that change the model least.

    Parameters
    ----------
    file
        An ARPA file, which may be compressed, or the folder of a word model.
    output
        The file to write, OUT.arpa or OUT.arpa.gz.
    threshold
        Drop an n-gram if that raises perplexity by less than this fraction, for example 1e-8.
    size
        The number of n-grams to keep, unigrams included.
    """
    from classgram.arpa.writing import write_arpa
    from classgram.errors import InputError
    from classgram.loading import load
    from classgram.models.ngram.ngram_model import NgramModel
    from classgram.models.ngram.pruning import prune_trie

    if (threshold is None) == (size is None):
        raise InputError("give one of --threshold and --size")
    if threshold is not None and not 0 <= threshold < 1:
        raise InputError(f"--threshold {threshold:g}: must be between 0 and 1")
    if size is not None and size < 1:
        raise InputError(f"--size {size}: must be 1 or more")
    if not output.name.endswith((".arpa", ".arpa.gz")):
        raise InputError(f"{output}: the name must end in .arpa or .arpa.gz")
    model = load(file)
    if not isinstance(model, NgramModel):
        raise InputError(f"{file}: is no word n-gram model; export it first, with --prune")
    kept = prune_trie(model.trie, float(size if size is not None else threshold or 0.0))
    write_arpa(NgramModel(model.vocabulary, kept, {"recipe": "arpa"}), output)
    message(
        f"{output}: {sum(kept.sizes):,} of {sum(model.trie.sizes):,} n-grams kept, order {kept.order}",
        show.quiet,
    )
