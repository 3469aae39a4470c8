"""What the interpreter knows of Python's types and functions.

A module says what is supported, and what must be refused for the code to be right. Functions:
`builtins`, `callables`, `operators`, `vectorized`, `derivatives` (taken inside), `imports`.
Containers: `lists`, `dicts`, `lookups` (dicts from outside), `sets`, `named` (tuples),
`subclasses`, `patterns` (of `match`). Arrays: `arrays`, `writing`, `pieces` (`np.piecewise`),
`wholes` (such as sparse arrays). Objects: `objects` (from outside), `differentiated`, `instances`
(made by the function) with `fields`, `records` (dataclasses), `errors`; `classes`, `made_classes`.
"""
