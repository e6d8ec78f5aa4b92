"""Every option, as frozen dataclasses that the command line, the API and config.json share.

Pure Python: the command line imports this module to print its help without importing NumPy.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Punctuation = Literal["keep", "verbalise", "strip"]
EncodingErrors = Literal["strict", "replace"]


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How text becomes words: part of the vocabulary, and applied to every later text."""

    lowercase: bool = False
    """Make every word lower case."""

    punctuation: Punctuation = "keep"
    """Keep marks as they are, make each a word such as ,COMMA (verbalise), or remove them (strip)."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are read: it concerns one text, and is not part of the vocabulary."""

    field: str = "text"
    """The field of .jsonl files (and the column of .parquet files) that holds the text."""

    encoding_errors: EncodingErrors = "strict"
    """What to do with invalid UTF-8: stop and name the place, or replace it with U+FFFD."""

    skip_symbols: bool = False
    """Skip literal <s> and </s> in the text instead of stopping there."""


@dataclass(frozen=True, slots=True)
class VocabularyOptions:
    """Which words of the text are words of the vocabulary; all others are <unk>."""

    vocabulary_size: int | None = None
    """Keep the V most frequent words (<unk>, <s> and </s> come on top)."""

    min_count: int = 1
    """Keep words seen at least K times."""

    words: Path | None = None
    """Keep just the words in this file, one a line."""


@dataclass(frozen=True, slots=True)
class CountOptions:
    """Which n-grams are counted."""

    order: int = 2
    """The longest n-grams to count."""

    cutoffs: tuple[int, ...] = ()
    """Drop n-grams seen fewer times; given once for each order from 2 up, the last is for all above."""

    memory: str = "2G"
    """Memory for the sorting of n-grams; beyond it temporary files are used."""
