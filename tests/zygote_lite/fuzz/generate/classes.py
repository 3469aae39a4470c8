"""Random programs with classes, recursion, caches, and exceptions in generators and `with`."""

from tests.zygote_lite.fuzz.generate import containers
from tests.zygote_lite.fuzz.generate.statements import stored_in


class Author(containers.Author):
    """Write programs that define and call in more ways."""

    def statements(self, deeper):
        nested = [
            self.class_inside, self.with_stars, self.recursion, self.guarded_generator, self.stack,
            self.guarded_loop, self.suppressed, self.cached,
        ]  # fmt: skip
        return super().statements(deeper) + (nested if deeper else [])

    # -- functions and classes

    def class_inside(self, scope):
        """Define a class with a base, state of the class and of the object."""
        name, z, o = self.new("C"), self.new("z"), self.new("o")
        base = self.pick(("Pair", "Counted"))
        inner = scope.inside(loop=False)
        inner.scalars, inner.functions = [z], []
        body = self.block(inner, 2)
        outer = sorted(stored_in(body) & (scope.names() - {z}))
        head = [f"nonlocal {', '.join(outer)}"] if outer else []
        lines = [
            f"class {name}({base}):",
            [
                f"rate = {self.scalar(scope, 1)}",
                f"def move(self, {z}):",
                [*head, *body, f"return super().move({self.scalar(inner, 1)}) * self.rate"],
                *self.pick(([], ["def __init__(self, u, v=0.5):",
                                 ["super().__init__(v, u)", "self.rate = 0.5 * u"]])),
            ],
            f"{o} = {name}({self.scalar(scope, 1)}, v={self.atom(scope)})",
        ]  # fmt: skip
        if self.chance(0.3):
            lines.append(f"{name}.rate = {self.scalar(scope, 1)}")
        if self.chance(0.3):
            lines.append(f"{o}.rate = {self.scalar(scope, 1)}")
        s = self.new("s")
        lines.append(f"{s} = {o}.move({self.scalar(scope, 1)})")
        scope.objects.append(o)
        scope.scalars.append(s)
        return lines

    def with_stars(self, scope):
        name, s = self.new("g"), self.new("s")
        xs, k, ks = self.new("x"), self.new("k"), self.new("k")
        inner = scope.inside(loop=False)
        inner.scalars, inner.functions = [k], []
        inner.held |= {*scope.lists}
        body = self.block(inner, 2)
        outer = sorted(stored_in(body) & (scope.names() - {k}))
        head = [f"nonlocal {', '.join(outer)}"] if outer else []
        lines = [
            f"def {name}(*{xs}, {k}={self.scalar(scope, 1)}, **{ks}):",
            [*head, *body,
             f"return sum({xs}) * {k} + sum({ks}.values()) * {self.scalar(inner, 1)}"],
        ]  # fmt: skip
        e = [self.scalar(scope, 1) for _ in range(3)]
        calls = [f"{name}({e[0]}, {e[1]}, {k}={e[2]})", f"{name}({e[0]}, z={e[1]})", f"{name}()"]
        calls += [f"{name}({e[0]}, *{x})" for x in scope.lists]
        calls += [f"{name}({e[0]}, **{d})" for d in scope.dicts]
        calls += [f"partial({name}, {e[0]}, z={e[1]})({e[2]}, **{d})" for d in scope.dicts]
        lines.append(f"{s} = {self.pick(calls)}")
        scope.scalars.append(s)
        return lines

    def recursion(self, scope):
        name, x, n, s = self.new("r"), self.new("x"), self.new("n"), self.new("s")
        inner = scope.inside(loop=False)
        inner.scalars, inner.functions, inner.indices = [x], [], [n]
        inner.held |= {*scope.lists}
        body = self.block(inner, 2)
        outer = sorted(stored_in(body) & (scope.names() - {x}))
        head = [f"nonlocal {', '.join(outer)}"] if outer else []
        again = f"{name}(tanh({self.scalar(inner, 1)}), {n} - 1)"
        last = self.pick((again, f"{self.atom(inner)} * {again} + {self.atom(inner)}",
                          f"{again} + {again}", f"sum([{again}, {x}])"))  # fmt: skip
        lines = [
            f"def {name}({x}, {n}={self.pick((2, 3))}):",
            [*head, f"if {n} <= 0:", [f"return {self.atom(inner)}"], *body, f"return {last}"],
            f"{s} = {name}({self.scalar(scope, 1)})",
        ]
        scope.scalars.append(s)
        return lines

    def cached(self, scope):
        name, x, s = self.new("g"), self.new("x"), self.new("s")
        e = self.scalar(scope, 1)
        lines = [
            "@lru_cache(maxsize=None)", f"def {name}({x}, k=1):",
            [f"return {x} * {self.atom(scope)} if k <= 0 else {name}({x}, k - 1) + {name}({x}, 0)"],
            f"{s} = {name}({e}, {self.pick((1, 2))}) + {name}({e}, 1)",
        ]  # fmt: skip
        scope.scalars.append(s)
        return lines

    # -- exceptions

    def guarded_generator(self, scope):
        """Define a generator that catches what is thrown into it, and walk it."""
        name, x, t, it = self.new("gen"), self.new("x"), self.new("t"), self.new("it")
        inner = scope.inside(loop=False)
        inner.scalars, inner.functions = [x], []
        inner.depth += 1
        body = [
            "try:",
            [f"yield {self.scalar(inner, 1)}", *self.block(inner.inside(), 2),
             f"if {self.condition(inner)}:", ["raise ValueError"], f"yield {x}"],
            f"except {self.pick(('ValueError', '(ValueError, KeyError)'))}:",
            [*self.block(inner.inside(), 2), f"yield {self.scalar(inner, 1)}"],
            *self.pick(([], ["finally:", self.block(inner.inside(), 1)])),
        ]  # fmt: skip
        stored = stored_in(body)
        outer = sorted(stored & (scope.names() - {x}))
        head = [f"nonlocal {', '.join(outer)}"] if outer else []
        walk = scope.inside(loop=True)
        walk.scalars.append(t)
        walk.held |= {*scope.lists}
        lines = [f"def {name}({x}):", [*head, *body]]
        if self.chance(0.5):
            return [*lines, f"for {t} in {name}({self.scalar(scope, 1)}):", self.block(walk, 2)]
        a, b = self.new("s"), self.new("s")
        lines += [f"{it} = {name}({self.scalar(scope, 1)})", f"{a} = next({it})"]
        lines += self.pick((
            [f"{b} = {it}.throw(ValueError)", f"{it}.close()"], [f"{b} = sum({it})"],
            [f"{b} = next({it}, 0.5)", f"{it}.close()"],
        ))  # fmt: skip
        scope.scalars += [a, b]
        return lines

    def stack(self, scope):
        """Take numbers from a stack until it is empty."""
        x, t, s = self.new("l"), self.new("t"), self.new("s")
        inner = scope.inside(loop=True)
        inner.scalars += [t, s]
        source = self.pick(scope.lists) if scope.lists else f"({self.atom(scope)}, 0.5)"
        scope.scalars.append(s)
        more = [f"if len({x}) < 3 and {self.condition(scope)} and {s} is not None:",
                [f"{x}.append({t} * 0.5)", f"{x}.pop(0)"]]  # fmt: skip
        return [
            f"{x}, {s} = list({source}), {self.atom(scope)}", f"while {x}:",
            [f"{t} = {x}.pop()", *more, *self.block(inner, 2), f"{s} = 0.5 * {s} + {t}"],
        ]  # fmt: skip

    def guarded_loop(self, scope):
        """Leave a loop through a `finally`."""
        k = self.new("k")
        inner = scope.inside(loop=True)
        inner.indices.append(k)
        inner.depth += 1
        leave = self.pick(
            ("break", "continue", f"return {self.scalar(scope, 1)}", "raise ValueError")
        )
        lines = [
            f"for {k} in range({self.pick((2, 3))}):",
            ["try:",
             [*self.block(inner, 2), f"if {self.condition(inner)}:", [leave],
              *self.block(inner, 1)],
             *self.pick(([], ["except ValueError:", self.block(inner, 1)])),
             "finally:", self.block(inner.inside(loop=False), 2)],
        ]  # fmt: skip
        if leave == "raise ValueError":
            return ["try:", lines, "except ValueError:", self.block(scope.inside(), 1)]
        return lines

    def suppressed(self, scope):
        """Leave a `with` by an exception, with callbacks at its end."""
        k, t = self.new("st"), self.new("t")
        inner = scope.inside()
        body = self.block(inner, 2)
        body += [f"if {self.condition(scope)}:", [self.pick(("raise ValueError", "{}['no']"))]]
        body += self.block(inner, 1)
        lines = [f"with ExitStack() as {k}:",
                 [f"{k}.enter_context(suppress(ValueError, KeyError))"]]  # fmt: skip
        if scope.lists:
            x = self.pick(scope.lists)
            lines[1].append(f"{k}.callback({x}.__setitem__, 0, {self.scalar(scope, 1)})")
        if scope.objects:
            o = self.pick(scope.objects)
            lines[1].append(f"{k}.callback(lambda {t}: {o}.move({t}), {self.scalar(scope, 1)})")
        lines[1] += body
        return lines if self.chance(0.6) else ["with suppress(ValueError, KeyError):", body]
