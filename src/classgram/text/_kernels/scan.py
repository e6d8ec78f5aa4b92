"""Bytes to word ids: a scan of white-space separated words through an open-addressing hash table."""

from typing import NamedTuple

import numpy as np

from classgram.runtime.compiled import inlined, kernel, part
from classgram.runtime.compiled.arrays import ByteArray, Int32Array, Int64Array, UInt64Array
from classgram.text._kernels.eight_bytes import ONE, TOP_BITS, ZERO, first_marked, load_eight

# What the scan stopped at.
DONE, _FULL, SYMBOL = 0, 1, 2

# Fields of the scanner's state, an int64 array that lives from chunk to chunk.
POSITION, WRITTEN, WORDS_IN_LINE, TYPES, BYTES, STATUS = range(6)
STATE_SIZE = 6

# What is done with <s> and </s> in the text.
REFUSE, SKIP, ALLOW = 0, 1, 2

_UNK, _BOS, _EOS = 0, 1, 2

_PRIME = np.uint64(0x9E3779B97F4A7C15)
_LONG = np.uint64(1 << 40)
_ID = np.uint64((1 << 40) - 1)
_TWO = np.uint64(2)
_HALF = np.uint64(32)
_BELOW_33 = np.uint64(0x2121212121212121)


class WordTable(NamedTuple):
    """An open-addressing hash table from words to ids in order of insertion.

    slots: uint64, two numbers for each slot, of which there is a power of two: a word's key, and its id + 1
    (0 in an empty slot). A word of up to eight bytes is its own key, since text holds no NUL byte,
    and needs no comparison; a longer one has a hash for a key, and a bit beside its id says so.
    ends: int64, by id, where a word's bytes end in ``letters``; counts: int64, by id.
    """

    slots: UInt64Array
    ends: Int64Array
    letters: ByteArray
    counts: Int64Array


class Rules(NamedTuple):
    """How the scan treats <s> and </s>, new words (1: they enter the table) and lines without words."""

    symbols: int
    insert: int
    blank_lines: int


@part
def _same_bytes(table: WordTable, word: np.int64, data: ByteArray, first: int, length: int) -> bool:
    """Return whether a stored word of more than eight bytes is the one in the data."""
    start = np.int64(0)
    if word > 0:
        start = table.ends[word - 1]
    if table.ends[word] - start != length:
        return False
    # Eight at a time; the last eight may overlap with those before.
    for k in range(0, length - 8, 8):
        if load_eight(table.letters, np.uint64(start + k)) != load_eight(data, np.uint64(first + k)):
            return False
    k = length - 8
    return load_eight(table.letters, np.uint64(start + k)) == load_eight(data, np.uint64(first + k))  # type: ignore[no-any-return]


@part
def _first_slot(key: np.uint64, slot_count: np.uint64) -> np.uint64:
    """Return the slot where the search for a key begins."""
    mixed = key * _PRIME
    return (mixed ^ (mixed >> _HALF)) & (slot_count - ONE)


@inlined
def _find_slot(table: WordTable, key: np.uint64, data: ByteArray, first: int, length: int) -> np.uint64:
    """Return the slot that holds a word, or the empty one where it belongs."""
    slot_count = np.uint64(table.slots.size >> 1)
    slot = _first_slot(key, slot_count)
    while True:
        entry = table.slots[_TWO * slot + ONE]
        if entry == ZERO:
            return slot
        if table.slots[_TWO * slot] == key:
            if length <= 8:
                if entry < _LONG:
                    return slot
            elif entry >= _LONG and _same_bytes(table, np.int64(entry & _ID) - 1, data, first, length):
                return slot
        slot = (slot + ONE) & (slot_count - ONE)


class _NewWord(NamedTuple):
    """A word that is not in the table: its key, where its bytes begin in the data, and how many they are."""

    key: np.uint64
    first: int
    length: int


@part
def _insert_word(
    table: WordTable, state: Int64Array, slot: np.uint64, new: _NewWord, data: ByteArray
) -> None:
    """Give a new word the next id and write its bytes, key and id into the table."""
    word = state[TYPES]
    used = state[BYTES]
    for k in range(new.length):
        table.letters[used + k] = data[new.first + k]
    table.ends[word] = used + new.length
    table.slots[_TWO * slot] = new.key
    entry = np.uint64(word + 1)
    if new.length > 8:
        entry |= _LONG
    table.slots[_TWO * slot + ONE] = entry
    state[TYPES] = word + 1
    state[BYTES] = used + new.length


@part
def _separates(byte: np.uint8) -> bool:
    """Return whether a byte separates words."""
    return byte == 32 or (byte >= 9 and byte <= 13)  # type: ignore[return-value]


