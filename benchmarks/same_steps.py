"""The command lines whose results ``make same`` compares: every command, and what it can be asked for.

They run in this order, in one folder, and later ones use what earlier ones wrote. ``{c}`` stands for
the number of classes, which depends on the text.
"""

from typing import NamedTuple


class Step(NamedTuple):
    """A command line, and how its results are to be taken."""

    line: str
    stdin: str = ""
    """The file that is given as standard input."""
    code: int = 0
    """The exit code that is expected."""
    small: bool = False
    """Run it only on the demo text: on a large one it takes long and shows nothing more."""
    skip: tuple[str, ...] = ()
    """Files that hold times in every other line, and are not compared."""
    from_old: tuple[str, ...] = ()
    """What the new side gets from the old one first, so that times in it are the same, too."""


COUNT = (
    Step("count train.txt -o counts2"),
    Step("count train.txt -o counts5 --order 5"),
    Step("count train.txt -o counts-kept --order 3 --min-count 2 --lowercase"),
    Step("count train.txt -o counts-words --words words.txt"),
    Step("count train.txt -o counts-size --order 3 --vocabulary-size 500 --cutoffs 1 --cutoffs 2"),
    Step("count train.txt -o counts-said --punctuation verbalise"),
    Step("count train.txt -o counts-bare --punctuation strip --lowercase"),
    Step("count train.txt -o counts-spilt --order 4 --memory 1M"),
    Step("count train.txt.gz valid.jsonl -o counts-packed --field body"),
    Step("count - -o counts-piped --order 3", stdin="train.txt"),
    Step("count odd.txt -o counts-odd --encoding-errors replace --skip-symbols"),
    Step("count odd.txt -o counts-refused", code=2),
    Step("info counts5"),
    Step("info counts5 --verify --json"),
)

CLUSTER = (
    Step("cluster train.txt -o tied --classes {c} --threads 1"),
    Step("cluster train.txt -o tied2 --classes {c} --threads 2 --json"),
    Step("cluster counts2 -o from-counts --classes {c} --threads 1"),
    Step("cluster train.txt --classes {c} --threads 1 --lowercase --min-count 2"),
    Step("cluster train.txt --classes {c} --threads 1 --json --quiet"),
    Step("cluster train.txt -o joint --classes {c} --context-classes 30 --shape joint"),
    Step("cluster train.txt -o predictive --classes {c} --shape predictive"),
    Step("cluster train.txt -o positional --classes {c} --shape positional --order 2"),
    Step("cluster train.txt -o refused --classes 30 --shape positional --order 3", code=2),
    Step("cluster train.txt -o loo --classes {c} --criterion loo"),
    Step("cluster train.txt -o joint-loo --classes {c} --shape joint --criterion loo --discount estimate"),
    Step("cluster train.txt -o heuristic --classes {c} --heuristic --targets 5 --neighbours 10 --renew 200"),
    Step("cluster train.txt -o plain --classes 30 --batch 1"),
    Step("cluster train.txt -o normal --classes {c} --effort normal --threads 1", small=True),
    Step("cluster train.txt -o high --classes 30 --effort high --threads 2", small=True),
    Step("cluster train.txt -o annealed --classes {c} --annealing 5 --temperature 2 --seed 7"),
    Step("cluster train.txt -o contexts --classes {c} --shape joint --order 3 --contexts 1000"),
    Step("cluster train.txt -o contexts-all --classes {c} --shape joint --order 3", small=True),
    Step("cluster train.txt -o predictive3 --classes 30 --shape predictive --order 3", small=True),
    Step("cluster train.txt -o many --classes 600 --threads 2 --no-regroup"),
    Step("cluster train.txt -o robin --classes {c} --start round-robin"),
    Step("cluster train.txt -o random --classes {c} --start random --seed 3 --sweeps 4"),
    Step("cluster train.txt -o again --classes {c} --start tied --move-min-count 3 --pins the --pins a"),
    Step("cluster train.txt -o tied.tsv --classes {c}"),
    Step("cluster train.txt -o tied.paths --classes {c}"),
    Step("cluster train.txt -o tied.classes --classes {c}"),
    Step("cluster train.txt -o tied.cls --classes {c}"),
    Step("cluster few.txt -o auto --classes auto"),
    Step("cluster train.txt -o halted --classes {c} --time-limit 0", skip=("halted.checkpoint/*",)),
    Step("cluster train.txt -o halted --classes {c} --resume", skip=("halted.checkpoint/*",)),
    Step("info tied", from_old=("tied",)),
)

