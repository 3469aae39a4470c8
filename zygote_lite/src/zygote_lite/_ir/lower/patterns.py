"""Lowering of `match` to tests and branches."""

import ast
from collections.abc import Sequence

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.lower.expressions import Expressions


class Patterns(Expressions):
    """Lowering that knows patterns."""

    def pattern(self, p: ast.pattern, subject: ir.Atom, matched: str) -> None:
        """Append what tests `subject` against a pattern, binding its names on the way."""
        match p:
            case ast.MatchValue(value):
                self.call(p, matched, "operator.eq", [subject, self.expression(value)])
            case ast.MatchSingleton(value):
                self.call(p, matched, "operator.is_", [subject, ir.Const(value)])
            case ast.MatchAs(inner, name):
                if inner is None:
                    self.out.append(ir.Move(p, matched, ir.Const(True)))
                else:
                    self.pattern(inner, subject, matched)
                if name is not None:
                    bind = ir.Move(p, name, subject)
                    self.out.append(ir.If(p, ir.Name(matched), [bind], []))
            case ast.MatchOr(patterns):
                self.pattern(patterns[0], subject, matched)
                for other in patterns[1:]:
                    with self.collected() as block:
                        self.pattern(other, subject, matched)
                    self.out.append(ir.If(p, ir.Name(matched), [], block))
            case ast.MatchSequence(patterns):
                star = [i for i, q in enumerate(patterns) if isinstance(q, ast.MatchStar)]
                counts = [ir.Const(len(patterns)), ir.Const(star[0] if star else None)]
                self.call(p, matched, "matches_sequence", [subject, *counts])
                self.parts(p, matched, subject, "unpack", counts, patterns)
            case ast.MatchClass(cls, patterns, names, keyword_patterns):
                kind = self.expression(cls)
                spec = ir.Const((len(patterns), tuple(names)))
                self.call(p, matched, "matches_class", [subject, kind, spec])
                every = [*patterns, *keyword_patterns]
                self.parts(p, matched, subject, "class_parts", [kind, spec], every)
            case ast.MatchMapping(keys, patterns, rest):
                wanted = self.build(p, None, "tuple", [self.expression(k) for k in keys])
                self.call(p, matched, "matches_mapping", [subject, wanted])
                self.parts(p, matched, subject, "mapping_parts", [wanted], patterns)
                if rest is not None:
                    with self.collected() as left:
                        self.call(p, rest, "mapping_rest", [subject, wanted])
                    self.out.append(ir.If(p, ir.Name(matched), left, []))
            case _:
                self.refuse(p, "this pattern")

    def parts(
        self,
        p: ast.pattern,
        matched: str,
        subject: ir.Atom,
        take: str,
        spec: Sequence[ir.Atom],
        patterns: Sequence[ast.pattern],
    ) -> None:
        """Append, where the subject matched so far, the tests of its parts."""
        with self.collected() as tests:
            parts = self.call(p, None, take, [subject, *spec])
            if take != "unpack":  # an attribute or a key may lack
                self.call(p, matched, "operator.is_not", [parts, ir.Const(None)])
            for i, inner in enumerate(patterns):
                part = self.temporary()
                with self.collected() as test:
                    self.out.append(ir.GetItem(inner, part, parts, ir.Const(i)))
                    self.part(inner, part, matched)
                self.out.append(ir.If(p, ir.Name(matched), test, []))
        self.out.append(ir.If(p, ir.Name(matched), tests, []))

    def part(self, p: ast.pattern, part: str, matched: str) -> None:
        """Append the test of one part; what a star takes always matches."""
        if not isinstance(p, ast.MatchStar):
            self.pattern(p, ir.Name(part), matched)
        elif p.name is not None:
            self.out.append(ir.Move(p, p.name, ir.Name(part)))
