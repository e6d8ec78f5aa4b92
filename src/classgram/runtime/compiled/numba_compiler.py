"""Numba, where something must be compiled; to import this module is to import Numba."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numba
from llvmlite import binding, ir
from numba import types
from numba.np.numpy_support import as_dtype

from classgram.runtime.compiled.arguments import plain_type
from classgram.runtime.compiled.machine_code import ENTRY, MachineCode

NUMBER = ir.IntType(64)
POINTER = ir.IntType(8).as_pointer()


def dispatcher_of(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Give what compiles a function, and keeps it for others that have it as a part."""
    dispatcher = numba.njit(nogil=True, **options)(function)
    # A Numba whose inner parts have other names compiles parts each time.
    with suppress(ImportError):
        from classgram.runtime.compiled.caching import cache_on_disk

        cache_on_disk(dispatcher)
    return dispatcher


def plain_dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Give the function as Numba compiles, keeps and calls it by itself."""
    dispatcher = numba.njit(nogil=True, **{**options, "no_cpython_wrapper": False})(function)
    with suppress(RuntimeError):
        dispatcher.enable_caching()
    return dispatcher


def type_of(value: Any) -> Any:
    """Give Numba's type of an argument."""
    if isinstance(value, tuple):
        return types.BaseTuple.from_types([type_of(part) for part in value], plain_type(value))
    return numba.typeof(value)


def compiled(dispatcher: Any, arguments: tuple[Any, ...]) -> Any:
    """Compile a function for arguments of these types, or take it from Numba's cache."""
    signature = tuple(type_of(argument) for argument in arguments)
    dispatcher.compile(signature)
    return dispatcher.overloads[signature]


def machine_code(done: Any) -> MachineCode:
    """Give the machine code of what was compiled."""
    machine = target_machine()
    entry = binding.parse_assembly(str(entry_module(done)))
    entry.data_layout = str(machine.target_data)
    return MachineCode(
        result_letters(done.signature.return_type),
        done.library._get_compiled_object(),
        machine.emit_object(entry),
    )


def target_machine() -> Any:
    """Give the compiler's last step, for code that may stand anywhere in memory."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(opt=2, reloc="static", codemodel="jitdefault", jit=True)


def entry_module(done: Any) -> ir.Module:
    """Give the way into a compiled function: it reads the arguments from a list of numbers.

    The function itself takes room for its result, room for a place that tells of an exception, and the
    arguments, each array as several.
    """
    convention, description = done.target_context.call_conv, done.fndesc
    type_ = convention.get_function_type(description.restype, description.argtypes)
    module = ir.Module()
    module.triple = binding.get_default_triple()
    kernel = ir.Function(module, type_, description.llvm_func_name)
    entry = ir.Function(module, ir.FunctionType(ir.IntType(32), [POINTER, POINTER]), ENTRY)
    builder = ir.IRBuilder(entry.append_basic_block())
    numbers, room = entry.args
    result, exception = (builder.alloca(argument.type.pointee) for argument in kernel.args[:2])
    builder.store(ir.Constant(exception.type.pointee, None), exception)
    taken = [argument.type for argument in kernel.args[2:]]
    given = given_numbers(builder, numbers, description.argtypes)
    arguments = [converted(builder, value, type_) for value, type_ in zip(given, taken, strict=True)]
    status = builder.call(kernel, [result, exception, *arguments])
    if description.restype is not types.none:
        write_result(builder, builder.load(result), room)
    builder.ret(status)
    return module


def given_numbers(builder: ir.IRBuilder, numbers: Any, arguments: Sequence[Any]) -> list[Any]:
    """Read a list of numbers, one for each number and each array among the arguments (see arguments.py)."""
    given: list[Any] = []
    for index, type_ in enumerate(flattened(arguments)):
        number = read(builder, numbers, index)
        given += array_numbers(builder, number, type_) if isinstance(type_, types.Array) else [number]
    return given


def flattened(arguments: Sequence[Any]) -> list[Any]:
    """Give the types of all that tuples hold."""
    flat: list[Any] = []
    for type_ in arguments:
        held = getattr(type_, "types", None)
        flat += [type_] if held is None else flattened(held)
    return flat


def array_numbers(builder: ir.IRBuilder, number: Any, type_: Any) -> list[Any]:
    """Read what Numba takes of an array: no owner, the sizes, the place of the data, shape and strides.

    They stand in the object behind what every object has, in an order that NumPy promises to compiled
    programs: data, number of dimensions, shape, strides.
    """
    none, itemsize = ir.Constant(NUMBER, 0), ir.Constant(NUMBER, as_dtype(type_.dtype).itemsize)
    fields = builder.inttoptr(builder.add(number, ir.Constant(NUMBER, object.__basicsize__)), POINTER)
    data, shape, strides = (read(builder, fields, index) for index in (0, 2, 3))
    lengths, steps = (
        [read(builder, builder.inttoptr(start, POINTER), axis) for axis in range(type_.ndim)]
        for start in (shape, strides)
    )
    size = ir.Constant(NUMBER, 1)
    for length in lengths:
        size = builder.mul(size, length)
    return [none, none, size, itemsize, data, *lengths, *steps]


def place(builder: ir.IRBuilder, numbers: Any, index: int) -> Any:
    """Give the place of a number in a list."""
    whole = builder.bitcast(numbers, NUMBER.as_pointer())
    return builder.gep(whole, [ir.Constant(NUMBER, index)])


def read(builder: ir.IRBuilder, numbers: Any, index: int) -> Any:
    """Read a number of a list."""
    return builder.load(place(builder, numbers, index))


def converted(builder: ir.IRBuilder, value: Any, type_: ir.Type) -> Any:
    """Give a number of eight bytes as the type that the compiled function takes."""
    if isinstance(type_, ir.PointerType):
        return builder.inttoptr(value, type_)
    if isinstance(type_, ir.DoubleType):
        return builder.bitcast(value, type_)
    if isinstance(type_, ir.FloatType):
        return builder.bitcast(builder.trunc(value, ir.IntType(32)), type_)
    return value if type_ == NUMBER else builder.trunc(value, type_)


def write_result(builder: ir.IRBuilder, value: Any, room: Any) -> None:
    """Write what a compiled function gave, a number or a tuple of numbers, into a list."""
    parts = [value]
    if isinstance(value.type, ir.LiteralStructType | ir.ArrayType):
        parts = [builder.extract_value(value, index) for index in range(len(value.type))]
    for index, part in enumerate(parts):
        at = place(builder, room, index)
        builder.store(part, builder.bitcast(at, part.type.as_pointer()))


def result_letters(type_: Any) -> str:
    """Tell what a function gives (see MachineCode)."""
    if type_ is types.none:
        return ""
    if isinstance(type_, types.Tuple | types.UniTuple):
        return f"({''.join(letter(part) for part in type_.types)})"
    return letter(type_)


def letter(type_: Any) -> str:
    """Give the letter of a number, with what fills eight bytes behind it."""
    if not isinstance(type_, types.Number | types.Boolean):
        raise TypeError(f"kernels give numbers and tuples of them, not {type_}")
    dtype = as_dtype(type_)
    return f"{dtype.char}{8 - dtype.itemsize}x"
