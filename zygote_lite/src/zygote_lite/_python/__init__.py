"""What Python's constructs and library mean on a tape.

Each module declares handlers for functions and kinds of operands: *structural* ones give a
pullback, *desugaring* ones stand for other calls, *decompositions* are Python that means the same
as a function written in C. The tape finds them in the registry and knows none of them by name.

Read `literals` first (tuples, lists and dicts are built, joined and subscripted), `operators`,
`calls` (methods, `*args`, decorators), `generators` and `texts` (f-strings and the like), then
`objects` (attributes, instances, classes) and `containers`; `library` has the functions of the
standard library. The plainest operations are in `plain` and `library.steps`, too: what they mean
there is what the others say, with less to ask.
"""
