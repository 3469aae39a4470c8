"""State in lists, dicts, objects and variables, through aliases too."""

import collections
import copy
import dataclasses
import functools
import types
import weakref

import numpy as np

from tests.zygote_lite.constructs.declare import declaring

CASES = []
BOXES = [0.0]
works, refused = declaring(CASES)


CALLS, FIRST, SECOND, TABLE, TALLY = 0, 1.0, 2.0, None, [0]


@works("`global` that is given what carries no gradient", (0.5,))
def writes_globals(x):
    global CALLS, FIRST, SECOND, TABLE
    FIRST, (SECOND, CALLS) = 1.0, (2.0, 0)
    FIRST, SECOND = SECOND, FIRST + 2.0
    for CALLS in range(3):
        CALLS += 1
    if TABLE is None:
        TABLE = {"rate": 2.0}
    y = CALLS * (CALLS := 5) * x
    return y * FIRST * SECOND * TABLE["rate"] * CALLS


@works("`global` of a function defined inside, and what it imports", (0.5,))
def writes_globals_inside(x):
    def count():
        global CALLS, ceil
        from math import ceil

        CALLS = CALLS + 1
        return CALLS

    global CALLS
    CALLS = 0
    return x * count() + CALLS * x * ceil(count() - 0.5) + count()


@refused("`global` that is given what carries a gradient", "global `FIRST`", (0.5,))
def keeps_in_a_global(x):
    global FIRST
    FIRST = x * 2.0
    return FIRST * x


class Counting:
    """A class with a counter."""

    calls = 0

    def doubled(self, x):
        """Count, and return twice the value."""
        type(self).calls += 1
        return 2.0 * x


@works("counters outside: in a list, of a class", (0.5,))
def counts_outside(x):
    TALLY[0] = Counting.calls = 0
    thing = Counting()
    for i in range(3):
        TALLY[0] += i
        x = thing.doubled(x)
    return x * TALLY[0] + Counting.calls * x


@works("`append`, `extend`, `insert`", (0.5,))
def list_grows(x):
    a = [x]
    a.append(x * x)
    a.extend([x**3, 2.0])
    a.insert(1, x * 4.0)
    return a[0] * a[1] + a[2] * a[3] + a[4]


@works("`pop`, `remove`, `clear`, `del`", (0.5,))
def list_shrinks(x):
    a = [x, x * x, x**3, 4.0 * x]
    y = a.pop() * a.pop(0)
    a.remove(a[0])
    del a[0]
    a.append(x)
    y += a[0]
    a.clear()
    return y + len(a)


@works("list items are written", (0.5, [0.6, 0.7]))
def list_setitem(x, ys):
    a = [1.0, 2.0, 3.0]
    a[0] = x
    a[-1] = a[0] * ys[0]
    a[0] = a[2] * a[0]
    return a[0] * a[1] + a[2]


@works("an argument's list is written", ([0.5, 0.6, 0.7],))
def list_argument_written(a):
    for i in range(1, len(a)):
        a[i] = a[i] * a[i - 1]
    a[0] = 3.0
    return a[1] * a[2] + a[0]


@works("list slices are written", (0.5,))
def list_slice_write(x):
    a = [x, 2.0 * x, 3.0 * x, 4.0]
    a[1:3] = [x * x]
    a[::2] = [x, x**3]
    return a[0] * a[1] * a[2]


@works("`+=` and `*=` of lists", (0.5,))
def list_augmented(x):
    a = [x]
    b = a
    a += [x * x]
    b *= 2
    return a[0] * b[1] + a[3] * len(b)


@works("`sort` and `reverse` of lists", (0.5,))
def list_sort(x):
    a = [x, x * x, -x]
    a.sort()
    y = a[0] * 3.0 + a[1]
    a.sort(key=lambda v: v * v, reverse=True)
    a.reverse()
    return y * a[0]


@works("`index`, `count`, `in` of lists", (0.5,))
def list_queries(x):
    a = [x, 2.0, x]
    return a[a.index(2.0) + 1] * a.count(x) * (x if 2.0 in a else 1.0)


