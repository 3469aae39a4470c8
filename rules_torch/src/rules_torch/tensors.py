"""Rules for functions and methods of PyTorch that NumPy code calls on tensors by themselves.

Their own backward pass is the pullback. The cotangent of a tensor is an array of NumPy. Each call
has copies of the tensors, and its value is a tensor of its own: what writes into tensors has no
rule, and is refused.
"""

import operator
import types
from numbers import Number

import numpy as np
import torch
from torch.utils import _pytree as pytree

from rules_torch.calls import Numpy, record
from rulescore import Numeric, RuleSet, project, zero
from rulescore.faults import an
from rulescore.interop import foreign
from rulescore.interop.foreign import begun, is_number, is_of_form, part_of_whole, parts_of

rule = RuleSet("rules_torch")

FUNCTIONS = """
    abs acos acosh add addbmm addmm addmv addr amax amin angle arccos arccosh arcsin arcsinh arctan
    arctan2 arctanh asin asinh atan atan2 atanh baddbmm bmm broadcast_tensors broadcast_to cat cdist
    ceil chunk clamp clamp_max clamp_min clip clone column_stack complex concat concatenate
    conj_physical copysign cos cosh cross cummax cummin cumprod cumsum cumulative_trapezoid deg2rad
    det diag diag_embed diagonal diff digamma dist div divide dot dstack einsum erf erfc erfinv exp
    exp2 expm1 flatten flip fliplr flipud float_power floor fmax fmin fmod frac gather gradient
    hstack hypot i0 imag index_add index_copy index_fill index_select inner inverse kron kthvalue
    lerp lgamma log log10 log1p log2 logaddexp logaddexp2 logcumsumexp logdet logit logsumexp
    masked_fill masked_scatter masked_select matmul matrix_exp matrix_power max maximum mean median
    meshgrid min minimum mm moveaxis movedim msort mul multiply mv nan_to_num nanmean nanmedian
    nansum narrow neg negative norm outer permute polar polygamma positive pow prod quantile rad2deg
    ravel real reciprocal relu remainder renorm repeat_interleave reshape roll rot90 round rsqrt
    scatter scatter_add select selu sgn sigmoid sign sin sinc sinh slogdet softmax log_softmax sort
    split sqrt square squeeze stack std std_mean sub subtract sum swapaxes swapdims t take
    take_along_dim tan tanh tensor_split tensordot tile topk trace transpose trapezoid trapz tril
    triu true_divide trunc unbind unflatten unsqueeze var var_mean vdot vsplit hsplit vstack where
    xlogy
"""
METHODS = """
    T mT H mH real imag conj double float expand expand_as new_tensor repeat reshape_as to type_as
    unfold view view_as contiguous cpu half cdouble cfloat __add__ __radd__ __sub__ __rsub__ __mul__
    __rmul__ __truediv__ __rtruediv__ __div__ __rdiv__ __pow__ __rpow__ __matmul__ __rmatmul__
    __mod__ __rmod__ __neg__ __pos__ __abs__ __getitem__
"""
OF_MODULES = {
    torch.linalg: """
        cholesky cross det diagonal eigh eigvalsh inv matmul matrix_exp matrix_norm matrix_power
        multi_dot norm pinv qr slogdet solve solve_triangular svd svdvals tensorinv tensorsolve
        vecdot vector_norm
    """,
    torch.fft: """
        fft fft2 fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2
        rfftn
    """,
    torch.special: """
        digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1 i1e log1p log_ndtr
        log_softmax logit logsumexp multigammaln ndtr ndtri polygamma psi sinc softmax xlog1py xlogy
    """,
    torch.nn.functional: """
        binary_cross_entropy binary_cross_entropy_with_logits celu conv1d conv2d conv3d
        cosine_similarity cross_entropy elu gelu glu hardsigmoid hardswish hardtanh huber_loss
        kl_div l1_loss layer_norm leaky_relu linear log_softmax logsigmoid mish mse_loss nll_loss
        normalize one_hot pad pairwise_distance relu relu6 selu sigmoid silu smooth_l1_loss softmax
        softmin softplus softsign tanh tanhshrink threshold
    """,
}
OPERATORS = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.matmul,
    operator.mod,
)  # fmt: skip


