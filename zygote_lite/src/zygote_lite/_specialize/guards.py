"""Guards: tests of the arguments at entry, and a test that the gradients are finite."""

import math
from typing import Any, NamedTuple

import numpy as np

from zygote_lite._nested.gradients import inside_run
from zygote_lite._specialize.assemble import Specialized
from zygote_lite._specialize.text.spell import spelled
from zygote_lite._specialize.typed.facts import MANY, ONE, ArrayOf, ListOf, Scalar, may_be_complex
from zygote_lite._specialize.typed.stand_ins import Collector, DataTable, RowsOfData
from zygote_lite._specialize.typed.structures import parts_of, paths_of
from zygote_lite._specialize.typed.values import Value

LARGE_PRODUCT = 100_000  # above this, a dot product may start threads
vdot = np.vdot._implementation  # type: ignore[attr-defined]
_NEGATED = {"is": "is not", "is not": "is", "==": "!=", "!=": "==", "in": "not in", "not in": "in"}


def is_finite(x: np.ndarray) -> bool:
    """Return whether all entries are finite."""
    small = x.size < LARGE_PRODUCT
    return (small and math.isfinite(abs(vdot(x, x)))) or bool(np.isfinite(x).all())


def are_finite(x: np.ndarray, y: np.ndarray) -> bool:
    """Return whether all entries of two arrays of one dtype are finite."""
    small = x.size == y.size < LARGE_PRODUCT  # any number times an infinity is not finite
    return (small and math.isfinite(abs(vdot(x, y)))) or (is_finite(x) and is_finite(y))


for _test in (is_finite, are_finite):
    inside_run(_test)  # a tape around, which records this code, need not record the test


class Test(NamedTuple):
    """The text of a test: a comparison, or a call that returns a truth value."""

    left: str
    sign: str = ""
    right: str = ""

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right}".rstrip()

    @property
    def negated(self) -> str:
        """The text of the opposite."""
        if not self.sign:
            return f"not {self.left}"
        return f"{self.left} {_NEGATED[self.sign]} {self.right}"


def guards_of(path: str, x: Value, name: str = "", *, exported: bool = False) -> list[Test]:
    """Return the tests that an argument must pass.

    Arguments:
        path: the expression for it.
        x: its abstract value.
        name: the variable that the first test assigns it to, where it is not one already.
        exported: whether the tests stand in a module of their own: there they assign nothing, and
            need nothing but NumPy and functions that can be written out.
    """
    if x.is_object:  # among what is read from outside
        return []
    first, name = (f"({name} := {path})", name) if name else (path, path)
    if x.items is not None:
        kind, parts = type(x.sample), parts_of(x)
        tests = [Test(f"type({first})", "is", kind.__name__)]
        if kind is not dict:
            tests.append(Test(f"len({name})", "==", f"{len(parts)}"))
        elif exported:
            tests.append(Test(f"[*{name}]", "==", f"[{', '.join(at for at, _ in parts)}]"))
        else:
            tests.append(Test(f"are_keys({name}, {tuple(x.sample)!r})"))
        for i, (at, part) in enumerate(parts):
            inner = "" if exported else f"{name}_{i}"
            tests += guards_of(f"{name}[{at}]", part, inner, exported=exported)
        return tests
    if isinstance(x.fact, ListOf):
        rows = isinstance(x.fact.item, ListOf)
        kind = class_in(x.fact)
        numbers = Test(f"are_numbers({name}, {spelled(kind)}, {rows})")
        return [Test(f"type({first})", "is", "list"), numbers]
    if isinstance(
        x.sample, RowsOfData | DataTable | Collector
    ):  # of which parts are read from outside
        return []
    if x.is_constant:
        same = Test(name, "==", repr(x.sample))
        return [Test(f"type({first})", "is", f"type({x.sample!r})"), same]
    if isinstance(x.fact, Scalar):
        return [Test(f"type({first})", "is", str(spelled(class_in(x.fact))))]
    if not isinstance(x.fact, ArrayOf):  # an object whose class was tested
        return [Test(first, "is not", "None")]
    axes, dtype = x.fact.axes, x.fact.dtype
    same_dtype = Test(f"{name}.dtype", "in", dtype_name(dtype))
    if exported:
        same_dtype = Test(f"{name}.dtype", "==", f"np.{dtype.name}")
    tests = [Test(f"type({first})", "is", "np.ndarray"), same_dtype]
    tests.append(Test(f"{name}.ndim", "==", f"{len(axes)}"))
    tests += [Test(f"{name}.shape[{i}]", "==", f"{n}") for i, n in (x.sizes or {}).items()]
    if {*axes} == {MANY}:
        several = Test(f"len({name})", "!=", "1") if len(axes) == 1 else None
        return [*tests, several or Test("1", "not in", f"{name}.shape")]
    signs = {ONE: "==", MANY: "!="}
    return tests + [
        Test(f"{name}.shape[{i}]", signs[axis], "1") for i, axis in enumerate(axes) if axis in signs
    ]


