"""Tracebacks: the user's frames with their lines, and one frame of the engine."""

import concurrent.futures
import inspect
import pickle
import traceback
import types
from pathlib import Path

import numpy as np
import pytest
from scipy.cluster.vq import vq

import zygote_lite
from rulescore import RuleSet
from zygote_lite import (
    NoRuleError,
    UnsupportedSyntaxError,
    grad,
    gradient,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jvp,
    linearize,
    pullback,
    value_and_grad,
    vjp,
    vmap,
)

ENGINE = str(Path(zygote_lite.__file__).parent)


def raised_by(call):
    with pytest.raises(BaseException) as caught:
        call()
    return caught.value


def frames_of(error):
    """Return the lines and functions of a traceback here, and how many are of the engine."""
    frames = traceback.extract_tb(error.__traceback__)[1:]  # that of `raised_by` aside
    own = [(frame.lineno, frame.name) for frame in frames if frame.filename == __file__]
    return own[1:], sum(frame.filename.startswith(ENGINE) for frame in frames)


def variables_of(error):
    """Return the parameters and the variables of the frames here, as debuggers show them."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    own = [frame for frame in frames if frame.f_code.co_filename == __file__][2:]
    return [(inspect.getargvalues(frame)[:3], sorted(frame.f_locals)) for frame in own]


def fail(*xs):
    raise ValueError("no")


class Failing:
    def method(self, *xs):
        return fail(*xs)


def in_a_call(x):
    return np.sum(
        fail(x,
             np.ones((2, 3))))  # fmt: skip


def in_a_method(x):
    failing = Failing()
    return (failing
        .method(
            x))  # fmt: skip


def in_an_operator(x):
    known = {}
    return (x *
        known[
            "k"]
    )  # fmt: skip


def in_a_loop(x):
    for i in range(3):
        if fail(
            x,
            i,
        ):
            pass


def in_an_augmented_assignment(x):
    y = x
    y += fail(
        x)  # fmt: skip


def in_numpy(x):
    return (np.
        linalg
        .inv(x))  # fmt: skip


def in_a_generator(x):
    def halves():
        yield x
        yield fail(x)

    return sum(halves())


def in_an_attribute(x):
    return 2 + (
        x.shape
        .foo)  # fmt: skip


def in_an_unpacking(x):
    a, b = (
        x
    )  # fmt: skip
    return a + b


PROGRAMS = [f for name, f in list(globals().items()) if name.startswith("in_a")]


@pytest.mark.parametrize("f", [*PROGRAMS, in_numpy], ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [2.0, np.ones(3)], ids=["number", "array"])
def test_lines_are_those_of_python(f, x):
    plain, _ = frames_of(raised_by(lambda: f(x)))
    differentiated = raised_by(lambda: grad(f)(x))
    assert frames_of(differentiated) == (plain, 1)
    assert type(differentiated) is type(raised_by(lambda: f(x)))
    assert variables_of(differentiated) == variables_of(raised_by(lambda: f(x)))


def test_frames_hold_the_values_of_the_user_and_no_tape():
    def scaled(x, *factors, power=1, **others):
        held = [x * factor for factor in factors]
        return held[0].missing

    frame = [*traceback.walk_tb(raised_by(lambda: grad(scaled)(2.0, 3.0, k=1)).__traceback__)][-1][
        0
    ]
    assert frame.f_locals | {"factor": 3.0} == {  # a variable of its own since Python 3.12
        "x": 2.0, "factors": (3.0,), "power": 1, "others": {"k": 1}, "held": [6.0], "factor": 3.0
    }  # fmt: skip


def test_frames_of_a_recursion_are_of_one_code():
    def deep(n, x):
        return x * deep(n - 1, x) if n else x.missing

    error = raised_by(lambda: grad(deep, argnums=1)(5, 2.0))
    frames = [f for f, _ in traceback.walk_tb(error.__traceback__) if f.f_code.co_name == "deep"]
    assert [f.f_locals["n"] for f in frames] == [5, 4, 3, 2, 1, 0]
    assert len({id(f.f_code) for f in frames[:-1]}) == 1  # IPython shows three of them


def loss(x):
    return fail(np.sum(x))


VERBS = {
    "grad": lambda f, x: grad(f)(x),
    "value_and_grad": lambda f, x: value_and_grad(f)(x),
    "has_aux": lambda f, x: grad(f, has_aux=True)(x),
    "gradient": gradient,
    "pullback": pullback,
    "vjp": vjp,
    "jvp": lambda f, x: jvp(f, (x,), (x,)),
    "linearize": linearize,
    "jacobian": lambda f, x: jacobian(f)(x),
    "jacfwd": lambda f, x: jacfwd(f)(x),
    "hessian": lambda f, x: hessian(f)(x),
    "hvp": lambda f, x: hvp(f)(x, x),
    "vmap": lambda f, x: vmap(f)(x),
    "explain": zygote_lite.explain,
    "check_gradient": zygote_lite.check_gradient,
    "nested": lambda f, x: grad(lambda y: np.sum(grad(f)(y)))(x),
}


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_shows_one_frame_of_ours(verb):
    for _ in range(3):  # before code is made, and after
        error = raised_by(lambda: VERBS[verb](loss, np.ones(2)))
        own, ours = frames_of(error)
        assert [name for _, name in own][-2:] == ["loss", "fail"]
        assert ours == 1
        assert error.__context__ is None


def test_a_refusal_ends_with_the_line_of_the_user():
    def distances(x):
        return np.sum(vq(x, np.ones((1, 1)))[1])

    error = raised_by(lambda: grad(distances)(np.ones((3, 1))))
    own, ours = frames_of(error)
    assert [name for _, name in own] == ["distances"]
    assert ours == 1
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert last.name == "vq"  # in SciPy, where the compiled function is called


def test_a_pullback_shows_its_own_frame_and_those_of_rules():
    _, back = pullback(lambda x: x * 2, np.ones(2))
    assert frames_of(raised_by(lambda: back("a")))[1] == 1
    rule = RuleSet("mine")

    def failing_rule(x):
        return x

    @rule(failing_rule)
    def _(x: float):
        def failing_pullback(dy):
            raise ValueError("a defect of the rule")

        return x, failing_pullback

    rule.register()
    try:
        own, ours = frames_of(raised_by(lambda: grad(failing_rule)(1.0)))
    finally:
        rule.unregister()
    assert (own[-1][1], ours) == ("failing_pullback", 1)


def test_chained_errors_and_groups_show_frames_of_the_user_alone():
    def chained(x):
        found = []
        for i in range(2):
            try:
                [x][i + 1]
            except IndexError as error:
                error.add_note(f"number {i}")
                found.append(error)
        try:
            {}[x]
        except KeyError as error:
            raise ExceptionGroup("both", found) from error

    error = raised_by(lambda: grad(chained)(1.0))
    assert frames_of(error)[1] == 1
    for one in (error.__cause__, *error.exceptions):
        frames = traceback.extract_tb(one.__traceback__)
        assert [frame.name for frame in frames] == ["chained"]
    assert [one.__notes__ for one in error.exceptions] == [["number 0"], ["number 1"]]


def test_an_error_handled_before_keeps_the_frame_of_ours():
    def again():
        try:
            grad(loss)(1.0)
        except ValueError:
            grad(in_an_operator)(1.0)

    error = raised_by(again)
    names = [frame.name for frame in traceback.extract_tb(error.__context__.__traceback__)]
    assert names == ["again", "answer", "loss", "fail"]


def test_arguments_that_do_not_fit_say_only_that():
    error = raised_by(lambda: grad(lambda x, y: x)(1.0))
    assert isinstance(error, TypeError)
    assert "missing 1 required positional argument: 'y'" in str(error)
    assert error.__context__ is None


def test_errors_of_threads_and_errors_that_were_pickled():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        error = pool.submit(grad(loss), 1.0).exception()
    assert [f.name for f in traceback.extract_tb(error.__traceback__)][1:] == [
        "answer",
        "loss",
        "fail",
    ]

    def of_text(x):
        return float(str(x))

    def with_await(x):
        async def f():
            await x

        return f()

    for f, kind in ((of_text, NoRuleError), (with_await, UnsupportedSyntaxError)):
        error = raised_by(lambda f=f: grad(f)(1.0))
        assert isinstance(error, kind)
        copied = pickle.loads(pickle.dumps(error))
        assert (type(copied), str(copied)) == (type(error), str(error))


def test_all_frames_are_shown_where_they_are_asked_for(monkeypatch):
    hidden = frames_of(raised_by(lambda: grad(loss)(1.0)))
    monkeypatch.setenv("ZYGOTE_LITE_ALL_FRAMES", "1")
    shown = frames_of(raised_by(lambda: grad(loss)(1.0)))
    assert shown[0] == hidden[0]
    assert shown[1] > 10 * hidden[1]


def test_pytest_hides_the_frame_of_ours():
    error = raised_by(lambda: grad(loss)(1.0))
    frame = error.__traceback__.tb_next.tb_next.tb_frame
    assert isinstance(frame, types.FrameType)
    assert frame.f_code.co_filename.startswith(ENGINE)
    assert frame.f_locals["__tracebackhide__"] is True
