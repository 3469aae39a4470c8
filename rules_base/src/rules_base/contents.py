"""The functions that each module has rules for, by which it is found at a look-up.

`python -m tests.rules_base.contents` writes this file.
"""

FUNCTIONS = {
    "python.builtins": """
        complex complex.conjugate float float.conjugate float.hex float.is_integer int.bit_count
        int.bit_length int.conjugate int.to_bytes max min pow round sum
    """,
    "python.cmath": """
        cmath.acos cmath.acosh cmath.asin cmath.asinh cmath.atan cmath.atanh cmath.cos cmath.cosh
        cmath.exp cmath.isclose cmath.isfinite cmath.isinf cmath.isnan cmath.log cmath.log10
        cmath.phase cmath.polar cmath.rect cmath.sin cmath.sinh cmath.sqrt cmath.tan cmath.tanh
    """,
    "python.math": """
        math.acos math.acosh math.asin math.asinh math.atan math.atan2 math.atanh math.cbrt
        math.ceil math.comb math.copysign math.cos math.cosh math.degrees math.dist math.erf
        math.erfc math.exp math.exp2 math.expm1 math.fabs math.factorial math.floor math.fma
        math.fmod math.frexp math.fsum math.gamma math.gcd math.hypot math.isclose math.isfinite
        math.isinf math.isnan math.isqrt math.lcm math.ldexp math.lgamma math.log math.log10
        math.log1p math.log2 math.modf math.nextafter math.perm math.pow math.prod math.radians
        math.remainder math.sin math.sinh math.sqrt math.sumprod math.tan math.tanh math.trunc
        math.ulp
    """,
    "python.statistics": """
        _statistics._normal_dist_inv_cdf statistics.correlation statistics.covariance
        statistics.fmean statistics.geometric_mean statistics.harmonic_mean statistics.mean
        statistics.median statistics.median_high statistics.median_low statistics.mode
        statistics.pstdev statistics.pvariance statistics.stdev statistics.variance
    """,
    "numpy.arithmetic": """
        divmod numpy.add numpy.divide numpy.divmod numpy.float_power numpy.floor_divide numpy.fmod
        numpy.frexp numpy.ldexp numpy.modf numpy.multiply numpy.negative numpy.positive numpy.power
        numpy.reciprocal numpy.remainder numpy.square numpy.subtract operator.add operator.floordiv
        operator.mod operator.mul operator.neg operator.pos operator.pow operator.sub
        operator.truediv pow
    """,
    "numpy.attributes": """
        complex.imag complex.real float.imag float.real int.imag int.real numpy.generic.T
        numpy.generic.device numpy.generic.dtype numpy.generic.flags numpy.generic.imag
        numpy.generic.itemsize numpy.generic.nbytes numpy.generic.ndim numpy.generic.real
        numpy.generic.shape numpy.generic.size numpy.generic.strides numpy.ndarray.T
        numpy.ndarray.device numpy.ndarray.dtype numpy.ndarray.flags numpy.ndarray.flat
        numpy.ndarray.imag numpy.ndarray.itemsize numpy.ndarray.mT numpy.ndarray.nbytes
        numpy.ndarray.ndim numpy.ndarray.real numpy.ndarray.shape numpy.ndarray.size
        numpy.ndarray.strides
    """,
    "numpy.calculus": """
        numpy.diff numpy.ediff1d numpy.gradient numpy.interp numpy.trapezoid
    """,
    "numpy.complex": """
        abs numpy.absolute numpy.angle numpy.conjugate numpy.generic.conj numpy.generic.conjugate
        numpy.imag numpy.ndarray.conj numpy.ndarray.conjugate numpy.real numpy.sign operator.abs
    """,
    "numpy.constants": """
        __import__ _io.open all any ascii bin bool callable chr format hasattr hash hex id input int
        isinstance issubclass len numpy.all numpy.allclose numpy.any numpy.argmax numpy.argmin
        numpy.argpartition numpy.argsort numpy.argwhere numpy.around numpy.array2string
        numpy.array_equal numpy.array_equiv numpy.array_repr numpy.array_str numpy.bartlett
        numpy.base_repr numpy.binary_repr numpy.bitwise_and numpy.bitwise_count numpy.bitwise_or
        numpy.bitwise_xor numpy.blackman numpy.broadcast_shapes numpy.busday_count
        numpy.busday_offset numpy.can_cast numpy.ceil numpy.common_type numpy.count_nonzero
        numpy.datetime_as_string numpy.datetime_data numpy.diag_indices numpy.diag_indices_from
        numpy.digitize numpy.einsum_path numpy.empty numpy.empty_like numpy.equal numpy.eye
        numpy.fix numpy.flatnonzero numpy.floor numpy.format_float_positional
        numpy.format_float_scientific numpy.gcd numpy.generic.__array_namespace__ numpy.generic.all
        numpy.generic.any numpy.generic.argmax numpy.generic.argmin numpy.generic.argsort
        numpy.generic.nonzero numpy.generic.round numpy.generic.searchsorted numpy.generic.tobytes
        numpy.get_include numpy.get_printoptions numpy.getbufsize numpy.geterr numpy.geterrcall
        numpy.greater numpy.greater_equal numpy.hamming numpy.hanning numpy.identity numpy.indices
        numpy.info numpy.invert numpy.is_busday numpy.isclose numpy.iscomplex numpy.iscomplexobj
        numpy.isdtype numpy.isfinite numpy.isfortran numpy.isin numpy.isinf numpy.isnan numpy.isnat
        numpy.isneginf numpy.isposinf numpy.isreal numpy.isrealobj numpy.isscalar numpy.issubdtype
        numpy.iterable numpy.ix_ numpy.lcm numpy.left_shift numpy.less numpy.less_equal
        numpy.lexsort numpy.lib.array_utils.normalize_axis_index numpy.logical_and numpy.logical_not
        numpy.logical_or numpy.logical_xor numpy.mask_indices numpy.may_share_memory
        numpy.min_scalar_type numpy.mintypecode numpy.nanargmax numpy.nanargmin
        numpy.ndarray.__array_namespace__ numpy.ndarray.__contains__ numpy.ndarray.__len__
        numpy.ndarray.all numpy.ndarray.any numpy.ndarray.argmax numpy.ndarray.argmin
        numpy.ndarray.argpartition numpy.ndarray.argsort numpy.ndarray.dumps numpy.ndarray.nonzero
        numpy.ndarray.round numpy.ndarray.searchsorted numpy.ndarray.setflags numpy.ndarray.tobytes
        numpy.ndim numpy.nonzero numpy.not_equal numpy.ones numpy.ones_like numpy.packbits
        numpy.promote_types numpy.ravel_multi_index numpy.result_type numpy.right_shift numpy.rint
        numpy.round numpy.searchsorted numpy.set_printoptions numpy.setbufsize numpy.seterr
        numpy.seterrcall numpy.shape numpy.shares_memory numpy.show_config numpy.show_runtime
        numpy.signbit numpy.size numpy.spacing numpy.tri numpy.tril_indices numpy.tril_indices_from
        numpy.triu_indices numpy.triu_indices_from numpy.trunc numpy.typename numpy.unpackbits
        numpy.unravel_index numpy.zeros numpy.zeros_like oct operator.and_ operator.contains
        operator.countOf operator.eq operator.ge operator.gt operator.index operator.indexOf
        operator.inv operator.invert operator.is_ operator.is_not operator.le operator.length_hint
        operator.lshift operator.lt operator.ne operator.not_ operator.or_ operator.rshift
        operator.truth operator.xor ord print range repr str type
    """,
    "numpy.convolutions": """
        numpy.convolve numpy.correlate
    """,
    "numpy.covariance": """
        numpy.corrcoef numpy.cov
    """,
    "numpy.arrays.creation": """
        numpy.array numpy.asanyarray numpy.asarray numpy.asarray_chkfinite numpy.ascontiguousarray
        numpy.asfortranarray numpy.astype numpy.bool numpy.bytes_ numpy.clongdouble numpy.complex128
        numpy.complex64 numpy.copy numpy.dtype numpy.finfo numpy.float16 numpy.float32 numpy.float64
        numpy.full numpy.full_like numpy.generic.astype numpy.generic.copy numpy.iinfo numpy.int16
        numpy.int32 numpy.int64 numpy.int8 numpy.longdouble numpy.ndarray.astype numpy.ndarray.copy
        numpy.ones_like numpy.str_ numpy.uint16 numpy.uint32 numpy.uint64 numpy.uint8
        numpy.zeros_like
    """,
    "numpy.cumulative": """
        numpy.cumprod numpy.cumsum numpy.cumulative_prod numpy.cumulative_sum numpy.generic.cumprod
        numpy.generic.cumsum numpy.nancumprod numpy.nancumsum numpy.ndarray.cumprod
        numpy.ndarray.cumsum
    """,
    "numpy.einsum": """
        numpy.einsum
    """,
    "numpy.evalpoly": """
        numpy.polyadd numpy.polyder numpy.polyint numpy.polymul numpy.polysub numpy.polyval
        rules_base.numpy.evalpoly.evalpoly
    """,
    "numpy.fft": """
        numpy.fft.fft numpy.fft.fft2 numpy.fft.fftfreq numpy.fft.fftn numpy.fft.fftshift
        numpy.fft.hfft numpy.fft.ifft numpy.fft.ifft2 numpy.fft.ifftn numpy.fft.ifftshift
        numpy.fft.ihfft numpy.fft.irfft numpy.fft.irfft2 numpy.fft.irfftn numpy.fft.rfft
        numpy.fft.rfft2 numpy.fft.rfftfreq numpy.fft.rfftn
    """,
    "numpy.histograms": """
        numpy.bincount numpy.histogram numpy.histogram2d numpy.histogram_bin_edges
    """,
    "numpy.arrays.indexing": """
        numpy.array numpy.delete numpy.generic.item numpy.generic.tolist numpy.insert
        numpy.lib.stride_tricks.sliding_window_view numpy.ndarray.item numpy.ndarray.take
        numpy.ndarray.tolist numpy.take numpy.take_along_axis operator.getitem
        rules_base.numpy.arrays.indexing.scatter
    """,
    "numpy.arrays.joining": """
        numpy.append numpy.array_split numpy.block numpy.column_stack numpy.concatenate numpy.dsplit
        numpy.dstack numpy.hsplit numpy.hstack numpy.split numpy.stack numpy.unstack numpy.vsplit
        numpy.vstack
    """,
    "numpy.matmul": """
        numpy.dot numpy.matmul numpy.ndarray.dot operator.matmul
    """,
    "numpy.arrays.padding": """
        numpy.pad
    """,
    "numpy.polyfit": """
        numpy.polyfit
    """,
    "numpy.polynomial": """
        numpy.polynomial.chebyshev.chebfromroots numpy.polynomial.hermite.hermfromroots
        numpy.polynomial.hermite_e.hermefromroots numpy.polynomial.laguerre.lagfromroots
        numpy.polynomial.legendre.legfromroots numpy.polynomial.polynomial.polyfromroots
        numpy.polynomial.polynomial.polyval numpy.polynomial.polyutils.trimseq
    """,
    "numpy.products": """
        numpy.cross numpy.inner numpy.kron numpy.linalg.cross numpy.linalg.matmul numpy.linalg.outer
        numpy.linalg.tensordot numpy.linalg.vecdot numpy.matvec numpy.outer numpy.tensordot
        numpy.vdot numpy.vecdot numpy.vecmat
    """,
    "numpy.random": """
        numpy.random.Generator.bytes numpy.random.Generator.choice
        numpy.random.Generator.exponential numpy.random.Generator.gumbel
        numpy.random.Generator.integers numpy.random.Generator.laplace
        numpy.random.Generator.logistic numpy.random.Generator.normal
        numpy.random.Generator.permutation numpy.random.Generator.random
        numpy.random.Generator.rayleigh numpy.random.Generator.standard_cauchy
        numpy.random.Generator.standard_exponential numpy.random.Generator.standard_normal
        numpy.random.Generator.uniform numpy.random.RandomState.bytes
        numpy.random.RandomState.choice numpy.random.RandomState.exponential
        numpy.random.RandomState.gumbel numpy.random.RandomState.laplace
        numpy.random.RandomState.logistic numpy.random.RandomState.normal
        numpy.random.RandomState.permutation numpy.random.RandomState.rand
        numpy.random.RandomState.randint numpy.random.RandomState.randn
        numpy.random.RandomState.random numpy.random.RandomState.random_sample
        numpy.random.RandomState.rayleigh numpy.random.RandomState.standard_cauchy
        numpy.random.RandomState.standard_exponential numpy.random.RandomState.standard_normal
        numpy.random.RandomState.uniform numpy.random.bit_generator.SeedSequence numpy.random.bytes
        numpy.random.default_rng numpy.random.exponential numpy.random.get_state numpy.random.gumbel
        numpy.random.laplace numpy.random.logistic numpy.random.mtrand.RandomState
        numpy.random.normal numpy.random.rand numpy.random.randint numpy.random.randn
        numpy.random.random numpy.random.random_sample numpy.random.ranf numpy.random.rayleigh
        numpy.random.sample numpy.random.seed numpy.random.set_state numpy.random.standard_cauchy
        numpy.random.standard_exponential numpy.random.standard_normal numpy.random.uniform
    """,
    "numpy.arrays.ranges": """
        numpy.arange numpy.geomspace numpy.linspace numpy.logspace numpy.meshgrid numpy.vander
    """,
    "numpy.arrays.rearranging": """
        numpy.atleast_1d numpy.atleast_2d numpy.atleast_3d numpy.broadcast_arrays numpy.diag
        numpy.diagflat numpy.diagonal numpy.flip numpy.fliplr numpy.flipud numpy.generic.repeat
        numpy.moveaxis numpy.ndarray.diagonal numpy.ndarray.repeat numpy.ndarray.trace
        numpy.real_if_close numpy.repeat numpy.resize numpy.roll numpy.rollaxis numpy.rot90
        numpy.tile numpy.trace numpy.tril numpy.triu numpy.unwrap
    """,
    "numpy.reductions": """
        numpy.all numpy.amax numpy.amin numpy.any numpy.argmax numpy.argmin numpy.count_nonzero
        numpy.generic.max numpy.generic.mean numpy.generic.min numpy.generic.prod numpy.generic.sum
        numpy.max numpy.mean numpy.min numpy.ndarray.all numpy.ndarray.any numpy.ndarray.argmax
        numpy.ndarray.argmin numpy.ndarray.max numpy.ndarray.mean numpy.ndarray.min
        numpy.ndarray.prod numpy.ndarray.sum numpy.prod numpy.sum
    """,
    "numpy.arrays.selecting": """
        numpy.choose numpy.clip numpy.compress numpy.extract numpy.generic.clip numpy.ndarray.choose
        numpy.ndarray.clip numpy.ndarray.compress numpy.select numpy.where
    """,
    "numpy.sequences": """
        numpy.absolute numpy.add numpy.amax numpy.amin numpy.append numpy.arccos numpy.arcsin
        numpy.arcsinh numpy.arctan numpy.arctan2 numpy.arctanh numpy.broadcast_to numpy.cbrt
        numpy.clip numpy.conjugate numpy.copysign numpy.cos numpy.cosh numpy.cumprod numpy.cumsum
        numpy.deg2rad numpy.degrees numpy.delete numpy.diag numpy.diagflat numpy.diagonal numpy.diff
        numpy.divide numpy.dot numpy.ediff1d numpy.exp numpy.exp2 numpy.expand_dims numpy.expm1
        numpy.fabs numpy.flip numpy.fliplr numpy.flipud numpy.float_power numpy.fmax numpy.fmin
        numpy.fmod numpy.gradient numpy.hypot numpy.imag numpy.insert numpy.log numpy.log10
        numpy.log1p numpy.log2 numpy.logaddexp numpy.logaddexp2 numpy.matmul numpy.max numpy.maximum
        numpy.mean numpy.median numpy.min numpy.minimum numpy.moveaxis numpy.multiply
        numpy.nan_to_num numpy.nanmax numpy.nanmean numpy.nanmedian numpy.nanmin numpy.nanpercentile
        numpy.nanprod numpy.nanquantile numpy.nanstd numpy.nansum numpy.nanvar numpy.negative
        numpy.pad numpy.partition numpy.percentile numpy.polymul numpy.positive numpy.power
        numpy.prod numpy.ptp numpy.quantile numpy.rad2deg numpy.radians numpy.ravel numpy.real
        numpy.reciprocal numpy.remainder numpy.repeat numpy.reshape numpy.resize numpy.roll
        numpy.rot90 numpy.sin numpy.sinc numpy.sinh numpy.sort numpy.sqrt numpy.square numpy.squeeze
        numpy.std numpy.subtract numpy.sum numpy.swapaxes numpy.take numpy.tan numpy.tanh numpy.tile
        numpy.trace numpy.transpose numpy.trapezoid numpy.tril numpy.triu numpy.unique
        numpy.unique_all numpy.unique_counts numpy.unique_inverse numpy.unique_values numpy.var
        operator.add operator.matmul operator.mod operator.mul operator.pow operator.sub
        operator.truediv
    """,
    "numpy.arrays.shaping": """
        numpy.broadcast_to numpy.expand_dims numpy.generic.flatten numpy.generic.ravel
        numpy.generic.reshape numpy.generic.squeeze numpy.generic.transpose numpy.matrix_transpose
        numpy.ndarray.T numpy.ndarray.flatten numpy.ndarray.ravel numpy.ndarray.reshape
        numpy.ndarray.squeeze numpy.ndarray.swapaxes numpy.ndarray.transpose numpy.ravel
        numpy.reshape numpy.squeeze numpy.swapaxes numpy.transpose
    """,
    "numpy.arrays.sorting": """
        numpy.argsort numpy.median numpy.nanmedian numpy.nanpercentile numpy.nanquantile
        numpy.ndarray.argsort numpy.partition numpy.percentile numpy.ptp numpy.quantile
        numpy.setdiff1d numpy.setxor1d numpy.sort numpy.sort_complex numpy.trim_zeros numpy.union1d
        numpy.unique numpy.unique_all numpy.unique_counts numpy.unique_inverse numpy.unique_values
    """,
    "numpy.statistics": """
        numpy.average numpy.generic.std numpy.generic.var numpy.nanmax numpy.nanmean numpy.nanmin
        numpy.nanprod numpy.nanstd numpy.nansum numpy.nanvar numpy.ndarray.std numpy.ndarray.var
        numpy.std numpy.var
    """,
    "numpy.ufunc_methods": """
        numpy.add.accumulate numpy.add.outer numpy.add.reduce numpy.add.reduceat
        numpy.arctan2.accumulate numpy.arctan2.outer numpy.bitwise_and.accumulate
        numpy.bitwise_and.outer numpy.bitwise_and.reduce numpy.bitwise_or.accumulate
        numpy.bitwise_or.outer numpy.bitwise_or.reduce numpy.bitwise_xor.outer
        numpy.bitwise_xor.reduce numpy.copysign.outer numpy.divide.accumulate numpy.divide.outer
        numpy.divide.reduce numpy.equal.outer numpy.float_power.accumulate numpy.float_power.outer
        numpy.floor_divide.outer numpy.fmax.accumulate numpy.fmax.outer numpy.fmax.reduce
        numpy.fmax.reduceat numpy.fmin.accumulate numpy.fmin.outer numpy.fmin.reduce
        numpy.fmin.reduceat numpy.fmod.accumulate numpy.fmod.outer numpy.fmod.reduce
        numpy.gcd.reduce numpy.greater.outer numpy.greater_equal.outer numpy.hypot.accumulate
        numpy.hypot.outer numpy.hypot.reduce numpy.lcm.reduce numpy.less.outer
        numpy.less_equal.outer numpy.logaddexp.accumulate numpy.logaddexp.outer
        numpy.logaddexp.reduce numpy.logaddexp.reduceat numpy.logaddexp2.accumulate
        numpy.logaddexp2.outer numpy.logaddexp2.reduce numpy.logaddexp2.reduceat
        numpy.logical_and.accumulate numpy.logical_and.outer numpy.logical_and.reduce
        numpy.logical_or.accumulate numpy.logical_or.outer numpy.logical_or.reduce
        numpy.logical_xor.accumulate numpy.logical_xor.outer numpy.logical_xor.reduce
        numpy.maximum.accumulate numpy.maximum.outer numpy.maximum.reduce numpy.maximum.reduceat
        numpy.minimum.accumulate numpy.minimum.outer numpy.minimum.reduce numpy.minimum.reduceat
        numpy.multiply.accumulate numpy.multiply.outer numpy.multiply.reduce numpy.multiply.reduceat
        numpy.not_equal.outer numpy.power.accumulate numpy.power.outer numpy.remainder.accumulate
        numpy.remainder.outer numpy.remainder.reduce numpy.subtract.accumulate numpy.subtract.outer
        numpy.subtract.reduce numpy.ufunc.accumulate numpy.ufunc.outer numpy.ufunc.reduce
        numpy.ufunc.reduceat
    """,
    "numpy.ufuncs": """
        numpy.arccos numpy.arccosh numpy.arcsin numpy.arcsinh numpy.arctan numpy.arctan2
        numpy.arctanh numpy.cbrt numpy.copysign numpy.cos numpy.cosh numpy.deg2rad numpy.degrees
        numpy.exp numpy.exp2 numpy.expm1 numpy.fabs numpy.fmax numpy.fmin numpy.heaviside
        numpy.hypot numpy.i0 numpy.log numpy.log10 numpy.log1p numpy.log2 numpy.logaddexp
        numpy.logaddexp2 numpy.maximum numpy.minimum numpy.nan_to_num numpy.nextafter numpy.rad2deg
        numpy.radians numpy.sin numpy.sinc numpy.sinh numpy.sqrt numpy.tan numpy.tanh
    """,
    "numpy.linalg.chains": """
        numpy.linalg.matrix_power numpy.linalg.multi_dot
    """,
    "numpy.linalg.decompositions": """
        numpy.linalg.cholesky numpy.linalg.qr numpy.linalg.svd numpy.linalg.svdvals
    """,
    "numpy.linalg.eigenvalues": """
        numpy.linalg.eig numpy.linalg.eigh numpy.linalg.eigvals numpy.linalg.eigvalsh
    """,
    "numpy.linalg.norms": """
        numpy.linalg.cond numpy.linalg.matrix_norm numpy.linalg.norm numpy.linalg.vector_norm
    """,
    "numpy.linalg.solve": """
        numpy.linalg.det numpy.linalg.diagonal numpy.linalg.inv numpy.linalg.lstsq
        numpy.linalg.matrix_rank numpy.linalg.matrix_transpose numpy.linalg.pinv
        numpy.linalg.slogdet numpy.linalg.solve numpy.linalg.tensorinv numpy.linalg.tensorsolve
        numpy.linalg.trace rules_base.numpy.linalg.solve.cofactors_by_singular_values
        rules_base.numpy.linalg.solve.cofactors_near_singular
        rules_base.numpy.linalg.solve.moved_cofactors
    """,
}
