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


class Pairs:
    def __init__(self):
        self.items = [1.0, 1.0]

    def __iter__(self):
        for k in range(2):
            yield self.items[k]


def test_an_iterator_may_come_to_be_active():
    def f(x):
        pairs = Pairs()
        iterator = iter(pairs)  # nothing in it is active yet
        pairs.items[0] = x * x
        return next(iterator) * 2.0

    assert gradient(f, 3.0) == (12.0,)


LISTS = [[] for _ in range(60_000)]  # more than a walk looks at


def newest():
    return LISTS[0][-1]


def test_what_is_too_large_to_walk_is_not_taken_for_inactive_the_second_time():
    def f(x):
        LISTS[0].append(x)
        return newest() + newest() * newest()

    with testing.recorded_only():
        assert gradient(f, 3.0) == (7.0,)
    LISTS[0].clear()
