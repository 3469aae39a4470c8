"""Rules for Python itself: builtins and modules of the standard library.

`math` is the formula sheet: begin there. `cmath` is the same for complex numbers. `builtins` has
what takes numbers and is called by name (`round`, `sum`, `max`), `statistics` the functions of
lists of numbers.

Operators are not here: `operator.mul` and `np.multiply` have one formula and one declaration, in
`rules_base.numpy.arithmetic`, and so do comparisons and what else is constant, in
`rules_base.numpy.constants`. Subscripts are in `rules_base.numpy.arrays.indexing`.

A module may have the name of the module that it has rules for: imports are absolute.
"""
