"""By how much scores may err: why a search that says so has converged.

Scores propose and exact gains decide: of an element, every class whose score is within the error of the
best, and of the element's own value, is tried exactly. So no better class is missed, as long as the error
is a bound. It has three parts: that of 8-bit differences (Precomputed.errors), that of differences computed
in single precision (APPROXIMATION), and what is rounded as they are added up, which is bounded here.

A sum in single precision errs by at most k u / (1 - k u) of the sum of the sizes of all terms, where u is
SINGLE_ROUNDING and k the number of roundings that a term goes through: its own, and of all sums it is part
of.
"""

from typing import NamedTuple

from classgram.clustering._kernels.criterion import APPROXIMATION, SINGLE_ROUNDING
from classgram.runtime.compiled import kernel_part

TERM_SIZES = 8.0
"""The sizes of all terms of a score sum to at most this times L for each event of the element.

Of an amount n, steps are at most 2.01 n L, for shares are rounded; the class term is at most n L; and for
tied classes the corrections of own rows are at most 2 n L, those of the diagonal 2 n L. The constant comes
besides.
"""

FIXED_ROUNDINGS = 16
"""Roundings that do not grow with the profile: four of a term itself, one for the first sum, five sums of
corrections, two of the global term and its correction, one of noise, and one for all that is rounded in
double precision."""


class Magnitude(NamedTuple):
    """How large the terms of an element's scores are."""

    events: float
    """L times the element's events: no difference of f or h that it makes is larger."""
    others: float
    """The size of all other terms."""


@kernel_part
def rounding_error(roundings: int, magnitude: Magnitude) -> float:
    """Return the bound of what is rounded so many times, and of the class term, which is approximated."""
    share = SINGLE_ROUNDING * roundings
    # Beyond 2^24 roundings nothing is known, and everything is tried exactly.
    rounded = (TERM_SIZES * magnitude.events + magnitude.others) * share / max(1.0 - share, SINGLE_ROUNDING)
    return rounded + APPROXIMATION * magnitude.events


class ScoreError(NamedTuple):
    """By how much scores err."""

    differences: float
    """The bound for 8-bit differences."""
    rounding: float
    """The bound for all that is in single precision."""


@kernel_part
def likely_error(error: ScoreError, length: int, events: float, value: float) -> float:
    """Return about how much the scores of a profile of a length err: nothing is proved by it.

    It tells whether scores are worth making closer.
    """
    return error.differences + 6e-8 * (length + 16) * (32.0 * events + value)
