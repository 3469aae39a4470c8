"""Rules that are called as a whole, as those of solvers are, which are handed the engine.

Read `given_forms` (what such a rule is given: functions and structures, made anew of numbers and
arrays), `lifted` (functions that read objects, as functions of the attributes), `operand_forms`
(which form an operand has), `answered_forms` (what it returns, taken apart), and `rule_calls` (the
call that the code makes, and how it is written).
"""
