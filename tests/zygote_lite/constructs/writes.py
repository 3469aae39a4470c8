"""Arrays written in place: items, slices, masks, `+=`, `out=`, views, aliases."""

import bisect

import numpy as np

from tests.zygote_lite.constructs.declare import declaring

CASES = []
works, refused = declaring(CASES)
V = np.array([0.5, 0.6, 0.7, 0.8])
M = np.array([[0.5, 0.6, 0.7], [0.8, 0.9, 1.1]])


@works("`x[i] = v`", (0.5,))
def item(x):
    a = np.zeros(3)
    a[0] = x
    a[1] = a[0] * x
    a[0] = a[1] * 3.0
    return np.sum(a * a)


@works("`x[i] = v` in a loop", (V,))
def item_in_a_loop(x):
    y = np.zeros(4)
    s = 1.0
    for i in range(4):
        if x[i] > 0.75:
            break
        y[i] = x[i] * s
        s = s + y[i]
    return s * np.sum(y)


@works("`x[i] = v` in a loop", (V,))
def recurrence(x):
    y = np.empty(6)
    y[0] = y[1] = x[0]
    for i in range(2, 6):
        y[i] = y[i - 1] * x[i % 4] + y[i - 2]
    return y[-1]


@works("`x[i, j] = v`", (M,))
def matrix_items(m):
    out = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            out[i, j] = m[i, j] * m[j, i] + m[i, 2]
    return np.sum(out @ out)


@works("`x[a:b] = v`, with broadcasting", (V, 0.9))
def slices(x, k):
    a = np.zeros((2, 4))
    a[0] = x
    a[1, 1:3] = k
    a[:, ::2] = a[:, 1::2] * x[:2]
    return np.sum(a**2)


@works("`x[mask] = v`, `x[indices] = v`", (V, 0.9))
def masks(x, k):
    a = x * 2.0
    a[x > 0.65] = k
    a[[0, 1]] = a[[1, 0]] * a[[2, 2]]
    return np.sum(a * a)


@works("`x[indices] += v`", (V,))
def fancy_augmented(x):
    a = np.ones(3)
    a[[0, 0, 2]] += x[:3]
    return np.prod(a)


@works("`x[i] += v`, `*=`, `-=`, `/=`, `**=`", (V,))
def augmented_items(x):
    a = x.copy()
    a[0] += x[1]
    a[1] *= a[0]
    a[2] -= a[1] * x[2]
    a[3] /= x[0]
    a[0] **= 2
    a[1:] *= a[:-1].copy()
    return np.sum(a * np.arange(1.0, 5.0))


@works("`x += y` of arrays, in place", (V,))
def augmented_arrays(x):
    a = np.ones(4)
    b = a
    a += x
    a *= x
    b -= 0.5
    a /= 2.0
    a **= 2
    return np.sum(a * b)


@works("`x @= y`", (np.array([[0.5, 0.6], [0.7, 0.8]]),))
def augmented_matmul(m):
    a = np.eye(2)
    b = a
    a @= m
    a @= m
    return np.sum(b * m)


@works("`+=` rebinds floats and writes arrays", (0.5,))
def rebinding_or_write(x):
    s, a = x, np.array([x])
    t, b = s, a
    s += 1.0
    a += 1.0
    return s * t + np.sum(a * b)


@works("`out=`", (V,))
def out_argument(x):
    a = np.empty(4)
    np.multiply(x, x, out=a)
    np.add(a, x, a)
    np.sin(a, out=a)
    return np.sum(a)


@works("`np.add.at`", (V,))
def add_at(x):
    a = np.ones(2)
    np.add.at(a, [0, 1, 0, 0], x)
    return np.prod(a)


@works("`np.copyto`, `np.put`, `np.place`", (V,))
def copyto(x):
    a = np.zeros(4)
    np.copyto(a, x)
    np.copyto(a, x * x, where=x > 0.65)
    return np.sum(a * a)


@works("`fill`", (0.5,))
def fill(x):
    a = np.ones(3)
    b = a[1:]
    b.fill(x)
    return np.prod(a) * x


