"""Which cases of tests with the mark `sampled` the whole suite runs."""

import types

import pytest

from tests import conftest


class Item:
    """A case of a test, as far as the choice asks for it."""

    def __init__(self, nodeid, n=None):
        self.nodeid, self.n, self.callspec = nodeid, n, None

    def get_closest_marker(self, name):
        assert name == "sampled"
        return None if self.n is None else types.SimpleNamespace(args=(self.n,))


def chosen(items, every_case=False):
    gone = []
    hook = types.SimpleNamespace(pytest_deselected=lambda items: gone.extend(items))
    config = types.SimpleNamespace(option=types.SimpleNamespace(every_case=every_case), hook=hook)
    kept = [*items]
    conftest.pytest_collection_modifyitems(config, kept)
    assert [item for item in items if item not in gone] == kept
    return [item.nodeid for item in kept]


def test_one_in_n_stays_of_each_test():
    items = [Item(f"t.py::{name}[{i}-{j}]", 4) for name in "ab" for i in range(5) for j in range(4)]
    items += [Item("t.py::c[0]"), Item("t.py::c[1]"), Item("t.py::d[0]", 4)]
    kept = chosen(items)
    assert kept == chosen(items)
    for name, count in (("a", 5), ("b", 5), ("c", 2), ("d", 1)):
        assert sum(f"::{name}[" in case for case in kept) == count
    inner = {case.rpartition("-")[2] for case in kept if "::a[" in case}
    assert len(inner) > 1  # not each fourth, which would be always the same inner parameter


def test_all_stay_where_all_are_asked_for():
    items = [Item(f"t.py::a[{i}]", 4) for i in range(8)]
    assert chosen(items, every_case=True) == [item.nodeid for item in items]


@pytest.mark.sampled(4)
def test_a_test_takes_a_sample_itself(sample, request):
    assert len(sample(range(8))) == (8 if request.config.option.every_case else 2)
