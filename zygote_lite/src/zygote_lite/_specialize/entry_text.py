"""The text of an entry: tests of what the code takes for granted, its call, and how it ends."""

import textwrap
from collections import deque
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from zygote_lite._specialize.assemble import Specialized
from zygote_lite._specialize.guards import checks_of, finite_checks, guards_of, lists_in
from zygote_lite._specialize.numba.compile import call_of, range_tests
from zygote_lite._specialize.typed.facts import ListOf, Other
from zygote_lite._specialize.typed.structures import paths_of
from zygote_lite._specialize.watch import (
    AS_RULE,
    AUXILIARY,
    FORWARD,
    GRADIENT,
    OF_FIRST,
    PRODUCT,
    PULLBACK,
)

_AND = "\n            and "


def entry_text(
    made: Specialized, form: str, active: tuple[bool, ...], single: bool, *, compiled: bool,
    moving: list[int], is_made_again: bool, is_handled: bool,
) -> str:  # fmt: skip
    """Return the text of the function `enter`, which tests the guards and runs the code, `fast`.

    Arguments:
        made: the code.
        form: what it returns: see `cache.specializations_of`.
        active: of which of its arguments it returns gradients.
        single: whether the gradient is that of one argument, and not a tuple.
        compiled: whether Numba compiles it.
        moving: the arguments that have tangents, which come after all arguments.
        is_made_again: whether it is made again, with strong zeros, where a gradient is not finite.
        is_handled: whether errors that the program catches have code of their own made.
    """
    names = [f"x{i}" for i in range(len(made.arguments))]
    tests, given = _tests_at_entry(made, names, form)
    tests.append("(len(modules) == rules.modules or rules.hold())")
    if compiled:
        tests += range_tests(made, given)
    tests += _tests_of_tangents(made, names, moving)
    outside = _names_of_outside(made)
    contents = [f"c{i}" for i in range(len(made.changed) + len(outside))]
    changes = [f"        {x}[...] = {c}\n" for x, c in zip(made.changed, contents, strict=False)]
    later = zip(outside, contents[len(made.changed) :], strict=True)
    changes += [f"        effects.contents.append(({x}, {c}))\n" for x, c in later]
    begin, undo, perform = "", "", ""
    if made.inputs.effects is not None:
        begin = f"    effects = Effects({', '.join([*made.inputs.drawn, *made.inputs.changing])})\n"
        undo, perform = "        effects.take_back()\n", "        effects.perform()\n"
    call = f"fast({', '.join([*names, *given, *(['effects'] if begin else [])])})"
    run, checks, answer = _run_and_answer(
        made, form, active, single, compiled, call, given, contents
    )
    other, warned, ends = "left(doubtful)", "", "left(error)"
    if is_made_again:
        other = f"again(f, {', '.join(names)})"
        # where warnings are errors, a zero that meets an infinity raises one
        warned = f"    except (FloatingPointError, RuntimeWarning):\n{undo}        return {other}\n"
    if is_handled:
        ends = f"left(error) or handled(error, f, {', '.join(names)})"
    return (
        f"def enter(f, {', '.join(names)}):\n"
        f"    try:\n"
        f"        if not (\n"
        f"            {_AND.join(tests)}\n"
        f"        ):\n"
        f"            return None\n"
        f"    except Exception:\n"  # what is tested is gone
        f"        return None\n"
        f"{begin}"
        f"    try:\n"
        f"        {run}\n"
        f"{warned}"
        f"    except Exception as error:\n"
        f"{undo}"
        f"        return {ends}\n"
        f"    if {' and '.join(checks) or 'True'}:\n"
        f"{''.join(changes)}{perform}"
        f"        return {answer}\n"
        f"{textwrap.indent(textwrap.dedent(undo), '    ')}"
        f"    return {other}\n"
    )


def _names_of_outside(made: Specialized) -> list[str]:
    """Return the variables of the arrays from outside that the code changes."""
    names = {value: f"e{i}" for i, (value, _) in enumerate(made.inputs.given.values())}
    return [names[x] for x in made.changed_outside]


