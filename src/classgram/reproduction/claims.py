"""The paper's claims as numbers: what its own tables say, what ours say, and whether the claim holds."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from classgram.reproduction import paper
from classgram.reproduction.tables import Column, Entry, Table, change, correlation, number, ratio

_Tables = Mapping[str, list[Table]]

_COLUMNS = (
    Column("claim", "claim", "text"),
    Column("measured", "measured by", "text"),
    Column("paper", "paper", "exponent"),
    Column("ours", "ours", "exponent"),
    Column("holds", "holds here", "text"),
)


class _Claim(NamedTuple):
    """A claim, the figure that measures it, and what the figure must be for it to hold."""

    text: str
    measure: str
    figures: tuple[float | None, float | None]
    """The paper's and ours."""
    least: float = float("-inf")
    most: float = float("inf")

    def row(self) -> tuple[Entry, ...]:
        """Return the claim as a row of the table."""
        theirs, ours = self.figures
        holds = None if ours is None else ("yes" if self.least <= ours <= self.most else "no")
        return (self.text, self.measure, theirs, ours, holds)


def claims_table(tables: _Tables) -> Table:
    """Return all claims whose tables are there."""
    claims = [*_search_claims(tables), *_parameter_claims(tables), *_model_claims(tables)]
    rows = tuple(claim.row() for claim in claims)
    return Table("claims", "The paper's claims, by its own figures and by ours", _COLUMNS, rows)


def _numbers(table: Table, key: str) -> list[float]:
    """Return the known numbers of a column."""
    return [found for value in table.column(key) if (found := number(value)) is not None]


def _search_claims(tables: _Tables) -> list[_Claim]:
    """Return the claims that the paper makes about table 1."""
    if "table-1" not in tables:
        return []
    main, fitted = tables["table-1"][:2]
    loss = (max(_numbers(main, "paper_change")), max(_numbers(main, "change"), default=None))
    found = [_Claim("the heuristic costs less than 5 %", "largest rise of perplexity, %", loss, most=5)]
    for place, text, low, high in (
        (0, "the exact algorithm's time is quadratic in C", 1.75, 2.25),
        (1, "the heuristic's time is linear in C", 0.75, 1.25),
    ):
        pair = (number(fitted.column("paper_larger")[place]), number(fitted.column("larger")[place]))
        found.append(_Claim(text, "exponent at the larger half of C", pair, low, high))
    last = main.column("classes_per_target")[-1]
    speed = (ratio(main.column("paper_speedup")[-1], last), ratio(main.column("speedup")[-1], last))
    text = "the speed-up is about C / t"
    found.append(_Claim(text, "speed-up at the largest C, in C / t", speed, least=0.5, most=2))
    return found


def _parameter_claims(tables: _Tables) -> list[_Claim]:
    """Return the claims that the paper makes about tables 2 to 4."""
    found = []
    there = [tables[name][0] for name in ("table-2", "table-3", "table-4") if name in tables]
    if len(there) == 3:
        both = (_together(there, "paper_"), _together(there, ""))
        text = "criterion and perplexity move together"
        found.append(_Claim(text, "linear correlation over tables 2 to 4", both, most=-0.8))
    if "table-3" in tables:
        table = tables["table-3"][0]
        both = (_spread(_numbers(table, "paper_perplexity")), _spread(_numbers(table, "perplexity")))
        found.append(_Claim("u hardly matters", "largest difference of perplexity, %", both, most=1))
    if "table-4" in tables:
        columns = [tables["table-4"][0].column(key) for key in ("paper_perplexity", "perplexity")]
        both = (change(columns[0][0], columns[0][-1]), change(columns[1][0], columns[1][-1]))
        found.append(_Claim("a large h hurts", "perplexity at h = 40 above that at h = 5, %", both, least=1))
    return found


def _together(tables: Sequence[Table], prefix: str) -> float | None:
    """Return the correlation of criterion and perplexity over several tables."""
    criteria, perplexities = (
        [value for table in tables for value in table.column(prefix + key)]
        for key in ("criterion", "perplexity")
    )
    return correlation(criteria, perplexities)


def _spread(values: list[float]) -> float | None:
    """Return the difference of the largest and the least number, in percent of the least."""
    return 100 * (max(values) - min(values)) / min(values) if values else None


def _model_claims(tables: _Tables) -> list[_Claim]:
    """Return the claims that the paper makes about tables 5 to 9."""
    found = []
    for name, printed in (("table-5", paper.TABLE_5), ("table-6", paper.TABLE_6)):
        if name in tables:
            found += _cutoff_claims(tables[name], printed)
    for name, pairs in (("table-7", paper.TABLE_7), ("table-8", paper.TABLE_8)):
        if name in tables:
            label = name.replace("-", " ")
            little = f"clustered beats back-off on little text ({label})"
            much = f"clustered loses to back-off on much text ({label})"
            first, last = _end_claims(tables[name][0], pairs, (little, much))
            found += [first._replace(least=0.0), last._replace(most=0.0)]
    if "table-9" in tables:
        texts = (
            "the trigram loses to the bigram on less text",
            "the trigram beats the bigram given enough text",
        )
        first, last = _end_claims(tables["table-9"][0], paper.TABLE_9, texts)
        found += [first._replace(most=0.0), last._replace(least=0.0)]
    return found


def _end_claims(
    table: Table, printed: Mapping[str, paper.Against], texts: tuple[str, str]
) -> tuple[_Claim, _Claim]:
    """Return claims about the improvement on the smallest and on the largest training set."""
    theirs = [row.improvement for row in printed.values()]
    ours = [number(value) for value in table.column("improvement")]
    return (
        _Claim(texts[0], "improvement on the smallest set, %", (theirs[0], ours[0])),
        _Claim(texts[1], "improvement on the largest set, %", (theirs[-1], ours[-1])),
    )


def _cutoff_claims(parts: list[Table], printed: Mapping[str, Sequence[int]]) -> list[_Claim]:
    """Return claims about cut-offs."""
    main, details = parts[:2]
    label = main.name.replace("-", " ")
    columns = [[number(value) for value in main.column(f"cutoff_{cutoff}")] for cutoff in paper.CUTOFFS]
    theirs = _falling([[float(value) for value in row] for row in printed.values()])
    ours = _falling([list(row) for row in zip(*columns, strict=True)])
    sizes = [number(value) for value in details.column("parameters")]
    width = len(paper.CUTOFFS)
    negative = [None if size is None else -size for size in sizes]
    smaller = _falling([negative[place : place + width] for place in range(0, len(sizes), width)])
    measure = "share of neighbouring cut-offs"
    higher_text = f"a larger cut-off gives a higher perplexity ({label})"
    smaller_text = f"a larger cut-off gives a smaller model ({label})"
    return [
        _Claim(higher_text, measure, (theirs, ours), least=0.9),
        _Claim(smaller_text, measure, (None, smaller), least=0.9),
    ]


def _falling(rows: Sequence[Sequence[float | None]]) -> float | None:
    """Return the share of neighbours in rows of which the second is not above the first."""
    pairs = [(a, b) for row in rows for a, b in pairwise(row) if a is not None and b is not None]
    return sum(a >= b for a, b in pairs) / len(pairs) if pairs else None
