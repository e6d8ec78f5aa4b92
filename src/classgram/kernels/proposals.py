"""Propose: the best class of each element against a table that stands still.

The element stays where it is; its share in its own class's column (and, for tied classes, in its
own class's rows) is taken out of the arithmetic instead of out of the table. Sixteen-bit
differences rank the candidates, and every candidate within their error bound is tried exactly.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classgram.kernels import inlined, kernel_part, lean_kernel
from classgram.kernels.class_table import ClassTable, Events
from classgram.kernels.criterion import (
    LEVELS,
    MIDDLE_LEVELS,
    SHORT_COUNTS,
    Ready,
    Terms,
    approximate_difference,
    difference,
    global_term,
    seen_change,
)

IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
SingleArray = NDArray[np.float32]

ONCE, SEEN, KINDS = 0, 1, 2
"""Places in the running numbers: n1, n+, and from KINDS on the classes with N > 0 on each side."""

FLUSH = 120
"""Rows after which the packed counters are unpacked, long before they could overflow."""

ROUNDING = 1e-13
"""Gains that differ by less than this share of an element's terms are equal."""

NOISE_VALUES = 1 << 16
"""Different values of noise; rows start anywhere among them."""

IMPOSSIBLE = np.float32(-3e38)
"""The score of a class that the element may not join."""


class Problem(NamedTuple):
    """One side of a clustering problem: its elements, their classes, and the class table."""

    events: Events
    classes: IntArray
    """The class of each element."""
    sizes: LongArray
    """The count of each element, indexed [element, side]."""
    table: ClassTable
    slacks: SingleArray
    """By how much F would fall if an element left for the next best class, when last looked at."""
    numbers: LongArray
    """Running numbers of the whole partition (see ONCE, SEEN and KINDS)."""
    candidates: int
    """The classes 0 to candidates-1 may be joined; those above are pinned."""
    side: int
    """0 where the elements are predicted words (or words on both sides), 1 for contexts."""
    tied: int
    """0, or for tied classes the number of opposite classes: row g + tied has g as follower."""


class Slots(NamedTuple):
    """Room for a profile (see Profile)."""

    keys: IntArray
    amounts: IntArray
    weights: IntArray


class Scratch(NamedTuple):
    """Working memory of one thread."""

    slots: Slots
    rows: LongArray
    """Rows of differences to be added."""
    scores: SingleArray
    packed: NDArray[np.int16]
    """Newly seen pairs (times 256) plus the change of the pairs seen once, for each candidate."""
    once: IntArray
    seen: IntArray
    total_row: SingleArray
    """The class term of every candidate for an element of the current size."""
    total_sizes: LongArray
    """The sizes that total_row was made for; -1 where it is stale."""
    logs: NDArray[np.float64]
    """The global term's logarithm by the number of newly seen pairs."""


class Rule(NamedTuple):
    """When an element moves."""

    threshold: float
    """What a move must gain."""
    temperature: float
    """Gumbel noise of this strength, times the root of the element's size, is added to F; 0: none."""
    seed: int
    """What the noise depends on, besides the element and the class."""
    noise: SingleArray
    """Gumbel noise: a power of two of values, and then the first ones again."""


class Profile(NamedTuple):
    """What the element at hand occurs with, by opposite class."""

    keys: IntArray
    """The opposite classes."""
    amounts: IntArray
    """How often, in the order of the keys."""
    weights: IntArray
    """How often, by opposite class."""
    length: int
    own: int
    """The element's class."""
    itself: int
    """How often it follows itself (tied classes)."""
    tied: int


class Classes(NamedTuple):
    """The counts of classes and of pairs of them (parts of a Problem)."""

    cells: IntArray
    totals: LongArray
    numbers: LongArray
    side: int


class Value(NamedTuple):
    """What an element adds to a class: its terms, and changes of n1 and n+."""

    terms: float
    once: int
    seen: int


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


