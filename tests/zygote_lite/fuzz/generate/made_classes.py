"""Random programs with classes defined inside: their methods capture variables and write."""

import abc
import functools
import random
from dataclasses import dataclass, field

from tests.zygote_lite.checks import texts
from tests.zygote_lite.fuzz.generate import instances

SPACE = {
    **instances.SPACE,
    "abc": abc,
    "dataclass": dataclass,
    "field": field,
    "functools": functools,
    "Outside": instances.Vec,
}


def program(seed):
    """Return the text of the program of a number."""
    author = Author(random.Random(seed))
    lines = [*author.setting(), *author.classes(), "o0 = Vec(x, y)", "p0 = Pt(y)"]
    for _ in range(author.source.randint(4, 9)):
        lines += author.statement(0)
    total = " + ".join(f"{o}.a * {i + 1} + {o}.b" for i, o in enumerate(author.objects))
    points = " + ".join(f"{p}.a" for p in author.points)
    lines.append(f"return {total} + {points} + Vec.scale * Sub.scale + Vec.total + k")
    return instances.HEADER + "".join(f"    {line}\n" for line in lines)


def load(seed):
    """Return the function of a number."""
    return texts.load(program(seed), f"<program of classes {seed}>", **SPACE)


arguments = instances.arguments


def indented(lines):
    """Return lines as those of a block."""
    return [f"    {line}" for line in lines]


