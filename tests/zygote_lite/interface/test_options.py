"""What is no function, and what is no value of an option, is refused where it is given."""

import functools
import inspect
import re

import numpy as np
import pytest

import rulescore
import rulescore.batching
import rulescore.interop
import rulescore.testing
import zygote_lite
import zygote_lite.interop
import zygote_lite.testing
import zygote_lite.value
from rulescore.faults import counted
from tests.zygote_lite.checks.pages import are_users_frames, run
from zygote_lite import (
    DifferentiationError,
    check_gradient,
    checkpoint,
    distributed,
    errors,
    export_adjoint,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jit,
    jvp,
    linearize,
    modes,
    optimizers,
    tree_map,
    value_and_grad,
    vjp,
    vmap,
)

MAKERS = (grad, value_and_grad, jacobian, jacfwd, hessian, hvp, vmap, jit, checkpoint)
TAKERS = {
    **{make.__name__: make for make in MAKERS},
    "sum_of_gradients": distributed.sum_of_gradients,
    "tree_map": lambda f: tree_map(f, 1.0),
    "check_gradient": lambda f: check_gradient(f, 1.0),
    "export_adjoint": lambda f: export_adjoint(f, 1.0),
    "linearize": lambda f: linearize(f, 1.0),
    "code_jvp": zygote_lite.code_jvp,
}


def square(x):
    return x * x


@pytest.mark.parametrize("name", TAKERS)
def test_what_is_no_function_is_refused_at_once(name):
    with pytest.raises(TypeError, match=r"int \(3\) .*: give the function .* \[ZL036\]$"):
        TAKERS[name](3)


WRONG_VALUES = {
    "compile": (lambda: grad(square, compile="yes"), r"is str \('yes'\): give .* \[ZL042\]"),
    "has_aux of grad": (lambda: grad(square, has_aux=1), r"is int \(1\): give .* \[ZL042\]"),
    "has_aux of jacobian": (lambda: jacobian(square, has_aux="no"), r"\[ZL042\]"),
    "has_aux of jacfwd": (lambda: jacfwd(square, has_aux=None), r"\[ZL042\]"),
    "has_aux of vjp": (lambda: vjp(square, 1.0, has_aux=3), r"\[ZL042\]"),
    "has_aux of jvp": (lambda: jvp(square, (1.0,), (1.0,), has_aux=3), r"\[ZL042\]"),
    "has_aux of linearize": (lambda: linearize(square, 1.0, has_aux=3), r"\[ZL042\]"),
    "argnums of grad": (lambda: grad(square, 1.5), r"is 1.5, .*: give the position .* \[ZL035\]"),
    "argnums of hessian": (lambda: hessian(square, [None]), r"is \[None\], .* \[ZL035\]"),
    "argnums of hvp": (lambda: hvp(square, True), r"is True, .* \[ZL035\]"),
    "argnums for arguments": (lambda: grad(square, 2.0), r".* as in `grad\(f\)\(x\)` \[ZL035\]"),
    "in_axes": (lambda: vmap(square, in_axes="a"), r"holds str \('a'\), .*: give .* \[ZL037\]"),
    "out_axes": (lambda: vmap(square, out_axes={"a": 0.5}), r"holds float .* \[ZL037\]"),
}


@pytest.mark.parametrize("name", WRONG_VALUES)
def test_what_is_no_value_of_an_option_is_refused_at_once(name):
    wrong, told = WRONG_VALUES[name]
    with pytest.raises(TypeError, match=f"`{name.partition(' ')[0]}` .*{told}$"):
        wrong()


@pytest.mark.parametrize(("verb", "xs"), [(hvp, (1.0, 1.0)), (jit, (1.0,)), (grad, (0, 1.0, 2.0))])
def test_arguments_that_are_given_too_early_are_told_their_place(verb, xs):
    given = rf"{verb.__name__} is given {1 + len(xs)} arguments: "
    with pytest.raises(TypeError, match=rf"{given}.*, `{verb.__name__}\(f\)\(\.\.\.\)` \[ZL035\]$"):
        verb(square, *xs)


def test_a_call_without_an_argument_is_told_of_no_option_that_was_not_written():
    with pytest.raises(TypeError, match=r"called without one: pass it by position \[ZL035\]$"):
        grad(square)()
    told = r"called without one: pass it by position, or name it: `argnums='x'` \[ZL035\]$"
    with pytest.raises(TypeError, match=told):
        grad(square)(x=2.0)
    assert grad(square, argnums="x")(x=2.0) == 4.0
    with pytest.raises(ValueError, match=r"exported without arguments: give those .* \[ZL035\]$"):
        zygote_lite.export_adjoint(square)


