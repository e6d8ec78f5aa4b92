"""Exact values: what an element adds to a class, and what moving it gains."""

from typing import NamedTuple

import numpy as np

from classgram.clustering._kernels.class_table import (
    SHORT_LIMIT,
    ClassTable,
    Events,
    Pairs,
    by_form,
    count_of,
)
from classgram.clustering._kernels.criterion import (
    Terms,
    class_gain,
    global_term,
    pair_gain,
    seen_change,
    seen_part,
)
from classgram.clustering._kernels.side_arrays import (
    N_CLASSES,
    N_ONCE,
    N_SEEN,
    ClassCounts,
    Profile,
    ProfileBuffers,
    SideArrays,
    Value,
)
from classgram.runtime.compiled import kernel_part, lean_kernel
from classgram.runtime.compiled.arrays import Int64Array, Int64Matrix


@kernel_part
def wide(number: int) -> int:
    """Give a number in 64 bits: with one type for all of them, and no constants, parts are compiled once."""
    return np.int64(number)  # type: ignore[return-value]


@lean_kernel
def build_profile(events: Events, buffers: ProfileBuffers, element: int, own: int, tied: int) -> Profile:
    """Sum the element's events by opposite class; its followers come last among the events.

    Writes the buffers, which are the profile's arrays; clear_weights must follow.
    """
    keys, amounts, weights = buffers
    partners, counts, partner_classes = events.partners, events.amounts, events.partner_classes
    follower = element + (partner_classes.size >> 1)
    length = 0
    split = 0
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
            split += 1 if tied == 0 or key < tied else 0
        weights[key] += counts[entry]
    for i in range(length):
        amounts[i] = weights[keys[i]]
    return Profile(keys, amounts, weights, length, split, own, itself, tied)


@kernel_part
def clear_weights(profile: Profile) -> None:
    """Leave the weights zeroed for the next element."""
    for i in range(profile.length):
        profile.weights[profile.keys[i]] = 0


@kernel_part
def pairs_of(table: ClassTable) -> Pairs:
    """Give the counts of a table."""
    return Pairs(table.cells, table.short)


@kernel_part
def count_with(pairs: Pairs, key: int, number: int, tied: int) -> int:
    """Give a class's count with an opposite class.

    For tied classes it also stands in the class's own row: no cache misses.
    """
    if tied == 0:
        return count_of(pairs, wide(key), wide(number))
    if key < tied:
        return count_of(pairs, wide(number) + tied, wide(key))
    return count_of(pairs, wide(number), wide(key) - tied)


@kernel_part
def column_terms(pairs: Pairs, terms: Terms, profile: Profile, number: int, member: int) -> float:
    """Sum f(N+n) - f(N) over the profile, where N are the counts of a class.

    ``member`` is 1 where the element is part of them, else 0.
    """
    total = 0.0
    for i in range(profile.length):
        amount = profile.amounts[i]
        count = count_with(pairs, profile.keys[i], number, profile.tied) - member * amount
        total += pair_gain(terms, count, amount)
    return total


class RowPart(NamedTuple):
    """Entries of a profile whose counts stand in one row."""

    first: int
    end: int
    row: int
    shift: int
    """What the columns are less than the keys."""
    member: int
    """1 where the element is part of the counts, else 0."""


@kernel_part
def row_terms(pairs: Pairs, terms: Terms, profile: Profile, part: RowPart) -> float:
    """Sum the same over a part of the profile."""
    row, shift, member = part.row, part.shift, part.member
    counts, short, values = pairs.cells[row], pairs.short[row], terms.pair_values
    keys, amounts = profile.keys[part.first : part.end], profile.amounts[part.first : part.end]
    size = np.uint64(values.size)
    total = 0.0
    for i in range(keys.size):
        # A number without a sign needs no look whether it counts from the end.
        column, amount = np.uint32(keys[i] - shift), wide(amounts[i])
        count = wide(short[column])
        if count >= SHORT_LIMIT:
            count = wide(counts[column])
        count -= member * amount
        low, high = np.uint64(count), np.uint64(count + amount)
        if high < size:
            total += values[high] - values[low]
        else:
            total += pair_gain(terms, count, amount)
    return total


@kernel_part
def dense_terms(pairs: Pairs, terms: Terms, profile: Profile, number: int, member: int) -> float:
    """Sum over the profile (see column_terms); counts of tied classes stand in the class's own rows, too."""
    split, tied = profile.split, profile.tied
    if tied == 0:
        return column_terms(pairs, terms, profile, number, member)
    before = row_terms(pairs, terms, profile, RowPart(wide(0), split, number + tied, wide(0), member))
    return before + row_terms(pairs, terms, profile, RowPart(split, profile.length, number, tied, member))


plain_terms = by_form(dense_terms, column_terms)
"""Sum f(N+n) - f(N) over the profile: plain_terms(pairs, terms, profile, number, member)."""


@kernel_part
def plain_changes(pairs: Pairs, profile: Profile, number: int, member: int) -> int:
    """Sum the changes of the numbers of pairs (see seen_change) in the same way."""
    change = 0
    for i in range(profile.length):
        count = count_with(pairs, profile.keys[i], number, profile.tied) - member * profile.amounts[i]
        change += seen_change(count, profile.amounts[i])
    return change


class Sum(NamedTuple):
    """Pair terms, and changes of n+ and n1 in one number (see seen_change)."""

    terms: float
    change: int


@kernel_part
def plain_sum(pairs: Pairs, terms: Terms, profile: Profile, number: int, member: int) -> Sum:
    """Sum the whole profile as if no two of its entries met in one cell."""
    change = plain_changes(pairs, profile, number, member) if terms.counts_pairs else 0
    return Sum(plain_terms(pairs, terms, profile, number, member), change)


