"""The paper's tables and plots for the page, from a folder that ``reproduce`` wrote."""

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

from classgram.errors import InputError
from classgram.reproduction.figures import Figure, figures_for
from classgram.reproduction.tables import Column, Table

_CELLS = re.compile(r"(?<!\\)\|")


def paper_data(folder: Path) -> dict[str, Any]:
    """Return all tables of a folder, claims first, and the figures that belong to them."""
    paths = sorted(folder.glob("tables/*.json"), key=lambda path: (path.stem != "claims", path.stem))
    tables = [_read_table(path) for path in paths]
    figures = figures_for({table.name: [table] for table, _ in tables})
    return {
        "name": folder.name,
        "tables": [_table_record(table, written, figures.get(table.name)) for table, written in tables],
    }


def _read_table(path: Path) -> tuple[Table, list[list[str]]]:
    """Return a table, and its rows as they are written for people."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        lines = path.with_suffix(".md").read_text(encoding="utf-8").split("\n")
        title, rows, notes = str(record["title"]), list(record["rows"]), list(record["notes"])
        keys = list(rows[0]) if rows else []
        entries = tuple(tuple(row[key] for key in keys) for row in rows)
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        raise InputError(f"{path}: damaged; run reproduce again, which takes seconds") from None
    written = [_cells(line) for line in lines if line.startswith("|")]
    # The heading, the rule below it, and the rows.
    headings, shown = written[0], written[2:]
    columns = tuple(Column(key, heading) for key, heading in zip(keys, headings, strict=False))
    return Table(path.stem, title, columns, entries, tuple(notes)), [headings, *shown]


def _cells(line: str) -> list[str]:
    """Return the cells of a line of a Markdown table."""
    return [cell.strip().replace("\\|", "|") for cell in _CELLS.split(line.strip())[1:-1]]


def _table_record(table: Table, written: list[list[str]], figure: Figure | None) -> dict[str, Any]:
    """Return a table with its headings and rows as they are written, and its figure as points."""
    record: dict[str, Any] = {
        "name": table.name,
        "title": table.title,
        "headings": written[0],
        "rows": written[1:],
        "notes": list(table.notes),
        "panels": [],
    }
    for panel in figure.panels if figure else ():
        lines = [{"label": line.label, "points": line.points()} for line in panel.lines if line.points()]
        if lines:
            record["panels"].append({**asdict(panel), "lines": lines})
    return record