def called(f):
    """Return a function of PyTorch as one of arrays, which are handed over as they are."""
    return Numpy(f, copy=False)  # they are copies, and a write into them is refused


class Attribute:
    """An attribute of tensors by its name, as a function."""

    def __init__(self, name):
        self.__name__ = name

    def __call__(self, x):
        """Return the attribute."""
        return getattr(x, self.__name__)


def record_of_tensors(f, /, *xs, **options):
    """Return what `record` does of arrays for the tensors; it has a rule: no AD looks into it."""
    refuse_others(f, xs, options)
    y, back, why = record(called(f), *pytree.tree_map(array_of, xs), **options)
    forms = [False, *map(is_of_form, xs)]
    if f.__name__ in ("getitem", "__getitem__"):
        forms[2] = True
    return y, back, tuple(["" if form else w for form, w in zip(forms, why, strict=True)])


KINDS = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType,
    types.WrapperDescriptorType, Attribute,
)  # fmt: skip
for kind in KINDS:
    foreign.declare_record(rule, kind, record_of_tensors, part_of_whole)


def refuse_others(f, xs, options):
    """Raise `NotImplementedError` for a call that writes, or that gets arrays of NumPy, too."""
    for name in ("out", "inplace"):
        if options.get(name) is not None and options[name] is not False:
            raise NotImplementedError(
                f"{f.__name__} with `{name}` writes into a tensor, and no gradient passes through "
                "that: leave it out, and take the value"
            )
    leaves = pytree.tree_leaves((xs, options))
    if f.__name__ == "view" and any(isinstance(leaf, torch.dtype) for leaf in leaves):
        raise NotImplementedError(
            "view with a dtype shows the numbers in memory as other numbers: convert them by "
            "`.to(dtype)`"
        )
    if any(isinstance(leaf, np.ndarray) for leaf in leaves):
        raise NotImplementedError(
            f"{f.__name__} gets a tensor of PyTorch and an array of NumPy: make a tensor of the "
            "array, by `torch.tensor(...)`"
        )


def answer(f, xs, options):
    """Return the value of a call as tensors, and its pullback by arrays."""
    y, back, why = record_of_tensors(f, *xs, **options)
    return as_tensors(y), (
        begun,
        parts_of(record_of_tensors, part_of_whole, f, xs, options, back, why),
    )


