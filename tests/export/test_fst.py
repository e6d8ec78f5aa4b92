"""Class bigrams as transducers: pynini's paths and a naive walk have the model's own scores."""

import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from classgram.counts.events import joint_events
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.export.fst import write_fst
from classgram.models.class_based.class_model import ClassMaps, estimate_class_model
from classgram.models.class_based.class_ngrams import train_class_ngrams
from classgram.models.language_model import LanguageModel
from classgram.models.ngram.ngram_model import train_kneser_ney
from tests.helpers.models import some_classes, tuple_model
from tests.helpers.texts import counts_of, random_lines

SENTENCES = [*random_lines(2, 12), "w1 w1 w1", "never w2", ""]


@pytest.fixture(scope="module")
def counts() -> NgramCounts:
    return counts_of(random_lines(1), 2, ("never",))


def joint_bigrams(counts: NgramCounts) -> LanguageModel:
    contexts, _ = joint_events(counts, 0, 2)
    first = np.random.default_rng(5).integers(0, 7, len(contexts)).astype(np.int32)
    maps = ClassMaps(first[None], some_classes(counts, 6), contexts)
    return estimate_class_model(counts, 2, maps, "interpolated")


@pytest.fixture(scope="module", params=["tied", "kneser-ney", "apart", "joint", "paper"])
def model(request: pytest.FixtureRequest, counts: NgramCounts) -> LanguageModel:
    classes = some_classes(counts, 6)
    if request.param == "tied":
        return estimate_class_model(counts, 2, ClassMaps(classes[None], classes), "interpolated")
    if request.param == "kneser-ney":
        return train_class_ngrams(counts, classes, 2)
    if request.param == "joint":
        return joint_bigrams(counts)
    return tuple_model(counts, 2, "interpolated" if request.param == "apart" else "paper")


class NaiveTransducer:
    """A transducer as dictionaries of arcs, whose paths are followed one by one."""

    def __init__(self, path: Path) -> None:
        self.arcs: dict[int, list[tuple[int, str, float]]] = defaultdict(list)
        self.finals: dict[int, float] = {}
        self.start: int | None = None
        for line in path.read_text().splitlines():
            fields = line.split("\t")
            if self.start is None:
                self.start = int(fields[0])
            if len(fields) == 2:
                self.finals[int(fields[0])] = float(fields[1])
            else:
                self.arcs[int(fields[0])].append((int(fields[1]), fields[2], float(fields[4])))

    def cost(self, words: list[str]) -> list[float]:
        """The cost of every path that accepts the words."""
        assert self.start is not None
        states = [(self.start, 0.0)]
        for word in words:
            states = [
                (end, cost + epsilon + weight)
                for state, cost in states
                for node, symbol, epsilon in self.arcs[state]
                if symbol in ("<eps>", "#0")
                for end, label, weight in self.arcs[node]
                if label == word
            ]
        return [cost + self.finals[state] for state, cost in states if state in self.finals]


@pytest.mark.parametrize("disambiguate", [False, True])
def test_paths_have_the_models_scores(model: LanguageModel, disambiguate: bool, tmp_path: Path) -> None:
    write_fst(model, tmp_path / "g.fst.txt", tmp_path / "words.txt", disambiguate)
    twin = NaiveTransducer(tmp_path / "g.fst.txt")
    for line in SENTENCES:
        words = [word if word in model.vocabulary else "<unk>" for word in line.split()]
        costs = twin.cost(words)
        assert len(costs) == 1
        assert -costs[0] / math.log(10) == pytest.approx(model.score(line), abs=1e-4)


def test_the_topology_is_compact(model: LanguageModel, tmp_path: Path) -> None:
    write_fst(model, tmp_path / "g.fst.txt", tmp_path / "words.txt")
    twin = NaiveTransducer(tmp_path / "g.fst.txt")
    words = {symbol for arcs in twin.arcs.values() for _, symbol, _ in arcs} - {"<eps>"}
    number = sum(len(arcs) for arcs in twin.arcs.values())
    contexts = len(twin.finals)
    classes = len(twin.arcs) - contexts
    assert words == set(model.vocabulary.words) - {"<s>", "</s>"}
    assert number <= contexts * classes + len(words)


