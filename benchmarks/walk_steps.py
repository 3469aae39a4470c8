"""What walks through the heap cost: the objects that a call of a gradient looks at, and its time.

    python -m benchmarks.walk_steps
    python -m benchmarks.walk_steps 100000

A model of that many objects, from each of which all others are reached (by default a million), is
captured by a closure, a global, an attribute of an argument, or is an argument. Something active is
written into an object outside; before that no walk is needed. Each function asks 1 and 30 times.
Looked at is what walks through the heap meet, and what the search for methods that may write does.
The table has the objects that these calls looked at, and the seconds of the second. The last column
has what one question of the closure looks at where nothing tells that no walk is needed, bounds it
or remembers what was found: each call walks through all that it reaches.
"""

import contextlib
import copy
import dataclasses
import functools
import io
import itertools
import sys
import time

import numpy as np

from zygote_lite import testing, value_and_grad

QUESTIONS = {
    "an attribute": lambda m, k: m.parts[k].number + 1,
    "isinstance": lambda m, k: isinstance(m.parts[k], Part) + 1,
    "a method": lambda m, k: m.scaled(k) + 1,
    "len": lambda m, k: len(m) + 1,
    "sorted": lambda m, k: sorted(m.parts[:3], key=lambda part: -part.number)[0].number,
    "a loop": lambda m, k: sum([part.number for part in m.parts[: k + 2]]),
    "a generator": lambda m, k: sum(part.number for part in m.parts[: k + 2]),
    "while": lambda m, k: counted_up(m.parts[k]) + 1,
    "a cache": lambda m, k: m.cached(k) + 1,
    "a key": lambda m, k: m.by_key[m.keys[k]] + 1,
    "in": lambda m, k: (m.parts[k] in m.parts) + 1,
    "an array": lambda m, k: np.array(m.parts[: k + 1], dtype=object)[0].number + 1,
    "a slice": lambda m, k: m.array[k : k + 2][0].number + 1,
    "flat": lambda m, k: m.array.flat[k].number + 1,
    "locals": lambda m, k: len(locals()),
    "globals": lambda m, k: len(globals()) > 0,
    "vars": lambda m, k: len(vars(m.parts[k])),
    "eval": lambda m, k: len(eval("[k]")),
    "copy": lambda m, k: copy.copy(m.parts[k]).number + 1,
    "chain": lambda m, k: len([*itertools.chain(m.parts[:3], m.parts[:2])]),
    "in C": lambda m, k: sys.getsizeof(m.parts[k]) > 0,
    "sorted keys": lambda m, k: sorted(m.keys)[1].number,
    "max": lambda m, k: max(m.keys).number,
    "index": lambda m, k: m.keys.index(m.keys[k]) + m.keys.count(m.keys[k]),
    "in keys": lambda m, k: (m.keys[k] in m.keys) + 1,
    "== of lists": lambda m, k: (m.keys == m.keys[:]) + 1,
    "== of data": lambda m, k: (m.data[k] == m.data[0]) + 1,
    "a set": lambda m, k: len({*m.keys}),
    "repr": lambda m, k: len(repr(m.keys)),
    "join": lambda m, k: len(",".join([str(key) for key in m.keys])),
    "print": lambda m, k: print(m.keys[k], end="", file=QUIET) is None,
}


class Part:
    """A part of a model, with all others."""

    def __init__(self, number, others):
        self.number, self.others = number, others


OUTSIDE = Part(0.0, None)
MODEL = None  # the model, as a global
QUIET = io.StringIO()


class Key:
    """A key that Python compares."""

    def __init__(self, number, model):
        self.number, self.model = number, model

    def __hash__(self):
        return hash(self.number)

    def __eq__(self, other):
        return self.number == other.number

    def __lt__(self, other):
        return self.number < other.number

    def __repr__(self):
        return f"Key({self.number})"


@dataclasses.dataclass
class Data:
    """What is compared by all that it holds."""

    number: float
    keys: list


