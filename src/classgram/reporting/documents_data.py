"""Perplexities of lines or documents for the page: what a threshold would keep and drop."""

from typing import Any

import numpy as np

from classgram.evaluation.filtering import Unit, UnitScore, score_units
from classgram.reporting.models_data import NamedModels
from classgram.text.records import Record

_UNITS = 20_000
"""Units scored at most, evenly spread over the text."""

_EXAMPLES = 400
_EXAMPLE_LETTERS = 300


def documents_data(models: NamedModels, records: list[Record]) -> dict[str, Any]:
    """Return the perplexities of the units of a text: documents if blank lines part them, else lines."""
    unit: Unit = "document" if _has_documents(records) else "line"
    scores = [list(score_units(model, records, unit)) for _, model in models]
    full = [number for number, one in enumerate(scores[0]) if one.words]
    chosen = full[:: max(1, -(-len(full) // _UNITS))]
    first = np.array([scores[0][number].perplexity for number in chosen])
    # Examples lie evenly in the order of perplexities, so that some are near any threshold.
    ranked = np.argsort(first, kind="stable")
    spread = np.unique(np.linspace(0, len(chosen) - 1, min(_EXAMPLES, len(chosen))).astype(int))
    return {
        "unit": unit,
        "all": len(full),
        "perplexities": [[_rounded(row[number]) for number in chosen] for row in scores],
        "words": [scores[0][number].words for number in chosen],
        "examples": {int(one): _beginning(scores[0][chosen[one]]) for one in ranked[spread]},
    }


def _has_documents(records: list[Record]) -> bool:
    """Whether records are whole documents, or blank lines stand between lines of text."""
    if any(record.fields is not None for record in records):
        return True
    blank = [not record.text.strip() for record in records]
    while blank and blank[-1]:
        blank.pop()
    return any(blank)


def _rounded(scored: UnitScore) -> float:
    """Return a perplexity with four digits."""
    return float(f"{scored.perplexity:.4g}")


def _beginning(scored: UnitScore) -> str:
    """Return the beginning of a unit."""
    text = " ".join(" ".join(record.text for record in scored.records).split())
    return text if len(text) <= _EXAMPLE_LETTERS else text[: _EXAMPLE_LETTERS - 1] + "…"
