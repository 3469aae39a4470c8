"""What is refused, with the file and the line of the user's code."""

import ctypes
import pickle
import struct
from fractions import Fraction

import numpy as np
import scipy.special

from tests.zygote_lite.cases.declare import declaring

CASES = []
_, refused = declaring(CASES)
COUNT = 0.0


@refused("`async def`, `await`", "async", (0.5,))
def asynchronous(x):
    async def f(v):
        return v * v

    try:
        f(x).send(None)
    except StopIteration as e:
        return e.value


@refused("`eval` of active values", "eval", (0.5,))
def evaluates(x):
    return eval("x * x")


@refused("`exec` of active values", "exec", (0.5,))
def executes(x):
    names = {"x": x}
    exec("y = x * x", names)
    return names["y"]


@refused("`locals()`", "locals", (0.5,))
def reads_locals(x):
    return locals()["x"] * 2.0


@refused("a function in C without a rule", "rule", (0.5,))
def c_function(x):
    return scipy.special.ellipk(x) * x


@refused("numbers through bytes: `struct`, `pickle`", "rule", (0.5,))
def through_struct(x):
    return struct.unpack("d", struct.pack("d", x))[0]


@refused("numbers through bytes: `struct`, `pickle`", "rule", (0.5,))
def through_pickle(x):
    return pickle.loads(pickle.dumps([x]))[0]


@refused("numbers through memory: `ctypes`", "rule", (0.5,))
def through_ctypes(x):
    return ctypes.c_double(x).value * 2.0


@refused("arrays of objects", "object", (0.5,))
def object_array(x):
    return np.array([x, None], dtype=object)[0] * 2.0


@refused("`Fraction`, `Decimal` of active values", "rule", (0.5,))
def fraction(x):
    return float(Fraction(x) * 2)


@refused("structured arrays", "dtype", (0.5,))
def structured_array(x):
    a = np.zeros(1, dtype=[("a", float)])
    a["a"] = x
    return a["a"][0] * 2.0


@refused("`memoryview` and `tobytes` of active arrays", "rule", (np.array([0.5, 0.6]),))
def through_bytes(x):
    return np.frombuffer(x.tobytes())[0] * 2.0


@refused("what cannot be followed, in a `try` with a `finally` that returns", "ellipk", (0.5,))
def refused_before_finally(x):
    box = [x]
    try:
        box[0] = scipy.special.ellipk(x) * x
        box[0] = x * x
    finally:
        return box[0]


@refused("what cannot be followed, in a `try` with a `finally` that returns", "ellipk", (0.5,))
def refused_before_break(x):
    total = x
    while True:
        try:
            int("none")
        except ValueError:
            scipy.special.ellipk(x)
            total = total * 2.0
        finally:
            break
    return total
