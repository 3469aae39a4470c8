"""Quantiles of continuous distributions, as solutions of an equation."""

from scipy import stats

from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.quantiles")
SOLVED = ("cauchy", "cosine", "genexpon", "invgauss", "kstwo", "kstwobign", "ksone", "landau",
          "nct", "ncf", "ncx2", "skewnorm")  # fmt: skip


def implicit(f, name, sign):
    """Declare that a method `f` solves an equation: `name` of its value is what it is given."""

    @rule(f)
    def _(self: stats.rv_continuous, q: Numeric, *args: Numeric, ad):
        y = f(self, q, *args)

        def pullback(dy):
            _, back = ad(getattr(type(self), name), self, y, *args)
            scaled = -sign * dy / self._pdf(y, *args)
            dself, _, *dargs = back(scaled)[1:]
            return dself, project(-scaled, q), *dargs

        return y, pullback


implicit(stats.rv_continuous._ppf_single, "_cdf", 1)
implicit(type(stats.norminvgauss)._isf, "_sf", -1)
for distribution in SOLVED:
    owner = type(getattr(stats, distribution))
    implicit(owner._ppf, "_cdf", 1)
    if "_isf" in vars(owner):
        implicit(owner._isf, "_sf", -1)
