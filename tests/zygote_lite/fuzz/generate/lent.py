"""Random programs with settings in a dict from outside: set for a while, read, and set back.

They are set by managers and by hand, in branches and loops that are left; some stay changed.
"""

import random

import numpy as np

from tests.zygote_lite.checks import texts

SETTINGS = """
import contextlib

SETTINGS = {"scale": 2.0, "skip": False, "name": "plain", "n": 3}

def assign(**options):
    for name, value in options.items():
        if value is not None:
            SETTINGS[name] = value

@contextlib.contextmanager
def setting(**options):
    before = SETTINGS.copy()
    assign(**options)
    try:
        yield
    finally:
        assign(**before)

def read(x):
    y = x * SETTINGS["scale"] + SETTINGS["n"]
    return y * 0.5 if SETTINGS["skip"] or SETTINGS["name"] == "other" else y

"""
OPTIONS = ("skip=True", "scale=0.5", "name='other'", "n=1", "skip=n > 3", "scale=1.5, n=2")


def program(seed):
    """Return the text of the program of a number."""
    source = random.Random(seed)
    lines = [SETTINGS, "def f(a, v, n):", "    s = read(a)"]
    for _ in range(source.randint(2, 6)):
        lines += _statement(source, 1, loops=0)
    lines += ["    return s + read(v[0]) * 0.1 + np.sum(read(v))", ""]
    return "\n".join(lines)


def _statement(source, depth, loops):
    indent = "    " * depth
    kind = source.random()
    if depth < 4 and kind < 0.35:
        inner = [f"{indent}with setting({source.choice(OPTIONS)}):"]
        for _ in range(source.randint(1, 2)):
            inner += _statement(source, depth + 1, loops)
        return inner
    if depth < 4 and kind < 0.5:
        inner = [f"{indent}for k in range({source.randint(1, 3)}):"]
        return inner + _statement(source, depth + 1, loops + 1)
    if depth < 4 and kind < 0.65:
        test = source.choice(["n % 2 == 0", "n > 3", "a > 0.0", "SETTINGS['skip']"])
        return [f"{indent}if {test}:", *_statement(source, depth + 1, loops), f"{indent}else:",
                *_statement(source, depth + 1, loops)]  # fmt: skip
    if loops and kind < 0.7:
        return [f"{indent}if n > {source.randint(2, 5)}:", f"{indent}    break"]
    if kind < 0.74:
        return [f"{indent}if n > 5:", f"{indent}    raise ValueError('n')"]
    if kind < 0.78:
        return [f"{indent}SETTINGS['n'] = n", f"{indent}s = s * read(a)"]
    if kind < 0.86:
        return [f"{indent}before, SETTINGS['scale'] = SETTINGS['scale'], 0.25",
                f"{indent}s = s + read(a)", f"{indent}SETTINGS['scale'] = before"]  # fmt: skip
    choices = ["s = s + read(v[1])", "s = read(s) * 0.5", "s = s + a * SETTINGS['n']",
               "s = s * 0.9 - read(a * s)"]  # fmt: skip
    return [indent + source.choice(choices)]


def load(seed):
    """Return the function of a number; each call begins with the settings as they are at first."""
    return texts.load(program(seed), f"<program of settings {seed}>", np=np)


def arguments(seed):
    """Return choices of arguments."""
    source = np.random.default_rng(seed)
    choices = [(float(source.normal()), source.normal(size=3), int(n)) for n in (3, 4, 5, 6, 3)]
    choices.append((np.float64(source.normal()), source.normal(size=4), 3))
    return choices
