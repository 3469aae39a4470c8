"""The advice of a refusal runs when it is pasted: then the rule that it declares answers."""

import array
import collections
import ctypes
import decimal
import io
import json
import operator
import os
import pickle
import queue
import re
import struct
import subprocess
import sys
import textwrap
import types

import dask.array
import numpy as np
import pytest
from scipy import integrate, interpolate, ndimage, signal, spatial, stats
from scipy.cluster import hierarchy
from scipy.linalg import blas

import rulescore
from rulescore import RuleError, RuleSet
from rulescore._plugins.plugin import Plugin
from tests.zygote_lite.checks.finite_differences import assert_slopes
from zygote_lite import (
    DifferentiationError,
    NoRuleError,
    grad,
    gradient,
    hvp,
    jacobian,
    jvp,
    pullback,
    stop_gradient,
    vmap,
)
from zygote_lite._tape.refusals import advice
from zygote_lite._tape.refusals.advice import what_to_do
from zygote_lite._tape.refusals.pasted import annotation_of, rule_to_paste
from zygote_lite._tape.refusals.refusal import hook_refusal

X = np.arange(1.0, 7.0)
HALF = np.array([[0.5]])
EYE = np.eye(2)
REFUSED = {
    "lfilter": lambda x: signal.lfilter([1.0], [1.0, -0.5], x),
    "sosfilt": lambda x: signal.sosfilt([[1.0, 0, 0, 1.0, 0, 0]], x),
    "upfirdn": lambda x: signal.upfirdn([1.0], x, 2),
    "medfilt": lambda x: signal.medfilt(x),
    "savgol_filter": lambda x: signal.savgol_filter(x, 3, 1),
    "convolve2d": lambda x: signal.convolve2d(x.reshape(3, 2), np.ones((2, 2)), mode="same"),
    "gaussian_filter": lambda x: ndimage.gaussian_filter(x, 1.0),
    "convolve1d": lambda x: ndimage.convolve1d(x, [1.0, 2.0], axis=0),
    "zoom": lambda x: ndimage.zoom(x, 2),
    "map_coordinates": lambda x: ndimage.map_coordinates(x.reshape(3, 2), [[0.5], [0.5]]),
    "median_filter": lambda x: ndimage.median_filter(x, 3),
    "sobel": lambda x: ndimage.sobel(x),
    "rotate": lambda x: ndimage.rotate(x.reshape(3, 2), 30.0, reshape=False),
    "spline_filter": lambda x: ndimage.spline_filter(x),
    "spline": lambda x: interpolate.BSpline(np.arange(10.0), x, 3)(4.5),
    "rbf": lambda x: interpolate.RBFInterpolator(np.arange(6.0)[:, None], x)(HALF),
    "pdist": lambda x: spatial.distance.pdist(x.reshape(3, 2)),
    "cdist": lambda x: spatial.distance.cdist(x.reshape(3, 2), x.reshape(3, 2)),
    "shift": lambda x: ndimage.shift(x, 0.5),
    "as_integer_ratio": lambda x: float.as_integer_ratio(x[0])[0],
}


def rule_in(error):
    (found,) = re.findall(r"declare it:\n\n(.*?)\n\n\[ZL00[14]\]$", str(error), re.DOTALL)
    return textwrap.dedent(found)


@pytest.mark.usefixtures("no_scipy")
@pytest.mark.parametrize("name", REFUSED)
def test_the_rule_of_the_advice_runs_and_answers(name, monkeypatch):
    monkeypatch.setattr(
        "rulescore._plugins.published._PUBLISHED", {}
    )  # as of a library that has no plugin
    with pytest.raises(NoRuleError) as refused:
        gradient(lambda x: np.sum(REFUSED[name](x)), X)
    space = {}
    exec(rule_in(refused.value), space)
    try:
        # it says what is left to write; of an object, the next function is told of
        with pytest.raises(NoRuleError) as left:
            gradient(lambda x: np.sum(REFUSED[name](x)), X)
    finally:
        space["rule"].unregister()
    if name == "rbf":
        assert rule_in(left.value) != rule_in(refused.value)
    else:
        assert "return the cotangents of " in str(left.value)


@pytest.mark.usefixtures("no_scipy")
def test_the_rule_to_paste_has_none_for_what_is_no_number(monkeypatch):
    monkeypatch.setattr("rulescore._plugins.published._PUBLISHED", {})
    distance, x = lambda x: np.sum(hierarchy.linkage(x, "single", "euclidean", False)), HALF * EYE
    with pytest.raises(NoRuleError) as refused:
        gradient(distance, x)
    of_all = "y, method, metric, optimal_ordering: (..., None, None, None)"
    left = f'raise NotImplementedError("return the cotangents of {of_all}")'
    rule = rule_in(refused.value)
    assert rule.count(left) == 1
    slope = "dy[0, 2] * (y - y[::-1]) / linkage(y, method)[0, 2]"
    space = {}
    exec(rule.replace(left, f"return {of_all.partition(': ')[2]}".replace("...", slope)), space)
    try:
        assert_slopes(gradient(distance, x), distance, (x,), 1e-6)
    finally:
        space["rule"].unregister()


