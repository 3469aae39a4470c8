"""Abstract interpretation: from the lowered IR to the typed IR.

Read in this order: `normalize` (one exit), `builder` (new values and operations), `interpreter`
(statements), `branches` and `loops`, `calls` (what a call becomes), `abstract_eval` (what holds for
its result), `inputs` (what is read from outside, and its guards), `models` (lists, dicts, objects).
"""