@lean_kernel
def value_in_own(cells: IntArray, values: NDArray[np.float64], shift: float, profile: Profile) -> Value:
    """Give the pair terms that the element adds to its own class, exactly."""
    keys, amounts, weights, length, own, itself, tied = profile
    total = 0.0
    packed = 0
    for i in range(length):
        key = keys[i]
        if tied > 0 and (key == own or key == own + tied):
            continue
        # For tied classes the same count also stands in the class's own row: no cache misses.
        if tied == 0:
            count = cells[key, own] - amounts[i]
        elif key < tied:
            count = cells[own + tied, key] - amounts[i]
        else:
            count = cells[own, key - tied] - amounts[i]
        total += difference(values, shift, count, amounts[i])
        packed += seen_change(count, amounts[i])
    if tied > 0:
        amount = weights[own] + weights[own + tied] + itself
        if amount > 0:
            count = cells[own, own] - amount
            total += difference(values, shift, count, amount)
            packed += seen_change(count, amount)
    seen = (packed + 32768) >> 16
    return Value(total, packed - (seen << 16), seen)


@kernel_part
def value_in_other(
    cells: IntArray, values: NDArray[np.float64], shift: float, profile: Profile, candidate: int
) -> Value:
    """Give the pair terms that the element would add to another class, exactly."""
    keys, amounts, weights, length, own, itself, tied = profile
    total = 0.0
    packed = 0
    for i in range(length):
        key = keys[i]
        if tied == 0:
            count = cells[key, candidate]
        else:
            if key == candidate or key == candidate + tied:
                continue
            if key < tied:
                count = cells[candidate + tied, key]
            else:
                count = cells[candidate, key - tied]
            if key == own:
                count -= weights[candidate + tied]
            elif key == own + tied:
                count -= weights[candidate]
        total += difference(values, shift, count, amounts[i])
        packed += seen_change(count, amounts[i])
    if tied > 0:
        amount = weights[candidate] + weights[candidate + tied] + itself
        if amount > 0:
            count = cells[candidate, candidate]
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


@kernel_part
def renew_total_row(totals: SingleArray, sizes: LongArray, shift: float, scratch: Scratch) -> None:
    """Make the class term of every candidate for an element of these sizes."""
    row, current = scratch.total_row, scratch.total_sizes
    stale = False
    for side in range(totals.shape[0]):
        stale = stale or current[side] != sizes[side]
    if not stale:
        return
    for c in range(row.size):
        row[c] = 0.0
    for side in range(totals.shape[0]):
        current[side] = sizes[side]
        if sizes[side] > 0:
            counts = totals[side]
            for c in range(row.size):
                row[c] -= approximate_difference(counts[c], np.float32(sizes[side]), np.float32(shift))


@kernel_part
def add_eight_rows(
    differences: NDArray[np.int16], rows: LongArray, unit: np.float32, scores: SingleArray
) -> None:
    """Add eight rows of differences in the given unit."""
    a, b, c, d = differences[rows[0]], differences[rows[1]], differences[rows[2]], differences[rows[3]]
    e, f, g, h = differences[rows[4]], differences[rows[5]], differences[rows[6]], differences[rows[7]]
    for j in range(scores.size):
        left = np.int16(np.int16(a[j] + b[j]) + np.int16(c[j] + d[j]))
        right = np.int16(np.int16(e[j] + f[j]) + np.int16(g[j] + h[j]))
        scores[j] += unit * np.float32(np.int16(left + right))


@kernel_part
def add_four_rows(
    differences: NDArray[np.int16], rows: LongArray, unit: np.float32, scores: SingleArray
) -> None:
    """Add four rows of differences in the given unit."""
    a, b, c, d = differences[rows[0]], differences[rows[1]], differences[rows[2]], differences[rows[3]]
    for j in range(scores.size):
        total = np.int16(np.int16(a[j] + b[j]) + np.int16(c[j] + d[j]))
        scores[j] += unit * np.float32(total)


