"""Random programs with containers in containers, deques, heaps, records and three axes."""

from tests.zygote_lite.fuzz.generate import objects
from tests.zygote_lite.fuzz.generate.statements import CONSTANTS


class Author(objects.Author):
    """Write programs that hold numbers in more ways."""

    def statements(self, deeper):
        simple = [
            self.list_cut, self.grid, self.grid_write, self.record, self.record_write, self.queue,
            self.queue_write, self.heap, self.cube, self.cube_write, self.cube_view,
            self.array_joined, self.array_chosen, self.node, self.item, self.point, self.chained,
            self.copied,
        ]  # fmt: skip
        return super().statements(deeper) + simple + ([self.over_parts] if deeper else [])

    def total(self, scope):
        sums = {
            "grid": "sum(sum({0}, []))", "record": "sum(sum({0}.values(), []))",
            "queue": "sum({0})", "cube": "np.sum({0} * {0})", "node": "sum(n.z for n in {0})",
            "item": "({0}.z + sum({0}.past))",
        }  # fmt: skip
        terms = [super().total(scope)]
        for kind, names in scope.others.items():
            terms += [f"{self.pick(CONSTANTS)} * {sums[kind].format(x)}" for x in names]
        return " + ".join(terms)

    def other(self, scope, kind):
        """Return a name of some kind, or `None`."""
        names = scope.others.get(kind)
        return self.pick(names) if names else None

    def make(self, scope, kind):
        name = self.new(kind[0] + "_")
        scope.others.setdefault(kind, []).append(name)
        return name

    def key(self, scope):
        """Return one of two keys, made as the program runs."""
        return self.pick((
            "'p'", "'q'", f"'pq'[{self.condition(scope)}]", "'-'.join('pq')[0]",
            f"'p' if {self.condition(scope)} else 'q'",
            *(f"f\"{{'pq'[{i} % 2]}}\"" for i in scope.indices),
        ))  # fmt: skip

    # -- expressions

    def scalar(self, scope, depth=2):
        if depth <= 0 or self.chance(0.75):
            return super().scalar(scope, depth)
        e = lambda: self.scalar(scope, depth - 1)
        kind, i = self.random.randrange(8), self.random.randrange(2)
        t, y = self.new("t"), self.new("y")
        if kind == 0 and scope.lists:
            x = self.pick(scope.lists)
            return self.pick((
                f"sum(accumulate({x}, lambda s, {t}: 0.5 * s * {t} + {self.atom(scope)}))",
                f"sum(p * q for p, q in pairwise([*{x}, {e()}]))",
                f"sum(chain({x}, ({e()}, {self.atom(scope)})))",
                f"sum(islice({x}, {i}, None))",
                f"sum(p * q for p, q in combinations({x}, 2))",
                f"sum(p * q for p, q in product({x}, ({e()}, 0.5)))",
                f"sum(p * q for p, q in zip_longest({x}, [{e()}], fillvalue={self.atom(scope)}))",
                f"sum(sorted({x}, key=lambda {t}: -re_({t}) * re_({t}), reverse={i == 0})[:2])",
                f"max({x}, key=lambda {t}: re_(sin({t})))",
                f"next(({t} for {t} in {x} if re_({t}) > {self.pick(CONSTANTS)}), {e()})",
                f"sum(k * {t} for k, {t} in enumerate(reversed({x}), start={i}))",
                f"sum({t} for {y} in [{x}, [{e()}]] for {t} in {y} if re_({t}) < 1.0)",
                f"sum(itemgetter(1, 0)({x}))",
                f"len(f'{{re_({x}[0]):.1f}}') * {e()}",
                f"(lambda *p, k={e()}: p[0] * k)(*{x})",
                f"sum([{y} * {t} for {t} in {x} if ({y} := {t} * 0.5) is not None])",
            ))  # fmt: skip
        if kind == 1:
            name = self.other(scope, "grid")
            if name:
                return self.pick((
                    f"{name}[{i}][{self.index(scope, 2)}]", f"sum(map(sum, {name}))",
                    f"sum(p * q for p, q in zip(*{name}))",
                    f"sum({t}[{i}] * {e()} for {t} in {name})",
                ))  # fmt: skip
        if kind == 2:
            name = self.other(scope, "record")
            if name:
                return self.pick((
                    f"{name}[{self.key(scope)}][{i}]", f"sum({name}.get('r', [{e()}]))",
                    f"sum(sum({t}) for {t} in {name}.values())",
                    f"sum(len(k) * {t}[0] for k, {t} in {name}.items())",
                ))  # fmt: skip
        if kind == 3:
            name = self.other(scope, "queue")
            if name:
                return self.pick((
                    f"{name}[{self.index(scope, 2)}]", f"sum({name})",
                    f"sum(p * q for p, q in zip({name}, reversed({name})))",
                ))  # fmt: skip
        if kind == 4:
            name = self.other(scope, "cube")
            if name:
                j, k = self.index(scope, 2), self.index(scope, 3)
                return self.pick((
                    f"{name}[{i}, {j}, {k}]", f"{name}[{i}, ..., {k}].sum()",
                    f"np.einsum('ijk,ik->j', {name}, {name}[:, {j}])[{i}]",
                    f"np.sum({name}[[0, 1], [1, {i}]] * {self.array(scope, 3)})",
                    f"np.sum({name}.sum(axis=(0, 1)) * {self.array(scope, 3)})",
                    f"np.tensordot({name}, {name}, axes=([0, 2], [0, 2]))[{i}, {j}]",
                    f"({name} @ {self.array(scope, 3)})[{i}, {j}]",
                    f"np.sum({name}[:, ::-1].transpose(2, 0, 1)[{k}])",
                    f"sum(np.diagonal({name})[{k}])",
                ))  # fmt: skip
        if kind == 5:
            name = self.other(scope, "node") or self.other(scope, "item")
            if name:
                return f"{name}.z" if i else f"({name}.z * {e()})"
        if kind == 6 and scope.arrays:
            w, n = self.pick(list(scope.arrays.items()))
            return self.pick((
                f"np.max(np.sin({w}))", f"np.dot({w}, {self.array(scope, n)})",
                f"{w}[np.argmax(re_({w}))]", f"{w}[np.argsort(re_({w}))[{i}]]",
                f"np.einsum('i,j->', {w}, {self.array(scope, 3)})",
                f"np.diff({w}).sum()", f"np.linalg.solve(np.eye({n}) * 3.0, {w})[{i}]",
                f"np.cumprod({w})[-1]", f"np.add.reduce({w})", f"np.convolve({w}, {w})[1]",
                f"np.trace({w}[:, None] * {w})", f"np.inner({w}, [1.0] * {n})",
                f"np.polyval({w}, {e()})", f"np.append({w}, {e()})[{i - 1}]",
                f"sum({t} * k for k, {t} in np.ndenumerate({w}) if k != (0,) for k in k)",
            ))  # fmt: skip
        return super().scalar(scope, depth)

    # -- lists

    def list_cut(self, scope):
        """Write where a list changes its length, or whole."""
        free = [x for x in scope.lists if x not in scope.held]
        if not free:
            return self.list_write(scope)
        x, e = self.pick(free), self.scalar(scope, 1)
        return [*self.pick((
            [f"{x}.append({e})", f"del {x}[0]"],
            [f"{x}[1:1] = [{e}, {self.atom(scope)}]", f"del {x}[-1]"],
            [f"del {x}[2:]"],
            [f"{x} += [{e}] * 4", f"del {x}[::2]"],
            [f"{x} *= 2", f"del {x}[3:]"],
            [f"{x}[::2] = [{e} for _ in {x}[::2]]"],
            [f"{x}.sort(key=lambda t: re_(t) * re_(t))"],
            [f"{x}[:] = sorted({x})[:2]"],
            [f"{x}[:] = (t * {self.atom(scope)} for t in {x})"],
            [f"iadd({x}, ({e},))", f"setitem({x}, -1, {self.atom(scope)})"],
            [f"{x}[0], *{x}[1:] = {x}[::-1]"],
            [f"{x}.insert(1, {x}.pop(0) * {self.atom(scope)})"],
        ))]  # fmt: skip

    def grid(self, scope):
        row = lambda: f"[{self.scalar(scope, 1)}, {self.atom(scope)}]"
        values = [
            f"[{row()}, {row()}]", f"[[{self.scalar(scope, 1)}] * 2] * 2",
            f"[[{self.atom(scope)} * k for k in range(2)] for _ in range(2)]",
            *(f"[{x}, {self.pick(scope.lists)}]" for x in scope.lists),
            *(f"[*{x}, {x}[0]]" for x in scope.others.get("grid", ())),
            *(f"{m}.tolist()" for m in scope.matrices),
        ]  # fmt: skip
        value = self.pick(values)
        return [f"{self.make(scope, 'grid')} = {value}"]

    def grid_write(self, scope):
        x, e = self.other(scope, "grid"), self.scalar(scope, 1)
        if not x:
            return self.grid(scope)
        i, j = self.index(scope, 2), self.index(scope, 2)
        return [self.pick((
            f"{x}[{i}][{j}] = tanh({e})", f"{x}[{i}][{j}] += sin({e})",
            f"{x}[0], {x}[1] = {x}[1], {x}[0]", f"{x}[{i}] = {x}[{j}]",
            f"{x}[{i}] = [tanh(t * {self.atom(scope)}) for t in {x}[{j}]]",
            f"{x}[{i}][0], {x}[{j}][1] = {x}[{j}][1], tanh({e})",
            f"{x}[{i}][:2] = {x}[{j}][1::-1]",
        ))]  # fmt: skip

    def record(self, scope):
        row = lambda: f"[{self.scalar(scope, 1)}, {self.atom(scope)}]"
        values = [
            f"{{'p': {row()}, 'q': {row()}}}", f"dict.fromkeys('pq', {row()})",
            f"{{k: {row()} for k in 'pq'}}",
            *(f"{{'p': {x}, 'q': {self.pick(scope.lists)}[:]}}" for x in scope.lists),
        ]  # fmt: skip
        value = self.pick(values)
        return [f"{self.make(scope, 'record')} = {value}"]

    def record_write(self, scope):
        x, e = self.other(scope, "record"), self.scalar(scope, 1)
        if not x:
            return self.record(scope)
        i = self.random.randrange(-2, 2)
        return [self.pick((
            f"{x}[{self.key(scope)}][{i}] = tanh({e})", f"{x}[{self.key(scope)}][{i}] += sin({e})",
            f"{x}.setdefault('r', []).append({e})", f"{x}.pop('r', None)",
            f"{x}['r'] = {x}.get('r', [])[:3] + [{e}]",
            f"{x}[{self.key(scope)}] = [{e}, *{x}['q'][:1]]",
            f"{x}['p'], {x}['q'] = {x}['q'], {x}['p']",
            f"{x}.update({{k: t[::-1] for k, t in {x}.items()}})",
        ))]  # fmt: skip

    def queue(self, scope):
        source = self.pick(scope.lists)[:] if scope.lists else f"({self.atom(scope)}, 0.5)"
        value = f"deque({source}, maxlen={self.pick((2, 3, 4))})"
        return [f"{self.make(scope, 'queue')} = {value}"]

    def queue_write(self, scope):
        x, e = self.other(scope, "queue"), self.scalar(scope, 1)
        if not x:
            return self.queue(scope)
        return [self.pick((
            f"{x}.append({e})", f"{x}.appendleft({e})", f"{x}.rotate({self.pick((1, -1))})",
            f"{x}[{self.index(scope, 2)}] = {e}", f"{x}.append({x}.popleft() * {self.atom(scope)})",
            f"{x}[0] += {e}", f"{x}.extend([{e}, {x}[0]])", f"{x}.extendleft(({e},))",
            f"{x}.reverse()", f"{x} += ({e},)",
        ))]  # fmt: skip

    def heap(self, scope):
        """Push numbers on a heap, and take the least of them."""
        h, s, k = self.new("h"), self.new("s"), self.new("k")
        e = self.scalar(scope, 1)
        lines = [f"{h} = []"]
        source = self.pick(scope.lists) if scope.lists else f"({self.atom(scope)}, 0.5)"
        z = self.new("z")
        lines += [f"for {k}, {z} in enumerate({source}):", [f"heappush({h}, (re_({z}), {k}, {z}))"]]
        if self.chance(0.5):
            lines = [f"{h} = [(re_({z}), {k}, {z}) for {k}, {z} in enumerate({source})]",
                     f"heapify({h})"]  # fmt: skip
        z = self.new("z")
        take = self.pick((
            [f"{s} = heappop({h})[2] * heappop({h})[-1]"],
            [f"*_, {s} = heappop({h})"],
            [f"{z} = {e}", f"{s} = heappushpop({h}, (re_({z}), -1, {z}))[2]"],
            [f"{s} = 0.0", f"while {h}:", [f"{s} = 0.5 * {s} + heappop({h})[2]"]],
        ))  # fmt: skip
        scope.scalars.append(s)
        return [*lines, *take]

    # -- arrays

    def cube(self, scope):
        rows = [self.array(scope, 3) for _ in range(2)]
        value = self.pick((
            f"np.array([[{rows[0]}, {rows[1]}], [{rows[1]}, {rows[0]}]])",
            f"np.outer(np.array([{', '.join(self.atom(scope) for _ in range(4))}]), {rows[0]})"
            ".reshape(2, 2, 3)",
            f"zeros((2, 2, 3)) + {rows[0]}", "zeros((3, 2, 2)).transpose(1, 2, 0)",
            *(f"np.stack([{m}, {m} * 0.5], axis={i})" for m in scope.matrices for i in (0, 1)),
        ))  # fmt: skip
        return [f"{self.make(scope, 'cube')} = {value}"]

    def cube_write(self, scope):
        c, e = self.other(scope, "cube"), self.scalar(scope, 1)
        if not c:
            return self.cube(scope)
        i, j, k = self.index(scope, 2), self.index(scope, 2), self.index(scope, 3)
        row = self.array(scope, 3)
        return [self.pick((
            f"{c}[{i}, {j}, {k}] = {e}", f"{c}[{i}, :, {k}] += {e}", f"{c}[:, {j}] = {row}",
            f"{c}[[0, 1], [1, 0]] += {row}", f"{c}[{i}][[0, 0]] *= 0.5",
            f"{c}[..., {k}] -= {e}", f"{c} *= {row}", f"{c}[{i}] = {c}[{i} - 1] * cos({e})",
            f"{c}.transpose(2, 1, 0)[{k}] += {e}", f"{c}[:, :, 1:] = {c}[:, :, :-1]",
            f"{c}[[1, 0]] = {c}", f"np.add.at({c}, ([0, 0], [1, 1], [{k}, 2]), {e})",
            f"{c}[re_({c}) > {self.pick(CONSTANTS)}] *= 0.5",
            f"{c}.swapaxes(0, 1)[{i}, {j}] = {row}",
            f"{c}[:, [0]] += {c}[:, [1]]", f"{c}[np.ix_([0, 1], [1], [0, 2])] = {e}",
            f"{c}[:, :, [0, 2]] = {c}[:, :, [2, 0]]", f"np.cumsum({c}, axis=1, out={c})",
            f"{c}[0, :, [1, 2]] = {e}",
        ))]  # fmt: skip

    def cube_view(self, scope):
        c = self.other(scope, "cube")
        if not c:
            return self.cube(scope)
        if self.chance(0.5):
            name = self.new("m")
            scope.matrices.append(name)
            return [
                f"{name} = {c}{self.pick(('[0]', '[:, 1]', '[::-1, 0]', '.swapaxes(0, 1)[1]'))}"
            ]
        name = self.new("u")
        text, n = self.pick(
            (("[0, 1]", 3), ("[:, 0, 2]", 2), ("[..., 1][1]", 2), (".T[:, 1, 0]", 3))
        )
        scope.arrays[name] = n
        return [f"{name} = {c}{text}"]

    def array_joined(self, scope):
        name, n = self.new("w"), self.pick((3, 2))
        w, e = self.array(scope, n), self.scalar(scope, 1)
        value = self.pick((
            f"np.concatenate([{w}[1:], [{e}]])", f"np.roll({w}, {self.pick((1, -1))})",
            f"np.append({w}[:-1], {e})", f"np.diff(np.append({w}, {e}))", f"np.cumsum({w}) * 1.0",
            f"np.maximum({w}, {e})", f"np.clip({w}, {self.pick(CONSTANTS)}, 2.0)",
            f"np.hstack([{e}, {w}])[:-1]", f"np.split(np.tile({w}, 2), 2)[1] * 1.0",
            f"np.stack([{w}, {w} * {e}]).sum(axis=0)", f"np.take({w}, [-1, *range({n - 1})])",
            f"np.repeat({w}, 2)[::2] * 1.0", f"np.flip({w}) + {e}", f"np.pad({w}, 1)[1:-1] * {e}",
            f"np.insert({w}, 1, {e})[1:]", f"np.delete(np.append({w}, {e}), 0)",
            f"np.einsum('i,i->i', {w}, {w})", f"np.array([t * {e} for t in {w}])",
            f"np.minimum({w}, {self.array(scope, n)})", f"np.full({n}, {e})",
            f"np.add.outer({w}, {w})[0]", f"np.array(list(map(lambda t: t * t, {w})))",
            f"np.select([re_({w}) > 0.5, re_({w}) > -0.5], [{w}, {w} * 2.0], {e})",
            f"np.linalg.inv(np.eye({n}) * (2.0 + {e} * {e})) @ {w}",
        ))  # fmt: skip
        scope.arrays[name] = n
        return [f"{name} = {value}"]

    def array_chosen(self, scope):
        """Write where an index is computed."""
        if not scope.arrays:
            return self.array_new(scope)
        w, n = self.pick(list(scope.arrays.items()))
        other, e, k = self.array(scope, n), self.scalar(scope, 1), self.new("k")
        return [*self.pick((
            [f"{k} = np.argsort(re_({w}))", f"{w}[{k}] = {other}"],
            [f"{k} = np.argsort(re_({w}))", f"{w}[:] = {w}[{k}]"],
            [f"{k} = slice(None, None, -1)", f"{w}[{k}] *= cos({e})"],
            [f"{k} = re_({w}) > {self.pick(CONSTANTS)}", f"{w}[{k}] = ({other})[{k}]",
             f"{w}[~{k}] += {e}"],
            [f"{k} = np.array([0, 1, 0])", f"np.subtract.at({w}, {k}, {e})", f"{k}[:] = 0"],
            [f"{k} = np.nonzero(re_({w}) < 0.5)", f"{w}[{k}] *= {self.atom(scope)}"],
            [f"{w}[np.argmax(re_({w}))] -= {e}"],
            [f"{k} = {w}[:, None]", f"{k} *= cos({e})", f"{k}[0] += {e}"],
            [f"{k} = {w}[None]", f"np.add({k}, {e}, out={k})"],
            [f"{k} = iter({w})", f"{w}[1] = next({k}) * {self.atom(scope)}", f"{w}[0] = next({k})"],
        ))]  # fmt: skip

    # -- objects

    def node(self, scope):
        x, e = self.other(scope, "node"), self.scalar(scope, 1)
        if not x or self.chance(0.4):
            value = f"Node({e}, Node({self.atom(scope)}))"
            if x:
                value = f"Node({e}, {x})"
            return [f"{self.make(scope, 'node')} = {value}"]
        n = self.new("n")
        return self.pick((
            [f"{x}.z = {e}"],
            [f"for {n} in {x}:", [f"{n}.z *= cos({e})"]],
            [f"{x}.after = Node({e})"],
            [f"{n} = {x}", f"while {n}.after:", [f"{n} = {n}.after"], f"{n}.z += {e}"],
            [f"for {n} in [*{x}][1:]:", [f"{x}.z, {n}.z = {n}.z, {x}.z * {self.atom(scope)}"]],
        ))  # fmt: skip

    def item(self, scope):
        x, e = self.other(scope, "item"), self.scalar(scope, 1)
        if not x or self.chance(0.3):
            return [f"{self.make(scope, 'item')} = Item({e})"]
        return [self.pick((
            f"{x}.put({e})", f"{x}.put({e}, {self.atom(scope)}).put({self.atom(scope)})",
            f"{x}.back()", f"{x}.z += {x}.back()", f"{x}.past.append({e})",
            f"{x}.past = [t * {self.atom(scope)} for t in {x}.past]",
            f"setattr({x}, 'z', {e})",
        ))]  # fmt: skip

    def point(self, scope):
        p, a, b = self.new("p"), self.new("s"), self.new("s")
        e = [self.scalar(scope, 1) for _ in range(3)]
        scope.scalars += [a, b]
        return [
            f"{p} = " + self.pick((f"Point({e[0]}, {e[1]})", f"Point(q={e[0]}, p={e[1]})",
                                   f"Point._make(({e[0]}, {e[1]}))", f"Point({e[0]})")),
            f"{a}, {b} = " + self.pick((p, f"{p}._replace(p={e[2]})", f"{p}.q, {p}[0]",
                                        f"{p}._asdict().values()", f"({p} * 2)[1:3]")),
        ]  # fmt: skip

    def copied(self, scope):
        kinds = [k for k, names in scope.others.items() if names and k != "heap"]
        if not kinds:
            return self.item(scope)
        kind = self.pick(kinds)
        old = self.other(scope, kind)
        return [f"{self.make(scope, kind)} = {self.pick(('deepcopy', 'copy', 'deepcopy'))}({old})"]

    def chained(self, scope):
        targets = [*(f"{x}[{self.index(scope, 2)}]" for x in scope.lists),
                   *(f"{d}['p']" for d in scope.dicts), *(f"{o}.v" for o in scope.objects),
                   *(f"{w}[{self.index(scope, n)}]" for w, n in scope.arrays.items()),
                   *scope.scalars]  # fmt: skip
        some = [self.pick(targets) for _ in range(3)] if targets else ["_"]
        return [f"{' = '.join(some)} = tanh({self.scalar(scope, 1)})"]

    def over_parts(self, scope):
        """Walk over a grid, a queue, a record or a cube, and change what it holds."""
        t, k = self.new("t"), self.new("k")
        inner = scope.inside(loop=True)
        for kind, text in (("grid", "{}"), ("record", "{}.values()"), ("cube", "{}[0]")):
            name = self.other(scope, kind)
            if name and self.chance(0.6):
                write = f"{t}[{self.index(scope, 2)}] = tanh({t}[0] * {self.scalar(scope, 1)})"
                write = f"{t} *= 0.5" if kind == "cube" else write
                head = f"for {k}, {t} in enumerate({text.format(name)}):"
                return [head, [*self.block(inner, 2), write]]
        name = self.other(scope, "queue")
        if not name:
            return self.queue(scope)
        inner.scalars.append(t)
        return [f"for {t} in list({name}):", self.block(inner, 2)]