class Model:
    """A model of linked objects."""

    def __init__(self, size):
        self.parts = []
        self.parts += [Part(i, self.parts) for i in range(size)]

    def __len__(self):
        return 3

    def scaled(self, k):
        """Return twice a number."""
        return 2 * self.parts[k].number


def counted_up(part):
    """Count to a number."""
    i = 0
    while i < part.number:
        i += 1
    return i


def ways(size):
    """Yield the names of ways to a model, with a function by each, and its arguments."""
    model = Model(size)
    model.keys = [Key(k, model) for k in range(3)]
    model.data = [Data(float(k), model.keys) for k in range(3)]
    model.by_key = {key: key.number for key in model.keys}
    model.array = np.array(model.parts, dtype=object)
    model.cached = functools.lru_cache(lambda k: model.parts[k].number)
    global MODEL
    MODEL = model
    holder = Part(model, None)

    def closure(x, ask, count):
        OUTSIDE.number = x
        return sum([OUTSIDE.number * ask(model, k % 3) for k in range(count)])

    def by_global(x, ask, count):
        OUTSIDE.number = x
        return sum([OUTSIDE.number * ask(MODEL, k % 3) for k in range(count)])

    def attribute(x, ask, count, holder):
        OUTSIDE.number = x
        return sum([OUTSIDE.number * ask(holder.number, k % 3) for k in range(count)])

    def argument(x, ask, count, model):
        OUTSIDE.number = x
        return sum([OUTSIDE.number * ask(model, k % 3) for k in range(count)])

    def not_written(x, ask, count):
        return sum([x * ask(model, k % 3) for k in range(count)])

    yield "not written", not_written, ()
    yield "closure", closure, ()
    yield "global", by_global, ()
    yield "attribute", attribute, (holder,)
    yield "argument", argument, (model,)


def looked_at(steps, f, *xs):
    """Return the objects that a gradient looks at."""
    steps[0] = 0
    with testing.recorded_only():
        value_and_grad(f)(2.0, *xs)
    return steps[0]


@contextlib.contextmanager
def walking_each_time():
    """Let each question walk through all that it reaches."""
    from zygote_lite._activity import doubts, walk

    instead = [
        (walk, "LIMIT", sys.maxsize // 8),
        (doubts, "looked_at", lambda f, xs, kws: None),
        (doubts, "may_reach_active", lambda *xs, given=0: walk.reaches_active_at_all(*xs)),
        (doubts, "reaches_active", walk.reaches_active_at_all),
        (walk, "_note_clean", lambda seen: None),
    ]
    kept = [(module, name, getattr(module, name)) for module, name, _ in instead]
    for module, name, f in instead:
        setattr(module, name, f)
    yield
    for module, name, f in kept:
        setattr(module, name, f)


def main():
    """Print the table."""
    from zygote_lite._activity import heap, hooks, walk  # not of all commits that are measured

    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    steps, kind_of = [0], heap.kind_of

    def counting(x):
        steps[0] += 1
        return kind_of(x)

    look_at, items_of = hooks._Search.look_at, hooks._items_of

    def looking(self, x, is_beyond):
        steps[0] += 1
        look_at(self, x, is_beyond)

    def taking(x):
        steps[0] += len(found := items_of(x))
        return found

    heap.kind_of = walk.kind_of = counting
    hooks._Search.look_at, hooks._items_of = looking, taking
    print(f"{'':14}{'':14}{'1 question':>12}{'30':>10}{'seconds':>10}{'1, walking':>12}")
    for way, f, given in ways(size):
        for name, ask in QUESTIONS.items():
            once, start = looked_at(steps, f, ask, 1, *given), time.process_time()
            often = looked_at(steps, f, ask, 30, *given)
            taken = time.process_time() - start
            print(f"{way:14}{name:14}{once:12}{often:10}{taken:10.3f}", end="", flush=True)
            if way == "closure":
                with walking_each_time():
                    print(f"{looked_at(steps, f, ask, 1):12}", end="")
            print(flush=True)
        OUTSIDE.number = 0.0


if __name__ == "__main__":
    main()
