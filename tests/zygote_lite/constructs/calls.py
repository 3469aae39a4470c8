"""Calls and classes: every way to hand arguments over, and everything that stands for a call."""

import abc
import enum
import functools
import math
import operator
import timeit
import types
from collections import Counter, namedtuple
from dataclasses import asdict, astuple, dataclass, field, fields, is_dataclass, replace
from typing import NamedTuple

import numpy as np

from tests.zygote_lite.constructs.declare import declaring

CASES = []
works, refused = declaring(CASES)
sin = math.sin


@works("positional, keyword, default arguments", (0.5, 0.6))
def arguments(x, y):
    def f(a, b, c=3.0, d=2.0):
        return a * b + c * d * a

    return f(x, b=y) + f(b=x, a=y, d=x) + f(x, y, y, x)


@works("`eval` of a text that reads active variables", (0.5, 0.6))
def evaluates(x, y):
    z = x * y
    given = eval("a[0] * y", {"a": [x, 1.0]}, {"y": y})
    return eval("z * x if y > 0 else z") + given + (lambda v: eval(" v * v"))(x)


@works("`exec` of a text that reads and assigns active variables", (0.5,))
def executes(x):
    names = {"x": x, "made": []}
    exec(TEXT, names)
    inner = {}
    exec("z = x * 2.0\nz **= 2", {"x": x}, inner)
    z = x * x
    exec("z = 3.0\nnames['made'].append(x)")
    return names["y"] * names["made"][0] + inner["z"] * z * names["made"][-1]


TEXT = """
import math
from math import cos as cosine
y = 0.0
for i in range(3):
    y += math.sin(x * i)
    made.append(y)
if y > 0:
    a, *b = y, x, cosine(x)
    y = a * b[0] * b[1]
"""


@works("`eval` and `exec` of texts that read nothing active", (0.5,))
def runs_texts(x):
    names = {}
    exec("k = 3.0\ndef f(v):\n    return v * v\ndef g(v):\n    return f(v) * k", names)
    exec("class A:\n    def m(self, v):\n        return v * self.b", globals(), names)
    names["A"].b = eval("1 + 2")
    scaled = eval("lambda v, by=2.0: v * by")
    return names["g"](x) + scaled(x) + names["A"]().m(x) * eval("len(names)")


@works("`eval` of code that is compiled there", (0.5,))
def evaluates_compiled(x):
    code = compile("x * x", "<text>", "eval")
    return eval(code) * eval(code, {"x": 3.0 * x})


@works("`timeit` of functions", (0.5,))
def timed(x):
    made = []
    timeit.timeit(lambda: made.append(x * x), number=2)
    timeit.repeat("1 + 1", number=1, repeat=2)
    return made[1] * len(made)


@works("annotations of variables that are no numbers", (0.5, 0.6))
def annotations_with_variables(x, y):
    kind = type(x)

    class Scaled:
        by: kind = 2.0

        def of(self, a: kind) -> kind:
            return a * self.by * y

    def f(a: kind, of: Scaled) -> kind:
        return of.of(a) * a

    return f(x, Scaled())


@works("positional-only and keyword-only parameters", (0.5, 0.6))
def special_parameters(x, y):
    def f(a, /, b, *, c, d=2.0):
        return a * b * c - d * a

    return f(x, y, c=x) + f(x, b=y, c=y, d=x)


@works("`*args` and `**kwargs`", (0.5, 0.6))
def variadic(x, y):
    def f(*xs, **kws):
        return xs[0] * xs[-1] + kws["a"] * len(kws) + sum(kws.values())

    return f(x, y, a=x, b=y * x) + f(*[x, y], **{"a": y})


@works("`*` of what holds a list that a call gave", (np.array([0.5, 0.6, 0.8]),))
def starred_lists(x):
    def weighed(a, b, c=1.0):
        return sum(v * v for v in a) + b * c

    given = (np.split(x, 3), x[0])
    return weighed(*given)[0] + weighed(*[x.tolist(), x[1]], **{"c": x[2]})


@works("`*args` and `**kwargs` passed on", (0.5, 0.6))
def passed_on(x, y):
    def inner(a, b, *, c):
        return a * b + c * c * a

    def outer(*xs, **kws):
        return inner(*xs, **kws) * xs[0]

    return outer(x, y, c=x * y)


