"""Specialized code through Numba: what is compiled, and the entry to it."""

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._ir.names import name_of
from zygote_lite._specialize.assemble import Specialized
from zygote_lite._specialize.numba import arithmetic as _machine
from zygote_lite._specialize.numba.arithmetic import FLOAT, INTEGER, MIXED, TRUTH
from zygote_lite._specialize.numba.checks import (
    kind_of_number,
    refuse_other_arrays,
)
from zygote_lite._specialize.text.spell import spelled
from zygote_lite._specialize.typed.facts import ArrayOf, Scalar
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.structures import in_form_of, paths_of
from zygote_lite._specialize.typed.values import Value

_NO_NUMBA = NotSupported.NUMBA('Numba is not installed (pip install "zygote_lite[jit]")')
MISSING = str(_NO_NUMBA)
_MOST_COMPILED = 256
# by text: functions are specialized anew when what they read changes
_compiled_functions: dict[Any, Callable[..., Any]] = {}
_CLASSES = (np.float64, np.int64, np.bool_, float, int, bool)
_options = {"boundscheck": True, "error_model": "python"}


def required_numba() -> Any:
    """Return Numba. Raises `NotSpecializable` where it is not installed."""
    try:
        import numba
    except ImportError as error:
        raise NotSupported.NUMBA(_NO_NUMBA.details) from error
    return numba


def compile_code(code: Any, made: Specialized) -> Callable[..., Any]:
    """Return the machine code of what was written for a specialization.

    Raises `NotSpecializable` where Numba is missing, or refuses: with the first line of its error.
    """
    numba = required_numba()
    given = [value for value, _ in made.inputs.given.values()]
    values = [leaf for x in made.arguments for leaf in leaves(x) if leaf.name]
    signature = tuple([_type_of(numba, x) for x in (*values, *given)])
    y = _result(made)
    if y.is_array and not y.made:
        raise Unsound.IDENTITY("it returns an array that it did not create: return a copy")
    if y.is_array:
        refuse_other_arrays(y)
    elif kind_of_number(y) == MIXED:
        raise Unsound.COMPILED_NUMBER("it returns an integer or a float: return a float")
    for x in made.bound.values():
        if getattr(x, "__globals__", None) is not vars(_machine):
            raise NotSupported.COMPILED_CALL(f"it calls {name_of(x)}, which is not compiled")
    key = str(made.text), signature, frozenset(made.bound.items())  # one text, other functions
    if key not in _compiled_functions:
        for name, x in made.bound.items():
            code.__globals__[name] = _compiled_helper(x)
        if len(_compiled_functions) > _MOST_COMPILED:
            _compiled_functions.clear()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _compiled_functions[key] = numba.njit(signature, **_options)(code)
        except Exception as error:  # whatever Numba says: the code does not qualify
            raise NotSupported.NUMBA(f"Numba says: {_main_line(error)}") from error
    found = _compiled_functions[key]
    _check_types(numba, found, made)
    return found


@functools.lru_cache(maxsize=1024)
def _compiled_helper(f: Any) -> Any:
    return required_numba().njit(**_options)(f)


def _type_of(numba: Any, x: Value) -> Any:
    if x.is_array:
        refuse_other_arrays(x)
        assert isinstance(x.fact, ArrayOf)
        entry = numba.from_dtype(x.fact.dtype)
        return numba.types.Array(entry, len(x.fact.axes), "A", readonly=True)
    kinds = {FLOAT: numba.float64, INTEGER: numba.int64, TRUTH: numba.boolean}
    return kinds[kind_of_number(x)]


def _main_line(error: Exception) -> str:
    """Return the line of a message that tells most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if not line.startswith("Failed in")), repr(error))


def _result(made: Specialized) -> Value:
    assert made.result is not None  # only code for a Hessian returns no value
    return made.result


def _check_types(numba: Any, found: Any, made: Specialized) -> None:
    """Refuse code whose results Numba takes to be something else than they are.

    Those are numbers: of arrays it is given those that `refuse_other_arrays` lets pass.
    """
    returned = found.nopython_signatures[0].return_type
    y = _result(made)
    leaves_of = [x for x, d in made.gradients.items() if d is not None]
    types_found = [*returned] if leaves_of else [returned]
    for x, end in zip([y, *leaves_of], types_found, strict=True):
        if not x.is_array and end != (_type_of(numba, x) if x is y else numba.float64):
            raise Unsound.COMPILED_NUMBER(
                f"Numba takes {x.name or 'a result'} to be of the type {end}"
            )


# -- the entry ---------------------------------------------------------------------------------


def range_tests(made: Specialized, given: list[str]) -> list[str]:
    """Return the tests that integers are small enough."""
    paths = [
        *((path, x) for i, top in enumerate(made.arguments) for path, x in paths_of(top, f"x{i}")),
        *zip(given, [value for value, _ in made.inputs.given.values()], strict=True),
    ]
    return [
        f"{-_machine.LARGEST} <= {path} <= {_machine.LARGEST}"
        for path, x in paths
        if x.name and not x.is_array and kind_of_number(x) == INTEGER
    ]


def call_of(
    made: Specialized, given: list[str], active: tuple[bool, ...]
) -> tuple[str, list[str], str, list[str]]:
    """Return the texts of the call, of the tests of its results, of the value, and the gradients.

    The code is given the parts of structures one by one, and returns their gradients so. It has
    looked at its numbers itself: the tests are of arrays.
    """
    operands = [path for i, x in enumerate(made.arguments)
                for path, leaf in paths_of(x, f"x{i}") if leaf.name]  # fmt: skip
    names = {}
    y = _result(made)
    results = ["y"]
    for x, d in made.gradients.items():
        if d is not None:
            results.append(f"g{len(results)}")
            is_numpy = isinstance(x.sample, np.generic)
            names[x] = f"np.float64({results[-1]})" if is_numpy else results[-1]
    checks = [f"is_finite({name})" for x, name in names.items() if x.is_array]
    value = "y"
    if isinstance(y.fact, Scalar):  # NumPy's number, if it may be one
        value = f"{spelled(next(kind for kind in _CLASSES if kind in y.fact.classes))}(y)"
    flagged = zip(made.arguments, active, strict=True)
    found = [in_form_of(x, lambda leaf: names.get(leaf, "None")) for x, flag in flagged if flag]
    return f"{', '.join(results)} = fast({', '.join([*operands, *given])})", checks, value, found