@works("`sort` of an array", (np.array([0.7, 0.5, 0.6]),))
def sort(x):
    a = x * x
    a.sort()
    return a[0] * 3.0 + a[1] * a[2]


@works("`sort` of an array", (np.array([0.7, 0.5, 0.6, 0.2]),))
def partition(x):
    a = x * x
    a.partition(2)
    b = x * 2.0
    b[1:].partition(1)
    return a[2] * 3.0 + a[3] * b[2] + b[0]


@works("writes through a view", (V,))
def view_write(x):
    a = x * 2.0
    b = a[1:3]
    b[0] = x[0] * 5.0
    b *= x[3]
    return np.sum(a * a)


@works("writes to the base seen through a view", (V,))
def base_write(x):
    a = np.zeros(4)
    b = a[::2]
    a[2] = x[0] * x[1]
    a[0] = x[2]
    return b[0] * b[1] + b[1]


@works("views of views, reshaped, transposed", (M,))
def view_of_view(m):
    a = m * 1.0
    b = a.T
    c = b[1:].reshape(-1) if False else b[1:]
    c[0, 1] = m[0, 0] ** 2
    d = a.reshape(6)
    d[0] = c[0, 1] * d[5]
    e = a.ravel()
    e[1:3] = e[3:5] * m[0, :2]
    return np.sum(a**2 * np.arange(6.0).reshape(2, 3))


@works("overlapping slices", (V,))
def overlapping(x):
    a = x * 1.0
    a[1:] = a[:-1] * 2.0
    a[:-1] += a[1:]
    a[::-1] = a * x
    return np.sum(a * np.arange(4.0))


@works("a row of a matrix is written in a loop", (M,))
def rows(m):
    a = np.zeros((4, 3))
    a[0] = m[0]
    for i in range(1, 4):
        a[i] = a[i - 1] * m[i % 2] + 1.0
    return np.sum(a[-1])


@works("the same array passed twice to a function that writes", (V,))
def same_array_twice(x):
    def f(a, b):
        a[0] = b[1] * 2.0
        b += a[0]
        return a * b

    c = x.copy()
    return np.sum(f(c, c))


@works("an argument is overwritten", (V.copy(),))
def argument_overwritten(x):
    x[0] = x[1] * x[2]
    x *= 2.0
    x[3] = 1.0
    return np.sum(x * x)


@works("an argument is overwritten", (V.copy(),))
def argument_overwritten_through_view(x):
    y = x[:2]
    y *= x[2:]
    return np.sum(x**2)


@works("a view is returned by a callee", (V,))
def view_from_callee(x):
    def tail(a):
        return a[2:]

    a = x * x
    t = tail(a)
    t[:] = t * a[:2]
    return np.sum(a)


@works("arrays in lists and objects are written", (V,))
def arrays_in_containers(x):
    d = {"a": x * 1.0, "b": [np.zeros(2)]}
    d["a"][1] = d["a"][0] * x[2]
    d["b"][0][0] = d["a"][1]
    d["b"][0] += x[:2]
    return np.sum(d["a"]) * np.sum(d["b"][0] ** 2)


@works("a value read before it is overwritten", (V,))
def read_before_write(x):
    a = x * 1.0
    y = a * a
    z = np.sin(a)
    a[:] = 7.0
    return np.sum(y * z) + np.sum(a)


@works("a saved operand is overwritten later", (V,))
def saved_operand_overwritten(x):
    a = x * 1.0
    y = np.sum(a * a)
    a *= y
    z = np.sum(a**3)
    a[0] = z
    return np.sum(a) * y


@works("scalars of an array survive a write", (V,))
def scalars_survive(x):
    a = x * 1.0
    s = a[0]
    a[0] = a[1]
    return s * a[0] * s


@works("`a[i], a[j] = a[j], a[i]`", (V,))
def array_swap(x):
    a = x * 1.0
    a[0], a[3] = a[3] * 2.0, a[0]
    for i in range(3):
        a[i], a[i + 1] = a[i + 1], a[i] * x[i]
    return np.sum(a * np.arange(4.0))


