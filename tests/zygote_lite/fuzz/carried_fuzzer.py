"""Random programs that carry an array or a container somewhere, and write before and after.

A program is a value, what is made of it (an alias, a view, a copy), a way to carry that, and writes
to any of the three, each as it stands or within a loop, a branch or a `try`. The value, the
gradient of three calls and on the tape, and the tangent are compared with the plain function and
its finite differences; where the plain function raises an error, so must they.
`python -m tests.zygote_lite.fuzz.carried_fuzzer COUNT FIRST` runs COUNT programs from FIRST on.
"""

import collections
import linecache
import random
import re
import sys
import textwrap
import warnings

import numpy as np

from zygote_lite import DifferentiationError, jvp, testing, value_and_grad

X, V = np.array([0.31, 1.17, 0.72, 0.93]), np.array([0.5, -1.0, 0.25, 2.0])
STEP = 1e-6
HEAD = """
import collections, contextlib, copy, dataclasses, functools, heapq, itertools, operator, types
import weakref
import numpy as np

WEIGHTS = np.arange(1.0, 60.0)

def flat(v):
    if isinstance(v, dict):
        return [q for k in v for q in flat(v[k])]
    if isinstance(v, (list, tuple, collections.deque)):
        return [q for part in v for q in flat(part)]
    return [v]

def read(*values):
    total = 0.0
    for number, value in enumerate(values):
        for k, part in enumerate(flat(value)):
            part = np.asarray(part)
            weights = WEIGHTS[:part.size].reshape(part.shape)
            total = total + np.sum(np.sin(part) * weights + part * part) * (1 + k + 0.3 * number)
    return total
"""
ARRAYS = """
y = x * 1.0
y = np.array([x[0], x[1] * x[2], x[2], x[3]])
y = np.zeros(4); y[:] = x; y[1] *= x[0]
y = np.zeros((2, 2)); y[0] = x[:2]; y[1] = x[2:] * x[0]
y = (x + 0.0)[::-1]
"""
LISTS = """
y = [x[0], x[1] * x[2], x[2], x[3]]
y = x.tolist()
y = collections.deque([x[0] * 1.5, x[1], x[2], x[3]])
y = [x[:2] * 1.0, x[2:] * x[0]]
"""
OF_ARRAYS = """y|y[:]|y.T|y.reshape(-1)|y.ravel()|y.copy()|np.flip(y)|[y, y]|(y, y)|y[1:]
|[y[:1], y[1:]]|np.split(y, 2)[1]|y.view()|[*y]|y.reshape(2, 2)[:, 0]|np.atleast_2d(y)
|y[y > -9]|{"k": y, "m": y}"""
OF_LISTS = """y|list(y)|tuple(y)|[y, y]|{"k": y}|list(reversed(y))|copy.copy(y)|copy.deepcopy(y)
|[v for v in y]|list(zip(y, y))|np.array(y)|collections.deque(y)|iter(list(y))|y * 2"""
WRITES_OF_ARRAYS = """v[0] = v[0] * x[1]|v *= 2.0|v += x|v[...] = np.sin(v)|np.add(v, x[1], out=v)
|v[:1], v[1:2] = v[1:2].copy(), v[:1].copy()|v.sort()|v.fill(x[2])|v[[0, -1]] = x[0] * x[1]
|np.add.at(v, [0, 0], x[1])|v[:] = v[::-1]|np.cumsum(v, out=v)|np.copyto(v, v * x[0])
|np.add.reduce(np.array([v, v]), axis=0, out=v)|np.maximum.accumulate(v, out=v)"""
WRITES_OF_LISTS = """v[0] = v[0] * x[1]|v.append(x[1] * x[2])|v[0], v[-1] = v[-1], v[0]|del v[0]
|v.pop()|v += [x[0] * x[3]]|v += x|v.reverse()|v.insert(0, x[3] * x[0])|v *= 2|v.sort()|v.extend(v)
|v[:] = [q * 2 for q in v]|v.append(v.pop(0))|v[0] += x[1]|v.__init__(x)|v.clear()"""
WITHIN = ("{}", "for _ in range(2):\n    {}", "if x[0] > 0:\n    {}",
          "try:\n    {}\nexcept (ValueError, IndexError): pass",
          "try:\n    {}\n    raise KeyError\nexcept KeyError: pass",
          "for i in range(3):\n    if i == 1: continue\n    {}")  # fmt: skip