@kernel_part
def add_small_amounts(
    differences: NDArray[np.int16],
    steps: SingleArray,
    profile: Profile,
    rows: LongArray,
    scores: SingleArray,
) -> float:
    """Add the ready differences of all amounts up to LEVELS; give the bound of their error."""
    keys, amounts = profile.keys, profile.amounts
    error = 0.0
    for level in range(1, LEVELS + 1):
        length = 0
        for i in range(profile.length):
            if amounts[i] == level:
                rows[length] = np.int64(keys[i]) * LEVELS + (level - 1)
                length += 1
        for i in range(length, length + 8):
            rows[i] = differences.shape[0] - 1
        unit = steps[level - 1]
        first = 0
        while length - first > 4:
            add_eight_rows(differences, rows[first:], unit, scores)
            first += 8
        if length > first:
            add_four_rows(differences, rows[first:], unit, scores)
        error += 0.5 * unit * length
    return error


@kernel_part
def add_looked_up(
    short: NDArray[np.uint16], middling: SingleArray, picked: LongArray, scores: SingleArray
) -> int:
    """Add the ready differences of four rows (keys, then amounts); give how many counts were cut."""
    a, b, c, d = short[picked[0]], short[picked[1]], short[picked[2]], short[picked[3]]
    e, f, g, h = middling[picked[4]], middling[picked[5]], middling[picked[6]], middling[picked[7]]
    highest = np.uint16(0)
    for j in range(scores.size):
        one = a[j] if a[j] > b[j] else b[j]
        two = c[j] if c[j] > d[j] else d[j]
        either = one if one > two else two
        highest = either if either > highest else highest
    for j in range(scores.size):
        scores[j] += (e[a[j]] + f[b[j]]) + (g[c[j]] + h[d[j]])
    return highest  # type: ignore[return-value]


@kernel_part
def add_computed(counts: IntArray, amount: int, shift: float, scores: SingleArray) -> None:
    """Add the differences of a row for a large amount."""
    single_amount, single_shift = np.float32(amount), np.float32(shift)
    for c in range(scores.size):
        scores[c] += approximate_difference(np.float32(counts[c]), single_amount, single_shift)


@kernel_part
def add_large_amounts(
    table: ClassTable,
    terms: Terms,
    middling: SingleArray,
    profile: Profile,
    scores: SingleArray,
    picked: LongArray,
) -> None:
    """Add the differences of all amounts beyond LEVELS, looked up or computed."""
    keys, amounts = profile.keys, profile.amounts
    waiting = 0
    for i in range(profile.length + 1):
        last = i == profile.length
        if not last and amounts[i] > MIDDLE_LEVELS:
            add_computed(table.cells[keys[i]], amounts[i], terms.pair_shift, scores)
        elif not last and amounts[i] > LEVELS:
            picked[waiting], picked[waiting + 4] = keys[i], amounts[i]
            waiting += 1
        if waiting == 4 or (last and waiting > 0):
            for j in range(waiting, 4):
                picked[j], picked[j + 4] = picked[0], 0  # The amount 0 changes nothing.
            if add_looked_up(table.short, middling, picked, scores) == SHORT_COUNTS:
                add_cut_counts(table.cells, terms, picked, scores)
            waiting = 0


@kernel_part
def add_cut_counts(cells: IntArray, terms: Terms, picked: LongArray, scores: SingleArray) -> None:
    """Add the differences of counts too large for the table, for which it gave 0."""
    for j in range(4):
        counts, amount = cells[picked[j]], picked[j + 4]
        for c in range(scores.size):
            if counts[c] >= SHORT_COUNTS:
                scores[c] += np.float32(difference(terms.pair_values, terms.pair_shift, counts[c], amount))


