"""Every handler of the engine, in one list: what Python, NumPy and callables mean on a tape."""

from zygote_lite._cotangents.registry import install
from zygote_lite._nested import cotangents
from zygote_lite._nested import rules as nested_rules
from zygote_lite._numpy import foreign, functions, nditer, writes
from zygote_lite._python import (
    calls,
    generators,
    literals,
    operators,
    texts,
)
from zygote_lite._python.containers import deques, dicts, lists
from zygote_lite._python.library import (
    builtins,
    copy,
    folds,
    functools,
    heapq,
    itertools,
)
from zygote_lite._python.objects import attributes, construct, lookup
from zygote_lite._specialize import callee
from zygote_lite._tape import callables

MODULES = (
    literals, operators, calls, generators, texts,
    attributes, lookup, construct,
    lists, dicts, deques,
    builtins, folds, itertools, heapq, copy, functools,
    writes, functions, nditer, foreign,
    callables, callee, cotangents, nested_rules,
)  # fmt: skip

install(module.handlers for module in MODULES)
