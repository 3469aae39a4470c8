"""The `cmath` module: functions of complex numbers."""

import cmath
import math

from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.python.cmath", may_raise=False)

rule.scalar(cmath.exp)(lambda z, out: out)
rule.scalar(cmath.log)(lambda z: 1 / z)
rule.scalar(cmath.log)(
    lambda z, base, out: (1 / (z * cmath.log(base)), -out / (base * cmath.log(base)))
)
rule.scalar(cmath.log10)(lambda z: 1 / (z * math.log(10)))
rule.scalar(cmath.sqrt)(lambda z, out: 0.5 / out)
rule.scalar(cmath.sin)(lambda z: cmath.cos(z))
rule.scalar(cmath.cos)(lambda z: -cmath.sin(z))
rule.scalar(cmath.tan)(lambda z, out: 1 + out * out)
# (z - 1) * (-z - 1) is 1 - z**2 with the zero signs that tell the sides of the branch cuts
rule.scalar(cmath.asin)(lambda z: 1 / cmath.sqrt((z - 1) * (-z - 1)))
rule.scalar(cmath.acos)(lambda z: -1 / cmath.sqrt((z - 1) * (-z - 1)))
rule.scalar(cmath.atan)(lambda z: 1 / (1 + z * z))
rule.scalar(cmath.sinh)(lambda z: cmath.cosh(z))
rule.scalar(cmath.cosh)(lambda z: cmath.sinh(z))
rule.scalar(cmath.tanh)(lambda z, out: 1 - out * out)
rule.scalar(cmath.asinh)(lambda z: 1 / cmath.sqrt(-(-(z * z) - 1)))
rule.scalar(cmath.acosh)(lambda z: 1 / (cmath.sqrt(z - 1) * cmath.sqrt(-(-z - 1))))
rule.scalar(cmath.atanh)(lambda z: 1 / ((1 - z) * (1 + z)))


@rule(cmath.phase)
def _(z: Numeric):
    def pullback(dy):
        return (project(1j * dy / complex(z).conjugate() if dy or z else 0.0, z),)

    return cmath.phase(z), pullback


@rule(cmath.polar)
def _(z: Numeric):
    r, phi = cmath.polar(z)

    def pullback(dy):
        dr, dphi = dy
        dz = 0.0
        if dr is not None and r:
            dz += dr * (z / r)
        if dphi is not None and (dphi or r):
            dz += 1j * dphi / complex(z).conjugate()
        return (project(dz, z),)

    return (r, phi), pullback


@rule(cmath.rect)
def _(r: Numeric, phi: Numeric):
    y = cmath.rect(r, phi)

    def pullback(dy):
        unit = cmath.rect(1.0, phi)
        return project(unit.conjugate() * dy, r), project((1j * y).conjugate() * dy, phi)

    return y, pullback


rule.constant(cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan)
