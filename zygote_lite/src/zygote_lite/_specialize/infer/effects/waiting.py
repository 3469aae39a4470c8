"""What the code notes its effects in: a further argument, made at each entry."""

from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.effects import Effects
from zygote_lite._specialize.typed.facts import Other
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.values import Value


def effects_of(builder: Builder, what: str) -> Value:
    """Return the value that holds the effects of a run.

    Raises `NotSpecializable` where the code is run more than once for one call.
    """
    inputs = builder.inputs
    if builder.plain or builder.inner or builder.twice or builder.compiled:
        raise Unsound.EFFECTS(
            f"it calls {what}, a side effect, in a rule, a nested gradient or compiled code"
        )
    if inputs.effects is None:
        inputs.effects = Value(Other(Effects), None, builder.name("effects"))
        inputs.names.add(inputs.effects.name)
    return inputs.effects