@works("writes in `try`, the exception in the middle", (V,))
def writes_in_try(x):
    a = x * 1.0
    try:
        a[0] = a[1] * a[2]
        a[9] = 3.0
        a[1] = 0.0
    except IndexError:
        a[1] *= a[0]
    return np.sum(a**2)


@works("a 0-d array is written", (0.5,))
def zero_dimensional(x):
    a = np.zeros(())
    a[()] = x
    a += x * x
    a[...] = a * a
    return float(a) * x


@works(
    "Gauss elimination in place",
    (np.array([[2.0, 0.5, 0.3], [0.4, 1.5, 0.2], [0.1, 0.7, 3.0]]), V[:3]),
)
def gauss(a, b):
    a, b = a.copy(), b.copy()
    n = len(b)
    for i in range(n):
        for j in range(i + 1, n):
            f = a[j, i] / a[i, i]
            a[j, i:] -= f * a[i, i:]
            b[j] -= f * b[i]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return np.sum(x * x)


@works("Cholesky in place", (np.array([[2.0, 0.3], [0.3, 1.0]]),))
def cholesky(a):
    n = a.shape[0]
    lower = np.zeros_like(a)
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s -= lower[j, k] ** 2
        lower[j, j] = np.sqrt(s)
        for i in range(j + 1, n):
            lower[i, j] = (a[i, j] - lower[i, :j] @ lower[j, :j]) / lower[j, j]
    return lower[0, 0] * lower[1, 0] + lower[1, 1]


@works("a stencil in time with two buffers", (V,))
def stencil(u):
    a, b = u.copy(), np.zeros(4)
    for _ in range(4):
        b[1:-1] = a[1:-1] + 0.2 * (a[2:] - 2 * a[1:-1] + a[:-2])
        b[0], b[-1] = a[-1], a[0]
        a, b = b, a
    return np.sum(a * a * np.arange(4.0))


@works("`np.zeros_like`, `np.empty_like` buffers", (V,))
def like_buffers(x):
    out = np.zeros_like(x)
    out[1:] = np.cumsum(x)[:-1]
    tmp = np.empty_like(out)
    tmp[:] = out
    tmp[tmp > 1.0] = 0.0
    return np.sum(tmp * x)


@works("`np.fill_diagonal`, `a.flat[i] = v`", (0.5,))
def diagonal(x):
    a = np.ones((2, 2))
    a[np.arange(2), np.arange(2)] = x * 2.0
    return np.sum(a @ a)


@works("`out=`, where all else is straight code", (V,))
def out_alone(x):
    a = np.empty(4)
    np.multiply(x, x, out=a)
    return np.sum(a)


@works("`out` by position: ufuncs", (V,))
def out_by_position(x):
    a = np.empty(4)
    np.multiply(x, x, a)
    return np.sum(a)


@works("`out` by position: `np.cumsum`, `np.clip`, `np.compress`, `np.median`", (V,))
def out_by_position_of_functions(x):
    a, b, c = np.empty(4), np.empty(4), np.empty(4)
    np.cumsum(x, 0, None, a)
    np.clip(x, 0.0, 2.0, b)
    np.cumprod(x, 0, None, c)
    return np.sum(a * b * c)


@works("`out` by position: `np.cumsum`, `np.clip`, `np.compress`, `np.median`", (V,))
def out_by_position_alone(x):
    a = np.empty(4)
    np.cumsum(x, 0, None, a)
    return np.sum(a)


@works("`np.broadcast_to` and `np.broadcast_arrays` of an array that is written", (V,))
def broadcast_view(x):
    a = x * 1.0
    b = np.broadcast_to(a, (2, 4))
    c, _ = np.broadcast_arrays(a, np.zeros((3, 1)))
    a[0] = x[3] * x[1]
    return np.sum(b * b) + np.sum(c**3)


@works("`np.meshgrid(copy=False)` of an array that is written", (V,))
def meshgrid_view(x):
    a = x[:2] * 1.0
    b, c = np.meshgrid(a, x[2:], copy=False)
    a[0] = x[3] * 2.0
    return np.sum(b * c)


