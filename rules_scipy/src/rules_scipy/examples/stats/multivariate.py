"""None: what the rule of `rules_scipy.stats.multivariate` gives is checked by densities alone.

The factor that SciPy keeps is one of many, and its entries have no derivatives of their own.
"""
