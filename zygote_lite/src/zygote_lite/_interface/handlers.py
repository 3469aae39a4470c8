"""Every handler of the engine, in one list: what Python, NumPy and callables mean on a tape."""

from zygote_lite._cotangents.registry import install
from zygote_lite._nested import cotangents
from zygote_lite._nested import rules as nested_rules
from zygote_lite._numpy import (
    conversions,
    dataframes,
    foreign,
    functions,
    nditer,
    whole_writes,
    writes,
)
from zygote_lite._python import (
    calls,
    generators,
    literals,
    operators,
    plain,
    texts,
)
from zygote_lite._python.containers import deques, dicts, lists, mappingproxy, sets
from zygote_lite._python.library import (
    builtins,
    callbacks,
    contextvars,
    copy,
    folds,
    functools,
    heapq,
    itertools,
    output,
    running_texts,
    steps,
    streams,
    threads,
    tracebacks,
)
from zygote_lite._python.objects import attributes, construct, lifetimes, lookup
from zygote_lite._specialize import callee, handed
from zygote_lite._tape import callables, scalars
from zygote_lite._tape.handed_over import recorded_for_rule
from zygote_lite._tape.rules import for_functions

MODULES = (
    dataframes,
    literals, operators, calls, generators, texts, plain,
    attributes, lookup, construct, lifetimes,
    lists, dicts, sets, deques, mappingproxy,
    builtins, folds, itertools, heapq, copy, functools, steps, streams, output, tracebacks, threads,
    contextvars, callbacks, running_texts,
    writes, whole_writes, functions, conversions, nditer, foreign,
    callables, scalars, callee, cotangents, nested_rules,
)  # fmt: skip

install(module.handlers for module in MODULES)
for_functions += [handed.answered, recorded_for_rule]
