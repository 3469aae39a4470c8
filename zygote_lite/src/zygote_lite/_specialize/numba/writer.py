"""The text of typed code for Numba: the residuals of a loop are saved in arrays."""

from dataclasses import dataclass, field

from zygote_lite._specialize.numba.arithmetic import FLOAT, INTEGER, MIXED, TRUTH
from zygote_lite._specialize.numba.checks import kind_of_number
from zygote_lite._specialize.text.writer import Writer
from zygote_lite._specialize.typed.facts import ArrayOf
from zygote_lite._specialize.typed.nodes import Loop, Node, may_stop, walk
from zygote_lite._specialize.typed.reasons import NotSpecializable
from zygote_lite._specialize.typed.values import Value

_ZEROS = {FLOAT: "0.0", MIXED: "0.0", INTEGER: "0", TRUTH: "False"}
_DTYPES = {FLOAT: "np.float64", INTEGER: "np.int64", TRUTH: "np.bool_"}


@dataclass(eq=False)
class CompiledWriter(Writer):
    """Write typed code for Numba.

    Attributes:
        columns: for loops whose turns are counted, the arrays of what is kept, and the number of
            turns.
        tapes: the loops by their tapes.
    """

    looks = False  # Numba has settled them

    columns: dict[Loop, tuple[list[str], str]] = field(default_factory=dict)
    tapes: dict[Value, Loop] = field(default_factory=dict)

    def count(self, blocks: list[list[Node]], results: list[Value]) -> None:
        """Count how often each value is read, and note which loop has which tape."""
        super().count(blocks, results)
        loops = [node for block in blocks for node in walk(block) if isinstance(node, Loop)]
        self.tapes = {loop.tape: loop for loop in loops if loop.tape is not None}

    def nothing(self, x: Value) -> str:
        """Return what a variable holds before it is first assigned, for its type to be known."""
        if x in self.tapes:
            kept = [self.nothing(part) for part in self.tapes[x].record] or ["0"]
            row = kept[0] if len(kept) == 1 else f"({', '.join(kept)})"
            return f"[{row}][:0]"
        if isinstance(x.fact, ArrayOf):
            return f"np.empty({(0,) * len(x.fact.axes)})"
        return _ZEROS[kind_of_number(x)]

    def begin_tape(self, loop: Loop) -> None:
        """Write the empty tape before the first iteration: arrays, or a list of unknown length."""
        dtypes = _dtypes(loop)
        if dtypes is None:
            super().begin_tape(loop)
            return
        assert loop.iterable is not None
        count = self.namer("turn")
        names = [self.namer(f"{x.name}_tape") for x in loop.record]
        self.columns[loop] = names, count
        for name, dtype in zip(names, dtypes, strict=True):
            self.line(f"{name} = np.empty(len({self.expression(loop.iterable)}), {dtype})")
        self.line(f"{count} = 0")

    def keep(self, loop: Loop) -> None:
        """Write what keeps a turn."""
        if loop not in self.columns:
            super().keep(loop)
            return
        names, count = self.columns[loop]
        for name, x in zip(names, loop.record, strict=True):
            self.line(f"{name}[{count}] = {x.name}")
        self.line(f"{count} += 1")

    def backwards(self, loop: Loop, body: list[Node]) -> None:
        """Write a loop over the iterations, the last first, by their numbers."""
        assert loop.tape is not None
        k = self.namer("k")
        kept = [self.read(x) for x in loop.record]
        if loop in self.columns:
            names, count = self.columns[loop]
            self.line(f"for {k} in range({count} - 1, -1, -1):")
            for x, name in zip(kept, names, strict=True):
                self.line(f"    {x} = {name}[{k}]")
        else:
            tape = loop.tape.name
            self.line(f"for {k} in range(len({tape}) - 1, -1, -1):")
            if kept:
                self.line(f"    {', '.join(kept)} = {tape}[{k}]")
        self.indented(body)

    def checked(self, result: Value, gradients: list[Value]) -> list[str]:
        """Leave the code where a number at its end may be another in Python.

        Arguments:
            result: the value.
            gradients: the cotangents.

        Returns the names of the value and of the gradients.
        """
        ends = [result, *gradients]
        names = [self.named(x) for x in ends]
        floats = [name for name, x in zip(names, ends, strict=True) if not x.is_array
                  and (x is not result or kind_of_number(x) == FLOAT)]  # fmt: skip
        if floats:
            tests = " and ".join(f"math.isfinite({name})" for name in floats)
            self.leave_if(f"not ({tests})")
        return names

    def named(self, x: Value) -> str:
        """Return a name for a value, which is given one where it has none."""
        text = self.expression(x)
        if text.isidentifier() or x.is_constant:
            return text
        name = self.namer("end")
        self.line(f"{name} = {text}")
        return name


def _dtypes(loop: Loop) -> list[str] | None:
    """Return the dtypes of the residuals of an iteration; `None` if arrays cannot hold them.

    A loop that may stop early has an unknown number of iterations; one inside another is run
    more than once, and its tape is kept by that.
    """
    if loop.target is None or loop.outer is not None or may_stop(loop.body):
        return None
    try:
        return [_DTYPES[_kind_of(x)] for x in loop.record]
    except (KeyError, NotSpecializable):
        return None


def _kind_of(x: Value) -> str:
    return "" if x.is_array or not x.is_scalar else kind_of_number(x)