CARRIED = """
u = t

u = (lambda: t)()

def g(v=t, *, w=None): return v
u = g()

class C: a = t
u = C().a

class C:
    __slots__ = ("v",)
    def __init__(self, v): self.v = v
    @property
    def value(self): return self.v
u = C(t).value

class C:
    def __getattr__(self, name): return self.__dict__["q"]
c = C(); c.q = t; u = c.anything

class C:
    def __set_name__(self, owner, name): self.name = "_" + name
    def __get__(self, owner, cls=None): return getattr(owner, self.name)
    def __set__(self, owner, v): setattr(owner, self.name, v)
class D: v = C()
d = D(); d.v = t; u = d.v

@dataclasses.dataclass
class C: v: object
u = dataclasses.replace(C(t)).v

u = collections.namedtuple("C", "v w")(t, 1)._replace(w=2).v

def g():
    v = yield
    yield v
it = g(); next(it); u = it.send(t)

def g(): return (yield 1) or t
def h(): yield (yield from g())
u = list(h())[1]

def g(v, n): return v if n == 0 else g(v, n - 1)
u = g(t, 3)

z = None
def g():
    nonlocal z
    z = t
g(); u = z

u = functools.partial(lambda a, b: b, 1)(t)

@contextlib.contextmanager
def g(v): yield v
with g(t) as u: pass

try: raise ValueError(t)
except ValueError as e: u = e.args[0]

match [1, {"k": t}]:
    case [1, {"k": u}]: pass

u = (lambda *a, **k: k["v"])(*[1], **{"v": t})

_, *rest = [1, t]; u = rest[0]

class M(type):
    def __call__(cls, *a): return a[0]
class C(metaclass=M): pass
u = C(t)

class C: pass
c = C(); c.v = t; u = weakref.ref(c)().v

class C: pass
c = C(); c.v = t; u = copy.copy(c).v

class C: pass
c = C(); c.v = t; u = copy.deepcopy(c).v

a, b = itertools.tee([t]); next(a); u = next(b)

h = [(1, 0, t)]; heapq.heappush(h, (0, 1, t)); u = heapq.heappop(h)[2]

u = sorted([(1, t), (0, t)], key=operator.itemgetter(0))[0][1]

class C:
    def __iadd__(self, other): self.v = other; return self
c = C(); c += t; u = c.v

def g(v):
    try: return v
    finally: v = None
u = g(t)
"""


def lines_of(text, by="\n"):
    return [part.strip("\n") for part in text.split(by) if part.strip()]


def program(seed):
    """Return the text of a program."""
    choose = random.Random(seed)
    of_arrays = choose.random() < 0.5
    start = choose.choice(lines_of(ARRAYS if of_arrays else LISTS))
    made = choose.choice(lines_of(OF_ARRAYS if of_arrays else OF_LISTS, "|"))
    body = [start, f"t = {made}"]
    for names, step in (("yt", choose.choice(lines_of(CARRIED, "\n\n"))), ("ytu", ""), ("ytu", "")):
        of = of_arrays if choose.random() < 0.8 else not of_arrays
        write = choose.choice(lines_of(WRITES_OF_ARRAYS if of else WRITES_OF_LISTS, "|"))
        write = re.sub(r"\bv\b", choose.choice(names), write)
        if choose.random() < 0.7:
            body.append(choose.choice(WITHIN).format(write))
        body.append(step)
    body = "\n".join([*body, "return read(y, t, u)"])
    return f"{HEAD}\ndef f(x):\n{textwrap.indent(body, '    ')}\n"


def made(seed):
    """Return the function of a program."""
    text, path = program(seed), f"<carried {seed}>"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    space = {"__name__": "carried"}
    exec(compile(text, path, "exec"), space)
    return space["f"]


def attempt(f, *xs):
    try:
        return f(*xs)
    except DifferentiationError:
        return None
    except Exception as error:
        return error


def wrong(seed):
    """Return what is wrong with a program, and whether all of it is answered."""
    f = made(seed)
    value = attempt(f, X.copy())
    slopes = None
    if not isinstance(value, Exception):
        slopes = [(f(X + d) - f(X - d)) / (2 * STEP) for d in STEP * np.eye(4)]
    both = value_and_grad(f)
    with testing.recorded_only():
        found = [("tape", attempt(value_and_grad(f), X.copy()))]
    found += [(f"call {i}", attempt(both, X.copy())) for i in range(3)]
    found.append(("jvp", attempt(jvp, f, (X.copy(),), (V,))))
    for name, answer in found:
        if answer is None:
            continue
        if isinstance(answer, Exception) or slopes is None:
            if type(answer) is not type(value) and not isinstance(answer, type(value)):
                return f"{seed} {name}: {answer!r}, and not {value!r}", False
            continue
        expected = slopes if name != "jvp" else np.dot(slopes, V)
        dx = 0.0 if answer[1] is None else answer[1]
        if not np.allclose(answer[0], value) or not np.allclose(dx, expected, 1e-4, 1e-4):
            return f"{seed} {name}: {answer}, and not {value, expected}", False
    return "", all(answer is not None for _, answer in found)


def run(count, first):
    """Run programs; return how many were answered and refused, and what is wrong."""
    counts, faults = collections.Counter(), []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for seed in range(first, first + count):
            fault, is_answered = wrong(seed)
            counts["wrong" if fault else "answered" if is_answered else "refused"] += 1
            faults += [fault] if fault else []
    return counts, faults


if __name__ == "__main__":
    counts, faults = run(int(sys.argv[1]), int((*sys.argv, 0)[2]))
    print(*faults, dict(counts), sep="\n")
    sys.exit(bool(faults))
