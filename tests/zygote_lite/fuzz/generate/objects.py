"""Random programs with objects, generators, matrices, patterns and functions of functions."""

from tests.zygote_lite.fuzz.generate import statements
from tests.zygote_lite.fuzz.generate.statements import CONSTANTS


class Author(statements.Author):
    """Write programs that use `library` too."""

    def statements(self, deeper):
        simple = [
            self.object_new, self.object_write, self.object_write, self.object_write,
            self.matrix_new, self.matrix_write, self.matrix_write, self.matrix_view,
            self.unpack, self.dict_new, self.in_order, self.function, self.take_steps,
        ]  # fmt: skip
        nested = [self.generator, self.over_items, self.managed, self.match, self.over_rows]
        return super().statements(deeper) + simple + (nested if deeper else [])

    def total(self, scope):
        terms = [super().total(scope)]
        terms += [f"{self.pick(CONSTANTS)} * ({p}.u + 2.0 * {p}.v)" for p in scope.objects]
        terms += [f"{self.pick(CONSTANTS)} * np.sum({m} * {m})" for m in scope.matrices]
        return " + ".join(terms)

    # -- expressions

    def scalar(self, scope, depth=2):
        if depth <= 0 or self.chance(0.7):
            return super().scalar(scope, depth)
        e = lambda: self.scalar(scope, depth - 1)
        kind = self.random.randrange(14)
        if kind < 3 and scope.objects:
            p = self.pick(scope.objects)
            return self.pick((f"{p}.move({e()})", f"{p}.both", f"sum({p})", f"{p}({e()})",
                              f"({p} + {e()}).both", f"{self.atom(scope)} * {p}"))  # fmt: skip
        if kind < 5 and scope.functions and scope.scalars:
            s, call = self.pick(scope.scalars), self.call(scope, depth - 1)
            return self.pick((f"({s} * {call} + {s})", f"sum([{s}, {call}, {s}])",
                              f"max({s}, {call}, {s} * 0.5)"))  # fmt: skip
        if kind == 5 and scope.scalars:
            return f"({self.pick(scope.scalars)} := {e()})"
        if kind == 6 and scope.matrices:
            m = self.pick(scope.matrices)
            i, j = self.index(scope, 2), self.index(scope, 3)
            return self.pick((f"{m}[{i}, {j}]", f"{m}.sum()", f"{m}[{i}].sum()",
                              f"({m} @ {self.array(scope, 3)})[{i}]",
                              f"np.sum({m} * {m}.T[{j}, 0])",
                              f"{m}.T[{j}][{i}]", f"np.mean({m}, axis=0)[{j}]"))  # fmt: skip
        if kind == 7:
            return f"sum(steps({e()}, {self.pick((2, 3))}))"
        if kind == 8 and scope.lists:
            t, x = self.new("t"), self.pick(scope.lists)
            return self.pick((
                f"sum(map(lambda {t}: {t} * {self.atom(scope)}, {x}))",
                f"reduce(lambda s, {t}: 0.5 * s + {t} * {self.atom(scope)}, {x}, {e()})",
                f"sum(filter(lambda {t}: re_({t}) > {self.pick(CONSTANTS)}, {x}))",
                f"[*running({x})][{self.index(scope, 2)}]",
                f"sum(p * q for p, q in zip({x}, {x}[1:]))",
            ))  # fmt: skip
        if kind == 9 and scope.arrays:
            w, n = self.pick(list(scope.arrays.items()))
            return self.pick((f"{w}.sum()", f"{w}.dot({self.array(scope, n)})", f"sum({w})",
                              f"sum({w}.tolist())", f"np.prod({w})"))  # fmt: skip
        if kind == 10 and scope.functions:
            name, kind = self.pick(scope.functions)
            if kind == "s":
                return f"partial({name}, {e()})()"
        if kind == 11 and scope.dicts:
            return f"sum(t * {self.atom(scope)} for t in {self.pick(scope.dicts)}.values())"
        return super().scalar(scope, depth)

    # -- objects

    def object_new(self, scope):
        name = self.new("o")
        if scope.objects and self.chance(0.3):
            old = self.pick(scope.objects)
            value = self.pick((old, f"{old} + {self.scalar(scope, 1)}", f"Pair(*{old})"))
        else:
            kind = self.pick(("Pair", "Pair", "Counted"))
            value = f"{kind}({self.scalar(scope, 1)}, v={self.scalar(scope, 1)})"
        scope.objects.append(name)
        return [f"{name} = {value}"]

    def object_write(self, scope):
        if not scope.objects:
            return self.object_new(scope)
        p, e = self.pick(scope.objects), self.scalar(scope, 1)
        return [
            self.pick((
                f"{p}.u = {e}",
                f"{p}.v += {e}",
                f"{p}.u *= cos({e})",
                f"{p}.u, {p}.v = {p}.v, {e}",
                f"{p}.move({e})",
                f"{p}.both = {e}",
                f"{p}.both += {e}",
                f"{p}[{self.random.randrange(2)}] = {e}",
                f"{p}[{self.random.randrange(2)}] -= {e}",
                f"{p} += {e}",
                f"{self.pick(scope.objects)}.u = {p}.v",
                f"setattr({p}, 'v', {e})",
            ))
        ]  # fmt: skip

    def managed(self, scope):
        if not scope.objects:
            return self.object_new(scope)
        inner, name = scope.inside(), self.new("o")
        inner.objects.append(name)
        body = self.block(inner, 3)
        if self.chance(0.3):
            body += [f"if {self.condition(scope)}:", ["raise ValueError"]]
        return [f"with kept({self.pick(scope.objects)}) as {name}:", body]

    # -- matrices of two rows and three columns

    def matrix_new(self, scope):
        name, rows = self.new("m"), [self.array(scope, 3), self.array(scope, 3)]
        value = self.pick((
            f"np.array([{rows[0]}, {rows[1]}])",
            f"np.stack([{rows[0]}, {rows[1]}])",
            f"np.outer([{self.scalar(scope, 1)}, {self.atom(scope)}], {rows[0]})",
            "zeros((2, 3))",
            f"zeros((3, 2)).T + {rows[1]}",
            *(f"{m}.copy()" for m in scope.matrices),
            *(f"{m} * {self.atom(scope)}" for m in scope.matrices),
        ))  # fmt: skip
        scope.matrices.append(name)
        return [f"{name} = {value}"]

    def matrix_write(self, scope):
        if not scope.matrices:
            return self.matrix_new(scope)
        m, e = self.pick(scope.matrices), self.scalar(scope, 1)
        i, j = self.index(scope, 2), self.index(scope, 3)
        row = self.array(scope, 3)
        return [
            self.pick((
                f"{m}[{i}] = {row}",
                f"{m}[{i}, {j}] = {e}",
                f"{m}[{i}][{j}] += {e}",
                f"{m}[:, {j}] += {e}",
                f"{m}[:, 1:] = {m}[:, :-1]",
                f"{m}[::-1] += {m}",
                f"{m}.T[{j}] *= cos({e})",
                f"{m}.T[:2] = {m}[:, :2]",
                f"{m} *= {row}",
                f"{m} += {row}",
                f"{m}[{i}] -= {m}[{i} - 1]",
                f"{m}.reshape(6)[{j}:{j} + 2] = {e}" if isinstance(j, int) else f"{m}[0] = {e}",
                f"np.add({m}, {row}, out={m})",
                f"{m}[re_({m}) > {self.pick(CONSTANTS)}] = {e}",
                f"{m}[[0, 1], [{j}, 0]] += {e}",
                f"{m}[...] = {m}[::-1] * {self.atom(scope)}",
                f"{m}.ravel()[::2] = {row}",
            ))
        ]  # fmt: skip

    def matrix_view(self, scope):
        if not scope.matrices:
            return self.matrix_new(scope)
        m, name = self.pick(scope.matrices), self.new("u")
        text, n = self.pick((
            ("[0]", 3), ("[-1]", 3), ("[:, 1]", 2), (".T[2]", 2), ("[1, ::-1]", 3), ("[0, :2]", 2),
            (".reshape(3, 2)[1]", 2), (".ravel()[1:4]", 3), (".T.T[0]", 3),
        ))  # fmt: skip
        scope.arrays[name] = n
        return [f"{name} = {m}{text}"]

    def over_rows(self, scope):
        if not scope.matrices:
            return self.matrix_new(scope)
        inner, name = scope.inside(loop=True), self.new("u")
        m, n = self.pick(scope.matrices), self.pick((3, 2))
        inner.arrays[name] = n
        return [f"for {name} in {m}{'.T' * (n == 2)}:", self.block(inner, 3)]

    # -- other statements

    def unpack(self, scope):
        a, b, c = self.new("s"), self.new("l"), self.new("s")
        e = [self.scalar(scope, 1) for _ in range(4)]
        scope.scalars += [a, c]
        if self.chance(0.5):
            scope.lists.append(b)
            return [f"{a}, *{b}, {c} = {', '.join(e)}"]
        scope.scalars.append(b)
        return [f"({a}, ({b}, {c})) = ({e[0]}, ({e[1]}, {e[2]}))"]

    def dict_new(self, scope):
        if not scope.dicts:
            return self.dict_write(scope)
        d, name, e = self.pick(scope.dicts), self.new("d"), self.scalar(scope, 1)
        value = self.pick((
            f"{{**{d}, 'p': {e}}}",
            f"{{k: t * {self.atom(scope)} for k, t in {d}.items()}}",
            f"dict(zip(('p', 'q'), ({e}, {self.atom(scope)})))",
            f"dict({d}, q={e})",
            f"{d} | {{'q': {e}}}",
            f"{d}.copy()",
        ))  # fmt: skip
        scope.dicts.append(name)
        return [f"{name} = {value}"]

    def over_items(self, scope):
        if not scope.dicts:
            return self.dict_write(scope)
        d, k, t = self.pick(scope.dicts), self.new("k"), self.new("t")
        inner = scope.inside(loop=True)
        inner.scalars.append(t)
        body = self.block(inner, 2)
        return [
            f"for {k}, {t} in list({d}.items()):",
            [*body, f"{d}[{k}] = tanh({self.scalar(inner, 1)})"],
        ]

    def in_order(self, scope):
        """Write what shows the order of evaluation."""
        if not scope.functions or not scope.scalars:
            return self.assign(scope)
        s, call, name = self.pick(scope.scalars), self.call(scope, 1), self.new("s")
        lines = [
            f"{name} = {s} * {call} + {s}",
            f"{name} = sum([{s}, {call}, {s}])",
            f"{name} = {call} * {s}",
            f"{name} = {s} = {s} - {call}",
        ]
        if scope.lists:
            lines.append(f"{name} = {self.pick(scope.lists)}[{self.index(scope, 2)}] * {call}")
        if scope.arrays:
            lines.append(f"{name} = np.sum({self.pick(list(scope.arrays))} * {call})")
        scope.scalars.append(name)
        return [self.pick(lines)]

    def function(self, scope):
        """Define a function of one number, by `lambda` or with state of its own."""
        name, t = self.new("g"), self.new("t")
        value = f"lambda {t}: {t} * {self.atom(scope)} + {self.atom(scope)}"
        if scope.scalars and self.chance(0.5):
            inner = self.new("n")
            lines = [
                f"def {name}({t}, {inner}=[{self.atom(scope)}]):",
                [f"{inner}[0] = 0.5 * {inner}[0] + {t}",
                 f"return {inner}[0] * {self.atom(scope)}"],
            ]  # fmt: skip
        else:
            lines = [f"{name} = {value}"]
        scope.functions = [*scope.functions, (name, "s")]
        return lines

    def take_steps(self, scope):
        """Step a generator by hand."""
        it, a, b = self.new("it"), self.new("s"), self.new("s")
        e = self.scalar(scope, 1)
        scope.scalars += [a, b]
        return [
            f"{it} = steps({self.scalar(scope, 1)}, 4)",
            f"{a} = next({it})",
            self.pick((f"{b} = {it}.send({e})", f"{b} = next({it}) * {e}",
                       f"{b} = sum({it}, {e})")),
        ]  # fmt: skip

    def generator(self, scope):
        """Define a generator and walk it, with what it changes and reads in between."""
        name, x, t = self.new("gen"), self.new("x"), self.new("t")
        inner = scope.inside(loop=False)
        inner.scalars, inner.functions = [x], []
        body = [
            *self.block(inner, 2), f"yield {self.scalar(inner, 1)}",
            *self.block(inner, 2), f"yield {self.scalar(inner, 1)}",
        ]  # fmt: skip
        stored = statements.stored_in(body)
        outer = sorted(stored & (scope.names() - {x}))
        head = [f"nonlocal {', '.join(outer)}"] if outer else []
        walk = scope.inside(loop=True)
        walk.scalars.append(t)
        walk.held |= {*scope.lists}
        return [
            f"def {name}({x}):",
            [*head, *body],
            f"for {t} in {name}({self.scalar(scope, 1)}):",
            self.block(walk, 3),
        ]

    def match(self, scope):
        a, b = self.new("s"), self.new("s")
        inner = scope.inside()
        inner.scalars += [a, b]
        if scope.objects and self.chance(0.4):
            subject, first = self.pick(scope.objects), f"Pair(u={a}, v={b})"
        elif scope.dicts and self.chance(0.4):
            subject, first = self.pick(scope.dicts), f"{{'p': {a}, 'q': {b}}}"
        else:
            subject = f"({self.scalar(scope, 1)}, {self.scalar(scope, 1)})"
            first = f"({a}, {b})"
        return [
            f"match {subject}:",
            [f"case {first} if {self.condition(inner)}:", self.block(inner, 3),
             "case _:", self.block(scope.inside(), 2)],
        ]  # fmt: skip
