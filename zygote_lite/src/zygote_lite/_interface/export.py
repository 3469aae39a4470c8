"""Export: specialized code as a module of its own, which imports only NumPy and `math`."""

import ast
import builtins
import re
import types
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._interface.written_out import WITH_ZEROS, Helpers
from zygote_lite._ir.frames import entry
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import place_of
from zygote_lite._ir.recompile import TREES
from zygote_lite._nested.gradients import refused_inside
from zygote_lite._specialize.assemble import Specialized
from zygote_lite._specialize.driver import specialize
from zygote_lite._specialize.guards import Test, checks_of, class_in, guards_of, lists_in
from zygote_lite._specialize.jitted import original
from zygote_lite._specialize.text.lines import LEAVE
from zygote_lite._specialize.text.spell import constant_text, spelled
from zygote_lite._specialize.typed.facts import MANY, ONE, ArrayOf, ListOf, Scalar
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported
from zygote_lite._specialize.typed.runtime import are_distinct, are_numbers
from zygote_lite._specialize.typed.structures import parts_of
from zygote_lite._specialize.typed.values import Value
from zygote_lite._tape.holders import advice_on
from zygote_lite._tape.seeds import Argnums, argument_numbers, is_single
from zygote_lite._tape.validate import hide_keywords, refuse_keywords, refuse_no_function
from zygote_lite.errors import Fault

_IN_OTHER_WORDS = (
    "Write that part in other words, or give it to the function as an argument; "
    "value_and_grad differentiates it as it is"
)
_MOST_WRITTEN_OUT = 1000  # entries of an array that is written out


@entry
def export_adjoint(f: Any, /, *xs: Any, argnums: Argnums | None = None, **keywords: Any) -> str:
    """Return the text of a Python module that computes the value and the gradient of a function.

    Arguments:
        f: a Python function whose value is a float.
        xs: arguments that stand for all that the module is for: of the same types, with tuples and
            lists of the same lengths, and dicts with the same keys.
        argnums: the argument to differentiate, by position or by name, or several; without it, all.

    Other keywords are refused: pass those of `f` by position, or export a function that gives them.

    The module imports nothing but NumPy and `math`. Its function `<name>_value_and_gradient` takes
    the arguments of `f`, and returns the value and the gradient, as `value_and_grad` does. Numbers
    and arrays that `f` reads from outside are written into the module as they are now.

    Raises `DifferentiationError`, with the place and the reason, if the code needs more than this.
    The module itself raises an error for other types, and if a gradient is not finite.
    """
    refuse_keywords("export_adjoint", f, keywords, argnums=argnums)
    f = original(f)
    if type(f) is not types.FunctionType:
        refuse_no_function(f)
        raise Fault.EXPORT(
            f"{name_of(f)} is no Python function: export a function that calls it", TypeError
        )
    single = argnums is not None and is_single(argnums)
    numbers = _positions(f, argnums, len(xs))
    active = tuple([i in numbers for i in range(len(xs))])
    try:
        made = specialize(f, xs, active, optional=False)
        return _module(f, made, active, single)
    except NotSpecializable as reason:
        advice = next(filter(None, map(advice_on, xs)), None)
        raise Fault.EXPORT(
            f"{place_of(f)}: {f.__qualname__} cannot be written as a module of its own: "
            + (advice or f"{reason}. {_IN_OTHER_WORDS}")
        ) from None


def _positions(f: Any, argnums: Argnums | None, count: int) -> list[int]:
    """Return the positions of the differentiated arguments."""
    numbers = argument_numbers(f, range(count) if argnums is None else argnums, count)
    if argnums is None and not count:
        raise Fault.ARGNUMS(
            f"{name_of(f)} is exported without arguments: give those to differentiate by, "
            "`export_adjoint(f, *xs)`, whose types choose the code",
            ValueError,
        )
    if not numbers or numbers != sorted({*numbers}):
        raise Fault.ARGNUMS(f"argnums are {argnums}: name each once, in their order", ValueError)
    return numbers


