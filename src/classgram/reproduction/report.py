"""Tables as Markdown, CSV and JSON, and one page that sets them beside the paper's figures."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from classgram._version import __version__
from classgram.files.atomic import atomic_file
from classgram.models.language_model import Note, silent
from classgram.reproduction import figures, plots
from classgram.reproduction.claims import claims_table
from classgram.reproduction.plan import Plan
from classgram.reproduction.run import NOT_RUN, Outcomes
from classgram.reproduction.tables import Entry, Experiment, Gap, Table, written

_PAGE = "report.md"


def markdown(table: Table) -> str:
    """Return a table in Markdown, with its title and its notes."""
    heads = [column.heading for column in table.columns]
    rules = ["---" if column.form == "text" else "---:" for column in table.columns]
    lines = [f"**{table.title}**", "", _row_line(heads), _row_line(rules)]
    for row in table.rows:
        lines.append(_row_line([written(v, c.form) for v, c in zip(row, table.columns, strict=True)]))
    for note in table.notes:
        lines += ["", note]
    return "\n".join(lines) + "\n"


def _row_line(entries: list[str]) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(entry.replace("|", "\\|").replace("\n", " ") for entry in entries) + " |"


def _plain(value: Entry) -> int | float | str | None:
    """Return an entry for programs: a gap is its reason."""
    return value.reason if isinstance(value, Gap) else value


def as_csv(table: Table) -> str:
    """Return a table as comma-separated values with all digits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.key for column in table.columns])
    writer.writerows([["" if v is None else _plain(v) for v in row] for row in table.rows])
    return out.getvalue()


def as_record(table: Table) -> dict[str, Any]:
    """Return a table as a record for JSON."""
    keys = [column.key for column in table.columns]
    return {
        "name": table.name,
        "title": table.title,
        "rows": [dict(zip(keys, map(_plain, row), strict=True)) for row in table.rows],
        "notes": list(table.notes),
    }


def _write_text(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all."""
    with atomic_file(path) as file:
        file.write(text.encode())


def filled(outcomes: Outcomes) -> dict[str, list[Table]]:
    """Return the tables of every experiment of which at least one cell was run."""
    return {
        experiment.name: experiment.fill(outcomes.results)
        for experiment in outcomes.experiments
        if any(outcomes.results(cell) != NOT_RUN for cell in experiment.cells)
    }


def _write_table(table: Table, folder: Path) -> None:
    """Write a table as Markdown, CSV and JSON."""
    document = json.dumps(as_record(table), indent=1, ensure_ascii=False, allow_nan=False)
    for kind, text in (("md", markdown(table)), ("csv", as_csv(table)), ("json", document + "\n")):
        _write_text(folder / f"{table.name}.{kind}", text)


def write_report(outcomes: Outcomes, tables: dict[str, list[Table]], note: Note = silent) -> Path:
    """Write tables, figures and the page; without matplotlib there are no figures."""
    for table in (table for parts in tables.values() for table in parts):
        _write_table(table, outcomes.store.folder / "tables")
    drawn = plots.available()
    if drawn:
        plots.save_figures(figures.figures_for(tables).values(), outcomes.store.folder / "figures")
    else:
        note("no plots: they need matplotlib; pip install 'classgram[plot]' and run again")
    return _write_page(outcomes, tables, drawn)


def _write_page(outcomes: Outcomes, tables: dict[str, list[Table]], drawn: bool) -> Path:
    """Write the page: what was run on what, the paper's claims, then every table with its figure."""
    claims = claims_table(tables)
    _write_table(claims, outcomes.store.folder / "tables")
    parts = [_introduction(outcomes.plan), f"## claims\n\n{markdown(claims)}"]
    for experiment in outcomes.experiments:
        parts.append(_section(experiment, tables.get(experiment.name), drawn))
    path = outcomes.store.folder / _PAGE
    _write_text(path, "\n".join(parts))
    return path


def _introduction(plan: Plan) -> str:
    """Return the head of the page: what was run on what text."""
    facts = plan.facts
    return f"""# The paper's experiments on this text

J. P. Ueberla, *An Extended Clustering Algorithm for Statistical Language Models* (1994), beside the same
experiments by classgram {__version__}, scale {plan.scale.name}, seed {plan.seed}.

Training text: {facts.train_words:,} words in {facts.train_sentences:,} sentences;
test text: {facts.test_words:,} words in {facts.test_sentences:,} sentences; punctuation not counted.
All words are in lower case. The vocabulary is open: the most frequent words of the training text, and
`<unk>`. *Tokens* are words, punctuation (where it is verbalised) and sentence ends of a training set.
Training sets are nested random samples of sentences, the same for all models.
Perplexities leave out predictions of unknown words, as the paper's do, unless a column says otherwise.
*Parameters* are the probabilities and weights that a model stores, *bytes* those of all its arrays.
"""


def _section(experiment: Experiment, tables: list[Table] | None, drawn: bool) -> str:
    """Return the part of the page on one experiment."""
    lines = [f"## {experiment.name}", ""]
    if tables is None:
        lines += [f"{experiment.title}: not run."]
    else:
        lines += [markdown(table) for table in tables]
        if drawn:
            lines += [f"![{experiment.title}](figures/{experiment.name}.png)"]
    return "\n".join(lines) + "\n"