def test_the_rule_to_paste_says_which_cotangents_are_none():
    numbers = rule_to_paste(signal.savgol_filter, (X, 3, 1), {})
    assert "# None for window_length or polyorder says: it is a count, an index or" in numbers
    assert "return the cotangents of x, window_length, polyorder" in numbers
    rng = np.random.default_rng(0)
    drawn = rule_to_paste(np.random.Generator.shuffle, (rng, X), {})
    assert "return the cotangents of self, x: (None, ...)" in drawn
    for text in (numbers, drawn):  # and it runs
        space = {}
        exec(text, space)
        space["rule"].unregister()


def test_of_a_queue_for_threads_another_is_told_and_runs():
    def queued(x):
        given = queue.SimpleQueue()
        given.put(x)
        return given.get() * x

    def as_told(x):
        given = collections.deque()
        given.append(x)
        return given.popleft() * x

    with pytest.raises(DifferentiationError, match=r"use a `collections.deque` in one .*ZL024\]$"):
        grad(queued)(3.0)
    assert [grad(as_told)(3.0) for _ in range(3)] == [6.0] * 3


PASTED = {
    "ufunc": (
        "from scipy.special import erf",
        "np.sum(erf(x))",
        "2 / np.sqrt(np.pi) * np.exp(-(x**2))",
    ),
    "ufunc of two": (
        "from scipy.special import xlogy",
        "np.sum(xlogy(x, 2.0 * x))",
        "(np.log(y), x / y)",
    ),
    "ufunc of arrays": (
        "from numpy.linalg import _umath_linalg",
        "_umath_linalg.det(np.diag(x) + 1.0)",
        "return (dy * det(x) * np.linalg.inv(x).T,)",
    ),
    "ufunc of two outputs": (
        "from scipy.special import sici",
        "sum(map(np.sum, sici(x)))",
        "return (dy[0] * np.sin(x) / x + dy[1] * np.cos(x) / x,)",
    ),
    "method in C, by keywords": (
        "new = np.random.default_rng",
        "np.sum(new(0).vonmises(mu=x, kappa=50.0))",
        "return None, dy, None",
    ),
    "function of Python that calls C": (
        "from scipy import ndimage",
        "np.sum(ndimage.correlate1d(x, [1.0, 2.0, 0.5]))",
        "return ndimage.correlate1d(np.eye(3), weights, axis=0).T @ dy, None",
    ),
    "option": (
        "from scipy import ndimage",
        "ndimage.correlate1d(x, [1.0, 2.0, 0.5], mode='wrap')[1]",
        "return ndimage.convolve1d(dy, weights, mode='wrap'), None",
    ),
    "wrapper of f2py": (
        "from scipy.linalg.blas import ddot",
        "ddot(x, x)",
        "return dy * y, dy * x",
    ),
    "function without a module": (
        "cube = np.frompyfunc(lambda x: x**3, 1, 1)",
        "cube(float(x[0]))",
        "3.0 * x**2",
    ),
    "C function of the user": (
        "import ctypes\ncos = ctypes.CDLL(None).cos\n"
        "cos.restype, cos.argtypes = ctypes.c_double, [ctypes.c_double]",
        "cos(x[1])",
        "return (-dy * np.sin(x),)",
    ),
}


@pytest.mark.usefixtures("no_scipy")
@pytest.mark.parametrize("kind", PASTED)
def test_the_program_works_once_the_pasted_rule_is_completed(kind, monkeypatch):
    monkeypatch.setattr("rulescore._plugins.published._PUBLISHED", {})
    imports, value, derivative = PASTED[kind]
    program = f"import numpy as np\n{imports}\n\ndef loss(x):\n    return {value}\n"
    space = {"__name__": "__main__"}
    exec(compile(program, "program.py", "exec"), space)
    x = np.array([0.5, 1.5, 2.5])
    with pytest.raises(NoRuleError, match=r"^program\.py:\d+: ") as refused:
        grad(space["loss"])(x)
    rule = re.sub(r"\(\.\.\., \.\.\.\)|\.\.\.|raise NotImpl.*", derivative, rule_in(refused.value))
    exec(rule, space)
    try:
        assert_slopes(gradient(space["loss"], x), space["loss"], (x,), 1e-6)
    finally:
        space["rule"].unregister()


def test_the_rule_for_a_method_of_another_library_answers_once_it_is_completed():
    f = lambda x: np.sum(x.rechunk(2) ** 2)
    x = dask.array.from_array(X)
    with pytest.raises(NoRuleError, match=r"use a function of NumPy .*declare it:") as refused:
        grad(f)(x)
    space = {}
    exec(re.sub("raise NotImpl.*", "return dy, None", rule_in(refused.value)), space)
    try:
        for _ in range(3):
            np.testing.assert_allclose(grad(f)(x).compute(), 2.0 * X)
    finally:
        space["rule"].unregister()


