"""ARPA files scanned line by line: defects are noted, and the scan goes on."""

import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from classgram.arpa.defects import Defect
from classgram.errors import InputError
from classgram.files.compressed import display_name, open_decompressed

_COUNT = re.compile(rb"ngram ([1-9]\d*)=(0|[1-9]\d*)")
_LOOSE_COUNT = re.compile(rb"\s*ngram\s*(\d+)\s*=\s*(\d+)\s*", re.IGNORECASE)
_SECTION = re.compile(rb"\\([1-9]\d*)-grams:")
_LOOSE_SECTION = re.compile(rb"\s*\\\s*(\d+)\s*-\s*grams?\s*:?\s*", re.IGNORECASE)
_NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_COMMA_NUMBER = re.compile(rb"[-+]?\d+,\d+([eE][-+]?\d+)?")
_UNIGRAM = re.compile(rb"-?\d+(\.\d*)?([eE][-+]?\d+)?[ \t]+\S+([ \t]+\S+)?")
_UNUSUAL = re.compile(rb"[\x00\x0b\x0c\r]")
_LOWEST = -99.0
_HIGHEST = 3.4028234663852886e38
"""The largest 32-bit float, which readers use: larger numbers are infinite to them."""
_HIGHEST_ORDER = 20
"""Higher orders are taken for misprints."""
_COMPRESSED_MAGIC = {
    b"\x1f\x8b\x08": ".gz",
    b"BZh91AY&SY": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
}
"""The first bytes of compressed files."""
_NO_BACKOFF = float("nan")


class Finding(NamedTuple):
    """A defect at a line; line 0 is the file as a whole."""

    line: int
    kind: Defect
    detail: str = ""


@dataclass
class ScannedSection:
    """The entries of one order that could be read, in the order of the file."""

    order: int
    line: int
    ids: "array[int]" = field(default_factory=lambda: array("i"))
    logs: "array[float]" = field(default_factory=lambda: array("d"))
    backoffs: "array[float]" = field(default_factory=lambda: array("d"))
    lines: "array[int]" = field(default_factory=lambda: array("i"))
    listed: int = 0
    """The number of lines in the section, readable or not."""


