"""Random programs for transformed code: arrays, places in arrays and lists, folds, lists, branches.

Each is answered by transformed code and by the tape, for several choices of arguments, and the two
are compared; an internal error counts as wrong.
`python -m tests.zygote_lite.fuzz.specialized_fuzzer COUNT FIRST` runs COUNT programs of the numbers
from FIRST on, of all kinds in turn, and prints what it finds.
"""

import collections
import contextlib
import copy
import io
import random
import sys
import warnings

import numpy as np

from tests.zygote_lite.checks.oracles import is_alike
from tests.zygote_lite.fuzz.generate import arrays as array_programs
from tests.zygote_lite.fuzz.generate import branches as branch_programs
from tests.zygote_lite.fuzz.generate import carried as carried_programs
from tests.zygote_lite.fuzz.generate import cells as cell_programs
from tests.zygote_lite.fuzz.generate import collected as collected_programs
from tests.zygote_lite.fuzz.generate import complexes as complex_programs
from tests.zygote_lite.fuzz.generate import effects as effect_programs
from tests.zygote_lite.fuzz.generate import folds as fold_programs
from tests.zygote_lite.fuzz.generate import given as given_programs
from tests.zygote_lite.fuzz.generate import held as held_programs
from tests.zygote_lite.fuzz.generate import inside as inside_programs
from tests.zygote_lite.fuzz.generate import instances as instance_programs
from tests.zygote_lite.fuzz.generate import islands as island_programs
from tests.zygote_lite.fuzz.generate import iterators as iterator_programs
from tests.zygote_lite.fuzz.generate import jumps as jump_programs
from tests.zygote_lite.fuzz.generate import lent as setting_programs
from tests.zygote_lite.fuzz.generate import lists as list_programs
from tests.zygote_lite.fuzz.generate import made_classes as class_programs
from tests.zygote_lite.fuzz.generate import nothing as nothing_programs
from tests.zygote_lite.fuzz.generate import outer_variables as variable_programs
from tests.zygote_lite.fuzz.generate import outside as outside_programs
from tests.zygote_lite.fuzz.generate import places as place_programs
from tests.zygote_lite.fuzz.generate import recursions as recursive_programs
from tests.zygote_lite.fuzz.generate import subclasses as subclass_programs
from tests.zygote_lite.fuzz.generate import tries as try_programs
from tests.zygote_lite.fuzz.generate import written as written_programs
from tests.zygote_lite.fuzz.generate import zero_dimensional as number_programs
from tests.zygote_lite.fuzz.parts import in_parts
from zygote_lite import DifferentiationError, grad, testing
from zygote_lite._interface.gradients import raw_value_and_gradient

# of reordered sums, several in a row, in float64 and in float32
TOLERANCE, COARSE = 1e-7, 5e-3


def of_arrays(seed):
    """Return a program on arrays, and choices of its arguments."""
    f = array_programs.load(array_programs.program(seed), f"array {seed}")
    first, *others = array_programs.arguments(seed)
    return f, [first, *random.Random(seed).sample(others, 3)], (0, 1, 2, 3)


def of_places(seed, lists=False):
    """Return a program on places of an array, or a list."""
    f = place_programs.load(place_programs.program(seed, lists), f"{seed} {lists}")
    return f, place_programs.arguments(seed, lists), (0, 1)


def of_places_of_lists(seed):
    """Return a program on places of a list."""
    return of_places(seed, lists=True)


def of_folds(seed):
    """Return a program of `sum`, `max`, generator expressions and the like."""
    return fold_programs.program(seed), fold_programs.arguments(seed), (0, 1, 2, 3)


def of_lists(seed):
    """Return a program on lists, half of them too long to be taken item by item."""
    return list_programs.load(seed), list_programs.arguments(seed, many=seed % 2), (0, 1, 2)


def of_branches(seed):
    """Return a program in which a branch decides whether an argument is used."""
    return branch_programs.load(seed), branch_programs.arguments(seed), (0, 1, 2, 3)


def of_islands(seed):
    """Return a program whose helpers cannot be transformed."""
    return island_programs.load(seed), island_programs.arguments(seed), (0, 1)


def of_settings(seed):
    """Return a program with settings in a dict that is set back."""
    return setting_programs.load(seed), setting_programs.arguments(seed), (0, 1)


def of_subclasses(seed):
    """Return a program of objects that inherit from containers."""
    return subclass_programs.load(seed), subclass_programs.arguments(seed), (0, 1)


def of_cells(seed):
    """Return a program whose functions inside assign variables of the function around."""
    return cell_programs.load(seed), cell_programs.arguments(seed), (0, 1, 2)


def of_jumps(seed):
    """Return a program of loops that are left."""
    return jump_programs.load(seed), jump_programs.arguments(seed), (0, 1, 2)


