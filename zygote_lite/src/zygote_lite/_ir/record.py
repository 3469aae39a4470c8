"""Second stage: recording code, the forward code that notes what it runs on a tape.

Every operation that needs a pullback becomes a call: attribute access, subscripts, construction
and writes become calls of functions that the engine has pullbacks for. A method call becomes one
`invoke`, so that the cotangent of the object need not pass through a bound method.

The user's own control flow is left unchanged. Every variable `x` gets a companion `x_`, which
follows it everywhere: the node of its value, the place on the tape that its cotangent goes to
(`None`: no gradient). The reverse pass walks the tape backwards, so it needs no control flow of its
own.

Variables that functions defined inside share live in cells, and are read and written through them.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.bytecode import placed
from zygote_lite._ir.operators import COMPARISONS

NOTHING = ir.Const(None)
Cells = dict[str, str]
_COMPARISONS = {
    ir.Intrinsic(path)
    for path in (
        "operator.contains",
        "operator.not_",
        "operator.truth",
        *[of.path for of in COMPARISONS],
    )
}


def record(function: ir.Function) -> ir.Function:
    """Return the recording forward code of a lowered function.

    It takes `tape` and the companions of its parameters before the parameters, and returns its
    value and the companion of its value.
    """
    return _Recorder(function).run()


def leading(function: ir.Function) -> list[str]:
    """Return the parameters that recorded code takes before the user's."""
    names = ["tape", "nodes"]
    while not function.used.isdisjoint(names):
        names = [name + "_" for name in names]
    return names