@works("copies of lists are independent", (0.5,))
def list_copies(x):
    a = [x, [x * x]]
    b, c, d = a[:], a.copy(), list(a)
    a[0] = 7.0
    a[1][0] = x
    e = copy.deepcopy(a)
    a[1][0] = 3.0
    return b[0] * c[1][0] + d[0] * e[1][0]


@works("writes through an alias", (0.5,))
def aliases(x):
    a = [x, x]
    b = a
    c = [a, a]
    b[0] = x * x
    c[1][1] = b[0] * x
    return a[0] * a[1]


@works("the same list passed twice", ([0.5, 0.6],))
def same_list_twice(p):
    def f(a, b):
        a[0] = b[1] * 2.0
        b[1] = a[0] * a[1]
        return a[1] + b[0]

    return f(p, p) * p[0]


@works("a write in a loop, read in the next turn", (0.5,))
def loop_carried_list(x):
    a = [x, 1.0]
    for i in range(4):
        a[i % 2] = a[0] * a[1] + x
    return a[0] * a[1]


@works("nested lists are written", ([[0.5, 0.6], [0.7, 0.8]],))
def nested_lists(m):
    out = [[0.0, 0.0], [0.0, 0.0]]
    for i in range(2):
        for j in range(2):
            for k in range(2):
                out[i][j] += m[i][k] * m[k][j]
    return out[0][0] * out[1][1] - out[0][1]


@works("a value is swapped in a list", (0.5, 0.6))
def list_swap(x, y):
    a = [x, y]
    a[0], a[1] = a[1], a[0] * 2.0
    return a[0] / a[1]


@works("dict items are written and deleted", (0.5,))
def dict_setitem(x):
    d = {"a": x}
    d["b"] = d["a"] * x
    d["a"] = d["b"] * 3.0
    e = d
    e["c"] = d["a"]
    del d["a"]
    return e["b"] * d["c"]


@works("`get`, `setdefault`, `update`, `pop`, `popitem`, `|=`", (0.5,))
def dict_methods(x):
    d = {"a": x}
    d.setdefault("b", x * x)
    d.setdefault("a", 5.0)
    d.update(c=x**3)
    d.update({"b": d["b"] * 2.0})
    d |= {"e": x}
    y = d.pop("a") * d.get("b") + d.get("z", x)
    key, value = d.popitem()
    return y * value + d["c"]


@works("an argument's dict is written", ({"w": 0.5, "b": 0.6},))
def dict_argument_written(d):
    d["w"] = d["w"] * d["b"]
    d["new"] = d["w"] ** 2
    return d["new"] + d["b"] * d["w"]


@works("`defaultdict`, `Counter`, `OrderedDict`", (0.5,))
def default_dicts(x):
    d = collections.defaultdict(float)
    for i, v in enumerate([x, x * x, 3.0]):
        d[i % 2] += v * x
    e = collections.defaultdict(list)
    e["a"].append(x)
    return d[0] * d[1] + e["a"][0] * len(e["b"])


@works("`defaultdict`, `Counter`, `OrderedDict`", (0.5,))
def filled_dicts(x):
    class Grouped(collections.defaultdict):
        def __init__(self, **entries):
            super().__init__(list, **entries)

    class Sorted(collections.OrderedDict):
        def __init__(self, entries):
            super().__init__(sorted(entries.items()))

    d = collections.defaultdict(a=x * x, b=2.0)
    e = Grouped(a=[x])
    e["b"].append(x * 3.0)
    f = Sorted({"b": x, "a": x * 5.0})
    first, second = f.values()
    return d["a"] * e["a"][0] + e["b"][0] * first * second + d["b"]


@works("`deque`", (0.5,))
def deques(x):
    q = collections.deque([x])
    q.append(x * x)
    q.appendleft(3.0 * x)
    return q.pop() * q.popleft() + q[0]