@works("writes through `np.nditer`", (V,))
def nditer_writes(x):
    a = np.zeros(4)
    for v in np.nditer(a, op_flags=["readwrite"]):
        v[...] = x[0]
    return np.sum(a * x)


@works("writes through `np.nditer`", (V,))
def nditer_operands(x):
    a = x * 1.0
    with np.nditer(a, op_flags=["readwrite"]) as it:
        for v in it:
            v[...] = v * v * x[0]
    y = np.zeros((4, 4))
    flags = [["readonly"], ["readonly"], ["writeonly"]]
    for u, v, w in np.nditer([a, a[:, None] * 2.0, y], [], flags):
        w[...] = u * v + u
    it = np.nditer(y, flags=["multi_index"], op_flags=["readwrite"])
    while not it.finished:
        it[0] = it[0] * it.multi_index[1] + x[0]
        it.iternext()
    it = np.nditer([x, None], flags=["c_index"])
    for u, v in it:
        v[...] = u * it.index
    in_memory_order = sum(v * i for i, v in enumerate(np.nditer(np.asfortranarray(y))))
    return np.sum(y * y) + np.sum(it.operands[1] * a) + float(in_memory_order)


@refused("`np.nditer` with buffers or inner loops", "nditer", (V,))
def nditer_external_loop(x):
    a = np.zeros(4)
    for v in np.nditer(a, flags=["external_loop"], op_flags=["readwrite"]):
        v[...] = x[0]
    return np.sum(a)


@works("`np.put`, `np.place`, `np.putmask`", (V,))
def put_places(x):
    a = np.zeros((2, 3))
    np.put(a, [0, -1, 3], x[:2])
    np.put(a, 1, x[0] * x[1])
    a.put([2, 0], [x[2], x[1]])
    np.put(a.T, [0, 1], x[1:])
    np.put(a, [7, -9], x[0], mode="clip")
    np.put(a, [8], x[2], mode="wrap")
    assert np.put(a, [], x) is None
    b = np.arange(6.0).reshape(2, 3) * x[0]
    np.place(b, b > 1.2, x)
    np.place(b.T, b.T < 0.2, [x[0] * 5.0])
    c = np.arange(6.0).reshape(2, 3) * x[1]
    np.putmask(c, c > 1.5, x * 2.0)
    np.putmask(c, c < 0.5, x[1])
    np.putmask(c, c > 100.0, c * 2.0)
    weights = np.arange(6.0).reshape(2, 3)
    return np.sum((a * a + b * b + np.sin(c)) * weights)


@works("`ufunc.at`, `out=` with `where=`", (V,))
def other_places(x):
    a = x * 1.0
    np.multiply.at(a, [0, 0, 1], x[:3])
    np.negative.at(a, [1, 2])
    np.sqrt(x, out=a, where=x > 0.65)
    np.multiply(a, x[::-1], out=a, where=[True, False, True, True])
    a.partition(1)
    return np.sum(a * np.arange(1.0, 5.0))


@works("`.real` and `.imag` are written, real numbers seen as complex ones", (V,))
def parts_of_complex(x):
    z = np.zeros(4, complex)
    z.real = x
    z.imag[:] = x * x
    z.real[0] = x[1]
    z *= 1.0 + 2.0j
    a = np.zeros(6)
    a[:4] = x
    pairs = a[2:].view(complex)
    pairs[0] *= 1.0j
    a[1] += x[2]
    a.flat = a * 2.0
    return np.sum(z.real * z.imag) + np.abs(z[1]) + np.sum(np.abs(a.view(complex)) ** 2) * a[2]


@refused("memory that is written as numbers of another kind", "seen as int64", (V,))
def bits_of_numbers(x):
    a = np.zeros(4)
    bits = a.view(np.int64)
    a[0] = x[0]
    return np.sum(a) + np.sum(bits) * 0.0


@refused("a part of an array written over it by a mask or by `flat`", "shares memory with", (V,))
def written_over_itself(x):
    a = x * 2.0
    a[a > 0.0] = a[::-1]  # NumPy reads entries that it has written already
    return np.sum(a * x)


