"""The attributes of objects as a dict: `x.__dict__`, `vars(x)`."""

import types

from tests.zygote_lite.checks import programs
from tests.zygote_lite.checks.oracles import assert_agreement
from tests.zygote_lite.constructs.state import Settings, filled_by_dict

PROGRAMS = [(filled_by_dict, ((0.5,), (0.9,)))]
tried = programs.declaring(PROGRAMS)


@tried((0.5,), (0.9,))
def shows_what_is_assigned_later(x):
    class Box:
        pass

    box = Box()
    box.w = 1.0
    fields = vars(box)
    box.w = x
    return fields["w"] + fields.get("z", x)


@tried((0.5,), (0.9,))
def changes_as_it_is_walked_over(x):
    s = Settings(a=x, b=2.0, c=3.0)
    for name, value in s.__dict__.items():
        s.c = s.c * value
        s.__dict__[name] = value * x
    return s.a * s.b * s.c


@tried((0.5,), (0.9,))
def questions(x):
    s = types.SimpleNamespace(a=x, b=x * 2)
    d = dict(vars(s))
    s.a = 5.0
    if "a" in vars(s):
        d["a"] *= x
    del vars(s)["b"]
    known = s.__dict__.setdefault("q", x) * s.q
    return d["a"] + len(vars(s)) + d["b"] * hasattr(s, "b") + known


@tried((0.5, 2), (0.6, 3), (0.7, 0))
def in_a_loop(x, n):
    s = Settings(a=x, b=2.0)
    for i in range(n):
        vars(s)["a"] = vars(s)["a"] * s.b + i
        for name in vars(s):
            s.b = s.b + getattr(s, name) * 0.1
    return s.a + s.b


class Behind:
    def __init__(self, a):
        self.__dict__["a"] = a

    @property
    def a(self):
        return 7.0 * self.__dict__["a"]


@tried((0.5,), (0.9,))
def behind_a_property(x):
    return Behind(x).a * x + sum(vars(Behind(x)).values())


@tried((0.5,), (0.9,))
def given_to_a_function(x):
    def use(d):
        d["a"] = d["a"] * x
        return d

    s = Settings(a=x)
    d = use(vars(s))
    s.a *= 2
    return d["a"] + s.a


@programs.for_each(PROGRAMS)
def test_is_transformed_and_right(f, choices):
    programs.assert_transformed(f, choices, (0,))


def test_the_order_may_depend_on_the_path():
    def ordered(x):
        s = Settings()
        if x > 0.6:
            s.a = x
            s.b = 2.0
        else:
            s.b = 2.0
            s.a = x * 3
        return sum([v * i for i, v in enumerate(vars(s).values())]) + s.a

    assert_agreement(ordered, (0.5,), (0.9,), (0.6,))