@dataclass
class Scan:
    """All that could be read of a file, and what was found wrong on the way."""

    path: Path
    findings: list[Finding] = field(default_factory=list)
    counts: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The count listed for each order, and the line that lists it."""
    sections: dict[int, ScannedSection] = field(default_factory=dict)
    words: dict[bytes, int] = field(default_factory=dict)
    """Every word of any entry, numbered by first occurrence."""
    order: int = 0
    """The highest order listed, or found."""

    def note(self, line: int, kind: Defect, detail: str = "") -> None:
        """Note a defect."""
        self.findings.append(Finding(line, kind, detail))


class _Scanner:
    """The state of a scan: ``part`` is the part of the file that the current line is in."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self.number = 0
        self.part = "before"
        self.blanks = 0
        """The number of empty lines just before the current one."""
        self.section: ScannedSection | None = None
        self.usual: Callable[[bytes], re.Match[bytes] | None] | None = None
        """Matches the well-formed lines of the current section."""

    def feed(self, lines: Iterator[bytes]) -> None:
        """Scan all lines."""
        for raw in lines:
            self.number += 1
            if self.usual is not None and not self.blanks and self.usual_entry(raw):
                continue
            line = self.clean(raw)
            if self.part == "section" and line.strip() and not line.startswith(b"\\"):
                self.entry(line)
            elif not line.strip():
                self.blank(line)
                continue
            elif self.part == "after":
                self.scan.note(self.number, Defect.TEXT_AFTER_END, _shown(line))
            elif self.part == "before":
                self.before(line)
            elif self.part == "counts" and not line.lstrip().startswith(b"\\"):
                self.count(line)
            else:
                self.command(line)
            self.blanks = 0

    def usual_entry(self, raw: bytes) -> bool:
        """Store a well-formed line, as nearly all are; return False if the line needs further checks."""
        assert self.usual is not None
        assert self.section is not None
        found = self.usual(raw)
        if found is None or not (raw.isascii() or _is_utf8(raw)):
            return False
        number, text, backoff = found.groups()
        value = float(number)
        weight = _NO_BACKOFF if backoff is None else float(backoff)
        if value < _LOWEST or weight < _LOWEST or weight > _HIGHEST:
            return False
        section, ids = self.section, self.scan.words
        section.listed += 1
        section.ids.extend([ids.setdefault(word, len(ids)) for word in text.split(b" ")])
        section.logs.append(value)
        section.backoffs.append(weight)
        section.lines.append(self.number)
        return True

    def clean(self, raw: bytes) -> bytes:
        """Return a line without its end, after noting what is wrong with its bytes."""
        line = raw[:-1] if raw.endswith(b"\n") else raw
        if line is raw:
            self.scan.note(self.number, Defect.NO_LAST_LINE_END)
        if self.number == 1 and line.startswith(b"\xef\xbb\xbf"):
            self.scan.note(1, Defect.BYTE_ORDER_MARK)
            line = line[3:]
        if line.endswith(b"\r"):
            self.scan.note(self.number, Defect.CARRIAGE_RETURN)
            line = line.rstrip(b"\r")
        if not _is_utf8(line):
            self.scan.note(self.number, Defect.INVALID_UTF8)
            line = line.decode("utf-8", "replace").encode()
        if _UNUSUAL.search(line) is None:
            return line
        self.scan.note(self.number, Defect.CONTROL_CHARACTER, _shown(line))
        return _UNUSUAL.sub(b"", line)

    def blank(self, line: bytes) -> None:
        """Scan an empty line: one is due before each section and before the end, none elsewhere."""
        self.blanks += 1
        if line:
            self.scan.note(self.number, Defect.LOOSE_SPACES, "in an empty line")
        if self.part == "before":
            kind = Defect.BLANK_BEFORE_DATA if self.number == 1 else Defect.TEXT_BEFORE_DATA
            self.scan.note(self.number, kind)
        elif self.part == "after":
            self.scan.note(self.number, Defect.BLANK_AFTER_END)
        elif self.blanks > 1:
            self.scan.note(self.number, Defect.EXTRA_BLANK)

    def before(self, line: bytes) -> None:
        """Scan a line before the header."""
        if line.strip().lower() == b"\\data\\":
            if line != b"\\data\\":
                self.scan.note(self.number, Defect.NO_DATA, f"{_shown(line)} is not quite it")
            self.part = "counts"
        elif _LOOSE_COUNT.fullmatch(line) or _LOOSE_SECTION.fullmatch(line):
            self.scan.note(self.number, Defect.NO_DATA)
            self.part = "counts"
            self.count(line) if _LOOSE_COUNT.fullmatch(line) else self.command(line)
        else:
            self.scan.note(self.number, Defect.TEXT_BEFORE_DATA, _shown(line))

    def count(self, line: bytes) -> None:
        """Scan a line of the header."""
        found = _LOOSE_COUNT.fullmatch(line)
        if found is None and _UNIGRAM.fullmatch(line):
            self.unheaded(line)
            return
        if self.blanks:
            self.scan.note(self.number - 1, Defect.EXTRA_BLANK)
        if _COUNT.fullmatch(line) is None:
            self.scan.note(self.number, Defect.MALFORMED_COUNT, _shown(line))
        if found is None:
            return
        order, size = int(found[1]), int(found[2])
        if not 1 <= order <= _HIGHEST_ORDER:
            self.scan.note(self.number, Defect.COUNTS_OUT_OF_ORDER, _shown(line))
            return
        if order in self.scan.counts or order != max(self.scan.counts, default=0) + 1:
            self.scan.note(self.number, Defect.COUNTS_OUT_OF_ORDER, _shown(line))
        self.scan.counts.setdefault(order, (size, self.number))
        if size == 0:
            self.scan.note(self.number, Defect.EMPTY_ORDER, f"order {order}")

    def unheaded(self, line: bytes) -> None:
        """The first unigram, where their section was never opened."""
        self.scan.note(self.number, Defect.MALFORMED_SECTION, "\\1-grams: is missing before this line")
        self.open(1)
        self.blanks = 0
        self.entry(line)

    def command(self, line: bytes) -> None:
        """Scan a line that begins with a backslash: a section, or the end."""
        loose = _LOOSE_SECTION.fullmatch(line)
        if not self.blanks:
            self.scan.note(self.number, Defect.MISSING_BLANK, _shown(line))
        self.usual = None
        if line.strip().lower() == b"\\end\\":
            if line != b"\\end\\":
                self.scan.note(self.number, Defect.MALFORMED_SECTION, _shown(line))
            self.part = "after"
        elif loose and 1 <= int(loose[1]) <= _HIGHEST_ORDER:
            if _SECTION.fullmatch(line) is None:
                self.scan.note(self.number, Defect.MALFORMED_SECTION, _shown(line))
            self.open(int(loose[1]))
        elif self.part == "section" and len(line.split()) > 1:
            # An entry that begins with a backslash, where a number should stand.
            self.entry(line)
        else:
            self.scan.note(self.number, Defect.MALFORMED_SECTION, _shown(line))

    def open(self, order: int) -> None:
        """Begin a section."""
        scan = self.scan
        if order in scan.sections:
            scan.note(self.number, Defect.DUPLICATE_SECTION, f"order {order}")
        elif order != max(scan.sections, default=0) + 1:
            scan.note(self.number, Defect.SECTION_OUT_OF_ORDER, f"order {order}")
        if scan.counts and order not in scan.counts:
            scan.note(self.number, Defect.UNLISTED_SECTION, f"order {order}")
        self.section = scan.sections.setdefault(order, ScannedSection(order, self.number))
        scan.order = max(scan.order, order, *scan.counts)
        self.part = "section"
        self.usual = _usual_line(order)

    def entry(self, line: bytes) -> None:
        """Scan a line of a section."""
        section = self.section
        assert section is not None
        if self.blanks:
            self.scan.note(self.number - 1, Defect.EXTRA_BLANK, "within a section")
        section.listed += 1
        fields = line.split(b"\t")
        if len(fields) in (2, 3):
            words = fields[1].split()
            if len(words) == section.order and b" ".join(words) == fields[1]:
                self.store(fields[0], words, fields[2] if len(fields) == 3 else None)
                return
        self.loose_entry(line, section.order)

    def loose_entry(self, line: bytes, order: int) -> None:
        """Scan a line of a section that is not well-formed, and store what can be read."""
        parts = line.split()
        tabs = [field.split() for field in line.strip(b" ").split(b"\t")]
        note = self.scan.note
        own_field = len(tabs) == 3 and len(tabs[2]) == 1
        weighted = (len(parts) == order + 2 or own_field) and _is_number(parts[-1])
        fits = len(parts) == order + 1 + weighted
        if len(tabs) > 3:
            note(self.number, Defect.TOO_MANY_FIELDS, _shown(line))
        elif len(tabs) < 2 or (fits and len(tabs) == 2 and len(tabs[1]) == order + 1):
            note(self.number, Defect.NOT_TABS, _shown(line))
        if not fits:
            note(self.number, Defect.WORD_NUMBER, _shown(line))
            return
        if len(tabs) in (2, 3) and len(tabs[1]) == order and line.count(b"\t") == len(tabs) - 1:
            note(self.number, Defect.LOOSE_SPACES, _shown(line))
        elif len(tabs) in (2, 3) and len(tabs[1]) != order and len(tabs[1]) != order + 1:
            note(self.number, Defect.NOT_TABS, _shown(line))
        elif b"  " in line:
            note(self.number, Defect.LOOSE_SPACES, _shown(line))
        self.store(parts[0], parts[1 : order + 1], parts[-1] if weighted else None)

    def store(self, number: bytes, words: list[bytes], backoff: bytes | None) -> None:
        """Store an entry if its numbers can be read."""
        section = self.section
        assert section is not None
        value = self.value(number, 0.0)
        weight = _NO_BACKOFF if backoff is None else self.value(backoff, _HIGHEST)
        if value is None:
            return
        ids = self.scan.words
        section.ids.extend([ids.setdefault(word, len(ids)) for word in words])
        section.logs.append(value)
        section.backoffs.append(0.0 if weight is None else weight)
        section.lines.append(self.number)

    def value(self, text: bytes, most: float) -> float | None:
        """Return a number of an entry, brought into range; None if it is no number."""
        try:
            value = float(text)
        except ValueError:
            comma = _COMMA_NUMBER.fullmatch(text.strip())
            self.scan.note(self.number, Defect.DECIMAL_COMMA if comma else Defect.NO_NUMBER, _shown(text))
            return float(text.replace(b",", b".")) if comma else None
        if _LOWEST <= value <= most and _NUMBER.fullmatch(text):
            return value
        return self.odd_value(text, value, most)

    def odd_value(self, text: bytes, value: float, most: float) -> float | None:
        """Note what is wrong with a number, and return it brought into range."""
        if not -_HIGHEST <= value <= _HIGHEST:
            self.scan.note(self.number, Defect.NOT_FINITE, _shown(text))
            return _LOWEST if value < 0 else None
        if _NUMBER.fullmatch(text) is None:
            self.scan.note(self.number, Defect.NO_NUMBER, _shown(text))
            return min(max(value, _LOWEST), most)
        self.scan.note(self.number, Defect.UNDERFLOW if value < _LOWEST else Defect.POSITIVE, _shown(text))
        return _LOWEST if value < _LOWEST else most


