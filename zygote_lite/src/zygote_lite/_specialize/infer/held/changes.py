"""Changes of containers that are given: done at once, and taken back where the tape takes over."""

from zygote_lite._specialize.infer.effects.waiting import effects_of
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import Contents, contents_in, holds_arrays, root_of
from zygote_lite._specialize.typed.notes import ONE_BY_ONE
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.values import Value


def note_change(builder: Builder, x: Value) -> None:
    """Note that a container is changed, which may be an argument, or a part of one."""
    if x.made:  # by the code itself, whatever other variables may hold
        return
    builder.rewritten.append(contents_in(x))
    _refuse_elsewhere(contents_in(x))
    if contents_in(x).given:
        effects_of(builder, "a change of what it is given")


def settle_changes(builder: Builder) -> None:
    """Note which arguments are changed, now that it is known what may be one.

    What they get is theirs from then on: arrays that are equal are still made one by one.
    """
    for contents in map(root_of, builder.rewritten):
        if not contents.given:
            continue
        _refuse_elsewhere(contents)
        effects_of(builder, "a change of what it may be given")
        builder.inputs.changing.update(dict.fromkeys(sorted(contents.given)))
        if holds_arrays(contents, []):
            if builder.copies:
                raise Unsound.WRITES_TO_GIVEN(
                    "it stores arrays in an argument, and writes to arrays of its arguments"
                )
            if not builder.distinct:
                builder.wanted.add(ONE_BY_ONE)


def _refuse_elsewhere(contents: Contents) -> None:
    if "" in contents.given:
        raise Unsound.WRITES_TO_GIVEN(
            "it changes a list, dict or set that is not an argument, and that it did not create"
        )