@part
def _extended(key: np.uint64, eight: np.uint64) -> np.uint64:
    """Return the key of a word with up to eight more bytes; the first eight are their own key."""
    return ((key ^ (key >> _HALF)) * _PRIME) ^ eight


# Inlined as the search for a slot is: a word takes 16 ns in all, a call a good part of that.
@inlined
def _read_word(data: ByteArray, position: int) -> tuple[np.uint64, int]:
    """Return a word's key and its end; the word begins at the position.

    Eight bytes are tested together: the lowest byte below 33 is found by a subtraction that
    borrows into its top bit, and is the word's end if it is a separator and no other control byte.
    """
    key = ZERO
    end = position
    found = False
    while end + 8 <= data.size:
        eight = load_eight(data, np.uint64(end))
        low = (eight - _BELOW_33) & ~eight & TOP_BITS
        if low == ZERO:
            key = _extended(key, eight)
            end += 8
            continue
        length = first_marked(low)
        found = _separates(data[np.uint64(end + length)])
        if found and length > 0:
            key = _extended(key, eight & ((ONE << np.uint64(8 * length)) - ONE))
            end += length
        break
    if not found:
        key, end = _read_slowly(data, key, end)
    return key, end


@part
def _read_slowly(data: ByteArray, key: np.uint64, position: int) -> tuple[np.uint64, int]:
    """Return the key and the end of a word that goes on at a position, from its bytes one by one."""
    eight = ZERO
    length = 0
    while position < data.size and not _separates(data[position]):
        eight |= np.uint64(data[position]) << np.uint64(8 * length)
        length += 1
        position += 1
        if length == 8:
            key = _extended(key, eight)
            eight = ZERO
            length = 0
    if length > 0:
        key = _extended(key, eight)
    return key, position


@kernel
def scan(
    data: ByteArray,
    table: WordTable,
    rules: Rules,
    out: Int32Array,
    state: Int64Array,
) -> None:
    """Write the word ids of a chunk of bytes to ``out``, from state[POSITION] on; </s> closes each line.

    Stops early, with state[STATUS] saying why, where the table must grow or at a symbol; a later
    call goes on from there. ``out`` must hold as many ids as the data has bytes.
    """
    position = state[POSITION]
    written = state[WRITTEN]
    in_line = state[WORDS_IN_LINE]
    size = data.size
    state[STATUS] = DONE
    while position < size:
        byte = data[np.uint64(position)]
        if byte == 10:
            if in_line > 0 or rules.blank_lines == 1:
                out[written] = _EOS
                written += 1
            in_line = 0
            position += 1
            continue
        if _separates(byte):
            position += 1
            continue
        key, end = _read_word(data, position)
        slot = _find_slot(table, key, data, position, end - position)
        entry = table.slots[_TWO * slot + ONE]
        if entry != ZERO:
            word = np.int64(entry & _ID) - 1
        elif rules.insert == 0:
            word = np.int64(_UNK)
        else:
            word = state[TYPES]
            if (
                word * 4 >= table.slots.size
                or word >= table.ends.size
                or state[BYTES] + (end - position) > table.letters.size
            ):
                state[STATUS] = _FULL
                break
            _insert_word(table, state, slot, _NewWord(key, position, end - position), data)
        if (word == _BOS or word == _EOS) and rules.symbols != ALLOW:
            if rules.symbols == REFUSE:
                state[STATUS] = SYMBOL
                break
            position = end
            continue
        out[written] = word
        written += 1
        in_line += 1
        position = end
    # In a loop of its own: a count just changed may be changed again at once.
    for k in range(state[WRITTEN], written):
        table.counts[out[k]] += 1
    state[POSITION] = position
    state[WRITTEN] = written
    state[WORDS_IN_LINE] = in_line


@kernel
def rehash(old: UInt64Array, slots: UInt64Array) -> None:
    """Enter the words of one set of slots into another, empty one."""
    slot_count = np.uint64(slots.size >> 1)
    for k in range(old.size >> 1):
        if old[2 * k + 1] != ZERO:
            slot = _first_slot(old[2 * k], slot_count)
            while slots[_TWO * slot + ONE] != ZERO:
                slot = (slot + ONE) & (slot_count - ONE)
            slots[_TWO * slot] = old[2 * k]
            slots[_TWO * slot + ONE] = old[2 * k + 1]


@kernel
def gather_words(table: WordTable, order: Int64Array, out: ByteArray) -> int:
    """Write the words with the given ids to ``out``, each ended by a line end; return the number of bytes."""
    written = 0
    for word in order:
        start = np.int64(0)
        if word > 0:
            start = table.ends[word - 1]
        for k in range(start, table.ends[word]):
            out[written] = table.letters[k]
            written += 1
        out[written] = 10
        written += 1
    return written
