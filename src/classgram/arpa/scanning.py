"""ARPA files line by line, as they are: whatever is wrong is noted, and reading goes on."""

import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from classgram.arpa.defects import Kind
from classgram.errors import InputError
from classgram.files.compressed import display_name, open_decompressed

COUNT = re.compile(rb"ngram ([1-9]\d*)=(0|[1-9]\d*)")
LOOSE_COUNT = re.compile(rb"\s*ngram\s*(\d+)\s*=\s*(\d+)\s*", re.IGNORECASE)
SECTION = re.compile(rb"\\([1-9]\d*)-grams:")
LOOSE_SECTION = re.compile(rb"\s*\\\s*(\d+)\s*-\s*grams?\s*:?\s*", re.IGNORECASE)
NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
COMMA_NUMBER = re.compile(rb"[-+]?\d+,\d+([eE][-+]?\d+)?")
UNIGRAM = re.compile(rb"-?\d+(\.\d*)?([eE][-+]?\d+)?[ \t]+\S+([ \t]+\S+)?")
UNUSUAL = re.compile(rb"[\x00\x0b\x0c\r]")
LOWEST = -99.0
HIGHEST = 3.4028234663852886e38
"""Readers hold numbers in 32 bits: what is larger is infinite to them, of either sign."""
MOST_ORDERS = 20
"""Higher orders than this are misprints."""
PACKED_MAGIC = {
    b"\x1f\x8b\x08": ".gz",
    b"BZh91AY&SY": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
}
"""What packed files begin with."""
NO_BACKOFF = float("nan")


class Finding(NamedTuple):
    """A defect at a line; line 0 is the file as a whole."""

    line: int
    kind: Kind
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
    """How many lines stand in the section, readable or not."""