@works("mutable default", (0.5,))
def mutable_default(x):
    def push(v, seen=[]):
        seen.append(v)
        return sum(seen)

    push(x)
    return push(x * x) * x


@works("an active default", (0.5,))
def active_default(x):
    def f(v, k=x * x, *, m=x):
        return v * k + m

    return f(x) + f(2.0, 3.0)


@works("decorators with `functools.wraps`", (0.5,))
def decorators(x):
    def scaled(k):
        def decorate(f):
            @functools.wraps(f)
            def wrapper(*xs, **kws):
                return k * f(*xs, **kws)

            return wrapper

        return decorate

    @scaled(x)
    @scaled(3.0)
    def cube(v):
        return v**3

    return cube(x)


@functools.lru_cache
def cached_square(v):
    return v * v


@works("`functools.lru_cache`", (0.5,))
def lru_cached(x):
    return cached_square(x) * cached_square(x) + cached_square(2.0)


@works("`functools.lru_cache` on functions defined inside", (0.5,))
def small_cache(x):
    log = [1.0]

    @functools.lru_cache(maxsize=1)
    def scaled(n):
        return x * n * log[0]

    y = scaled(2.0) * scaled(3.0)  # which the second takes the place of
    log[0] = 5.0
    return y * scaled(2.0)


@works("`functools.lru_cache` on functions defined inside", (0.5,))
def inner_cache(x):
    calls = []

    @functools.lru_cache(maxsize=100)
    def fib(n):
        calls.append(n)
        return x * n if n < 2 else fib(n - 1) + fib(n - 2) * x

    @functools.cache
    def square(v, k=2.0):
        return v * v * k * x

    return fib(12) * len(calls) + square(x) + square(x, k=3.0) + square(x) + square(x * 1.0)


COUNTED = []


@functools.cache
def counted_square(v):
    COUNTED.append(None)
    return v * v


@refused("`lru_cache` of what counts its calls or reads what changes", "under `lru_cache`", (0.5,))
def counting_cache(x):
    before = len(COUNTED)
    counted_square.cache_clear()
    return (counted_square(x * 1.0) + counted_square(x * 1.0)) * (len(COUNTED) - before)


@refused("`lru_cache` of what counts its calls or reads what changes", "under `lru_cache`", (0.5,))
def cache_of_what_changes(x):
    factor = [1.0]

    @functools.lru_cache
    def scaled(v):
        return v * factor[0]

    y = scaled(x * 1.0)
    factor[0] = 3.0
    return y + scaled(x * 1.0)


@works("`functools.partial`", (0.5, 0.6))
def partial(x, y):
    def f(a, b, c):
        return a * b + c * a

    g = functools.partial(f, x, c=y)
    return g(y) + functools.partial(g, x)(c=x)


@functools.singledispatch
def dispatched(v, k):
    return v * k


@dispatched.register
def _(v: list, k):
    return v[0] * v[1] * k


@works("`functools.singledispatch`", (0.5, 0.6))
def singledispatch(x, y):
    return dispatched(x, y) + dispatched([x, y], x)


@works("`functools.reduce`, `operator` functions", (0.5, 0.6))
def operator_functions(x, y):
    get = operator.itemgetter(1)
    return functools.reduce(operator.mul, [x, y, x]) + get([x, y]) * operator.add(x, y)


class Account:
    rate = 2.0

    def __init__(self, balance):
        self._balance = balance

    @property
    def balance(self):
        return self._balance * self.rate

    @balance.setter
    def balance(self, value):
        self._balance = value / self.rate

    @classmethod
    def of(cls, x):
        return cls(x * x)

    @staticmethod
    def twice(x):
        return x + x

    def added(self, x):
        return type(self)(self._balance + x)


class Bonus(Account):
    def __init__(self, balance, bonus):
        super().__init__(balance)
        self.bonus = bonus

    def added(self, x):
        new = Bonus(self._balance, self.bonus)
        new._balance = super().balance * x
        return new

    @property
    def balance(self):
        return super().balance + self.bonus


@works("properties with setters", (0.5,))
def properties(x):
    a = Account(x)
    a.balance = a.balance * x
    return a.balance * a._balance


@works("class methods and static methods", (0.5,))
def class_methods(x):
    return Account.of(x).balance * Account.twice(x) + Account(x).of(3.0).balance * x