@kernel_part
def count_seen_rows(short: NDArray[np.uint16], keys: LongArray, packed: NDArray[np.int16]) -> None:
    """Count the zeros (times 256) less the ones of four rows."""
    a, b, c, d = short[keys[0]], short[keys[1]], short[keys[2]], short[keys[3]]
    none, one, new = np.int16(0), np.int16(1), np.int16(256)
    for j in range(packed.size):
        first = np.int16((new if a[j] == 0 else none) - (one if a[j] == 1 else none))
        second = np.int16((new if b[j] == 0 else none) - (one if b[j] == 1 else none))
        third = np.int16((new if c[j] == 0 else none) - (one if c[j] == 1 else none))
        fourth = np.int16((new if d[j] == 0 else none) - (one if d[j] == 1 else none))
        four = np.int16(np.int16(first + second) + np.int16(third + fourth))
        packed[j] = np.int16(packed[j] + four)


@kernel_part
def count_seen_row(counts: NDArray[np.uint16], packed: NDArray[np.int16]) -> None:
    """Count the same in one row."""
    none, one, new = np.int16(0), np.int16(1), np.int16(256)
    for j in range(packed.size):
        change = np.int16((new if counts[j] == 0 else none) - (one if counts[j] == 1 else none))
        packed[j] = np.int16(packed[j] + change)


@kernel_part
def unpack_seen(packed: NDArray[np.int16], once: IntArray, seen: IntArray, single: bool) -> None:
    """Move the packed counters into the two separate ones; single amounts make pairs seen once."""
    gained = np.int32(1 if single else 0)
    for c in range(packed.size):
        newly = np.int32(np.int32(packed[c] + np.int32(128)) >> np.int32(8))
        change = np.int32(packed[c] - np.int32(newly << np.int32(8)))
        seen[c] += newly
        once[c] += np.int32(change + np.int32(gained * newly))
        packed[c] = np.int16(0)


@kernel_part
def count_seen(short: NDArray[np.uint16], profile: Profile, scratch: Scratch) -> None:
    """Count, for each candidate, the pairs that would be newly seen and the change of n1."""
    packed, rows = scratch.packed, scratch.rows
    for c in range(packed.size):
        scratch.once[c] = 0
        scratch.seen[c] = 0
    for single in (True, False):
        length = 0
        for i in range(profile.length):
            if (profile.amounts[i] == 1) == single:
                rows[length] = profile.keys[i]
                length += 1
        whole = length // 4 * 4
        for i in range(0, whole, 4):
            count_seen_rows(short, rows[i:], packed)
            if i % FLUSH == FLUSH - 4:
                unpack_seen(packed, scratch.once, scratch.seen, single)
        for i in range(whole, length):
            count_seen_row(short[rows[i]], packed)
        unpack_seen(packed, scratch.once, scratch.seen, single)


class Corrections(NamedTuple):
    """Where and with which values single terms of the scores are corrected."""

    values: NDArray[np.float64]
    scores: SingleArray
    once: IntArray
    seen: IntArray
    shift: float


@kernel_part
def correct(target: Corrections, place: int, count: int, amount: int, sign: int) -> None:
    """Add the term of a count that grows by an amount to a candidate's score, or take it away."""
    term = difference(target.values, target.shift, count, amount)
    target.scores[place] += np.float32(sign * term)
    change = seen_change(count, amount)
    newly = (change + 32768) >> 16
    target.seen[place] += sign * newly
    target.once[place] += sign * (change - (newly << 16))


@kernel_part
def correct_tied_scores(
    cells: IntArray, diagonal: IntArray, profile: Profile, target: Corrections, candidates: int
) -> None:
    """Correct what the plain sum gets wrong for tied classes: the own rows and the diagonal."""
    keys, amounts, weights, length, own, itself, tied = profile
    before, after = weights[own], weights[own + tied]
    for i in range(length):
        key, amount = keys[i], amounts[i]
        candidate = key if key < tied else key - tied
        if candidate == own or candidate >= candidates:
            continue
        # The element itself is part of its class's row, where it precedes or follows the candidate.
        if key >= tied and before > 0:
            count = cells[own, candidate]
            correct(target, candidate, count, before, -1)
            correct(target, candidate, count - amount, before, 1)
        if key < tied and after > 0:
            count = cells[own + tied, candidate]
            correct(target, candidate, count, after, -1)
            correct(target, candidate, count - amount, after, 1)
        # On the diagonal both sides meet in one cell.
        count = diagonal[candidate]
        correct(target, candidate, count, amount, -1)
        if key < tied or weights[candidate] == 0:
            both = weights[candidate] + weights[candidate + tied] + itself
            correct(target, candidate, count, both, 1)
    if itself > 0:
        for candidate in range(candidates):
            if weights[candidate] + weights[candidate + tied] == 0 and candidate != own:
                correct(target, candidate, diagonal[candidate], itself, 1)


