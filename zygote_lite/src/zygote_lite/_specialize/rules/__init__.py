"""Rules in typed code: the reverse of a call, from the source of its rule.

Read `contributions` first (what a reverse step gives to an operand), then `scalar`, `pullback` and
`adjoint` (the reverse of each kind of rule), `project` (a cotangent of the kind of its primal),
`parts` (rules that give several values), and `inlined` (how an active call is written, and which
of them it gets).
"""