@works("inheritance and `super()`", (0.5, 0.6))
def inheritance(x, y):
    b = Bonus(x, y)
    return b.added(y).balance * b.balance


@works("an object as the argument", (Bonus(0.5, 0.6), 0.7))
def object_argument(b, x):
    return b.balance * x + b.bonus * b._balance


@works("a bound method as a value", (0.5,))
def bound_method(x):
    f = Account(x).added
    return f(x * x).balance


class Polynomial:
    def __init__(self, *c):
        self.c = c

    def __call__(self, x):
        y = 0.0
        for c in self.c:
            y = y * x + c
        return y

    def __len__(self):
        return len(self.c)

    def __bool__(self):
        return True

    def __getitem__(self, i):
        return self.c[i]

    def __iter__(self):
        return iter(self.c)

    def __contains__(self, v):
        return v in self.c

    def __neg__(self):
        return Polynomial(*[-c for c in self.c])


@works("`__call__`", (0.5, 0.6))
def callable_object(x, y):
    return Polynomial(x, y, x * y)(y)


@works("`__getitem__`, `__iter__`, `__len__`, `__neg__`", (0.5, 0.6))
def container_protocol(x, y):
    p = -Polynomial(x, y, 2.0)
    a, b, c = p
    return p[0] * p[1] * len(p) + a * sum(p) + b * c


class Dual:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, other):
        if not isinstance(other, Dual):
            return NotImplemented
        return Dual(self.a + other.a, self.b + other.b)

    def __mul__(self, other):
        if isinstance(other, Dual):
            return Dual(self.a * other.a, self.a * other.b + self.b * other.a)
        return Dual(self.a * other, self.b * other)

    def __rmul__(self, other):
        return self * other

    def __iadd__(self, other):
        self.a = self.a + other.a
        self.b = self.b * other.b
        return self

    def __eq__(self, other):
        return self.a == other.a

    def __lt__(self, other):
        return self.a < other.a

    def __abs__(self):
        return abs(self.a) + self.b

    def __pow__(self, n):
        return self if n == 1 else self * self ** (n - 1)


@works("user operators, reflected and in place", (0.5, 0.6))
def user_operators(x, y):
    d = Dual(x, y)
    e = y * d + d * d
    alias = e
    e += d
    return abs(e) * alias.b + (d**3).b


class Scaled:
    def __init__(self, v):
        self.v, self.seen = v, []

    def __rmul__(self, other):
        self.seen.append(type(other))
        return Scaled(self.v * other) if type(other) is float else NotImplemented

    def __rsub__(self, other):
        return other - self.v

    def __rpow__(self, other):
        return other**self.v


@works("NumPy scalars with user operators", (np.array([0.5, 0.6]),))
def scalars_of_numpy_and_objects(x):
    s = Scaled(x[0])
    y, z = x[1] * s, x[1]
    z *= Scaled(x[0] * x[1])
    assert s.seen == [float]
    try:
        y = np.int64(3) * s
    except TypeError as e:
        return (y.v - x[0] ** s - s) * z.v * len(str(e))


class Weight(np.float64):
    """A number of NumPy's with more to it."""

    def twice(self):
        return 2.0 * float(self)

    def __mul__(self, other):
        return self.twice() * other


@works("NumPy scalars with user operators", (0.5,))
def scalar_of_numpy_of_a_users_class(x):
    return Weight(3.0) * x * x


@works("`__slots__`", (0.5, 0.6))
def slots(x, y):
    d = Dual(x, y)
    d.a = d.b * x
    return d.a * d.b


@works("user comparisons: `sorted` and `max` of objects", (0.5, 0.6))
def user_comparisons(x, y):
    ds = sorted([Dual(y, x), Dual(x, y * y)])
    return ds[0].b * max(ds).a + (1.0 if ds[0] == ds[1] else x)


class Lazy:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        if name.startswith("power"):
            return self.x ** int(name[5:])
        raise AttributeError(name)


@works("`__getattr__`", (0.5,))
def getattr_hook(x):
    z = Lazy(x)
    return z.power3 * z.x + getattr(z, "missing", x) * (2.0 if hasattr(z, "nothing") else 3.0)


class Watched:
    def __init__(self, x):
        self.log = []
        self.x = x

    def __setattr__(self, name, value):
        if name != "log":
            self.log.append(value)
        object.__setattr__(self, name, value)


