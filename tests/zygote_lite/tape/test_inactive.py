"""Calls without active operands run unrecorded, but for what may come to be active later."""

from zygote_lite import gradient, testing


class Bag:
    def __init__(self):
        self.items = []

    def __iter__(self):
        for item in self.items:
            yield item * 2.0


def test_a_generator_that_is_made_before_what_it_walks_over_becomes_active():
    def loss(x):
        bag = Bag()
        taken = iter(bag)
        bag.items.append(x)
        return next(taken)

    with testing.recorded_only():
        assert gradient(loss, 3.0) == (2.0,)