@works("`deque`", (0.5,))
def deque_methods(x):
    q = collections.deque([x, 2.0, x * x, 4.0], maxlen=4)
    q.append(x * 5.0)
    q.appendleft(x * 6.0)
    q.rotate(1)
    q.rotate(-3)
    q[1] = q[0] * x
    q[-1] += x
    y = sum(v * (i + 1) for i, v in enumerate(q))
    q.reverse()
    del q[1]
    q.insert(1, x * 7.0)
    q.extend(v * x for v in (1.0, x))
    q.extendleft([x * 8.0, 2.0])
    q += [x * 9.0]
    q.remove(q[1])
    a, *b = q
    p = q.copy()
    q.clear()
    q.append(x)
    y = y * p[0] + a * b[1] + q.maxlen * len(p) * x + sum(reversed(p)) * q[0]
    return y * max(collections.deque(p, 2))


@works("`deque`", (0.5,))
def deque_as_queue(x):
    tree = {0: [1, 2], 1: [3], 2: [4, 5]}
    queue = collections.deque([(0, x)])
    window = collections.deque(maxlen=3)
    y = 0.0
    while queue:
        node, v = queue.popleft()
        window.append(v)
        y = y + v * v * sum(window) / len(window)
        for child in tree.get(node, []):
            queue.append((child, v * x + child))
    return y


@works("`list.extend` of a generator", (0.5,))
def list_extended(x):
    y = [x, 2.0, x * x]
    y.pop(0)
    y.extend(v * x for v in (x, 3.0))
    y.extend(iter([x]))
    y += (v for v in [x])
    y[1:2] = (v * x for v in (1.0, x))
    return sum(v * (i + 1) for i, v in enumerate(y))


@works("`keys`, `values` and `items` show what is written later", (0.5,))
def dict_views(x):
    d = {"a": [x], "b": [2.0]}
    values, items = d.values(), d.items()
    d["c"] = [x * 3.0]
    for _, v in items:
        v.append(x * len(v))
    for v in d.values():
        v[0] *= 2.0
    try:
        for _ in items:
            d["q"] = [x]
    except RuntimeError:
        d["q"].append(x * x)
    common = sorted(d.keys() & {"a", "q"})
    y = sum(sum(v) for v in values) + len(items) * x + sum(d[k][0] for k in common)
    y = y + max(values, key=len)[0] * list(values)[1][1] + dict(items)["a"][0]
    return y * next(reversed(values))[0] + min((v[0], k) for k, v in items)[0]


@works("`OrderedDict`: `move_to_end`, `popitem(last=False)`", (0.5,))
def ordered_dicts(x):
    class Recent:
        def __init__(self, size):
            self.size, self.known = size, collections.OrderedDict()

        def get(self, k):
            if k in self.known:
                self.known.move_to_end(k)
                return self.known[k]
            v = self.known[k] = x * k
            if len(self.known) > self.size:
                self.known.popitem(last=False)
            return v

    recent = Recent(2)
    y = sum(recent.get(k) * (i + 1) for i, k in enumerate([1, 2, 1, 3, 2, 1]))
    o = collections.OrderedDict((("a", x), ("b", 2.0 * x), ("c", 3.0)))
    o.move_to_end("a")
    _, v = o.popitem(last=False)
    o["d"] = v * x
    y = y + sum(v * (i + 1) for i, v in enumerate(o.values())) * o.pop("d")
    return y * len(recent.known) + o.setdefault("e", x) * o.copy()["a"]


@works("`defaultdict` with an active factory, `UserDict`, `UserList`, `ChainMap`", (0.5,))
def other_mappings(x):
    d = collections.defaultdict(lambda: x * 2.0)
    d["a"] += x
    y = d["a"] * d["b"] * len(d)
    u = collections.UserDict(a=x)
    u["b"] = x * 2.0
    items = collections.UserList([x, 2.0])
    items.append(x * 3.0)
    c = collections.ChainMap({"a": x}, {"b": x * 2.0, "a": 3.0})
    c["z"] = x * 4.0
    c.update(q=x, b=c["b"] * x)
    y += sum(c.new_child({"a": 2.0 * x}).values()) * len(c)
    return y + u["a"] * u["b"] + sum(items) + c["a"] * c["b"] * c["z"]