@works("`__setattr__`", (0.5,))
def setattr_hook(x):
    w = Watched(x)
    w.x = x * x
    return w.log[0] * w.log[1] * w.x


class Positive:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return self if instance is None else getattr(instance, self.name) * 2.0

    def __set__(self, instance, value):
        setattr(instance, self.name, abs(value))


class Described:
    width = Positive()

    def __init__(self, width):
        self.width = width


@works("descriptors", (-0.5,))
def descriptors(x):
    d = Described(x)
    d.width = d.width * x
    return d.width * x


@dataclass
class Body:
    mass: float
    at: list = field(default_factory=list)
    speed: float = 1.0

    def __post_init__(self):
        self.energy = self.mass * self.speed**2


@dataclass(frozen=True)
class Vector:
    x: float
    y: float = 2.0

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    @functools.cached_property
    def norm(self):
        return math.sqrt(self @ self)


@works("dataclasses with `__post_init__`, default factories", (0.5, 0.6))
def dataclasses(x, y):
    b = Body(x, speed=y)
    b.at.append(x * y)
    c = replace(b, mass=y)
    return b.energy * b.at[0] + c.energy * c.at[0]


@works("`astuple`, `asdict`, `fields`, `is_dataclass`", (0.5, 0.6))
def dataclasses_taken_apart(x, y):
    v = Vector(x * y, x)
    inner = Body(y, [v, x])
    a, b = astuple(v)
    mass, (at, last), speed = astuple(inner)
    parts = asdict(replace(v, y=a))
    total = sum(getattr(v, f.name) for f in fields(v) if f.init)
    return total * parts["y"] + at[0] * last * mass + b * speed * is_dataclass(v) + is_dataclass(x)


@works("frozen dataclasses, cached properties", (0.5, 0.6))
def frozen_dataclasses(x, y):
    v = Vector(x, y)
    return (v @ Vector(y)) * v.norm * v.norm


@works("a dataclass as the argument", (Vector(0.5, 0.6),))
def dataclass_argument(v):
    return v @ v * v.norm


class Pair(NamedTuple):
    a: float
    b: float = 3.0

    def product(self):
        return self.a * self.b


@works("`NamedTuple`, `namedtuple`", (0.5, 0.6), expected=None)
def named_tuples(x, y):
    p = Pair(x)._replace(b=y)
    q = namedtuple("Q", "u v")(x, v=y)
    a, b = p
    return p.product() * q.u + a * q.v * p[1] + b


@works("`NamedTuple`, `namedtuple`", (0.5, 0.6))
def joined_named_tuples(x, y):
    p = Pair(x, y)
    a = p * 2 + (x * y,) + p
    return a[2] * a[4] + 3 * a[-1] * len(2 * p) + sum(p + p)


class Swapped(namedtuple("Swapped", "a b")):
    __slots__ = ()

    def __new__(cls, b, a, *, scale=2.0):
        return super().__new__(cls, a * scale, b)


@works("a named tuple with a `__new__` of its own", (0.5, 0.6))
def named_tuples_with_new(x, y):
    p = Swapped(x, y)
    q = Swapped(b=p.a, a=y, scale=x)._replace(b=x)
    first, second = q
    return p.a * p.a * p.b + first * second * q.a


class Mode(enum.Enum):
    LINEAR = 1
    SQUARE = 2


@works("enums", (0.5,))
def enums(x):
    y = 0.0
    for mode in Mode:
        y += x * mode.value if mode is Mode.LINEAR else x**2
    return y * (3.0 if Mode(1) is Mode.LINEAR else 1.0)


@works("functions in a dict, a list, a default", (0.5,))
def functions_as_values(x):
    table = {
        "sin": math.sin,
        "square": lambda v: v * v,
        "scale": functools.partial(operator.mul, x),
    }
    return sum(f(x) for f in table.values()) * table["scale"](2.0)


@works("a function composed from others", (0.5,))
def composition(x):
    def compose(*fs):
        return functools.reduce(lambda f, g: lambda v: f(g(v)), fs)

    return compose(math.sin, math.exp, lambda v: v * x)(x)


class Settings:
    """Its attributes are written and read."""

    scale = 1.0
    last = None


def read_settings(v):
    return Settings.scale * v + Settings().last


