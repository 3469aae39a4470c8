"""What is refused, with the file and the line of the user's code."""

import array
import ast
import concurrent.futures
import contextvars
import ctypes
import enum
import inspect
import io
import json
import pickle
import queue
import struct
import sys
import threading
from decimal import Decimal
from fractions import Fraction
from typing import Annotated

import mpmath
import numpy as np
import scipy.special

from tests.zygote_lite.constructs.declare import declaring

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


@refused("functions in the text of `eval` or `exec` that read active variables", "reads", (0.5,))
def evaluates_a_function(x):
    return eval("(lambda: a)()", {"a": x * x})


@refused("functions in the text of `eval` or `exec` that read active variables", "reads", (0.5,))
def executes_a_function(x):
    names = {"a": x * x}
    exec("def f(t):\n    return t * a", names)
    return names["f"](2.0)


@refused("`eval` of code that looks at all variables", "`locals` in its line 1", (0.5,))
def evaluates_locals(x):
    return eval("locals()['x'] * 2.0")


@refused("`locals()` in a comprehension or a class", "locals", (0.5,))
def reads_locals_of_a_comprehension(x):
    return sum([locals()["y"] * x for y in [x, 1.0]])


@refused("`locals` by another name", "locals", (0.5,))
def reads_locals_by_another_name(x):
    look = locals
    return look()["x"] * 2.0


@refused("a variable of a module, written as an entry of a dict", "module", (0.5,))
def writes_a_variable(x):
    globals()["COUNT"] = x * 3.0
    return COUNT * x


@refused("a variable of a module, written as an entry of a dict", "variable `a`", (0.5,))
def variable_of_a_function_in_a_text(x):
    names = {}
    exec("def f(t):\n    return t * a", names)
    names["a"] = x * x
    return names["f"](2.0)


@refused("a function in C without a rule", "rule", (0.5,))
def c_function(x):
    return scipy.special.pro_rad2_cv(0, 1, x, 1.5, 2.0)[0] * x


@refused("numbers through bytes: `struct`, `pickle`", "text", (0.5,))
def through_struct(x):
    return struct.unpack("d", struct.pack("d", x))[0]


@refused("numbers through bytes: `struct`, `pickle`", "text", (0.5,))
def through_pickle(x):
    return pickle.loads(pickle.dumps([x]))[0]


@refused("numbers through memory: `ctypes`", "rule", (0.5,))
def through_ctypes(x):
    return ctypes.c_double(x).value * 2.0


@refused("arrays of objects", "object", (0.5,))
def object_array(x):
    return np.array([x, None], dtype=object)[0] * 2.0


@refused("`Fraction`, `Decimal` of active values", "carries no gradient; compute with", (0.5,))
def fraction(x):
    return float(Fraction(x) * 2)


@refused("numbers of mpmath, made of active values", "carries no gradient; compute with", (0.5,))
def mpmath_number(x):
    return float(mpmath.sin(x))


@refused("structured arrays", "dtype", (0.5,))
def structured_array(x):
    a = np.zeros(1, dtype=[("a", float)])
    a["a"] = x
    return a["a"][0] * 2.0


@refused("`memoryview` and `tobytes` of active arrays", "text", (np.array([0.5, 0.6]),))
def through_bytes(x):
    return np.frombuffer(x.tobytes())[0] * 2.0


@refused("what cannot be followed, in a `try` with a `finally` that returns", "pro_rad2_cv", (0.5,))
def refused_before_finally(x):
    box = [x]
    try:
        box[0] = scipy.special.pro_rad2_cv(0, 1, x, 1.5, 2.0)[0] * x
        box[0] = x * x
    finally:
        return box[0]


@refused("what cannot be followed, in a `try` with a `finally` that returns", "pro_rad2_cv", (0.5,))
def refused_before_break(x):
    total = x
    while True:
        try:
            int("none")
        except ValueError:
            scipy.special.pro_rad2_cv(0, 1, x, 1.5, 2.0)[0]
            total = total * 2.0
        finally:
            break
    return total


@refused("numbers through bytes: `struct`, `pickle`", "rule", (0.5,))
def packed_in_place(x):
    memory = bytearray(8)
    struct.pack_into("d", memory, 0, x)
    return struct.unpack_from("d", memory)[0] * 2.0


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
def value_seen_by_a_profiler(x):
    seen, before = [], sys.getprofile()

    def note(frame, event, value):
        if event == "return" and frame.f_code.co_name == "square":
            seen.append(value)

    def square(y):
        return y * y

    sys.setprofile(note)
    try:
        square(x)
    finally:
        sys.setprofile(before)
    return seen[0] * 2.0