class Author(instances.Author):
    """Write classes, and statements about their objects and about themselves."""

    def setting(self):
        """Return what the methods of the classes capture."""
        lines = [f"w = {self.pick('x', 'y', '2.0')}", f"k = {self.pick('x', '0.5', 'y * 0.5')}"]
        if self.source.random() < 0.3:
            lines.append("xs = [x, 2.0]")
            return [*lines, f"w = xs[{self.pick('0', '1', 'n % 2')}]"]
        return lines

    def classes(self):
        first = self.defined("Vec", self.pick("", "(abc.ABC)", "(Outside)", "()"))
        second = self.defined("Sub", self.pick("(Vec)", "(Vec)", "(Outside)"), below=True)
        if self.source.random() < 0.2:
            first = ["def make(w):", *indented([*first, "return Vec"]), "Vec = make(y * 0.5)"]
        return first + second + self.record()

    def record(self):
        """Return a dataclass, which says at times how its attributes are set."""
        options = self.pick("", "()", "(order=True)", "(eq=False)")
        lines = [f"@dataclass{options}", "class State:", "    a: float",
                 f"    b: float = {self.pick('0.75', 'w', 'field(default=k)')}"]  # fmt: skip
        if self.source.random() < 0.3:
            lines.append("    c: list = field(default_factory=lambda: [k, w], compare=False)")
        if self.source.random() < 0.3:
            lines += ["    def __setattr__(self, name, value):",
                      "        value = value if name == 'c' else value * 0.9",
                      "        super().__setattr__(name, value)"]  # fmt: skip
        if self.source.random() < 0.3:
            lines += ["    def __post_init__(self):", "        self.a = self.a * w"]
        return [
            *lines,
            "    def push(self, by):",
            "        self.b = self.b * 0.5 + by",
            "        return by",
        ]

    def defined(self, name, bases, below=False):
        """Return a class: its attributes, and methods that say the same by other means."""
        head = [f"scale = {self.pick('0.5', 'x', 'w * 0.5')}", "total = 0.0"]
        if self.source.random() < 0.3:
            head += [f"if {self.pick('n > 2', 'x > y', 'n % 2')}:", "    scale = scale * 0.5"]
        if self.source.random() < 0.3:
            head = ["w = y", *head, "inner = [w * i for i in range(2)]"]
        init = ["self.a, self.b = a, b"]
        if below and self.source.random() < 0.7:
            init = ["super().__init__(a, b)", "self.count = 0"]
        methods = [
            ["def __init__(self, a, b=0.25):", *indented(init)],
            ["def push(self, by):", *indented(self.body(name, below)), "    return self.b"],
            ["def other(self):", f"    return {self.pick('Vec', 'type(self)')}(self.b, self.a)"],
            self.size(),
            ["def __add__(self, other):",
             f"    return {name}(self.a + other.a, {self.pick('k', 'self.b')} - other.b)"],
            ["def __mul__(self, factor):",
             f"    return {self.pick('type(self)', 'self.__class__')}(self.a * factor, self.b)"],
            ["def __call__(self, x):", "    return self.a * x + self.b * w"],
            *self.hooks(),
        ]  # fmt: skip
        kept = [m for m in methods if not below or self.source.random() < 0.6]
        lines = [line for method in kept for line in method]
        return [f"class {name}{bases}:", *indented([*head, *lines])]

    def body(self, name, below):
        """Return what a method does that writes."""
        options = [
            ["self.a = 0.5 * self.a + 0.1 * by"],
            [f"{name}.total = {name}.total + 0.1 * by"],
            ["type(self).scale = self.scale * 0.5 + 0.1 * by"],
            ["self.scale = self.scale * 0.5"],
            ["nonlocal k", "k = k * 0.5 + 0.1 * by"],
            ["if by > 0.5:", "    self.a, self.b = self.b, self.a"],
            ["if by > 3.0:", "    raise ValueError(by)"],
            ["for i in range(n):", "    self.b = self.b * 0.5 + 0.1 * i * w"],
            *([["super().push(by * w)"]] if below else []),
        ]
        chosen = self.source.sample(options, self.source.randint(1, 3))
        return [line for lines in sorted(chosen, key=lambda x: "nonlocal" not in x[0])
                for line in lines]  # fmt: skip

    def size(self):
        """Return a property, or a descriptor that does the same."""
        setter = ["@size.setter", "def size(self, value):", "    self.b = math.tanh(value)"]
        read = ["def size(self):", "    return self.a * self.a + self.b * k"]
        if self.source.random() < 0.2:
            return ["@functools.cached_property", *read]
        return ["@property", *read, *setter]

    def hooks(self):
        options = [
            ["def __setattr__(self, name, value):",
             "    object.__setattr__(self, name, value if name == 'count' else value * 0.9)"],
            ["def __getattr__(self, name):",
             "    if name != 'extra':", "        raise AttributeError(name)", "    return k * 2.0"],
            ["def __delattr__(self, name):", "    super().__delattr__(name)"],
            ["@classmethod", "def made(cls, by):", "    cls.total += by", "    return cls(by)"],
            ["@staticmethod", "def doubled(by):", "    return 2.0 * by * w"],
            ["def __new__(cls, *xs, **kws):", "    return super().__new__(cls)"],
        ]  # fmt: skip
        return self.source.sample(options, self.source.randint(0, 2))

    def statement(self, depth):
        if self.source.random() > 0.3:
            return super().statement(depth)
        o, kind = self.source.choice(self.objects), self.pick("Vec", "Sub")
        return self.pick(
            [f"{kind}.scale = {self.number()}"], [f"{kind}.total += 0.1 * {self.number()}"],
            [f"{o}.scale = {self.number()} * 0.5"], [f"k = k * 0.5 + {self.number()} * 0.1"],
            [f"{o}.size = {self.number()}"], [f"{o}.a = {o}(0.5)"], [f"{o}.b = {kind}.scale"],
            [f"setattr({kind}, 'total', {self.number()})"], [f"{o}.extra = {self.number()}"],
            [f"k = k + 0.1 * (State({self.number()}) {self.pick('<', '==', '!=', '>=')} State(x))"],
            [f"{o}.b = max(State({self.number()}), State({self.number()})).a"],
            [f"if hasattr({o}, 'extra'):", f"    del {o}.extra"],
            [f"{o}.a = {o}.made({self.number()}).a if hasattr({o}, 'made') else k"],
            [f"{o}.b = getattr({o}, 'doubled', abs)({self.number()})"],
            [f"k = k + 0.1 * issubclass({kind}, Vec) + 0.1 * isinstance({o}, {kind})"],
        )  # fmt: skip
