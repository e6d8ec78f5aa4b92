"""The figures of the tables: which lines they hold; how they are drawn is ``plots.py``'s matter."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from classgram.reproduction import paper
from classgram.reproduction.tables import Entry, Table, number

_PERPLEXITY = "perplexity (unknown words left out)"
_TOKENS = "training text (words, punctuation, sentence ends)"


@dataclass(frozen=True)
class Line:
    """A line of a plot; of one point, a mark."""

    label: str
    xs: tuple[Entry, ...]
    ys: tuple[Entry, ...]

    def points(self) -> list[tuple[float, float]]:
        """Return the points where both numbers are known."""
        pairs = zip(map(number, self.xs), map(number, self.ys), strict=True)
        return [(x, y) for x, y in pairs if x is not None and y is not None]


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    log_y: bool = True
    zero: bool = False
    """Whether a line marks zero."""
    x_ticks: tuple[float, ...] = ()
    """Where the axis is labelled; by default at round numbers."""


@dataclass(frozen=True)
class Figure:
    """Panels side by side, with one legend to their right."""

    name: str
    title: str
    panels: tuple[Panel, ...]


def _line(label: str, xs: Sequence[Entry], ys: Sequence[Entry]) -> Line:
    """Return a line from two columns."""
    return Line(label, tuple(xs), tuple(ys))


def figures_for(tables: Mapping[str, list[Table]]) -> dict[str, Figure]:
    """Return the figure of every experiment that has tables."""
    return {
        name: Figure(name, parts[0].title, _PANELS[name](parts[0]))
        for name, parts in tables.items()
        if name in _PANELS
    }


def _search_panels(table: Table) -> tuple[Panel, ...]:
    """Return panels of perplexity and time against the number of classes."""
    classes = table.column("classes")
    names = {
        "exact, ours": "exact",
        "heuristic, ours": "heuristic",
        "exact, paper": "paper_exact",
        "heuristic, paper": "paper_heuristic",
    }

    def lines(suffix: str) -> tuple[Line, ...]:
        return tuple(_line(label, classes, table.column(key + suffix)) for label, key in names.items())

    ticks = _known(classes)
    return (
        Panel("Perplexity", "number of classes C", _PERPLEXITY, lines(""), x_ticks=ticks),
        Panel("Time", "number of classes C", "processor time (seconds)", lines("_seconds"), x_ticks=ticks),
    )


def _known(values: Sequence[Entry]) -> tuple[float, ...]:
    """Return the numbers among entries."""
    return tuple(found for value in values if (found := number(value)) is not None)


_LETTERS = {
    "t": "target classes t",
    "u": "moves between full updates u",
    "h": "neighbour classes compared h",
}


def _parameter_panels(table: Table) -> tuple[Panel, ...]:
    """Return panels of perplexity and time against a parameter of the heuristic, % of the first row."""
    letter = table.columns[0].key
    values = table.column(letter)
    panels = []
    for title, key in (("Perplexity", "perplexity"), ("Time", "seconds")):
        lines = tuple(
            _line(label, values, _in_percent(table.column(prefix + key)))
            for label, prefix in (("ours", ""), ("paper", "paper_"))
        )
        axis = f"{title.lower()} (% of that at {letter} = {values[0]})"
        panels.append(Panel(title, _LETTERS[letter], axis, lines, log_y=False, x_ticks=_known(values)))
    return tuple(panels)


def _in_percent(values: Sequence[Entry]) -> list[Entry]:
    """Return numbers in percent of the first one."""
    first = number(values[0])
    numbers = [number(value) for value in values]
    return [100 * value / first if value is not None and first else None for value in numbers]


_PAPER_SIZES = tuple(paper.TRAINING_SETS.values())


def _backoff_panels(theirs: Mapping[str, Sequence[int]]) -> Callable[[Table], tuple[Panel, ...]]:
    """Return the panel of perplexity against the size of the training text, a line for each cut-off."""

    def panels(table: Table) -> tuple[Panel, ...]:
        tokens = table.column("tokens")
        ours = tuple(_line(f"C = {c}", tokens, table.column(f"cutoff_{c}")) for c in paper.CUTOFFS)
        printed = tuple(
            _line(f"C = {cutoff}", _PAPER_SIZES, [row[place] for row in theirs.values()])
            for place, cutoff in enumerate(paper.CUTOFFS)
        )
        return (
            Panel("Ours", _TOKENS, _PERPLEXITY, ours),
            Panel("Paper", "training text (words)", _PERPLEXITY, printed),
        )

    return panels


def _improvement_panels(
    theirs: Sequence[paper.Against], sizes: Sequence[int]
) -> Callable[[Table], tuple[Panel, ...]]:
    """Return panels of two models' perplexities, and of the improvement, by size of training text."""

    def panels(table: Table) -> tuple[Panel, ...]:
        tokens = table.column("tokens")
        names = {column.key: column.heading.split(":")[0] for column in table.columns}
        one, two = names["reference"], names["clustered"]
        perplexities = (
            _line(f"{one}, ours", tokens, table.column("reference")),
            _line(f"{two}, ours", tokens, table.column("clustered")),
            _line(f"{one}, paper", sizes, [row.reference for row in theirs]),
            _line(f"{two}, paper", sizes, [row.clustered for row in theirs]),
        )
        improvements = (
            _line("improvement, ours", tokens, table.column("improvement")),
            _line("improvement, paper", sizes, [row.improvement for row in theirs]),
        )
        axis = f"improvement by {two} (%)"
        return (
            Panel("Perplexity", _TOKENS, _PERPLEXITY, perplexities),
            Panel("Improvement", _TOKENS, axis, improvements, log_y=False, zero=True),
        )

    return panels


