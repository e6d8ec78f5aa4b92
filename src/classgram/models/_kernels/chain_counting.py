"""Events grouped by what came before them: the nodes and entries of chains of contexts."""

from typing import NamedTuple

from classgram.runtime.compiled import kernel
from classgram.runtime.compiled.arrays import Int32Array, Int64Array


class Groups(NamedTuple):
    """Room for groups of events: at most as many as there are events."""

    labels: Int32Array
    firsts: Int32Array
    """The first event of each group."""
    counts: Int32Array
    """The events of each group."""


@kernel
def sort_events(events: Int32Array, keys: Int32Array, slots: Int64Array, out: Int32Array) -> None:
    """Write events in the order of their keys, those of one key in the order given.

    ``slots`` holds a zero for each key, and one more.
    """
    for index in range(events.size):
        slots[keys[index] + 1] += 1
    for key in range(1, slots.size):
        slots[key] += slots[key - 1]
    for index in range(events.size):
        event = events[index]
        key = keys[event]
        out[slots[key]] = event
        slots[key] += 1


@kernel
def number_groups(
    events: Int32Array, keys: Int32Array, labels: Int32Array, group_of: Int32Array, groups: Groups
) -> int:
    """Number the groups of equal key and label among sorted events; return how many there are."""
    number = -1
    key, label = -1, -1
    for index in range(events.size):
        event = events[index]
        if keys[event] != key or labels[event] != label:
            key, label = keys[event], labels[event]
            number += 1
            groups.labels[number] = label
            groups.firsts[number] = event
            groups.counts[number] = 0
        group_of[event] = number
        groups.counts[number] += 1
    return number + 1
