"""The fast Hankel transform, on logarithmic grids."""

from scipy import fft as sf

from rules_scipy.shared.refusals import PARAMETER
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.fft.logarithmic")
ArrayLike = Numeric | list | tuple


def declare(f):
    """Declare a transform, which is a symmetric matrix: its kernel depends on the sum of indices.

    The bias multiplies both sides by the same powers, but for a constant.
    """

    @rule(f, refuses={"dln": PARAMETER, "mu": PARAMETER})
    def _(a: ArrayLike, dln: float, mu: float, offset=0.0, bias=0.0):
        def by_signal(dy):
            return project(f(dy, dln, mu, offset, bias), a)

        return f(a, dln, mu, offset, bias), (by_signal, None, None)


declare(sf.fht)
declare(sf.ifht)
reason = "it sets or tells which implementation is used: call it outside of what is differentiated"
rule.without_rule(reason, "scipy.fft.register_backend", "scipy.fft.set_global_backend")