def _run_and_answer(
    made: Specialized, form: str, active: tuple[bool, ...], single: bool, compiled: bool,
    call: str, given: list[str], contents: list[str],
) -> tuple[str, list[str], str]:  # fmt: skip
    """Return the statement that runs the code, tests of what it gives, and the answer."""
    if form in (PULLBACK, AUXILIARY):
        return f"y, back = {call}", [], "y, back"
    if form == AS_RULE:
        return f"y, back = {call}", [], f"y, back, ({''.join(f'{e}, ' for e in given)})"
    if form in (FORWARD, PRODUCT) and made.result is not None:
        return _run_of_tangent(made, form, call, contents)
    found = [f"d{i}" for i, flag in enumerate(active) if flag]
    if compiled:
        run, checks, value, found = call_of(made, given, active)
    else:
        targets = [*([] if made.result is None else ["y"]), *found, *contents]
        run, value = f"{', '.join(targets)} = {call}", "y"
        checks = [] if made.exact else [*map(str, checks_of(made, active, found))]
    gradient = found[0] if single else f"({', '.join(found)}{',' * (len(found) == 1)})"
    if form in (GRADIENT, OF_FIRST):
        return run, checks, f"{value}, {gradient if any(active) else ''}"
    return run, checks, gradient


def _run_of_tangent(
    made: Specialized, form: str, call: str, contents: list[str]
) -> tuple[str, list[str], str]:
    """Return the same for dual code, which gives the value and its tangent, or that alone."""
    assert made.result is not None
    run, tangent, path = f"{', '.join(['y', *contents])} = {call}", made.result, "y"
    if form == FORWARD:
        assert made.result.items is not None
        tangent, path = made.result.items[1], "y[1]"
    if made.poles:  # of which NumPy would warn: the tape knows which zero wins
        run = f"with np.errstate(**raising):\n            {run}"
    return run, finite_checks(path, tangent), "y"


def _tests_of_tangents(made: Specialized, names: list[str], moving: list[int]) -> list[str]:
    """Return the tests that tangents, which come after the arguments, have their lengths."""
    tests: list[str] = []
    count = len(names) - len(moving)
    for i, name, dx in zip(moving, names[count:], made.arguments[count:], strict=True):
        if isinstance(dx.fact, Other) and dx.items is None:  # whose parts the code looks at
            continue
        both = zip(paths_of(made.arguments[i], names[i]), paths_of(dx, name), strict=True)
        for (a, x), (b, _) in both:
            tests += [f"{b}.shape == {a}.shape"] * x.is_array
            tests += [f"len({b}) == len({a})"] * isinstance(x.fact, ListOf)
    return tests


def _tests_at_entry(made: Specialized, names: list[str], form: str) -> tuple[list[str], list[str]]:
    """Return the tests at entry, and the variables that they assign what is read from outside."""
    tests = ["f.__code__ is code"]
    if form != AS_RULE:
        tests.append("(not runs.count or state.active is None)")
    elif made.inputs.given or made.inputs.has_numbers:  # they may be active on the tape
        tests.append("not reaches_active(f)")
    lists = []
    for name, x in zip(names, made.arguments, strict=True):
        tests += map(str, guards_of(name, x))
        lists += lists_in(x, name)
    if len(lists) > 1:  # a list or dict that is there twice has one gradient
        tests.append(f"are_distinct({', '.join(lists)})")
    tests += made.inputs.guards
    inside, others = made.inputs.differentiated, [*made.inputs.containers]
    if inside:  # it may be an entry of two, or be read from outside too
        others += [f"{name}.__dict__" for name in made.inputs.objects]
        lists += inside
        tests += [f"are_distinct({', '.join(lists)})"] if len(lists) > 1 else []
    if lists and others:  # what is differentiated may be read from outside too
        tests.append(f"are_apart(({', '.join(lists)},), {', '.join(others)})")
    tests += _tests_of_collectors(made, lists)
    for name in made.inputs.lends:  # each of these dicts has one variable
        known = [other for other in made.inputs.containers if other != name]
        known += [f"{other}.__dict__" for other in made.inputs.objects]
        tests += [f"are_apart(({name},), {', '.join(known)})"] if known else []
    for name in made.inputs.assigned:  # each object has one variable
        known = [other for other in made.inputs.objects if other != name]
        known += [other for other in inside if other != f"{name}.__dict__"]
        tests += [f"are_apart(({name}, {name}.__dict__), {', '.join(known)})"] if known else []
    tests += _tests_of_attributes(made, lists)
    cells = [*made.inputs.assigned_cells]  # each of these has one variable
    if cells and made.inputs.captured:
        tests.append(f"are_apart(({', '.join(cells)},), {', '.join(made.inputs.captured)})")
    tests += [f"are_distinct({', '.join(cells)})"] if len(cells) > 1 else []
    given = [f"e{i}" for i in range(len(made.inputs.given))]
    for name, (outer, expression) in zip(given, made.inputs.given.values(), strict=True):
        tests += map(str, guards_of(expression, outer, name))
    outside = zip(given, (x for x, _ in made.inputs.given.values()), strict=True)
    return tests + _tests_of_changed(made, [name for name, x in outside if x.is_array]), given