@refused(
    "variables of frames: `tb_frame.f_locals`, `sys._getframe()`, `gi_frame`", "frames", (0.5,)
)
def variable_seen_by_a_trace(x):
    seen, before = [], sys.gettrace()

    def note(frame, event, value):
        if event == "return" and frame.f_code.co_name == "square":
            seen.append(frame.f_locals["z"])
        return note

    def square(y):
        z = y * y
        return z

    sys.settrace(note)
    try:
        square(x)
    finally:
        sys.settrace(before)
    return seen[0] * 2.0


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


@refused("numbers through text", "text", (0.5,))
def text_in_array(x):
    return np.array([f"{x}"], dtype=float)[0] * 2.0


@refused("numbers through text", "text", (0.5,))
def text_in_nested_lists(x):
    return np.array([[f"{x}", "1"], ["2", "3"]], dtype=float)[0, 0] * 2.0


@refused("numbers through text", "text", (0.5,))
def text_beside_a_number(x):
    return np.sum(np.array([str(x), x], dtype=float))


@refused("numbers through text", "text", (np.array([0.5, 0.7]),))
def array_of_texts_and_back(x):
    return np.sum(x.astype(str).astype(float))


@refused("numbers through text", "text", (np.array([0.5, 0.7]),))
def entries_of_array_of_texts(x):
    return sum([float(s) for s in np.array(x, dtype=str).tolist()])


@refused("numbers through text", "text", (0.5,))
def vectorized_float(x):
    return np.vectorize(float)([f"{x}"])[0]


@refused("numbers through text", "text", (0.5,))
def text_written_into_array(x):
    a = np.zeros(2)
    a[0] = str(x)
    return a[0]


@refused("numbers through text", "text", (0.5,))
def texts_written_into_array(x):
    a = np.zeros(2)
    a[:] = [str(x), "1"]
    return a[0]


@refused("numbers through text", "text", (0.5,))
def text_of_full_array(x):
    return np.full(2, str(x), dtype=float)[0]


@refused("numbers through text", "text", (0.5,))
def number_written_into_texts(x):
    a = np.array(["0" * 30])
    a[0] = str(x)
    return a.astype(float)[0]


@refused("numbers through text", "text", (0.5,))
def text_in_list(x):
    texts = []
    texts.append(str(x))
    return float(texts[0])


@refused("numbers through text", "text", (0.5,))
def text_in_dict(x):
    return float({"a": str(x)}["a"])


@refused("numbers through text", "text", (0.5,))
def text_as_key(x):
    return float(next(iter({str(x): 1})))


@refused("numbers through text", "text", (0.5,))
def text_in_field(x):
    class Holder:
        pass

    holder = Holder()
    holder.text = str(x)
    return float(holder.text)


@refused("numbers through text", "text", (0.5,))
def text_in_scalar_of_numpy(x):
    return float(np.array([str(x)])[0])


@refused("numbers through text", "text", (0.5,))
def fraction_of_text(x):
    return float(Fraction(str(x)))


@refused("numbers through text", "text", (0.5,))
def decimal_of_text(x):
    return float(Decimal(str(x)))


@refused("numbers through text", "text", (0.5,))
def scalar_of_text(x):
    return np.float64(str(x)) * 2.0


@refused("numbers through text", "text", (0.5,))
def evaluated_literal(x):
    return ast.literal_eval(repr([x]))[0] * 2.0


@refused("numbers through text", "text", (0.5,))
def hexadecimal(x):
    return float.fromhex(x.hex())


@refused("numbers through text", "makes numbers of a text", (0.5,))
def through_json(x):
    return json.loads(json.dumps([x]))[0]


@refused("numbers through text", "text", (0.5,))
def from_string(x):
    return np.fromstring(f"{x},2", sep=",")[0]


@refused("numbers through text", "text", (0.5,))
def generic_reader(x):
    return np.genfromtxt([f"{x},2"], delimiter=",")[0]


@refused("numbers through text", "text", (0.5,))
def plain_reader(x):
    return np.loadtxt([f"{x},2"], delimiter=",")[0]


@refused("numbers through text", "StringIO", (0.5,))
def lines_of_text_in_memory(x):
    return sum([float(line) for line in io.StringIO(f"{x}\n2\n")])


