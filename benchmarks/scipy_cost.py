"""What a call of a rule for SciPy costs beyond the calls of SciPy and NumPy that it has to make.

Run it as a script, on one thread (`OPENBLAS_NUM_THREADS=1`): it measures each example of the rules
for `scipy.special`, `scipy.linalg`, `scipy.fft` and `scipy.fftpack`, and each elementwise function
also with numbers and with arrays of three entries. It prints, in microseconds, what is over the
limit; with `--all` every row, and with names of functions those only.

`call` is SciPy's own call of the function, or the calls that the rule makes instead, such as those
of LAPACK's factorization whose factors it keeps. `own calls` are the arithmetic of the derivative:
functions of SciPy and NumPy, methods and indices of arrays, and operators and comparisons of arrays
and of NumPy's numbers. They are noted while its formula runs once, also those of functions that it
captured, and made again. Among them is the dot product by which a pullback asks whether a partial
derivative is finite, since a cotangent of zero stays zero where it is not: that is a case of the
formula. `rule` and `back` are what `rrule(f, *xs)` and `back(dy)` take beyond these, so that what
Python does between the calls counts: dispatch, options, checks, conversions, shapes, attributes,
closures, also where NumPy answers (`QUESTIONS`).

Beside calls that take long, a twentieth of their time is allowed: two measurements of one call
differ by as much. Formulas with large arrays are not measured: their calls take other times in a
formula, which holds and reuses memory, than one by one.

Times are the least of rounds in turns. They are those of the machine with nothing else on it: in
each round a call of reference is measured too, and times go down by what it takes more than at its
best. The script fails if more calls, or pullbacks, of a group than `REACHED` are over the limit.
"""

import argparse
import contextlib
import copy
import importlib
import operator
import sys
import time
import warnings
from collections import Counter
from functools import partial
from types import FunctionType, ModuleType

import numpy as np

from rules_scipy import SECTIONS
from rulescore import _product, _scalar, project, rrule
from rulescore._general import _pull_parts
from rulescore._partials import partials_of
from rulescore._product import vdot
from rulescore.testing._leaves import random_direction

LIMIT = 2.0  # microseconds, forward and back alike
NOISE = 0.05
# How many calls and pullbacks of each group may be over the limit: what is reached on a machine on
# which the call of reference takes 0.65 us.
REACHED = {
    "special, numbers": (20, 85),
    "special, arrays": (22, 132),
    "special, examples": (80, 225),
    "linalg, examples": (185, 280),
    "fft, examples": (125, 235),
    "fftpack, examples": (30, 66),
}
LIBRARIES = ("special", "linalg", "fft", "fftpack")
ROUNDS, SPENT = 160, 0.00006  # how often, and how many seconds each time
AT_MOST = 0.15  # seconds for all rounds
LARGE = 2**16  # bytes: of an array whose memory NumPy asks the system for, and may reuse
METHODS = (
    *("all", "any", "argmax", "argmin", "argsort", "astype", "clip", "conj", "conjugate", "copy"),
    *("cumprod", "cumsum", "diagonal", "dot", "fill", "flatten", "item", "max", "mean", "min"),
    *("prod", "ravel", "repeat", "reshape", "sum", "swapaxes", "take", "trace", "transpose"),
    *("tolist", "view", "__getitem__", "__setitem__"),
)
QUESTIONS = (np.shape, np.ndim, np.size, np.asarray, np.iscomplexobj, np.isrealobj, np.result_type)
OF_LIBRARIES = ("np", "sp", "sl", "sf", "fp", "lapack", "blas", "_ufuncs")


class Noted(np.ndarray):
    """An array whose arithmetic is noted in `calls`, and that of what comes out of it."""

    calls = None

    def __array_ufunc__(self, ufunc, method, *xs, **options):
        return noted(getattr(ufunc, method), xs, options)

    def __array_function__(self, f, types, xs, options):
        return noted(f, xs, options)


