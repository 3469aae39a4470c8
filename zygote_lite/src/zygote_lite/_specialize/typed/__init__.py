"""The typed IR: abstract values (`values`), the operations on them (`nodes`).

`builder` writes them; `abstract_eval` tells what holds for a result, and `shape_rules` what is
known of its axes. `runtime` holds the functions that emitted code calls; `plugins` tells whose
modules stay as they are.
"""
