"""Lower case for UTF-8 bytes, through a table of code points."""

import numpy as np

from classgram.runtime.compiled import kernel, part
from classgram.runtime.compiled.arrays import ByteArray, Int32Array
from classgram.text._kernels.eight_bytes import (
    TOP_BITS,
    ZERO,
    first_marked,
    load_eight,
    lower_eight,
    store_eight,
)


@kernel
def lower_letters(data: ByteArray, lower: Int32Array, out: ByteArray) -> int:
    """Copy valid UTF-8 with each code point below the table's size replaced as the table says.

    Return the number of bytes written to ``out``, or -1 where a letter's lower case is irregular (-1 in the
    table). ``out`` must hold three bytes for every two read, and eight more.
    """
    position = 0
    written = 0
    size = data.size
    while position < size:
        if position + 8 <= size:
            eight = load_eight(data, np.uint64(position))
            store_eight(out, np.uint64(written), lower_eight(eight))
            beyond = eight & TOP_BITS
            plain = 8 if beyond == ZERO else first_marked(beyond)
            position += plain
            written += plain
            if plain == 8:
                continue
        byte = np.int32(data[position])
        if byte < 0x80:
            out[written] = lower[byte]
            written += 1
            position += 1
            continue
        length = 2
        code = byte & 0x1F
        if byte >= 0xF0:
            length = 4
            code = byte & 0x07
        elif byte >= 0xE0:
            length = 3
            code = byte & 0x0F
        for k in range(1, length):
            code = (code << 6) | (np.int32(data[position + k]) & 0x3F)
        changed = code
        if code < lower.size:
            changed = lower[code]
        if changed < 0:
            return -1
        if changed == code:
            for k in range(length):
                out[written] = data[position + k]
                written += 1
        else:
            written = _write_code_point(changed, out, written)
        position += length
    return written


@part
def _write_code_point(code: np.int32, out: ByteArray, written: int) -> int:
    """Append a code point as UTF-8."""
    if code < 0x80:
        out[written] = code
        return written + 1
    if code < 0x800:
        out[written] = 0xC0 | (code >> 6)
        out[written + 1] = 0x80 | (code & 0x3F)
        return written + 2
    if code < 0x10000:
        out[written] = 0xE0 | (code >> 12)
        out[written + 1] = 0x80 | ((code >> 6) & 0x3F)
        out[written + 2] = 0x80 | (code & 0x3F)
        return written + 3
    out[written] = 0xF0 | (code >> 18)
    out[written + 1] = 0x80 | ((code >> 12) & 0x3F)
    out[written + 2] = 0x80 | ((code >> 6) & 0x3F)
    out[written + 3] = 0x80 | (code & 0x3F)
    return written + 4