class NotedNumber(np.float64):
    """A number of NumPy whose arithmetic is noted in `Noted.calls`."""


def arithmetic(name):
    """Return the methods of an operator of numbers, with the number first and second."""
    f = getattr(operator, name)

    def method(self, other):
        return noted(f, (self, other), {})

    def reflected(self, other):
        return noted(f, (other, self), {})

    return method, reflected


def method_of_arrays(name):
    """Return a method of arrays that is noted."""
    f = getattr(np.ndarray, name)
    return lambda self, *xs, **options: noted(f, (self, *xs), options)


for name in METHODS:
    setattr(Noted, name, method_of_arrays(name))
for name in ("add", "sub", "mul", "truediv", "pow"):
    method, reflected = arithmetic(name)
    setattr(NotedNumber, f"__{name}__", method)
    setattr(NotedNumber, f"__r{name}__", reflected)
for name in ("lt", "le", "eq", "ne", "gt", "ge"):
    setattr(NotedNumber, f"__{name}__", arithmetic(name)[0])
NotedNumber.__hash__ = np.float64.__hash__
NotedNumber.__neg__ = lambda self: noted(operator.neg, (self,), {})
NotedNumber.__abs__ = lambda self: noted(operator.abs, (self,), {})


def noted(f, xs, options):
    """Call a function of arrays as they are, and note that."""
    xs, options = plain(xs), plain(options)
    kept = changed(xs, np.ndarray, as_now), changed(options, np.ndarray, as_now)
    y = f(*xs, **options)
    if getattr(y, "nbytes", 0) > LARGE:
        raise OverflowError(f"an array of {y.nbytes} bytes: its memory costs more than 2 us")
    if f not in QUESTIONS:
        Noted.calls.append(partial(f, *kept[0], **kept[1]))
    return wrapped(y)


def as_now(x):
    """Return an array, of indices as a copy: a rule may count them on."""
    return x.copy() if x.dtype.kind == "i" else x


def changed(x, kind, change):
    """Return a value with its arrays of one kind changed."""
    if type(x) is kind:
        return change(x)
    if type(x) in (tuple, list):
        return type(x)(changed(entry, kind, change) for entry in x)
    if type(x) is dict:
        return {name: changed(entry, kind, change) for name, entry in x.items()}
    return x


def plain(x):
    """Return a value with plain arrays in the place of noted ones."""
    x = changed(x, NotedNumber, np.float64)
    return changed(x, Noted, lambda a: np.ndarray.view(a, np.ndarray))


def wrapped(x):
    """Return a value with noted arrays in the place of plain ones."""
    x = changed(x, np.float64, NotedNumber)
    return changed(x, np.ndarray, lambda a: a.view(Noted) if a.dtype.kind in "biufc" else a)


class Noting:
    """Stand for a module of SciPy or NumPy in rules, and note what is called of it."""

    def __init__(self, module):
        self.module = module

    def __getattr__(self, name):
        f = getattr(self.module, name)
        if isinstance(f, ModuleType):
            return Noting(f)
        if isinstance(f, type) or not callable(f):
            return f
        return noting_call(f)


def noting_call(f):
    """Return a function that notes its calls."""
    return lambda *xs, **options: noted(f, xs, options)


def is_of_library(x):
    """Return whether a value is a function of SciPy or NumPy."""
    if isinstance(x, np.ufunc) or type(x).__name__ == "fortran":
        return True
    of_module = str(getattr(x, "__module__", "")).partition(".")[0] in ("numpy", "scipy")
    return of_module and callable(x) and not isinstance(x, type)  # also the multimethods of `fft`


def cells_of(f, known):
    """Give the cells of a function, and of those that it captures, with functions of libraries."""
    for cell in getattr(f, "__closure__", None) or ():
        x = cell.cell_contents
        if is_of_library(x):
            yield cell
        elif isinstance(x, FunctionType) and x not in known:
            known.add(x)
            yield from cells_of(x, known)