def of_iterators(seed):
    """Return a program of generators and iterators."""
    return iterator_programs.load(seed), iterator_programs.arguments(seed), (0, 1, 2, 4)


def of_tries(seed):
    """Return a program that raises, and catches some of it."""
    return try_programs.load(seed), try_programs.arguments(seed), (0, 1, 2)


def of_recursions(seed):
    """Return a program with functions that call themselves."""
    return recursive_programs.load(seed), recursive_programs.arguments(seed), (0, 1, 2)


def of_instances(seed):
    """Return a program with objects, by numbers and by an object."""
    return instance_programs.load(seed), instance_programs.arguments(seed), (0, 1, 2)


def of_made_classes(seed):
    """Return a program with classes defined inside, by numbers and by an object."""
    return class_programs.load(seed), class_programs.arguments(seed), (0, 1, 2)


def of_calls(seed):
    """Return a program of another kind, called from a function that is recorded."""
    kind = WHOLE[seed // len(KINDS) % len(WHOLE)]
    f, choices, numbers = kind(seed)
    calls = []

    def around(*xs):
        calls.append(len(xs))  # an effect, which transformed code never has
        y = f(*xs)
        return 0.5 * y + f(*xs) if isinstance(y, float | np.ndarray) else y

    return around, choices, numbers


def of_structures(seed):
    """Return a program whose loops and branches rebind tuples, lists and dicts."""
    return carried_programs.load(seed), carried_programs.arguments(seed), (0, 1)


def of_writes(seed):
    """Return a program that writes to arrays, those that it is given too."""
    return written_programs.load(seed), written_programs.arguments(seed), (0, 1, 2, 3)


def of_gradients(seed):
    """Return a program that takes gradients of functions inside."""
    return inside_programs.load(seed), inside_programs.arguments(seed), (0, 1)


def of_containers(seed):
    """Return a program on containers that change, under several names."""
    return held_programs.load(seed), held_programs.arguments(seed), (0, 1)


def of_effects(seed):
    """Return a program that prints and draws random numbers."""
    return effect_programs.load(seed), effect_programs.arguments(seed), (0, 1)


def of_given(seed):
    """Return a program that changes lists, dicts and objects that it is given."""
    numbers = (0, 5) if seed % 3 else (0, 1, 2)
    return given_programs.load(seed), given_programs.arguments(seed), numbers


def of_collected(seed):
    """Return a program that puts values into containers outside."""
    return collected_programs.load(seed), collected_programs.arguments(seed), (0, 1)


def of_outside(seed):
    """Return a program that writes to arrays and variables outside."""
    return outside_programs.load(seed), outside_programs.arguments(seed), (0, 1)


def of_variables(seed):
    """Return a program that assigns variables outside."""
    return variable_programs.load(seed), variable_programs.arguments(seed), (0, 1)


def of_numbers(seed):
    """Return a program of numbers and arrays without axes."""
    return number_programs.load(seed), number_programs.arguments(seed), (0, 1, 2)


def of_complex_numbers(seed):
    """Return a program of complex numbers and arrays."""
    first, *others = complex_programs.arguments(seed)
    some = random.Random(seed).sample(others, 4)
    return complex_programs.load(seed), [first, *some], (0, 1, 2, 3)


def of_nothing(seed):
    """Return a program with variables that are a number or `None`."""
    return nothing_programs.load(seed), nothing_programs.arguments(seed), (0, 1, 2)


WHOLE = (of_arrays, of_places, of_places_of_lists, of_folds, of_lists, of_branches, of_tries,
         of_cells, of_instances, of_made_classes, of_iterators)  # fmt: skip
KINDS = (*WHOLE, of_structures, of_recursions, of_calls, of_islands, of_jumps, of_writes,
         of_gradients, of_containers, of_numbers, of_effects, of_given,
         of_complex_numbers, of_nothing, of_subclasses, of_settings,
         of_collected, of_outside, of_variables)  # fmt: skip
DERIVATIVES = {of_branches: branch_programs.derivatives}  # which are not ours


def examine(kind, seed):
    """Return what is wrong with a program, or `None`, and how often each engine answered."""
    f, choices, numbers = kind(seed)
    if kind in (of_effects, of_given, of_collected, of_outside, of_variables):
        told = repr if kind is not of_outside else type  # texts of the tape may differ
        wrong = wrong_effects(f, choices, numbers, told)
        if wrong is not None:
            return wrong, collections.Counter()
    differentiated = raw_value_and_gradient(f, numbers)
    counts = collections.Counter()
    for xs in [*choices, choices[0]]:
        single = any(getattr(x, "dtype", None) == np.float32 for x in xs)
        given = copy.deepcopy(xs)
        with (
            testing.compared(COARSE if single else TOLERANCE),
            testing.strict(),
            testing.observed() as answers,
        ):
            try:
                _, found = differentiated(*given)
                wrong = wrong_derivatives(kind, f, xs, numbers, found)
                if wrong is not None:
                    return wrong, counts
            except (testing.TierMismatch, testing.InternalError) as error:
                return f"{type(error).__name__}: {error}", counts
            except Exception as error:  # the program's own, or a refusal
                counts[f"error: {type(error).__name__}"] += 1
        counts.update(answer.tier for answer in answers)
    return None, counts


def begin_again(f, k=0):
    """Give the variables outside of a program the values before a call; return those by name."""
    kept = f.__globals__["fresh"](k) if "fresh" in f.__globals__ else {}
    f.__globals__.update(kept)
    if "reset" in f.__globals__:
        f.__globals__["reset"](k)
    return kept


def wrong_effects(f, choices, numbers, told=repr):
    """Return how the effects of calls differ from those of the function alone.

    Arguments:
        f, choices, numbers: a function, its arguments, and the numbers of those differentiated.
        told: what is compared of an error that the program raises.
    """
    differentiated = raw_value_and_gradient(f, numbers)
    for k, xs in enumerate([*choices, choices[0], *choices]):
        found = []
        before = np.random.get_state(), random.getstate()
        for call in (f, differentiated):
            np.random.set_state(before[0])
            random.setstate(before[1])
            given, out = copy.deepcopy(xs), io.StringIO()
            f.__globals__.update({name: x + k for name, x in effect_programs.GLOBALS.items()})
            kept = begin_again(f, k)
            shared = f.__globals__.get("SHARED")
            if shared is not None:
                vars(shared).update(vars(given_programs.fresh()))
            with contextlib.redirect_stdout(out):
                try:
                    y = call(*given)
                    y = y if call is f else y[0]
                except DifferentiationError:
                    y = None  # a refusal: the effects before it are there
                except Exception as error:
                    y = None if "[ZL" in str(error) else told(error)
            states = [x.bit_generator.state for x in given if isinstance(x, np.random.Generator)]
            states += [shared, *(f.__globals__[name] for name in effect_programs.GLOBALS)]
            left = [x for x in given if not isinstance(x, np.random.Generator)]
            kept = [kept, [f.__globals__[name] for name in kept]]
            kept += f.__globals__["told"]() if "told" in f.__globals__ else ()
            states.append(collected_programs.told([kept, left], {}))
            after = repr((hash(repr((np.random.get_state(), random.getstate(), states))), left))
            found.append((y, out.getvalue(), after))
        (want, *expected), (y, *effects) = found
        if y is not None and not (effects == expected and is_alike(y, want, COARSE)):
            return f"effects at call {k}: {found}"
    return None


def wrong_derivatives(kind, f, xs, numbers, found):
    """Return how a gradient differs from derivatives that are not ours, if there are any.

    `None` and zeros are the same in the gradient as it comes; `grad` gives zeros.
    """
    if kind not in DERIVATIVES:
        return None
    want = DERIVATIVES[kind](f, xs)
    whole = grad(f, numbers)(*copy.deepcopy(xs))
    for what, got in (("gradient", found), ("grad", whole)):
        if not is_alike(to_floats(got), want, TOLERANCE):
            return f"{what} {got} instead of {want} at {xs}"
    nothing = [d for d in (*whole, *whole[2], *whole[3].values()) if d is None]
    return None if len(nothing) == 1 else f"grad {whole} at {xs}"  # for the name, a text


def to_floats(d):
    """Return a gradient with Python's floats for NumPy's."""
    if isinstance(d, tuple | list):
        return type(d)(map(to_floats, d))
    if isinstance(d, dict):
        return {key: to_floats(entry) for key, entry in d.items()}
    return float(d) if isinstance(d, np.floating) else d


def run(count, first=0):
    """Run programs; return how they were answered, and the wrong ones with what is wrong."""
    counts, wrong = collections.Counter(), []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for seed in range(first, first + count):
            kind = KINDS[seed % len(KINDS)]
            found, some = examine(kind, seed)
            counts.update(some)
            if found is not None:
                wrong.append(f"--- {kind.__name__} {seed}\n{found}\n")
            testing.forget()
    return counts, wrong


def run_parts(count, first=0, size=250):
    """Run programs on all processors and report each part; return the wrong ones."""
    counts, wrong, done = collections.Counter(), [], 0
    for some, found in in_parts(run, count, first, size):
        counts.update(some)
        wrong += found
        done = min(done + size, count)
        print(f"{done} of {count}: {dict(counts)}, {len(wrong)} wrong", flush=True)
        print("\n".join(found), end="", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(bool(run_parts(*map(int, sys.argv[1:]))))