def _module(f: Any, made: Specialized, active: tuple[bool, ...], single: bool) -> str:
    """Return the text of the module."""
    public = made.name
    inner = public.removesuffix("_value_and_gradient") + "_adjoint"
    if any(leaf.where for x in made.arguments for leaf in leaves(x)):
        raise NotSupported.EXPORT("an argument is an object: pass its numbers and arrays instead")
    for name, reason in (made.inputs.islands | made.inputs.as_they_are).items():
        raise NotSupported.EXPORT(f"{name} cannot be transformed: {reason}")
    if made.changed:
        raise NotSupported.EXPORT("it writes to an argument: write to a copy")
    if made.inputs.effects is not None:
        raise NotSupported.EXPORT("it prints, logs or has another side effect")
    if made.inputs.guesses is not None:  # other paths would need other code
        raise made.inputs.guesses
    if any(guard.startswith("(x") for guard in made.inputs.guards):
        raise NotSupported.EXPORT("it asks whether two arguments are the same object")
    if made.inputs.caught:
        raise NotSupported.EXPORT("it catches exceptions")
    outside = [value.name for value, _ in made.inputs.given.values()]
    helpers = Helpers({public, inner, "np", "math", *outside})
    for name, x in made.bound.items():
        helpers.add(name, x)
    partly = _may_be_none("\n".join([*helpers.texts, str(made.text)]), public)
    if any(partly):
        helpers.add("with_zeros", WITH_ZEROS)
    entry = _checked_entry(made, active, single, public, inner, partly)
    for test in (are_numbers, are_distinct):
        if f"{test.__name__}(" in entry:
            helpers.add(test.__name__, test)
    constants = [f"{value.name} = {_written(value.sample, value.name)}"
                 for value, _ in made.inputs.given.values()]  # fmt: skip
    other = 'raise ValueError("other code than this is needed for these arguments")'
    core = str(made.text).replace(f"def {public}(", f"def {inner}(", 1).replace(LEAVE, other)
    body = "".join(f"\n\n{part}\n" for part in [*helpers.texts, core, entry])
    body = "\n".join([*constants, body]).rstrip() if constants else body.rstrip()[1:]
    for name in made.parameters:
        if hasattr(builtins, name) and re.search(rf"\b{name}\(", body):
            raise NotSupported.NAMES(f"an argument has the name of the builtin {name}: rename it")
    imports = [line for name, line in (("math", "import math"), ("np", "import numpy as np"))
               if re.search(rf"\b{name}\.", body)]  # fmt: skip
    head = f'"""The value and the gradient of `{f.__name__}`, as zygote_lite wrote them."""'
    return "\n\n".join([head, *imports]) + "\n\n" + body + "\n"


def _written(x: Any, name: str) -> str:
    """Return the text of a number or an array that is read from outside."""
    if isinstance(x, np.ndarray):
        if x.size > _MOST_WRITTEN_OUT:
            raise NotSupported.EXPORT(
                f"{name} is an array of {x.size} numbers: pass it as an argument"
            )
        entries = ", ".join(_number_text(v, name) for v in x.ravel().tolist())
        flat = f"np.array([{entries}], dtype=np.{x.dtype.name})"
        return flat if x.ndim == 1 else f"{flat}.reshape({x.shape})"
    return _number_text(x, name)


def _number_text(x: Any, name: str) -> str:
    text = constant_text(x)
    if text is None:
        raise NotSupported.EXPORT(f"{name} is {an(type(x).__name__)}")
    return text


# -- the function that is called ---------------------------------------------------------------


