"""The figures of the paper's tables, as it prints them.

J. P. Ueberla, An Extended Clustering Algorithm for Statistical Language Models, 1994.
"""

from typing import NamedTuple


class Baseline(NamedTuple):
    """A row of table 1: the exact algorithm and the heuristic, with changes in percent."""

    exact_perplexity: int
    exact_time: str
    heuristic_perplexity: int
    perplexity_change: float
    heuristic_time: str
    time_change: float


class Searched(NamedTuple):
    """A row of tables 2 to 4."""

    criterion: float
    perplexity: int
    time: str


class Against(NamedTuple):
    """A row of tables 7 to 9: a reference, what is compared with it, and the improvement in percent."""

    reference: int
    clustered: int
    improvement: float


TRAINING_SETS = {
    "T1": 2_000,
    "T2": 12_000,
    "T3": 60_000,
    "T4": 350_000,
    "T5": 1_700_000,
    "T6": 8_500_000,
    "T7": 40_000_000,
}
"""The words of each training set, about."""

CUTOFFS = (250, 50, 10, 2)

TABLE_1 = {
    10: Baseline(746, "1:02", 746, 0.0, "1:05", 4.8),
    20: Baseline(630, "2:28", 653, 3.6, "1:35", -36),
    40: Baseline(548, "7:46", 558, 1.8, "2:36", -67),
    80: Baseline(477, "26:41", 490, 2.7, "4:30", -83),
    160: Baseline(421, "1:33:29", 437, 3.8, "7:59", -91),
    320: Baseline(394, "5:20:18", 402, 2.0, "14:17", -96),
}
"""By the number of classes; t = 10, h = 10, u = 1000."""

TABLE_2 = {
    5: Searched(-1.246e7, 359, "20:24"),
    10: Searched(-1.243e7, 354, "31:35"),
    20: Searched(-1.241e7, 350, "55:32"),
    40: Searched(-1.240e7, 349, "1:34:16"),
    80: Searched(-1.239e7, 348, "2:51:19"),
}
"""By t; 1000 classes, u = 1000, h = 10."""

TABLE_3 = {
    4: Searched(-1.243e7, 352, "36:27"),
    20: Searched(-1.243e7, 353, "34:00"),
    100: Searched(-1.243e7, 353, "34:00"),
    500: Searched(-1.243e7, 354, "34:00"),
    2500: Searched(-1.243e7, 354, "32:38"),
}
"""By u; 1000 classes, t = 10, h = 10."""

TABLE_4 = {
    5: Searched(-1.243e7, 353, "31:09"),
    10: Searched(-1.243e7, 353, "33:09"),
    20: Searched(-1.245e7, 357, "36:26"),
    40: Searched(-1.254e7, 370, "41:50"),
}
"""By h; 1000 classes, t = 10, u = 10."""

TABLE_5 = {
    "T1": (2180, 2180, 2150, 2240),
    "T2": (1350, 1320, 1210, 1130),
    "T3": (1030, 936, 750, 621),
    "T4": (812, 645, 480, 373),
    "T5": (620, 462, 330, 254),
    "T6": (456, 323, 236, 190),
    "T7": (324, 233, 182, 159),
}
"""Back-off, verbalised punctuation: a perplexity for each of ``CUTOFFS``."""

TABLE_6 = {
    "T1": (3170, 3170, 3150, 3220),
    "T2": (1980, 1950, 1790, 1610),
    "T3": (1440, 1310, 1060, 878),
    "T4": (1170, 936, 696, 537),
    "T5": (928, 693, 488, 369),
    "T6": (666, 466, 332, 265),
    "T7": (464, 327, 250, 216),
}
"""Back-off, no punctuation."""

UNKNOWN_INCLUDED = (216, 205)
"""The last figure of table 6, unknown words excluded and included."""

TABLE_7 = {
    "T1": Against(2240, 1750, 22),
    "T2": Against(1130, 831, 27),
    "T3": Against(621, 515, 17),
    "T4": Against(373, 324, 13),
    "T5": Against(254, 231, 9.1),
    "T6": Against(190, 188, 1.1),
    "T7": Against(159, 172, -8.2),
}
"""Back-off of cut-off 2 against (2000, 2000) classes, verbalised punctuation."""

TABLE_8 = {
    "T1": Against(3220, 2420, 25),
    "T2": Against(1610, 1230, 24),
    "T3": Against(878, 762, 13),
    "T4": Against(537, 491, 8.6),
    "T5": Against(369, 345, 6.5),
    "T6": Against(265, 267, -0.76),
    "T7": Against(216, 240, -11),
}
"""The same without punctuation."""

TABLE_9 = {
    "5.2M": Against(191, 208, -8.9),
    "41M": Against(167, 151, 9.6),
}
"""(3000, 3000) class bigrams against (7000, 1000) class trigrams, verbalised punctuation."""

TABLE_9_WORDS = (5_200_000, 41_000_000)


def seconds(time: str) -> int:
    """Return the seconds of a time as the paper writes it.

    >>> seconds("1:33:29")
    5609
    """
    total = 0
    for part in time.split(":"):
        total = 60 * total + int(part)
    return total