def class_in(fact: Scalar | ListOf) -> type:
    """Return the class of a number, or of the numbers in a list."""
    number: Any = fact
    while isinstance(number, ListOf):
        number = number.item
    kind: type
    (kind,) = number.classes
    return kind


def dtype_name(dtype: np.dtype) -> str:
    """Return the name, in the entry, of a tuple of one dtype: two are named `int64`.

    That of an array which was unpickled, or viewed, is equal to it and not the same object.
    """
    return f"dtype_{dtype.num}"


def checks_of(
    made: Specialized, active: tuple[bool, ...], names: list[str], *, exported: bool = False
) -> list[Test]:
    """Return the tests that the gradients must pass: they are finite, where that can fail.

    Arguments:
        made: the code.
        active: which arguments are differentiated.
        names: the variables that hold their gradients.
        exported: whether the tests stand in a module of their own.
    """
    checks = []
    arrays: dict[np.dtype, list[str]] = {}
    flagged = [x for x, flag in zip(made.arguments, active, strict=True) if flag]
    for x, name in zip(flagged, names, strict=True):
        for path, leaf in paths_of(x, name):
            d = made.gradients.get(leaf)
            if d is None or isinstance(leaf.fact, ListOf):  # `list_cotangent` has looked
                continue
            if isinstance(leaf.fact, ArrayOf):
                if d in made.telling and exported:
                    checks.append(Test(f"np.isfinite({path}).all()"))
                elif d in made.telling:
                    arrays.setdefault(leaf.fact.dtype, []).append(path)
            elif may_be_complex(leaf.fact):
                checks.append(Test(f"np.isfinite({path})"))
            elif not (d.is_constant and math.isfinite(d.sample)):
                checks.append(Test(f"math.isfinite({path})"))
    for paths in arrays.values():
        for i in range(0, len(paths), 2):
            pair = paths[i : i + 2]
            checks.append(Test(f"{'are' if len(pair) == 2 else 'is'}_finite({', '.join(pair)})"))
    return checks


def lists_in(x: Value, path: str) -> list[str]:
    """Return the expressions of all lists and dicts in an argument."""
    if isinstance(x.fact, ListOf):
        return [path, f"*{path}"] if isinstance(x.fact.item, ListOf) else [path]
    inner = [p for at, part in parts_of(x) for p in lists_in(part, f"{path}[{at}]")]
    return [path, *inner] if isinstance(x.sample, list | dict) else inner


def finite_checks(text: str, x: Value) -> list[str]:
    """Return the tests that a value is finite, part by part of a tuple, list or dict."""
    if x.fields is not None:
        keys = range(len(x.fields)) if isinstance(x.sample, tuple) else x.fields
        fields = zip(keys, x.fields.values(), strict=True)
        parts = [finite_checks(f"{text}[{at!r}]", item) for at, item in fields]
        return [test for part in parts for test in part]
    if x.items is not None:
        parts = [finite_checks(f"{text}[{at}]", item) for at, item in parts_of(x)]
        return [test for part in parts for test in part]
    if x.is_array:
        return [f"is_finite({text})"]
    if may_be_complex(x.fact) and not x.is_constant:
        return [f"cmath.isfinite({text})"]
    return [f"math.isfinite({text})"] if x.is_scalar and not x.is_constant else []
