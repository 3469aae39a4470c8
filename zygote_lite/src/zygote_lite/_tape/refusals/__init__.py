"""The words of errors: what the tape says where it refuses a call, and where a library met it.

Read `refusal` first (a function without a rule), then `messages` (errors that a library raised);
`near_misses` (the rule that almost fits), `advice` (what to do) and `pasted` (a rule to paste) give
their parts.

Comes from below: the rules (`rulescore`), names and places (`_ir`). Goes above: the tape raises
what is made here.
"""
