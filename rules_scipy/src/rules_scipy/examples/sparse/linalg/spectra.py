"""Calls that the rules of `rules_scipy.sparse.linalg.spectra` are checked with."""

import numpy as np
from scipy.sparse import linalg as spl

from rules_scipy.examples.sparse.linalg.direct import SQUARE
from rules_scipy.sparse.linalg.spectra import rule

rule.example(spl.svds, SQUARE, 2, return_singular_vectors=False, v0=np.ones(3))
rule.example(spl.eigs, SQUARE, 1, return_eigenvectors=False, v0=np.ones(3))
