"""Functions of the standard library, as Python that means the same and is differentiated.

`builtins`, `folds`, `itertools`, `functools`, `heapq`, `copy` and `contextvars` say it of their
modules; `c_iterators` has iterators that were made before their source became active, and `steps`
those that loops take most. What reaches beyond the program is followed where it can be, and else
refused: `output` and `streams` (files), `running_texts` (`eval`, `exec`), `tracebacks` (warnings,
logs), `threads` (what is computed elsewhere), `callbacks` (functions that were registered before).
"""
