"""Models for the page: what they are, and their perplexities on a text by both rules."""

from typing import Any

from classgram.evaluation.comparison import compare_models
from classgram.models.language_model import LanguageModel
from classgram.options import ReadOptions
from classgram.text.reading import Text

NamedModels = list[tuple[str, LanguageModel]]


def models_data(models: NamedModels, text: Text | None, read: ReadOptions) -> list[dict[str, Any]]:
    """Return a record for each model; with a text, its perplexities, and how it differs from the first."""
    rows = [{"name": name, **model.facts()} for name, model in models]
    if text is None or not models:
        return rows
    evaluations, comparisons = compare_models([model for _, model in models], text, read)
    for number, (row, evaluation) in enumerate(zip(rows, evaluations, strict=True)):
        row |= evaluation.as_dict()
        if number:
            row |= vars(comparisons[number - 1])
    return rows
