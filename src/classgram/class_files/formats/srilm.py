"""``CLASS-00020 probability word``: the class definitions of SRILM, one word each."""

import math

from classgram.class_files.file_format import FileFormat, Lines, log_share, real_number, sorted_rows
from classgram.classes.class_list import ClassList, Member
from classgram.errors import InputError


def _parse(data: bytes) -> Member | None:
    """Parse ``class probability word``, or ``class word`` without a probability."""
    fields = data.split()
    if len(fields) == 2:
        return Member(fields[1].decode(), fields[0].decode())
    probability = real_number(fields[1]) if len(fields) == 3 else None
    if probability is None or not 0 <= probability <= 1:
        return None
    logarithm = math.log(probability) if probability else -math.inf
    return Member(fields[2].decode(), fields[0].decode(), None, logarithm)


def _is_plausible(lines: Lines, named: bool) -> bool:
    """Whether no line has a TAB; two fields are a class and a word only where the name says so."""
    return all(b"\t" not in line.data and (named or len(line.data.split()) > 2) for line in lines)


def srilm_names(listed: ClassList) -> dict[str, str]:
    """Return SRILM's names of the classes, CLASS-00020 and the like; names of this kind are kept."""
    if all(name.startswith("CLASS-") for name in listed.names):
        return {name: name for name in listed.names}
    return {name: f"CLASS-{number:05d}" for name, number in listed.numbers().items()}


def _write(listed: ClassList) -> str:
    """Return lines by class, always with the probability, since a word may look like one."""
    names = srilm_names(listed)
    taken = set(names.values()) & {member.word for member in listed.members}
    if taken:
        raise InputError(f"{listed.source}: the word {min(taken)} is also the name of a class; rename it")
    rows = sorted_rows(listed, listed.numbers())
    return "".join(
        f"{names[member.name]} {math.exp(log_share(member)):.9g} {member.word}\n" for _, member in rows
    )


FORMAT = FileFormat(
    "srilm",
    (".classes",),
    _write,
    _parse,
    line="a class, a probability and one word, separated by spaces",
    plausible=_is_plausible,
    needs="probabilities",
    cluster_output=True,
)
