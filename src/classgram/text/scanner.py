"""The scanner: chunks of text to word ids, through a hash table that grows as words are met."""

import numpy as np

from classgram.errors import InputError
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.arrays import Int32Array, Int64Array
from classgram.text._kernels import scan as kernel
from classgram.text.reading import Chunk

SYMBOLS = ("<unk>", "<s>", "</s>")
"""The words with fixed ids 0, 1 and 2."""

FIRST_TYPES, FIRST_BYTES = 1 << 14, 1 << 17
"""Words, and bytes of words, that a table can hold at first: those of a text of a few megabytes."""


class WordScanner:
    """A hash table that turns chunks into ids, given to words in the order of their first appearance.

    The table starts with ``words`` (each ended by a line end), whose first three are the symbols.
    With ``grow`` false a word that is not in it is <unk>. With ``blank_lines`` true a line without
    words is a sentence too.
    """

    def __init__(
        self,
        words: bytes = "\n".join((*SYMBOLS, "")).encode(),
        grow: bool = True,
        skip_symbols: bool = False,
        blank_lines: bool = False,
    ) -> None:
        self._state = np.zeros(kernel.STATE_SIZE, np.int64)
        self._out = np.empty(0, np.int32)
        self._table = _empty_table(
            max(words.count(b"\n"), FIRST_TYPES if grow else 0), 2 * len(words) + FIRST_BYTES
        )
        self._rules = kernel.Rules(kernel.ALLOW, 1, 0)
        self.feed(Chunk(words, "vocabulary", 1))
        self._table.counts[:] = 0
        self._state[kernel.WORDS_IN_LINE] = 0
        symbols = kernel.SKIP if skip_symbols else kernel.REFUSE
        self._rules = kernel.Rules(symbols, int(grow), int(blank_lines))

    def feed(self, chunk: Chunk) -> Int32Array:
        """Return the ids of a chunk's words, </s> closing each line that has words."""
        most = self.most_ids(chunk)
        if self._out.size < most:
            self._out = np.empty(most, np.int32)
        return self._out[: self.feed_into(self._out, chunk)].copy()

    @staticmethod
    def most_ids(chunk: Chunk) -> int:
        """Return the most ids that a chunk may give."""
        return len(chunk.data) + 1

    def feed_into(self, out: Int32Array, chunk: Chunk) -> int:
        """Write the ids of a chunk's words, and return how many they are."""
        state = self._state
        state[kernel.POSITION] = 0
        state[kernel.WRITTEN] = 0
        data = frozen(np.frombuffer(chunk.data, np.uint8))
        while True:
            kernel.scan(data, self._table, self._rules, out, state)
            if state[kernel.STATUS] == kernel.DONE:
                return int(state[kernel.WRITTEN])
            if state[kernel.STATUS] == kernel.SYMBOL:
                self._refuse_symbol(chunk)
            self._grow(len(chunk.data))

    def _refuse_symbol(self, chunk: Chunk) -> None:
        position = int(self._state[kernel.POSITION])
        line = chunk.line_at(chunk.data.count(b"\n", 0, position))
        symbol = chunk.data[position : position + 4].split()[0].decode("utf-8", "replace")
        raise InputError(
            f"{chunk.source}, line {line}: the text contains a literal {symbol}, which marks sentences; "
            "remove it, or skip such words with --skip-symbols"
        )

    def _grow(self, more_bytes: int) -> None:
        """Double the table, with space for so many more bytes of words."""
        old = self._table
        types = self.types
        used = int(self._state[kernel.BYTES])
        letters = old.letters.size if used + more_bytes <= old.letters.size else 2 * used + more_bytes
        self._table = _empty_table(2 * old.ends.size, letters)
        self._table.ends[:types] = old.ends[:types]
        self._table.counts[:types] = old.counts[:types]
        self._table.letters[:used] = old.letters[:used]
        kernel.rehash(old.slots, self._table.slots)

    @property
    def types(self) -> int:
        """The number of different words met."""
        return int(self._state[kernel.TYPES])

    @property
    def counts(self) -> Int64Array:
        """How often each word was met, by id; for </s>, the number of sentences."""
        return self._table.counts[: self.types]

    def words(self, ids: Int64Array) -> bytes:
        """Return the words with these ids, each ended by a line end."""
        out = np.empty(int(self._state[kernel.BYTES]) + ids.size, np.uint8)
        return out[: kernel.gather_words(self._table, frozen(ids), out)].tobytes()


def _empty_table(types: int, letters: int) -> kernel.WordTable:
    """Return an empty table for so many words with so many bytes in all, at most half full."""
    places = 1 << max(4, (2 * types - 1).bit_length())
    return kernel.WordTable(
        np.zeros(2 * places, np.uint64),
        np.empty(types, np.int64),
        np.empty(letters, np.uint8),
        np.zeros(types, np.int64),
    )
