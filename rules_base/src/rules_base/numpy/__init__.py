"""Rules for NumPy, and for Python's operators, which mean the same for numbers.

Read `arithmetic` and `ufuncs` first: one line of calculus per function, declared by
`rule.scalar`. `complex` has what is not holomorphic. Then `reductions`, which shows what a general
rule looks like: the value, and a `pullback` for it; `statistics` and `cumulative` are made of the
same parts. `matmul`, `products`, `convolutions` and `einsum` are the products. Two folders go on:
`arrays` has what makes, shapes, joins, indexes and sorts arrays, `linalg` solves and
decompositions.

`ufunc_methods` (`np.add.reduce`) and `sequences` (lists in the place of arrays) derive their rules
from those of the functions. `constants` lists what no cotangent passes through, `without_rules`
what has no rule here, and why.
"""
