"""Statements: branches, loops, jumps, exceptions, `with`, `match`, names."""

import contextlib
import math
import sys
from typing import NamedTuple

import numpy as np
import scipy.special

from tests.zygote_lite.constructs.declare import declaring

CASES = []
works, refused = declaring(CASES)
sin, cos, exp = math.sin, math.cos, math.exp
SCALE = 1.7


def _(x):
    """Stand for what programs call `_`, such as `gettext`."""
    return x * 5.0


class Ahead(NamedTuple):
    """A pattern's class: it has `__match_args__`."""

    along: float
    across: float


class Turned(NamedTuple):
    """Another one."""

    angle: float


@works("`if` / `elif` / `else`", (1.5,), (0.5,), (-0.5,))
def branches(x):
    if x > 1.0:
        y = x * x
    elif x > 0.0:
        y = sin(x)
    else:
        y = x**3
    return y * x


@works("`if` without `else`", (1.5,), (-0.5,))
def branch_alone(x):
    y = x
    if x > 0.0:
        y = y * y
    return y * x


@works("nested `if`", (0.3, 0.4), (0.3, -0.4), (-0.3, 0.4))
def branches_nested(x, y):
    z = x
    if x > 0:
        z = z * y
        if y > 0:
            z = z * z
        else:
            z = z + x
    return z * y


@works("conditional expression", (1.5,), (-0.5,))
def conditional_expression(x):
    return (x * x if x > 0 else sin(x)) * (2.0 if x > 1 else x)


@works("a variable that is `None` or a number", (1.5,), (0.3,), (-0.2,))
def none_or_number(x):
    least = last = None
    for i in range(1, 4):
        y = (x * i - 1.0) ** 2
        if least is None or y < least:
            least = y
        if y > 0.5:
            last = y * x
    return least if last is None else least + last


@works("values of `and`, `or`, `not`", (1.5, None), (None, 2.0), (1.5, 2.0))
def and_or(x, y):
    a = x or y
    b = x and y
    c = (not x and y) or x
    return a * a + (b or 1.0) * (y or 0.5) + c


@works("chained comparison", (0.5,), (1.5,), (-1.0,))
def chained_comparison(x):
    return x * x if 0.0 < x < 1.0 <= 2.0 else sin(x)


@works("chained comparison", (0.5,))
def chained_comparison_calls_once(x):
    calls = []

    def middle():
        calls.append(1)
        return x

    y = x * x if 0.0 < middle() < 1.0 else 0.0
    return y * len(calls)


@works("`for` over a range", (0.7,))
def for_range(x):
    y = 1.0
    for i in range(4):
        y = y * x + i
    return y


@works("`for` over a range", (0.7,))
def for_range_empty(x):
    y = x
    for i in range(0):
        y = y * x
    return y


@works("`while`", (0.7,), (1.2,))
def while_loop(x):
    y = x
    while y < 5.0:
        y = y * 2.0 + x
    return y


@works("`for` with `else`", (0.7,), (1.7,))
def for_else(x):
    y = x
    for i in range(4):
        y = y * x
        if y > 2.0:
            break
    else:
        y = sin(y)
    return y


@works("`while` with `else`", (0.7,), (1.7,))
def while_else(x):
    i, y = 0, x
    while i < 4:
        i += 1
        y = y * x
        if y > 2.0:
            break
    else:
        y = y * y
    return y * x


@works("`break`", (0.7,), (3.0,))
def breaks(x):
    y = x
    for i in range(10):
        if y > 2.5:
            break
        y = y + x * i
    return y * x


@works("`continue`", (0.7,))
def continues(x):
    y = x
    for i in range(6):
        if i % 2:
            continue
        y = y * x + i
    return y


@works("`continue`", (0.7,))
def while_continue(x):
    y, i = x, 0
    while i < 6:
        i += 1
        if i == 3:
            continue
        y = y + x**i
    return y


@works("`return` anywhere", (0.7,), (1.5,), (-1.0,))
def early_return(x):
    if x < 0:
        return x * x
    for i in range(5):
        x = x * 1.5
        if x > 2.0:
            return sin(x)
    return x * 3.0


