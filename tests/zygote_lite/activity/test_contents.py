"""What operands hold is compared before and after a call."""

import numpy as np

from zygote_lite._activity.contents import checksum_of, contents_of, hold_the_same


def test_the_checksum_of_a_part_of_an_array_is_that_of_what_it_holds():
    x = np.arange(6.0)
    for part in (x[::2], x.reshape(2, 3).T, x.view("V8")):
        known = checksum_of(part)
        assert known == checksum_of(part.copy())
        x[2] += 1.0
        assert checksum_of(part) != known
    assert checksum_of(x[::2]) == checksum_of(np.array([0.0, 5.0, 4.0]))


def test_texts_and_flags_may_change_but_where_counts_matter():
    held = {"mode": "fast", "on": True, "count": 1, "x": 2.0}
    operands = [held]
    before = contents_of(operands)
    held.update(mode="slow", on=False, count=2)
    assert hold_the_same(before, contents_of(operands))
    assert not hold_the_same(before, contents_of(operands), counts=True)
    held["x"] = 3.0
    assert not hold_the_same(before, contents_of(operands))