@works("writes through `sliding_window_view`", (V,))
def sliding_window_writes(x):
    a = np.zeros(4)
    b = np.lib.stride_tricks.sliding_window_view(a, 2, writeable=True)
    b[0] = x[:2]
    return np.sum(a * x)


@works("rows of an array are written as they are iterated", (V,))
def rows_iterated(x):
    a = np.zeros((2, 2))
    for row in a:
        row[:] = x[:2]
        row *= x[2:]
    b, c = np.split(a.reshape(-1), 2)
    b *= c
    return np.sum(a)


@works("`flip`, `swapaxes`, `squeeze`, `expand_dims`, `atleast_2d` are views", (V,))
def named_views(x):
    a = np.zeros((2, 2))
    np.flip(a)[0] = x[:2]
    b = np.swapaxes(a, 0, 1)
    b[0] += x[2:]
    c = np.expand_dims(a, 0)
    c *= x[0]
    np.squeeze(c)[1, 1] = x[3]
    np.atleast_3d(a)[0, 0] *= x[1]
    return np.sum(a * a)


@works("an index array is overwritten after its use", (V,))
def index_overwritten(x):
    index, mask = np.array([0, 1]), x > 0.65
    y, z = x[index], np.where(mask, x * x, x)
    index[0] = 3
    mask[:] = False
    return np.sum(y**2) + np.sum(z)


@works("an inactive operand is overwritten after its use", (V,))
def inactive_operand_overwritten(x):
    a = np.ones(4)
    y = x * a
    a[0] = 7.0
    a += 1.0
    return np.sum(y * y)


@works("the parts of `np.split` are views", (V,))
def split_views(x):
    a = x * 2.0
    b, c = np.split(a, 2)
    b *= c
    return np.sum(a)


@works("arrays over the memory of another through a `memoryview`", (V,))
def through_memoryview(x):
    a = np.ones(4)
    b, c = np.asarray(memoryview(a)), np.ndarray((2,), float, memoryview(a))
    a[1:3] = x[:2]
    return np.sum(b * b) + c[1] * 3.0


@refused("reading a `memoryview` of an array that is active by then", "memoryview", (V,))
def reads_memoryview(x):
    a = np.ones(4)
    view = memoryview(a)
    a[1] = x[0]
    return view[1] * 2.0


@works("`x.flat` kept in a variable", (V,))
def kept_flat(x):
    a = np.ones((2, 2))
    flat, turned = a.flat, a.T.flat
    a[0, 1] = x[0]
    flat[2] = x[1]
    repeated = np.ones((2, 3, 2))
    repeated.flat, repeated[1].flat = x[:2], np.outer(x[:2], x[1:])
    a += repeated[1, 0, 1]
    return flat[1] * 2.0 + turned[1] * 3.0 + np.sum(flat[1:3]) * x[2]


@refused("`np.broadcast` over what becomes active", "broadcast", (V,))
def kept_broadcast(x):
    a = np.ones(4)
    rows = np.broadcast(a, 2.0)
    a[1] = x[0]
    return sum(u * v for u, v in rows)


@works("`a[i] = number` for an object with `__float__`", (V,))
def number_like(x):
    class Weight:
        w = x[0]

        def __float__(self):
            return float(self.w * x[1])

    a = np.ones(3)
    a[0] = Weight()
    return np.sum(a * x[:3])


@refused("`__float__`, `__index__`, `__iter__` with effects, called by C", "__float__", (V,))
def effect_of_float(x):
    log = [1.0]

    class Weight:
        def __float__(self):
            log[0] = log[0] * x[0]
            return 2.0

    a = np.ones(2)
    a[0] = Weight()
    return log[0] * np.sum(a)


@refused("`__float__`, `__index__`, `__iter__` with effects, called by C", "__index__", (V,))
def effect_of_index(x):
    log = [1.0]

    class Place:
        def __index__(self):
            log[0] = log[0] * x[0]
            return 1

    a = np.arange(3.0)
    b = a[Place() :]
    return log[0] * b[0]


