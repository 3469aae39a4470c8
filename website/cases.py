"""The pages of cases: the code behind each line of the table of constructs."""

import ast
from pathlib import Path

CASES = Path(__file__).parents[1] / "tests" / "zygote_lite" / "constructs"
DECLARE = ("works", "refused")


def modules():
    """Return the modules of cases, by name, in order."""
    return sorted(
        path.stem for path in CASES.glob("*.py") if "\nCASES = []\n" in path.read_text("utf-8")
    )


def case_page(name):
    """Return the page of a module: each case under its construct, with what it needs before it."""
    source = (CASES / f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    lines, needed, before = source.splitlines(), [], None
    page = [
        f"# Cases: {name.replace('_', ' ')}",
        "",
        f"{ast.get_docstring(tree)} The decorator says whether a case works or is refused, and has "
        "the arguments that are tried.",
        "",
    ]
    texts = {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    for node in tree.body:
        begin = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        code = "\n".join(lines[begin - 1 : node.end_lineno])
        construct = construct_of(node, texts)
        if construct is not None:
            head = f"## {construct}"
            if construct == before:
                head = f"### {node.name.replace('_', ' ')}"
            page += [f"{head} {{#{node.name}}}", "", "```python"]
            page += ["\n\n".join([*needed, code]), "```", ""]
            needed, before = [], construct
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign) and "CASES" not in code:
            needed.append(code)
    return "\n".join([*page, "Read next: [the table of constructs](../constructs.md)."])


def construct_of(node, texts):
    """Return the construct that a function of a module stands for, or None; texts have names."""
    for made in getattr(node, "decorator_list", []):
        if isinstance(made, ast.Call) and getattr(made.func, "id", "") in DECLARE:
            (construct, *_) = made.args
            return texts[construct.id] if isinstance(construct, ast.Name) else construct.value
    return None
