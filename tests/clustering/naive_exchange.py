"""The exchange algorithm as figures 1 and 2 of the paper have it: every move is valued from scratch."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from classgram.clustering.criteria import Criterion
from tests.clustering.naive_clustering import Pairs, criterion, has_single_count


class Move(NamedTuple):
    """An element of a side (0: words, 1: contexts) that has changed its class."""

    side: int
    element: int
    target: int


def naive_exchange(
    pairs: Pairs,
    maps: Sequence[list[int]],
    orders: Sequence[list[int]],
    candidates: Sequence[int],
    rule: Criterion,
) -> Iterator[Move]:
    """Move each element to the best class until nothing moves; yield every move.

    ``maps`` are the classes of words and of contexts (one and the same list for tied classes), changed in
    place; ``orders`` and ``candidates`` hold the elements of each side by falling count and its classes.
    """

    def value() -> float | None:
        sides = (1,) if len(orders) == 1 and maps[0] is not maps[1] else (0, 1)
        single = rule.discount > 0 and has_single_count(pairs, maps[1], maps[0], sides)
        return None if single else criterion(pairs, maps[1], maps[0], rule.discount, rule.unseen_cap)

    moved = True
    while moved:
        moved, threshold = False, 1e-9 * abs(value() or 0.0)
        for side, order in enumerate(orders):
            for element in order:
                own, before = maps[side][element], value()
                best, highest = own, (before or 0.0) + threshold
                for target in range(candidates[side]):
                    maps[side][element] = target
                    after = value()
                    if target != own and after is not None and after > highest + 1e-9:
                        best, highest = target, after
                maps[side][element] = best
                if best != own:
                    moved = True
                    yield Move(side, element, best)