@dataclass
class Scan:
    """All that could be read of a file, and what was found wrong on the way."""

    path: Path
    findings: list[Finding] = field(default_factory=list)
    counts: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The number listed for each order, and the line that lists it."""
    sections: dict[int, ScannedSection] = field(default_factory=dict)
    words: dict[bytes, int] = field(default_factory=dict)
    """Every word in any entry, numbered as they come."""
    order: int = 0
    """The highest order listed, or found."""

    def note(self, line: int, kind: Kind, detail: str = "") -> None:
        """Note a defect."""
        self.findings.append(Finding(line, kind, detail))


class Scanner:
    """Goes through the lines of a file; ``place`` is the part of the file that it is in."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self.number = 0
        self.place = "before"
        self.blanks = 0
        """Empty lines just before the present one."""
        self.section: ScannedSection | None = None
        self.usual: Callable[[bytes], re.Match[bytes] | None] | None = None
        """Matches the lines of the present section that are as they should be."""

    def feed(self, lines: Iterator[bytes]) -> None:
        """Go through all lines."""
        for raw in lines:
            self.number += 1
            if self.usual is not None and not self.blanks and self.usual_entry(raw):
                continue
            line = self.clean(raw)
            if self.place == "section" and line.strip() and not line.startswith(b"\\"):
                self.entry(line)
            elif not line.strip():
                self.blank(line)
                continue
            elif self.place == "after":
                self.scan.note(self.number, Kind.TEXT_AFTER_END, shown(line))
            elif self.place == "before":
                self.before(line)
            elif self.place == "counts" and not line.lstrip().startswith(b"\\"):
                self.count(line)
            else:
                self.command(line)
            self.blanks = 0

    def usual_entry(self, raw: bytes) -> bool:
        """Take a line as nearly all are, with one match; false if it needs a closer look."""
        assert self.usual is not None
        assert self.section is not None
        found = self.usual(raw)
        if found is None or not (raw.isascii() or is_utf8(raw)):
            return False
        number, text, backoff = found.groups()
        value = float(number)
        weight = NO_BACKOFF if backoff is None else float(backoff)
        if value < LOWEST or weight < LOWEST or weight > HIGHEST:
            return False
        section, ids = self.section, self.scan.words
        section.listed += 1
        section.ids.extend([ids.setdefault(word, len(ids)) for word in text.split(b" ")])
        section.logs.append(value)
        section.backoffs.append(weight)
        section.lines.append(self.number)
        return True

    def clean(self, raw: bytes) -> bytes:
        """A line without its end; what is wrong with its bytes is noted."""
        line = raw[:-1] if raw.endswith(b"\n") else raw
        if line is raw:
            self.scan.note(self.number, Kind.NO_LAST_LINE_END)
        if self.number == 1 and line.startswith(b"\xef\xbb\xbf"):
            self.scan.note(1, Kind.BYTE_ORDER_MARK)
            line = line[3:]
        if line.endswith(b"\r"):
            self.scan.note(self.number, Kind.CARRIAGE_RETURN)
            line = line.rstrip(b"\r")
        if not is_utf8(line):
            self.scan.note(self.number, Kind.INVALID_UTF8)
            line = line.decode("utf-8", "replace").encode()
        if UNUSUAL.search(line) is None:
            return line
        self.scan.note(self.number, Kind.CONTROL_CHARACTER, shown(line))
        return UNUSUAL.sub(b"", line)

    def blank(self, line: bytes) -> None:
        """An empty line: one before each section and before the end, none elsewhere."""
        self.blanks += 1
        if line:
            self.scan.note(self.number, Kind.LOOSE_SPACES, "in an empty line")
        if self.place == "before":
            kind = Kind.BLANK_BEFORE_DATA if self.number == 1 else Kind.TEXT_BEFORE_DATA
            self.scan.note(self.number, kind)
        elif self.place == "after":
            self.scan.note(self.number, Kind.BLANK_AFTER_END)
        elif self.blanks > 1:
            self.scan.note(self.number, Kind.EXTRA_BLANK)

    def before(self, line: bytes) -> None:
        """A line before the head."""
        if line.strip().lower() == b"\\data\\":
            if line != b"\\data\\":
                self.scan.note(self.number, Kind.NO_DATA, f"{shown(line)} is not quite it")
            self.place = "counts"
        elif LOOSE_COUNT.fullmatch(line) or LOOSE_SECTION.fullmatch(line):
            self.scan.note(self.number, Kind.NO_DATA)
            self.place = "counts"
            self.count(line) if LOOSE_COUNT.fullmatch(line) else self.command(line)
        else:
            self.scan.note(self.number, Kind.TEXT_BEFORE_DATA, shown(line))

    def count(self, line: bytes) -> None:
        """A line of the head."""
        found = LOOSE_COUNT.fullmatch(line)
        if found is None and UNIGRAM.fullmatch(line):
            self.unheaded(line)
            return
        if self.blanks:
            self.scan.note(self.number - 1, Kind.EXTRA_BLANK)
        if COUNT.fullmatch(line) is None:
            self.scan.note(self.number, Kind.MALFORMED_COUNT, shown(line))
        if found is None:
            return
        order, size = int(found[1]), int(found[2])
        if not 1 <= order <= MOST_ORDERS:
            self.scan.note(self.number, Kind.COUNTS_OUT_OF_ORDER, shown(line))
            return
        if order in self.scan.counts or order != max(self.scan.counts, default=0) + 1:
            self.scan.note(self.number, Kind.COUNTS_OUT_OF_ORDER, shown(line))
        self.scan.counts.setdefault(order, (size, self.number))
        if size == 0:
            self.scan.note(self.number, Kind.EMPTY_ORDER, f"order {order}")

    def unheaded(self, line: bytes) -> None:
        """The first unigram, where their section was never opened."""
        self.scan.note(self.number, Kind.MALFORMED_SECTION, "\\1-grams: is missing before this line")
        self.open(1)
        self.blanks = 0
        self.entry(line)

    def command(self, line: bytes) -> None:
        """A line that begins with a backslash: a section, or the end."""
        loose = LOOSE_SECTION.fullmatch(line)
        if not self.blanks:
            self.scan.note(self.number, Kind.MISSING_BLANK, shown(line))
        self.usual = None
        if line.strip().lower() == b"\\end\\":
            if line != b"\\end\\":
                self.scan.note(self.number, Kind.MALFORMED_SECTION, shown(line))
            self.place = "after"
        elif loose and 1 <= int(loose[1]) <= MOST_ORDERS:
            if SECTION.fullmatch(line) is None:
                self.scan.note(self.number, Kind.MALFORMED_SECTION, shown(line))
            self.open(int(loose[1]))
        elif self.place == "section" and len(line.split()) > 1:
            # An entry that begins with a backslash, where a number should stand.
            self.entry(line)
        else:
            self.scan.note(self.number, Kind.MALFORMED_SECTION, shown(line))

    def open(self, order: int) -> None:
        """A section begins."""
        scan = self.scan
        if order in scan.sections:
            scan.note(self.number, Kind.DUPLICATE_SECTION, f"order {order}")
        elif order != max(scan.sections, default=0) + 1:
            scan.note(self.number, Kind.SECTION_OUT_OF_ORDER, f"order {order}")
        if scan.counts and order not in scan.counts:
            scan.note(self.number, Kind.UNLISTED_SECTION, f"order {order}")
        self.section = scan.sections.setdefault(order, ScannedSection(order, self.number))
        scan.order = max(scan.order, order, *scan.counts)
        self.place = "section"
        self.usual = usual_line(order)

    def entry(self, line: bytes) -> None:
        """A line of a section; most need just these few looks."""
        section = self.section
        assert section is not None
        if self.blanks:
            self.scan.note(self.number - 1, Kind.EXTRA_BLANK, "within a section")
        section.listed += 1
        fields = line.split(b"\t")
        if len(fields) in (2, 3):
            words = fields[1].split()
            if len(words) == section.order and b" ".join(words) == fields[1]:
                self.store(fields[0], words, fields[2] if len(fields) == 3 else None)
                return
        self.loose_entry(line, section.order)

    def loose_entry(self, line: bytes, order: int) -> None:
        """A line that is not laid out as it should be: what can be read is read."""
        parts = line.split()
        tabs = [field.split() for field in line.strip(b" ").split(b"\t")]
        note = self.scan.note
        own_field = len(tabs) == 3 and len(tabs[2]) == 1
        weighted = (len(parts) == order + 2 or own_field) and is_number(parts[-1])
        fits = len(parts) == order + 1 + weighted
        if len(tabs) > 3:
            note(self.number, Kind.TOO_MANY_FIELDS, shown(line))
        elif len(tabs) < 2 or (fits and len(tabs) == 2 and len(tabs[1]) == order + 1):
            note(self.number, Kind.NOT_TABS, shown(line))
        if not fits:
            note(self.number, Kind.WORD_NUMBER, shown(line))
            return
        if len(tabs) in (2, 3) and len(tabs[1]) == order and line.count(b"\t") == len(tabs) - 1:
            note(self.number, Kind.LOOSE_SPACES, shown(line))
        elif len(tabs) in (2, 3) and len(tabs[1]) != order and len(tabs[1]) != order + 1:
            note(self.number, Kind.NOT_TABS, shown(line))
        elif b"  " in line:
            note(self.number, Kind.LOOSE_SPACES, shown(line))
        self.store(parts[0], parts[1 : order + 1], parts[-1] if weighted else None)

    def store(self, number: bytes, words: list[bytes], backoff: bytes | None) -> None:
        """Keep an entry whose numbers can be read."""
        section = self.section
        assert section is not None
        value = self.value(number, 0.0)
        weight = NO_BACKOFF if backoff is None else self.value(backoff, HIGHEST)
        if value is None:
            return
        ids = self.scan.words
        section.ids.extend([ids.setdefault(word, len(ids)) for word in words])
        section.logs.append(value)
        section.backoffs.append(0.0 if weight is None else weight)
        section.lines.append(self.number)

    def value(self, text: bytes, most: float) -> float | None:
        """A number of an entry, or what stands for it; None if there is none."""
        try:
            value = float(text)
        except ValueError:
            comma = COMMA_NUMBER.fullmatch(text.strip())
            self.scan.note(self.number, Kind.DECIMAL_COMMA if comma else Kind.NO_NUMBER, shown(text))
            return float(text.replace(b",", b".")) if comma else None
        if LOWEST <= value <= most and NUMBER.fullmatch(text):
            return value
        return self.odd_value(text, value, most)

    def odd_value(self, text: bytes, value: float, most: float) -> float | None:
        """A number that is not what it should be: noted, and brought into range."""
        if not -HIGHEST <= value <= HIGHEST:
            self.scan.note(self.number, Kind.NOT_FINITE, shown(text))
            return LOWEST if value < 0 else None
        if NUMBER.fullmatch(text) is None:
            self.scan.note(self.number, Kind.NO_NUMBER, shown(text))
            return min(max(value, LOWEST), most)
        self.scan.note(self.number, Kind.UNDERFLOW if value < LOWEST else Kind.POSITIVE, shown(text))
        return LOWEST if value < LOWEST else most


