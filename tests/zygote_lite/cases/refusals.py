"""What is refused, with the file and the line of the user's code."""

import ctypes
import inspect
import pickle
import struct
import sys
from fractions import Fraction

import numpy as np
import scipy.interpolate
import scipy.spatial
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


@refused("numbers through bytes: `struct`, `pickle`", "rule", (0.5,))
def packed_in_place(x):
    memory = bytearray(8)
    struct.pack_into("d", memory, 0, x)
    return struct.unpack_from("d", memory)[0] * 2.0


CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


@refused("objects of classes in C or Cython that hold active values", "rule", (CORNERS[:, 0],))
def interpolator(d):
    return float(scipy.interpolate.LinearNDInterpolator(CORNERS, d)(np.array([[0.2, 0.3]]))[0])


@refused("objects of classes in C or Cython that hold active values", "rule", (CORNERS,))
def hull(x):
    return scipy.spatial.ConvexHull(x).volume


@refused("objects of classes in C or Cython that hold active values", "rule", (CORNERS,))
def triangulation(x):
    return np.sum(scipy.spatial.Delaunay(x).points)


@refused("objects of classes in C or Cython that hold active values", "rule", (CORNERS,))
def tree(x):
    return scipy.spatial.cKDTree(x).query([0.2, 0.3])[0]


@refused("objects of classes in C or Cython that hold active values", "rule", (0.5,))
def error_of_the_system(x):
    return OSError(1, "a", x).filename * x


@refused(
    "variables of frames: `tb_frame.f_locals`, `sys._getframe()`, `gi_frame`", "frames", (0.5,)
)
def frame_of_a_traceback(x):
    try:
        y = x * x
        raise ValueError(1)
    except ValueError as e:
        return e.__traceback__.tb_frame.f_locals["y"] * 2.0


@refused(
    "variables of frames: `tb_frame.f_locals`, `sys._getframe()`, `gi_frame`", "frames", (0.5,)
)
def frame_of_exc_info(x):
    try:
        y = x * x
        raise ValueError(1)
    except ValueError:
        return getattr(sys.exc_info()[2], "tb_frame").f_locals["y"] * 2.0


@refused(
    "variables of frames: `tb_frame.f_locals`, `sys._getframe()`, `gi_frame`", "frames", (0.5,)
)
def own_frame(x):
    y = x * x
    return sys._getframe().f_locals["y"] * 2.0


@refused(
    "variables of frames: `tb_frame.f_locals`, `sys._getframe()`, `gi_frame`", "frames", (0.5,)
)
def current_frame(x):
    y = x * x
    return inspect.currentframe().f_locals["y"] * 2.0


@refused(
    "variables of frames: `tb_frame.f_locals`, `sys._getframe()`, `gi_frame`", "frames", (0.5,)
)
def frame_of_the_stack(x):
    y = x * x
    return inspect.stack()[0].frame.f_locals["y"] * 2.0


@refused(
    "variables of frames: `tb_frame.f_locals`, `sys._getframe()`, `gi_frame`", "frames", (0.5,)
)
def frame_of_the_caller(x):
    def variable(name):
        return sys._getframe(1).f_locals[name]

    y = x * x
    return variable("y") * 2.0


@refused(
    "variables of frames: `tb_frame.f_locals`, `sys._getframe()`, `gi_frame`", "frames", (0.5,)
)
def frame_of_a_generator(x):
    def steps():
        y = x * x
        yield y

    made = steps()
    next(made)
    return made.gi_frame.f_locals["y"] * 2.0


@refused(
    "variables of frames: `tb_frame.f_locals`, `sys._getframe()`, `gi_frame`", "frames", (0.5,)
)
def frame_in_exit(x):
    class Context:
        def __enter__(self):
            return self

        def __exit__(self, kind, error, traceback):
            self.y = traceback.tb_frame.f_locals["y"]
            return True

    context = Context()
    with context:
        y = x * x
        raise ValueError(y > 0)
    return context.y * 2.0