@works("`return` anywhere", (0.7,))
def return_from_nested_loops(x):
    y = x
    for i in range(3):
        for j in range(3):
            y = y + x * j
            if y > 3.0:
                return y * y
    return y


@works("nested loops with `break` and `continue`", (0.7,))
def nested_loops(x):
    y = x
    for i in range(4):
        for j in range(i):
            if j == 2:
                break
            if i == 1:
                continue
            y = y + x * y * 0.1
        y = y * x + j if i else y
    return y


@works("loop-carried swap", (0.5, 0.6))
def loop_swap(x, y):
    for _ in range(3):
        x, y = y, x * y
    return x - 2.0 * y


@works("loop-carried rotation", (0.5, 0.6, 0.7))
def loop_rotation(a, b, c):
    for i in range(4):
        a, b, c = b * c, c, a + i
    return a * 3.0 + b * b - c


@works("loop variable after the loop", (0.5,))
def loop_variable_after(x):
    for y in [x, x * x, 3.0 * x]:
        pass
    return y * x


@works("loop variable is rebound", (0.5,))
def loop_variable_rebound(x):
    total = 0.0
    for y in (x, 2.0 * x):
        y = y * y
        total += y
    return total


@works("a name that hides an argument", (0.5,))
def rebound_argument(x):
    x = x * x
    x = sin(x) * x
    return x


@works("`try` / `except`", (0.5,), (-0.5,))
def try_except(x):
    try:
        y = math.sqrt(x)
    except ValueError:
        y = x * x
    return y * x


@works("exception in the middle of a statement list", (0.5,), (-0.5,))
def raise_in_the_middle(x):
    y = x
    try:
        y = y * 3.0
        z = math.log(x)
        y = y * z
    except ValueError as e:
        y = y * x
    return y


@works("exception in the middle of a statement list", (0.5,))
def raise_in_a_loop(x):
    y, k = x, [3.0, 2.0, 0.0, 1.0]
    for v in k:
        try:
            y = y * 2.0
            y = y + x / v
            y = y * x
        except ZeroDivisionError:
            y = y * y
    return y


@works("`try` / `except`", (0.5, [0.6, 0.7]))
def reads_in_try(x, items):
    try:
        x -= items[1]
        y = items[0] * x
    except ValueError:
        y = x
    try:
        y = y * items[1]
    finally:
        pass
    return y * x


@works("`try` / `except`", ([0.6, 0.7, 0.8],))
def slices_in_try(items):
    try:
        y = items[1:]
    except ValueError:
        y = items[::-1]
    return y[0] * y[1] * items[0]


@works("`try` / `except` / `else` / `finally`", (0.5,), (-0.5,))
def try_all(x):
    y = x
    try:
        y = y * math.sqrt(x)
    except ValueError:
        y = y * y
    else:
        y = sin(y)
    finally:
        y = y * 3.0 + x
    return y


@works(
    "a comprehension, a generator, a function in `finally`", (0.5, [0.6, 0.7]), (-0.5, [0.6, 0.7])
)
def comprehension_in_finally(x, items):
    y = x
    try:
        y = y * math.sqrt(x)
    except ValueError:
        y = y * items[0]
    finally:
        y = y * sum(t * x for t in items) + sum([t * y for t in items])
        f = lambda v: v * y
    return f(y)


@works("`finally` with `return`", (0.5,))
def return_in_finally(x):
    y = x * x

    def inner():
        nonlocal y
        try:
            return y * 2.0
        finally:
            y = y * 3.0

    z = inner()
    return z * y


@works("`return` in `try` inside a loop", (0.5,))
def return_in_try_in_loop(x):
    y = x
    for i in range(4):
        try:
            if i == 2:
                return y * y
            y = y * x + 1.0
        finally:
            y = y * 2.0
    return y


@works("`break` and `continue` through `finally`", (0.5,))
def break_through_finally(x):
    y = x
    for i in range(5):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            y = y * x
        finally:
            y = y + x * i
    return y


