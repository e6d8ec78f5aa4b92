"""Merging classes bottom-up: what each pair of classes would lose, kept as classes are merged.

The loss of a pair is F before minus F after, under maximum likelihood. Classes are the columns of
a table whose rows are keys: context classes, and for tied classes the same classes as followers
below them. A row concerns the class of its number modulo ``classes`` where classes are tied.
"""

from typing import NamedTuple

import numpy as np

from classgram.clustering._kernels.criterion import log_term
from classgram.runtime.compiled import kernel_part, lean_kernel
from classgram.runtime.compiled.arrays import Float64Array, Float64Matrix, Int32Array, Int64Array, Int64Matrix


class Merging(NamedTuple):
    """The table of a merging under way; a class that was merged into another has no part in it."""

    cells: Int64Matrix
    """Keys by classes; tied: N(key, class), and below it N(class, key)."""
    totals: Int64Matrix
    """Counts of classes: as words, and tied also as contexts, a row each."""
    losses: Float64Matrix
    """Losses of pairs, the lower number first."""
    values: Float64Array
    """n log n of small n."""
    tied: int
    """The number of classes where they are tied, else 0."""


@kernel_part
def gain(values: Float64Array, x: int, y: int) -> float:
    """Give f(x + y) - f(x) - f(y), f(n) = n log n."""
    return log_term(values, 0.0, x + y) - log_term(values, 0.0, x) - log_term(values, 0.0, y)


@kernel_part
def add_row(merging: Merging, key: int, sign: float, alive: Int32Array, found: Int64Array) -> None:
    """Add what one key gives back to every pair of other classes that it occurs with."""
    own = key % merging.tied if merging.tied else -1
    cells, losses, values = merging.cells, merging.losses, merging.values
    size = 0
    for c in alive:
        if c != own and cells[key, c] > 0:
            found[size] = c
            size += 1
    for i in range(size):
        c = found[i]
        x = cells[key, c]
        of_x = log_term(values, 0.0, x)
        for j in range(i + 1, size):
            d = found[j]
            y = cells[key, d]
            both = log_term(values, 0.0, x + y)
            losses[c, d] -= sign * (both - of_x - log_term(values, 0.0, y))


@kernel_part
def own_loss(merging: Merging, c: int, d: int) -> float:
    """Give the part of a pair's loss that other classes have no part in: totals, and tied cells."""
    loss = 0.0
    for side in range(merging.totals.shape[0]):
        loss += gain(merging.values, merging.totals[side, c], merging.totals[side, d])
    if merging.tied:
        cells, values = merging.cells, merging.values
        parts = (cells[c, c], cells[c, d], cells[d, c], cells[d, d])
        together = 0
        for part in parts:
            loss += log_term(values, 0.0, part)
            together += part
        loss -= log_term(values, 0.0, together)
    return loss


@lean_kernel
def fill_losses(merging: Merging, alive: Int32Array, found: Int64Array) -> None:
    """Write the losses of all pairs of classes; ``found`` is a buffer."""
    for i in range(alive.size):
        for j in range(i + 1, alive.size):
            merging.losses[alive[i], alive[j]] = own_loss(merging, alive[i], alive[j])
    for key in range(merging.cells.shape[0]):
        add_row(merging, key, 1.0, alive, found)


@lean_kernel
def cheapest_pair(merging: Merging, alive: Int32Array, pair: Int64Array) -> float:
    """Find the pair that loses least, ties to the lowest numbers; write it and return its loss."""
    least = np.inf
    for i in range(alive.size):
        row = merging.losses[alive[i]]
        for j in range(i + 1, alive.size):
            if row[alive[j]] < least:
                least = row[alive[j]]
                pair[0], pair[1] = alive[i], alive[j]
    return least


@kernel_part
def renew_losses(merging: Merging, a: int, alive: Int32Array) -> None:
    """Compute the losses of one class with every other from the table."""
    cells, losses, values, tied = merging.cells, merging.losses, merging.values, merging.tied
    for i in range(alive.size):
        c = int(alive[i])
        losses[min(a, c), max(a, c)] = own_loss(merging, a, c)
    for key in range(cells.shape[0]):
        own = key % tied if tied else -1
        x = cells[key, a]
        if x == 0 or own == a:
            continue
        for i in range(alive.size):
            c = int(alive[i])
            if c not in (a, own) and cells[key, c] > 0:
                losses[min(a, c), max(a, c)] -= gain(values, x, cells[key, c])


@lean_kernel
def merge_pair(merging: Merging, a: int, b: int, alive: Int32Array, found: Int64Array) -> None:
    """Merge class b into class a and renew the losses; ``alive`` are the classes but b.

    Writes cells, totals and losses; ``found`` is a buffer.
    """
    cells, tied = merging.cells, merging.tied
    if tied:
        for half in range(2):
            add_row(merging, half * tied + a, -1.0, alive, found)
            add_row(merging, half * tied + b, -1.0, alive, found)
    for key in range(cells.shape[0]):
        cells[key, a] += cells[key, b]
        cells[key, b] = 0
    for side in range(merging.totals.shape[0]):
        merging.totals[side, a] += merging.totals[side, b]
    if tied:
        for half in range(2):
            for c in range(cells.shape[1]):
                cells[half * tied + a, c] += cells[half * tied + b, c]
                cells[half * tied + b, c] = 0
            add_row(merging, half * tied + a, 1.0, alive, found)
    renew_losses(merging, a, alive)
