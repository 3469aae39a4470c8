"""Activations and losses in the manner of NNlib, and their derivative rules.

- bounded activations: `sigmoid`, `tanh_act`, `hardsigmoid`, `hardtanh`, `softsign`, `logsigmoid`
- like `relu`: `relu6`, `leakyrelu`, `trelu`, `elu`, `selu`, `celu`, `softplus`, `gelu`, `gelu_erf`,
  `gelu_tanh`, `swish`, `hardswish`, `mish`, `lisht`
- shrinking, and others: `tanhshrink`, `softshrink`, `logcosh`
- over an axis: `softmax`, `logsoftmax`, `logsumexp`
- losses: `mse`, `mae`, `huber_loss`, `hinge_loss`, `cross_entropy`, `logit_cross_entropy`,
  `binary_cross_entropy`, `logit_binary_cross_entropy`

All are imported from `rules_nnlib`; the modules that `help` lists are private.
"""

import importlib

from rules_nnlib._activations import (
    celu,
    elu,
    gelu,
    gelu_erf,
    gelu_tanh,
    hardsigmoid,
    hardswish,
    hardtanh,
    leakyrelu,
    lisht,
    logcosh,
    logsigmoid,
    mish,
    relu,
    relu6,
    selu,
    sigmoid,
    softplus,
    softshrink,
    softsign,
    swish,
    tanh_act,
    tanhshrink,
    trelu,
)
from rules_nnlib._losses import (
    binary_cross_entropy,
    cross_entropy,
    hinge_loss,
    huber_loss,
    logit_binary_cross_entropy,
    logit_cross_entropy,
    mae,
    mse,
)
from rules_nnlib._softmax import logsoftmax, logsumexp, softmax
from rulescore import RuleSet, hookimpl

__all__ = [
    # sigmoids
    "sigmoid",
    "tanh_act",
    "hardsigmoid",
    "hardtanh",
    "softsign",
    "logsigmoid",
    # rectifiers
    "relu",
    "relu6",
    "leakyrelu",
    "trelu",
    "elu",
    "selu",
    "celu",
    "softplus",
    # gated
    "gelu",
    "gelu_erf",
    "gelu_tanh",
    "swish",
    "hardswish",
    "mish",
    "lisht",
    # shrinkage
    "tanhshrink",
    "softshrink",
    "logcosh",
    # along an axis
    "softmax",
    "logsoftmax",
    "logsumexp",
    # losses
    "mse",
    "mae",
    "huber_loss",
    "hinge_loss",
    "cross_entropy",
    "logit_cross_entropy",
    "binary_cross_entropy",
    "logit_binary_cross_entropy",
]
__version__ = "0.1.0"
__tracebackhide__ = True  # a rule runs in place of its function: see the README of rulescore

MODULES = ("_activation_rules", "_loss_rules", "_softmax_rules")  # each has a rule set named `rule`


@hookimpl
def rulescore_rules() -> list[RuleSet]:
    """Return the rule sets of this plugin."""
    return [importlib.import_module(f"rules_nnlib.{name}").rule for name in MODULES]