CLASSES = (
    Step("classes tied"),
    Step("classes tied the of nosuchword"),
    Step("classes joint the --json"),
    Step("classes tied --json"),
    Step("tag tied valid.txt"),
    Step("tag joint -", stdin="valid.txt"),
    Step("convert tied converted.tsv"),
    Step("convert tied converted.paths --text train.txt"),
    Step("convert tied.paths short.paths --text counts2 --depth 4"),
    Step("convert tied merged.tsv.gz --text train.txt --classes 10"),
    Step("convert tied converted.mkcls --to mkcls --text train.txt"),
    Step("convert tied converted.cats --to cats --text train.txt"),
    Step("convert tied converted.cat --to clustercat --text train.txt"),
    Step("convert tied converted.srilm --to srilm --text train.txt --arpa classes.arpa --order 3"),
    Step("convert tied converted.aalto --to aalto --text train.txt"),
    Step("convert tied vectors.txt --to word2vec --text train.txt --dimensions 20", small=True),
    Step("convert converted.srilm folder --to folder --text train.txt"),
    Step("convert tied.tsv - --to tsv"),
    Step("judge tied joint.tsv --text train.txt", code=2),
    Step("judge tied tied.tsv loo converted.mkcls --text train.txt --test valid.txt"),
    Step("judge tied random --text counts2 --json"),
    Step("classgram-mkcls -c20 -n1 -ptrain.txt -Vmkcls.out opt", small=True),
    Step("classgram-mkcls -c20 -n0 -m2 -r5 -ptrain.txt -Vmkcls2.out"),
    Step("classgram-clustercat -c 30 -j 1", stdin="train.txt"),
    Step("classgram-clustercat --in train.txt --out cat.out --min-count 1 --class-offset 5 --print-freqs"),
    Step("classgram-clustercat --in train.txt --classes 30 --class-file tied.tsv --tune-cycles 2"),
    Step("install-dropins programs"),
)

TRAIN = (
    Step("train train.txt -o kn5 --recipe kneser-ney"),
    Step("train counts5 -o kn5-counts --recipe kneser-ney"),
    Step("train train.txt -o kn3 --recipe kneser-ney --order 3 --min-count 2 --lowercase"),
    Step("train train.txt -o backoff --recipe backoff --order 3 --cutoff 1 --cutoff 2"),
    Step("train train.txt -o backoff2 --recipe backoff --order 2"),
    Step("train train.txt -o katz --recipe katz --order 3"),
    Step("train train.txt -o class --recipe class --classes {c}"),
    Step("train train.txt -o class-used --recipe class --use-classes tied --order 3"),
    Step("train train.txt -o class-int --recipe class --use-classes tied --smoothing interpolated --order 2"),
    Step("train train.txt -o class-paper --recipe class --classes {c} --smoothing paper --criterion loo"),
    Step("train train.txt -o class-joint --recipe class --use-classes joint --smoothing interpolated"),
    Step("train train.txt -o class-joint-paper --recipe class --use-classes joint --smoothing paper"),
    Step("train train.txt -o class-pred --recipe class --use-classes predictive --order 2"),
    Step("train train.txt -o class-pos --recipe class --use-classes positional --order 2"),
    Step("train train.txt -o class-ctx --recipe class --use-classes contexts --order 3", small=True),
    Step("train train.txt -o mixture --valid valid.txt --effort low"),
    Step("train train.txt -o mixture-cut", small=True),
    Step(
        "train train.txt -o mixture-cache --cache --fast --valid valid.txt --seed 2 --threads 2", small=True
    ),
    Step("mix kn5 class-used --valid valid.txt -o mixed"),
    Step("mix kn5 class-int katz --valid valid.txt -o mixed-flat --no-by-context"),
    Step("mix kn5 mixture --valid valid.txt -o mixed-cache --cache", small=True),
    Step("info mixture --json"),
    Step("info kn5 --verify"),
)

