"""From what Numba translated to object files: LLVM optimises a kernel for a processor, and proves it free.

Every definition but the way in becomes internal and LLVM's pipeline runs twice: it then finds that no error
is raised, and drops whatever would need Python or Numba.
"""

import re
from functools import cache
from typing import Any

from llvmlite import binding

from kernel_build.targets import Target

LIBRARY = {"exp", "log", "pow", "sqrt", "fmod", "floor", "ceil", "rint", "memset", "memcpy", "memmove"}
"""What kernels may take from the C library."""

ROUNDS = 2
"""How often LLVM's pipeline runs: what the first time leaves without use, the second drops."""

COUNTING = re.compile(r"^(define [^\n]*@NRT_(?:incref|decref)\([^\n]*\{)\n.*?^\}", re.MULTILINE | re.DOTALL)
"""What counts the references to arrays."""


AVX = re.compile(r"^\s+v[a-z]\w+\s.*|.*%[yz]mm\d+.*", re.MULTILINE)
"""Instructions of AVX in assembly."""


class AvxError(Exception):
    """A kernel for processors without AVX has instructions of it."""


class DependentError(Exception):
    """A kernel that cannot run without Python or Numba."""


@cache
def machine_for(target: Target) -> Any:
    """Give LLVM's code generator for a processor."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    found = binding.Target.from_triple(target.triple)
    return found.create_target_machine(cpu=target.processor, features=target.features, opt=3, reloc="pic")


def optimised(text: str, entry: str, symbol: str, target: Target) -> Any:
    """Give the module of a kernel for a processor, in which only the way in can be seen, under a new name."""
    machine = machine_for(target)
    # The arrays belong to the caller, so their references need no counting; what allocates is refused anyway.
    module = binding.parse_assembly(COUNTING.sub(r"\1\n  ret void\n}", text))
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration:
            value.linkage = "external" if value.name == entry else "internal"
    module.get_function(entry).name = symbol
    for _ in range(ROUNDS):
        optimise(module, machine)
    return module


def optimise(module: Any, machine: Any) -> None:
    """Run LLVM's pipeline, with both vectorisers."""
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = True
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def check_no_avx(assembly: str, name: str) -> None:
    """Raise an error if assembly holds an instruction that processors of the lowest level may not have."""
    found = AVX.search(assembly)
    if found:
        raise AvxError(f"kernel {name} for the lowest level has {found[0].strip()}")


def check_independent(module: Any, name: str) -> None:
    """Raise an error if a kernel calls anything beyond the C library."""
    needed = [value.name for value in (*module.functions, *module.global_variables) if value.is_declaration]
    foreign = [name for name in needed if name not in LIBRARY and not name.startswith("llvm.")]
    if foreign:
        raise DependentError(
            f"kernel {name} cannot run on its own: it needs {', '.join(foreign)}; "
            "it may allocate, or raise an error (a range whose step might be 0 could)"
        )
