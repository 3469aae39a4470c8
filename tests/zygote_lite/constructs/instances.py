"""Making instances: which `__init__` follows a `__new__`, and what it is given."""

from dataclasses import dataclass

from tests.zygote_lite.constructs.declare import declaring

CASES = []
works, refused = declaring(CASES)


class Shape:
    """A class that makes objects of its subclasses."""

    def __new__(cls, kind, size):
        return object.__new__(Square if kind == "square" else Disk)

    def __init__(self, kind, size):
        self.size = size


class Square(Shape):
    def __init__(self, kind, size):
        super().__init__(kind, size * 2.0)

    def area(self):
        return self.size**2


class Disk(Shape):
    def area(self):
        return 3.0 * self.size**2


@works("`__new__` that returns an object of a subclass", (0.7,))
def new_of_a_subclass(x):
    return Shape("square", x).area() + Shape(kind="disk", size=x * x).area()


class Base:
    """A class without `__init__`, whose `__new__` has called that of the subclass already."""

    def __new__(cls, x, y=3.0):
        return Derived(x, x * 2.0) if cls is Base else object.__new__(cls)


class Derived(Base):
    def __init__(self, x, y=1.0):
        self.v = x * y + getattr(self, "v", 0.0)


@works("`__init__` that runs twice, by `__new__` and after it", (0.7,))
def init_twice(x):
    return Base(x).v * x


class Lonely:
    def __new__(cls, x):
        return Derived(x, x)


@works("`__new__` that returns an object of another class: no `__init__`", (0.7,))
def new_of_another_class(x):
    return Lonely(x).v * x


@dataclass
class Point:
    x: float
    y: float = 2.0

    def __new__(cls, *args, **kws):
        return object.__new__(Point3 if cls is Point else cls)


@dataclass
class Point3(Point):
    z: float = 3.0

    def __post_init__(self):
        self.z = self.z * self.x


@works("`__new__` of a dataclass that returns an object of a subclass", (0.7,))
def new_of_a_dataclass(x):
    return Point(x).z * Point(x, y=x).y + Point3(x, x, x).z


class Doubled(list):
    """A list that fills itself by the `__init__` of `list`, and one that adds to it."""

    def __new__(cls, xs):
        return list.__new__(DoubledMore if len(xs) > 2 else cls)


class DoubledMore(Doubled):
    def __init__(self, xs):
        super().__init__(xs)
        self.append(xs[0] * 2.0)


@works("`__new__` of a class that inherits from `list`", (0.7,))
def new_of_a_list(x):
    return sum(Doubled([x, x * x])) * sum(Doubled([x, x, x]))


class Registry(type):
    def __call__(cls, *xs):
        return super().__call__(*xs)


class Kept(metaclass=Registry):
    def __new__(cls, x):
        return object.__new__(KeptMore if cls is Kept else cls)

    def __init__(self, x):
        self.v = x


class KeptMore(Kept):
    def __init__(self, x):
        self.v = x * x


@works("`__call__` of a metaclass, and `__new__` that returns an object of a subclass", (0.7,))
def new_under_a_metaclass(x):
    return Kept(x).v * x