@works("nested `try`, raising again", (-0.5,), (0.5,))
def nested_try(x):
    y = x
    try:
        try:
            y = y * 2.0
            y = y * math.log(x)
        except ValueError:
            y = y * x
            raise KeyError("again") from None
        finally:
            y = y + 1.0
    except KeyError:
        y = y * y
    return y


@works("exception raised by a callee", (0.5,), (1.5,))
def raise_in_callee(x):
    state = {"y": x}

    def step(v):
        state["y"] = state["y"] * v
        if v > 1.0:
            raise ValueError(v)
        return v * v

    try:
        z = step(x)
    except ValueError:
        z = 2.0 * x
    return z * state["y"]


@works("the value in an exception", (0.5,))
def value_in_exception(x):
    class Found(Exception):
        def __init__(self, value):
            self.value = value

    try:
        raise Found(x * x)
    except Found as e:
        return e.value * x


@works("`except` of several kinds, by position", (0.0,), (2.0,))
def except_several(x):
    table = {0.0: 1.0}
    try:
        y = x / table[x * 0.0]
        z = table[x]
    except (KeyError, IndexError):
        z = x * x
    return z + y * x


@works("`except*`", (0.5,))
def except_star(x):
    y = x
    try:
        y = y * x
        raise ExceptionGroup("several", [ValueError(x * 2.0), TypeError(x * 3.0), KeyError(y)])
    except* ValueError as group:
        y = y * 3.0 + group.exceptions[0].args[0]
    except* (TypeError, KeyError) as group:
        for e in group.exceptions:
            y = y + e.args[0] * x
    else:
        y = 1000.0
    finally:
        y = y * x
    return y


@works("`except*`", (0.5,))
def except_star_nested(x):
    y = x
    try:
        try:
            inner = ExceptionGroup("inner", [TypeError(x * 2.0), ValueError(x * x)])
            raise ExceptionGroup("outer", [ValueError(x), inner])
        except* TypeError as group:
            y = y * group.exceptions[0].exceptions[0].args[0]
    except* ValueError as group:
        matching, _ = group.split(ValueError)
        y = y + matching.exceptions[1].exceptions[0].args[0]
    try:
        raise ValueError(x)
    except* ValueError as group:  # not a group: it is put into one
        y = y * group.exceptions[0].args[0]
    return y


@works("`args` of an exception", (0.5,))
def arguments_of_exceptions(x):
    class Failure(Exception):
        def __init__(self, v):
            super().__init__(v * 2.0, x)
            self.v = v

    y = x
    try:
        raise Failure(x) from ValueError(x * 3.0)
    except Failure as e:
        a, b = e.args
        y = a * b * e.v + e.__cause__.args[0]
        e.args = (y, x)
        y = e.args[0] * e.args[1]
    try:
        raise StopIteration(x * y)
    except StopIteration as e:
        y = y + e.value
    try:
        return {}[x]
    except KeyError as e:
        return y * e.args[0]


@works("`sys.exit` that the caller catches", (0.5, 0.6))
def exits_caught(x, y):
    def leave(status):
        if x > 0.0:
            sys.exit(status)

    total = 0.0
    for status in (x * x, (x * y,), SystemExit(y * y)):
        try:
            leave(status)
        except SystemExit as e:
            total += e.code * e.args[0]
    try:
        leave(None)
    except SystemExit as e:
        return total if e.code is None and not e.args else 0.0


@works("the key in a `KeyError`", (0.5, 0.6))
def keys_not_there(x, y):
    total = 0.0
    counts = {}
    try:
        counts.pop(x * y)
    except KeyError as e:
        total += e.args[0]
    try:
        {0.0}.remove(x * x)
    except KeyError as e:
        total += e.args[0]
    try:
        del counts[y * y]
    except KeyError as e:
        total += e.args[0] * x
    return total + counts.pop(y, x)


@refused("`sys.exit` with several values, and its `code`", "code", (0.5,))
def exits_with_several(x):
    try:
        sys.exit((x * x, x))
    except SystemExit as e:
        return e.code[0]