def usual_line(order: int) -> Callable[[bytes], re.Match[bytes] | None]:
    """What matches a well-formed line of an order: no positive logarithm, TABs, single spaces."""
    number = rb"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
    word = rb"[^\s\x00]+"
    words = word + rb"(?: " + word + rb"){%d}" % (order - 1)
    negative = rb"(-\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|0)"
    return re.compile(negative + rb"\t(" + words + rb")(?:\t(" + number + rb"))?\n").fullmatch


def is_number(text: bytes) -> bool:
    """Whether a word can be a back-off: any spelling of a number, however odd."""
    try:
        float(text)
    except ValueError:
        return COMMA_NUMBER.fullmatch(text) is not None
    return True


def is_utf8(line: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def shown(text: bytes) -> str:
    """Bytes as they are shown to people, not too many of them."""
    clear = repr(text[:60].decode("utf-8", "replace"))
    return clear if len(text) <= 60 else f"{clear}..."


def scan_arpa(path: str | Path) -> Scan:
    """Read what can be read of a file, plain or packed."""
    scan = Scan(Path(path))
    scanner = Scanner(scan)
    try:
        with open_decompressed(scan.path) as file:
            first = file.readline()
            check_unpacked(scan.path, first)
            scanner.feed(chain([first] if first else [], file))
    except InputError as error:
        if "cut short" not in str(error):
            raise
        scan.note(scanner.number + 1, Kind.CUT_SHORT, str(error).rpartition("(")[2].partition(")")[0])
    finish(scanner)
    return scan


def check_unpacked(path: Path, first: bytes) -> None:
    """Refuse a packed file whose name does not say so, by its first bytes."""
    for magic, ending in PACKED_MAGIC.items():
        if first.startswith(magic):
            raise InputError(
                f"{display_name(path)}: is a packed file ({ending}), and its name does not say so; "
                f"unpack it, or add {ending} to its name"
            )


def finish(scanner: Scanner) -> None:
    """Note what is missing at the end, and numbers that do not fit."""
    scan, last = scanner.scan, scanner.number
    if last == 0:
        if not scan.findings:
            scan.note(1, Kind.EMPTY_FILE)
        return
    if scanner.place == "before":
        scan.note(1, Kind.NO_DATA)
    elif not scan.counts:
        scan.note(last, Kind.NO_COUNTS)
    if scanner.place != "after":
        scan.note(last, Kind.NO_END)
    scan.order = max([scan.order, *scan.counts, *scan.sections])
    for order, (size, line) in scan.counts.items():
        if order not in scan.sections:
            scan.note(line, Kind.MISSING_SECTION, f"order {order}")
        elif scan.sections[order].listed != size:
            found = f"{size:,} listed, {scan.sections[order].listed:,} there"
            scan.note(line, Kind.WRONG_COUNT, f"order {order}: {found}")
