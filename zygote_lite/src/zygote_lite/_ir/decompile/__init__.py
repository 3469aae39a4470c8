"""From the code object of a function to a definition that compiles to that code.

Read in this order: `instructions` (what all versions of Python have in common), `graph` (control
flow), `equal` (whether two code objects do the same), `values` (what stands on the stack),
`expressions`, `calls`, `conditions`, `stores`, `statements` (loops and branches), `protected`
(what handles exceptions), `matches` (patterns), `functions`.

What is found is a guess until it is compiled: a definition is given only if its code does the same
as the code that runs. So no step needs to be right for all code, and each may refuse.
"""