@pytest.mark.usefixtures("no_scipy")
@pytest.mark.parametrize("name", ["lfilter", "sobel", "spline", "pdist"])
def test_a_missing_plugin_is_named_with_the_extra(name):
    with pytest.raises(NoRuleError, match=r'rules_scipy.*zygote_lite\[all\]".* \[ZL002\]$'):
        gradient(lambda x: np.sum(REFUSED[name](x)), X)


def test_a_ufunc_is_given_a_scalar_rule(no_base):
    space = {}
    exec(rule_to_paste(np.logaddexp, (0.5, 0.5), {}), space)
    try:
        with pytest.raises(RuleError, match=r"numpy\.logaddexp.*lacks partial derivatives"):
            gradient(np.logaddexp, 0.5, 0.5)
    finally:
        space["rule"].unregister()


def test_what_is_found_by_no_name_gets_no_rule_to_paste():
    assert rule_to_paste(np.frompyfunc(lambda x: 2 * x, 1, 1), (0.5,), {}) is None


def test_the_rule_to_paste_says_what_a_none_for_a_function_means():
    integrate = pytest.importorskip("scipy.integrate", reason="SciPy is installed by an extra")
    pasted = rule_to_paste(integrate.quad, (np.sin, 0.0, 1.0), {})
    assert "# None for func says: what it holds has no gradient\n" in pasted
    assert "# None" not in rule_to_paste(np.interp, (0.5, np.ones(2), np.ones(2)), {})


def test_a_ufunc_that_returns_objects_gets_what_is_differentiated():
    def loss(x, make=np.frompyfunc):
        doubled = make(lambda x: 2 * x, 1, 1)
        return np.sum(doubled(x))

    told = r"Use `np\.vectorize` of the Python function, .* an array of objects \[ZL001\]$"
    with pytest.raises(NoRuleError, match=told):
        grad(loss)(X)
    as_told = grad(loss)(X, lambda f, *counts: np.vectorize(f))
    assert np.array_equal(as_told, 2 * np.ones_like(X))


def test_the_rule_for_a_local_variable_says_that_it_becomes_one_of_the_module():
    program = (
        "import ctypes, numpy as np\n"
        "def loss(x):\n"
        "    cos = ctypes.CDLL(None).cos\n"
        "    cos.restype, cos.argtypes = ctypes.c_double, [ctypes.c_double]\n"
        "    return cos(x)\n"
    )
    space = {"__name__": "__main__"}
    exec(compile(program, "program.py", "exec"), space)
    with pytest.raises(NoRuleError) as refused:
        grad(space["loss"])(0.5)
    rule = rule_in(refused.value)
    assert rule.startswith("# `cos` is a variable of `loss`: first make it one of the module\n")
    lines = program.splitlines()
    as_told = "\n".join([lines[0], *map(str.strip, lines[2:4]), lines[1], lines[4]])
    exec(f"{as_told}\n{re.sub('raise NotImpl.*', 'return -dy * np.sin(x),', rule)}", space)
    try:
        assert grad(space["loss"])(0.5) == -np.sin(0.5)
    finally:
        space["rule"].unregister()


OF_C_LIBRARY = """
import ctypes, numpy as np
libm = ctypes.CDLL(None)
libm.cos.restype, libm.cos.argtypes = ctypes.c_double, [ctypes.c_double]
def loss(x): return libm.cos(x)
"""
OF_CLOSURE = """
import ctypes, numpy as np
def make():
    cos = ctypes.CDLL(None).cos
    cos.restype, cos.argtypes = ctypes.c_double, [ctypes.c_double]
    return lambda x: cos(x)
loss = make()
"""


MADE_ONE_OF_THE_MODULE = OF_CLOSURE.replace("make():", "make():\n    global cos")


@pytest.mark.parametrize(
    ("program", "as_told", "path"),
    [
        (OF_C_LIBRARY, OF_C_LIBRARY, "libm.cos"),
        (OF_CLOSURE, MADE_ONE_OF_THE_MODULE, "cos"),
    ],
)
def test_the_rule_for_what_an_object_or_a_closure_holds_names_it(program, as_told, path):
    space = {"__name__": "__main__"}
    exec(compile(program, "program.py", "exec"), space)
    with pytest.raises(NoRuleError) as refused:
        grad(space["loss"])(0.5)
    rule = rule_in(refused.value)
    of_closure = "# `cos` is a variable of `<lambda>`: first make it one of the module\n"
    assert rule.startswith(of_closure) == (path == "cos")
    assert f"@rule({path})\n" in rule
    exec(f"{as_told}\n{re.sub('raise NotImpl.*', 'return -dy * np.sin(x),', rule)}", space)
    try:
        assert grad(space["loss"])(0.5) == -np.sin(0.5)
    finally:
        space["rule"].unregister()


