"""Rules in typed code: the reverse of a call, from the source of its rule.

Read `contributions` first (what a reverse step gives to an operand), then `scalar` and `pullback`
(the reverse of each kind of rule), and `inlined` (how an active call is written, and which of them
it gets).
"""