@works("`types.MappingProxyType`", (0.5,))
def mapping_proxy(x):
    d = {"a": x, "b": x * 2.0}
    p = types.MappingProxyType(d)
    d["c"] = x * 3.0
    y = p["a"] * p["b"] + p.get("c", 0.0) + p.get("none", x) + sum(p.values()) * len(p)
    y = y + sum(v for _, v in p.items()) + sum(p[k] * x for k in p)
    return y + dict(p)["a"] * {**p}["b"] + p.copy()["c"] + (p | {"q": x})["q"] * ("a" in p)


@works("sets", (0.5,))
def sets(x):
    s = {x, x * x}
    s.add(3.0)
    return sum(sorted(s)) * len(s)


@works("sets and frozensets: `|`, `&`, `-`, `^`, `|=`, `intersection`, `difference`", (0.5,))
def joined_sets(x):
    y = x * x
    a, b = {x, y, 3.0}, frozenset([y, x * y])
    a |= {x * 7.0}
    found = [a | b, b | a, a & b, b & a, a - b, b - a, a ^ b, b ^ a, b | b]
    found += [a.intersection(b), a.difference(b), b.symmetric_difference(a), b.union({x})]
    total = 1.0 if [type(s) for s in found[:2]] == [set, frozenset] else 0.0
    for i, s in enumerate(found):
        for v in sorted(s):
            total = total * 1.1 + v * v * (i + 1)
    return total


@works("attributes are written", (0.5,))
def attributes(x):
    o = types.SimpleNamespace(a=x, b=2.0)
    o.b = o.a * x
    p = o
    p.a = o.b * 3.0
    o.a *= x
    return o.a * p.b


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


@works("linked objects, cycles", (0.5,))
def linked_objects(x):
    a = Node(x)
    b = Node(x * x, a)
    a.next = b
    n = a
    for i in range(3):
        n.value = n.value * n.next.value
        n = n.next
    return a.value * b.value


@works("an argument's object is written", (Node(0.5, Node(0.6)),))
def object_written(n):
    n.value = n.value * n.next.value
    n.next.value = n.value**2
    return n.next.value + n.value


@works("an object changes in a loop", (0.5,))
def object_in_a_loop(x):
    class Adam:
        def __init__(self):
            self.m, self.t = 0.0, 0

        def step(self, g):
            self.t += 1
            self.m = 0.9 * self.m + 0.1 * g
            return self.m / (1 - 0.9**self.t)

    adam, w = Adam(), x
    for _ in range(4):
        w = w - 0.1 * adam.step(2.0 * w)
    return w


@works("a closure's list", (0.5,))
def closure_list(x):
    log = []

    def note(v):
        log.append(v)
        return v * len(log)

    y = note(x) + note(x * x)
    return y * log[0] * log[1]


@works("memoization in a dict", (0.7,))
def memoization(x):
    memo = {0: 1.0, 1: x}

    def f(n):
        if n not in memo:
            memo[n] = f(n - 1) * x + f(n - 2)
        return memo[n]

    return f(6)


@works("an exception leaves the writes before it", (-0.5,))
def writes_before_exception(x):
    a = [x, x]
    try:
        a[0] = a[0] * 2.0
        a[1] = a[7]
    except IndexError:
        a[1] = a[0] * x
    return a[0] * a[1]


@works("tuples that hold lists", (0.5,))
def tuple_of_lists(x):
    t = ([x], [x * x])
    t[0][0] = t[1][0] * x
    u = (*t, t)
    u[2][1].append(x)
    return t[0][0] * t[1][1]


@works("the result is a list's entry that is overwritten later", (0.5,))
def read_before_write(x):
    a = [x * x]
    y = a[0]
    a[0] = 100.0
    return y * x


@works("a list of what a loop computes, indexed backwards", (0.5,))
def history(x):
    h = [x]
    for i in range(5):
        h.append(h[-1] * x + h[max(i - 2, 0)])
    return h[-1] * h[2]