def test_values_of_options_are_taken():
    assert grad(square, np.int64(0), has_aux=np.False_)(1.0) == 2.0
    assert grad(square, [0])(1.0) == (2.0,)
    batch = vmap(square, in_axes=(np.int64(0),), out_axes=-1)(np.ones((2, 3)))
    assert batch.shape == (3, 2)
    summed = vmap(lambda d: d["a"] + d["b"], in_axes=({"a": 0, "b": None},))
    assert [*summed({"a": np.ones(2), "b": 1.0})] == [2.0, 2.0]


@pytest.mark.parametrize("call", ["grad(3)", "vmap(len, in_axes='a')", "checkpoint(3)"])
def test_a_refusal_shows_the_users_line_and_one_frame_of_ours(call):
    error = run(f"from zygote_lite import *\n{call}\n")
    assert str(error).startswith("example.py:2: ")
    assert are_users_frames(error)


def test_a_value_of_an_option_is_told_with_its_code_by_other_functions():
    with pytest.raises(ValueError, match=r"stage 'last': give one of .* \[ZL042\]$"):
        zygote_lite.code_adjoint(square, 1.0, stage="last")
    with pytest.raises(ValueError, match=r"`reduce` is 'max': give 'sum' or 'mean' \[ZL042\]$"):
        distributed.value_and_grad(square, reduce="max")


def test_messages_have_neither_addresses_nor_long_values():
    with pytest.raises(DifferentiationError) as told:
        grad(lambda x: np.sum(np.pad(x, 1, lambda *_: None)))(np.ones(2))
    assert " at 0x" not in str(told.value)
    assert errors.Fault.BATCH(repr(object())).args == ("<object object> [ZL037]",)
    with pytest.raises(TypeError, match=r"^[^\n]*: dict is given where [^\n]*$"):
        grad({"a": "long" * 100})
    with pytest.raises(TypeError, match=r"^[^\n]*: object is given where [^\n]*$"):
        grad(object())


def test_numbers_of_things_are_told_in_singular_and_plural():
    assert [counted(n, "argument") for n in (0, 1, 2)] == [
        "0 arguments",
        "1 argument",
        "2 arguments",
    ]
    assert counted(2, "entry", "entries") == "2 entries"
    with pytest.raises(ValueError, match="has 1 entry for 2 arguments: give"):
        vmap(np.add, in_axes=(0,))(np.ones(2), np.ones(2))
    with pytest.raises(TypeError, match="given 2 tangents for 1 argument: give"):
        jvp(square, (1.0,), (1.0, 1.0))
    with pytest.raises(TypeError, match="given 2 tangents, and takes"):
        linearize(lambda x: {"y": x[0]}, [1.0])[1](1.0, 1.0)


@pytest.mark.parametrize(
    "module",
    [
        *(zygote_lite, zygote_lite.derivatives, distributed, errors, modes, optimizers),
        *(zygote_lite.value, zygote_lite.interop, zygote_lite.testing),
        *(rulescore, rulescore.batching, rulescore.faults, rulescore.interop, rulescore.testing),
    ],
    ids=lambda module: module.__name__,
)
def test_public_modules_list_their_public_names(module):
    assert module.__all__
    for name in module.__all__:
        assert hasattr(module, name)
        assert not re.match("_(?!_)", name)


def scaled(x, *, s=1.0):
    return x * x * s


def with_names_of_ours(x, argnums=1, has_aux=2.0, rtol=0.5, stage=1.0):
    return x * argnums * has_aux * rtol * stage


WITHOUT_KEYWORDS = {  # of functions that take the arguments of the user's function
    "gradient": lambda f, **kws: np.ravel(zygote_lite.gradient(f, 2.0, **kws))[0],
    "vjp": lambda f, **kws: vjp(f, 2.0, **kws)[1](1.0)[0],
    "jvp": lambda f, **kws: jvp(f, (2.0,), (1.0,), **kws)[1],
    "linearize": lambda f, **kws: linearize(f, 2.0, **kws)[1](1.0),
    "check_gradient": lambda f, **kws: check_gradient(f, 2.0, **kws),
    "code_jvp": lambda f, **kws: zygote_lite.code_jvp(f, 2.0, **kws),
    "export_adjoint": lambda f, **kws: export_adjoint(f, 2.0, **kws),
}


