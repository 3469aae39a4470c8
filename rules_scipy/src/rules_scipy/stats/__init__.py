"""Rules for `scipy.stats`: what its distributions compute by integrals, equations or in C.

Everything else of a distribution is differentiated through its Python source. `integrals` has what
any distribution inherits that does not define it (distribution functions, moments and entropies),
`quantiles` what is found by solving an equation, and the other modules distributions of their own.
"""
