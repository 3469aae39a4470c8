"""The typed IR: abstract values, and the operations on them (`nodes`).

Read in this order: `facts` (what holds for a value in every run), `values` (a fact, a sample and a
variable), `naming` (of the variables), `inputs` (free variables, and their guards), `structures`
(values with parts) and `contents` (of containers that change), `stand_ins` (functions and methods
that are not called yet), `derivatives` (the verbs among them), `functions` (attributes of arrays),
`contexts` (managers), `nodes`.

`drafts` keeps what is written so far, with `notes` for the next attempt, and `builder` writes
operations. `abstract_eval` tells what holds for a result, `decisions` which results the types of
the operands settle, `shape_rules` what is known of its axes, `raising` which errors it may be, and
`store_forwarding` what was just written. `runtime` holds the functions that emitted code calls,
`shadows` and `effects` what it keeps as it runs; `plugins` tells whose modules stay as they are,
and `reasons` why code is not transformed.
"""
