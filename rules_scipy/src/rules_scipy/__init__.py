"""Derivative rules for SciPy.

Engines find the rules once the package is installed: nothing has to be imported. `SECTIONS` lists
the modules of SciPy, with those of their rules.

The folders mirror SciPy: `special` has a module for each section of its manual, and `shared` what
several need. Every module of rules has a rule set named `rule`, and is imported when SciPy's module
has been. The calls that rules are checked with are in `examples`, in a tree of the same shape.
"""

from rulescore import Section, hookimpl

__all__ = ["SECTIONS"]
__version__ = "0.1.0"
__tracebackhide__ = True  # a rule runs in place of its function: see the README of rulescore

SECTIONS = {
    "scipy.fft": ("fourier", "logarithmic", "trigonometric"),
    "scipy.fftpack": ("periodic", "transforms"),
    "scipy.integrate": ("initial_values", "quadratures", "samples", "without_rules"),
    "scipy.interpolate": (
        "barycentric",
        "cubics",
        "designs",
        "fitpack",
        "grids",
        "polynomials",
        "scattered",
        "splines",
        "without_rules",
    ),
    "scipy.linalg": (
        "bands",
        "basic",
        "batches",
        "blas",
        "equations",
        "factored",
        "factorizations",
        "functions",
        "lapack",
        "nonsymmetric",
        "singular",
        "spectra",
        "structured",
        "tangents",
        "without_rules",
    ),
    "scipy.ndimage": (
        "convolutions",
        "coordinates",
        "derivatives",
        "fourier",
        "functions",
        "ranks",
        "smoothing",
        "splines",
        "without_rules",
    ),
    "scipy.optimize": (
        "elementwise",
        "fits",
        "minima",
        "programs",
        "roots",
        "systems",
        "without_rules",
    ),
    "scipy.signal": (
        "chirps",
        "convolutions",
        "filters",
        "peaks",
        "placement",
        "resampling",
        "smoothing",
        "spectra",
        "splines",
        "systems",
        "waveforms",
        "zero_phase",
        "without_rules",
    ),
    "scipy.sparse": (
        "arithmetic",
        "attributes",
        "construction",
        "products",
        "rearranging",
        "reductions",
        "stacks",
        "values",
        "without_rules",
    ),
    "scipy.sparse.csgraph": ("paths", "trees", "without_rules"),
    "scipy.spatial": (
        "distances",
        "hulls",
        "neighbours",
        "representations",
        "rotations",
        "without_rules",
    ),
    "scipy.sparse.linalg": ("direct", "exponentials", "iterative", "spectra", "without_rules"),
    "scipy.stats": (
        "boxes",
        "cancelling",
        "continuous",
        "discrete",
        "integrals",
        "kernels",
        "kolmogorov",
        "multivariate",
        "limits",
        "mills",
        "noncentral",
        "powers",
        "quantiles",
        "samples",
        "searches",
        "stable",
        "studentized",
    ),
    "scipy.special": (
        "airy",
        "bessel",
        "combinatorics",
        "convenience",
        "distributions",
        "elliptic",
        "error",
        "exponential",
        "gamma",
        "hypergeometric",
        "information",
        "lambert",
        "legendre",
        "logistic",
        "mathieu",
        "noncentral",
        "orthogonal",
        "parabolic",
        "softmax",
        "spheroidal",
        "stats",
        "struve",
        "without_rules",
        "zeta",
    ),
}


@hookimpl
def rulescore_rules() -> list[Section]:
    """Return the rules of this plugin, each to be imported when its part of SciPy has been."""
    return [
        Section(library, f"rules_{library}.{name}")
        for library, names in SECTIONS.items()
        for name in names
    ]
