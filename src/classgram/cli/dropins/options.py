"""The options of mkcls and clustercat, parsed as these programs parse them.

Options that only control the search of the original programs are accepted and ignored; an option
that would change what is clustered and has no counterpart is an error.
"""

from dataclasses import dataclass
from pathlib import Path

from classgram.errors import InputError

MKCLS_USAGE = """usage: classgram-mkcls [-cCLASSES] [-nRUNS] [-pCORPUS] [-VOUTPUT] [opt]
 -c number of classes (100)       -n effort: more gives better classes (1)
 -p the corpus (train)            -V the classes, and OUTPUT.cats for people (none)
 -m least count of a word (1): rarer ones are class 1
 -s seconds at most               -r the seed of everything random
The options -a -e -h -i -k -l -M -N -o -O -v -w -x -y control the search of mkcls; they are ignored."""

CLUSTERCAT_USAGE = """usage: classgram-clustercat [options] < text > classes.tsv
 -c, --classes C      number of classes (1.2 times the square root of the number of words)
     --min-count N    leave out rarer words (3)
     --in, --out FILE instead of standard input and output
     --class-file F   start from these classes, of any format
     --class-offset N number classes from here (0)
     --print-freqs    a third column with counts
     --tune-cycles N  sweeps at most (until nothing moves)
     --word-vectors text   word vectors instead of classes
 -j, --threads N      threads (all cores)       -q, --quiet   -v, --verbose   -h, --help
The options --forward-lambda --max-array --refine --rev-alternate --unidirectional control the search
of clustercat; they are ignored."""


@dataclass(frozen=True)
class MkclsOptions:
    """What a call of mkcls asks for."""

    classes: int = 100
    runs: int = 1
    corpus: Path = Path("train")
    output: Path | None = None
    min_count: int = 1
    seconds: float | None = None
    seed: int = 0


@dataclass(frozen=True)
class ClustercatOptions:
    """What a call of clustercat asks for."""

    classes: int | None = None
    min_count: int = 3
    source: str = "-"
    output: Path = Path("-")
    class_file: Path | None = None
    offset: int = 0
    frequencies: bool = False
    cycles: int | None = None
    vectors: bool = False
    threads: int | None = None
    quiet: bool = False


def _whole_number(option: str, value: str, least: int) -> int:
    """Return the whole number that an option was given."""
    if not value.isascii() or not value.isdigit() or int(value) < least:
        raise InputError(f"{option} takes a whole number from {least} on, not {value!r}")
    return int(value)


_MKCLS_IGNORED = "aehiklMNoOvwxy"


def parse_mkcls(words: list[str]) -> MkclsOptions:
    """Parse the arguments of mkcls: a value follows its letter directly, or as the next argument."""
    given: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word in ("opt", ""):
            continue
        letter = word[1:2]
        if not word.startswith("-") or letter not in "cnpVmrs" + _MKCLS_IGNORED or not letter:
            raise InputError(f"unknown argument {word}; -h shows the options")
        if letter in _MKCLS_IGNORED:
            # -e has two values, the second a word of its own.
            if letter == "e":
                next(rest, "")
            continue
        value = word[2:] or next(rest, "")
        if not value:
            raise InputError(f"-{letter} needs a value, as in -{letter}2")
        given[letter] = value
    return MkclsOptions(
        _whole_number("-c", given.get("c", "100"), 1),
        _whole_number("-n", given.get("n", "1"), 0),
        Path(given.get("p", "train")),
        Path(given["V"]) if "V" in given else None,
        _whole_number("-m", given.get("m", "1"), 0),
        float(_whole_number("-s", given["s"], 1)) if "s" in given else None,
        _whole_number("-r", given.get("r", "0"), 0),
    )


_CLUSTERCAT_VALUES = {
    "--classes": "classes",
    "--num-classes": "classes",
    "--min-count": "min_count",
    "--in": "source",
    "--out": "output",
    "--class-file": "class_file",
    "--class-offset": "offset",
    "--tune-cycles": "cycles",
    "--threads": "threads",
    "--word-vectors": "vectors",
    "--forward-lambda": "",
    "--max-array": "",
    "--refine": "",
    "--rev-alternate": "",
}
_CLUSTERCAT_FLAGS = {
    "--print-freqs": "frequencies",
    "--quiet": "quiet",
    "--verbose": "",
    "--unidirectional": "",
}
_SHORT_NAMES = {"-c": "--classes", "-j": "--threads", "-q": "--quiet", "-v": "--verbose"}


def parse_clustercat(words: list[str]) -> ClustercatOptions:
    """Parse the arguments of clustercat; a value may also follow ``=``."""
    given: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name[:2] in ("-c", "-j") and len(name) > 2:
            name, equals, value = name[:2], "=", name[2:]
        name = _SHORT_NAMES.get(name, name)
        if name in _CLUSTERCAT_FLAGS:
            given[_CLUSTERCAT_FLAGS[name]] = "yes"
        elif name in _CLUSTERCAT_VALUES:
            value = value if equals else next(rest, "")
            if not value:
                raise InputError(f"{name} needs a value")
            given[_CLUSTERCAT_VALUES[name]] = value
        elif name == "--ngram-input":
            raise InputError("--ngram-input: n-gram lists are not read; give the text itself")
        else:
            raise InputError(f"unknown argument {word}; --help shows the options")
    if given.get("vectors", "text") != "text":
        raise InputError(f"--word-vectors {given['vectors']}: only text is written; gensim converts it")
    return ClustercatOptions(
        _whole_number("--classes", given["classes"], 1) if "classes" in given else None,
        _whole_number("--min-count", given.get("min_count", "3"), 0),
        given.get("source", "-"),
        Path(given.get("output", "-")),
        Path(given["class_file"]) if "class_file" in given else None,
        _whole_number("--class-offset", given.get("offset", "0"), 0),
        "frequencies" in given,
        _whole_number("--tune-cycles", given["cycles"], 0) if "cycles" in given else None,
        "vectors" in given,
        _whole_number("--threads", given["threads"], 1) if "threads" in given else None,
        "quiet" in given,
    )