def _usual_line(order: int) -> Callable[[bytes], re.Match[bytes] | None]:
    """Return a matcher of the well-formed lines of an order: no positive logarithm, TABs, single spaces."""
    number = rb"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
    word = rb"[^\s\x00]+"
    words = word + rb"(?: " + word + rb"){%d}" % (order - 1)
    negative = rb"(-\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|0)"
    return re.compile(negative + rb"\t(" + words + rb")(?:\t(" + number + rb"))?\n").fullmatch


def _is_number(text: bytes) -> bool:
    """Whether a word can be a back-off: any spelling of a number, however odd."""
    try:
        float(text)
    except ValueError:
        return _COMMA_NUMBER.fullmatch(text) is not None
    return True


def _is_utf8(line: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _shown(text: bytes) -> str:
    """Return bytes as messages show them, at most 60."""
    clear = repr(text[:60].decode("utf-8", "replace"))
    return clear if len(text) <= 60 else f"{clear}..."


def scan_arpa(path: str | Path) -> Scan:
    """Read what can be read of a file, plain or compressed."""
    scan = Scan(Path(path))
    scanner = _Scanner(scan)
    try:
        with open_decompressed(scan.path) as file:
            first = file.readline()
            _check_name(scan.path, first)
            scanner.feed(chain([first] if first else [], file))
    except InputError as error:
        if "cut short" not in str(error):
            raise
        scan.note(scanner.number + 1, Defect.CUT_SHORT, str(error).rpartition("(")[2].partition(")")[0])
    _finish(scanner)
    return scan


def _check_name(path: Path, first: bytes) -> None:
    """Refuse a compressed file, known by its first bytes, whose name does not say so."""
    for magic, ending in _COMPRESSED_MAGIC.items():
        if first.startswith(magic):
            raise InputError(
                f"{display_name(path)}: is compressed ({ending}), and its name does not say so; "
                f"decompress it, or add {ending} to its name"
            )


def _finish(scanner: _Scanner) -> None:
    """Note what is missing at the end, and counts that do not fit."""
    scan, last = scanner.scan, scanner.number
    if last == 0:
        if not scan.findings:
            scan.note(1, Defect.EMPTY_FILE)
        return
    if scanner.part == "before":
        scan.note(1, Defect.NO_DATA)
    elif not scan.counts:
        scan.note(last, Defect.NO_COUNTS)
    if scanner.part != "after":
        scan.note(last, Defect.NO_END)
    scan.order = max([scan.order, *scan.counts, *scan.sections])
    for order, (size, line) in scan.counts.items():
        if order not in scan.sections:
            scan.note(line, Defect.MISSING_SECTION, f"order {order}")
        elif scan.sections[order].listed != size:
            found = f"{size:,} listed, {scan.sections[order].listed:,} there"
            scan.note(line, Defect.WRONG_COUNT, f"order {order}: {found}")
