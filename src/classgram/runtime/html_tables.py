"""Tables as HTML for notebooks; whatever stands in a cell is shown as text."""

from collections.abc import Mapping, Sequence
from html import escape


def html_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table with a title; words of any script are shown in their own direction.

    >>> html_table("a < b", ["x"], [["<i>"]])
    '<table><caption>a &lt; b</caption><tr><th>x</th></tr><tr><td><bdi>&lt;i&gt;</bdi></td></tr></table>'
    """
    lines = ["".join(f"<th>{escape(heading)}</th>" for heading in headings)] if headings else []
    for row in rows:
        lines.append("".join(f"<td><bdi>{escape(_written(cell))}</bdi></td>" for cell in row))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><caption>{escape(title)}</caption>{body}</table>"


def facts_table(title: str, facts: Mapping[str, object]) -> str:
    """Return named facts as a table, a row each."""
    return html_table(title, (), [(name.replace("_", " "), value) for name, value in facts.items()])


def _written(value: object) -> str:
    """Return a value for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