@refused("numbers through text", "StringIO", (0.5,))
def reader_of_text_in_memory(x):
    return np.loadtxt(io.StringIO(f"{x},2"), delimiter=",")[0]


@refused("numbers through text", "text", (0.5,))
def texts_joined_by_numpy(x):
    return np.char.add(np.array([f"{x}"]), "1").astype(float)[0]


@refused("numbers through bytes: `struct`, `pickle`", "rule", (0.5,))
def packed_into_bytes(x):
    b = bytearray(8)
    struct.pack_into("d", b, 0, x)
    return struct.unpack_from("d", b)[0]


@refused("numbers through bytes: `struct`, `pickle`", "rule", (0.5,))
def bytes_that_are_written(x):
    b = bytearray(8)
    b[:] = struct.pack("d", x)
    return struct.unpack("d", b)[0]


@refused("members of enumerations", "enumeration", (0.5,))
def functional_enumeration(x):
    return enum.Enum("E", {"A": x * x}).A.value


@refused("members of enumerations", "`A`", (0.5,))
def enumeration(x):
    class E(enum.Enum):
        A = x * x

    return E.A.value


SCALE = contextvars.ContextVar("SCALE", default=2.0)


@refused("a context variable in another copy of the context", "copy of the context", (0.5,))
def context_that_was_copied(x):
    token = SCALE.set(x)
    y = contextvars.copy_context().run(SCALE.get)
    SCALE.reset(token)
    return y


@refused("`array.array`", "use a list, or `np.array", (0.5,))
def array_of_the_standard_library(x):
    return array.array("d", [x])[0]


@refused("masked arrays, `np.matrix`", "rule", (np.array([0.5, 0.7]),))
def masked_array(x):
    return np.ma.array(x, mask=[0, 1]).sum()


@refused("masked arrays, `np.matrix`", "rule", (np.array([0.5, 0.7]),))
def matrix(x):
    return x.view(np.matrix).sum()


@refused("`np.ndarray` over the memory of an active array", "ndarray", (np.array([0.5, 0.7]),))
def array_over_memory(x):
    return np.ndarray(2, buffer=x).sum()


class Own(np.ndarray):
    """A class of arrays of the user's."""


@refused("another class of arrays", "Own", (np.array([0.5, 0.7]),))
def own_class_of_arrays(x):
    return np.sum(x.view(Own) * 2.0)


@refused("what another thread is given", "thread", (0.5,))
def computed_in_a_pool(x):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: x * 2.0).result()


@refused("what another thread is given", "another thread", (0.5,))
def given_to_a_thread(x):
    found = []
    thread = threading.Thread(target=found.append, args=(x,))
    thread.start()
    thread.join()
    return found[0]


@refused("what another thread is given", "another thread", (0.5,))
def put_into_a_simple_queue(x):
    given = queue.SimpleQueue()
    given.put(x)
    return given.get()


@refused("what another thread is given", "thread", (0.5,))
def written_while_a_thread_runs(x):
    given, found, ready = [], [], threading.Event()
    thread = threading.Thread(target=lambda: ready.wait(5) and found.append(given[0] * 2.0))
    thread.start()
    try:
        given.append(x)
    finally:
        if not given:
            given.append(x)
        ready.set()
        thread.join()
    return found[0]


@refused("a number in a type", "no gradient passes through a type", (0.5,))
def number_in_an_annotated_type(x):
    return Annotated[int, x * x].__metadata__[0]


@refused("a number in a type", "no gradient passes through a type", (0.5,))
def number_in_a_type_of_lists(x):
    return list[x * x].__args__[0]


@refused("a number in an annotation", "no gradient passes through an annotation", (0.5,))
def number_in_the_annotation_of_a_parameter(x):
    def f(a: x * x):
        return a

    return f.__annotations__["a"]


@refused("a number in an annotation", "no gradient passes through an annotation", (0.5,))
def number_in_the_annotation_of_a_result(x):
    y = x * x

    def f() -> Annotated[float, y]:
        return 1.0

    return inspect.signature(f).return_annotation.__metadata__[0]


@refused("a number in an annotation", "no gradient passes through an annotation", (0.5,))
def number_in_the_annotation_of_an_attribute(x):
    class Model:
        a: list[x * x]

    return Model.__annotations__["a"].__args__[0]


@refused("a number in an annotation", "no gradient passes through an annotation", (0.5,))
def number_of_a_class_in_its_annotation(x):
    class Model:
        y = x * x
        a: y

    return Model.__annotations__["a"]