@pytest.mark.parametrize("name", WITHOUT_KEYWORDS)
def test_a_keyword_of_the_users_function_is_told_how_to_be_bound(name):
    verb = WITHOUT_KEYWORDS[name]
    for _ in range(4):
        with pytest.raises(TypeError, match=r"\[ZL042\]$") as refused:
            verb(scaled, s=3.0)
        assert f"{name} passes no keywords on, and is given `s`" in str(refused.value)
        assert (
            "bind it before, by `lambda x: f(x, s=...)` or `functools.partial(f, s=...)` ["
            in str(refused.value)
        )
    for f in (lambda x: scaled(x, s=3.0), functools.partial(scaled, s=3.0)):
        if name != "export_adjoint" or not isinstance(f, functools.partial):
            assert verb(f) in (None, 12.0) or "3.0" in verb(f) or "x" in verb(f)
    assert "keywords" not in inspect.signature(getattr(zygote_lite, name)).parameters


@pytest.mark.parametrize("name", ["gradient", "vjp", "jvp"])
def test_a_keyword_is_not_lost_inside_of_what_is_differentiated(name):
    verb = {
        "gradient": lambda f, x, **kws: zygote_lite.gradient(f, x, **kws)[0],
        "vjp": lambda f, x, **kws: vjp(f, x, **kws)[1](1.0)[0],
        "jvp": lambda f, x, **kws: jvp(f, (x,), (1.0,), **kws)[1],
    }[name]
    for _ in range(4):
        with pytest.raises(TypeError, match=rf"{name} passes no keywords on, and is given `s`"):
            grad(lambda x: verb(scaled, x, s=3.0))(2.0)
        with pytest.raises(TypeError, match=rf"{name} passes no keywords on, and is given `s`"):
            vmap(lambda x: verb(scaled, x, s=3.0))(np.ones(2))
        assert grad(lambda x: verb(functools.partial(scaled, s=3.0), x))(2.0) == 6.0


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("gradient", "argnums", 0),
        ("check_gradient", "argnums", 0),
        ("check_gradient", "rtol", 0.1),
        ("code_jvp", "argnums", 0),
        ("export_adjoint", "argnums", 0),
        ("vjp", "has_aux", True),
        ("jvp", "has_aux", True),
        ("linearize", "has_aux", True),
        ("code_adjoint", "argnums", 0),
        ("code_adjoint", "stage", "typed"),
        ("explain", "argnums", 0),
    ],
)
def test_a_keyword_that_may_be_ours_or_the_users_is_refused(name, option, value):
    of_both = {
        **WITHOUT_KEYWORDS,
        "code_adjoint": lambda f, **kws: zygote_lite.code_adjoint(f, 2.0, **kws),
        "explain": lambda f, **kws: zygote_lite.explain(f, 2.0, **kws),
    }
    both = f"`{option}` is an option of {name}, and a parameter of with_names_of_ours too"
    with pytest.raises(TypeError, match=rf"{both}: bind that .* \[ZL042\]$"):
        of_both[name](with_names_of_ours, **{option: value})
    free = functools.partial(with_names_of_ours, **{option: 2.0})  # as told
    if option in ("argnums", "rtol") and name != "export_adjoint":
        of_both[name](free, **{option: value})


def test_a_keyword_named_argnums_goes_to_the_users_function_where_it_can():
    assert grad(with_names_of_ours)(2.0, argnums=3.0) == 3.0
    assert zygote_lite.pullback(with_names_of_ours, 2.0, argnums=3.0)[1](1.0)[1:] == (3.0, 2.0)
    assert zygote_lite.gradient(lambda x: with_names_of_ours(x, argnums=3.0), 2.0) == (3.0,)


def test_a_keyword_that_is_given_too_early_is_told_its_place():
    told = (
        r"no option `s`, which is a parameter of .*scaled: .* `grad\(f\)\(x, s=\.\.\.\)` \[ZL042\]$"
    )
    with pytest.raises(TypeError, match=told):
        grad(scaled, s=3.0)
    assert grad(scaled)(2.0, s=3.0) == 12.0
    with pytest.raises(TypeError, match=r"gradient has no option `argnum`: give `argnums`"):
        zygote_lite.gradient(scaled, 2.0, argnum=0)
