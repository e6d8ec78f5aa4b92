"""Punctuation: every mark in one table, and what replaces it where it is verbalised or stripped."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from classgram.runtime.compiled import frozen
from classgram.text._kernels import punctuation as kernel

_SEPARATORS = b" \t\n\r\x0b\x0c"
"""The bytes that separate words, those of ``bytes.split()``."""


class PunctuationMark(NamedTuple):
    """A punctuation mark, its name, and whether it splits a word that it stands inside of."""

    text: str
    name: str
    inside: bool = False


PUNCTUATION = (
    *(PunctuationMark(text, "DASH", inside=True) for text in ("----", "---", "--", "—", "–", "―")),
    *(PunctuationMark(text, "ELLIPSIS", inside=True) for text in ("...", "…")),
    *(PunctuationMark(text, "COMMA") for text in (",", "，", "、", "،")),
    *(PunctuationMark(text, "PERIOD") for text in (".", "。", "।", "۔")),
    *(PunctuationMark(text, "COLON") for text in (":", "：")),
    *(PunctuationMark(text, "SEMI-COLON") for text in (";", "；", "؛")),
    *(PunctuationMark(text, "EXCLAMATION-POINT") for text in ("!", "！", "¡")),
    *(PunctuationMark(text, "QUESTION-MARK") for text in ("?", "？", "¿", "؟")),
    *(PunctuationMark(text, "DOUBLE-QUOTE") for text in ('"', "“", "”", "„", "«", "»")),
    *(PunctuationMark(text, "SINGLE-QUOTE") for text in ("'", "‘", "’", "‚", "`")),
    *(PunctuationMark(text, "LEFT-PAREN") for text in ("(", "（")),
    *(PunctuationMark(text, "RIGHT-PAREN") for text in (")", "）")),
    *(PunctuationMark(text, "LEFT-BRACKET") for text in ("[", "「", "『", "【")),
    *(PunctuationMark(text, "RIGHT-BRACKET") for text in ("]", "」", "』", "】")),
    *(PunctuationMark(text, "LEFT-BRACE") for text in ("{",)),
    *(PunctuationMark(text, "RIGHT-BRACE") for text in ("}",)),
    *(PunctuationMark(text, "HYPHEN") for text in ("-", "‐")),
    *(PunctuationMark(text, "SLASH") for text in ("/",)),
    *(PunctuationMark(text, "UNDERSCORE") for text in ("_",)),
    *(PunctuationMark(text, "ASTERISK") for text in ("*",)),
)
"""Every punctuation mark.

Those at the edge of a word are cut off; dashes and ellipses split words as well. A mark is verbalised as
itself and its name, as in the Wall Street Journal corpus: ",COMMA".
"""


@lru_cache
def punctuation_table(verbalise: bool) -> kernel.PunctuationTable:
    """Return the table of what replaces each punctuation mark, verbalised or stripped."""
    ordered = sorted(PUNCTUATION, key=lambda mark: (mark.text.encode()[0], -len(mark.text.encode())))
    texts = [mark.text.encode() for mark in ordered]
    # Spaces around it make a mark a word; a stripped one leaves a space.
    new = [f" {mark.text}{mark.name} ".encode() if verbalise else b" " for mark in ordered]
    roles = np.full(256, kernel.PLAIN, np.uint8)
    roles[[text[0] for text in texts]] = kernel.MARK
    roles[list(_SEPARATORS)] = kernel.SPACE
    return kernel.PunctuationTable(
        frozen(np.frombuffer(b"".join(texts), np.uint8)),
        frozen(np.cumsum([0, *map(len, texts)], dtype=np.int64)),
        frozen(np.frombuffer(b"".join(new), np.uint8)),
        frozen(np.cumsum([0, *map(len, new)], dtype=np.int64)),
        frozen(np.searchsorted([text[0] for text in texts], np.arange(257)).astype(np.int64)),
        frozen(np.array([mark.inside for mark in ordered], np.uint8)),
        frozen(roles),
    )