def array_of(leaf):
    """Return a leaf of the arguments as it is recorded: a tensor as an array, which is a copy."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    if not leaf.is_cpu or leaf.layout is not torch.strided:
        where = f"on {leaf.device}" if not leaf.is_cpu else f"of {an(str(leaf.layout))} layout"
        raise NotImplementedError(
            f"a tensor {where} carries no gradient here: write what computes with it as a function "
            "`f` of tensors, and call `rules_torch.numpy(f)` on the array"
        )
    if leaf.dtype is torch.bfloat16:
        raise NotImplementedError("NumPy has no bfloat16: convert by `.float()` before")
    return leaf.numpy(force=True).copy()


def as_tensors(y):
    """Return a value with tensors in the place of arrays and numbers of NumPy."""
    return pytree.tree_map(lambda leaf: torch.tensor(leaf) if is_number(leaf) else leaf, y)


@rule(as_tensors)
def _(y: object):
    return as_tensors(y), lambda dy: (dy,)


def declare(f, meant=None):
    """Declare the rule for a function of PyTorch, or for what `meant` stands for."""

    @rule(f)
    def _(*xs: object, **options):
        y, (start, parts) = answer(meant or f, xs, options)
        return y, (start, parts[1:])


def declare_operator(f):
    """Declare the rule for an operator of Python, of tensors, and of a tensor and a number."""

    @rule(f)
    def _(x: torch.Tensor, y: torch.Tensor):
        z, (start, parts) = answer(f, (x, y), {})
        return z, (start, parts[1:])

    @rule(f)
    def _(x: torch.Tensor, y: Number | np.generic):
        z, (start, parts) = answer(f, (x, y), {})
        return z, (start, parts[1:])

    @rule(f)
    def _(x: Number | np.generic, y: torch.Tensor):
        z, (start, parts) = answer(f, (x, y), {})
        return z, (start, parts[1:])


def members():
    """Return the functions and methods with a rule, each once, with what is called for it."""
    found = {}
    for module, names in OF_MODULES.items():
        for name in names.split():
            found[getattr(module, name)] = None
    for name in FUNCTIONS.split():
        found[getattr(torch, name, None)] = None
    for name in f"{FUNCTIONS} {METHODS}".split():
        of_class = next((vars(c)[name] for c in torch.Tensor.__mro__ if name in vars(c)), None)
        is_attribute = isinstance(of_class, types.GetSetDescriptorType)
        found[of_class] = Attribute(name) if is_attribute else None
    found.pop(None, None)
    return found


CONSTANTS = """
    shape ndim dtype device layout is_cpu is_cuda requires_grad itemsize nbytes size dim numel
    nelement stride is_contiguous is_floating_point is_complex element_size __len__ __bool__ argmax
    argmin argsort all any allclose isclose equal eq ne lt le gt ge greater greater_equal less
    less_equal not_equal isfinite isinf isnan isneginf isposinf isin signbit logical_and logical_not
    logical_or logical_xor nonzero argwhere count_nonzero searchsorted bucketize zeros_like
    ones_like empty_like full_like new_zeros new_ones new_empty new_full __eq__ __ne__ __lt__ __le__
    __gt__ __ge__
"""


def constants():
    """Return the functions and methods that no cotangent passes through, each once."""
    owners = (torch, *torch.Tensor.__mro__[:-1])
    names = CONSTANTS.split()
    found = dict.fromkeys(vars(o)[name] for name in names for o in owners if name in vars(o))
    return [f for f in found if callable(f) or isinstance(f, types.GetSetDescriptorType)]


rule.constant(*constants())
for f, meant in members().items():
    declare(f, meant)
for f in OPERATORS:
    declare_operator(f)
for f in (operator.neg, operator.pos, abs):

    @rule(f)
    def _(x: torch.Tensor, f=f):
        y, (start, parts) = answer(f, (x,), {})
        return y, (start, parts[1:])


@rule(operator.getitem)
def _(x: torch.Tensor, index: object):
    y, (start, parts) = answer(operator.getitem, (x, index), {})
    return y, (start, (parts[1], None))


def declare_field(field, at):
    """Declare the rule for a field of a value with several parts, as `torch.sort(x).values`."""

    @rule(field)
    def _(x: tuple):
        return x[at], lambda dy: (tuple([dy if i == at else None for i in range(len(x))]),)


def fields():
    """Return the fields of all such values, with their places."""
    kinds = [c for c in vars(torch.return_types).values() if isinstance(c, type)]
    kinds = [c for c in kinds if issubclass(c, tuple)]
    return {vars(c)[name]: i for c in kinds for i, name in enumerate(c.__match_args__)}


for field, at in fields().items():
    declare_field(field, at)


@rule(torch.tensor)
def _(x: Numeric, **options):
    return torch.tensor(x, **options), lambda dy: (project(dy, x),)


@rule(np.array)
def _(x: torch.Tensor):
    return np.array(x), lambda dy: (project(dy, x),)


@rule(np.asarray, torch.Tensor.numpy)
def _(x: torch.Tensor):
    y = x.numpy().copy()
    y.flags.writeable = False  # a write into it would be one into the tensor
    return y, lambda dy: (project(dy, x),)


@rule(float, torch.Tensor.item)
def _(x: torch.Tensor):
    return x.item(), lambda dy: (project(dy, x),)


@rule.method(project)
def _(dx: object, x: torch.Tensor):
    return project(np.asarray(dx), x.numpy(force=True))


@rule.method(zero)
def _(x: torch.Tensor):
    return zero(x.numpy(force=True))