def test_annotations_to_paste_are_of_public_modules(monkeypatch):
    mine = of_library("mine._arrays", "class Masked: pass")
    monkeypatch.setitem(sys.modules, "mine._arrays", mine)
    masked = mine.Masked
    assert annotation_of(masked()) == ("object", "")
    expected = "SimpleNamespace", "from types import SimpleNamespace"
    assert annotation_of(types.SimpleNamespace()) == expected


def test_a_method_that_a_public_class_inherits_of_a_private_one_is_named_by_the_public_class():
    spline = interpolate.PchipInterpolator(np.arange(3.0), X[:3])
    pasted = rule_to_paste(type(spline).__call__, (spline, 0.5), {})
    public = "PPoly" if "__call__" in vars(interpolate.PPoly) else "PchipInterpolator"
    assert f"@rule({public}.__call__)" in pasted  # SciPy 1.18 has it in a public class
    assert f"from scipy.interpolate import {public}\n" in pasted
    assert "_interpolate" not in pasted


@pytest.mark.parametrize("library", ["pandas.core.arrays", "jaxlib._jax"])
def test_the_jacobian_of_a_value_of_another_library_gets_the_line_that_helps(library):
    data = of_library(library, "class Data: shape, dtype = (2,), float").Data()
    with pytest.raises(TypeError, match=r"(pandas|JAX) carries no gradient.*: pass .* \[ZL033\]$"):
        jacobian(lambda x: x)(data)


def test_a_function_that_changes_its_arguments_gets_no_rule_to_paste():
    told = str(what_to_do("f has no rule", "mine", (list.append, ([], 1.0), {})))
    assert told.startswith("f has no rule. It changes what it is given, ")
    told = str(what_to_do("f has no rule", "mine", (np.sin, (X,), {}), returns=False))
    assert told.startswith("f has no rule. It changes what it is given, ")


def modf_of_c():
    """Return a function that returns a part of a number, and writes the other into an array."""
    modf = ctypes.CDLL(None).modf
    modf.restype = ctypes.c_double
    modf.argtypes = [ctypes.c_double, np.ctypeslib.ndpointer(float)]
    return modf


def sum_of_parts(modf):
    def f(x):
        whole = np.zeros(1) * x
        return modf(x, whole) + whole[0] * x

    return f


def test_a_function_that_writes_and_returns_a_value_gets_no_rule_to_paste():
    f = sum_of_parts(modf_of_c())
    assert f(2.5) == 5.5
    with pytest.raises(NoRuleError, match=r"It changes what it is given, .* \[ZL001\]$"):
        grad(f)(2.5)


