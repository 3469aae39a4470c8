"""Ways to make code are tried one after another, and not those that are known to fail."""

import math

import pytest

from zygote_lite._specialize.attempts import Attempts, Way
from zygote_lite._specialize.cache import specializations_for
from zygote_lite._specialize.driver import specialize
from zygote_lite._specialize.typed.drafts import Draft
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported


def made_by(read, works, tried):
    """Return attempts of which each notes its way, reads of it what is named, and may work."""

    def make(way, begin):
        tried.append(way)
        draft = Draft(begin())
        draft.uniform, draft.held, draft.guesses = way.uniform, way.held, way.guesses is not None
        for name in read:
            getattr(draft.inputs if name in ("is_long", "by_rows") else draft, name)
        if works(way):
            return way
        raise NotSupported.CONTAINER("no")

    return Attempts(make, math.sin, (), None)


@pytest.mark.parametrize(("read", "count"), [([], 1), (["held"], 2), (["guesses"], 3)])
def test_a_way_that_differs_in_nothing_that_was_read_is_not_tried(read, count):
    tried = []
    with pytest.raises(NotSpecializable, match="no"):
        made_by(read, lambda way: False, tried).in_some_way(False, True)
    assert len(tried) == count


@pytest.mark.parametrize("way", [Way(held=True), Way(guesses=NotSupported.CONTAINER("no"))])
def test_a_way_that_differs_in_what_was_read_is_tried(way):
    (name,) = [name for name, wanted in way._asdict().items() if wanted]
    found = made_by([name], lambda tried: bool(getattr(tried, name)), []).in_some_way(False, True)
    assert getattr(found, name)


def test_a_way_is_tried_again_where_more_functions_call_themselves():
    attempts = made_by([], lambda way: False, tried := [])
    for _ in range(2):
        with pytest.raises(NotSpecializable):
            attempts.code(Way())
    attempts.recursive.add("a function")
    with pytest.raises(NotSpecializable):
        attempts.code(Way(held=True))
    assert tried == [Way(), Way(held=True)]


def test_code_without_branches_is_interpreted_once(monkeypatch):
    def f(x):
        return eval("x * x")

    counts = []
    plain = Draft.__init__
    monkeypatch.setattr(Draft, "__init__", lambda self, inputs: counts.append(plain(self, inputs)))
    with pytest.raises(NotSpecializable):
        specialize(f, (2.0,), (True,))
    assert len(counts) == 1
    assert not specializations_for(f)