MODELS = ("kn5", "kn3", "backoff", "backoff2", "katz", "class", "class-used", "class-int", "class-paper")
OTHER_MODELS = (
    "class-joint",
    "class-joint-paper",
    "class-pred",
    "class-pos",
    "mixture",
    "mixed",
    "mixed-flat",
)
SMALL_MODELS = ("class-ctx", "mixture-cut", "mixture-cache", "mixed-cache")

SCORE = (
    *(Step(f"perplexity {model} valid.txt --json") for model in (*MODELS, *OTHER_MODELS)),
    *(Step(f"perplexity {model} valid.txt --json", small=True) for model in SMALL_MODELS),
    Step("perplexity kn5 valid.txt"),
    Step("perplexity kn5 -", stdin="valid.txt"),
    Step("perplexity kn3 odd.txt --encoding-errors replace --skip-symbols --json"),
    Step("compare kn5 mixture class valid.txt"),
    Step("compare kn5 katz mixed valid.txt --json"),
    Step("surprisal kn5 mixture valid.txt"),
    Step("surprisal kn5 class-used - --json", stdin="few.txt"),
    Step("score kn5 valid.txt"),
    Step("score mixture valid.txt --json"),
    Step("score kn5 - --keep-below 200", stdin="valid.txt"),
    Step("score kn5 documents.txt --unit document"),
    Step("score kn5 valid.jsonl --field body"),
    Step("generate kn5"),
    Step("generate mixture --sentences 5 --seed 3 --temperature 0.7 --max-words 20 --json"),
    Step("generate class-used 3 --prompt the --unknown"),
)

EXPORT = (
    Step("export kn5 kn5.arpa --unigrams unigrams.txt"),
    Step("export kn3 kn3.arpa.gz --json"),
    Step("export katz katz.arpa --order 2"),
    Step("export mixture mixture.arpa --order 3 --valid valid.txt --json"),
    Step("export mixture grown.arpa --order 3 --grow 5000 --prune 20000"),
    Step("export class-used class.arpa --ngrams few.txt --grow 2000"),
    Step("export kn5 pruned.arpa --prune 1e-7"),
    Step("export class-int class.fst.txt"),
    Step("export class-int class2.fst.txt --symbols symbols.txt --disambiguate --numbers --json"),
    Step("arpa check kn5.arpa"),
    Step("arpa check broken.arpa", code=2),
    Step("arpa check broken.arpa --json", code=2),
    Step("arpa check broken.arpa --fix mended.arpa"),
    Step("arpa prune kn5.arpa smaller.arpa --threshold 1e-7"),
    Step("arpa prune kn3.arpa.gz smallest.arpa.gz --size 5000"),
    Step("perplexity kn5.arpa valid.txt --json"),
    Step("perplexity grown.arpa valid.txt --json"),
)

PAPER = ("rep/report.md", "rep/tables/*", "rep/figures/*")
PAPER_LINE = (
    "reproduce -o rep --train train.txt --test valid.txt --workers 1 --only table-2 table-5 section-3"
)
REPRODUCE = (
    # Tables and figures of times differ; the second call makes them anew, from the same cells on both sides.
    Step(PAPER_LINE, small=True, skip=PAPER),
    Step(f"{PAPER_LINE} --json", small=True, from_old=("rep",)),
    Step("demo --json", small=True),
)

# Class files do not say how long a search took, as folders of classes do.
REPORT = (
    Step("report converted.tsv class-used kn5 -o page.html --text valid.txt --counts counts2", small=True),
    Step("report counts2 -o refused.html", code=2),
    Step("similar class-used the"),
    Step("similar tied the --counts counts2 --json"),
)

STEPS = (*COUNT, *CLUSTER, *CLASSES, *TRAIN, *SCORE, *EXPORT, *REPORT, *REPRODUCE)