@refused("a refused call inside `try` / `except Exception`", "rule", (0.5,))
def refusal_is_not_swallowed(x):
    try:
        return scipy.special.pro_rad2_cv(0, 1, x, 1.5, 2.0)[0] * x
    except Exception:
        return x


@works("`raise` that the caller catches", (0.5,))
def raise_caught_outside(x):
    def thrower(v):
        if v > 0.1:
            raise LookupError
        return v

    try:
        return thrower(x)
    except LookupError:
        return x * x


@works("`with`", (0.5,))
def with_statement(x):
    class Scale:
        def __enter__(self):
            return x * 2.0

        def __exit__(self, *exc):
            return False

    with Scale() as s:
        y = s * x
    return y * s


@works("`with` that swallows an exception", (-0.5,), (0.5,))
def with_swallows(x):
    y = x
    with contextlib.suppress(ValueError):
        y = y * 2.0
        y = y * math.sqrt(x)
    return y * x


@works("`with` that swallows an exception", (-0.5,))
def with_user_swallows(x):
    class Swallow:
        def __init__(self):
            self.count = 0.0

        def __enter__(self):
            return self

        def __exit__(self, kind, value, trace):
            self.count = self.count + x
            return kind is ValueError

    y = x
    with Swallow() as a, Swallow() as b:
        y = y * y
        y = math.sqrt(x)
    return y * a.count + b.count * 3.0


@works("`contextlib.contextmanager`", (0.5,))
def with_contextmanager(x):
    seen = []

    @contextlib.contextmanager
    def scaled(v):
        seen.append(v)
        yield v * v
        seen.append(v * 3.0)

    with scaled(x) as s:
        y = s * x
    return y + seen[1] * seen[0]


@works("`contextlib.ExitStack`, `suppress`", (0.5,))
def exit_stack(x):
    kept = []

    @contextlib.contextmanager
    def noting(v):
        kept.append(v)
        try:
            yield v * x
        except ValueError:
            kept.append(v * 5.0)
        finally:
            kept.append(v * 2.0)

    with contextlib.suppress(KeyError), contextlib.ExitStack() as stack:
        a = stack.enter_context(noting(x))
        b = stack.enter_context(noting(2.0))
        stack.callback(kept.append, x * 7.0)
        raise ValueError
    return sum(kept) * a * b


@works("`contextlib.ExitStack`, `suppress`", (0.5,))
def exit_stack_of_bound_methods(x):
    a = [x, x * x]
    with contextlib.ExitStack() as stack:
        stack.callback(a.__setitem__, 0, x * 3.0)
        stack.callback(a.append, a[0] * a[1])
        a[0] = x * 5.0
    return a[0] * a[1] + a[2]


@works("`assert`", (0.5,))
def asserts(x):
    y = x * x
    assert y > 0, f"negative: {y}"
    return y


@works("`del`", (0.5,))
def deletes(x):
    y = x * x
    z = [y, x, 3.0]
    del z[0], y
    y = z[0]
    return y * x


@works("`match`: literals, captures, guards", ("a", 0.5), ("b", 0.5), ("c", 0.5), ("c", -0.5))
def match_literals(kind, x):
    match kind, x:
        case "a", v:
            return v * v
        case "b", _:
            y = x**3
        case _, v if v > 0:
            y = sin(v)
        case _:
            y = -x
    return y * x


class Drawing:
    """An object whose attribute is another at each time that it is read."""

    def __init__(self):
        self.count = 0

    @property
    def drawn(self):
        self.count += 1
        return float(self.count)


@works("`match`: an attribute is read once", (0.5,))
def match_reads_once(x):
    match Drawing():
        case Drawing(drawn=y):
            return x * y


@works("`match`: sequences, stars, mappings, or", ([0.5, 0.6, 0.7],), ([0.5],), ({"w": 0.5},))
def match_structures(p):
    match p:
        case [a]:
            return a * a
        case [a, *rest]:
            return a * rest[0] * rest[-1]
        case {"w": w} | {"v": w}:
            return w**3


