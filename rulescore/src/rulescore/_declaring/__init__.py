"""Declaring rules: what stands in a plugin is checked at once, and becomes a `Rule`.

From below come the rule (`_rule`), its reverse and forward modes, and the registration
(`_table`). Above, `RuleSet` and the declarations at the definition of a function are public.

Read in this order: `ruleset` (the forms of a declaration), `declaration` (one that waits for its
body), `made` (the rules that it makes), `parameters` (arguments and options of a body), `refusals`
(what a declaration must not be), `in_place` (functions that no rule can be for), `poles` (partial
derivatives that divide by zero), `examples`, and `definitions`.
"""
