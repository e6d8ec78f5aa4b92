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


Shape = Literal["tied", "joint", "positional", "predictive"]
Criterion = Literal["ml", "loo"]
Effort = Literal["low", "normal", "high"]
Engine = Literal["local", "ray"]


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """What is clustered, into how many classes, and by which criterion."""

    classes: int | Literal["auto"] = "auto"
    """The number of word classes, or auto: the number that leaving-one-out likes best."""

    context_classes: int | None = None
    """The number of context classes where contexts have classes of their own; as many as word classes."""

    contexts: int | None = None
    """Joint contexts of two words and more: how many of the most frequent are told apart (all)."""

    criterion: Criterion = "ml"
    """Maximum likelihood (ml) or leaving-one-out (loo)."""

    shape: Shape = "tied"
    """One set of classes (tied), others for contexts (joint), or no classes of contexts (predictive)."""

    order: int = 2
    """The length of the n-grams: contexts are order - 1 words."""

    discount: float | Literal["estimate"] = 0.75
    """The discount b of leaving-one-out, or estimate: renewed between sweeps."""

    move_min_count: int | None = None
    """Words seen fewer times stay where they started; 1, or 2 under leaving-one-out."""

    pins: tuple[str, ...] = ("<s>", "</s>")
    """Words with classes of their own that no other word may join."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How the best classes are searched for."""

    start: str = "frequency"
    """frequency, round-robin, random, or a class file or folder to start from."""

    seed: int = 0
    """The seed of everything random."""

    sweeps: int | None = None
    """Stop after this many sweeps even where words still move."""

    effort: Effort = "low"
    """low: until no word moves; normal and high: anneal first, for better classes in more time."""

    annealing: int | None = None
    """Sweeps of annealing, instead of as many as the effort stands for; more give better classes."""

    temperature: float = 3.0
    """The first temperature of annealing, in roots of a word's count."""

    no_regroup: bool = False
    """Do not merge and split whole classes (of up to 400) where no single word gains any more."""

    batch: int | None = None
    """Words whose best classes are found together before any is moved; 1 is the plain algorithm."""

    heuristic: bool = False
    """Try only the classes that the heuristic selects."""

    targets: int = 10
    """Classes that the heuristic selects for a word (t)."""

    neighbours: int = 5
    """Most frequent neighbour classes that the heuristic compares (h)."""

    renew: int = 1000
    """Moves after which the heuristic renews all its lists (u)."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is executed: it never changes the result."""

    threads: int | None = None
    """Threads to use (all cores)."""

    time_limit: float | None = None
    """Stop after this many seconds of clustering and keep the best so far."""

    checkpoint_every: float = 60.0
    """Seconds between checkpoints; there is one after every sweep, too."""

    resume: bool = False
    """Continue an interrupted run from its last checkpoint."""

    engine: Engine = "local"
    """Where the work is done; so far only in this process."""

    address: str | None = None
    """The address of a cluster of machines; not used so far."""


Recipe = Literal["mixture", "class", "backoff", "katz", "kneser-ney"]
Smoothing = Literal["kneser-ney", "interpolated", "paper"]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Which language model is trained."""

    recipe: Recipe = "mixture"
    """A mixture of word and class models, or one of Kneser-Ney, the paper's back-off, Katz, class."""

    order: int | None = None
    """The longest n-grams; by default 5 (Kneser-Ney, tied classes), 3, 2 for the paper's smoothing."""

    smoothing: Smoothing | None = None
    """Of class models: kneser-ney (for tied classes the default), interpolated, or the paper's."""

    cutoff: tuple[int, ...] = (2,)
    """Of the paper's back-off: drop n-grams seen fewer times, a number for each order from 2 up."""

    memory: str = "2G"
    """Memory for the sorting of n-grams; beyond it temporary files are used."""


@dataclass(frozen=True, slots=True)
class TrainClassesOptions:
    """The classes that a class model makes for itself where none are given."""

    classes: int | None = None
    """The number of word classes; by default a tenth of the words seen, at most 1,000."""

    context_classes: int | None = None
    """The number of context classes where contexts have classes of their own; as many as word classes."""

    contexts: int | None = None
    """Joint contexts of two words and more: how many of the most frequent are told apart (all)."""

    shape: Shape = "tied"
    """One set of classes (tied), others for contexts (joint), or no classes of contexts (predictive)."""

    criterion: Criterion = "ml"
    """Maximum likelihood (ml) or leaving-one-out (loo)."""

    move_min_count: int | None = None
    """Words seen fewer times stay where they started; 1, or 2 under leaving-one-out."""

    sweeps: int | None = None
    """Stop after this many sweeps even where words still move."""

    seed: int = 0
    """The seed of everything random."""

    effort: Effort | None = None
    """low: until no word moves; normal (of mixtures) and high: anneal first, for better classes."""

    threads: int | None = None
    """Threads to use (all cores)."""


@dataclass(frozen=True, slots=True)
class MixtureOptions:
    """What a mixture has beside its models."""

    cache: bool = False
    """Let the mixture adapt to the text it scores: what was said before is likely to be said again."""

    fast: bool = False
    """Keep only the few components that help most for the time they take."""


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """How sentences are drawn."""

    sentences: int = 10
    """How many sentences to draw."""

    seed: int = 0
    """The same seed draws the same sentences."""

    temperature: float = 1.0
    """Below 1 likely words become likelier, above 1 less likely."""

    max_words: int = 100
    """Cut a sentence here if it did not end before."""

    prompt: str = ""
    """Words that every sentence begins with."""

    unknown: bool = False
    """Let <unk> be drawn, too."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """How a model becomes an ARPA file."""

    order: int | None = None
    """The longest n-grams to write; by default those that the model holds."""

    grow: int = 0
    """Add up to this many unseen n-grams, those that the model raises most above their back-off."""

    prune: float | None = None
    """Drop n-grams at last: below 1 the rise of perplexity that one must spare, else how many to keep."""


ClassFormat = Literal["tsv", "clustercat", "mkcls", "cats", "paths", "srilm", "aalto", "word2vec", "folder"]


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """What classes become besides another format."""

    classes: int | None = None
    """Merge classes, those first that lose least, until so many are left."""

    depth: int | None = None
    """Keep only the first bits of the paths."""

    dimensions: int = 100
    """The length of word vectors."""

    arpa: Path | None = None
    """Also write the n-gram model over SRILM's class names that its tools want beside the classes."""

    order: int = 3
    """The longest n-grams of that model."""
