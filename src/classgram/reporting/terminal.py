"""The classes of words as rows for a terminal: words, typical neighbours, nearest classes."""

from collections.abc import Iterator, Sequence

from classgram.options import ReadOptions
from classgram.reporting.classes_data import classes_data
from classgram.reporting.neighbours import neighbours_of
from classgram.reporting.sources import NamedClasses

_WORDS = 40

_HEADINGS = {"left": "typically before", "right": "typically after", "near": "nearest"}


def class_facts(
    classes: NamedClasses, words: Sequence[str], counts: tuple[str, ...]
) -> Iterator[list[tuple[str, str]]]:
    """Return the rows of each word's class, as the page shows them."""
    partition = classes.partition
    neighbours = neighbours_of(partition, classes.model, counts, ReadOptions())
    data = classes_data(classes.name, partition, neighbours)
    for word in words:
        number = partition.class_of(word)
        members = partition.members(number)
        shown = ", ".join(f"{member} ({count:,})" for member, count in members[:_WORDS])
        rows = [("words", shown + (f" and {len(members) - _WORDS:,} more" if len(members) > _WORDS else ""))]
        if neighbours is not None and number in data["numbers"]:
            place = data["numbers"].index(number)
            for key, heading in _HEADINGS.items():
                rows.append((heading, "; ".join(_described(data, *row[:2]) for row in data[key][place])))
        yield rows


def _described(data: dict[str, list[str]], other: int | str, share: float) -> str:
    """Return a class by its name, with its share."""
    name = other if isinstance(other, str) else data["names"][other]
    return f"{name} {100 * share:.0f} %"
