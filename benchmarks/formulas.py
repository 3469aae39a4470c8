"""Formulas of libraries that know nothing of derivatives, each as it is published.

`nox -s library` holds their gradients to differences; `libraries` tells what they cost.
"""

import importlib
import importlib.util

import numpy as np

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

SALT, WARMTH, DEPTHS = np.array([34.9, 35.2, 34.6]), np.array([8.5, 4.1, 2.0]), LINE[6:] * 900.0
PIXELS = random.uniform(0.1, 0.9, size=(4, 4, 3))
NEAR = np.clip(PIXELS + 0.05 * random.normal(size=PIXELS.shape), 0.0, 1.0)

FURTHER_CALLS = {
    "seawater.dens": (SALT, WARMTH, DEPTHS),
    "seawater.svel": (SALT, WARMTH, DEPTHS),
    "seawater.ptmp": (SALT, WARMTH, DEPTHS, 0.0),
    "seawater.gpan": (SALT, WARMTH, DEPTHS),
    "skyfield.functions.to_spherical": (VECTOR,),
    "skyfield.earthlib.refract": (10.0, 12.0, 1010.0),
    "skyfield.keplerlib.eccentric_anomaly": (0.3, 1.1),
    "skyfield.keplerlib.ele_to_vec": (1.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0),
    "skyfield.precessionlib.compute_precession": (2460000.5,),
    "psychrolib.GetSatVapPres": (25.0,),
    "psychrolib.GetTDewPointFromVapPres": (25.0, 1500.0),
    "psychrolib.GetHumRatioFromTWetBulb": (25.0, 16.2, 101325.0),
    "psychrolib.CalcPsychrometricsFromRelHum": (25.0, 0.4, 101325.0),
    "skimage.color.rgb2lab": (PIXELS,),
    "skimage.color.deltaE_ciede2000": (PIXELS * 60.0, NEAR * 60.0),
    "skimage.metrics.normalized_root_mse": (PIXELS, NEAR),
    "skimage.color.rgb2hsv": (PIXELS,),
    "astropy.coordinates.angular_separation": (0.3, 0.2, 1.1, -0.4),
    "astropy.stats.biweight_location": (CASH,),
    "astropy.modeling.functional_models.Gaussian2D.evaluate": (
        LINE, LINE[::-1].copy(), 1.2, 0.1, 0.2, 0.9, 1.4, 0.3,
    ),
}  # fmt: skip
SETTINGS = {"psychrolib": lambda module: module.SetUnitSystem(module.SI)}


def of(path):
    """Return a library's function, by its path."""
    if importlib.util.find_spec(path.partition(".")[0]) is None:
        raise ModuleNotFoundError(path)
    try:
        found = importlib.import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        return getattr(of(module), name)
    SETTINGS.get(path, lambda module: None)(found)
    return found


# -- programs, which call what a path names --------------------------------------------------------


def flash(solution):
    """Return a function that computes the vapour fraction of a mixture."""
    return lambda feed, ratios: solution(list(feed), list(ratios))[0]


def distance(geodesic):
    """Return a function that computes the length of a geodesic, in thousands of kilometres."""
    return lambda a, b, c, d: geodesic.Inverse(a, b, c, d)["s12"] / 1e6


def filtered(filter_of):
    """Return a function that computes a number from the states of a Kalman filter."""

    def filtered(motion, noise, seen):
        kalman = filter_of(dim_x=2, dim_z=1)
        kalman.x, kalman.F, kalman.H = np.array([2.0, 0.0]), motion, np.array([[1.0, 0.0]])
        kalman.P *= 10.0
        kalman.R, kalman.Q = 5.0, noise
        y = 0.0
        for z in seen:
            kalman.predict()
            kalman.update(z)
            y = y + kalman.x[0] ** 2 + kalman.x[1] + np.sum(kalman.P)
        return y

    return filtered


def steam(water):
    """Return a function that computes the enthalpy of water."""
    return lambda temperature, pressure: water(T=temperature, P=pressure).h


def transport(sinkhorn):
    """Return a function that computes the cost of a plan of transport."""

    def transport(weights, costs):
        plan = sinkhorn(weights / np.sum(weights), np.ones(3) / 3, costs, 0.5)
        return np.sum(plan * costs)

    return transport


PROGRAMS = {
    "chemicals.rachford_rice.Rachford_Rice_solution": (flash, FEED, RATIOS),
    "geographiclib.geodesic.Geodesic.WGS84": (distance, 40.6, -73.8, 51.6, -0.5),
    "filterpy.kalman.KalmanFilter": (
        filtered, np.array([[1.0, 1.0], [0.0, 1.0]]), np.eye(2) * 0.1, CASH,
    ),
    "iapws.IAPWS97": (steam, 300.0, 3.0),
    "ot.sinkhorn": (transport, FEED, random.uniform(size=(3, 3))),
}  # fmt: skip


# -- all of them -----------------------------------------------------------------------------------

ALL = {**CALLS, **PROGRAMS, **FURTHER_CALLS}


def function_of(path):
    """Return the function of a formula, by the path of what it is made of."""
    found = of(path)
    return ALL[path][0](found) if path in PROGRAMS else found


def arguments_of(path):
    """Return the arguments of a formula, and the numbers of those that are differentiated."""
    xs = ALL[path][1:] if path in PROGRAMS else ALL[path]
    return xs, tuple([i for i, x in enumerate(xs) if np.asarray(x).dtype.kind == "f"])
