"""Class lists compared."""

from classgram.classes.class_list import ClassList


def groups(listed: ClassList) -> set[frozenset[str]]:
    """The classes as sets of words, whatever they are called."""
    found: dict[str, set[str]] = {}
    for member in listed.members:
        found.setdefault(member.name, set()).add(member.word)
    return {frozenset(group) for group in found.values()}