def _tests_of_attributes(made: Specialized, lists: list[str]) -> list[str]:
    """Return the test that no dict that is read has attributes which the code assigns."""
    inputs = made.inputs
    changing = [f"{name}.__dict__" for name in inputs.assigned]
    changing += [
        f"{inputs.name_for(x.owner, 'o')}.__dict__" for x in inputs.variables.values()
        if isinstance(x.owner, FunctionType)
    ]  # fmt: skip
    read = dict.fromkeys([*lists, *inputs.containers])
    read |= dict.fromkeys(name for name, kind in inputs.classes.items() if issubclass(kind, dict))
    for name in changing:
        read.pop(name, None)  # of an object that is differentiated, too
    return [f"are_apart(({', '.join(changing)},), {', '.join(read)})"] if changing and read else []


def _tests_of_collectors(made: Specialized, lists: list[str]) -> list[str]:
    """Return the tests that containers that are put into are nothing else that is read."""
    inputs, names = made.inputs, [*made.inputs.collectors]
    if not names:
        return []
    others = [*lists, *(name for name in inputs.containers if name not in names)]
    others += [
        name for name, kind in inputs.classes.items()
        if issubclass(kind, (list, dict, set, deque)) and name not in (*names, *others)
    ]  # fmt: skip
    others += [f"{name}.__dict__" for name in (*inputs.objects, *inputs.assigned)]
    if any(issubclass(inputs.classes[name], dict) for name in names):
        others += [*_dicts_of("f", inputs.f)]
        others += [d for name, x in inputs.bound.items() for d in _dicts_of(name, x)]
    tests = [f"are_distinct({', '.join(names)})"] if len(names) > 1 else []
    return tests + ([f"are_apart(({', '.join(names)},), {', '.join(others)})"] if others else [])


def _dicts_of(name: str, x: Any) -> Iterator[str]:
    """Yield the expressions for dicts that what is bound is, or has its attributes in."""
    if type(x) is dict:
        yield name
    elif isinstance(x, FunctionType):
        yield f"{name}.__dict__"
        yield f"{name}.__kwdefaults__"
    elif isinstance(x, ModuleType):
        yield f"{name}.__dict__"


def _tests_of_changed(made: Specialized, outside: list[str]) -> list[str]:
    """Return the tests that arrays may be written to, and share no memory with others."""
    read = {x for x, _ in made.inputs.given.values()}  # as attributes of arguments, among these
    inside = [path for i, x in enumerate(made.arguments) for path, leaf in paths_of(x, f"x{i}")
              if leaf.is_array and leaf not in read]  # fmt: skip
    tests = []
    for i, x in enumerate(made.changed):
        others = [other for other in inside if other not in made.changed[: i + 1]] + outside
        tests.append(f"is_writable({', '.join([x, *others])})")
    changed = _names_of_outside(made)
    for i, x in enumerate(changed):
        others = [other for other in outside if other not in changed[: i + 1]] + inside
        tests.append(f"is_writable({', '.join([x, *others])})")
    return tests
