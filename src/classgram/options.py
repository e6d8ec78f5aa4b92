"""Every option as a field of a frozen dataclass, shared by the command line and the library.

The command line prints its help from the docstrings here, without importing NumPy.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Punctuation = Literal["keep", "verbalise", "strip"]
EncodingErrors = Literal["strict", "replace"]


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How text is tokenised: stored with the vocabulary, and applied to every later text."""

    lowercase: bool = False
    """Lowercase every word."""

    punctuation: Punctuation = "keep"
    """Keep punctuation in the words, make it words such as ,COMMA (verbalise), or remove it (strip)."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How the files of one text are read; not stored with the vocabulary."""

    field: str = "text"
    """The field of .jsonl files, or the column of .parquet files and tables, that holds the text."""

    encoding_errors: EncodingErrors = "strict"
    """Invalid UTF-8: stop and report where it is (strict), or replace it with U+FFFD (replace)."""

    skip_symbols: bool = False
    """Skip literal <s> and </s> in the text; otherwise they are errors."""


@dataclass(frozen=True, slots=True)
class VocabularyOptions:
    """Which words are in the vocabulary; all others are <unk>."""

    vocabulary_size: int | None = None
    """Keep so many of the most frequent words (<unk>, <s> and </s> not counted)."""

    min_count: int = 1
    """Keep words that occur at least so many times."""

    words: Path | None = None
    """Keep only the words in this file, one a line."""


@dataclass(frozen=True, slots=True)
class CountOptions:
    """Which n-grams are counted."""

    order: int = 2
    """The longest n-grams to count."""

    cutoffs: tuple[int, ...] = ()
    """Drop n-grams that occur fewer times: once for each order from 2 up; the last holds for all above."""

    memory: str = "2G"
    """Memory for counting n-grams; temporary files are used beyond it."""


Shape = Literal["tied", "joint", "positional", "predictive"]
Criterion = Literal["ml", "loo", "loo-paper"]
Effort = Literal["low", "normal", "high"]
Engine = Literal["local", "ray"]


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """What is clustered, into how many classes, and by which criterion."""

    classes: int | Literal["auto"] = "auto"
    """The number of word classes, or auto: chosen by leaving-one-out."""

    context_classes: int | None = None
    """The number of context classes, where contexts have their own (default: as many as word classes)."""

    contexts: int | None = None
    """For contexts of two or more words: how many of the most frequent get a class (default: all)."""

    criterion: Criterion = "ml"
    """Maximum likelihood (ml), leaving-one-out (loo), or that exactly as the paper has it (loo-paper)."""

    shape: Shape = "tied"
    """tied: words and contexts share classes; joint: contexts have their own; predictive: they have none."""

    order: int = 2
    """The length of the n-grams; contexts are order - 1 words long."""

    discount: float | Literal["estimate"] = 0.75
    """The discount b of leaving-one-out, or estimate: from the class counts, between sweeps."""

    move_min_count: int | None = None
    """Words that occur fewer times keep their initial class (default: 1; 2 for leaving-one-out)."""

    pins: tuple[str, ...] = ("<s>", "</s>")
    """Words that are alone in a class of their own."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How the search for the best classes proceeds."""

    start: str = "frequency"
    """The initial classes: frequency, round-robin, random, or a class file or folder."""

    seed: int = 0
    """The seed of all random choices."""

    sweeps: int | None = None
    """Stop after so many sweeps even if words still move."""

    effort: Effort = "low"
    """low: exchange until no word moves; normal, high: simulated annealing first, slower and better."""

    annealing: int | None = None
    """The number of annealing sweeps, instead of the effort's (normal: 12, high: 60)."""

    temperature: float = 3.0
    """The initial temperature of annealing, in square roots of a word's count."""

    no_regroup: bool = False
    """Do not merge and split classes after convergence (done for up to 400 classes)."""

    batch: int | None = None
    """Elements of a round, whose best classes are computed before any of them moves; 1: as in the paper."""

    heuristic: bool = False
    """Evaluate only the classes that the paper's heuristic selects."""

    targets: int = 10
    """Heuristic: the number of classes evaluated for a word (t)."""

    neighbours: int = 5
    """Heuristic: the number of most frequent neighbour classes compared (h)."""

    renew: int = 1000
    """Heuristic: the number of moves after which its lists are recomputed (u)."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is executed; of these, only a time limit can change the result."""

    threads: int | None = None
    """Threads to use (default: all cores that the process may use)."""

    time_limit: float | None = None
    """Stop after so many seconds of clustering and keep the best classes so far."""

    checkpoint_every: float = 60.0
    """Seconds between checkpoints within a sweep; sweeps end with one, at most every 2 seconds."""

    resume: bool = False
    """Continue an interrupted run from its checkpoint."""

    engine: Engine = "local"
    """Where the search runs; so far only in this process."""

    address: str | None = None
    """The address of a compute cluster; not used so far."""


