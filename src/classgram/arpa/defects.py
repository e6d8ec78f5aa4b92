"""Every kind of defect that an ARPA file can have, and which readers fail on it."""

from enum import Enum
from typing import NamedTuple

_ALL = "every reader"
_STRICT = "KenLM"
_PYTHON = "pyctcdecode, NeMo and other readers in Python"
_FST = "KenLM's trie, Kaldi's arpa2fst and icefall (k2)"


class _Description(NamedTuple):
    """What is wrong, and which readers fail on it; a warning is what some writer does on purpose."""

    text: str
    readers: str
    warning: bool = False
    repairable: bool = True


class Defect(Enum):
    """The kinds of defects; names are what ``arpa check --json`` prints."""

    BYTE_ORDER_MARK = _Description("a byte-order mark precedes \\data\\", _ALL)
    INVALID_UTF8 = _Description("the line is not UTF-8", _PYTHON)
    CARRIAGE_RETURN = _Description("the line ends in CR LF", f"{_STRICT}, SRILM, pyctcdecode")
    CONTROL_CHARACTER = _Description("the line contains a NUL or unusual white space", f"{_STRICT}, SRILM")
    CUT_SHORT = _Description("the compressed file is corrupt or cut short", _ALL, repairable=False)
    EMPTY_FILE = _Description("the file is empty", _ALL, repairable=False)
    TEXT_BEFORE_DATA = _Description(
        "text precedes \\data\\, which must be line 1", f"{_STRICT}, NeMo, arpa2fst"
    )
    BLANK_BEFORE_DATA = _Description(
        "an empty line precedes \\data\\; SRILM writes one", "strict readers", warning=True
    )
    NO_DATA = _Description("there is no line \\data\\", _ALL)
    MALFORMED_COUNT = _Description("a line like 'ngram 1=7', without other spaces, was expected", _STRICT)
    COUNTS_OUT_OF_ORDER = _Description("the orders must be listed from 1 up, each once", _ALL)
    NO_COUNTS = _Description("no n-gram counts are listed after \\data\\", _ALL)
    WRONG_COUNT = _Description(
        "the listed n-gram count differs from the number of n-grams in the section", _ALL
    )
    EMPTY_ORDER = _Description("an order without n-grams is listed", _STRICT)
    ONE_ORDER = _Description("there are only unigrams; KenLM needs an order of 2 or more", _STRICT)
    HIGH_ORDER = _Description(
        "the order is above 6, the limit of KenLM's default build", _STRICT, repairable=False
    )
    MISSING_BLANK = _Description("the empty line before this line is missing", f"{_STRICT}, pyctcdecode")
    EXTRA_BLANK = _Description("there is one empty line too many", _STRICT)
    MALFORMED_SECTION = _Description("a line like '\\2-grams:' was expected", _ALL)
    MISSING_SECTION = _Description("the section of a listed order is missing", _ALL)
    DUPLICATE_SECTION = _Description("the section is there twice", _ALL)
    SECTION_OUT_OF_ORDER = _Description("the section is out of order", _ALL)
    UNLISTED_SECTION = _Description("the section's order is not listed after \\data\\", _ALL)
    NO_END = _Description("the file ends without \\end\\", _ALL)
    TEXT_AFTER_END = _Description("text follows \\end\\, such as SRILM's class definitions", _STRICT)
    BLANK_AFTER_END = _Description("empty lines follow \\end\\", "strict readers", warning=True)
    NO_LAST_LINE_END = _Description(
        "the last line does not end in a newline", "line-based tools", warning=True
    )
    NOT_TABS = _Description("there are spaces where a TAB must be", _PYTHON)
    LOOSE_SPACES = _Description(
        "words are surrounded or separated by other white space than one space", f"{_STRICT}, {_PYTHON}"
    )
    WORD_NUMBER = _Description("the number of words differs from the section's order", _ALL)
    TOO_MANY_FIELDS = _Description("the line has more than three fields", _ALL)
    NO_NUMBER = _Description("a number was expected", _ALL)
    DECIMAL_COMMA = _Description("the number has a decimal comma", _ALL)
    NOT_FINITE = _Description("the number is not finite; log 0 is written as -99", _ALL)
    POSITIVE = _Description("the log-probability is positive", f"{_STRICT}, SRILM")
    UNDERFLOW = _Description("the number is below -99, which stands for log 0", "SRILM, arpa2fst")
    TOP_BACKOFF = _Description("an n-gram of the highest order has a back-off", _STRICT)
    NO_UNIGRAM_BACKOFF = _Description(
        "the unigram has no back-off, not even 0", "pyctcdecode, which drops unigrams without three fields"
    )
    NO_BACKOFF = _Description("the n-gram is a prefix of others but has no back-off", _ALL)
    OMITTED_BACKOFF = _Description(
        "n-grams that are no prefix of others have no back-off; SRILM omits them",
        "pyctcdecode, which drops unigrams without three fields",
        warning=True,
    )
    NO_UNIGRAMS = _Description("there are no unigrams", _ALL, repairable=False)
    NO_SENTENCE_START = _Description("the unigram <s> is missing", _ALL)
    NO_SENTENCE_END = _Description("the unigram </s> is missing", _ALL)
    NO_UNKNOWN = _Description("the unigram <unk> is missing", f"{_STRICT} (it makes one up), NeMo, icefall")
    CLOSED_VOCABULARY = _Description(
        "the unigram <unk> is missing, as in files of SRILM without -unk",
        f"{_STRICT} (it makes one up)",
        warning=True,
    )
    SYMBOL_SPELLING = _Description("the symbol is not spelt <s>, </s> or <unk>", f"{_PYTHON}, icefall")
    START_PROBABILITY = _Description("the log-probability of <s> is not -99", "SRILM, arpa2fst")
    START_ZERO = _Description("the log-probability of <s> is 0, as KenLM writes it", "SRILM", warning=True)
    START_INSIDE = _Description("<s> follows another word", f"{_STRICT}, arpa2fst", warning=True)
    END_INSIDE = _Description("</s> precedes another word", "arpa2fst", warning=True)
    NO_SUCH_UNIGRAM = _Description("a word of the n-gram is not among the unigrams", _ALL)
    NO_PREFIX = _Description("the n-gram without its last word is missing", _ALL)
    NO_SUFFIX = _Description("the n-gram without its first word is missing", _FST)
    PRUNED_SUFFIX = _Description(
        "n-grams without their first word are missing, as pruning with SRILM leaves them", _FST, warning=True
    )
    DUPLICATE = _Description("the n-gram is a duplicate", _ALL)
    UNIGRAM_SUM = _Description("the unigrams sum to more than one", "results everywhere are wrong")
    CONTEXT_SUM = _Description(
        "the probabilities after this n-gram sum to more than one", "results everywhere are wrong"
    )
    BACKOFF_SUM = _Description(
        "with this back-off the probabilities after the n-gram do not sum to one",
        "results everywhere are wrong",
    )
    LOW_SUM = _Description("the probabilities sum to less than one", "results may be too low", warning=True)
