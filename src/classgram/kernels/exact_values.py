"""Exact values: what an element adds to a class, and what moving it gains."""

import numpy as np
from numpy.typing import NDArray

from classgram.kernels import kernel_part, lean_kernel
from classgram.kernels.class_table import Events, cell
from classgram.kernels.criterion import Terms, difference, global_term, seen_change
from classgram.kernels.problem import (
    KINDS,
    ONCE,
    SEEN,
    Cells,
    Classes,
    LongArray,
    Profile,
    Slots,
    Value,
)


@kernel_part
def wide(number: int) -> int:
    """Give a class number in 64 bits: with one type for all of them, parts are compiled only once."""
    return np.int64(number)  # type: ignore[return-value]


@lean_kernel
def build_profile(events: Events, slots: Slots, element: int, own: int, tied: int) -> Profile:
    """Sum the element's events by opposite class."""
    keys, amounts, weights = slots
    partners, counts, partner_classes = events.partners, events.amounts, events.partner_classes
    follower = element + (partner_classes.size >> 1)
    length = 0
    itself = 0
    for entry in range(events.starts[element], events.starts[element + 1]):
        partner = partners[entry]
        if tied > 0 and (partner == element or partner == follower):
            itself = counts[entry]
            continue
        key = partner_classes[partner]
        if weights[key] == 0:
            keys[length] = key
            length += 1
        weights[key] += counts[entry]
    for i in range(length):
        amounts[i] = weights[keys[i]]
    return Profile(keys, amounts, weights, length, own, itself, tied)


@kernel_part
def clear_weights(profile: Profile) -> None:
    """Leave the weights zeroed for the next element."""
    for i in range(profile.length):
        profile.weights[profile.keys[i]] = 0


@kernel_part
def place_of(key: int, number: int, tied: int) -> tuple[int, int]:
    """Give the row and column where a class's count with an opposite class stands.

    For tied classes it also stands in the class's own row: no cache misses.
    """
    row, column = wide(key), wide(number)
    if tied > 0:
        row, column = (column + tied, row) if row < tied else (column, row - tied)
    return row, column


@lean_kernel
def value_in_own(cells: Cells, values: NDArray[np.float64], shift: float, profile: Profile) -> Value:
    """Give the pair terms that the element adds to its own class, exactly."""
    keys, amounts, weights, length, own, itself, tied = profile
    total = 0.0
    packed = 0
    for i in range(length):
        key = keys[i]
        if tied > 0 and (key == own or key == own + tied):
            continue
        row, column = place_of(key, own, tied)
        count = cell(cells, row, column) - amounts[i]
        total += difference(values, shift, count, amounts[i])
        packed += seen_change(count, amounts[i])
    if tied > 0:
        amount = weights[own] + weights[own + tied] + itself
        if amount > 0:
            count = cell(cells, wide(own), wide(own)) - amount
            total += difference(values, shift, count, amount)
            packed += seen_change(count, amount)
    seen = (packed + 32768) >> 16
    return Value(total, packed - (seen << 16), seen)


@kernel_part
def value_in_other(
    cells: Cells, values: NDArray[np.float64], shift: float, profile: Profile, candidate: int
) -> Value:
    """Give the pair terms that the element would add to another class, exactly."""
    keys, amounts, weights, length, own, itself, tied = profile
    total = 0.0
    packed = 0
    for i in range(length):
        key = keys[i]
        if tied > 0 and (key == candidate or key == candidate + tied):
            continue
        row, column = place_of(key, candidate, tied)
        count = cell(cells, row, column)
        if tied > 0 and key == own:
            count -= weights[candidate + tied]
        elif tied > 0 and key == own + tied:
            count -= weights[candidate]
        total += difference(values, shift, count, amounts[i])
        packed += seen_change(count, amounts[i])
    if tied > 0:
        amount = weights[candidate] + weights[candidate + tied] + itself
        if amount > 0:
            count = cell(cells, wide(candidate), wide(candidate))
            total += difference(values, shift, count, amount)
            packed += seen_change(count, amount)
    seen = (packed + 32768) >> 16
    return Value(total, packed - (seen << 16), seen)


@kernel_part
def total_terms(totals: LongArray, sizes: LongArray, terms: Terms, column: int, removed: bool) -> float:
    """Give the class terms that an element of these sizes adds to a class."""
    result = 0.0
    for side in range(totals.shape[0]):
        count = totals[side, column] - (sizes[side] if removed else 0)
        result -= difference(terms.total_values, terms.total_shift, count, sizes[side])
    return result


@kernel_part
def class_pairs(classes: Classes, sizes: LongArray, own: int, candidate: int) -> int:
    """Give K1 K2 after an element of these sizes has moved from own to candidate (-1: nowhere)."""
    totals = classes.totals
    kinds, other_kinds = classes.numbers[KINDS], classes.numbers[KINDS + 1]
    for row in range(totals.shape[0]):
        change = 0
        if sizes[row] > 0:
            if totals[row, own] == sizes[row]:
                change -= 1
            if candidate >= 0 and totals[row, candidate] == 0:
                change += 1
        if row + classes.side == 0:
            kinds += change
        else:
            other_kinds += change
    return kinds * other_kinds  # type: ignore[no-any-return]


@lean_kernel
def gain_of(
    classes: Classes,
    terms: Terms,
    profile: Profile,
    sizes: LongArray,
    own: Value,
    candidate: int,
) -> float:
    """Give F after moving the element to another class, less F now, exactly."""
    other = value_in_other(classes.cells, terms.pair_values, terms.pair_shift, profile, candidate)
    gain = other.terms - own.terms
    gain += total_terms(classes.totals, sizes, terms, candidate, False)
    gain -= total_terms(classes.totals, sizes, terms, profile.own, True)
    if terms.discount > 0.0:
        numbers = classes.numbers
        once, seen = numbers[ONCE], numbers[SEEN]
        pairs = class_pairs(classes, sizes, profile.own, candidate)
        gain += global_term(terms.discount, once - own.once + other.once, seen - own.seen + other.seen, pairs)
        gain -= global_term(terms.discount, once, seen, numbers[KINDS] * numbers[KINDS + 1])
    return gain


@lean_kernel
def may_leave(totals: LongArray, sizes: LongArray, own: int, discount: float) -> bool:
    """Say whether an element may leave: no class of count 1 may remain under leaving-one-out."""
    if discount > 0.0:
        for side in range(totals.shape[0]):
            if sizes[side] > 0 and totals[side, own] - sizes[side] == 1:
                return False
    return True


@lean_kernel
def may_join(totals: LongArray, sizes: LongArray, candidate: int, discount: float) -> bool:
    """Say whether an element may join a class: no class of count 1 may arise either."""
    if discount > 0.0:
        for side in range(totals.shape[0]):
            if sizes[side] == 1 and totals[side, candidate] == 0:
                return False
    return True