@contextlib.contextmanager
def noting(body):
    """Give the calls that rules make meanwhile, also of what the body of a rule has captured."""
    Noted.calls = []
    cells = [(cell, cell.cell_contents) for cell in cells_of(body, set())]
    found = [
        (module, name, known)
        for key, module in sys.modules.items()
        if key.startswith("rules_scipy.") and not key.startswith("rules_scipy.examples")
        for name, known in vars(module).items()
        if is_of_library(known) or name in OF_LIBRARIES
    ]
    for module, name, known in found:
        setattr(module, name, noting_call(known) if callable(known) else Noting(known))
    for cell, known in cells:
        cell.cell_contents = noting_call(known)
    try:
        yield Noted.calls
    finally:
        for cell, known in cells:
            cell.cell_contents = known
        for module, name, known in found:
            setattr(module, name, known)


def questions_of(back, dy):
    """Return NumPy's calls by which a pullback asks whether partial derivatives are finite.

    Where they are not, a cotangent of zero stays zero: the formula that is meant has both cases.
    """
    asked = []

    def asking(x, y):
        asked.append(partial(vdot, x, y))
        return vdot(x, y)

    for module in (_product, _scalar):
        module.vdot = asking
    try:
        back(dy)
    finally:
        for module in (_product, _scalar):
            module.vdot = vdot
    return asked


def calls_of(rule, xs, options, dy, needed, back):
    """Return the calls that a rule makes for a value and for its cotangents."""
    asked = questions_of(back, dy)
    given, f = wrapped(copy.deepcopy(list(xs))), rule.function
    dy = wrapped(dy)
    with noting(rule.body) as calls, np.errstate(all="ignore"):
        if rule.kind == "scalar":
            y = noted(f, given, {})
            forward = len(calls)
            for p, x in zip(partials_of(rule, tuple(given), y, needed[1:]), xs, strict=True):
                if p is not None:
                    project(dy * p, x)
        elif rule.kind == "linear":
            noted(f, given, options)
            forward = len(calls)
            rule.body(dy, *given, **options)
        else:
            _, back = rule.body(*given, **options)
            forward = len(calls)
            if callable(back):
                back(dy)
            elif back is not None:
                _pull_parts(rule, back, dy, needed)
    return calls[:forward], calls[forward:] + asked


def number(x):
    """Return an argument as one number."""
    return x if isinstance(x, int | float) else np.ravel(x)[0].item()


def of_three(x):
    """Return an argument as an array of three numbers, unless it is an integer."""
    return x if isinstance(x, int) else np.resize(x, 3)


def cases(libraries):
    """Give each call, with its library and what tells it from others of the function."""
    for library in libraries:
        for name in SECTIONS[f"scipy.{library}"]:
            rule = importlib.import_module(f"rules_scipy.{library}.{name}").rule
            seen = Counter()
            for f, xs, given in rule.examples:
                options = {k: x for k, x in given.items() if not k.startswith("check_")}
                elementwise = isinstance(f, np.ufunc) and not (options or seen[f])
                if elementwise and not any(map(np.iscomplexobj, xs)):
                    yield library, f, [number(x) for x in xs], options, "number"
                    yield library, f, [of_three(x) for x in xs], options, "array"
                seen[f] += 1
                yield library, f, list(xs), options, f"example {seen[f]}"


def seconds(call, times):
    """Return what a call takes."""
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times


def microseconds(*calls):
    """Return the time of each call, the least of many short runs in turns, on a quiet machine."""
    calls = (speed.call, *calls)
    times = [max(1, int(SPENT / max(seconds(call, 5), 1e-7))) for call in calls]
    start, rounds = time.perf_counter(), []
    while len(rounds) < ROUNDS and (len(rounds) < 9 or time.perf_counter() - start < AT_MOST):
        rounds.append([seconds(call, n) * 1e6 for call, n in zip(calls, times, strict=True)])
    now, *found = [min(column) for column in zip(*rounds, strict=True)]
    return [t * speed.share(now) for t in found]


