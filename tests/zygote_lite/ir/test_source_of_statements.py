"""A function's definition is found in its statement, and the rest of the module is not read."""

import importlib.util
import linecache

import pytest

from zygote_lite import gradient
from zygote_lite._ir.decompile.instructions import NotFollowedError
from zygote_lite._ir.source import definition_of

TEXT = """
import math, os.path as path
from numpy import (
    exp,  # one, two
    sin as sine,
)
import numpy as np
try:
    import cmath
except ImportError:
    pass


def smooth(x):
    return math.tanh(x) + np.sin(x) + sine.reduce([x]) + exp.outer(1.0, x) + cmath.cos(0.0).real


class Model:
    def value(self, x):
        return max((y for y in (np.exp(x), math.exp(x))), key=lambda y: math.sqrt(y))
"""


@pytest.fixture
def module(tmp_path):
    """Return a module whose text has since been followed by what is no Python."""
    path = tmp_path / "with_imports.py"
    path.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("with_imports", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    name = str(path)
    lines = [*TEXT.splitlines(keepends=True), "\n", "%magic that is no Python\n"]
    linecache.cache[name] = (len(TEXT), None, lines, name)
    yield module
    del linecache.cache[name]


def not_followed(code):
    raise NotFollowedError("the text is not found")


def test_attributes_of_what_the_module_imports(module, monkeypatch):
    monkeypatch.setattr("zygote_lite._ir.source.decompiled", not_followed)
    assert definition_of(module.smooth.__code__).lineno == 14
    assert definition_of(module.Model.value.__code__).lineno == 19
    assert gradient(module.Model().value, 0.0) == (1.0,)
