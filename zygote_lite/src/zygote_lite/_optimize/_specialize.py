"""One specialization: a function, the facts of its arguments, and the code made for them."""

import ast
import builtins
import contextlib
import inspect
import itertools
import keyword
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulescore import find_rule, generation
from zygote_lite._optimize._backward import Backward
from zygote_lite._optimize._earlier import compute_early
from zygote_lite._optimize._finish import Namer, drop_dead, keep_records, settle_writes, telling
from zygote_lite._optimize._hoist import hoist
from zygote_lite._optimize._interpret import Interpreter
from zygote_lite._optimize._nodes import Append, Branch, Loop, Node, Store, leaves, walk
from zygote_lite._optimize._qualify import prepare
from zygote_lite._optimize._reuse import reuse_memory
from zygote_lite._optimize._runtime import as_it_is, list_cotangent
from zygote_lite._optimize._sources import Inputs, argument
from zygote_lite._optimize._transfer import Result
from zygote_lite._optimize._values import (
    FLOATS,
    ArrayOf,
    ListOf,
    Other,
    Scalar,
    Unfit,
    Value,
    constant,
    fact_of,
    in_form_of,
    parts_of,
    shape_root,
)
from zygote_lite._optimize._write import Text, Writer
from zygote_lite._optimize._write_compiled import CompiledWriter

_MANY = 64  # items of lists that are taken one by one
_MODULES = {"np", "math"}  # what the code names so
_RESERVED = {*keyword.kwlist, *dir(builtins), *_MODULES, "back"}


@dataclass
class Specialized:
    """The code for one choice of types.

    Attributes:
        text: the code.
        name: of the function in it.
        parameters: the names of the user's parameters, then those of values read from outside.
        bound: objects that the text names.
        inputs: what it reads from outside, and what must be as it was.
        arguments: what is known of the user's arguments.
        result: what is known of the value, if it is returned.
        gradients: for each differentiated leaf, its cotangent; `None` where there is none.
        telling: the cotangents that are not finite if any part of the reverse pass was not.
        filled: whether a cotangent may be a zero that stands for none.
    """

    text: Text
    name: str
    parameters: list[str]
    bound: dict[str, Any]
    inputs: Inputs
    arguments: list[Value]
    result: Value | None
    gradients: list[Value | None]
    filled: list[bool]
    telling: set[Value]
    loops: bool
    generation: int


def specialize(
    f: Any, xs: tuple[Any, ...], active: tuple[bool, ...], *, as_pullback: bool = False,
    compiled: bool = False,
) -> Specialized:  # fmt: skip
    """Return the code for the value and the gradient of a function.

    Arguments:
        f: a Python function.
        xs: its arguments, which the code is tried out on.
        active: which of them are differentiated.
        as_pullback: whether the reverse pass is to be a function inside, `back`.
        compiled: whether the code is for Numba.

    Raises `Unfit` where the function is left to the generic engine.
    """
    refuse_own_rule(f, xs)
    inputs = Inputs(f)
    many = not compiled and sum(map(_items_of_lists, xs)) > _MANY

    def uniform() -> Specialized:
        return _specialized(Inputs(f), f, xs, active, as_pullback, compiled, uniform=True)

    try:
        made = _specialized(inputs, f, xs, active, as_pullback, compiled, uniform=many)
    except Unfit:
        if compiled or many or not inputs.lists:
            raise
        return uniform()
    if compiled or many or not (inputs.lists and any(made.filled)):
        return made
    with contextlib.suppress(Unfit):  # item by item, a zero that is none leaves all to the engine
        return uniform()
    return made


def _items_of_lists(x: Any) -> int:
    if type(x) is list:
        return sum(max(1, _items_of_lists(item)) for item in x)
    parts = x.values() if type(x) is dict else x if type(x) is tuple else ()
    return sum(map(_items_of_lists, parts))


