"""Processors for which kernels are compiled: levels of x86-64, and of 64-bit ARM."""

import platform
from typing import NamedTuple

from llvmlite import binding


class Target(NamedTuple):
    """A system, and a level of its processors."""

    triple: str
    """What LLVM calls the system."""
    level: int
    """Libraries of higher levels are preferred where the processor can run them."""
    processor: str
    """What LLVM calls processors of this level."""
    features: str = ""


LOWEST_X86 = 2
"""The lowest level of x86-64, whose processors need not have AVX."""

SYSTEMS = {
    "linux-x86_64": "x86_64-unknown-linux-gnu",
    "linux-aarch64": "aarch64-unknown-linux-gnu",
}
"""The systems for which libraries are built, and their LLVM triples."""


def this_system() -> str:
    """Give the name of this system."""
    return f"{platform.system().lower()}-{platform.machine().lower()}"


def targets_of(system: str) -> list[Target]:
    """Give the levels of a system's processors, the lowest first."""
    triple = SYSTEMS[system]
    if system.endswith("aarch64"):
        return [Target(triple, 1, "generic")]
    return [Target(triple, level, f"x86-64-v{level}") for level in (LOWEST_X86, 3, 4)]


def this_target() -> Target:
    """Give the highest level that this processor has."""
    return [target for target in targets_of(this_system()) if runs_here(target)][-1]


NEEDED = {3: ("avx2", "bmi2", "fma", "movbe"), 4: ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")}
"""What the processors of a level have, besides what those of lower ones have."""


def runs_here(target: Target) -> bool:
    """Say whether this processor has a level."""
    features = binding.get_host_cpu_features()
    return all(
        features.get(name) for level, names in NEEDED.items() if level <= target.level for name in names
    )
