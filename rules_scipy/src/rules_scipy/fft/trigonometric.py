"""Cosine and sine transforms of the types 1 to 4, and their inverses."""

import numpy as np
from scipy import fft as sf

from rules_scipy.shared.batches import behind, called, many_behind
from rules_scipy.shared.transforms import (
    axes_of,
    one_trigonometric_adjoint,
    settled,
    trigonometric_adjoint,
)
from rulescore import Array, Numeric, RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.fft.trigonometric")
ArrayLike = Numeric | list | tuple


def splits_complex_numbers():
    """Return whether SciPy ignores `orthogonalize` where the input is complex."""
    ones = np.ones(2)
    alone, turned = (sf.dct(x, orthogonalize=True) for x in (ones, 1j * ones))
    return abs(turned - 1j * alone).max() > 0.1


SPLITS = splits_complex_numbers()


def declare(f, is_sine, inverse):
    """Declare a transform along one axis."""
    adjoint = one_trigonometric_adjoint(is_sine, inverse)

    @rule.linear(f)
    def _(
        dy,
        x: ArrayLike,
        type=2,
        n=None,
        axis=-1,
        norm=None,
        overwrite_x=False,
        workers=None,
        orthogonalize=None,
    ):
        if orthogonalize is not None and SPLITS and np.iscomplexobj(x):
            orthogonalize = None
        return adjoint(dy, x, type, axis, norm, orthogonalize)


def declare_many(f, is_sine, inverse):
    """Declare a transform along several axes."""

    @rule.linear(f)
    def _(
        dy,
        x: ArrayLike,
        type=2,
        s=None,
        axes=None,
        norm=None,
        overwrite_x=False,
        workers=None,
        *,
        orthogonalize=None,
    ):
        if orthogonalize is not None and SPLITS and np.iscomplexobj(x):
            orthogonalize = None
        kind, norm, choice = settled(type, norm, orthogonalize, inverse)
        axes = axes_of(x, s, axes)
        return trigonometric_adjoint(np.asarray(dy), is_sine, kind, axes, norm, choice)


for f, is_sine, inverse in (
    (sf.dct, False, False),
    (sf.idct, False, True),
    (sf.dst, True, False),
    (sf.idst, True, True),
):
    declare(f, is_sine, inverse)
for f, is_sine, inverse in (
    (sf.dctn, False, False),
    (sf.idctn, False, True),
    (sf.dstn, True, False),
    (sf.idstn, True, True),
):
    declare_many(f, is_sine, inverse)


# -- of batches


def of_batches(f):
    """Return the body for a transform along one axis."""

    def body(x: Array, type=2, n=None, axis=-1, norm=None, *, orthogonalize=None):
        return called(f, x, type, n, behind(axis, x), norm, orthogonalize=orthogonalize)

    return body


def of_many_axes(f):
    """Return the body for a transform along several axes."""

    def body(x: Array, type=2, s=None, axes=None, norm=None, *, orthogonalize=None):
        if np.ndim(x) < 2:
            return NotImplemented
        axes = many_behind(axes, s, x)
        return called(f, x, type, s, axes, norm, orthogonalize=orthogonalize)

    return body


for _f in (sf.dct, sf.idct, sf.dst, sf.idst):
    rule.batched(_f)(of_batches(_f))
for _f in (sf.dctn, sf.idctn, sf.dstn, sf.idstn):
    rule.batched(_f)(of_many_axes(_f))
