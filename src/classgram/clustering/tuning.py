"""Every tuned number of the search: its unit, its meaning, and where it was measured.

None of them decides which classes are optimal: a converged result is certified by a full sweep. They decide
which of the optima is found, and how soon. Tests pass another instance to reach what only large tasks reach.

Measured on: PTB, the Penn Treebank (0.93 M words, 10,000 types, 100 to 1000 classes); NOV, the novels (13 M
words, 20,000 types, 1000 classes); both on one core.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchTuning:
    """The tuned numbers of a search."""

    # Rounds
    smallest_gain: float = 1e-9
    """Share of |F|: what a move must gain. Below it lies the rounding of F itself."""
    largest_batch: int = 2048
    """Elements of a round at most. PTB, NOV."""
    rounds_per_sweep: int = 24
    """Rounds that a sweep is cut into, unless they are larger than that: threads wait after each. NOV:
    neighbouring values need 10 to 40 % more evaluations of all classes, PTB is indifferent."""
    chunk_seconds: float = 0.25
    """Seconds of work between two checks of the time limit, of Ctrl-C and of the progress bar."""

    # Runners-up
    runner_up_margin: float = 2.0
    """In units of F, times the square root of the element's count: a class that is worse than the best by
    less is remembered as a runner-up. PTB."""
    retry_slack: float = 2.0
    """Units of F: near runners-up are tried although the changes since make up for all but this. PTB."""
    uncertain_margin: float = 8.0
    """Units of F: an element that would lose less by its second-best class is uncertain if it occurs with
    a class that has changed. PTB."""

    # Schedule
    small_search: int = 1_000_000
    """Elements times classes below which every sweep is a full one: full sweeps are quick there."""
    settled_share: float = 0.0005
    """Share of all elements: sweeps over runners-up go on while they move more. PTB, NOV."""
    near_share: float = 0.001
    """Share of all elements: near runners-up are tried again while that moves more. PTB."""
    full_before_near: int = 3
    """Full sweeps before near runners-up are worth a try. PTB."""
    full_before_uncertain: int = 2
    """Full sweeps before it pays to keep to the uncertain elements. PTB, NOV."""
    touched_share: float = 0.5
    """Share of all classes: if more have been touched, a full sweep follows instead of one over uncertain
    elements. PTB."""

    # Annealing
    normal_annealing: int = 12
    """Sweeps of annealing at effort ``normal``. PTB, 320 classes."""
    high_annealing: int = 60
    """The same at effort ``high``. PTB, 320 classes: -11,621,759, where mkcls reaches -11,622,252."""

    # Merging and splitting whole classes
    merge_split_gain: float = 2e-5
    """Share of |F| that merging and splitting must gain: the sweeps after it cost more than it does. PTB."""
    merge_split_classes: int = 400
    """Classes up to which it is tried: it compares all pairs of classes. PTB."""
    merge_split_cells: int = 1 << 26
    """Cells up to which it is tried: it works on the table with all its zeros."""
    power_iterations: int = 20
    """Steps towards the direction in which the members of a class differ most. PTB."""
    split_refinements: int = 8
    """Passes in which each member chooses the half that predicts its neighbours better. PTB."""

    # Number of classes
    climbing_sweeps: int = 5
    """Sweeps that tell large numbers of classes apart. PTB."""
    first_number: int = 2
    """Classes that ``--classes auto`` begins with. Its thresholds were tuned on 12 generated texts."""
    always_doubled: int = 16
    """Classes up to which the number is doubled in any case."""
    large_number: int = 256
    """Classes up to which the number is doubled as long as ``equal_bits`` are gained."""
    worthwhile_bits: float = 0.1
    """Bits a word that doubling a large number must gain for it to be doubled again."""
    equal_bits: float = 0.005
    """Bits a word below which two numbers are equally good: the smaller one is taken then."""
    close_ratio: float = 1.02
    """Factor: bisection ends where two numbers are nearer than this."""

    # Threads and tables
    elements_per_thread: int = 32
    """Elements of a round that are worth handing to a thread. PTB, two cores."""
    moves_per_thread: int = 32
    """The same for moved elements, when what is derived from changed counts is renewed."""
    small_table_bytes: int = 1 << 28
    """Tables up to this are dense whatever they hold: they are quick."""
    largest_dense_bytes: int = 3 << 30
    """Tables beyond this are sparse, so that they fit."""
    sparse_pairs_per_cell: float = 0.05
    """Larger tables with fewer pairs of elements a cell are sparse, because that is faster. NOV."""
    largest_table_bytes: int = 1 << 34
    """The largest table that is made at all."""

    # Checkpoints
    shortest_pause: float = 2.0
    """Seconds between two checkpoints at least: many sweeps take less time than writing one down."""

    def annealing_sweeps(self, effort: str) -> int:
        """Return how many sweeps of annealing an effort stands for."""
        return {"low": 0, "normal": self.normal_annealing, "high": self.high_annealing}[effort]

    def default_batch(self, elements: int) -> int:
        """Return the size of a round. It decides the result, so it depends on the task alone."""
        return max(1, min(self.largest_batch, elements // self.rounds_per_sweep))


TUNING = SearchTuning()
"""What every search uses unless it is handed another instance."""
