"""Normal form: the lowered IR with one exit, written in fewer kinds of statements.

From below come the functions of `_ir`; what is given above, to `infer`, are bodies without
`return`, `break` and `continue` inside blocks, without `try` and without `class`.
Read in this order: `class_bodies` (classes inside), `blocks` (how they end, and what they raise),
`tries` (attempts that do not raise), `handlers` (those that do), `exits` (one exit, and which names
are live), `lowered` (what is known of a function in normal form).
"""
