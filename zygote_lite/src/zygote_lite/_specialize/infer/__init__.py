"""Abstract interpretation: from the normal form of the lowered IR to the typed IR.

Read in this order: `interpreter` (functions and statements), `reads` (what these read), `builds`
(tuples, lists, dicts), `branches` and `forms` (what holds where paths meet), `nothing` (numbers
that are `None` on some path), `walks` (over an iterable), `counters` (its elements), `loops` (what
they carry), `calls` (who answers a call), `operations` (a call that is one), `plain_calls` (that no
gradient passes through), `methods`, `protected` (errors that are caught), `contexts` (managers),
`recursion`, `islands` (what is left to the tape), `applied` (rules that are called as a whole, as
those of solvers are), `caches` (functions that are memoized), `closures` and `cells` (variables
that functions share), `writes` (to arrays) and `memory` (with several names), `signature` (of
arguments) and `inputs` (arguments and globals), `tables` (data of pandas among these), `models`
(lists, dicts, objects, classes), `held` (containers that change), `iteration` (iterators,
generators) and `effects` (output, random draws).

Comes from below: the `builder` of `typed` writes new values and operations, and their abstract
values come from its `abstract_eval`.
"""