def _may_be_none(text: str, name: str) -> list[bool]:
    """Return for each gradient that a function returns whether it may be `None`, or hold it."""
    with TREES:
        module = ast.parse(text)
    body = [*ast.walk(module)]
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    known = {node.name for node in functions if node.name != name and _none_in(node, set())}
    assigned = [
        ([*map(_root, node.targets)], node.value) for node in body if isinstance(node, ast.Assign)
    ]
    assigned += [
        ([_root(node.func.value)], ast.List(node.args))
        for node in body
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    count = -1
    while count != len(known):
        count = len(known)
        for targets, value in assigned:
            if _none_in(value, known):
                known.update(*targets)
    (function,) = [node for node in functions if node.name == name]
    within = {node for inner in functions if inner is not function for node in ast.walk(inner)}
    results = [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and node not in within
    ]
    found = [node.elts[1:] for node in results if isinstance(node, ast.Tuple)]
    return [any(_none_in(part, known) for part in parts) for parts in zip(*found, strict=True)]


def _root(x: ast.AST) -> set[str]:
    """Return the names of the variables that an assignment changes."""
    return {node.id for node in ast.walk(x) if isinstance(node, ast.Name)}


def _none_in(x: ast.AST, known: set[str]) -> bool:
    """Return whether `None`, or a name that may be it, is in an expression that may be it."""
    if isinstance(x, ast.Compare | ast.BinOp | ast.UnaryOp | ast.AugAssign):
        return False
    if isinstance(x, ast.Constant):
        return x.value is None
    if isinstance(x, ast.Name):
        return x.id in known
    return any(_none_in(part, known) for part in ast.iter_child_nodes(x))


def _checked_entry(
    made: Specialized,
    active: tuple[bool, ...],
    single: bool,
    name: str,
    inner: str,
    partly: list[bool],
) -> str:
    """Return the function that looks at what it is given, and at what it returns.

    Arguments:
        made: the code.
        active: which arguments are differentiated.
        single: whether one is, and its gradient is no tuple.
        name, inner: the names of this function, and of the one that it calls.
        partly: for each gradient, whether it may be `None`, or hold it, which is made zeros.
    """
    parameters = made.parameters[: len(made.arguments)]
    pairs = [*zip(parameters, made.arguments, strict=True)]
    taken = {*made.parameters}
    found = [_unlike(f"d{p}", taken) for p, flag in zip(parameters, active, strict=True) if flag]
    value = _unlike("y", taken)
    kinds = "; ".join(f"{p}: {_kind(x)}" for p, x in pairs)
    wanted = [p for p, flag in zip(parameters, active, strict=True) if flag]
    by = wanted[0] if single else f"({', '.join(wanted)}{',' * (len(wanted) == 1)})"
    tests = [test for p, x in pairs for test in guards_of(p, x, exported=True)]
    lines = [
        f"def {name}({', '.join(parameters)}):",
        f'    """Return the value, and the gradient by {by}."""',
        *_unless(tests, f"raise TypeError({_literal('expected ' + kinds)})"),
    ]
    lists = [path for p, x in pairs for path in lists_in(x, p)]
    if len(lists) > 1:  # their gradients would be one
        refusal = 'raise ValueError("one list or dict is given twice")'
        lines += _unless([Test(f"are_distinct({', '.join(lists)})")], refusal)
    lines.append(f"    {', '.join([value, *found])} = {inner}({', '.join(made.parameters)})")
    infinite = 'raise FloatingPointError("a gradient that is not finite needs zygote_lite")'
    lines += _unless(checks_of(made, active, found, exported=True), infinite)
    gradients = zip(found, wanted, partly, strict=True)
    lines += [f"    {d} = with_zeros({d}, {p})" for d, p, lacks in gradients if lacks]
    gradient = found[0] if single else f"({', '.join(found)}{',' * (len(found) == 1)})"
    return "\n".join([*lines, f"    return {value}, {gradient}"])


def _unless(tests: list[Test], statement: str) -> list[str]:
    """Return the lines of a statement that is run unless all tests hold."""
    negated = [test.negated for test in tests]
    if len(tests) > 1:
        negated = ["(", f"        {negated[0]}", *(f"        or {t}" for t in negated[1:]), "    )"]
    text = "\n".join(negated)
    return [f"    if {text}:", f"        {statement}"] if tests else []


def _literal(text: str) -> str:
    """Return the text of a string, over several lines where it is long."""
    parts = re.findall(r".{1,70}(?:\s|$)", text) or [text]
    quoted = [repr(part) if '"' in part or "\\" in part else f'"{part}"' for part in parts]
    if len(quoted) == 1:
        return quoted[0]
    return "\n" + "".join(f"            {part}\n" for part in quoted) + "        "


def _unlike(stem: str, taken: set[str]) -> str:
    """Return a name that is not taken, and take it."""
    name = stem
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _kind(x: Value) -> str:
    """Return what an argument is to be, in words."""
    if x.items is not None:
        kind = type(x.sample).__name__
        if kind == "dict":
            return f"dict ({', '.join(f'{at}: {_kind(part)}' for at, part in parts_of(x))})"
        inner = [_kind(item) for item in x.items]
        if len({*inner}) == 1:
            return f"{kind} of {len(inner)} ({inner[0]})"
        return f"{kind} ({', '.join(inner)})"
    if isinstance(x.fact, ListOf):
        rows = "lists of " if isinstance(x.fact.item, ListOf) else ""
        return f"list of {rows}{spelled(class_in(x.fact))}"
    if x.is_constant:
        return repr(x.sample)
    if isinstance(x.fact, Scalar):
        return str(spelled(class_in(x.fact)))
    assert isinstance(x.fact, ArrayOf)
    lengths = ", ".join({ONE: "1", MANY: "not 1"}.get(axis, "any") for axis in x.fact.axes)
    return f"{x.fact.dtype} array ({lengths})"


hide_keywords(export_adjoint)
refused_inside(export_adjoint)
