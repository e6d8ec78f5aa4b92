"""``word TAB class ln-probability``, as the tools of Aalto University write it."""

from classgram.class_files.file_format import FileFormat, log_share, real_number, sorted_rows
from classgram.classes.class_list import ClassList, Member


def _parse(data: bytes) -> Member | None:
    word, tab, rest = data.partition(b"\t")
    fields = rest.split()
    logarithm = real_number(fields[1]) if len(fields) == 2 else None
    if not tab or not word or b"\t" in rest or logarithm is None or logarithm > 1e-6:
        return None
    return Member(word.decode(), fields[0].decode(), None, min(logarithm, 0.0))


def _write(listed: ClassList) -> str:
    """Return lines by class, then falling count, then word."""
    rows = sorted_rows(listed, listed.numbers())
    return "".join(f"{member.word}\t{number} {log_share(member):.9g}\n" for number, member in rows)


FORMAT = FileFormat(
    "aalto",
    (".aalto",),
    _write,
    _parse,
    line="a word, a TAB, its class, a space and ln p(word | class)",
    needs="probabilities",
)
