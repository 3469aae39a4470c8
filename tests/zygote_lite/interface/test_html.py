"""What a notebook shows of gradients, pullbacks and functions that are made."""

import html.parser
import pickle
import re

import numpy as np
import pytest

from rulescore import Tangent
from zygote_lite import (
    checkpoint,
    grad,
    gradient,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jit,
    linearize,
    pullback,
    ravel,
    value_and_grad,
    vjp,
    vmap,
)


class Balanced(html.parser.HTMLParser):
    """Reads HTML, and holds that what is opened is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def shown(x):
    reader = Balanced()
    reader.feed(x._repr_html_())
    reader.close()
    assert not reader.open
    return reader.text


class Layer:
    def __init__(self, w, inner=None):
        self.w, self.inner = w, inner


def loss(model, x):
    return np.sum(model.inner.w * x) * model.w


def test_a_tangent_is_a_table_of_its_fields():
    (d,) = gradient(lambda m: loss(m, np.ones(3)), Layer(2.0, Layer(np.ones((2, 3)))))
    text = shown(d)
    assert text.count("Tangent[Layer]") == 2
    assert "ndarray of shape (2, 3)" in text
    assert "w" in text
    assert "6.0" in text
    assert "<script>" in shown(Tangent(Layer, **{"<script>": "<b>"}))
    assert "<script>" not in Tangent(Layer, **{"<script>": "<b>"})._repr_html_()
    many = Tangent(Layer, w=np.arange(1e6), all=[Tangent(Layer, w=1.0), None])
    assert len(many._repr_html_()) < 2000


def test_long_and_deep_tangents_are_cut():
    text = shown(Tangent(Layer, w=[Tangent(Layer, w=float(i)) for i in range(1000)]))
    assert "19.0" in text
    assert "20.0" not in text
    assert "... and 980 more" in text
    deep = Tangent(Layer, w=1.0)
    for _ in range(2000):
        deep = Tangent(Layer, inner=deep)
    assert 1 < shown(deep).count("Tangent[Layer]") < 10


def test_a_pullback_says_what_it_takes_and_gives():
    for _ in range(3):  # recorded, and transformed
        _, back = pullback(loss, Layer(2.0, Layer(np.ones(3))), np.ones(3))
        text = shown(back)
        assert "∂(loss): takes the cotangent of float64" in text
        assert "∂modelLayer" in text
        assert "∂xndarray of shape (3,), float64" in text
    assert "not differentiated" not in text


@pytest.mark.parametrize(
    ("made", "name"),
    [(grad(loss), "grad(loss)"), (value_and_grad(loss, "x"), "value_and_grad(loss, 'x')")],
)
def test_a_function_that_is_made_has_its_name(made, name):
    assert shown(made) == name
    assert pickle.loads(pickle.dumps(made)) is made
    assert "lambda" in shown(grad(lambda x: x))


@pytest.mark.parametrize(
    "make", [grad, value_and_grad, jacobian, jacfwd, hessian, hvp, vmap, jit, checkpoint]
)
def test_all_functions_that_are_made_are_shown(make):
    assert shown(make(loss)) == f"{make.__name__}(loss)"
    assert shown(ravel({"w": 1.0})[1]) == "Unravel(1 number, dict)"


@pytest.mark.parametrize("calls", [1, 4])
def test_maps_of_vjp_and_linearize_say_what_they_take_and_give(calls):
    def scaled(x, factor, name):
        return np.sum(x) * factor

    def scaled_and_name(x, factor, name):
        return np.sum(x) * factor, name

    for _ in range(calls):
        _, back = vjp(scaled, np.ones(3), 2.0, "a")
        _, of_first, _ = vjp(scaled_and_name, np.ones(3), 2.0, "a", has_aux=True)
    for one, name in ((back, "scaled"), (of_first, "scaled_and_name")):
        head, _, rest = shown(one).partition("): ")
        assert re.fullmatch(rf"∂\({name} at test_html\.py:\d+", head)
        assert rest.startswith("takes the cotangent of float64, and gives")
        assert "∂xndarray of shape (3,), float64" in shown(one)
    _, push = linearize(scaled, np.ones(3), 2.0, "a")
    head, _, rest = shown(push).partition(": ")
    assert re.fullmatch(r"pushforward of scaled at test_html\.py:\d+", head)
    assert rest.startswith("gives the tangent of float64, and takes")
    assert "∂factorfloat" in shown(push)
