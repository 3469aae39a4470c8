"""One rule, six users, equal gradients: zygote_lite, `Value`, PyTorch, JAX, autograd and dask."""

import math

import pytest

from rulescore import RuleSet
from tests.interop.tables import END

ways = pytest.importorskip("tests.interop.six_ways", reason="`nox -s interop` has all six")
pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("call", ways.CALLS)
def test_one_rule_six_users(call):
    f, xs = ways.CALLS[call]
    step = 1e-6
    want = []
    for i in range(len(xs)):
        up, down = ([x + s * (i == j) for j, x in enumerate(xs)] for s in (step, -step))
        want.append((f(*up) - f(*down)) / (2 * step))
    with ways.registered():
        found = ways.gradients(f, xs)
    for name, dxs in found.items():
        assert dxs == pytest.approx(want, rel=1e-8), name
        assert dxs == pytest.approx(found["zygote_lite"], rel=1e-15), name
    assert found.keys() == ways.USERS.keys() - ({"dask"} if f is math.sin else set())


def test_the_page_has_the_table():
    text = ways.PAGE.read_text(encoding="utf-8")
    assert text.count(ways.BEGIN) == text.count(END) == 1
    assert ways.written(text) == text, "write it anew: python -m tests.interop.six_ways"


def doubled(x):
    return 2.0 * x


def test_all_six_go_by_the_rule_and_none_by_the_source():
    rule = RuleSet("says_seven")
    rule.scalar(doubled)(lambda x: 7.0 + 0.0 * x)
    rule.register()
    try:
        assert ways.gradients(doubled, (0.5,)) == {name: [7.0] for name in ways.USERS}
    finally:
        rule.unregister()