class _Recorder:
    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.tape, self.nodes = leading(function)
        function.used |= {self.tape, self.nodes}
        self.companions: dict[str, str] = {}
        self.cells: Cells = {}
        self.inner: list[str] = []  # companions of the names of classes
        self.declared: list[str] = []  # variables that bodies of classes assign
        self.class_names: list[str] = []  # of the class whose body this is
        for name in (*function.captured, *function.shared):
            self.cells[name] = function.fresh(name.strip("_") + "_cell")
        read = [atom for s in ir.every(function.body) for atom in ir.atoms_of(s)]
        self.uses = Counter([atom.id for atom in read if isinstance(atom, ir.Name)])
        self.times = Counter(getattr(s, "target", None) for s in ir.every(function.body))

    def run(self) -> ir.Function:
        f = self.function
        origin = f.body[0].origin
        parameters = [self.companion(name) for name in f.names]
        body = self.block(f.body)
        start: list[ir.Statement] = []
        if parameters:
            start.append(ir.Track(origin, parameters, [ir.Name(self.nodes)], unpack=True))
        if f.parameters.kwarg is not None:
            keywords = f.parameters.kwarg.arg
            companion = self.companion(keywords)
            adopt = ir.Global(f"{self.tape}.keywords")
            start.append(
                ir.Call(origin, ir.DISCARD, adopt, [ir.Name(keywords), ir.Name(companion)])
            )
            start.append(ir.Track(origin, [companion], [NOTHING]))
        others = [c for name, c in self.companions.items() if name not in f.names]
        others += self.inner
        start += [ir.Track(origin, [c], [NOTHING]) for c in others]
        start += [_declared(origin, name) for name in self.declared]
        for name, cell in self.cells.items():
            if name in f.shared and name not in f.names:
                start.append(_declared(origin, name))
            start.append(ir.CellOf(origin, cell, name, name in f.shared))
            if name in f.names:
                start.append(self.write(origin, name, ir.Name(name), self.node(ir.Name(name))))
        return replace(f, body=[*start, *body])

    def companion(self, name: str) -> str:
        if name not in self.companions:
            self.companions[name] = self.function.fresh(name + "_")
        return self.companions[name]

    def node(self, atom: ir.Atom) -> ir.Atom:
        return ir.Name(self.companion(atom.id)) if isinstance(atom, ir.Name) else NOTHING

    def write(self, origin: ast.AST, name: str, value: ir.Atom, node: ir.Atom) -> ir.Statement:
        operands: list[ir.Atom] = [ir.Name(self.cells[name]), value]
        return self.call(origin, "write_cell", operands, [NOTHING, node])

    def call(
        self, origin: ast.AST, path: str, operands: list[ir.Atom], nodes: list[ir.Atom],
        target: str = "",
    ) -> ir.RecordedCall:  # fmt: skip
        """Return a call of a function that recording puts in; its value may be discarded."""
        discard = self.function.discard
        companion = self.companions.get(target, discard)
        given = [NOTHING, *nodes]
        return ir.RecordedCall(
            origin, target or discard, companion, given, ir.Intrinsic(path), operands, []
        )

    def block(self, body: list[ir.Statement]) -> list[ir.Statement]:
        out: list[ir.Statement] = []
        methods: dict[ir.Atom, ir.GetAttribute] = {}
        called = {s.function for s in body if isinstance(s, ir.Call)}
        for s, then in zip(body, [*body[1:], None], strict=False):
            if (
                isinstance(s, ir.GetAttribute)
                and ir.Name(s.target) in called
                and self.uses[s.target]
                == self.times[s.target]
                == 1  # else it may be another by then
                and isinstance(s.value, ir.Name)
            ):
                methods[ir.Name(s.target)] = s
                if isinstance(then, ir.Call) and then.function == ir.Name(s.target):
                    continue  # looked up where it is called
                found: list[ir.Atom] = [s.value, ir.Const(s.name)]  # before the arguments
                methods[ir.Name(s.target)] = replace(s, value=ir.Name(s.target))
                s = ir.Call(s.origin, s.target, ir.Intrinsic("look_up"), found)
            s = _as_call(s)
            if isinstance(s, ir.Call) and s.function in methods:
                method = methods.pop(s.function)
                name = "invoke_found" if method.value == s.function else "invoke"
                arguments = [method.value, ir.Const(method.name), *s.arguments]
                s = replace(s, function=ir.Intrinsic(name), arguments=arguments)
            self.statement(s, out)
        return out

    def read(self, origin: ast.AST, atom: ir.Atom, out: list[ir.Statement]) -> ir.Atom:
        """Return an atom for the value of an operand now: shared variables are read from cells."""
        if not isinstance(atom, ir.Name) or atom.id not in self.cells:
            return atom
        value = self.function.fresh(atom.id.strip("_") + "_now")
        self.companion(value)
        out.append(self.of_cell(origin, "read_cell", atom.id, value))
        return ir.Name(value)

    def of_cell(self, origin: ast.AST, path: str, name: str, target: str = "") -> ir.Statement:
        """Return the call that reads or deletes a shared variable."""
        is_own = name not in self.function.captured
        operands: list[ir.Atom] = [ir.Name(self.cells[name]), ir.Const(name), ir.Const(is_own)]
        return self.call(origin, path, operands, [NOTHING] * 3, target)

    def truth(self, origin: ast.AST, test: ir.Atom, out: list[ir.Statement]) -> ir.Atom:
        """Return an atom for the truth of a value, whose class may have a say in it."""
        if isinstance(test, ir.Const) or _is_compared(test, out):
            return test
        value = self.function.fresh("truth")
        out.append(self.call(origin, "operator.truth", [test], [self.node(test)], value))
        return ir.Name(value)

    def assign(self, origin: ast.AST, target: str) -> tuple[str, str, list[ir.Statement]]:
        """Return where a new value of `target` goes, its companion, and what then must follow."""
        if target not in self.cells:
            return target, self.companion(target), []
        new = self.function.fresh(target.strip("_") + "_new")
        node = self.node(ir.Name(new))
        return new, self.companion(new), [self.write(origin, target, ir.Name(new), node)]

    def class_(self, s: ir.Class, out: list[ir.Statement]) -> list[ir.Statement]:
        """Return what makes a class, and notes where the cotangents of its attributes go.

        All that its body assigns besides the attributes are variables of the function around.
        """
        bases = [(starred, self.read(s.origin, x, out)) for starred, x in s.bases]
        keywords = [(name, self.read(s.origin, x, out)) for name, x in s.keywords]
        outer = self.cells, self.companions, self.class_names
        self.class_names = s.names
        self.cells = {name: cell for name, cell in self.cells.items() if name not in s.names}
        own = {name: self.function.fresh((name.strip("_") or "name") + "_") for name in s.names}
        self.companions = {**self.companions, **own}
        body = self.block(s.body)
        made = {n: c for n, c in self.companions.items() if n not in own}
        self.cells, self.companions, self.class_names = outer
        self.companions.update({n: c for n, c in made.items() if n not in self.companions})
        self.inner += own.values()
        assigned = {name for name in (*_assigned(body), s.held) if name not in s.names}
        self.declared += sorted(assigned - {*self.function.captured, *self.declared})
        nodes: list[ir.Atom] = [NOTHING] * 3
        nodes += [ir.Name(own[name]) for name in s.names]
        nodes += [self.node(x) for _, x in keywords]
        names = (*(_mangled(name, s.target) for name in s.names), *(None for _ in keywords))
        operands: list[ir.Atom] = [ir.Name(s.target), ir.Const(names), ir.Name(s.held)]
        operands += [NOTHING for _ in names]
        return [
            replace(s, bases=bases, keywords=keywords, body=body, outer=sorted(assigned)),
            ir.Track(s.origin, [self.companion(s.target)], [NOTHING]),
            self.call(s.origin, "note_class", operands, nodes),
        ]

    def statement(self, s: ir.Statement, out: list[ir.Statement]) -> None:
        match s:
            case ir.Call(origin, target, ir.Intrinsic("operator.truth"), [test]) if _is_compared(
                test, out
            ):
                out += [s, ir.Track(origin, [self.companion(target)], [NOTHING])]
            case ir.Call(origin, target, function, arguments, keywords):
                function = self.read(origin, function, out)
                arguments = [self.read(origin, x, out) for x in arguments]
                keywords = [(name, self.read(origin, x, out)) for name, x in keywords]
                operands = [function, *arguments, *(x for _, x in keywords)]
                nodes = [self.node(x) for x in operands]
                then: list[ir.Statement] = []
                if target == ir.DISCARD:
                    target = companion = self.function.discard
                else:
                    target, companion, then = self.assign(origin, target)
                out.append(
                    ir.RecordedCall(origin, target, companion, nodes, function, arguments, keywords)
                )
                out += then
            case ir.Move(origin, target, source):
                source = self.read(origin, source, out)
                target, companion, then = self.assign(origin, target)
                out.append(ir.Track(origin, [target, companion], [source, self.node(source)]))
                out += then
            case ir.Closure(origin, target):
                out += [s, ir.Track(origin, [self.companion(target)], [NOTHING])]
            case ir.Class():
                out += self.class_(s, out)
            case ir.Plain(origin, targets):
                out += [s, *(ir.Track(origin, [self.companion(t)], [NOTHING]) for t in targets)]
            case ir.Return(origin, value):
                value = self.read(origin, value, out)
                out.append(ir.ReturnTuple(origin, [value, self.node(value)]))
            case ir.If(origin, test, body, orelse):
                test = self.truth(origin, self.read(origin, test, out), out)
                out.append(ir.If(origin, test, self.block(body), self.block(orelse)))
            case ir.While(origin, before, test, body, orelse):
                inner = self.block(before)
                test = self.truth(origin, self.read(origin, test, inner), inner)
                out.append(ir.While(origin, inner, test, self.block(body), self.block(orelse)))
            case ir.For(origin, target, iterable, body, orelse):
                iterable = self.read(origin, iterable, out)
                node = self.node(iterable)
                target, companion, then = self.assign(origin, target)
                whole = [*then, *self.block(body)]
                call = origin.iter if isinstance(origin, ast.For) else None
                if owned := isinstance(call, ast.Call):
                    out += _released(call, iterable, out)
                out.append(
                    ir.ForEach(
                        origin, target, companion, iterable, node, whole, self.block(orelse), owned
                    )
                )
            case ir.Try(origin, body, handlers, orelse, final, star):
                caught = []
                for h in handlers:
                    first = (
                        [ir.Track(origin, [self.companion(h.name)], [NOTHING])] if h.name else []
                    )
                    caught.append(ir.Handler(h.kind, h.name, [*first, *self.block(h.body)]))
                blocks = (self.block(orelse), self.block(final))
                out.append(ir.Try(origin, self.block(body), caught, *blocks, star))
            case ir.Raise(origin, exception, cause):
                exception = None if exception is None else self.read(origin, exception, out)
                cause = None if cause is None else self.read(origin, cause, out)
                out.append(ir.Raise(origin, exception, cause))
            case ir.Yield(origin, target, value):
                value = self.read(origin, value, out)
                target, companion, then = self.assign(origin, target)
                pair = [value, self.node(value)]
                out.append(ir.Track(origin, [target, companion], pair, yields=True))
                out += then
            case ir.Delete(origin, name) if name in self.cells:
                out.append(self.of_cell(origin, "delete_cell", name))
            case ir.Delete(origin, name) if name in self.class_names:
                out += [s, ir.Track(origin, [self.companion(name)], [NOTHING])]
            case ir.Break() | ir.Continue() | ir.Delete():
                out.append(s)
            case _:
                raise AssertionError(f"{type(s).__name__} cannot be recorded")


