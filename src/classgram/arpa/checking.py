"""Checks of ARPA files: layout, symbols, n-grams that others need, and sums of probabilities."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from classgram.arpa.defects import Defect
from classgram.arpa.scanning import Finding, Scan, ScannedSection, scan_arpa
from classgram.runtime.compiled.arrays import BoolArray, Float64Array, Int64Array, Int64Matrix

_HIGHEST_ORDER = 6
"""The highest order that KenLM reads with its default build options."""

_SUM_ABOVE_ONE = 1e-3
"""By how much the entries of a context may exceed a sum of one: files have few digits."""

SUM_TOLERANCE = 1e-2
"""By how much the sum over all words after a context may differ from one."""

LARGEST_BACKOFF = 30.0
"""Higher back-offs, in log10, are taken for this one: they are wrong, and their powers would overflow."""

_SYMBOLS = (b"<s>", b"</s>", b"<unk>")
_SRILM_KINDS = {
    Defect.NO_UNKNOWN: Defect.CLOSED_VOCABULARY,
    Defect.NO_SUFFIX: Defect.PRUNED_SUFFIX,
}
"""Defects that SRILM writes on purpose, and the warnings that are reported for them in its files."""


@dataclass(frozen=True)
class ArpaReport:
    """All findings of a file by line, and the number of n-grams of each order that could be read."""

    path: Path
    findings: tuple[Finding, ...]
    sizes: tuple[int, ...]

    @property
    def violations(self) -> int:
        """The number of findings that are not just warnings."""
        return sum(not one.kind.value.warning for one in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as ``arpa check --json`` prints it."""
        return {
            "file": str(self.path),
            "sizes": list(self.sizes),
            "violations": self.violations,
            "warnings": len(self.findings) - self.violations,
            "findings": [_finding_dict(one) for one in self.findings],
        }


def _finding_dict(finding: Finding) -> dict[str, Any]:
    """Return a finding with all that is known of its kind of defect."""
    return {
        "line": finding.line,
        "kind": finding.kind.name.lower().replace("_", "-"),
        "level": "warning" if finding.kind.value.warning else "violation",
        "text": finding.kind.value.text,
        "detail": finding.detail,
        "readers": finding.kind.value.readers,
        "mendable": finding.kind.value.repairable,
    }


def check_arpa(path: str | Path) -> ArpaReport:
    """Check a file, plain or compressed; no defect in it ends the check."""
    return report_on(scan_arpa(path))


def report_on(scan: Scan) -> ArpaReport:
    """Return the report on a scanned file."""
    if scan.order:
        _Checker(scan).check()
    elif not scan.findings or scan.findings[-1].kind not in (Defect.EMPTY_FILE, Defect.CUT_SHORT):
        scan.note(1, Defect.NO_UNIGRAMS)
    findings = tuple(sorted(scan.findings, key=lambda one: one.line))
    sizes = tuple(len(scan.sections[order].logs) for order in sorted(scan.sections))
    return ArpaReport(scan.path, findings, sizes)


class _Table:
    """The n-grams of one order: words, values, lines, and the n-gram that each continues."""

    def __init__(self, section: ScannedSection) -> None:
        self.rows = np.frombuffer(section.ids, np.int32).reshape(-1, section.order).astype(np.int64)
        self.logs = np.frombuffer(section.logs, np.float64)
        self.backoffs = np.frombuffer(section.backoffs, np.float64)
        self.lines = np.frombuffer(section.lines, np.int32)
        self.keys: Int64Array = np.empty(0, np.int64)
        self.entries: Int64Array = np.empty(0, np.int64)
        self.parents: Int64Array = np.empty(0, np.int64)
        self.is_context: BoolArray = np.zeros(len(self.logs), bool)
        self.known: BoolArray = np.zeros(len(self.logs), bool)
        """Whether all words are unigrams."""
        self.duplicates: Int64Array = np.empty(0, np.int64)
        """Entries whose n-gram stands before them already."""


