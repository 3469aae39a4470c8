"""Random programs as text: statements, lists, dicts, arrays and closures.

`re_(x)` in a program marks what a branch looks at.
"""

import ast
import itertools

CONSTANTS = ("0.3", "0.5", "-0.7", "1.3", "2.0", "-1.1")


class Scope:
    """The names that are surely assigned where the next statement stands."""

    def __init__(self, scalars=(), arrays=(), lists=(), dicts=(), functions=()):
        self.scalars, self.arrays, self.lists = [*scalars], {**dict(arrays)}, [*lists]
        self.dicts, self.functions = [*dicts], [*functions]
        self.objects, self.matrices = [], []
        self.depth, self.loop, self.held = 0, False, set()
        self.indices = []  # counters of loops, which nothing else assigns
        self.others = {}  # the names of other kinds of values, by kind

    def inside(self, loop=None):
        new = Scope(self.scalars, self.arrays, self.lists, self.dicts, self.functions)
        new.objects, new.matrices = [*self.objects], [*self.matrices]
        new.depth, new.held = self.depth + 1, set(self.held)
        new.indices = [*self.indices]
        new.others = {kind: [*names] for kind, names in self.others.items()}
        new.loop = self.loop if loop is None else loop
        return new

    def names(self):
        return {*self.scalars, *self.arrays, *self.lists, *self.dicts, *self.objects,
                *self.matrices, *(x for names in self.others.values() for x in names)}  # fmt: skip


