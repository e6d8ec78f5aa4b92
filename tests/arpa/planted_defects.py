"""An ARPA file without defects, and the defects that are planted in it, each with its kind and line."""

import re
from collections.abc import Callable

from classgram.arpa.defects import Defect

GOOD = """\\data\\
ngram 1=5
ngram 2=4
ngram 3=2

\\1-grams:
-1\t<unk>\t0
-99\t<s>\t-0.2218487
-0.69897\t</s>\t0
-0.39794\ta\t-0.39794
-0.52288\tb\t-0.30103

\\2-grams:
-0.30103\t<s> a\t0
-0.30103\ta b\t-0.17609
-0.52288\ta </s>\t0
-0.60206\tb a\t0

\\3-grams:
-0.39794\ta b a
-0.1549\tb a b

\\end\\
"""


Edit = Callable[[str], str]


def swap(old: str, new: str) -> Edit:
    """Replace the first match of a pattern."""

    def edit(text: str) -> str:
        changed = re.sub(old, new, text, count=1, flags=re.MULTILINE)
        assert changed != text, old
        return changed

    return edit


PLANTED: dict[str, tuple[Edit, Defect, str]] = {
    "byte-order mark": (lambda text: "\ufeff" + text, Defect.BYTE_ORDER_MARK, r"data"),
    "blank line first": (lambda text: "\n" + text, Defect.TEXT_BEFORE_DATA, ""),
    "comment first": (lambda text: "# made by hand\n" + text, Defect.TEXT_BEFORE_DATA, "# made"),
    "no data": (swap(r"^\\data\\\n", ""), Defect.NO_DATA, "ngram 1"),
    "data in capitals": (swap(r"^\\data\\", r"\\DATA\\"), Defect.NO_DATA, r"DATA"),
    "spaces in a count": (swap(r"^ngram 1=5", "ngram 1 = 5"), Defect.MALFORMED_COUNT, "ngram 1"),
    "no number in a count": (swap(r"^ngram 2=.*", "ngram 2=many"), Defect.MALFORMED_COUNT, "many"),
    "nought before an order": (swap(r"^ngram 1=5", "ngram 01=5"), Defect.MALFORMED_COUNT, "ngram 01"),
    "nought before a number": (swap(r"^ngram 1=5", "ngram 1=05"), Defect.MALFORMED_COUNT, "ngram 1=05"),
    "nought before a section's order": (
        swap(r"^\\2-grams:", r"\\02-grams:"),
        Defect.MALFORMED_SECTION,
        "02-grams",
    ),
    "orders swapped": (
        swap(r"^ngram 1=5\nngram 2=(\d)", r"ngram 2=\1\nngram 1=5"),
        Defect.COUNTS_OUT_OF_ORDER,
        "ngram 2",
    ),
    "order twice": (swap(r"^(ngram 2=\d)", r"\1\n\1"), Defect.COUNTS_OUT_OF_ORDER, ""),
    "order left out": (swap(r"^ngram 2=\d\n", ""), Defect.COUNTS_OUT_OF_ORDER, "ngram 3"),
    "too many listed": (swap(r"^ngram 1=5", "ngram 1=6"), Defect.WRONG_COUNT, "ngram 1"),
    "too few listed": (swap(r"^ngram 3=2", "ngram 3=1"), Defect.WRONG_COUNT, "ngram 3"),
    "empty order": (
        swap(r"^(ngram 3=2)\n([\s\S]*)\\end", r"\1\nngram 4=0\n\2\\4-grams:\n\n\\end"),
        Defect.EMPTY_ORDER,
        "ngram 4",
    ),
    "no blank before a section": (swap(r"\n\n(\\2-grams:)", r"\n\1"), Defect.MISSING_BLANK, "2-grams"),
    "no blank before unigrams": (swap(r"\n\n(\\1-grams:)", r"\n\1"), Defect.MISSING_BLANK, "1-grams"),
    "no blank before the end": (swap(r"\n\n(\\end)", r"\n\1"), Defect.MISSING_BLANK, "end"),
    "two blank lines": (swap(r"\n\n(\\2-grams:)", r"\n\n\n\1"), Defect.EXTRA_BLANK, ""),
    "blank inside a section": (swap(r"^(-.*\t<s> a)", r"\n\1"), Defect.EXTRA_BLANK, ""),
    "section misspelt": (swap(r"^\\2-grams:", r"\\2-gram:"), Defect.MALFORMED_SECTION, "2-gram"),
    "section missing": (swap(r"\\3-grams:\n(.*\n)*\n(\\end)", r"\2"), Defect.MISSING_SECTION, "ngram 3"),
    "section twice": (
        swap(r"(\\3-grams:\n(?:.+\n)*\n)", r"\1\\2-grams:\n\n"),
        Defect.DUPLICATE_SECTION,
        r"2-grams",
    ),
    "sections swapped": (
        swap(r"(\\2-grams:\n(?:.+\n)*\n)(\\3-grams:\n(?:.+\n)*\n)", r"\2\1"),
        Defect.SECTION_OUT_OF_ORDER,
        "3-grams",
    ),
    "section not listed": (swap(r"^ngram 3=2\n", ""), Defect.UNLISTED_SECTION, "3-grams"),
    "no end": (swap(r"\n\\end\\\n", ""), Defect.NO_END, ""),
    "classes after the end": (lambda text: text + "CLASS-1 0.5 a\n", Defect.TEXT_AFTER_END, "CLASS-1"),
    "spaces for tabs": (swap(r"^(-\S+)\tb a\t", r"\1 b a "), Defect.NOT_TABS, " b a "),
    "space for one tab": (swap(r"^(-\S+)\tb a\t", r"\1\tb a "), Defect.NOT_TABS, "\tb a "),
    "two spaces between words": (swap(r"\tb a\t", "\tb  a\t"), Defect.LOOSE_SPACES, "b  a"),
    "space at a line's end": (swap(r"^(.*\ta b a)$", r"\1 "), Defect.LOOSE_SPACES, "a b a "),
    "space at a line's start": (swap(r"^(.*\ta b a)$", r" \1"), Defect.NO_NUMBER, " -"),
    "tabs between words": (swap(r"\tb a\t", "\tb\ta\t"), Defect.TOO_MANY_FIELDS, "b\ta"),
    "word too many": (swap(r"\tb a\t", "\tb a b\t"), Defect.WORD_NUMBER, "b a b\t"),
    "word too many at the top": (swap(r"\ta b a$", "\ta b a b"), Defect.WORD_NUMBER, "a b a b"),
    "word too many with spaces": (swap(r"\tb a\t.*", " b a b"), Defect.WORD_NUMBER, " b a b"),
    "word too few before a back-off": (swap(r"\tb a\t.*", "\tb\t0.5"), Defect.WORD_NUMBER, "\tb\t0.5"),
    "word too few": (swap(r"\ta b a$", "\ta b"), Defect.WORD_NUMBER, "\ta b$"),
    "positive": (swap(r"^-(\S+\tb a\t)", r"\1"), Defect.POSITIVE, "\tb a\t"),
    "not a number": (swap(r"^-\S+(\tb a\t)", r"nan\1"), Defect.NOT_FINITE, "nan"),
    "minus infinity": (swap(r"^-\S+(\tb a\t)", r"-inf\1"), Defect.NOT_FINITE, "-inf"),
    "infinite back-off": (swap(r"^(-\S+\tb a\t).*", r"\1inf"), Defect.NOT_FINITE, "inf"),
    "back-off beyond 64 bits": (swap(r"^(-\S+\ta </s>\t).*", r"\g<1>1e400"), Defect.NOT_FINITE, "1e400"),
    "back-off beyond 32 bits": (swap(r"^(-\S+\t</s>\t).*", r"\g<1>1e39"), Defect.NOT_FINITE, "1e39"),
    "context's back-off beyond 64 bits": (swap(r"(\tb\t).*", r"\g<1>1e400"), Defect.NOT_FINITE, "1e400"),
    "back-off far below": (swap(r"^(-\S+\ta </s>\t).*", r"\1-1e39"), Defect.NOT_FINITE, "-1e39"),
    "loose back-off beyond 32 bits": (
        swap(r"^(-\S+)\ta </s>\t.*", r"\1 a </s> +1e39"),
        Defect.NOT_FINITE,
        "1e39",
    ),
    "likelihood far below": (swap(r"^-\S+(\tb a\t)", r"-1e39\1"), Defect.NOT_FINITE, "-1e39"),
    "large back-off": (swap(r"(\tb\t).*", r"\g<1>1e30"), Defect.BACKOFF_SUM, "1e30"),
    "no number": (swap(r"^-\S+(\tb a\t)", r"minus\1"), Defect.NO_NUMBER, "minus"),
    "odd number": (swap(r"^-\S+(\tb a\t)", r"-1_0\1"), Defect.NO_NUMBER, "-1_0"),
    "empty number": (swap(r"^-\S+(\tb a\t)", r"\1"), Defect.NO_NUMBER, "^\tb a"),
    "no number as back-off": (swap(r"(\tb a\t).*", r"\1x"), Defect.NO_NUMBER, "\tx"),
    "decimal comma": (swap(r"^(-\d)\.(\d+\tb a\t)", r"\1,\2"), Defect.DECIMAL_COMMA, ","),
    "underflow": (swap(r"^-\S+(\tb a\t)", r"-1e9\1"), Defect.UNDERFLOW, "-1e9"),
    "back-off at the top": (swap(r"(\ta b a)$", r"\1\t-0.1"), Defect.TOP_BACKOFF, "a b a\t"),
    "no back-off at the unigram of a context": (
        swap(r"(\ta)\t.*", r"\1"),
        Defect.NO_UNIGRAM_BACKOFF,
        "\ta$",
    ),
    "no back-off at another unigram": (
        swap(r"(\t<unk>)\t.*", r"\1"),
        Defect.NO_UNIGRAM_BACKOFF,
        "<unk>",
    ),
    "no back-off at the bigram of a context": (swap(r"(\ta b)\t.*", r"\1"), Defect.NO_BACKOFF, "\ta b$"),
    "no start": (
        lambda text: swap("ngram 1=5", "ngram 1=4")(swap(r"^-99\t<s>.*\n", "")(text)),
        Defect.NO_SENTENCE_START,
        "1-grams",
    ),
    "no sentence end": (
        lambda text: swap("ngram 1=5", "ngram 1=4")(swap(r"^.*\t</s>.*\n", "")(text)),
        Defect.NO_SENTENCE_END,
        "1-grams",
    ),
    "no unknown word": (
        lambda text: swap("ngram 1=5", "ngram 1=4")(swap(r"^.*\t<unk>.*\n", "")(text)),
        Defect.NO_UNKNOWN,
        "1-grams",
    ),
    "unknown word in capitals": (
        lambda text: text.replace("<unk>", "<UNK>"),
        Defect.SYMBOL_SPELLING,
        "<UNK>",
    ),
    "start in capitals": (lambda text: text.replace("<s>", "<S>"), Defect.SYMBOL_SPELLING, "\t<S>\t"),
    "likely start": (swap(r"^-99\t<s>", "-1.5\t<s>"), Defect.START_PROBABILITY, "<s>"),
    "start with 0": (swap(r"^-99\t<s>", "0\t<s>"), Defect.START_ZERO, "<s>"),
    "start inside": (swap(r"\tb a\t", "\tb <s>\t"), Defect.START_INSIDE, "b <s>"),
    "end inside": (swap(r"\tb a\t", "\t</s> a\t"), Defect.END_INSIDE, "</s> a"),
    "no such unigram": (swap(r"\tb a\t", "\tb zebra\t"), Defect.NO_SUCH_UNIGRAM, "zebra"),
    "no prefix": (swap(r"\tb a b$", "\tb b b"), Defect.NO_PREFIX, "b b b"),
    "no suffix": (swap(r"\ta b a$", "\ta b b"), Defect.NO_SUFFIX, "a b b"),
    "duplicate": (swap(r"\tb a\t", "\ta b\t"), Defect.DUPLICATE, "a b\t"),
    "duplicate unigram": (swap(r"\tb\t", "\ta\t"), Defect.DUPLICATE, "\ta\t"),
    "carriage returns": (lambda text: text.replace("\n", "\r\n"), Defect.CARRIAGE_RETURN, r"data"),
    "one carriage return": (swap(r"(\tb a\t.*)", "\\1\r"), Defect.CARRIAGE_RETURN, "b a"),
    "lone carriage return": (swap(r"\tb a\t", "\tb\r a\t"), Defect.CONTROL_CHARACTER, "b\r a"),
    "spaces in an empty line": (swap(r"\n\n(\\2-grams:)", r"\n \n\1"), Defect.LOOSE_SPACES, "^ $"),
    "order nought": (swap(r"^\\2-grams:", r"\\0-grams:"), Defect.MALFORMED_SECTION, "0-grams"),
    "order of a million": (swap(r"^ngram 3=2", "ngram 1000000=2"), Defect.COUNTS_OUT_OF_ORDER, "1000000"),
    "nul": (swap(r"\tb a\t", "\tb\x00 a\t"), Defect.CONTROL_CHARACTER, "\x00"),
    "vertical tab": (swap(r"\tb a\t", "\tb\x0b a\t"), Defect.CONTROL_CHARACTER, "\x0b"),
    "unigrams above one": (swap(r"^-\S+\ta\t", "-0.01\ta\t"), Defect.UNIGRAM_SUM, "1-grams"),
    "context above one": (swap(r"^-\S+\ta b\t", "-0.01\ta b\t"), Defect.CONTEXT_SUM, "^-[^\t]+\ta\t"),
    "back-off too high": (swap(r"(\tb\t).*", r"\g<1>0.9"), Defect.BACKOFF_SUM, "\tb\t"),
    "back-off too low": (swap(r"(\tb\t).*", r"\1-2"), Defect.BACKOFF_SUM, "\tb\t"),
    "blank after the end": (lambda text: text + "\n", Defect.BLANK_AFTER_END, ""),
    "no last line end": (lambda text: text[:-1], Defect.NO_LAST_LINE_END, "end"),
}