class Speed:
    """Know how long a call of reference takes on this machine when nothing else runs on it."""

    def __init__(self):
        self.x = np.linspace(0.0, 1.0, 3)
        self.shares = []
        self.quiet = min(seconds(self.call, 100) * 1e6 for _ in range(20_000))

    def call(self):
        """Do some of what rules do: a call of Python, shapes, and a product of small arrays."""
        x = self.x
        return x * x if type(x) is np.ndarray and x.shape == self.x.shape else None

    def share(self, now):
        """Return what of a time is this machine's own, where the call takes `now`."""
        self.quiet = min(now, self.quiet)
        self.shares.append(self.quiet / now)
        return self.shares[-1]


speed = Speed()


def measured(f, xs, options):
    """Return the times of SciPy's calls, forward and back, each with what the rule adds."""
    found = rrule(f, *xs, **options)
    if found is None or found[1].rule.kind == "constant":
        return None
    y, back = found
    rule = back.rule
    dy = random_direction(y, np.random.default_rng(0))
    needed = (False, *(i not in rule.refuses for i in range(len(back.args[3]))))
    back = back.only(needed) if rule.refuses else back
    back(dy)  # what a rule holds for later calls is made now, and not noted
    there, here = calls_of(rule, xs, options, dy, needed, back)
    with np.errstate(all="ignore"):
        times = microseconds(
            lambda: f(*xs, **options) if callable(f) else None,
            made(there),
            lambda: rrule(f, *xs, **options),
            made(here),
            lambda: back(dy),
        )
    whole, parts, forward, own, backward = times
    call = max(whole, parts)
    return call, forward - call, own, backward - own


def made(calls):
    """Return a function that makes calls again."""

    def again():
        for call in calls:
            call()

    return again


def group_of(library, told):
    """Return the group that a row is counted in."""
    return f"{library}, {'examples' if told.startswith('example') else told + 's'}"


def main(arguments):
    """Print the table, and return whether more rows of a group are over the limit than may be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="functions, if not all")
    parser.add_argument("--library", action="append", choices=LIBRARIES)
    parser.add_argument("--all", action="store_true", help="print what is within the limit too")
    asked = parser.parse_args(arguments)
    heads = ("call", "rule", "own calls", "back")
    print(f"{'':<44}" + "".join(f"{head:>10}" for head in heads))
    count, over, over_back = Counter(), Counter(), Counter()
    for library, f, xs, options, told in cases(asked.library or LIBRARIES):
        name = getattr(f, "__name__", str(f))
        if asked.names and name not in asked.names:
            continue
        try:
            times = measured(f, xs, options)
        except Exception as error:
            print(f"{name:<30} {told:<13} not measured: {type(error).__name__}: {error}"[:100])
            continue
        if times is None:
            continue
        call, forward, own, backward = times
        group = group_of(library, told)
        mark, mark_back = forward > LIMIT + NOISE * call, backward > LIMIT + NOISE * own
        count.update([group])
        over[group], over_back[group] = over[group] + mark, over_back[group] + mark_back
        if mark or mark_back or asked.all:
            row = "".join(f"{t:>10.2f}" for t in times)
            print(f"{name:<30} {told:<13}{row}" + "  over" * (mark or mark_back), flush=True)
    failed = False
    for group, rows in count.items():
        most, most_back = REACHED[group]
        too_many = over[group] > most or over_back[group] > most_back
        failed = failed or too_many
        print(
            f"{group:<18}{rows:>5}: over are {over[group]} calls (at most {most}) and "
            f"{over_back[group]} pullbacks (at most {most_back})" + "  too many" * too_many
        )
    print(
        f"{over.total()} of {count.total()} calls and {over_back.total()} pullbacks are over the "
        f"limit of {LIMIT} us; the call of reference takes {speed.quiet:.2f} us, and took "
        f"{1 / np.median(speed.shares):.2f} times as long"
    )
    return failed


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(sys.argv[1:]))
