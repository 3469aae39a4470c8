"""Rules in typed code: the reverse of a call, from the source of its rule.

Read `contributions` first (what a reverse step gives to an operand), then `inlined` (a rule's body
in the place of its call), `project` (a cotangent of the kind of its primal).
"""
