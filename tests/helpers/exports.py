"""What every exported model must be."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import kenlm
import pytest

from classgram.arpa.checking import check_arpa
from classgram.arpa.writing import write_arpa
from classgram.models.ngram.ngram_model import NgramModel
from classgram.models.ngram.trie import BackoffTrie
from classgram.text.vocabulary import EOS


def contexts_of(trie: BackoffTrie) -> Iterator[int]:
    """Every context of a file: the empty one, and every n-gram below the highest order."""
    yield -1
    for node in range(sum(trie.sizes[:-1])):
        if trie.arrays.words[node] != EOS:
            yield node


def assert_sound(exported: NgramModel, lines: list[str]) -> None:
    """Every context sums to one, the file is clean, and KenLM scores as we do."""
    trie = exported.trie
    for context in contexts_of(trie):
        assert trie.distribution(context).sum() == pytest.approx(1, abs=2e-5)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.arpa"
        write_arpa(exported, path)
        assert check_arpa(path).findings == ()
        judge = kenlm.Model(str(path))
        assert judge.order == trie.order
        for line in lines:
            assert exported.score(line) == pytest.approx(judge.score(line), abs=1e-3)
