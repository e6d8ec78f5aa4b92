"""Random texts for the property tests."""

from hypothesis import strategies as st

WORDS = (
    "a",
    "b",
    "c",
    "dd",
    "Ee",
    "ninebytes",
    "ninebytez",
    "<unk>",
    "Ünï",
    "don't",
    "U.S.",
    "x\u00a0y",
    "'tis",
)
MARKS = (",", ".", "--", "—", "...", '"', "(", "well-taught", "“Oh,", "dear!”", "ΟΔΟΣ", "İstanbul", "K")

words = st.sampled_from(WORDS)
messy_words = st.one_of(words, st.sampled_from(MARKS), st.text("abΣ,.-—“'", min_size=1, max_size=6))


def lines(word: st.SearchStrategy[str], most: int = 12) -> st.SearchStrategy[str]:
    """Texts of random lines; some are blank, some end in CR."""
    gaps = st.sampled_from([" ", "  ", "\t", "\x0b"])
    line = st.lists(st.tuples(word, gaps), max_size=9).map(lambda pairs: "".join(a + b for a, b in pairs))
    ends = st.sampled_from(["\n", "\n", "\r\n"])
    return st.lists(st.tuples(line, ends), min_size=1, max_size=most).map(
        lambda pairs: "".join(a + b for a, b in pairs)
    )


texts = lines(words).filter(lambda text: text.strip() != "")
messy_texts = lines(messy_words)
