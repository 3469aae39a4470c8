"""Abstract interpretation: from the lowered IR to the typed IR.

Read in this order: `class_bodies` (of classes inside), `normalize` (one exit), `interpreter`
(functions and statements), `reads` (what these read), `builds` (tuples, lists, dicts), `branches`,
`walks` (over an iterable), `counters` (its elements), `loops` (what they carry), `calls` (what a
call becomes), `handlers` and `protected` (errors that are caught), `recursion`, `islands` (what is
left to the tape), `closures`, `writes` (to arrays), `signature` (of arguments) and `inputs`
(arguments and globals), `models` (lists, dicts, objects, classes), `held` (containers that
change) and `iteration` (iterators, generators).
New values and operations are written by the `builder` of `typed`, and their abstract values come
from its `abstract_eval`.
"""
