"""All experiments by name, in the order in which they are reported."""

from collections.abc import Callable, Sequence

from classgram.errors import InputError
from classgram.reproduction import model_experiments as models
from classgram.reproduction import search_experiments as search
from classgram.reproduction.plan import Plan
from classgram.reproduction.tables import Experiment

EXPERIMENTS: dict[str, Callable[[Plan], Experiment]] = {
    "table-1": search.table_1,
    "table-2": search.table_2,
    "table-3": search.table_3,
    "table-4": search.table_4,
    "table-5": models.table_5,
    "table-6": models.table_6,
    "table-7": models.table_7,
    "table-8": models.table_8,
    "table-9": models.table_9,
    "section-2": search.section_2,
    "section-3": search.section_3,
    "beyond": models.beyond,
}

_FIRST = ("table-5", "table-6", "table-7", "table-8", "table-9")
"""What is run first: the paper's results. A run that is cut short has these."""


def check_names(names: Sequence[str]) -> None:
    """Refuse names that no experiment has."""
    for name in names:
        if name not in EXPERIMENTS:
            raise InputError(
                f"--only {name}: there is no such experiment; choose from {', '.join(EXPERIMENTS)}"
            )


def all_experiments(plan: Plan) -> list[Experiment]:
    """Return every experiment on a text."""
    return [build(plan) for build in EXPERIMENTS.values()]


def running_order(names: Sequence[str]) -> list[str]:
    """Return the names of experiments in the order in which they are run."""
    return sorted(names, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
