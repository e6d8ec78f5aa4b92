"""classgram learns word classes from text and builds class-based n-gram language models.

Names are imported when they are first used, so that ``import classgram`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from classgram._version import __version__
from classgram.errors import InputError

if TYPE_CHECKING:
    from classgram.arpa.writing import write_arpa as write_arpa
    from classgram.class_files.comparison import Judgement as Judgement
    from classgram.class_files.comparison import judge_classes as judge_classes
    from classgram.class_files.converting import convert_classes as convert_classes
    from classgram.class_files.reading import read_classes as read_classes
    from classgram.classes.class_list import ClassList as ClassList
    from classgram.classes.partition import Partition as Partition
    from classgram.clustering.exchange import exchange as exchange
    from classgram.clustering.result import Result as Result
    from classgram.clustering.tree import Tree as Tree
    from classgram.clustering.tree import build_tree as build_tree
    from classgram.counts.counting import count_ngrams as count_ngrams
    from classgram.counts.ngram_counts import NgramCounts as NgramCounts
    from classgram.estimator import WordClasses as WordClasses
    from classgram.export.backoff_export import export_backoff as export_backoff
    from classgram.export.decoders import PyctcdecodeModel as PyctcdecodeModel
    from classgram.export.decoders import ctc_decoder_model as ctc_decoder_model
    from classgram.export.fst import write_fst as write_fst
    from classgram.loading import load as load
    from classgram.models.factored.model import FactoredModel as FactoredModel
    from classgram.models.factored.recipe import train_factored as train_factored
    from classgram.models.language_model import LanguageModel as LanguageModel
    from classgram.models.mixtures.mixture import MixtureModel as MixtureModel
    from classgram.models.mixtures.mixture import mix_models as mix_models
    from classgram.models.mixtures.recipe import train_mixture as train_mixture
    from classgram.models.training import train_model as train_model
    from classgram.options import ClusterOptions as ClusterOptions
    from classgram.options import ConvertOptions as ConvertOptions
    from classgram.options import CountOptions as CountOptions
    from classgram.options import ExportOptions as ExportOptions
    from classgram.options import GenerateOptions as GenerateOptions
    from classgram.options import MixtureOptions as MixtureOptions
    from classgram.options import ModelOptions as ModelOptions
    from classgram.options import ReadOptions as ReadOptions
    from classgram.options import RunOptions as RunOptions
    from classgram.options import SearchOptions as SearchOptions
    from classgram.options import TextOptions as TextOptions
    from classgram.options import VocabularyOptions as VocabularyOptions
    from classgram.pipelines.clustering import cluster as cluster
    from classgram.pipelines.counting import count as count
    from classgram.pipelines.training import train as train
    from classgram.reporting.reporting import ReportPage as ReportPage
    from classgram.reporting.reporting import report as report
    from classgram.text.reading import Text as Text
    from classgram.text.reading import read_text as read_text
    from classgram.text.reading import text_from_strings as text_from_strings
    from classgram.text.sentences import Sentences as Sentences
    from classgram.text.vocabulary import Vocabulary as Vocabulary

_HOMES = {
    "count": "pipelines.counting",
    "cluster": "pipelines.clustering",
    "train": "pipelines.training",
    "report": "reporting.reporting",
    "ReportPage": "reporting.reporting",
    "write_arpa": "arpa.writing",
    "export_backoff": "export.backoff_export",
    "ExportOptions": "options",
    "write_fst": "export.fst",
    "PyctcdecodeModel": "export.decoders",
    "ctc_decoder_model": "export.decoders",
    "LanguageModel": "models.language_model",
    "load": "loading",
    "MixtureOptions": "options",
    "ModelOptions": "options",
    "GenerateOptions": "options",
    "train_model": "models.training",
    "MixtureModel": "models.mixtures.mixture",
    "mix_models": "models.mixtures.mixture",
    "train_mixture": "models.mixtures.recipe",
    "FactoredModel": "models.factored.model",
    "train_factored": "models.factored.recipe",
    "WordClasses": "estimator",
    "Result": "clustering.result",
    "exchange": "clustering.exchange",
    "Partition": "classes.partition",
    "ClassList": "classes.class_list",
    "read_classes": "class_files.reading",
    "convert_classes": "class_files.converting",
    "ConvertOptions": "options",
    "Judgement": "class_files.comparison",
    "judge_classes": "class_files.comparison",
    "Tree": "clustering.tree",
    "build_tree": "clustering.tree",
    "ClusterOptions": "options",
    "SearchOptions": "options",
    "RunOptions": "options",
    "NgramCounts": "counts.ngram_counts",
    "count_ngrams": "counts.counting",
    "CountOptions": "options",
    "ReadOptions": "options",
    "TextOptions": "options",
    "VocabularyOptions": "options",
    "Sentences": "text.sentences",
    "Text": "text.reading",
    "read_text": "text.reading",
    "text_from_strings": "text.reading",
    "Vocabulary": "text.vocabulary",
}

__all__ = ["InputError", "__version__", *_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'classgram' has no attribute {name!r}")
    return getattr(import_module(f"classgram.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
