"""Rules for `scipy.integrate`.

The derivative of an integral by what its integrand depends on is the integral of the derivative.
Integrals of samples are differentiated through their own source.
"""