@refused("`__float__`, `__index__`, `__iter__` with effects, called by C", "__index__", (V,))
def effect_of_size(x):
    log = [1.0]

    class Size:
        def __index__(self):
            log[0] = log[0] * x[0]
            return 2

    return np.sum(np.ones(Size())) * log[0]


@refused("`__float__`, `__index__`, `__iter__` with effects, called by C", "__getitem__", (V,))
def effect_of_sequence(x):
    log = [1.0]

    class Pair:
        def __len__(self):
            return 2

        def __getitem__(self, i):
            if i > 1:
                raise IndexError
            log[0] = log[0] * x[0]
            return 5.0

    a = np.ones(3)
    a[0:2] = Pair()
    return log[0] * np.sum(a)


@works("masked arrays over memory that becomes active", (V,))
def masked_written(x):
    a = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    values = a.data
    values[0] = x[0]
    values[1] = x[1]
    return a[0] * 2.0 + a.sum()


@works("`bisect` with a `key` that has effects", (V,))
def bisect_key(x):
    log = [1.0]

    def key(v):
        log[0] = log[0] * x[0]
        return v

    n = bisect.bisect([1.0, 2.0, 3.0], 2.0, key=key) + bisect.bisect_left([1.0, 2.0], 2.0, key=key)
    return log[0] * n


@refused("`resize` in place", "resize", (V,))
def resizes(x):
    a = np.ones(2)
    a.resize((3,))
    a[0] = x[0]
    return np.sum(a)


@works("`a.__getitem__` kept in a variable", (V,))
def bound_getitem(x):
    a = np.zeros(3)
    get, put = a.__getitem__, a.__setitem__
    put(0, x[0] * x[1])
    a[1:] = x[:2]
    return get(0) * get(2) + get(slice(0, 2)) @ x[:2]


@works("`a.__iadd__(b)` and its kin", (V,))
def methods_in_place(x):
    a = x * 2.0
    b = a[1:]
    a.__imul__(x[0])
    b.__iadd__(x[:-1]).__itruediv__(x[1])
    try:
        a += np.ones(9)
    except ValueError as error:
        a[0] *= len(str(error))
    return np.sum(a * x)


@works("`Generator.random(out=x)`", (np.array([0.3, 0.5, 0.2]),))
def drawn_in_place(x):
    y = x * 2.0
    before = np.sum(y * x)
    np.random.default_rng(1).random(out=y)
    return before + np.sum(y * x)


@works("an array of no axes, through masks, `np.place`, `np.putmask`, `np.copyto`, `np.put`",
       (0.5,), (-0.5,))  # fmt: skip
def masks_of_no_axes(x):
    a = np.array(x)
    a[a > 0] = 2.0 * x
    a[a > 0] *= x
    a[a < 0] = 3.0 * x * x
    return a[()] + np.sum(a[a > 0.1]) * a[...] + np.sum(a[True])


@works("an array of no axes, through masks, `np.place`, `np.putmask`, `np.copyto`, `np.put`",
       (0.5,), (-0.5,))  # fmt: skip
def places_of_no_axes(x):
    a, b, c, d = np.array(x), np.array(x), np.array(x), np.zeros(())
    np.place(a, a > 0, [2.0 * x, 7.0])
    np.putmask(b, b > 0, x * x)
    np.copyto(c, 3.0 * x, where=c > 0)
    np.put(d, [0, 0], [5.0, x * x])
    np.multiply.at(d, (), x)
    return a * x + b + c * x + d


@works("`np.ndarray(shape)`, written in place", (V,))
def new_array_by_constructor(x):
    a = np.ndarray((2, 4), float, order="F")
    a[0] = x
    a[1] = x * x
    b = np.ndarray(shape=x.shape)
    b[...] = a[0] * a[1]
    return np.sum(a) + np.sum(b * x)


@works("`np.ndarray(shape)`, written in place", (V,))
def new_array_over_another(x):
    b = np.zeros(8)
    a = np.ndarray((4,), float, b, 8, (16,))
    a[:] = x
    return np.sum(b * np.arange(8.0) * b)