@kernel_part
def add_global_term(problem: Problem, discount: float, scratch: Scratch, element: int, own: Value) -> None:
    """Add leaving-one-out's global term after the move to the score of each candidate."""
    sizes, totals, numbers = problem.sizes[element], problem.table.totals, problem.numbers
    scores, logs = scratch.scores, scratch.logs
    more_once, more_seen = scratch.once, scratch.seen
    once, seen = numbers[ONCE] - own.once, numbers[SEEN] - own.seen
    own_class = problem.classes[element]
    classes = Classes(problem.table.cells, totals, numbers, problem.side)
    pairs = class_pairs(classes, sizes, own_class, -1)
    most = 0
    for c in range(problem.candidates):
        most = more_seen[c] if more_seen[c] > most else most
    for k in range(most + 1):
        logs[k] = np.log(discount * max(seen + k - 1, 1) / max(pairs - seen - k + 1, 1))
    # Scores are small beside the term itself, so its present value is taken off first.
    now = global_term(discount, numbers[ONCE], numbers[SEEN], numbers[KINDS] * numbers[KINDS + 1])
    empty = 0
    for c in range(problem.candidates):
        scores[c] += np.float32((once + more_once[c]) * logs[more_seen[c]] - now)
        if totals[0, c] == 0 or totals[totals.shape[0] - 1, c] == 0:
            empty += 1
    if empty == 0:
        return
    for c in range(problem.candidates):
        if totals[0, c] == 0 or totals[totals.shape[0] - 1, c] == 0:
            exact = global_term(
                discount,
                once + more_once[c],
                seen + more_seen[c],
                class_pairs(classes, sizes, own_class, c),
            )
            scores[c] += np.float32(exact - (once + more_once[c]) * logs[more_seen[c]])


@kernel_part
def highest_score(scores: SingleArray, candidates: int, bound: float) -> float:
    """Give an upper bound of the highest score, close to it, by a maximum over integers.

    A maximum over floats would not become a vector loop, because of what NaN would mean.
    """
    scale = np.float32(2.0**30 / bound)
    best = np.int32(-(2**31) + 1)
    for c in range(candidates):
        scaled = scores[c] * scale
        scaled = scaled if scaled > np.float32(-2e9) else np.float32(-2e9)
        rounded = np.int32(scaled if scaled < np.float32(2e9) else np.float32(2e9))
        best = rounded if rounded > best else best
    return (best + 1.0) / scale


@kernel_part
def score_candidates(
    problem: Problem, terms: Terms, ready: Ready, scratch: Scratch, profile: Profile
) -> float:
    """Fill the score of every candidate without the global term; give the bound of its error."""
    cells, scores = problem.table.cells, scratch.scores
    for c in range(scores.size):
        scores[c] = scratch.total_row[c]
    error = add_small_amounts(problem.table.differences, ready.steps, profile, scratch.rows, scores)
    add_large_amounts(problem.table, terms, ready.middling, profile, scores, scratch.rows)
    if terms.discount > 0.0:
        count_seen(problem.table.short, profile, scratch)
    if profile.tied > 0:
        target = Corrections(terms.pair_values, scores, scratch.once, scratch.seen, terms.pair_shift)
        correct_tied_scores(cells, problem.table.diagonal, profile, target, problem.candidates)
    return error


