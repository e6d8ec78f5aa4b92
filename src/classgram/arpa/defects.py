"""Every kind of defect that an ARPA file can have, with the readers that it breaks."""

from enum import Enum
from typing import NamedTuple

ALL = "every reader"
STRICT = "KenLM"
PYTHON = "pyctcdecode, NeMo and other readers in Python"
FST = "KenLM's trie, Kaldi's arpa2fst and icefall (k2)"


class Defect(NamedTuple):
    """What is wrong, and who cannot read it; a warning is what some writer does on purpose."""

    text: str
    readers: str
    warning: bool = False
    mendable: bool = True


class Kind(Enum):
    """The kinds of defects; names are what ``arpa check --json`` prints."""

    BYTE_ORDER_MARK = Defect("a byte-order mark stands before \\data\\", ALL)
    INVALID_UTF8 = Defect("the line is not UTF-8", PYTHON)
    CARRIAGE_RETURN = Defect("the line ends in CR LF", f"{STRICT}, SRILM, pyctcdecode")
    CONTROL_CHARACTER = Defect("a NUL or an unusual white space stands in the line", f"{STRICT}, SRILM")
    CUT_SHORT = Defect("the packed file is broken or cut short", ALL, mendable=False)
    EMPTY_FILE = Defect("the file holds nothing", ALL, mendable=False)
    TEXT_BEFORE_DATA = Defect(
        "something stands before \\data\\, which must be line 1", f"{STRICT}, NeMo, arpa2fst"
    )
    BLANK_BEFORE_DATA = Defect(
        "an empty line stands before \\data\\; SRILM writes one", "strict readers", warning=True
    )
    NO_DATA = Defect("there is no line \\data\\", ALL)
    MALFORMED_COUNT = Defect("a line like 'ngram 1=7', without other spaces, was expected", STRICT)
    COUNTS_OUT_OF_ORDER = Defect("the orders must be listed from 1 up, each once", ALL)
    NO_COUNTS = Defect("no numbers of n-grams are listed after \\data\\", ALL)
    WRONG_COUNT = Defect("the number of n-grams listed differs from those in the section", ALL)
    EMPTY_ORDER = Defect("an order without n-grams is listed", STRICT)
    ONE_ORDER = Defect("there are unigrams alone; KenLM wants an order of 2 or more", STRICT)
    HIGH_ORDER = Defect(
        "the order is above 6, which KenLM as usually built does not read", STRICT, mendable=False
    )
    MISSING_BLANK = Defect("an empty line is missing before this one", f"{STRICT}, pyctcdecode")
    EXTRA_BLANK = Defect("an empty line too many", STRICT)
    MALFORMED_SECTION = Defect("a line like '\\2-grams:' was expected", ALL)
    MISSING_SECTION = Defect("the section of a listed order is missing", ALL)
    DUPLICATE_SECTION = Defect("the section is there twice", ALL)
    SECTION_OUT_OF_ORDER = Defect("the section is not in its place", ALL)
    UNLISTED_SECTION = Defect("the section's order is not listed after \\data\\", ALL)
    NO_END = Defect("the file ends without \\end\\", ALL)
    TEXT_AFTER_END = Defect("something stands after \\end\\, such as SRILM's classes", STRICT)
    BLANK_AFTER_END = Defect("empty lines stand after \\end\\", "strict readers", warning=True)
    NO_LAST_LINE_END = Defect("the last line has no line end", "line-based tools", warning=True)
    NOT_TABS = Defect("spaces stand where a TAB must be", PYTHON)
    LOOSE_SPACES = Defect("white space around or between words other than one space", f"{STRICT}, {PYTHON}")
    WORD_NUMBER = Defect("the line has not the section's number of words", ALL)
    TOO_MANY_FIELDS = Defect("the line has more than three fields", ALL)
    NO_NUMBER = Defect("no number where one was expected", ALL)
    DECIMAL_COMMA = Defect("a number with a decimal comma", ALL)
    NOT_FINITE = Defect("the number is not finite; log 0 is -99", ALL)
    POSITIVE = Defect("a positive log-probability", f"{STRICT}, SRILM")
    UNDERFLOW = Defect("the number is below -99, which stands for log 0", "SRILM, arpa2fst")
    TOP_BACKOFF = Defect("a back-off at the highest order", STRICT)
    NO_UNIGRAM_BACKOFF = Defect(
        "a unigram without a back-off, even 0", "pyctcdecode, which drops unigrams without three fields"
    )
    NO_BACKOFF = Defect("an n-gram that others begin with has no back-off", ALL)
    OMITTED_BACKOFF = Defect(
        "n-grams that no others begin with have no back-off; SRILM omits them",
        "pyctcdecode, which drops unigrams without three fields",
        warning=True,
    )
    NO_UNIGRAMS = Defect("there are no unigrams", ALL, mendable=False)
    NO_SENTENCE_START = Defect("the unigram <s> is missing", ALL)
    NO_SENTENCE_END = Defect("the unigram </s> is missing", ALL)
    NO_UNKNOWN = Defect("the unigram <unk> is missing", f"{STRICT} (it makes one up), NeMo, icefall")
    CLOSED_VOCABULARY = Defect(
        "the unigram <unk> is missing, as SRILM has it without -unk",
        f"{STRICT} (it makes one up)",
        warning=True,
    )
    SYMBOL_SPELLING = Defect("a symbol in other letters than <s>, </s>, <unk>", f"{PYTHON}, icefall")
    START_PROBABILITY = Defect("<s> has another log-probability than -99", "SRILM, arpa2fst")
    START_ZERO = Defect("<s> has log-probability 0, as KenLM writes it", "SRILM", warning=True)
    START_INSIDE = Defect("<s> stands after another word", f"{STRICT}, arpa2fst", warning=True)
    END_INSIDE = Defect("</s> stands before another word", "arpa2fst", warning=True)
    NO_SUCH_UNIGRAM = Defect("a word of the n-gram is no unigram", ALL)
    NO_PREFIX = Defect("the n-gram without its last word is missing", ALL)
    NO_SUFFIX = Defect("the n-gram without its first word is missing", FST)
    PRUNED_SUFFIX = Defect(
        "n-grams without their first word are missing, as pruning with SRILM leaves them", FST, warning=True
    )
    DUPLICATE = Defect("the n-gram is there already", ALL)
    UNIGRAM_SUM = Defect("the unigrams sum to more than one", "results everywhere are wrong")
    CONTEXT_SUM = Defect(
        "the probabilities after this n-gram sum to more than one", "results everywhere are wrong"
    )
    BACKOFF_SUM = Defect(
        "with this back-off the words after the n-gram do not sum to one", "results everywhere are wrong"
    )
    LOW_SUM = Defect(
        "the words after the n-gram sum to less than one", "results may be too low", warning=True
    )