Recipe = Literal["mixture", "factored", "class", "backoff", "katz", "kneser-ney"]
Smoothing = Literal["kneser-ney", "interpolated", "paper"]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Which language model is trained."""

    recipe: Recipe = "mixture"
    """Several models: mixture, or factored (better, slower); or one: class, backoff (the paper's), ..."""

    order: int | None = None
    """The longest n-grams (default: 5; 3 for backoff, katz; 2 for untied classes, the paper's smoothing)."""

    smoothing: Smoothing | None = None
    """For class models: kneser-ney (default for tied classes), interpolated (for others), or paper."""

    cutoff: tuple[int, ...] = (2,)
    """For backoff: drop n-grams that occur fewer times; once for each order from 2 up."""

    memory: str = "2G"
    """Memory for counting n-grams; temporary files are used beyond it."""


@dataclass(frozen=True, slots=True)
class TrainClassesOptions:
    """How classes are found for a class model if none are given."""

    classes: int | None = None
    """The number of word classes (default: a tenth of the number of words, at most 1,000)."""

    context_classes: int | None = None
    """The number of context classes, where contexts have their own (default: as many as word classes)."""

    contexts: int | None = None
    """For contexts of two or more words: how many of the most frequent get a class (default: all)."""

    shape: Shape = "tied"
    """tied: words and contexts share classes; joint: contexts have their own; predictive: they have none."""

    criterion: Criterion = "ml"
    """Maximum likelihood (ml), leaving-one-out (loo), or that exactly as the paper has it (loo-paper)."""

    move_min_count: int | None = None
    """Words that occur fewer times keep their initial class (default: 1; 2 for leaving-one-out)."""

    sweeps: int | None = None
    """Stop after so many sweeps even if words still move."""

    seed: int = 0
    """The seed of all random choices."""

    effort: Effort | None = None
    """low: exchange until no word moves; normal (default for mixtures), high: annealing first."""

    threads: int | None = None
    """Threads to use (default: all cores that the process may use)."""


@dataclass(frozen=True, slots=True)
class MixtureOptions:
    """What a mixture or a factored model consists of."""

    cache: bool = False
    """Add a cache: the words just scored become more likely."""

    fast: bool = False
    """For a mixture: keep only the few components that lower perplexity most for the time they take."""


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """How sentences are sampled from a model."""

    sentences: int = 10
    """The number of sentences."""

    seed: int = 0
    """The seed of the sampling."""

    temperature: float = 1.0
    """Sampling temperature: below 1 sharpens the distribution, above 1 flattens it."""

    max_words: int = 100
    """The length at which a sentence is cut off."""

    prompt: str = ""
    """The words that every sentence begins with."""

    unknown: bool = False
    """Sample <unk>, too."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """How a model is converted to a back-off model."""

    order: int | None = None
    """The longest n-grams to write (default: the order of the model)."""

    grow: int = 0
    """Add up to so many unseen n-grams: those whose probability exceeds their back-off estimate most."""

    prune: float | None = None
    """Entropy pruning: a threshold (< 1) on the relative rise of perplexity, or how many n-grams to keep."""


ClassFormat = Literal["tsv", "clustercat", "mkcls", "cats", "paths", "srilm", "aalto", "word2vec", "folder"]


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """What else is changed when classes are converted."""

    classes: int | None = None
    """Merge classes until so many are left, those first whose merge lowers F least."""

    depth: int | None = None
    """Keep only so many leading bits of Brown paths."""

    dimensions: int = 100
    """The number of dimensions of word vectors."""

    arpa: Path | None = None
    """Also write, as an ARPA file, the n-gram model over class names that SRILM expects."""

    order: int = 3
    """The longest n-grams of that model."""