class _Checker:
    """The checks that need the whole file."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self.size = max(len(scan.words), 1)
        orders = range(1, scan.order + 1)
        self.tables = [_Table(scan.sections.get(order) or ScannedSection(order, 0)) for order in orders]
        self.names = list(scan.words)
        self.symbols = {symbol: scan.words.get(symbol, -1) for symbol in _SYMBOLS}
        self.unigrams = np.zeros(self.size, bool)
        self.unigrams[self.tables[0].rows[:, 0]] = True
        for order in orders:
            self._link(order)
        self.srilm = self._looks_like_srilm()

    def _looks_like_srilm(self) -> bool:
        """Whether no n-gram that nothing follows has a back-off: SRILM writes none there, others write 0."""
        inner = self.tables[: max(self.scan.order - 1, 1)]
        idle = np.concatenate([table.backoffs[~table.is_context] for table in inner])
        return bool(idle.size and np.isnan(idle).all())

    def note(self, line: int, kind: Defect, detail: str = "") -> None:
        """Note a defect; in SRILM's files, the warning that stands for it."""
        self.scan.note(int(line), _SRILM_KINDS.get(kind, kind) if self.srilm else kind, detail)

    def note_all(self, table: _Table, wrong: BoolArray, kind: Defect) -> None:
        """Note a defect of several entries, each with its words."""
        for entry in np.flatnonzero(wrong):
            self.note(table.lines[entry], kind, self.text(table, int(entry)))

    def text(self, table: _Table, entry: int) -> str:
        """Return the words of an entry for messages."""
        return repr(b" ".join(self.names[word] for word in table.rows[entry]).decode("utf-8", "replace"))

    def check(self) -> None:
        """Run all checks."""
        self._check_head()
        self._check_symbols()
        for order in range(1, self.scan.order + 1):
            self._check_entries(order)
        for order in range(1, self.scan.order + 1):
            self._check_backoffs(order)
        self._check_sums()

    def _check_head(self) -> None:
        if not self.srilm:
            # SRILM begins its files with an empty line; nobody else does.
            self.scan.findings = [
                one._replace(kind=Defect.TEXT_BEFORE_DATA) if one.kind is Defect.BLANK_BEFORE_DATA else one
                for one in self.scan.findings
            ]
        line = self.scan.counts[max(self.scan.counts)][1] if self.scan.counts else 1
        if self.scan.order == 1:
            self.note(line, Defect.ONE_ORDER)
        if self.scan.order > _HIGHEST_ORDER:
            self.note(line, Defect.HIGH_ORDER, f"order {self.scan.order}")

    def _check_symbols(self) -> None:
        table = self.tables[0]
        section = self.scan.sections.get(1)
        line = section.line if section else 1
        if not len(table.logs):
            self.note(line, Defect.NO_UNIGRAMS)
            return
        spelt = {name.lower(): entry for entry, name in self._unusual_symbols()}
        for symbol, entry in spelt.items():
            self.note(table.lines[entry], Defect.SYMBOL_SPELLING, f"for {symbol.decode()}")
        missing = {
            b"<s>": Defect.NO_SENTENCE_START,
            b"</s>": Defect.NO_SENTENCE_END,
            b"<unk>": Defect.NO_UNKNOWN,
        }
        for symbol, kind in missing.items():
            there = self.symbols[symbol] >= 0 and self.unigrams[self.symbols[symbol]]
            if not there and symbol not in spelt:
                self.note(line, kind)
        for entry in np.flatnonzero(table.rows[:, 0] == self.symbols[b"<s>"])[:1]:
            if table.logs[entry] != -99.0:
                kind = Defect.START_ZERO if table.logs[entry] == 0.0 else Defect.START_PROBABILITY
                self.note(table.lines[entry], kind, f"{table.logs[entry]:g}")

    def _unusual_symbols(self) -> list[tuple[int, bytes]]:
        """Return the unigrams that are symbols in another spelling."""
        wanted = {
            number: name
            for number, name in enumerate(self.names)
            if name not in _SYMBOLS and name.lower() in _SYMBOLS
        }
        found = np.flatnonzero(np.isin(self.tables[0].rows[:, 0], list(wanted)))
        return [(int(entry), wanted[int(self.tables[0].rows[entry, 0])]) for entry in found]

    def _link(self, order: int) -> None:
        """Find the n-gram that each entry of an order continues, and the duplicates."""
        table = self.tables[order - 1]
        table.known = np.asarray(self.unigrams[table.rows].all(axis=1))
        table.parents = self.locate(table.rows[:, :-1])
        placed = table.known & (table.parents >= 0)
        if order > 1:
            self.tables[order - 2].is_context[table.parents[placed]] = True
        keys = (table.parents * self.size + table.rows[:, -1])[placed]
        entries = np.flatnonzero(placed)
        by_key = np.argsort(keys, kind="stable")
        keys, entries = keys[by_key], entries[by_key]
        same = np.concatenate([[False], keys[1:] == keys[:-1]])[: keys.size].astype(bool)
        table.duplicates = np.sort(entries[same])
        table.keys, table.entries = keys[~same], entries[~same]

    def _check_entries(self, order: int) -> None:
        """Note words that are no unigrams, missing prefixes and suffixes, and duplicates."""
        table, known = self.tables[order - 1], self.tables[order - 1].known
        if order > 1:
            self.note_all(table, ~known, Defect.NO_SUCH_UNIGRAM)
            self.note_all(table, (table.rows[:, 1:] == self.symbols[b"<s>"]).any(axis=1), Defect.START_INSIDE)
            self.note_all(table, (table.rows[:, :-1] == self.symbols[b"</s>"]).any(axis=1), Defect.END_INSIDE)
        if order > 2:
            self.note_all(table, known & (table.parents < 0), Defect.NO_PREFIX)
            self.note_all(table, known & (self.locate(table.rows[:, 1:]) < 0), Defect.NO_SUFFIX)
        for entry in table.duplicates:
            self.note(table.lines[entry], Defect.DUPLICATE, self.text(table, int(entry)))

    def locate(self, rows: Int64Matrix) -> Int64Array:
        """Return the entry of each row's n-gram in the table of its order, -1 if it is not there."""
        found = np.zeros(len(rows), np.int64)
        for depth in range(rows.shape[1]):
            table = self.tables[depth]
            if not table.keys.size:
                return np.full(len(rows), -1)
            wanted = found * self.size + rows[:, depth]
            at = np.minimum(np.searchsorted(table.keys, wanted), table.keys.size - 1)
            there = (found >= 0) & (table.keys[at] == wanted)
            found = np.where(there, table.entries[at], -1)
        return found

    def _check_backoffs(self, order: int) -> None:
        table = self.tables[order - 1]
        missing = np.isnan(table.backoffs)
        if order == self.scan.order:
            self.note_all(table, ~missing, Defect.TOP_BACKOFF)
            return
        needed = Defect.NO_UNIGRAM_BACKOFF if order == 1 else Defect.NO_BACKOFF
        self.note_all(table, missing & table.is_context, needed)
        idle = missing & ~table.is_context
        if order == 1 and not self.srilm:
            self.note_all(table, idle, Defect.NO_UNIGRAM_BACKOFF)
        elif idle.any():
            first = int(np.flatnonzero(idle)[0])
            self.note(table.lines[first], Defect.OMITTED_BACKOFF, f"{idle.sum():,} of order {order}")

    def _check_sums(self) -> None:
        """Note contexts after which the words do not sum to one."""
        table = self.tables[0]
        predicted = np.exp(table.logs[table.entries] * np.log(10))
        predicted[table.rows[table.entries, 0] == self.symbols[b"<s>"]] = 0.0
        section = self.scan.sections.get(1)
        if predicted.size and predicted.sum() > 1 + _SUM_ABOVE_ONE:
            self.note(section.line if section else 1, Defect.UNIGRAM_SUM, f"{predicted.sum():.4f}")
        elif predicted.size and predicted.sum() < 1 - SUM_TOLERANCE:
            self.note(section.line if section else 1, Defect.LOW_SUM, f"unigrams: {predicted.sum():.4f}")
        for order in range(2, self.scan.order + 1):
            self._check_context_sums(order)

    def _check_context_sums(self, order: int) -> None:
        table, below = self.tables[order - 1], self.tables[order - 2]
        entries = table.entries
        parents, size = table.parents[entries], len(below.logs)
        own = np.bincount(parents, np.power(10.0, table.logs[entries]), size)
        lower = np.bincount(parents, np.power(10.0, self.backed(table.rows[entries, 1:])), size)
        weights = np.power(10.0, np.minimum(np.nan_to_num(below.backoffs), LARGEST_BACKOFF))
        totals = own + weights * np.maximum(1.0 - lower, 0.0)
        contexts = below.is_context & ~np.isnan(below.backoffs)
        for entry in np.flatnonzero(below.is_context & (own > 1 + _SUM_ABOVE_ONE)):
            self.note(
                below.lines[entry],
                Defect.CONTEXT_SUM,
                f"{self.text(below, int(entry))}: {own[entry]:.4f}",
            )
        wrong = contexts & (own <= 1 + _SUM_ABOVE_ONE) & (np.abs(totals - 1) > SUM_TOLERANCE)
        for entry in np.flatnonzero(wrong):
            detail = f"{self.text(below, int(entry))}: {totals[entry]:.4f}"
            self.note(below.lines[entry], Defect.BACKOFF_SUM, detail)

    def backed(self, rows: Int64Matrix) -> Float64Array:
        """Return the log10-probabilities that the file implies for n-grams, by backing off."""
        table = self.tables[rows.shape[1] - 1]
        found = self.locate(rows)
        logs = np.where(found >= 0, table.logs[found] if len(table.logs) else 0.0, -99.0)
        missing = np.flatnonzero(found < 0)
        if missing.size and rows.shape[1] > 1:
            contexts = self.locate(rows[missing, :-1])
            weights = self.tables[rows.shape[1] - 2].backoffs[contexts]
            logs[missing] = np.where(contexts >= 0, np.nan_to_num(weights), 0.0) + self.backed(
                rows[missing, 1:]
            )
        if rows.shape[1] == 1:
            logs[rows[:, 0] == self.symbols[b"<s>"]] = -99.0
        return logs
