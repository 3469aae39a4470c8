"""Mistakes of newcomers: each is told with its line, what is wrong, what to do, and a code."""

import re

import numpy as np
import pytest

from zygote_lite import (
    checkpoint,
    grad,
    hessian,
    hvp,
    jacfwd,
    jit,
    jvp,
    linearize,
    pullback,
    vjp,
    vmap,
)

X = np.arange(1.0, 4.0)


async def waits(x):
    return 2.0 * x


async def waits_and_yields(x):
    yield 2.0 * x


def yields(x):
    yield 2.0 * x


def square(x):
    return x**2


def product(a, b):
    return a * b


MISTAKES = {  # the call, the code, and what is told
    "async function": (lambda: grad(waits)(2.0), "ZL011", "as a plain `def`"),
    "async generator": (
        lambda: grad(waits_and_yields)(2.0), "ZL011", "a plain `def` that returns a list"),
    "generator": (lambda: grad(yields)(2.0), "ZL027", "return a list or a tuple"),
    "array as value": (lambda: grad(square)(X), "ZL033", "use `pullback` or `jacobian`"),
    "tuple as value": (lambda: grad(lambda x: (x, x))(2.0), "ZL033", "use `pullback`"),
    "Hessian of text": (lambda: hessian(str)(X), "ZL033", "its value is str"),
    "complex value": (lambda: grad(lambda x: 1j * x)(2.0), "ZL033", "make it real, as `abs` does"),
    "no return": (lambda: grad(lambda x: None)(2.0), "ZL033", "is a `return` missing?"),
    "print": (lambda: grad(print)(2.0), "ZL033", "print returned None"),
    "no such position": (lambda: grad(product, argnums=2)(1.0, 2.0), "ZL035", "count from 0"),
    "no such negative": (lambda: grad(product, argnums=-3)(1.0, 2.0), "ZL035", "the argument -3"),
    "no position": (lambda: grad(product, argnums=1.0)(1.0, 2.0), "ZL035", "give the position"),
    "option of one letter less": (
        lambda: grad(square, argnum=0)(2.0), "ZL042", "no option `argnum`: give `argnums`"),
    "no such option": (
        lambda: vmap(square, zzz=0)(X), "ZL042", "vmap has no option `zzz`: give `in_axes`"),
    "no option at all": (
        lambda: jit(square, zzz=0)(X), "ZL042", "jit has no option `zzz`: it has none"),
    "static arguments": (
        lambda: jit(square, static_argnums=0)(X), "ZL042", "`static_argnums`: leave it out"),
    "no argument": (lambda: grad(square)(), "ZL035", "pass it by position"),
    "by keyword": (lambda: grad(square)(x=2.0), "ZL035", "name it: `argnums='x'`"),
    "the value": (lambda: grad(square(2.0))(2.0), "ZL036", "the function and not its value"),
    "a truth value": (lambda: grad(square)(True), "ZL041", "leave it out of `argnums`"),
    "array of texts": (lambda: grad(np.size)(np.array(["a"])), "ZL041", "has no gradient"),
    "array of objects": (
        lambda: grad(np.sum)(np.array([1.0, None], object)), "ZL008", "use an array of numbers"),
    "shape of a seed": (
        lambda: pullback(square, X)[1](np.ones(2)), "ZL034", "give one of the same shape"),
    "text as a seed": (lambda: pullback(square, X)[1]("a"), "ZL034", "is str ('a')"),
    "shape of a tangent": (
        lambda: jvp(square, (X,), (np.ones(2),)), "ZL031", "the argument is ndarray of shape (3,)"),
    "array as the tangent of a number": (
        lambda: jvp(square, (2.0,), (X,)), "ZL031", "and the argument is a number: give one"),
    "no seed": (lambda: vjp(square, 2.0)[1](), "ZL034", "∂(square) is given 0 arguments, and"),
    "two seeds": (lambda: pullback(square, 2.0)[1](1.0, 2.0), "ZL034", "2 arguments, and takes"),
    "seed by another name": (
        lambda: vjp(square, X)[1](dx=X), "ZL034", "1 argument, `dx` by name, and takes one"),
    "no seed beside aux": (
        lambda: vjp(lambda x: (x, 1), 2.0, has_aux=True)[1](), "ZL034", "and takes one"),
    "no seed inside": (
        lambda: grad(lambda x: pullback(square, x)[1]()[1])(2.0), "ZL034", "0 arguments, and"),
    "two seeds inside": (
        lambda: grad(lambda x: vjp(square, x)[1](1.0, 2.0)[0])(2.0), "ZL034", "2 arguments, and"),
    "tangent by name": (
        lambda: linearize(square, X)[1](x=X), "ZL031", "given `x` by name: give the tangents by"),
    "tangent by name on the tape": (
        lambda: linearize(lambda x: x * len(vars()), 2.0)[1](x=1.0), "ZL031", "`x` by name"),
    "number of tangents": (
        lambda: jvp(product, (1.0, 2.0), (1.0,)), "ZL031", "1 tangent for 2 arguments"),
    "tangent alone": (lambda: jvp(square, 2.0, 1.0), "ZL031", "write `jvp(f, (x,), (dx,))`"),
    "shape of a vector": (
        lambda: hvp(lambda x: np.sum(x**2))(X, np.ones(4)), "ZL031", "the vector given to hvp"),
    "vector missing": (lambda: hvp(square)(2.0), "ZL031", "and then the vector, as in `hvp(f)(x"),
    "all missing": (lambda: hvp(square)(), "ZL031", "is given 0 arguments"),
    "vector missing inside": (
        lambda: grad(lambda x: hvp(square)(x))(2.0), "ZL031", "and then the vector"),
    "tangent of texts": (
        lambda: jvp(square, (X,), (X.astype(str),)), "ZL031", "give a tangent of numbers"),
    "tangent of objects": (
        lambda: jvp(square, (X,), (np.array([None] * 3),)), "ZL031", "give a tangent of numbers"),
    "complex tangent": (lambda: jvp(square, (X,), (1j * X,)), "ZL031", "give a real tangent"),
    "complex tangent of linearize": (
        lambda: linearize(square, X)[1](1j * X), "ZL031", "give a real tangent"),
    "complex vector": (
        lambda: hvp(lambda x: np.sum(x**2))(X, 1j * X), "ZL031", "give a real vector"),
    "texts as a seed": (
        lambda: vjp(square, X)[1](X.astype(str)), "ZL034", "give a cotangent of numbers"),
    "seed of nothing": (lambda: vjp(lambda x: None, 2.0)[1](1.0), "ZL034", "`return` missing?"),
    "texts for arguments": (lambda: jvp(square, "a", "b"), "ZL031", "write `jvp(f, (x,), (dx,))`"),
    "no tuples inside": (
        lambda: grad(lambda x: jvp(square, x, x)[1])(2.0), "ZL031", "write `jvp(f, (x,), (dx,))`"),
    "has_aux by position": (
        lambda: jvp(square, (2.0,), (1.0,), True), "ZL042", "by its name, as `has_aux=True`"),
    "has_aux by position inside": (
        lambda: grad(lambda x: jvp(square, (x,), (1.0,), True)[1])(2.0), "ZL042", "by its name"),
    "an option by position": (
        lambda: grad(square, 0, True), "ZL042", "as `has_aux=True` or `compile=True`"),
    "has_aux of jacfwd by position": (
        lambda: jacfwd(square, 0, True), "ZL042", "jacfwd is given 3 arguments, and takes 2"),
    "options alone": (
        lambda: grad(argnums=1)(product), "ZL036", "`@functools.partial(grad, argnums=1)`"),
    "no pair": (
        lambda: hvp(square, has_aux=True)(2.0, 1.0), "ZL033", "return the pair (value, aux)"),
    "checkpoint with arguments": (lambda: checkpoint(square, 2.0), "ZL035", "`checkpoint(f)(x)`"),
    "keys of axes": (
        lambda: vmap(lambda d: d["a"], ({"b": 0},))({"a": X}), "ZL037", "of the same structure"),
    "list of axes for a dict": (
        lambda: vmap(lambda d: d["a"], ([0],))({"a": X}), "ZL037", "of the same structure"),
    "axes of a tree for an array": (
        lambda: vmap(square, ({"x": 0},))(X), "ZL037", "give one number for an array"),
    "keys of axes of the value": (
        lambda: vmap(lambda x: {"a": x}, out_axes={"b": 0})(X), "ZL037", "same structure"),
    "axis of numbers": (lambda: vmap(square, out_axes=1)(X), "ZL037", "its batch has 1 axis"),
    "axis of numbers in a loop": (
        lambda: vmap(lambda x: x if x > 0 else -x, out_axes=1)(X), "ZL037", "its batch has 1 axis"),
    "axis of arrays": (
        lambda: vmap(square, out_axes=2)(np.eye(3)), "ZL037", "its batch has 2 axes"),
    "tree of axes for a number": (
        lambda: vmap(square, out_axes=(0,))(X), "ZL037", "of the structure of the value"),
    "set": (lambda: grad(sum)({2.0}), "ZL018", "pass a list"),
    "no batch": (lambda: vmap(square)(2.0), "ZL037", "give an array"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_its_line_and_what_to_do(name):
    call, code, told = MISTAKES[name]
    for _ in range(3):
        with pytest.raises(Exception, match=rf"{re.escape(told)}.* \[{code}\]$") as refused:
            call()
        place, _, _ = str(refused.value).partition(": ")
        assert place.rpartition(":")[0] == __file__


PYTHONS_OWN = {  # errors of the function itself, which are those of Python
    "few": (lambda f: f(product)(1.0), "missing 1 required positional argument: 'b'"),
    "many": (lambda f: f(product)(1.0, 2.0, 3.0), "takes 2 positional arguments but 3 were given"),
    "keyword": (lambda f: f(square)(2.0, y=1), "unexpected keyword argument 'y'"),
    "text": (lambda f: f(square)("a"), "unsupported operand"),
    "None": (lambda f: f(square)(None), "unsupported operand"),
}


@pytest.mark.parametrize("name", PYTHONS_OWN)
def test_an_error_of_the_function_is_the_same_as_without_a_gradient(name):
    call, told = PYTHONS_OWN[name]
    for verb in (lambda f: f, grad):
        with pytest.raises(TypeError, match=re.escape(told)):
            call(verb)