def _specialized(
    inputs: Inputs, f: Any, xs: tuple[Any, ...], active: tuple[bool, ...], as_pullback: bool,
    compiled: bool, uniform: bool,
) -> Specialized:  # fmt: skip
    """Return the code, with lists of any length (`uniform`), or item by item."""
    interpreter, arguments, names, result = _interpreted(
        inputs, f, xs, active, uniform=uniform, compiled=compiled
    )
    forward = interpreter.out
    checked = _checked(interpreter, result) if not compiled else result
    if any(active) or not compiled:
        _refuse_value(checked, of_any_shape=as_pullback)
    seed = constant(1.0)
    parameter = None
    if as_pullback:
        stem = result.name or "y"
        parameter = Value(checked.fact, _one_like(result.sample), interpreter.name("d" + stem))
        parameter.reverse, parameter.shaped = True, shape_root(result)
        seed = parameter
    backward = Backward(interpreter)
    backward.cotangents[result] = seed
    backward.given.add(seed)
    if result.active:
        backward.block(forward)
    gradients, filled = _gradients(backward, arguments, forward)
    name = _plain_name(f) + ("_pullback" if as_pullback else "_value_and_gradient")
    return _written(
        inputs, f, name, names, arguments, active, forward, backward, checked, gradients, filled,
        parameter, compiled,
    )  # fmt: skip


def _checked(interpreter: Interpreter, x: Value) -> Value:
    """Write a test that a number is a float, where it may be an integer; return that float."""
    if not isinstance(x.fact, Scalar) or x.fact.classes <= FLOATS or type(x.sample) not in FLOATS:
        return x
    fact = Scalar(frozenset((type(x.sample),)))
    return interpreter.write(Result(fact, x.sample, certain=False), as_it_is, [x], {}).target


def _plain_name(f: Any) -> str:
    name = str(f.__name__)
    if name == "<lambda>":
        return "lambda_"
    return name if name.isidentifier() else "f"  # it may have been set to any text


