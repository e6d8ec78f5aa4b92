"""What one of the build's processes does: kernels become object files, one for each level of processors."""

import time
from collections.abc import Sequence
from pathlib import Path

from llvmlite import binding

from classgram.runtime.compiled.library import MANIFEST
from kernel_build.building import Compiled
from kernel_build.optimising import check_independent, check_no_avx, machine_for, optimised
from kernel_build.registry import Task, import_kernels
from kernel_build.targets import LOWEST_X86, Target
from kernel_build.wrappers import Wrapper, as_part, result_kind


def compile_group(tasks: Sequence[Task], targets: Sequence[Target], folder: Path) -> Compiled:
    """Compile kernels for all levels."""
    began = time.perf_counter()
    import_kernels()
    objects: dict[Target, list[Path]] = {target: [] for target in targets}
    lines = []
    for task in tasks:
        signature = task.signature()
        enter = Wrapper(as_part(task.kernel()), signature).translated()
        for target in targets:
            objects[target].append(write_object(enter, task, target, folder))
        lines.append("\t".join([task.name, task.symbol, result_kind(signature.result), signature.kinds]))
    return Compiled(objects, lines, time.perf_counter() - began)


def write_object(enter: object, task: Task, target: Target, folder: Path) -> Path:
    """Write the object file of a kernel for one level."""
    text, name = enter.inspect_llvm(), enter.native_name  # type: ignore[attr-defined]
    module = optimised(text, name, task.symbol, target)
    check_independent(module, task.name)
    path = folder / f"{task.symbol}-v{target.level}.o"
    machine = machine_for(target)
    if target.level == LOWEST_X86:
        check_no_avx(machine.emit_assembly(module), task.name)
    path.write_bytes(machine.emit_object(module))
    return path


def write_manifest(text: str, target: Target, folder: Path) -> Path:
    """Write an object file that holds the manifest."""
    content = text.encode() + b"\0"
    escaped = "".join(f"\\{byte:02x}" for byte in content)
    module = binding.parse_assembly(f'@{MANIFEST} = constant [{len(content)} x i8] c"{escaped}"')
    module.triple = target.triple
    path = folder / f"manifest-v{target.level}.o"
    path.write_bytes(machine_for(target).emit_object(module))
    return path