class Author:
    """Write a program: a module of helpers and of `f(a, b, v, items, table)`."""

    def __init__(self, source):
        self.random = source
        self.names = itertools.count()
        self.budget = self.random.randint(6, 22)  # of statements
        self.pure = False

    def pick(self, options):
        return self.random.choice(options)

    def chance(self, p):
        return self.random.random() < p

    def new(self, letter):
        return f"{letter}{next(self.names)}"

    def module(self):
        helpers, known = [], []
        for _ in range(self.random.randint(0, 2)):
            name = self.new("h")
            self.budget += 3
            scope = Scope(["x", "y"], {"w": 3}, functions=known)
            body = self.block(scope, 3)
            body.append(f"return {self.scalar(scope, 2)}")
            helpers.append(render([f"def {name}(x, y, w):", body]))
            known = [*known, (name, "ssa")]
        scope = Scope(["a", "b"], {"v": 3}, ["items"], ["table"], known)
        lines = self.block(scope, self.budget)
        lines.append("return " + self.total(scope))
        return "\n\n\n".join([*helpers, render(["def f(a, b, v, items, table):", lines])]) + "\n"

    def total(self, scope):
        terms = [*scope.scalars, *(f"np.sum({w})" for w in scope.arrays)]
        terms += [f"sum({x})" for x in scope.lists] + [f"sum({d}.values())" for d in scope.dicts]
        return " + ".join(f"{self.pick(CONSTANTS)} * {t}" for t in terms)

    def block(self, scope, limit):
        """Return some statements; a list among them is the indented block of the line before."""
        lines = []
        for _ in range(self.random.randint(1, max(1, limit))):
            if self.budget <= 0:
                break
            self.budget -= 1
            lines += self.statement(scope)
        return lines or ["pass"]

    def statement(self, scope):
        return self.pick(self.statements(scope.depth < 3))(scope)

    def statements(self, deeper):
        """Return the kinds of statements, with what holds blocks where it may go deeper."""
        simple = [
            self.assign, self.assign, self.augment, self.swap, self.list_write, self.list_write,
            self.dict_write, self.array_write, self.array_write, self.array_write, self.array_new,
            self.array_in_place, self.view, self.alias,
        ]  # fmt: skip
        nested = [
            self.branch, self.branch, self.loop, self.loop, self.while_loop, self.attempt,
            self.closure, self.jump,
        ]  # fmt: skip
        return simple + (nested if deeper else [self.jump])

    # -- expressions

    def scalar(self, scope, depth=2):
        if depth <= 0 or self.chance(0.25):
            return self.atom(scope)
        e = lambda: self.scalar(scope, depth - 1)
        kind = self.random.randrange(17)
        if kind < 3:
            return f"{e()} * {self.atom(scope)}"
        if kind < 5:
            return f"({e()} {self.pick('+-')} {e()})"
        if kind < 8:
            return f"{self.pick(('sin', 'cos', 'tanh'))}({e()})"
        if kind == 8:
            return f"{e()} / (2.0 + sin({e()}))"
        if kind == 9:
            return f"({e()} if {self.condition(scope)} else {e()})"
        if kind == 10:
            return f"{self.pick(('max', 'min'))}({e()}, {e()})"
        if kind == 11 and scope.lists:
            x, t = self.pick(scope.lists), self.new("t")
            inner = f"{t} * {self.atom(scope)} for {t} in {x}"
            if self.chance(0.3):
                inner += f" if re_({t}) > {self.pick(CONSTANTS)}"
            return self.pick((f"sum([{inner}])", f"sum({inner})"))
        if kind == 12 and scope.arrays:
            w = self.array(scope, 3)
            return self.pick((f"np.sum({w})", f"{w} @ {self.array(scope, 3)}", f"np.mean({w})"))
        if kind == 13 and scope.functions:
            return self.call(scope, depth - 1)
        if kind == 14:
            t = self.new("t")
            return f"(lambda {t}: {t} * {self.atom(scope)} + {self.atom(scope)})({e()})"
        if kind == 15 and scope.lists:
            return f"sorted({self.pick(scope.lists)})[{self.random.randrange(2)}]"
        return f"exp(-({e()}) * ({e()}) * 0.1)" if kind == 16 else e()

    def atom(self, scope):
        kind = self.random.randrange(9)
        if kind < 4 and scope.scalars:
            return self.pick(scope.scalars)
        if kind < 6 and scope.arrays:
            w, n = self.pick(list(scope.arrays.items()))
            return f"{w}[{self.index(scope, n)}]"
        if kind == 6 and scope.lists:
            return f"{self.pick(scope.lists)}[{self.index(scope, 2)}]"
        if kind == 7 and scope.dicts:
            return f"{self.pick(scope.dicts)}[{self.pick(('p', 'q'))!r}]"
        return self.pick(scope.scalars) if scope.scalars and kind == 8 else self.pick(CONSTANTS)

    def index(self, scope, n):
        """Return an index into something of length `n`."""
        if scope.indices and self.chance(0.6):
            i = self.pick(scope.indices)
            return self.pick((f"{i} % {n}", f"-1 - {i} % {n}", f"({i} + 1) % {n}"))
        return self.random.randrange(-n, n)

    def condition(self, scope):
        left = f"re_({self.scalar(scope, 1)})"
        kind = self.random.randrange(6)
        if kind == 0:
            return f"-0.5 < {left} < {self.pick(CONSTANTS)}"
        if kind == 1:
            return f"not {left} > {self.pick(CONSTANTS)}"
        if kind == 2:
            joined = self.pick(("and", "or"))
            return f"({left} > 0.1 {joined} re_({self.atom(scope)}) < {self.pick(CONSTANTS)})"
        return f"{left} {self.pick('<>')} {self.pick(CONSTANTS)}"

    def array(self, scope, n, depth=1):
        """Return an expression for an array of length `n` (or a number where there is none)."""
        names = [w for w, m in scope.arrays.items() if m == n]
        kind = self.random.randrange(8)
        if not names:
            return f"np.array([{', '.join(self.scalar(scope, 1) for _ in range(n))}])"
        w = self.pick(names)
        if depth <= 0 or kind < 2:
            return w
        if kind == 2:
            return f"({w} * {self.array(scope, n, depth - 1)})"
        if kind == 3:
            return f"({w} {self.pick('+-')} {self.atom(scope)})"
        if kind == 4:
            return f"np.{self.pick(('sin', 'tanh'))}({w})"
        if kind == 5:
            return f"{w}[::-1]"
        if kind == 6:
            return f"np.where(re_({w}) > {self.pick(CONSTANTS)}, {w}, {self.atom(scope)})"
        return f"np.array([{', '.join(self.scalar(scope, 1) for _ in range(n))}])"

    def call(self, scope, depth):
        name, kind = self.pick(scope.functions)
        if kind == "s":
            return f"{name}({self.scalar(scope, depth)})"
        w = [w for w, n in scope.arrays.items() if n == 3]
        w = self.pick(w) if w and self.chance(0.7) else self.array(scope, 3)
        return f"{name}({self.scalar(scope, depth)}, {self.atom(scope)}, {w})"

    # -- simple statements

    def assign(self, scope):
        value = self.scalar(scope)
        if scope.scalars and self.chance(0.5):
            name = self.pick(scope.scalars)
            return [f"{name} = tanh({value})" if scope.loop else f"{name} = {value}"]
        name = self.new("s")
        scope.scalars.append(name)
        return [f"{name} = {value}"]

    def augment(self, scope):
        if not scope.scalars:
            return self.assign(scope)
        name = self.pick(scope.scalars)
        if self.chance(0.3):
            return [f"{name} *= cos({self.scalar(scope, 1)})"]
        return [f"{name} {self.pick('+-')}= {self.scalar(scope, 1)}"]

    def swap(self, scope):
        if len(scope.scalars) < 2:
            return self.assign(scope)
        names = self.random.sample(scope.scalars, min(len(scope.scalars), self.pick((2, 2, 3))))
        values = [*names[1:], names[0]]
        if self.chance(0.4):
            values[0] = f"sin({values[0]}) * {self.atom(scope)}"
        return [f"{', '.join(names)} = {', '.join(values)}"]

    def list_write(self, scope):
        if not scope.lists or self.chance(0.15):
            name = self.new("l")
            value = f"[{', '.join(self.scalar(scope, 1) for _ in range(self.pick((2, 3))))}]"
            if scope.lists and self.chance(0.3):
                old = self.pick(scope.lists)
                value = self.pick((f"list({old})", f"{old}[:]", f"[0.5 * t for t in {old}]"))
            scope.lists.append(name)
            return [f"{name} = {value}"]
        x, e = self.pick(scope.lists), self.scalar(scope, 1)
        if x in scope.held:
            return [f"{x}[{self.random.randrange(-2, 2)}] = tanh({e})"]
        return [
            self.pick((
                f"{x}[{self.random.randrange(-2, 2)}] = {e}",
                f"{x}[{self.random.randrange(-2, 2)}] = {e}",
                f"{x}[{self.random.randrange(-2, 2)}] += {e}",
                f"{x}.append({e})",
                f"{x}.insert({self.random.randrange(2)}, {e})",
                f"{x}.reverse()",
                f"{x}[0], {x}[1] = {x}[1], {e}",
                f"{x}[:2] = [{e}, {x}[0]]",
                f"{x} += [{e}]",
                f"{x}.extend([{e}, {x}.pop()])",
            ))
        ]  # fmt: skip

    def dict_write(self, scope):
        if not scope.dicts:
            name = self.new("d")
            scope.dicts.append(name)
            return [f"{name} = {{'p': {self.scalar(scope, 1)}, 'q': {self.scalar(scope, 1)}}}"]
        d, e, key = self.pick(scope.dicts), self.scalar(scope, 1), repr(self.pick(("p", "q", "r")))
        return [
            self.pick((
                f"{d}[{key}] = {e}",
                f"{d}[{key}] = {e}",
                f"{d}['p'] += {e}",
                f"{d}.update(p={d}['q'], q={e})",
                f"{d}['q'] = {d}.pop('r', {e})",
                f"{d}['r'] = {d}.setdefault('r', {e}) * 0.5",
                f"{d}['p'], {d}['q'] = {d}['q'], {d}['p'] * {e}",
            ))
        ]  # fmt: skip

    def array_new(self, scope):
        name, n = self.new("w"), self.pick((3, 3, 2))
        names = [w for w, m in scope.arrays.items() if m == n]
        value = self.array(scope, n, 2)
        if value in names or value.endswith("[::-1]"):
            value = f"{value}.copy()"
        if self.chance(0.4):
            value = self.pick((f"zeros({n})", *(f"{w}.copy()" for w in names)))
        scope.arrays[name] = n
        return [f"{name} = {value}"]

    def array_write(self, scope):
        if not scope.arrays:
            return self.array_new(scope)
        w, n = self.pick(list(scope.arrays.items()))
        i, e = self.index(scope, n), self.scalar(scope, 1)
        return [
            self.pick((
                f"{w}[{i}] = {e}",
                f"{w}[{i}] = {e}",
                f"{w}[{i}] += {e}",
                f"{w}[{i}] *= cos({e})",
                f"{w}[1:] = {self.array(scope, n - 1)}" if n == 3 else f"{w}[:] = {e}",
                f"{w}[1:] = {w}[:-1]",
                f"{w}[:-1] += {w}[1:]",
                f"{w}[:] = {self.array(scope, n)}",
                f"{w}[re_({w}) > {self.pick(CONSTANTS)}] = {e}",
                f"{w}[re_({w}) < {self.pick(CONSTANTS)}] *= 0.5",
                f"{w}[[0, -1]] = {w}[[-1, 0]]",
                f"{w}[[0, 0, 1]] += {e}",
                f"np.add.at({w}, [0, 1, 0], {e})",
                f"{w}[0], {w}[1] = {w}[1], {e}",
            ))
        ]  # fmt: skip

    def array_in_place(self, scope):
        if not scope.arrays:
            return self.array_new(scope)
        w, n = self.pick(list(scope.arrays.items()))
        other = self.array(scope, n)
        return [
            self.pick((
                f"{w} += {other}",
                f"{w} -= {self.scalar(scope, 1)}",
                f"{w} *= {other}",
                f"{w} /= 2.0 + np.sin({other})",
                f"np.multiply({w}, {other}, out={w})",
                f"np.sin({other}, out={w})",
                f"np.copyto({w}, {other})",
                f"np.cumsum({other}, out={w})",
                f"np.add({w}, {other}, {w})",
                f"{w}.fill({self.scalar(scope, 1)})",
                f"{w}.sort()",
            ))
        ]  # fmt: skip

    def view(self, scope):
        long = [w for w, n in scope.arrays.items() if n == 3]
        if not long:
            return self.array_new(scope)
        w, name = self.pick(long), self.new("u")
        text, n = self.pick(
            (
                ("[1:]", 2),
                ("[:2]", 2),
                ("[::2]", 2),
                ("[::-1]", 3),
                (".reshape(3, 1)[:, 0]", 3),
                ("[:]", 3),
            )
        )
        scope.arrays[name] = n
        return [f"{name} = {w}{text}"]

    def alias(self, scope):
        kind = self.random.randrange(3)
        if kind == 0 and scope.arrays:
            w, n = self.pick(list(scope.arrays.items()))
            name = self.new("w")
            scope.arrays[name] = n
        elif kind == 1 and scope.lists:
            w, name = self.pick(scope.lists), self.new("l")
            if w in scope.held:
                scope.held.add(name)
            scope.lists.append(name)
        elif scope.dicts:
            w, name = self.pick(scope.dicts), self.new("d")
            scope.dicts.append(name)
        else:
            return self.assign(scope)
        return [f"{name} = {w}"]

    # -- nested statements

    def branch(self, scope):
        lines = [f"if {self.condition(scope)}:", self.block(scope.inside(), 3)]
        if self.chance(0.3):
            lines += [f"elif {self.condition(scope)}:", self.block(scope.inside(), 2)]
        if self.chance(0.5):
            lines += ["else:", self.block(scope.inside(), 3)]
        return lines

    def loop(self, scope):
        inner = scope.inside(loop=True)
        kind = self.random.randrange(6)
        if kind == 0 and scope.lists:
            x, t = self.pick(scope.lists), self.new("t")
            inner.scalars.append(t)
            inner.held |= {*scope.lists}  # it may be the same list under another name
            head = f"for {t} in {x}:"
        elif kind == 1 and scope.arrays:
            w, t, i = self.pick(list(scope.arrays)), self.new("t"), self.new("i")
            inner.scalars += [t, i]
            head = f"for {i}, {t} in enumerate({w}):"
        elif kind == 2 and scope.arrays and scope.lists:
            t, u = self.new("t"), self.new("t")
            inner.scalars += [t, u]
            inner.held |= {*scope.lists}
            head = (
                f"for {t}, {u} in zip({self.pick(scope.lists)}, {self.pick(list(scope.arrays))}):"
            )
        else:
            i = self.new("i")
            self.pick((inner.scalars, inner.indices, inner.indices)).append(i)
            head = f"for {i} in range({self.pick((2, 3, 4))}):"
        lines = [head, self.block(inner, 4)]
        if self.chance(0.2):
            lines += ["else:", self.block(scope.inside(), 2)]
        return lines

    def while_loop(self, scope):
        k = self.new("k")
        inner = scope.inside(loop=True)
        inner.indices.append(k)
        body = self.block(inner, 3)
        more = f" and {self.condition(scope)}" if self.chance(0.4) else ""
        return [
            f"{k} = 0",
            f"while {k} < {self.pick((2, 3, 5))}{more}:",
            [f"{k} += 1", *body],
            *(["else:", self.block(scope.inside(), 1)] if self.chance(0.2) else []),
        ]

    def jump(self, scope):
        if scope.depth == 0:
            return self.assign(scope)
        options = [f"return {self.scalar(scope, 2)}", "raise ValueError"]
        if scope.loop:
            options += ["break", "continue", "break", "continue"]
        return [f"if {self.condition(scope)}:", [self.pick(options)]]

    def attempt(self, scope):
        body = self.block(scope.inside(), 3)
        wrong = self.pick(("raise ValueError", "zeros(2)[7]", "[][1]", "{}['no']"))
        middle = [f"if {self.condition(scope)}:", [wrong]]
        lines = ["try:", [*body, *middle, *self.block(scope.inside(), 2)]]
        lines += ["except (ValueError, LookupError):", self.block(scope.inside(), 2)]
        if self.chance(0.3):
            lines += ["else:", self.block(scope.inside(), 2)]
        if self.chance(0.4):
            inner = scope.inside(loop=False)
            lines += ["finally:", self.block(inner, 2)]
        return lines

    def closure(self, scope):
        name, x = self.new("g"), self.new("x")
        inner = scope.inside(loop=False)
        captured = [s for s in scope.scalars if self.chance(0.4)]
        inner.scalars = [x, *captured]
        inner.functions = []
        body = self.block(inner, 3)
        lines = [f"return {self.scalar(inner, 1)}"]
        outer = sorted(stored_in([*body, *lines]) & (scope.names() - {x}))
        head = [f"nonlocal {', '.join(outer)}"] if outer else []
        scope.functions = [*scope.functions, (name, "s")]
        return [f"def {name}({x}):", [*head, *body, *lines]]


def stored_in(body):
    """Return the names that statements assign."""
    names = [n for n in ast.walk(ast.parse(render(["def _():", body]))) if isinstance(n, ast.Name)]
    return {n.id for n in names if isinstance(n.ctx, ast.Store)}


def render(lines, indent=0):
    """Return the text of nested lists of lines."""
    text = []
    for line in lines:
        if isinstance(line, list):
            text.append(render(line, indent + 4))
        else:
            text.append(" " * indent + line)
    return "\n".join(text)