def _declared(origin: ast.AST, name: str) -> ir.Statement:
    """Return `name: None`, which makes a local variable that has no value so far."""
    return ir.Plain(placed(ast.parse(f"{name}: None").body[0], origin), [])


def _is_compared(test: ir.Atom, out: list[ir.Statement]) -> bool:
    """Return whether a value was just made by a comparison, of which the class has had its say."""
    match out:
        case [*_, ir.RecordedCall(target=target, function=function)]:
            pass
        case [*_, ir.Call(target=target, function=function), ir.Track()]:  # its truth
            pass
        case _:
            return False
    return test == ir.Name(target) and function in _COMPARISONS


def _as_call(s: ir.Statement) -> ir.Statement:
    """Return an operation on a structure as the call of the function that it stands for."""
    function: str
    operands: list[ir.Atom]
    target = ir.DISCARD
    match s:
        case ir.GetAttribute(_, target, value, name):
            function, operands = "getattr", [value, ir.Const(name)]
        case ir.GetItem(_, target, value, index):
            function, operands = "operator.getitem", [value, index]
        case ir.SetAttribute(_, value, name, source):
            function, operands = "setattr", [value, ir.Const(name), source]
        case ir.SetItem(_, value, index, source):
            function, operands = "operator.setitem", [value, index, source]
        case ir.Build(_, target, kind, items):
            function, operands = f"build_{kind}", items
        case ir.Apply(_, target, f, arguments, keywords):
            function, operands = "apply", [f, arguments, *keywords]
        case _:
            return s
    return ir.Call(s.origin, target, ir.Intrinsic(function), operands)