def _criterion_panels(table: Table) -> tuple[Panel, ...]:
    """Return the panel of perplexity against the size of the training text, a line for each criterion."""
    columns = (table.column(key) for key in ("criterion", "tokens", "perplexity"))
    rows = list(zip(*columns, strict=True))
    names = dict.fromkeys(str(row[0]) for row in rows)
    lines = tuple(
        _line(name, [row[1] for row in rows if row[0] == name], [row[2] for row in rows if row[0] == name])
        for name in names
    )
    return (Panel("", _TOKENS, _PERPLEXITY, lines),)


def _shape_panels(table: Table) -> tuple[Panel, ...]:
    """Return the panel of perplexity against the size of the model, a mark for each shape."""
    columns = (table.column(key) for key in ("shape", "parameters", "perplexity"))
    lines = tuple(_line(str(shape), [x], [y]) for shape, x, y in zip(*columns, strict=True))
    shown = tuple(one for one in lines if one.points())
    return (Panel("", "parameters of the model", _PERPLEXITY, shown),)


def _contest_panels(table: Table) -> tuple[Panel, ...]:
    """Return the panel of perplexity against the size of the training text, a line for each model."""
    tokens = table.column("tokens")
    models = [column.key for column in table.columns[2:-1]]
    lines = tuple(_line(model, tokens, table.column(model)) for model in models)
    return (Panel("", _TOKENS, _PERPLEXITY, lines),)


_PANELS: dict[str, Callable[[Table], tuple[Panel, ...]]] = {
    "table-1": _search_panels,
    "table-2": _parameter_panels,
    "table-3": _parameter_panels,
    "table-4": _parameter_panels,
    "table-5": _backoff_panels(paper.TABLE_5),
    "table-6": _backoff_panels(paper.TABLE_6),
    "table-7": _improvement_panels(tuple(paper.TABLE_7.values()), _PAPER_SIZES),
    "table-8": _improvement_panels(tuple(paper.TABLE_8.values()), _PAPER_SIZES),
    "table-9": _improvement_panels(tuple(paper.TABLE_9.values()), paper.TABLE_9_WORDS),
    "section-2": _criterion_panels,
    "section-3": _shape_panels,
    "beyond": _contest_panels,
}