@works("`__len__` and `__length_hint__` with effects, which `list` and `*` call", (0.7,))
def length_hints(x):
    log = [1.0]

    class Sized:
        def __init__(self, values):
            self.values = values

        def __iter__(self):
            return iter(self.values)

        def __len__(self):
            log[0] = log[0] * x
            return 2

    class Hinted:
        def __init__(self, values):
            self.rest = values

        def __iter__(self):
            return self

        def __next__(self):
            if not self.rest:
                raise StopIteration
            return self.rest.pop()

        def __length_hint__(self):
            log[0] = log[0] * x + 1.0
            return 2

    a = [*Sized([1.0, 2.0]), 3.0]
    b = list(Hinted([x, 2.0]))
    total = log[0] * sum(a) * b[0] + sum(list(Sized([x]))) * log[0]
    return total + sum(tuple(Sized([x, x]))) * log[0]


@works("a slice of a list written from an iterable", (0.7,))
def slice_from_iterable(x):
    count = [1.0]

    class Pair:
        def __iter__(self):
            count[0] = count[0] * x
            return iter([5.0, x])

    a = [x, 2.0, 3.0]
    a[0:2] = (v * x for v in a)
    a[1:1] = Pair()
    return count[0] * sum(a) + a[1] * a[2]


@works("weak references and proxies", (0.7,))
def weak(x):
    class Box:
        w = 1.0

    box = Box()
    proxy, reference = weakref.proxy(box), weakref.ref(box)
    box.w = x
    total = proxy.w * reference().w
    proxy.w = x * x
    other = weakref.proxy(box)  # of what is active by now
    other.w *= 3.0
    return total + box.w


@dataclasses.dataclass(frozen=True)
class Point:
    a: float


class Named:
    def __init__(self, name, a):
        self.name, self.a = name, a

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return self.name == other.name


KEYS = "objects with active fields as keys of dicts and elements of sets"


@works(KEYS, (0.5, 0.6))
def dict_of_points(x, y):
    table = {Point(x): y, (Point(y), 1): x}
    table[Point(x)] *= x
    table[Point(y), 1] = table[Point(y), 1] * table.get(Point(x), 0.0)
    table.setdefault(Point(y), x)
    table.setdefault(Point(x), x)
    total = table.pop(Point(x)) * len(table)
    table[Point(x)] = total * table[Point(y)]
    del table[Point(y)]
    return total * table[Point(x)] + table[Point(y), 1]


@works(KEYS, (0.5, 0.6))
def points_that_are_counted(x, y):
    counts = collections.defaultdict(list)
    for i in range(6):
        point = Point(x * (i % 3))
        counts[point].append(point.a * y)
    ordered = collections.OrderedDict(counts)
    ordered.move_to_end(Point(x))
    return sum([(i + k.a) * sum(v) for i, (k, v) in enumerate(ordered.items())])


@works(KEYS, (0.5, 0.6))
def dicts_of_points_joined(x, y):
    right = {Point(x): y, Point(y): x}
    left = {Point(x): 2.0 * x, Point(0.0): x}
    joined = left | right
    other = dict(joined)
    other.update({Point(x): x * x, **right})
    copied = other.copy()
    other.clear()
    other[Point(x)] = copied[Point(x)] * joined[Point(x)]
    return other[Point(x)] + copied[Point(0.0)] * joined[Point(y)]


@works(KEYS, (0.5, 0.6))
def named_objects_as_keys(x, y):
    table = {"a": x, Named("b", x): y, Named("c", y): x}
    table[Named("b", y)] *= x
    return sum([k.a * v for k, v in table.items() if isinstance(k, Named)]) * table[Named("c", x)]


@works(KEYS, (0.5, 0.6))
def points_remembered(x, y):
    @functools.lru_cache
    def f(point):
        return point.a * y

    points = {Point(x), Point(y), Point(x)}
    points.add(Point(x))
    points.add(Point(1.0))
    return f(Point(x)) * f(Point(x)) + sum([f(point) * point.a for point in points])


@works("`obj.__dict__`, `vars(obj)`", (0.7,))
def kept_fields(x):
    class Box:
        pass

    box = Box()
    box.w = 1.0
    fields = vars(box)
    box.w = x
    return fields["w"]