@works("class attributes are written", (0.5,))
def class_attributes_written(x):
    class Counter:
        total = 0.0

        def add(self, v):
            Counter.total += v * x
            type(self).total = self.total * 1.5

    for i in range(3):
        Counter().add(x + i)
    Settings.scale = x * 2.0
    Settings.last = x
    try:
        return Counter.total * read_settings(x) * Settings.last * read_settings(2.0)
    finally:
        Settings.scale = 1.0
        Settings.last = None


@works("a class attribute is hidden by an attribute of the object", (0.5,))
def class_attribute_hidden(x):
    class A:
        w = x

    a, b = A(), A()
    a.w = a.w * 2.0
    a.w += b.w
    setattr(A, "v", x * x)
    return a.w * b.w * A.w * getattr(A, "v") + getattr(A, "none", x)


@works("inheritance and `super()` of classes defined inside", (0.5,))
def inside_inheritance(x):
    class A:
        w = x * x

        def f(self):
            return self.w * 2.0

        @classmethod
        def g(cls, v):
            return cls.w * v

        @staticmethod
        def h(v):
            return v * x

        @property
        def p(self):
            return self.w + x

        @p.setter
        def p(self, v):
            self.w = v * x

    class B(A):
        w = A.w * 3.0

        def f(self):
            return super().f() + super().w * x

        @property
        def p(self):
            return super().p * 2.0

    a, b = A(), B()
    y = b.f() + b.g(x) + b.h(x) + b.p + B.g(2.0) + A.g(x)
    a.p = x
    return y * a.w


@works("decorators of classes and of methods defined inside", (0.5,))
def inside_decorators(x):
    def with_extra(cls):
        cls.extra = x * 5.0
        return cls

    def doubled(f):
        @functools.wraps(f)
        def g(self):
            return 2.0 * f(self) * x

        return g

    @with_extra
    class A:
        w = x

        @doubled
        def f(self):
            return self.w * self.extra

    return A().f()


@works("dataclasses defined inside, active defaults", (0.5,))
def inside_dataclass(x):
    @dataclass
    class P:
        a: float
        b: float = x * 2.0
        c: float = field(default=x * 3.0)
        d: list = field(default_factory=lambda: [x])

        def s(self):
            return self.a * self.b + self.c * self.d[0]

    @dataclass(frozen=True, order=True)
    class Q:
        a: float
        b: float = x

    @dataclass(slots=True)
    class R:
        a: float
        b: float = 3.0

        def s(self):
            return self.a * self.b * x

    return P(x).s() + P(x, b=2.0).s() + P.c + max(Q(x), Q(0.1)).b + R(x).s()


@works("classes made by `type`", (0.5,))
def made_by_type(x):
    made = type("Made", (Settings,), {"w": x, "f": lambda self: self.w * x})
    return made().f() * made.scale


