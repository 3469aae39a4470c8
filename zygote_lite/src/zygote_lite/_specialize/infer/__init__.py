"""Abstract interpretation: from the normal form of the lowered IR to the typed IR.

Read in this order: `interpreter` (functions and statements), `reads` (what these read), `builds`
(tuples, lists, dicts), `branches`, `walks` (over an iterable), `counters` (its elements), `loops`
(what they carry), `calls` (who answers a call), `operations` (a call that is one), `methods`,
`protected` (errors that are caught), `contexts` (managers), `recursion`, `islands` (what is left to
the tape), `closures`, `writes` (to arrays), `signature` (of arguments) and `inputs` (arguments and
globals), `tables` (data of pandas among these), `models` (lists, dicts, objects, classes), `held`
(containers that change), `iteration` (iterators, generators) and `effects` (output, random draws).
New values and operations are written by the `builder` of `typed`, and their abstract values come
from its `abstract_eval`.
"""