@works("`match`: `**rest`", (0.5,))
def match_rest(x):
    match {"a": x, "b": x * 2.0, "c": 3.0}:
        case {"z": z, **rest}:
            return z
        case {"a": a, **rest}:
            return a * rest["b"] + rest["c"] * len(rest) * x
    return 0.0


@works("`match`: classes", (0.5,))
def match_classes(x):
    class Pair:
        __match_args__ = ("a", "b")

        def __init__(self, a, b):
            self.a, self.b = a, b

    match Pair(x * x, x):
        case Pair(a, b=b):
            return a * b


@works("`match`: named tuples", (0.5,))
def match_named_tuples(x):
    for step in (Ahead(x, 1.0), Turned(x * x), Ahead(2.0, x), None):
        match step:
            case Ahead(along, across=y) if y < 3.0:
                x = x + along * y
            case Turned(angle):
                x = x * angle
            case _:
                x = x * 2.0
    return x


@works("walrus", (0.5,))
def walrus(x):
    total = 0.0
    while (y := x * (total + 1.0)) < 2.0:
        total = total + y
    return total * y


@works("star and nested unpacking", ((0.5, (0.6, [0.7, 0.8, 0.9])),))
def unpacking(p):
    a, (b, [c, *d]) = p
    *e, f = (a, b, c)
    return a * b + c * d[1] + f * e[0] * d[0]


@works("global constants are read", (0.5,))
def reads_global(x):
    return x * SCALE * x


@works("`nonlocal`", (0.5,))
def nonlocal_state(x):
    total = x

    def add(v):
        nonlocal total
        total = total * v + v

    add(x)
    add(x * 2.0)
    return total * x


@works("`nonlocal` in a loop, through two levels", (0.5,))
def nonlocal_two_levels(x):
    a = x

    def outer():
        def inner(k):
            nonlocal a
            a = a * x + k

        for i in range(3):
            inner(i)

    outer()
    return a * a


@works("nested functions", (0.5,))
def nested_functions(x):
    def square(v):
        return v * v

    def both(v):
        return square(v) + x * v

    return both(x) * square(x)


@works("a closure sees a later rebinding", (0.5,))
def late_binding(x):
    k = 2.0
    f = lambda v: v * k
    a = f(x)
    k = x
    return a + f(x)


@works("closures made in a loop", (0.5,))
def closures_in_a_loop(x):
    late = [lambda v: v * x * i for i in range(3)]
    early = [lambda v, i=i: v * x * i for i in range(3)]
    return sum(f(x) for f in late) + sum(f(2.0) for f in early)


@works("classes defined inside", (0.5,))
def class_inside(x):
    class Line:
        slope = x * 2.0

        def __init__(self, b):
            self.b = b

        def at(self, v):
            return self.slope * v + self.b * x

    return Line(x * x).at(3.0)


@works("the body of a class has statements of its own", (0.5,), (0.9,))
def class_body(x):
    v = x * x
    w = 2.0 * x

    class Made:
        """Its documentation."""

        total = 0.0
        for i in range(3):
            total = total + v * i
        if total > 2.0:
            first, (second, *rest) = x, (2.0, x, v)
        else:
            first = second = total
            rest = [x * j for j in range(2)]
        w = 3.0 * x
        del i

        def product(self, k=w):
            return w * self.w * k  # the function's `w`, the class's, and its default

    assert Made.__doc__ == "Its documentation."
    assert not hasattr(Made, "i")
    assert Made.__qualname__ == "class_body.<locals>.Made"
    return Made().product() + Made.total * Made.first + Made.rest[1] + Made.second


@works("a class in a class, classes made in a loop", (0.5,))
def classes_in_classes(x):
    made = []
    for i in range(3):

        class Outer:
            k = x * i

            class Inner:
                j = x * 3.0

                def f(self):
                    return x * self.j

            inner = Inner()

            def g(self):
                return self.inner.f() + self.Inner.j * self.k

        made.append(Outer)
    return sum(cls().g() for cls in made)