def test_pynini_agrees(model: LanguageModel, tmp_path: Path) -> None:
    openfst = pytest.importorskip("pywrapfst", reason="pynini is not installed")
    write_fst(model, tmp_path / "g.fst.txt", tmp_path / "words.txt")
    symbols = openfst.SymbolTable.read_text(str(tmp_path / "words.txt"))
    compiler = openfst.Compiler(isymbols=symbols, osymbols=symbols, arc_type="log")
    compiler.write((tmp_path / "g.fst.txt").read_text())
    grammar = compiler.compile()
    assert grammar.verify()
    for line in SENTENCES[:8]:
        words = [word if word in model.vocabulary else "<unk>" for word in line.split()]
        sentence = openfst.VectorFst(arc_type="log")
        state = sentence.add_state()
        sentence.set_start(state)
        for word in words:
            label, after = symbols.find(word), sentence.add_state()
            sentence.add_arc(state, openfst.Arc(label, label, openfst.Weight.one("log"), after))
            state = after
        sentence.set_final(state)
        found = openfst.compose(sentence, grammar.copy().arcsort("ilabel"))
        total = openfst.shortestdistance(found, reverse=True)[found.start()]
        assert -float(total) / math.log(10) == pytest.approx(model.score(line), abs=1e-3)


def test_the_sum_of_all_sentences_is_one(model: LanguageModel, tmp_path: Path) -> None:
    openfst = pytest.importorskip("pywrapfst", reason="pynini is not installed")
    write_fst(model, tmp_path / "g.fst.txt", tmp_path / "words.txt", numbers=True)
    compiler = openfst.Compiler(arc_type="log64")
    compiler.write((tmp_path / "g.fst.txt").read_text())
    grammar = compiler.compile()
    total = openfst.shortestdistance(grammar, reverse=True, delta=1e-9)[grammar.start()]
    assert float(total) == pytest.approx(0.0, abs=1e-3)


def test_symbols_and_numbers(model: LanguageModel, tmp_path: Path) -> None:
    write_fst(model, tmp_path / "g.fst.txt", tmp_path / "words.txt", disambiguate=True, numbers=True)
    table = dict(line.split(" ") for line in (tmp_path / "words.txt").read_text().splitlines())
    assert table["<eps>"] == "0"
    assert int(table["#0"]) == len(table) - 1
    arcs = [line.split("\t") for line in (tmp_path / "g.fst.txt").read_text().splitlines()]
    labels = {arc[2] for arc in arcs if len(arc) == 5}
    assert labels <= set(table.values())
    assert table["#0"] in labels
    assert {arc[3] for arc in arcs if len(arc) == 5 and arc[2] == table["#0"]} == {"0"}


def test_other_models_are_refused(counts: NgramCounts, tmp_path: Path) -> None:
    for other in (
        train_kneser_ney(counts, 2),
        train_class_ngrams(counts_of(random_lines(1), 3), some_classes(counts, 4)[:-1], 3),
    ):
        with pytest.raises(InputError, match="only class models of order 2"):
            write_fst(other, tmp_path / "g.fst.txt", tmp_path / "words.txt")


def test_words_that_transducers_use_are_refused(tmp_path: Path) -> None:
    counts = counts_of(["a #0 b", "b a"], 2)
    model = train_class_ngrams(counts, some_classes(counts, 2), 2)
    with pytest.raises(InputError, match="'#0'"):
        write_fst(model, tmp_path / "g.fst.txt", tmp_path / "words.txt", disambiguate=True)


def test_kaldilm_reads_our_arpa_files(counts: NgramCounts, tmp_path: Path) -> None:
    """The judge of what Kaldi's arpa2fst makes of an exported file: paths without back-off arcs."""
    kaldilm = pytest.importorskip("kaldilm", reason="kaldilm is not installed")
    from classgram.arpa.writing import write_arpa
    from classgram.export.backoff_export import export_backoff
    from classgram.options import ExportOptions

    model = train_class_ngrams(counts, some_classes(counts, 6), 2)
    exported = export_backoff(model, ExportOptions(grow=300)).model
    write_arpa(exported, tmp_path / "model.arpa")
    text = kaldilm.arpa2fst(str(tmp_path / "model.arpa"), disambig_symbol="#0", max_order=2)
    arcs = [line.split() for line in text.splitlines() if len(line.split()) == 5]
    assert len(arcs) >= exported.trie.sizes[1]