@works("`locals()`, `vars()`, `dir()`", (0.7,))
def own_variables(x):
    y = x * x
    for k in range(2):
        y = y * (k + x)
    del k
    return locals()["y"] * len(vars()) * ("y" in dir()) + len(dir())


@works("`locals()`, `vars()`, `dir()`", (0.7,))
def shared_variables(x):
    def scaled(z):
        return z * w

    w = x * 3.0
    before = locals()
    w = x * 4.0
    after = locals()
    return scaled(x) + before["w"] + after["w"] * len(before) + after["w"] * (before is after)


@works("`locals()`, `vars()`, `dir()`", (0.7,))
def format_of_variables(x):
    y = 2.0
    return len("{x:.1f} {y:.2f}".format(**locals())) * x * y


@works("`globals()`", (0.7,))
def variables_of_the_module(x):
    globals()["BOXES"][0] = x
    return globals()["BOXES"][0] * BOXES[0] * (len(globals()) > 10)


@refused("the `__dict__` of a class", "__dict__", (0.7,))
def kept_fields_of_class(x):
    class Box:
        w = 1.0

    fields = Box.__dict__
    Box.w = x
    return fields["w"]


@works("a `defaultdict`, or `__missing__`, that reads what becomes active later", (0.7,))
def late_defaults(x):
    class Table(dict):
        def __missing__(self, key):
            return self.default[0]

    box = [1.0]
    d, table = collections.defaultdict(lambda: box[0]), Table()
    table.default = [2.0]
    box[0], table.default[0] = x, x * x
    return d["a"] + table["b"]


@works("arrays of objects that are lists or of the user's classes", (0.7,))
def array_of_objects(x):
    class Box:
        w = 1.0

    boxes, rows, total = np.array([Box(), Box()]), np.array([[1.0], None], dtype=object), 0.0
    for box in boxes:
        box.w = box.w * x
        total = total + box.w
    rows[0][0] = x
    return total + rows[0][0] * boxes[1].w


@refused("`__del__` and `weakref.finalize` with effects", "__del__", (0.7,))
def effect_of_del(x):
    log = [x]

    class Guard:
        def __del__(self):
            log[0] = log[0] * 2.0

    guard = Guard()
    del guard
    return log[0]


@refused("`__del__` and `weakref.finalize` with effects", "lets go", (0.7,))
def effect_of_finalize(x):
    log = [x]

    class Box:
        pass

    box = Box()
    weakref.finalize(box, lambda: log.append(log[0] * 2.0))
    del box
    return log[-1]


@works("`setdefault`, `update`, `pop` and `del` in a loop; the order of keys", (0.5, 0.6))
def dict_in_a_loop(x, y):
    groups, table, total = {}, {"z": y, "a": x}, 0.0
    for i in range(6):
        groups.setdefault(i % 2, []).append(x * i + y)
        table.update({i: x * i, "a": table["a"] * y})
        if i % 3 == 2:
            total = total + table.pop(i - 1) * table["a"]
            del table[i]
    table["z"] = table.pop("z") * table.setdefault("z", x)
    for i, value in enumerate(table.values()):
        total = total + i * value
    return total + sum([a * b for a, b in zip(*groups.values())])


@works("`OrderedDict`: `move_to_end`, `popitem(last=False)`", (0.5, 0.6))
def ordered_dict_argument(x, y):
    table = collections.OrderedDict(a=x, b=y)
    table["c"] = x * y
    table.move_to_end("a")
    table.move_to_end("c", last=False)
    table["d"] = table.popitem(last=False)[1] * table["b"]
    return sum([(i + 1) * value for i, value in enumerate(table.values())])


@works("operators of library classes over what becomes active later", (0.5, 0.6))
def user_list_becomes_active(x, y):
    entries = collections.UserList([1.0, 2.0])
    entries.data[0] = x
    joined = (entries + [y]) * 2
    table = collections.UserDict(a=1.0)
    table.data["a"] = y
    return joined[0] * joined[5] + (table | {"b": x})["a"]


@works("`np.poly1d`", (0.7,))
def polynomial_object(x):
    p = np.poly1d([x, 1.0, x * x])
    q = p * p + np.poly1d([x])
    return q(0.5) + p.deriv()(x) * p.integ()(1.0) * p.coeffs[0] + p[2] * x