def _mangled(name: str, cls: str) -> str:
    """Return the name of an attribute as a class has it: private ones carry the class's name."""
    if not name.startswith("__") or name.endswith("__") or not cls.strip("_"):
        return name
    return f"_{cls.lstrip('_')}{name}"


def _assigned(body: list[ir.Statement]) -> Iterator[str]:
    """Yield the variables that recorded statements assign."""
    for s in body:
        match s:
            case ir.RecordedCall(_, target, companion) | ir.ForEach(_, target, companion):
                yield from (target, companion)
            case ir.Track(_, targets) | ir.Plain(_, targets):
                yield from targets
            case ir.Closure(_, target) | ir.Class(_, target):
                yield target
        if not isinstance(s, ir.Class):
            for block in ir.blocks_of(s):
                yield from _assigned(block)


def _released(call: ast.Call, iterable: ir.Atom, out: list[ir.Statement]) -> Iterator[ir.Statement]:
    """Yield what lets go of the values that only the iterable of a loop was made of."""
    variables = {part.id for part in ast.walk(call) if isinstance(part, ast.Name)}
    made = {s.target: s for s in out if isinstance(s, ir.RecordedCall)}
    todo = [iterable]
    while todo:
        s = made.get(getattr(todo.pop(), "id", ""))
        for x in () if s is None else s.arguments:
            if isinstance(x, ir.Name) and x.id in made and x.id not in variables:
                todo.append(x)
                yield ir.Track(call, [x.id], [NOTHING])
