"""The attributes of objects that the function makes, where the paths of a branch join."""

from zygote_lite._specialize.infer.forms import Pairs, joined_value, moves_to
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import Tables
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported
from zygote_lite._specialize.typed.stand_ins import LOST
from zygote_lite._specialize.typed.values import Value


def join_attributes(
    builder: Builder, before: Tables, one: Tables, left: Pairs, right: Pairs
) -> None:
    """Join what two paths leave to the objects made before them.

    Arguments:
        builder: what writes the code.
        before: the attributes before the branch.
        one: those at the end of one path; the objects have those at the end of the other.
        left, right: the moves at the ends of the paths, to which those of attributes are added.
    """
    for x in before:
        fields, others = one[x], x.fields or {}
        if fields is others:
            continue
        if [n for n in fields if n in others] != [n for n in others if n in fields]:
            builder.unordered.add(x)
        x.fields = {}
        for name in {**fields, **others}:
            a, b = fields.get(name, LOST), others.get(name, LOST)
            x.fields[name] = value = a if a is b else _joined_attribute(builder, a, b, name)
            if value is LOST and builder.guesses:
                raise NotSupported.DEPENDS_ON_PATH(f"the attribute {name} depends on the path")
            if value is LOST or a is b:
                continue
            left += moves_to(value, a)
            right += moves_to(value, b)


def _joined_attribute(builder: Builder, a: Value, b: Value, name: str) -> Value:
    """Return the value of an attribute after a branch: where no variable can be it, none."""
    mark = set(builder.used)
    try:
        return LOST if LOST in (a, b) else joined_value(builder, a, b, name)
    except NotSpecializable:
        builder.free_names(mark)
        return LOST