def _interpreted(
    inputs: Inputs,
    f: Any,
    xs: tuple[Any, ...],
    active: tuple[bool, ...],
    twice: bool = False,
    uniform: bool = False,
    compiled: bool = False,
) -> tuple[Interpreter, list[Value], list[str], Value]:
    """Write the forward pass; return it with the arguments, their names and the result."""
    interpreter = Interpreter(inputs)
    interpreter.twice, interpreter.uniform, interpreter.compiled = twice, uniform, compiled
    code = f.__code__
    interpreter.used |= {*_RESERVED, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    names = _parameter_names(code, len(xs))
    if not _MODULES.isdisjoint(names):
        raise Unfit("a parameter is named np or math")
    arguments = []
    for i, (name, x, flag) in enumerate(zip(names, xs, active, strict=True)):
        interpreter.used.discard(name)
        value = argument(interpreter, x, name, flag, f"x{i}")
        interpreter.used.add(name)
        arguments.append(value)
    env = inputs.bind(interpreter, f, arguments, {})
    for name in (*code.co_varnames, *code.co_cellvars):
        if name not in names and name not in _MODULES:
            interpreter.used.discard(name)
    return interpreter, arguments, names, interpreter.function(code, f.__globals__, env)


def _written(
    inputs: Inputs, f: Any, name: str, names: list[str], arguments: list[Value],
    active: tuple[bool, ...], forward: list[Node], backward: Backward, result: Value | None,
    gradients: list[Value | None], filled: list[bool], parameter: Value | None = None,
    compiled: bool = False,
) -> Specialized:  # fmt: skip
    """Write the text of both passes: a function that returns the value (if any), and gradients."""
    interpreter, reverse = backward.interpreter, backward.out
    interpreter.used |= inputs.names
    settle_writes(forward, reverse)
    found = [d for d in gradients if d is not None]
    results = found if result is None else [result, *found]
    drop_dead(forward, reverse, results)
    if compiled:
        compute_early(reverse)
    else:
        hoist(forward)
    outside = keep_records(forward, reverse, Namer(interpreter.used), backward.silent)
    if compiled:
        prepare([*forward, *reverse])
    if not compiled and parameter is None:  # a pullback may be called again
        reuse_memory([*forward, *reverse], results)
    writer = (CompiledWriter if compiled else Writer)(interpreter.used)
    writer.count([forward, reverse], results)
    _rename(writer, forward, outside, result)
    more = [value.name for value, _ in inputs.given.values()]
    tops = [leaf_name(name, x) for name, x in zip(names, arguments, strict=True)]
    if compiled:  # Numba is given the parts of structures one by one
        tops = [leaf.name for x in arguments for leaf in leaves(x) if leaf.name]
    writer.line(f"def {name}({', '.join([*tops, *more])}):")
    writer.text.origins[0] = ast.Pass(lineno=f.__code__.co_firstlineno, col_offset=0)
    writer.depth = 1
    for top, x in zip(tops, arguments, strict=not compiled):
        if x.items is not None and not compiled:
            for line in _taken_apart(writer, top, x):
                writer.line(line)
    writer.block(forward)
    values = [] if result is None else [writer.expression(result)]
    if parameter is not None:
        writer.line("")
        writer.line(f"def back({parameter.name}):")
        writer.depth = 2
    writer.renamed = writer.renamed_back
    if interpreter.poles and reverse and not compiled:
        writer.line('with np.errstate(all="ignore"):')
        writer.indented(reverse)
    else:
        writer.block(reverse)
    if isinstance(writer, CompiledWriter):
        some = [flag for d, flag in zip(gradients, filled, strict=True) if d is not None]
        values, ends = writer.checked(result, [*zip(found, some, strict=True)])
    else:
        ends = _ends(writer, arguments, active, gradients, parameter is not None)
    writer.line(f"return {', '.join(ends if parameter is not None else [*values, *ends])}")
    if parameter is not None:
        writer.depth = 1
        writer.line("")
        writer.line(f"return {values[0]}, back")
    loops = any(isinstance(node, Loop) for node in walk(forward))
    return Specialized(
        writer.text, name, [*tops, *more], writer.bound, inputs, arguments, result, gradients,
        filled, telling(reverse, found), loops, generation(),
    )  # fmt: skip


def specialize_twice(f: Any, xs: tuple[Any, ...], number: int, v: Any) -> Specialized:
    """Return the code for the Hessian of a function times a vector.

    Arguments:
        f: a Python function whose value is a real number.
        xs: its arguments, which the code is tried out on.
        number: which of them is differentiated twice.
        v: a vector of its kind and shape.

    The reverse pass of straight code is straight code, which is run backwards in its turn.
    """
    inputs = Inputs(f)
    active = tuple([i == number for i in range(len(xs))])
    interpreter, arguments, names, result = _interpreted(inputs, f, xs, active, twice=True)
    _refuse_value(result)
    x, forward = arguments[number], interpreter.out
    first = Backward(interpreter, again=True)
    first.cotangents[result] = constant(1.0)
    if result.active:
        first.block(forward)
    if fact_of(v) != x.fact or np.shape(v) != np.shape(x.sample):
        raise Unfit("the vector is not of the kind and shape of the argument")
    slope = first.cotangents.get(x)
    if x.items is not None or slope is None or not slope.active:
        raise Unfit("its gradient is constant, or that of a structure")
    forward = [*forward, *first.out]
    vector = Value(x.fact, v, interpreter.name("v"))
    vector.shaped = shape_root(x)
    second = Backward(interpreter)
    second.cotangents[slope] = vector
    second.given.add(vector)
    second.block(forward)
    gradients, filled = _gradients(second, arguments, forward)
    if None in gradients:
        raise Unfit("its second derivative is zero")
    return _written(
        inputs, f, _plain_name(f) + "_hessian_times_vector", [*names, vector.name],
        [*arguments, vector], (*active, False), forward, second, None, gradients, filled,
    )  # fmt: skip


def refuse_own_rule(f: Any, xs: tuple[Any, ...]) -> None:
    """Refuse a function that has a rule: that answers, and not its source."""
    if find_rule(f, *xs) is not None or hasattr(f, "__differentiates__"):
        raise Unfit("it has a rule of its own")


def leaf_name(name: str, x: Value) -> str:
    """Return the name of a parameter."""
    return name if x.items is not None or not x.name else x.name


def _taken_apart(writer: Writer, name: str, x: Value) -> list[str]:
    """Return the lines that give the parts of an argument their names."""
    later: list[str] = []

    def pattern(x: Value) -> str:
        if x.items is None:
            return x.name or "_"
        if type(x.sample) is dict:  # its values are taken in a line of their own
            inner = writer.namer(f"{name}_part")
            later.extend(_taken_apart(writer, inner, x))
            return inner
        return listed([pattern(part) for _, part in parts_of(x)])

    def listed(parts: list[str]) -> str:
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"

    if type(x.sample) is dict:
        line = f"{listed([pattern(part) for _, part in parts_of(x)])} = {name}.values()"
    else:
        line = f"{pattern(x)} = {name}"
    return [line, *later]


def _parameter_names(code: Any, count: int) -> list[str]:
    """Return a name for each argument; what `*` takes is numbered."""
    names = list(code.co_varnames[: min(count, code.co_argcount)])
    if count > len(names) and not code.co_flags & inspect.CO_VARARGS:
        raise Unfit("a call with too many arguments")
    stem = code.co_varnames[code.co_argcount + code.co_kwonlyargcount] if count > len(names) else ""
    numbers = itertools.count()
    while len(names) < count:
        name = f"{stem}_{next(numbers)}"
        if name not in (*code.co_varnames, *code.co_freevars, *code.co_cellvars):
            names.append(name)
    return names


_NUMPY = {np.float64, np.float32}


def _refuse_value(result: Value, of_any_shape: bool = False) -> None:
    fact = result.fact
    if of_any_shape and isinstance(fact, ArrayOf) and fact.dtype in (np.float64, np.float32):
        return
    if result.items is not None or not isinstance(fact, Scalar) or not fact.classes <= FLOATS:
        raise Unfit("the value is no float")


def _one_like(sample: Any) -> Any:
    return np.ones_like(sample) if isinstance(sample, np.ndarray) else type(sample)(1.0)


def _gradients(
    backward: Backward, arguments: list[Value], forward: list[Node]
) -> tuple[list[Value | None], list[bool]]:
    """Return the cotangents of the differentiated leaves, each in a buffer of its own."""
    gradients: list[Value | None] = []
    filled = []
    seen: set[Value] = set()
    structured = any(
        isinstance(node, Loop | Branch | Append)
        or (isinstance(node, Store) and isinstance(node.array.fact, ListOf))
        for node in walk(forward)
    )
    values = [*backward.interpreter.definitions, *(leaf for a in arguments for leaf in leaves(a))]
    has_numpy = any(
        v.is_array or (isinstance(v.fact, Scalar) and v.fact.classes & _NUMPY) for v in values
    )
    for x in [leaf for a in arguments for leaf in leaves(a)]:
        if not x.active:
            continue
        d = backward.cotangents.get(x)
        filled.append(structured)
        if d is None:
            gradients.append(None)
            continue
        if isinstance(x.fact, ListOf):
            result = Result(Other(list), d.sample)
            d = backward.interpreter.write(result, list_cotangent, [d], {}).target
        elif isinstance(x.fact, ArrayOf):
            if (
                d.spread is not None
                or not isinstance(d.fact, ArrayOf)
                or (not d.fresh and d not in backward.owned)
                or d in seen
                or not d.reverse
            ):
                d = backward.copy(d, x)
            if d.fact != x.fact and isinstance(d.fact, ArrayOf) and d.fact.dtype != x.fact.dtype:
                raise Unfit("a gradient of another precision")
        elif isinstance(x.fact, Scalar) and isinstance(d.fact, Scalar):
            kind = type(x.sample)
            if kind not in FLOATS:
                kind = np.float64 if isinstance(x.sample, np.generic) else float
            if d.fact.classes != {kind} or has_numpy:
                d = _converted(backward, kind, d)
        seen.add(d)
        gradients.append(d)
    return gradients, filled


def _converted(backward: Backward, kind: type, d: Value) -> Value:
    sample = kind(d.sample)
    result = Result(Scalar(frozenset((kind,))), sample)
    if d.is_constant:
        return constant(sample)
    return backward.interpreter.write(result, kind, [d], {}).target


def _rename(writer: Writer, forward: Any, outside: list[Value], result: Value | None) -> None:
    """Give another name, going back, to what is kept of a turn and has a later namesake."""
    names = {x.name for x in outside} | ({result.name} if result is not None else set())
    for node in walk(forward):
        if isinstance(node, Loop):
            for x in node.record:
                if x.name in names:
                    writer.renamed_back[x] = writer.namer(x.name)


def _ends(
    writer: Writer, arguments: list[Value], active: tuple[bool, ...],
    gradients: list[Value | None], as_pullback: bool,
) -> list[str]:  # fmt: skip
    """Return the texts of the gradients, one for each argument that is differentiated."""
    given = iter(gradients)

    def text(x: Value) -> str:
        if not x.active:
            return "None"
        d = next(given)
        return "None" if d is None else writer.expression(d)

    ends = ["None"] if as_pullback else []
    for x, flag in zip(arguments, active, strict=True):
        if flag:
            ends.append(in_form_of(x, text))
        elif as_pullback:
            ends.append("None")
    return ends
