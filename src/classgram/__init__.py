"""classgram learns word classes from text and builds class-based n-gram language models.

Names are imported when they are first used, so that ``import classgram`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from classgram._version import __version__
from classgram.errors import InputError

if TYPE_CHECKING:
    from classgram.arpa import write_arpa as write_arpa
    from classgram.class_files import read_classes as read_classes
    from classgram.class_lists import ClassList as ClassList
    from classgram.clustering import Result as Result
    from classgram.clustering import exchange as exchange
    from classgram.converting import convert_classes as convert_classes
    from classgram.decoders import PyctcdecodeModel as PyctcdecodeModel
    from classgram.decoders import ctc_decoder_model as ctc_decoder_model
    from classgram.estimator import WordClasses as WordClasses
    from classgram.exporting import export_backoff as export_backoff
    from classgram.fst import write_fst as write_fst
    from classgram.judging import Judgement as Judgement
    from classgram.judging import judge_classes as judge_classes
    from classgram.language_model import LanguageModel as LanguageModel
    from classgram.mixture import MixtureModel as MixtureModel
    from classgram.mixture import mix_models as mix_models
    from classgram.mixture_recipe import train_mixture as train_mixture
    from classgram.model_files import load as load
    from classgram.ngrams import NgramCounts as NgramCounts
    from classgram.ngrams import count_ngrams as count_ngrams
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
    from classgram.partition import Partition as Partition
    from classgram.sentences import Sentences as Sentences
    from classgram.text import Text as Text
    from classgram.text import read_text as read_text
    from classgram.text import text_from_strings as text_from_strings
    from classgram.training import train_model as train_model
    from classgram.tree import Tree as Tree
    from classgram.tree import build_tree as build_tree
    from classgram.vocabulary import Vocabulary as Vocabulary

_HOMES = {
    "write_arpa": "arpa",
    "export_backoff": "exporting",
    "ExportOptions": "options",
    "write_fst": "fst",
    "PyctcdecodeModel": "decoders",
    "ctc_decoder_model": "decoders",
    "LanguageModel": "language_model",
    "load": "model_files",
    "MixtureOptions": "options",
    "ModelOptions": "options",
    "GenerateOptions": "options",
    "train_model": "training",
    "MixtureModel": "mixture",
    "mix_models": "mixture",
    "train_mixture": "mixture_recipe",
    "WordClasses": "estimator",
    "Result": "clustering",
    "exchange": "clustering",
    "Partition": "partition",
    "ClassList": "class_lists",
    "read_classes": "class_files",
    "convert_classes": "converting",
    "ConvertOptions": "options",
    "Judgement": "judging",
    "judge_classes": "judging",
    "Tree": "tree",
    "build_tree": "tree",
    "ClusterOptions": "options",
    "SearchOptions": "options",
    "RunOptions": "options",
    "NgramCounts": "ngrams",
    "count_ngrams": "ngrams",
    "CountOptions": "options",
    "ReadOptions": "options",
    "TextOptions": "options",
    "VocabularyOptions": "options",
    "Sentences": "sentences",
    "Text": "text",
    "read_text": "text",
    "text_from_strings": "text",
    "Vocabulary": "vocabulary",
}

__all__ = ["InputError", "__version__", *_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'classgram' has no attribute {name!r}")
    return getattr(import_module(f"classgram.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
