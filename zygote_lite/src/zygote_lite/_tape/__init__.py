"""The engine: a `Tape` runs calls and notes, for each, how its cotangent goes back.

Read in this order: `entries` (what is noted, and the walk backwards), `tape` (the order in which a
call is resolved, as a numbered list), and what the tape has besides: `functions` (Python functions
on the tape), `inactive` (calls that are simply run, iteration), `scalars` (operations of numbers,
resolved at once); `callables` (what a callable stands for), `rules` (a call by its rule),
`overwriting` (options by which a function overwrites what it is given), `arguments`, `generators`,
`holders` (what carries no gradient), `handed_over` (functions that rules take), `room` (for
frames).

A whole gradient: `run` (the value and the pullback of a call), with `outermost`, `seeds`,
`jacobians`, `validate`, `repeats` (functions that are run again) and `notebook`. The words of
errors stand in `refusals`.

Comes from below: recording code (`_ir.compile`), what is active (`_activity`), the store
(`_cotangents`). Goes above: handlers for Python and NumPy are found in the registry; the tape
knows none of them by name.
"""