VERBS = {
    "gradient": gradient,
    "jvp": lambda f, x: jvp(f, (x,), (1.0,)),
    "nested": lambda f, x: grad(lambda y: grad(f)(y) * y)(x),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", ["general", "linear"])
def test_a_rule_for_a_function_that_writes_is_refused_at_its_call(verb, kind):
    modf, rule = modf_of_c(), RuleSet("mine")
    if kind == "general":

        @rule(modf)
        def _(x: float, whole: np.ndarray):
            return modf(x, whole), lambda dy: (dy, None)

    else:

        @rule.linear(modf, argnums=0)
        def _(dy, x: float, whole: np.ndarray):
            return dy

    rule.register()
    try:
        for _ in range(3):
            with pytest.raises(RuleError, match=r"changes its arguments, .* \[RC005\]$"):
                VERBS[verb](sum_of_parts(modf), 2.5)
    finally:
        rule.unregister()


@pytest.mark.parametrize("name", ["permutation", "permuted", "shuffle", "choice"])
def test_draws_among_the_entries_of_an_array_are_read_by_drawn_numbers(name):
    new = np.random.default_rng
    with pytest.raises(NoRuleError, match=r"; draw numbers, .*: `(.*)` \[ZL040\]$") as refused:
        grad(lambda x: np.sum((getattr(new(0), name)(x + 0.0),)))(X)
    (advised,) = re.findall("`(.*)`", str(refused.value))
    drawn = eval(f"lambda x, generator, size: {advised} @ np.arange(6.0)", {"np": np})
    f = lambda x: drawn(x, new(0), 6)
    assert_slopes(gradient(f, X), f, (X,), 1e-6)


def test_numbers_of_bytes_are_read_from_a_text():
    with pytest.raises(NoRuleError, match=r": struct\.unpack of \(str, bytes\) .* \[ZL007\]$"):
        grad(lambda x: struct.unpack("d", struct.pack("d", x))[0])(0.5)


def test_a_near_miss_names_the_rule_and_the_argument():
    told = r"bincount.* takes Array as {}, and it is a {}: convert it by `np\.array\(...\)`, "
    with pytest.raises(NoRuleError, match=told.format("argument 1", "tuple")):
        grad(lambda x: np.sum(np.bincount(np.arange(3), (x, x, x))))(0.5)
    with pytest.raises(NoRuleError, match=told.format("`weights`", "list")):
        grad(lambda x: np.sum(np.bincount(np.arange(3), weights=[x, x, x])))(0.5)


@pytest.mark.parametrize("join", [np.concatenate, np.hstack])
def test_the_advice_on_an_option_that_no_rule_takes_helps(join):
    told = r"no rule that takes `casting`.*; leave it out, and convert .* by `astype` \[ZL003\]$"
    with pytest.raises(NoRuleError, match=told):
        gradient(lambda x: np.sum(join([x, x], casting="unsafe")), X)


def gamma(x):
    return np.random.default_rng(0).gamma(x, size=3)


@pytest.mark.parametrize(
    ("f", "told"),
    [
        (lambda x: blas.dasum(x * np.ones(2)), "scipy.linalg.blas.dasum of (ndarray) has no rule"),
        (gamma, "numpy.random.Generator.gamma of"),
    ],
)
def test_what_could_be_differentiated_gets_a_rule_of_public_names(f, told):
    with pytest.raises(NoRuleError, match=re.escape(told)) as refused:
        gradient(lambda x: np.sum(f(x)), 0.1)
    rule = rule_in(refused.value)
    assert "._" not in rule
    space = {}
    exec(rule, space)
    try:
        with pytest.raises(NoRuleError, match=r"\.py:\d+: .* return the cotangents of .*ZL010"):
            gradient(lambda x: np.sum(f(x)), 0.1)
    finally:
        space["rule"].unregister()


def test_a_reason_for_good_comes_without_a_rule():
    told = r"a step function of the image: give it `stop_gradient\(\.\.\.\)` of .* \[ZL004\]$"
    with pytest.raises(NoRuleError, match=told):
        gradient(lambda x: np.sum(ndimage.distance_transform_edt(x)), X)
    as_told = lambda x: x[0] * np.sum(ndimage.distance_transform_edt(stop_gradient(x)))
    assert gradient(as_told, X)[0][0] == np.sum(ndimage.distance_transform_edt(X))


def swapped(x):
    return np.sum(x.byteswap().view(x.dtype.newbyteorder()) ** 2)


METHODS = {  # the method, what is told, and the program that does what is told
    "byteswap": (
        swapped,
        "`x.astype(x.dtype.newbyteorder())`",
        lambda x: np.sum(x.astype(x.dtype.newbyteorder()) ** 2),
    ),
    "dump": (
        lambda x: x.dump(os.devnull) or np.sum(x**2),
        "write `stop_gradient(x)` instead",
        lambda x: stop_gradient(x).dump(os.devnull) or np.sum(x**2),
    ),
    "setfield": (
        lambda x: (x.setfield(x[0], float), np.sum(x**2))[1],
        "as in `x[...] = values`",
        lambda x: (operator.setitem(x, ..., x[0]), np.sum(x**2))[1],
    ),
    "view": (
        lambda x: np.sum(x.view(np.float32)),
        "convert them by `astype`",
        lambda x: np.sum(x.astype(np.float32)),
    ),
    "dumps": (
        lambda x: np.sum(pickle.loads(pickle.dumps(x))),
        "give it `stop_gradient(...)` of them",
        lambda x: np.sum(x * pickle.loads(pickle.dumps(stop_gradient(x)))),
    ),
    "pack": (
        lambda x: struct.Struct("d").pack(x[0])[0] * x[1],
        "give it `stop_gradient(...)` of them",
        lambda x: struct.Struct("d").pack(stop_gradient(x[0]))[0] * x[1],
    ),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_in_c_for_which_no_rule_helps_comes_with_what_does(name):
    f, told, as_told = METHODS[name]
    for _ in range(3):
        with pytest.raises(NoRuleError, match=re.escape(told)) as refused:
            grad(f)(X.copy())
        assert f"{name} " in str(refused.value)
        assert "declare" not in str(refused.value)
        assert np.all(np.isfinite(grad(as_told)(X.copy())))


def test_a_method_in_c_with_a_bare_reason_comes_with_a_rule():
    reasons = RuleSet("mine")
    reasons.without_rule("nobody has needed it", "numpy.ndarray.byteswap")
    plugins = (Plugin("mine", "mine", "1", (reasons,)),)
    space = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rulescore._plugins.published.plugins", lambda: plugins)
        told = r"needed it; use another function, or declare a rule of your own:\n\n"
        with pytest.raises(NoRuleError, match=told) as refused:
            grad(swapped)(X)
        (rule,) = re.findall(r"own:\n\n(.*)\n\n\[ZL004\]$", str(refused.value), re.DOTALL)
    exec(re.sub("raise NotImpl.*", "return (dy,)", textwrap.dedent(rule)), space)
    try:
        f = lambda x: np.sum(x.byteswap().byteswap() ** 2)
        for _ in range(3):
            assert np.array_equal(grad(f)(X), 2.0 * X)
    finally:
        space["rule"].unregister()


def test_json_of_a_text_of_active_numbers_is_named_as_the_user_knows_it():
    with pytest.raises(NoRuleError, match=r"json\.loads of \(str\) makes numbers .* \[ZL007\]$"):
        grad(lambda x: json.loads(f"[{x}]")[0])(0.5)


@pytest.mark.parametrize("calls", [1, 4])
def test_a_vector_that_does_not_fit_is_not_called_a_cotangent(calls):
    product = hvp(lambda x: np.sum(x**3))
    for _ in range(calls - 1):
        product(X, X)
    with pytest.raises(TypeError, match=r":\d+: the vector given to hvp of <lambda> .* \[ZL031\]$"):
        product(X, np.ones(2))


def of_library(name, text):
    """Return a module that stands for another library."""
    module = types.ModuleType(name)
    module.X = X
    exec(text, vars(module))
    return module


DATA = """
class Data:
    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return self.x + (0.0 * X)
"""


@pytest.mark.parametrize(
    ("library", "line"),
    [
        ("pandas.core", r"`\.to_numpy\(\)`"),
        ("torch", r"`\.detach\(\)\.numpy\(\)`"),
        ("jaxlib._jax", r"`np\.asarray\(\.\.\.\)`"),
        ("numba.np", "the Python function that it was made of"),
    ],
)
def test_values_of_other_libraries_get_the_line_that_helps(library, line):
    data = of_library(library, DATA).Data(0.5)
    with pytest.raises(NoRuleError, match=rf"{line}.* \[ZL001\]$"):
        gradient(lambda d: float.as_integer_ratio(d.x)[0], data)
    told = rf":\d+: `\*` of \(ndarray, Data\) has no rule, and a gradient .*: [^;]*{line}[^;]*"
    for _ in range(3):
        with pytest.raises(NoRuleError, match=told + r" \[ZL006\]$"):
            gradient(lambda x: np.sum(x * data), X)


FROZEN = """
class Kernel:
    def __call__(self, x):
        return float.as_integer_ratio(x)[0]
    def ratio(self, x):
        return float.as_integer_ratio(x)[0]
"""


def test_an_object_of_a_private_class_is_named_as_the_user_wrote_it():
    compiled = compile(FROZEN, "/usr/lib/site-packages/mylib/made.py", "exec")
    kernel = of_library("mylib.kernels.made", compiled).Kernel()
    of_private = of_library("mylib._made", compiled).Kernel()
    drawn = "scipy.stats.multivariate_normal(...).rvs"
    cases = {
        "kernel": lambda x: kernel(x),
        "of_private.ratio": lambda x: of_private.ratio(x),
        drawn: lambda x: stats.multivariate_normal(np.ones(2) * x).rvs(3).sum(),
    }
    for told, f in cases.items():
        for _ in range(3):
            line = f.__code__.co_firstlineno
            place = f"{__file__}:{line}: {told} has no rule"
            with pytest.raises(NoRuleError, match=re.escape(place)):
                grad(f)(2.0)


LIBM = None  # what cffi opens


def test_a_function_of_cffi_is_named_as_the_user_wrote_it(monkeypatch):
    cffi = pytest.importorskip("cffi", reason="cffi is not installed")
    maker = cffi.FFI()
    maker.cdef("double cos(double x);")
    monkeypatch.setitem(globals(), "LIBM", maker.dlopen(None))
    with pytest.raises(NoRuleError, match=r": LIBM\.cos of \(float\) has no rule"):
        grad(lambda x: LIBM.cos(x))(2.0)


FOUND_BY_NO_NAME = [ctypes.pythonapi.PyFloat_FromDouble]


def test_an_object_of_ctypes_gets_no_rule_to_paste():
    kinds = (ctypes.c_double, lambda x: (ctypes.c_double * 1)(x))
    for make in kinds:
        with pytest.raises(NoRuleError, match="compute with the number itself") as raised:
            grad(lambda x, make=make: make(x) and x)(2.0)
        assert "@rule" not in str(raised.value)


def test_the_rule_of_another_librarys_class_is_no_near_miss():
    assert "scipy.sparse" in sys.modules  # so there are rules for items of its arrays
    with pytest.raises(NoRuleError, match=r"convert it by `np\.array\(...\)`"):
        gradient(lambda x: x[0] * x[1], array.array("d", [1.5, 2.0]))


def test_no_name_is_made_up_for_a_function_in_a_list():
    function = FOUND_BY_NO_NAME[0]
    function.argtypes, function.restype = [ctypes.c_double], ctypes.py_object
    with pytest.raises(NoRuleError, match=r"`rulescore\.RuleSet`") as refused:
        gradient(lambda x: FOUND_BY_NO_NAME[0](x), 1.5)
    assert "@rule(" not in str(refused.value)


TYPED_LIST = """
class Dispatcher:
    def __init__(self, f):
        self.py_func = f

    def __call__(self, numbers, x):
        numbers.held.append(x)  # in compiled code

@Dispatcher
def _append(numbers, x):
    return numbers.append(x)

class List:
    def __init__(self):
        self.held = []

    def append(self, x):
        _append(self, x)
"""


def test_a_typed_list_of_numba_is_refused_in_one_line():
    typed = of_library("numba.typed.typedlist", TYPED_LIST)

    def product(x, factor):
        held = typed.List()
        held.append(factor)  # no gradient passes through this
        if factor > 1.0:
            held.append(x)
        return x * held.held[0]

    told = r":\d+: what is in a list or dict of numba\.typed has no gradient: .* \[ZL006\]$"
    for _ in range(3):
        assert grad(product)(3.0, 0.5) == 0.5
        with pytest.raises(NoRuleError, match=told):
            grad(product)(3.0, 2.0)


def test_a_value_of_another_library_is_all_that_a_message_tells_of():
    hook = of_library("torch", "class Data:\n    def __bool__(self): return True").Data.__bool__
    told = str(hook_refusal(np.sin, [(hook, None)]))
    assert told.endswith(
        ": a tensor of PyTorch carries no gradient here: pass `.detach().numpy()` of it, and call "
        "functions of PyTorch as `rules_torch.numpy(f)` [ZL006]"
    )


def test_an_array_that_jax_traces_is_not_to_be_converted():
    source = "class Tracer: pass"
    traced = of_library("jax._src.core", source).Tracer
    inside = type("JitTracer", (traced,), {"__module__": "jax._src.interpreters.partial_eval"})
    told = str(hook_refusal(np.sin, [(inside(), None)]))
    assert "np.asarray" not in told
    assert "outside of `jax.jit`" in told
    assert "`zygote_lite.interop.to_jax(f, result=...)`" in told


def test_a_cotangent_of_another_library_gets_what_helps():
    series = of_library("pandas.core.series", "class Series: shape, dtype = (2,), float").Series()
    _, back = pullback(lambda x: x * 2, np.ones(2))
    with pytest.raises(TypeError, match=r"float64: data of pandas .* `\.to_numpy\(\)` .*ZL034\]$"):
        back(series)


def test_a_function_of_a_host_gets_the_plugin_that_calls_it_on_arrays(monkeypatch):
    told = str(what_to_do("pow has no rule", "_operator", None))
    assert not told.endswith("[ZL002]")  # that plugin is here
    monkeypatch.setattr(advice, "provider_of", lambda module: None)
    told = str(what_to_do("cube has no rule", "jax.numpy", None))
    assert told.endswith("`rules_jax.numpy(f)` [ZL001]")


def test_a_function_without_return_is_asked_for_it():
    with pytest.raises(TypeError, match=r"returned None, .* `return` missing\? \[ZL033\]"):
        grad(lambda x: None)(1.0)


@pytest.mark.parametrize(
    ("f", "told"),
    [
        (lambda z: z * 1j, "make it real, as `abs` does, or use `pullback`"),
        (lambda z: np.array([z * 1j]), "make it real, as `abs` does, or use `pullback`"),
        (lambda z: f"{z}", "return a number, or use `pullback`"),
        (lambda z: [z], "use `pullback` or `jacobian`"),
    ],
    ids=["complex", "complex array", "text", "list"],
)
def test_the_advice_about_a_value_runs_for_that_value(f, told):
    with pytest.raises(TypeError, match=rf"; .*{told} \[ZL033\]$"):
        grad(f)(2.0)


def test_a_value_that_holds_no_gradient_is_told_what_to_compute_with():
    told = r"a Decimal carries no gradient: compute with `float\(\.\.\.\)` of it \[ZL033\]$"
    with pytest.raises(TypeError, match=told):
        grad(lambda x: x * 2)(decimal.Decimal(3))


OF_PRIVATE_CLASSES = {  # the call, and that of the pasted function, with its derivative
    "method": (
        lambda x: stats.gamma.rvs(x, random_state=0), lambda f, x: f(x, 0), "return 3.0 * dy, None",
    ),
    "keyword": (
        lambda x: stats.gamma.rvs(2.0, scale=x, random_state=0), lambda f, x: f(2.0, x, 0),
        "return None, 3.0 * dy, None",
    ),
    "frozen": (
        lambda x: stats.t(x, scale=2.0).rvs(random_state=0), lambda f, x: f(x, 2.0, 0),
        "return 3.0 * dy, None, None",
    ),
    "object": (
        lambda x: stats.multivariate_normal(x * np.ones(2)).rvs(random_state=0)[0],
        lambda f, x: f(stats.multivariate_normal(x * np.ones(2)), 0)[0],
        "return rulescore.Tangent(type(owner), mean=3.0 * dy), None",
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", OF_PRIVATE_CLASSES)
def test_a_method_of_a_private_class_gets_a_function_to_paste_with_a_rule(how):
    f, instead, derivative = OF_PRIVATE_CLASSES[how]
    with pytest.raises(NoRuleError, match="into a function of your own, with a rule, ") as refused:
        grad(f)(2.5)
    (pasted,) = re.findall(r"`:\n\n(.*?)\n\n\[ZL001\]$", str(refused.value), re.DOTALL)
    assert "._" not in pasted  # nothing private is imported
    space = {"rulescore": rulescore}
    exec(re.sub("raise NotImpl.*", derivative, textwrap.dedent(pasted)), space)
    try:
        assert instead(space["my_rvs"], 2.5) == f(2.5)
        for _ in range(3):
            assert grad(lambda x: instead(space["my_rvs"], x))(2.5) == 3.0
    finally:
        space["rule"].unregister()


def test_values_of_a_batch_of_different_shapes_are_told():
    with pytest.raises(ValueError, match=r"the shapes \(1,\), \(2,\): return .* \[ZL037\]$"):
        vmap(lambda x: np.ones(int(x)))(np.array([1.0, 2.0]))


RUNS = {
    "run": lambda x: subprocess.run([sys.executable, str(x)]).returncode * x,
    "call": lambda x: subprocess.call(f"exit {x:.0f}", shell=True) * x,
    "system": lambda x: os.system(f"exit {x:.0f}") * x,
}


@pytest.mark.parametrize("how", RUNS)
def test_another_program_is_refused_in_one_line(how):
    told = r":\d+: another program is given what .*: compute it here \[ZL007\]$"
    for _ in range(3):
        with pytest.raises(NoRuleError, match=told):
            grad(RUNS[how])(0.0)


def test_the_value_in_place_of_the_function_is_named():
    with pytest.raises(TypeError, match=r"float \(9\.0\) .*: give the function and not its value"):
        grad((lambda x: x**2)(3.0))(3.0)


def table_of(rows, scale=1.0, *, flip=False):
    return sum(float(str(row)) for row in rows) * scale


@pytest.fixture
def rule_of_table():
    rule = RuleSet("mine")

    @rule(table_of)
    def _(rows: tuple, scale=1.0):
        return table_of(rows, scale), lambda dy: ((dy * scale,) * len(rows),)

    rule.register()
    yield
    rule.unregister()


NEAR = {
    "list": (
        lambda x: table_of([x, x]),
        r"\(list\) has a rule, .* takes tuple as .* is a list:",
        40,
    ),
    "option": (lambda x: table_of((x,), flip=True), r"\(tuple, flip=bool\) .* not take `flip`:", 3),
    "by keyword": (lambda x: table_of([x], scale=1.0), r"\(list, scale=float\) .* is a list:", 40),
}


@pytest.mark.usefixtures("rule_of_table")
@pytest.mark.parametrize("name", NEAR)
@pytest.mark.parametrize("verb", VERBS)
def test_a_rule_that_almost_fits_a_function_in_python_is_named_with_the_call(verb, name):
    f, told, code = NEAR[name]
    assert grad(lambda x: table_of((x, x), 2.0))(3.0) == 4.0
    place = f"{re.escape(__file__)}:{f.__code__.co_firstlineno}: "
    for _ in range(3):
        with pytest.raises(NoRuleError, match=rf"^{place}.*table_of of {told}.*\[ZL{code:03d}\]$"):
            VERBS[verb](f, 2.0)


def test_a_function_of_the_users_that_fails_inside_a_librarys_is_what_is_told_of():
    inner = lambda t, x: float(str(x)) * t
    with pytest.raises(NoRuleError, match=r":\d+: float of \(str\) makes numbers .*\[ZL007\]$"):
        grad(lambda x: integrate.quad(lambda t: inner(t, x), 0.0, 1.0, complex_func=False)[0])(2.0)


SERIES = """
class OpsMixin:
    def __mul__(self, other):
        return self._arith(other)

    def _arith(self, other):
        return float.as_integer_ratio(self.x * other)

class GUFunc:
    __name__ = "summed"

    def __call__(self, x):
        return float.as_integer_ratio(x)
"""


@pytest.mark.parametrize(
    ("f", "told"),
    [
        (lambda series, x: (series.compiled or abs)(x), r"\S*summed has no rule"),
        (lambda series, x: series * x, r"`\*` of \(OpsMixin, float\)"),
        (lambda series, x: operator.imul(series, x), r"`\*=` of \(OpsMixin, float\)"),
        (lambda series, x: np.load(written(x)), r"numpy\.load reads what a BytesIO was given"),
    ],
)
def test_the_operator_or_the_function_that_the_user_wrote_comes_first(f, told):
    path = "/usr/lib/site-packages/some/core/arraylike.py"
    space = {"__name__": "some.core.arraylike"}
    exec(compile(SERIES, path, "exec"), space)
    series = space["OpsMixin"]()
    series.x, series.compiled = 2.0, space["GUFunc"]()
    place = f"{re.escape(__file__)}:{f.__code__.co_firstlineno}: "
    with pytest.raises(NoRuleError, match=f"^{place}{told}"):
        grad(lambda x: f(series, x))(0.5)


def written(x):
    stream = io.BytesIO()
    np.save(stream, np.array([x]))
    stream.seek(0)
    return stream