@works("a class that a function returns", (0.5,))
def class_returned(x):
    def make(k):
        class Line:
            slope = k * x

            def __call__(self, v):
                return v * self.slope

        return Line

    return make(2.0)()(x) + make(x)()(3.0)


@works("recursion", (0.7,))
def recursion(x):
    def power(v, n):
        return 1.0 if n == 0 else v * power(v, n - 1)

    return power(x, 5)


@works("mutual recursion", (0.7,))
def mutual_recursion(x):
    def even(v, n):
        return v if n == 0 else odd(v * x, n - 1)

    def odd(v, n):
        return v * v if n == 0 else even(v + x, n - 1)

    return even(x, 5)


@works(
    "recursion over a tree", ({"w": 0.5, "kids": [{"w": 0.6, "kids": []}, {"w": 0.7, "kids": []}]},)
)
def recursion_over_tree(tree):
    def total(t):
        y = t["w"] ** 2
        for kid in t["kids"]:
            y += t["w"] * total(kid)
        return y

    return total(tree)


@works("a local defined on one path only", (0.5,), (-0.5,))
def defined_on_one_path(x):
    if x > 0:
        y = x * x
    if x > 0:
        return y * x
    try:
        return y
    except UnboundLocalError:
        return x * 3.0


@works("a local defined on one path of a loop only", (0.5,))
def defined_in_one_iteration(x):
    total = x
    for i in range(4):
        if i == 1:
            y = total * x
        if i > 1:
            total = total + y * i
    return total


@works("a loop that runs zero times defines nothing", (0.5,))
def loop_defines_nothing(x):
    for i in range(0):
        y = x
    try:
        return y
    except NameError:
        return x * x


@works("augmented assignment of numbers", (0.5,))
def augmented(x):
    y = x
    z = y
    y += x
    y *= z
    y -= 0.5
    y **= 2
    y /= x
    y //= 0.01 if y < -1e9 else 1e9
    return y + z * x


@works("integers and floats in one variable", (0.5,))
def int_then_float(x):
    total = 0
    for i in range(3):
        total = total + (x * i if i else 0)
    return total * x


@works("an unused value, an expression statement", (0.5,))
def unused_value(x):
    sin(x)
    y = x * x
    (y, x)
    _ = y * 3.0
    return y


@works("lambda in a variable", (0.5,))
def lambda_in_variable(x):
    f = (lambda v: v * x) if x > 0 else (lambda v: v)
    return f(f(x))


@works("a long if-chain in a loop (state machine)", (0.5,))
def state_machine(x):
    where, y, n = "a", x, 0
    while where != "end":
        n += 1
        if where == "a":
            y, where = y * x + 1.0, "b"
        elif where == "b":
            y, where = y * y, ("c" if n > 3 else "a")
        else:
            y, where = sin(y), "end"
    return y


@works("`finally` that returns, breaks or continues", (0.5,))
def leaving_finally(x):
    log = [x]

    def f(v):
        try:
            log[0] = log[0] * v
            raise ValueError
        except ValueError:
            log[0] = log[0] + 1.0
            raise
        finally:
            return log[0] * v

    total = f(x) + f(2.0)
    for i in range(4):
        try:
            if i == 1:
                raise KeyError
            total = total * x
        finally:
            if i < 2:
                continue
            break
    return total


@works("a name alone, which may be unbound", (0.5,))
def name_alone(x):
    y = x * 2.0
    del x
    try:
        x  # noqa: F821
    except UnboundLocalError:
        y = y * y
    try:
        NOT_DEFINED
    except NameError:
        y = y * 3.0
    return y


def hidden(v=2.0):
    return 3.0 * v


@works("a variable of a comprehension hides a global name there only", (0.6,))
def comprehension_hides_global(x):
    total = sum([x * hidden for hidden in (1.0, 2.0)]) * hidden()
    table = {hidden: x * hidden for hidden in range(3)}
    later = lambda: hidden(x)
    return total + table[2] * later() + sum([hidden * x for hidden in (hidden(), 1.0)])


