"""Calls that the rules of `rules_scipy.special.bessel` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.bessel import rule

REAL = np.array([0.4, 2.3])
COMPLEX = REAL + np.array([0.5j, -0.7j])
ORDERS = np.array([[0], [2]])
for f in (sp.jv, sp.yv, sp.iv):
    rule.example(f, ORDERS, REAL)
    rule.example(f, 1, COMPLEX)
for f in (sp.jve, sp.yve, sp.ive, sp.yn, sp.kn):
    rule.example(f, ORDERS, REAL)
for f in (sp.hankel1, sp.hankel2, sp.hankel1e, sp.hankel2e):
    rule.example(f, ORDERS, REAL)
    rule.example(f, 1, COMPLEX)
rule.example(sp.ive, 1, np.array([-3.0, 80.0]))
rule.example(sp.hankel1e, 1, np.array([80.0]))
for f in (sp.kv, sp.kve):
    rule.example(f, np.array([[0.3], [-2.5]]), REAL)
    rule.example(f, 2, COMPLEX[:1].real + 80.0)
for f in (sp.j0, sp.j1, sp.y0, sp.y1, sp.i0, sp.i1, sp.k0, sp.k1, sp.i0e, sp.i1e, sp.k0e, sp.k1e):
    rule.example(f, REAL)
for f in (sp.j0, sp.j1, sp.i0, sp.i1, sp.i0e, sp.i1e):
    rule.example(f, -REAL)
rule.example(sp.wright_bessel, 1, 2, REAL)
rule.example(sp.log_wright_bessel, 1, 2, REAL)
for f in (sp.itj0y0, sp.iti0k0, sp.it2j0y0, sp.it2i0k0):
    rule.example(f, REAL)
rule.example(sp.besselpoly, REAL, 1, 2)
rule.example(sp.besselpoly, REAL, 1, 0)
for f in (sp.spherical_jn, sp.spherical_yn, sp.spherical_in, sp.spherical_kn):
    rule.example(f, ORDERS, REAL)
    rule.example(f, 2, COMPLEX, True)
    rule.example(f, 0, REAL, derivative=True)
rule.example(sp.riccati_jn, 3, 0.7)
rule.example(sp.riccati_yn, 3, 0.7)
for f in (sp.ber, sp.bei, sp.ker, sp.kei, sp.berp, sp.beip, sp.kerp, sp.keip, sp.kelvin):
    rule.example(f, np.array([0.4, 2.3]))
rule.example(sp.lmbda, 2, 0.7)
rule.example(sp.lmbda, 1.5, 0.7)