@works("a special method of a number, called by its name", (0.7,))
def special_method_of_a_number(x):
    return x.__mul__(x) + x


class Settings:
    """An object that is filled by way of its `__dict__`."""

    def __init__(self, **kws):
        self.__dict__.update(kws)

    def __getattr__(self, name):
        if name != "late":
            raise AttributeError(name)
        self.__dict__[name] = value = self.a**2
        return value

    def but(self, **kws):
        return Settings(**{**self.__dict__, **kws})


@works("`obj.__dict__`, `vars(obj)`", (0.7,))
def filled_by_dict(x):
    s = Settings(a=x, b=x * x)
    t = s.but(b=3.0 * x)
    s.__dict__["c"] = s.a * s.b
    for name, value in vars(t).items():
        t.__dict__[name] = value * s.c
    first = s.late
    s.a = s.__dict__.pop("b") * t.a
    return first * s.late * s.a * t.b + sum(vars(s).values()) * len(t.__dict__)


@works("`obj.__dict__`, `vars(obj)`", (Settings(a=0.7, b=0.4), 0.6))
def argument_by_dict(s, x):
    for name, value in s.__dict__.items():
        s.__dict__[name] = value * x
    return s.a * vars(s)["b"]


@works("objects that share one `__dict__`", (0.7,))
def shared_fields(x):
    s, t = Settings(a=x), Settings()
    t.__dict__ = s.__dict__
    t.a *= 3.0
    s.b = t.a * x
    t.__dict__ = dict(s.__dict__)
    t.a = x * x
    return s.a * t.a * t.b


class Owner:
    w = 2.0


OWNERS = [Owner(), Owner()]


@works("`WeakKeyDictionary`, `WeakValueDictionary`, `WeakSet` of objects from outside", (0.7,))
def weak_containers(x):
    of_keys, of_values = weakref.WeakKeyDictionary(), weakref.WeakValueDictionary()
    for owner in OWNERS:
        of_keys[owner] = x * owner.w
        of_values[len(of_values)] = owner
    of_keys[OWNERS[0]] *= x
    members = weakref.WeakSet(OWNERS)
    total = sum(of_keys.values()) + of_keys[OWNERS[1]] * x * len(of_keys)
    return total + sum([owner.w * x for owner in members]) + of_values[0].w * x


@refused("`WeakKeyDictionary` and its kin, of objects that the function makes", "weak", (0.7,))
def weak_key(x):
    table, owner = weakref.WeakKeyDictionary(), Owner()
    table[owner] = x * 2.0
    return table[owner] * x


@refused("`WeakKeyDictionary` and its kin, of objects that the function makes", "weak", (0.7,))
def weak_value(x):
    table, owner = weakref.WeakValueDictionary(), Owner()
    table["a"] = owner
    owner.w = x
    return table["a"].w * x


@refused("`WeakKeyDictionary` and its kin, of objects that the function makes", "weak", (0.7,))
def weak_member(x):
    members = weakref.WeakSet()

    def add():
        owner = Owner()
        owner.w = x
        members.add(owner)
        return owner.w

    return add() + len(members) * x


@refused("weak references with a callback that has effects", "weak reference", (0.7,))
def weak_callback(x):
    table, owner = {}, Owner()
    reference = weakref.ref(owner, table.pop)
    table[reference] = x * 2.0
    return table[reference] * x


@refused("weak references with a callback that has effects", "lets go", (0.7,))
def weak_callback_in_python(x):
    table, owner = {}, Owner()
    reference = weakref.ref(owner, lambda r: table.pop(r, None))
    table[reference] = x * 2.0
    return table[reference] * x


@works("sets of active numbers: `pop`, `discard`, `remove`", (0.7, 0.3))
def taken_from_a_set(x, y):
    left, total = {x, y, 2.0}, 0.0
    while left:
        total = total + left.pop() ** 3
    left.update((x * y, y, x))
    left.discard(y)
    left.discard(9.0)
    left.remove(x)
    return total * sum(left)
