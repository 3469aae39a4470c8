"""What to write instead of each construct that is refused, and the code of the error."""

INSTEAD = {
    "a refused call inside `try` / `except Exception`": (
        "ZL004",
        "another formula, or a rule of your own: `except` cannot hide the refusal",
    ),
    "`lru_cache` of what counts its calls or reads what changes": (
        "ZL026",
        "let the function depend on its arguments alone; count outside of it",
    ),
    "a metaclass that changes active attributes": ("ZL020", "set the attribute after the class"),
    "`__init_subclass__` of an active class": (
        "ZL020",
        "call what it does after the `class` statement",
    ),
    "a generator with a `finally` that nothing ends": (
        "ZL023",
        "keep the generator in a variable, and call its `close`",
    ),
    "other iterators in C over what becomes active in the loop": (
        "ZL027",
        "loop over `list(...)` of it, or over indices",
    ),
    "`map` and its kin, asked for more after an error in them": (
        "ZL027",
        "a loop with the `try` inside",
    ),
    "`global` that is given what carries a gradient": (
        "ZL021",
        "a variable of the function, or a value that it returns",
    ),
    "the `__dict__` of a class": ("ZL019", "`getattr` and `setattr`"),
    "`__del__` and `weakref.finalize` with effects": (
        "ZL023",
        "call the function yourself, or use `with`",
    ),
    "`WeakKeyDictionary` and its kin, of objects that the function makes": (
        "ZL023",
        "a plain dict, or an attribute of the object",
    ),
    "weak references with a callback that has effects": (
        "ZL023",
        "call the function yourself, or use `with`",
    ),
    "`np.nditer` with buffers or inner loops": (
        "ZL017",
        "`np.ndindex`, or the flags `multi_index`, `c_index`, `f_index` alone",
    ),
    "memory that is written as numbers of another kind": ("ZL017", "write into a copy"),
    "a part of an array written over it by a mask or by `flat`": ("ZL017", "write a copy of it"),
    "reading a `memoryview` of an array that is active by then": ("ZL006", "a slice of the array"),
    "`np.broadcast` over what becomes active": ("ZL006", "`np.broadcast_arrays`, or `zip`"),
    "`__float__`, `__index__`, `__iter__` with effects, called by C": (
        "ZL022",
        "call `float(x)` or `list(x)` first, and pass the result",
    ),
    "`resize` in place": ("ZL017", "`np.resize` or `np.pad`, which return a new array"),
    "what was written, and is read again": ("ZL007", "keep the numbers, beside the text"),
    "numbers through text": ("ZL007", "keep the numbers, beside the text"),
    "functions in C that are called for what they do": (
        "ZL001",
        "pass `float(stop_gradient(x))`, which is a constant",
    ),
    "`async def`, `await`": ("ZL011", "a plain function, which the coroutine calls"),
    "functions in the text of `eval` or `exec` that read active variables": (
        "ZL011",
        "arguments of these functions",
    ),
    "`eval` of code that looks at all variables": ("ZL011", "the variables by their names"),
    "`locals()` in a comprehension or a class": ("ZL011", "a call before it"),
    "`locals` by another name": ("ZL014", "`locals()`"),
    "a variable of a module, written as an entry of a dict": ("ZL019", "an argument"),
    "a function in C without a rule": ("ZL004", "another formula, or a rule of your own"),
    "numbers through bytes: `struct`, `pickle`": ("ZL007", "the numbers, or `copy.deepcopy`"),
    "numbers through memory: `ctypes`": ("ZL001", "a number, or an array"),
    "arrays of objects": ("ZL008", "an array of numbers, or a list"),
    "`Fraction`, `Decimal` of active values": ("ZL006", "a float"),
    "numbers of mpmath, made of active values": ("ZL006", "a float"),
    "structured arrays": ("ZL008", "a dict of arrays, or an array with one axis more"),
    "`memoryview` and `tobytes` of active arrays": ("ZL007", "a slice, or `x.view()`"),
    "what cannot be followed, in a `try` with a `finally` that returns": (
        "ZL004",
        "another formula, or a rule of your own",
    ),
    "objects of classes in C or Cython that hold active values": (
        "ZL001",
        "a class written in Python, or a rule for the class",
    ),
    "variables of frames: `tb_frame.f_locals`, `sys._getframe()`, `gi_frame`": (
        "ZL014",
        "an argument, or a value that is returned",
    ),
    "members of enumerations": ("ZL020", "a class, a dict or `types.SimpleNamespace`"),
    "a context variable in another copy of the context": ("ZL024", "an argument"),
    "`array.array`": ("ZL006", "a list, or an array of NumPy"),
    "masked arrays, `np.matrix`": ("ZL006", "`.filled(...)`, or data and mask; `np.asarray`"),
    "`np.ndarray` over the memory of an active array": ("ZL004", "slices, or `np.reshape`"),
    "a number in a type": ("ZL020", "keep the number in a variable"),
    "a number in an annotation": ("ZL020", "keep the number in a variable"),
    "`sys.exit` with several values, and its `code`": ("ZL001", "`e.args`, which has them all"),
    "another class of arrays": ("ZL006", "an array of NumPy's own class"),
    "what another thread is given": ("ZL024", "call the function in this thread"),
}