@kernel_part
def with_term(total: Sum, terms: Terms, count: int, amount: int, sign: int) -> Sum:
    """Add what a count that grows by an amount gives, or take it away."""
    if amount == 0:
        return total
    term = pair_gain(terms, count, amount)
    change = seen_change(count, amount) if terms.counts_pairs else 0
    return Sum(total.terms + sign * term, total.change + sign * change)


@kernel_part
def as_value(total: Sum) -> Value:
    """Return a sum with its changes apart."""
    seen = seen_part(total.change)
    return Value(total.terms, total.change - (seen << 16), seen)


@lean_kernel
def value_in_own(pairs: Pairs, terms: Terms, profile: Profile) -> Value:
    """Give the pair terms that the element adds to its own class, exactly."""
    own, tied = wide(profile.own), profile.tied
    plus, minus = wide(1), wide(-1)
    total = plain_sum(pairs, terms, profile, own, plus)
    if tied > 0:
        # On the diagonal both sides and the element itself meet in one cell.
        before, after = wide(profile.weights[own]), wide(profile.weights[own + tied])
        count, amount = count_of(pairs, own, own), before + after + profile.itself
        total = with_term(total, terms, count - before, before, minus)
        total = with_term(total, terms, count - after, after, minus)
        total = with_term(total, terms, count - amount, amount, plus)
    return as_value(total)


@kernel_part
def value_in_other(pairs: Pairs, terms: Terms, profile: Profile, candidate: int) -> Value:
    """Give the pair terms that the element would add to another class, exactly."""
    own, weights, tied = wide(profile.own), profile.weights, profile.tied
    plus, minus = wide(1), wide(-1)
    total = plain_sum(pairs, terms, profile, candidate, wide(0))
    if tied > 0:
        before, after = wide(weights[candidate]), wide(weights[candidate + tied])
        count = count_of(pairs, candidate, candidate)
        total = with_term(total, terms, count, before, minus)
        total = with_term(total, terms, count, after, minus)
        total = with_term(total, terms, count, before + after + profile.itself, plus)
        # The element itself is part of its own class, where that precedes or follows the candidate.
        if after > 0:
            count, amount = count_of(pairs, candidate + tied, own), wide(weights[own])
            total = with_term(total, terms, count, amount, minus)
            total = with_term(total, terms, count - after, amount, plus)
        if before > 0:
            count, amount = count_of(pairs, candidate, own), wide(weights[own + tied])
            total = with_term(total, terms, count, amount, minus)
            total = with_term(total, terms, count - before, amount, plus)
    return as_value(total)


@kernel_part
def class_terms(totals: Int64Matrix, sizes: Int64Array, terms: Terms, column: int, removed: bool) -> float:
    """Give the class terms that an element of these sizes adds to a class."""
    result = 0.0
    for side in range(totals.shape[0]):
        count = totals[side, column] - (sizes[side] if removed else 0)
        result -= class_gain(terms, count, sizes[side])
    return result


@kernel_part
def cells_after(classes: ClassCounts, sizes: Int64Array, own: int, candidate: int) -> int:
    """Return K1 K2 after an element of these sizes has moved from own to candidate (-1: nowhere)."""
    totals = classes.totals
    words, contexts = classes.pair_numbers[N_CLASSES], classes.pair_numbers[N_CLASSES + 1]
    for row in range(totals.shape[0]):
        change = 0
        if sizes[row] > 0:
            if totals[row, own] == sizes[row]:
                change -= 1
            if candidate >= 0 and totals[row, candidate] == 0:
                change += 1
        if row + classes.side == 0:
            words += change
        else:
            contexts += change
    return words * contexts  # type: ignore[no-any-return]


@lean_kernel
def gain_of(
    classes: ClassCounts,
    terms: Terms,
    profile: Profile,
    sizes: Int64Array,
    own: Value,
    candidate: int,
) -> float:
    """Give F after moving the element to another class, less F now, exactly."""
    other = value_in_other(classes.pairs, terms, profile, wide(candidate))
    gain = other.terms - own.terms
    gain += class_terms(classes.totals, sizes, terms, candidate, False)
    gain -= class_terms(classes.totals, sizes, terms, profile.own, True)
    if terms.counts_pairs:
        numbers = classes.pair_numbers
        once, seen = numbers[N_ONCE], numbers[N_SEEN]
        cells = cells_after(classes, sizes, profile.own, candidate)
        gain += global_term(terms, once - own.once + other.once, seen - own.seen + other.seen, cells)
        gain -= global_term(terms, once, seen, numbers[N_CLASSES] * numbers[N_CLASSES + 1])
    return gain


@lean_kernel
def may_leave(totals: Int64Matrix, sizes: Int64Array, own: int, terms: Terms) -> bool:
    """Say whether an element may leave: no class of count 1 may remain where these are forbidden."""
    if terms.forbids_single_counts:
        for side in range(totals.shape[0]):
            if sizes[side] > 0 and totals[side, own] - sizes[side] == 1:
                return False
    return True


@lean_kernel
def may_join(totals: Int64Matrix, sizes: Int64Array, candidate: int, terms: Terms) -> bool:
    """Say whether an element may join a class: no class of count 1 may arise either."""
    if terms.forbids_single_counts:
        for side in range(totals.shape[0]):
            if sizes[side] == 1 and totals[side, candidate] == 0:
                return False
    return True


@kernel_part
def counts_of(arrays: SideArrays) -> ClassCounts:
    """Return the counts of classes and of pairs of them."""
    return ClassCounts(pairs_of(arrays.table), arrays.table.totals, arrays.pair_numbers, arrays.side)