@kernel_part
def noise_offset(seed: int, element: int) -> int:
    """Give the place where an element's row of noise starts, by mixing the bits of both numbers."""
    bits = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(element)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((bits >> np.uint64(40)) & np.uint64(NOISE_VALUES - 1))  # type: ignore[return-value]


@kernel_part
def noisiest_class(scores: SingleArray, rule: Rule, offset: int, scale: float, mine: float) -> int:
    """Give the class of the highest score with noise, or -1 for the present one."""
    best = -1
    highest = np.float32(mine)
    single_scale = np.float32(scale)
    for c in range(scores.size):
        score = scores[c] + single_scale * rule.noise[offset + c]
        if score > highest:
            best, highest = c, score
    return best


@inlined
def best_class(
    problem: Problem, terms: Terms, ready: Ready, scratch: Scratch, rule: Rule, element: int
) -> int:
    """Give the class where F is highest: another one only if it is so by more than the threshold.

    Ties go to the present class, then to the lowest number.
    """
    totals, sizes, scores = problem.table.totals, problem.sizes[element], scratch.scores
    best = problem.classes[element]
    if not may_leave(totals, sizes, best, terms.discount):
        return best  # type: ignore[no-any-return]
    profile = build_profile(problem.events, scratch.slots, element, best, problem.tied)
    own = value_in_own(problem.table.cells, terms.pair_values, terms.pair_shift, profile)
    renew_total_row(problem.table.single_totals, sizes, terms.total_shift, scratch)
    error = score_candidates(problem, terms, ready, scratch, profile)
    if terms.discount > 0.0:
        add_global_term(problem, terms.discount, scratch, element, own)
        if sizes[0] == 1 or sizes[sizes.size - 1] == 1:
            for c in range(problem.candidates):
                if not may_join(totals, sizes, c, terms.discount):
                    scores[c] = IMPOSSIBLE
    scores[best] = IMPOSSIBLE
    # Each addition in float32 errs by 2^-24 of a sum that is at most size (log N + 2).
    bound = 32.0 * (sizes[0] + sizes[sizes.size - 1] + 1) + abs(own.terms)
    # The highest score is known to 2^-30 of the bound.
    error += (6e-8 * (profile.length + 16) + 2e-9) * bound
    mine = own.terms + total_terms(totals, sizes, terms, best, True)
    top = highest_score(scores, problem.candidates, bound)
    cut = mine + rule.threshold - error
    cut = top - 2 * error if top - 2 * error > cut else cut
    if rule.temperature > 0.0:
        offset = noise_offset(rule.seed, element)
        scale = rule.temperature * np.sqrt(float(max(sizes[0], sizes[sizes.size - 1])))
        noisy = mine + scale * rule.noise[offset + best]
        found = noisiest_class(scores[: problem.candidates], rule, offset, scale, noisy)
        best = found if found >= 0 else best
    elif top >= cut:
        highest = rule.threshold
        tie = ROUNDING * (1.0 + abs(own.terms))
        classes = Classes(problem.table.cells, totals, problem.numbers, problem.side)
        for c in range(problem.candidates):
            if scores[c] >= cut:
                gain = gain_of(classes, terms, profile, sizes, own, c)
                if gain > highest + tie:
                    best, highest = c, gain
    clear_weights(profile)
    problem.slacks[element] = mine - top if mine > top else 0.0
    return best  # type: ignore[no-any-return]


@lean_kernel
def propose_classes(
    problem: Problem,
    criterion: tuple[Terms, Ready],
    scratch: Scratch,
    elements: IntArray,
    proposals: LongArray,
    rule: Rule,
) -> None:
    """Write the best class of each element beside it; the table stands still."""
    terms, ready = criterion
    for side in range(scratch.total_sizes.size):
        scratch.total_sizes[side] = -1
    for i in range(elements.size):
        proposals[i] = best_class(problem, terms, ready, scratch, rule, elements[i])
