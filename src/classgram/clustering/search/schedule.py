"""Which sweep of a search comes next.

A search ends when a whole sweep moves nothing, so that a converged result is a local optimum, certified.
In between it spends its time where something may move: on the classes that came near to being an
element's best (its rivals), tried again whenever they, its own class or what it occurs with have changed
enough, and later also if they are close; on the elements that have any rivals; and at last on the elements
that are unsure: those that hardly lose by leaving their class, or whose class has changed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

SETTLED = 0.0005
"""Sweeps over rivals go on while they move more than this share of all elements."""

FIRST_WHOLE = 2
"""Whole sweeps before it is worth while to keep to the elements that are unsure."""

FIRST_CLOSE = 3
"""Whole sweeps before it is worth while to try close rivals."""

FEW_CLOSE = 0.001
"""Close rivals are tried again while that moves more than this share of all elements."""

OF_RIVALS = ("rivals", "close")
"""Sweeps that try rivals and no other classes."""

ADDING = ("whole", "restless", "rivals", "close", "unsure")
"""Sweeps whose gains are added to F: to compute it anew may take longer than they do."""


@dataclass(frozen=True)
class Sweep:
    """What one sweep did."""

    sweep: int
    moved: int
    F: float
    seconds: float
    kind: str
    """whole, restless (only elements with rivals), rivals (no other classes are tried), close (rivals that
    are, whatever has changed), unsure (only elements that are), regrouping, annealing or heuristic."""


def next_kind(sweeps: Sequence[Sweep], movable: int, few_touched: Callable[[], bool]) -> str:
    """Give the kind of the sweep after one that moved something, or was not a whole one.

    There are so many ``movable`` elements; ``few_touched`` says whether few classes have been touched since
    all elements were looked at.
    """
    last = sweeps[-1]
    if last.kind == "regrouping" or (last.kind == "whole" and len(sweeps) == 1):
        return "restless"
    if last.kind == "whole":
        return "rivals"
    if last.kind in ("restless", "unsure"):
        return "rivals" if last.moved > 0 else "whole"
    if last.moved > (FEW_CLOSE if last.kind == "close" else SETTLED) * movable:
        return "rivals"
    whole = sum(sweep.kind == "whole" for sweep in sweeps)
    if last.kind == "rivals" and whole >= FIRST_CLOSE and close_ones_move(sweeps, movable):
        return "close"
    return "whole" if whole < FIRST_WHOLE or not few_touched() else "unsure"


def close_ones_move(sweeps: Sequence[Sweep], movable: int) -> bool:
    """Say whether close rivals are worth a try: not if few moved by the last one, with the same lists."""
    for sweep in reversed(sweeps):
        if sweep.kind == "close":
            return sweep.moved > FEW_CLOSE * movable
        if sweep.kind != "rivals":
            break
    return True
