"""Formulas from many libraries, which know nothing of derivatives, held to differences.

`nox -s library` installs them. What is not here is skipped, and says so.
"""

import importlib
import importlib.util

import numpy as np
import pytest

from rulescore import plugins
from tests.zygote_lite.checks.comparing import assert_close, assert_same
from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import gradient, value_and_grad

NAMES = (
    "ahrs", "chemicals", "colour", "filterpy", "fluids", "geographiclib", "ht", "iapws", "lmfit",
    "numpy_financial", "ot", "pvlib", "pymap3d", "scipy", "skfuzzy", "transforms3d",
)  # fmt: skip
HAVE = {name for name in NAMES if importlib.util.find_spec(name)} | {p.name for p in plugins()}


def of(path):
    """Return a library's function, by its path."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        return getattr(of(module), name)


def total(y):
    """Return one number of what a function returns: numbers, arrays, or tuples or dicts of them."""
    if hasattr(y, "values"):
        y = [*y.values()]
    if isinstance(y, tuple | list):
        return sum(total(part) * (i + 1) for i, part in enumerate(y))
    return np.sum(y * np.cos(np.arange(np.size(y))).reshape(np.shape(y)))


random = np.random.default_rng(0)
CASH = np.array([-4.0, 0.5, 0.8, 1.2, 3.0])
VECTOR, TURN = np.array([0.3, -0.5, 0.8]), np.array([0.9, 0.2, 0.3, 0.1])
XYZ, LAB = np.array([0.2065, 0.122, 0.0514]), np.array([41.5, 52.6, 26.9])
RGB = np.array([0.45, 0.03, 0.06])
FEED, RATIOS = np.array([0.5, 0.3, 0.2]), np.array([1.685, 0.742, 0.532])
LINE = np.linspace(-2, 2, 9)

# A path, and arguments: what is a float or an array of floats is differentiated.
CALLS = {
    "numpy_financial.fv": (0.05, 10, -100.0, 5.0),
    "numpy_financial.pv": (0.05, 10, -100.0, 15.0),
    "numpy_financial.pmt": (0.075, 15, 200.0),
    "numpy_financial.nper": (0.07, -150.0, 800.0),
    "numpy_financial.ipmt": (0.08, np.arange(12) + 1, 12, 25.0),
    "numpy_financial.npv": (0.08, CASH),
    "numpy_financial.irr": (CASH,),
    "numpy_financial.mirr": (CASH, 0.1, 0.12),
    "numpy_financial.rate": (10, 0.1, -3.5, 10.0),
    "transforms3d.euler.euler2mat": (0.1, 0.2, 0.3),
    "transforms3d.quaternions.qmult": (TURN, TURN[::-1].copy()),
    "transforms3d.quaternions.quat2mat": (TURN,),
    "transforms3d.quaternions.rotate_vector": (VECTOR, TURN),
    "transforms3d.axangles.axangle2mat": (VECTOR, 0.3),
    "ahrs.common.orientation.q2R": (TURN,),
    "pymap3d.aer2enu": (33.0, 70.0, 1.5),
    "pvlib.atmosphere.get_relative_airmass": (np.array([10.0, 50.0, 80.0]),),
    "pvlib.atmosphere.gueymard94_pw": (20.0, 50.0),
    "pvlib.irradiance.aoi": (30.0, 180.0, 40.0, 150.0),
    "pvlib.irradiance.haydavies": (30.0, 180.0, 1.0, 7.0, 13.6, 40.0, 150.0),
    "pvlib.temperature.sapm_cell": (8.0, 20.0, 2.0, -3.47, -0.0594, 3.0),
    "pvlib.iam.physical": (np.array([10.0, 50.0]), 1.5),
    "pvlib.singlediode.bishop88": (0.5, 7.0, 1e-3, 0.3, 5.0, 1.6),
    "pvlib.pvarray.huld": (800.0, 40.0, 200.0, None, "csi"),
    "lmfit.lineshapes.split_lorentzian": (LINE, 1.2, 0.3, 0.9, 1.1),
    "lmfit.lineshapes.pvoigt": (LINE, 1.2, 0.3, 0.9, 0.4),
    "lmfit.lineshapes.pearson7": (LINE, 1.2, 0.3, 0.9, 1.6),
    "lmfit.lineshapes.breit_wigner": (LINE, 1.2, 0.3, 0.9, 1.6),
    "lmfit.lineshapes.step": (LINE, 1.2, 0.31, 0.9),
    "scipy.stats.norm.logpdf": (LINE, 0.3, 1.2),
    "scipy.stats.lognorm.pdf": (LINE + 2.5, 0.7),
    "scipy.stats.zscore": (CASH,),
    "scipy.stats.gmean": (CASH + 5.0,),
    "scipy.stats.kurtosis": (CASH,),
    "scipy.spatial.distance.cosine": (VECTOR, TURN[1:].copy()),
    "scipy.special.logsumexp": (CASH,),
    "scipy.integrate.simpson": (CASH,),
    "scipy.interpolate.krogh_interpolate": (np.arange(5.0), CASH, 1.5),
    "skfuzzy.gbellmf": (LINE, 0.3, 2.0, 0.5),
    "skfuzzy.trimf": (LINE, np.array([-1.1, 0.2, 1.3])),
    "fluids.drag_sphere": (200.0,),
    "fluids.friction.Clamond": (10.0, 0.01),
    "fluids.two_phase.Lockhart_Martinelli": (0.6, 0.1, 9.0, 2.7, 1.8, 0.4, 0.5, 1.0),
    "ht.LMTD": (10.0, 6.0, 3.0, 4.02),
    "ht.conv_external.Nu_cylinder_Zukauskas": (79.9, 0.707),
    "chemicals.Antoine": (3.0, 10.0, 7.0, -0.1),
    "chemicals.iapws.iapws97_rho": (330.0, 8e5),
    "colour.XYZ_to_Lab": (XYZ,),
    "colour.XYZ_to_Oklab": (XYZ,),
    "colour.Lab_to_XYZ": (LAB,),
    "colour.RGB_to_HSV": (RGB,),
    "colour.RGB_to_YCbCr": (RGB,),
    "colour.delta_E": (LAB, LAB[::-1].copy()),
    "ot.dist": (random.normal(size=(4, 2)), random.normal(size=(3, 2))),
    "ot.wasserstein_1d": (random.normal(size=5), random.normal(size=5)),
}


def flash(feed, ratios):
    """Return the vapour fraction of a mixture."""
    return of("chemicals.rachford_rice.Rachford_Rice_solution")(list(feed), list(ratios))[0]


def distance(a, b, c, d):
    """Return the length of a geodesic, in thousands of kilometres."""
    return of("geographiclib.geodesic.Geodesic").WGS84.Inverse(a, b, c, d)["s12"] / 1e6


def filtered(motion, noise, seen):
    """Return a number from the states of a Kalman filter."""
    kalman = of("filterpy.kalman.KalmanFilter")(dim_x=2, dim_z=1)
    kalman.x, kalman.F, kalman.H = np.array([2.0, 0.0]), motion, np.array([[1.0, 0.0]])
    kalman.P *= 10.0
    kalman.R, kalman.Q = 5.0, noise
    y = 0.0
    for z in seen:
        kalman.predict()
        kalman.update(z)
        y = y + kalman.x[0] ** 2 + kalman.x[1] + np.sum(kalman.P)
    return y


def steam(temperature, pressure):
    """Return the enthalpy of water."""
    return of("iapws.IAPWS97")(T=temperature, P=pressure).h


def transport(weights, costs):
    """Return the cost of a plan of transport."""
    plan = of("ot.sinkhorn")(weights / np.sum(weights), np.ones(3) / 3, costs, 0.5)
    return np.sum(plan * costs)


PROGRAMS = {
    "chemicals": (flash, FEED, RATIOS),
    "geographiclib": (distance, 40.6, -73.8, 51.6, -0.5),
    "filterpy": (filtered, np.array([[1.0, 1.0], [0.0, 1.0]]), np.eye(2) * 0.1, CASH),
    "iapws": (steam, 300.0, 3.0),
    "ot": (transport, FEED, random.uniform(size=(3, 3))),
}
CASES = {path: (path.split(".")[0], path, *xs) for path, xs in CALLS.items()}
CASES |= {f"{library}: {xs[0].__name__}": (library, *xs) for library, xs in PROGRAMS.items()}


def needs(library):
    return pytest.mark.skipif(
        library not in HAVE, reason=f"not installed: {library}; see nox -s library"
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", [pytest.param(k, marks=needs(c[0])) for k, c in CASES.items()])
def test_formulas(case):
    _, f, *xs = CASES[case]
    call = of(f) if isinstance(f, str) else f
    numbers = [i for i, x in enumerate(xs) if np.asarray(x).dtype.kind == "f"]

    def value(*own):
        given = {**dict(enumerate(xs)), **dict(zip(numbers, own, strict=True))}
        return total(call(*given.values()))

    own = tuple(xs[i] for i in numbers)
    plain, first = value(*own), gradient(value, *own)
    for _ in range(3):
        y, again = value_and_grad(value, tuple(range(len(own))))(*own)
        assert_same(np.asarray(y), np.asarray(plain))
        assert_close(again, first, 1e-13)  # sums may be taken in another order
    for (path, best, off), got in zip(slopes(value, own, 1e-4), first, strict=True):
        scale = 1 + np.max(np.abs(best))
        assert np.max(off) < 1e-4 * scale, path
        np.testing.assert_allclose(got, best, rtol=0, atol=1e-5 * scale, err_msg=str(path))