@works("a variable of a comprehension is unbound after it", (0.6,))
def comprehension_leaks_nothing(x):
    total = sum([x * inner for inner in range(3)])
    try:
        return total * inner
    except NameError:
        return total * x


@works("the errors of unbound variables, of what is no mapping and no context", (0.7,))
def errors_of_python(x):
    def late():
        return unbound  # noqa: F821

    def manage(v):
        with v:
            return v

    texts = []
    tries = (
        late,
        lambda: manage(x),
        lambda: {**[x]},
        lambda: [x].__delitem__(3),
        lambda: sum([x, "a"]),
    )
    for f in tries:
        try:
            f()
        except (NameError, TypeError, IndexError) as error:
            texts.append(type(error).__name__)
    unbound = x * x
    total = late() * sum(map(len, texts))
    del unbound
    try:
        return total + unbound  # noqa: F821
    except UnboundLocalError as error:
        return total * len(str(error))


@works("`del` of a variable that functions share", (0.7,))
def shared_variable_deleted(x):
    y = x * x

    def take():
        nonlocal y
        taken = y
        del y
        return taken

    total = take()
    try:
        total = total + take()
    except NameError as error:
        y = total * len(str(error))
    total = total * take()
    y = total
    del y
    return total


@works("a variable `_`: a loop's, unpacked, read after writes", (1.3,), (-0.4,))
def underscore(x):
    s = 0.0
    for i, _ in enumerate((x, 3 * x)):
        s = np.sum(_ * 2.0) + s * i
    xs = [s, x, 1.0]
    _, a = x * s, xs[1]
    xs[0] = _ * a
    del xs[2]
    for i in range(3):
        s = s + i
    return xs[0] + s * _


@works("a variable `_` alone", (1.3,))
def underscore_alone(x):
    _ = x * 2.0
    return np.sum(_)


@works("a parameter `_`", (1.3, 0.7))
def underscore_parameter(x, _):
    for i in range(3):
        x = x * _ + i
    xs = [x]
    xs[0] = x * _
    return xs[0] * _


@works("a parameter `_` in straight code and loops", (1.3, 0.7))
def underscore_specialized(x, _):
    for i in range(1, 3):
        x = x * _
    return x * _


@works("a variable `_` that loops without a variable follow", (1.3,))
def underscore_across_loops(x):
    _ = x * 2.0
    for i in range(3):
        x = x * 1.5
    return _ * x


@works("a global `_`, such as `gettext`", (1.3,))
def underscore_global(x):
    xs = [x]
    xs[0] = _(x)
    return xs[0] * x


@works("a variable `_` of functions inside, `nonlocal`", (1.3,))
def underscore_captured(x):
    _ = x * 2.0

    def more(y):
        nonlocal _
        ys = [y]
        ys[0] = _ * y
        _ = ys[0] + x
        return ys[0]

    return more(x) * _ + (lambda _: _ * x)(x)


@works("a variable `_` of comprehensions and generators", (1.3,))
def underscore_comprehensions(x):
    _ = x * 2.0
    total = sum([_ * x for _ in (x, 2.0)]) + sum(_ * x for _ in (x, 3.0))
    return total * _ + {_: _ * x for _ in (1, 2)}[2]


@works("`case _` beside a variable `_`", (1.3,))
def underscore_case(x):
    _ = x * 3.0
    match [x, 2.0]:
        case [_, 3.0]:
            return 0.0
        case [y, _]:
            return y * _


@works("a name `_` in a class", (1.3,))
def underscore_in_class(x):
    class A:
        def _(self):
            return x * 3.0

        xs = [1.0, x]
        xs[0] = x * x

    return A()._() * A.xs[0]


@works("`_` given by `except`, `with`, `import` and `:=`", (1.3,))
def underscore_elsewhere(x):
    xs = [0.0]
    try:
        raise ValueError(x * 2.0)
    except ValueError as _:
        xs[0] = x
        a = _.args[0] * xs[0]
    with contextlib.nullcontext(x * a) as _:
        xs[0] = x
        b = _ * xs[0]
    return (_ := a * b) + _ * x
