"""Functions through which no cotangent passes: locally constant, or not a number at all.

A function that can return its argument, hold on to it, or write it where it can be read again (a
file), has no place here; texts and bytes made of numbers are for an AD to watch.
"""

import builtins
import operator

import numpy as np

from rulescore import RuleSet

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.constants", may_raise=False)

rule.constant(print, len, isinstance, issubclass, callable, hasattr, type, id, hash, range)
rule.constant(repr, str, format, ascii, bin, hex, oct, chr, ord, bool, int, all, any, input, open)
rule.constant(builtins.__import__)

rule.constant(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
rule.constant(operator.is_, operator.is_not, operator.not_, operator.truth, operator.contains)
rule.constant(operator.countOf, operator.indexOf, operator.index, operator.length_hint)

# on sets and dicts, and on classes of users, these return their arguments: numbers only
for f in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift):
    rule.scalar(f)(lambda x, y: (None, None))
rule.scalar(operator.invert, operator.inv)(lambda x: None)

rule.constant(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
rule.constant(np.logical_and, np.logical_or, np.logical_xor, np.logical_not, np.all, np.any)
rule.constant(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift)
rule.constant(np.right_shift, np.bitwise_count, np.gcd, np.lcm)
rule.constant(np.isfinite, np.isinf, np.isnan, np.isnat, np.isneginf, np.isposinf, np.signbit)
rule.constant(np.isclose, np.allclose, np.array_equal, np.array_equiv, np.isscalar, np.iterable)
rule.constant(np.iscomplex, np.isreal, np.iscomplexobj, np.isrealobj, np.isfortran, np.isin)
rule.constant(np.floor, np.ceil, np.rint, np.trunc, np.round, np.around, np.fix, np.spacing)

rule.constant(np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.promote_types)
rule.constant(np.min_scalar_type, np.common_type, np.mintypecode, np.issubdtype, np.isdtype)
rule.constant(np.typename, np.shares_memory, np.may_share_memory, np.broadcast_shapes)
rule.constant(np.ndarray.__array_namespace__, np.generic.__array_namespace__)
rule.constant(np.lib.array_utils.normalize_axis_index)

rule.constant(np.zeros, np.zeros_like, np.ones, np.ones_like, np.empty, np.empty_like)
rule.constant(np.eye, np.identity, np.tri, np.indices)
rule.constant(np.bartlett, np.blackman, np.hamming, np.hanning)

rule.constant(np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argsort, np.argpartition)
rule.constant(np.lexsort, np.argwhere, np.nonzero, np.flatnonzero, np.count_nonzero)
rule.constant(np.searchsorted, np.digitize, np.unravel_index, np.ravel_multi_index)
rule.constant(np.ix_, np.diag_indices, np.diag_indices_from, np.mask_indices)
rule.constant(np.tril_indices, np.tril_indices_from, np.triu_indices, np.triu_indices_from)

rule.constant(np.array_repr, np.array_str, np.array2string, np.format_float_positional)
rule.constant(np.format_float_scientific, np.base_repr, np.binary_repr)
rule.constant(np.datetime_as_string, np.datetime_data, np.busday_count, np.busday_offset)
rule.constant(np.is_busday, np.packbits, np.unpackbits, np.einsum_path)

rule.constant(np.info, np.get_include)
rule.constant(np.show_config, np.show_runtime, np.set_printoptions, np.get_printoptions)
rule.constant(np.seterr, np.geterr, np.seterrcall, np.geterrcall, np.setbufsize, np.getbufsize)

rule.constant(np.ndarray.all, np.ndarray.any, np.ndarray.argmax, np.ndarray.argmin)
rule.constant(np.ndarray.argsort, np.ndarray.argpartition, np.ndarray.nonzero, np.ndarray.round)
rule.constant(np.ndarray.searchsorted, np.ndarray.setflags, np.ndarray.tobytes)
rule.constant(np.generic.all, np.generic.any, np.generic.argmax, np.generic.argmin)
rule.constant(np.generic.argsort, np.generic.nonzero, np.generic.round, np.generic.searchsorted)
rule.constant(np.generic.tobytes)
rule.constant(np.ndarray.dumps, np.ndarray.__len__, np.ndarray.__contains__)