@works("metaclasses: `__call__`, `__getattr__`, `__setattr__`, properties of classes", (0.5,))
def metaclass_methods(x):
    class Meta(type):
        def __call__(cls, *xs):
            made = super().__call__(*xs)
            made.extra = x * 2.0
            return made

        def __setattr__(cls, name, value):
            super().__setattr__(name, value * x)

        def __getattr__(cls, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return x * len(name)

        def __getitem__(cls, key):
            return key * x

        @property
        def third(cls):
            return x * 3.0

    class Made(metaclass=Meta):
        def __init__(self, v=1.0):
            self.v = v

    Made.w = x
    return Made(x).extra * Made().v + Made.w * Made.none + Made.third * Made[2.0]


@works("attributes of functions", (0.5,))
def function_attributes(x):
    def f():
        return f.k * 2.0

    f.k = x
    f.k += 1.0

    def counted(g):
        @functools.wraps(g)
        def h(*xs):
            h.calls += x
            return g(*xs) * h.calls

        h.calls = 0.0
        return h

    twice = counted(counted(lambda v: v * x))
    return f() * twice(x) + twice(2.0) * twice.calls


@works("`functools.singledispatchmethod`, `functools.partialmethod`", (0.5,))
def method_makers(x):
    class A:
        @functools.singledispatchmethod
        def f(self, v):
            return v * x

        @f.register
        def _(self, v: int):
            return v * x * 2.0

        def g(self, k, v):
            return k * v * x

        doubled = functools.partialmethod(g, 2.0)

    return A().f(3) + A().f(x) + A().doubled(x)


@refused("a metaclass that changes active attributes", "changes its attribute", (0.5,))
def changing_metaclass(x):
    class Meta(type):
        def __new__(mcs, name, bases, fields):
            fields["w"] = fields["w"] * 2.0
            return super().__new__(mcs, name, bases, fields)

    class Made(metaclass=Meta):
        w = x

    return Made.w


@refused("`__init_subclass__` of an active class", "runs while the class", (0.5,))
def active_init_subclass(x):
    class A:
        def __init_subclass__(cls, scale=1.0):
            cls.scale = scale

    class B(A, scale=x):
        pass

    return B.scale * x


@works("metaclasses and class attributes", (0.5,))
def class_attributes(x):
    class Base:
        k = 2.0

        def f(self, v):
            return self.k * v

    class Derived(Base):
        k = x

    return Base().f(x) + Derived().f(x)


@works("`__new__`", (0.5,))
def new_method(x):
    class Made:
        def __new__(cls, v):
            self = super().__new__(cls)
            self.v = v * x
            return self

    return Made(x).v


@works("`__init_subclass__`, `__class_getitem__`", (0.5,))
def subclass_hooks(x):
    class Registered:
        known = []

        def __init_subclass__(cls, **kws):
            super().__init_subclass__(**kws)
            cls.known.append(cls)

        def __init__(self, v):
            self.v = v

    class One(Registered):
        pass

    return One.known[0](x * x).v


@works("`getattr`, `setattr`, `hasattr`, `vars`", (0.5,))
def attribute_functions(x):
    a = Account(x)
    setattr(a, "extra", x * x)
    return getattr(a, "extra") * getattr(a, "_balance") + (x if hasattr(a, "nothing") else 2.0)


@works("a class that inherits from `list` or `dict`", (0.5,))
def builtin_subclasses(x):
    class Stack(list):
        def push(self, v):
            self.append(v)
            return self

    class Table(dict):
        def __missing__(self, key):
            return x * 2.0

    return Stack().push(x).push(x * x)[1] * Table(a=x)["a"] + Table()["b"]


@works("builtins of numbers: `abs`, `pow`, `round`, `divmod`, `float`, `int`", (0.74,))
def number_builtins(x):
    return abs(-x) * pow(x, 2) + float(x) * round(x) + x * int(x * 10) + divmod(x * 10, 3)[1]


@works("complex numbers on the way", (0.7,))
def complex_numbers(x):
    z = complex(x, x * x)
    w = z * z.conjugate() + z * 1j
    return w.real + w.imag * x + abs(z)


class Doubling(list):
    """A list that hands out twice what it holds, and takes half of it back."""

    def __iter__(self):
        for i in range(len(self)):
            yield self[i] * 2.0

    def append(self, value):
        super().append(value * 0.5)
        super().append(value)

    def pop(self, *place):
        return super().pop(*place) * 3.0


class Halving(list):
    def __getitem__(self, i):
        return super().__getitem__(i) * 0.5


class Counting(dict):
    """A dict that counts how often its own methods were called."""

    calls = 0

    def pop(self, key, *default):
        self.calls = self.calls + 1
        return super().pop(key, *default)

    def setdefault(self, key, default=None):
        self.calls = self.calls + 1
        return super().setdefault(key, default)


@works("a class that inherits from `list` or `dict` and overrides its methods", (0.5, 0.6))
def own_list_methods(x, y):
    doubling = Doubling([x, y])
    a, b = doubling
    doubling.append(x * y)
    total = sum(doubling) + max(doubling) * a + math.prod(doubling) * b
    total += list.copy(doubling)[0] * doubling.copy()[1]  # which walk over what it holds
    return total * doubling.pop() + sum(list(doubling))


@works("a class that inherits from `list` or `dict` and overrides its methods", (0.5, 0.6))
def own_getitem_is_not_iteration(x, y):
    halving, total = Halving([x, y]), 1.0
    for z in halving:
        total = total * z
    a, b = halving
    return total + a * halving[0] + max(*halving) * b


@works("a class that inherits from `list` or `dict` and overrides its methods", (0.5, 0.6))
def own_dict_methods(x, y):
    table = Counting(a=x, b=y)
    first = table.pop("a")
    second = table.setdefault("c", x * y)
    return first * second * table.setdefault("b", 1.0) * table.calls


@dataclass(order=True)
class Ordered:
    key: float
    held: list = field(default_factory=list)

    def __post_init__(self):
        self.held.append(self.key * 2.0)


@works("comparisons of dataclasses", (0.5, 0.6), (0.9, 0.2))
def dataclass_comparisons(x, y):
    a, b = Ordered(x), Ordered(y)
    best = max([a, b])
    total = best.held[0] * (2.0 if a < b else 3.0) * (5.0 if a == Ordered(x) else 7.0)
    return total + sorted([a, b])[0].held[0] * min(a, b).key


class Amount:
    """Something that adds up, compares, and divides in its own way."""

    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return Amount(self.v + getattr(other, "v", other))

    __radd__ = __add__

    def __divmod__(self, other):
        return self.v * other, self.v + other

    def __rdivmod__(self, other):
        return other * 2.0, self.v

    def __complex__(self):
        return complex(self.v, 2.0)

    def __contains__(self, v):
        return 7.0 if v > self.v else 0.0

    def __lt__(self, other):
        return self.v < other.v

    def __gt__(self, other):
        return self.v > other.v


class Larger(Amount):
    def __gt__(self, other):
        return self.v * 3.0 > other.v


@works("`sum` of objects, `divmod`, `complex`, `in` of user classes", (0.5, 0.6))
def more_operators(x, y):
    a, b = Amount(x), Amount(y)
    q, r = divmod(a, y)
    s, t = divmod(x, b)
    total = sum([a, b]).v * sum((a, b), Amount(y)).v + q * r + s * t
    return total + abs(complex(a)) + (y in a) * x + (x in b) * y


@works("comparisons ask a subclass first", (0.5, 0.6))
def compared_with_subclass(x, y):
    return (x if Amount(2.0 * x) < Larger(y) else y * y) * (y if Larger(y) < Amount(x) else 3.0 * x)


@works("keywords named as positional-only parameters", (0.5, 0.6))
def keyword_as_positional_only(x, y):
    def f(a, b=2.0, /, *c, **kws):
        return a * b * kws["a"] + sum(c) * kws.get("b", 3.0) * kws.get("c", 5.0)

    counts = Counter(self=x, y=y)
    return f(x, a=y) + f(y, x, x * y, a=x, b=y, c=x * x) + counts["self"] * counts["y"]


@works("variables named as those of the engine", (0.5, 0.6))
def names_of_the_engine(tape, nodes):
    tape_ = tape * nodes
    nodes_, t1, dx, back, x_ = tape_ + tape, tape * 2.0, nodes, tape_, 3.0 * nodes
    for _ in range(2):
        tape_ = tape_ * t1 + dx * back
    return tape_ * nodes_ * x_


tape, nodes, t1 = 2.0, [3.0], -1.5


@works("variables named as those of the engine", (0.5,))
def globals_named_as_those_of_the_engine(x):
    y = x * x
    return t1 * (y + x * tape) + nodes[0] * y


class Form(abc.ABC):
    """An abstract class whose comparison calls methods through `super()`."""

    @abc.abstractmethod
    def area(self): ...

    def __lt__(self, other):
        return self.area() < other.area()


class Square(Form):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2


class Doubled(Square):
    def area(self):
        return super().area() * 2.0


@works("abstract classes: `isinstance`, sorting", (0.5, 0.6))
def abstract_classes(x, y):
    forms = sorted([Doubled(x), Square(y), Square(x * y)])
    return forms[0].side * forms[2].area() * (x if isinstance(forms[1], Form) else 1.0)


@works("`type(name, bases, dict)`, enumerations, whose methods use variables", (0.5,))
def classes_made_by_calls(x):
    made = type("Made", (), {"f": lambda self: x * self.k, "k": x * x})

    class Level(enum.Enum):
        LOW = 1
        HIGH = 2

        def scaled(self):
            return x * self.value

        @property
        def squared(self):
            return x**self.value

    assert made.__module__ == __name__
    return made().f() + Level.HIGH.scaled() * Level.HIGH.squared


@works("attributes of modules that are made inside", (0.5,))
def attributes_of_a_module(x):
    module = types.ModuleType("made")
    vars(module)["v"] = x * x
    module.__dict__.update(w=x)
    return module.v * module.w
