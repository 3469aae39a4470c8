"""The typed IR: abstract values, and the operations on them (`nodes`).

Read in this order: `facts` (what holds for a value in every run), `values` (a fact, a sample and a
variable), `naming` (of the variables), `structures` (values with parts), `stand_ins` (functions and
methods that are not called yet), `functions` (attributes of arrays), `nodes`.

`drafts` keeps what is written so far, and `builder` writes operations. `abstract_eval` tells what
holds for a result, `decisions` which results the types of the operands settle, and `shape_rules`
what is known of its axes. `runtime` holds the functions that emitted code calls; `plugins` tells
whose modules stay as they are.
"""
