"""What MkDocs asks while it builds the site: more pages, and links that lead to them.

README files, the changelog and the examples are pages of the site, too, and stand in the
repository where its readers look for them.
"""

import ast
import re
import sys
from pathlib import Path

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from website.cases import case_page, modules  # noqa: E402 - found beside this file
from website.links import PAGES, rewritten  # noqa: E402 - found beside this file
from website.rules import page as page_of_rules  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
ERRORS = ROOT / "docs" / "errors"
PRINTED_CODE = re.compile(r'(?m)^```text\n(?=def |"""|# Recorded|# \w+(?: =|:) )')
READ_NEXT = {  # on pages that have another end in the repository
    "index.md": "Read next: [a first gradient](start/first_gradient.md).",
    "changelog.md": "Read next: [how to install it](start/install.md).",
}
TYPE_OF_PARAMETER = re.compile(r"(?s)(</code></b>)\s*\((?:(?!<div).)*?\)(?=\s*–)")


def examples():
    """Return the names of the scripts among the examples, in order."""
    return sorted(
        path.stem
        for path in (ROOT / "examples").glob("*.py")
        if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    )


def picture_of(name):
    """Return the path of the picture of an example."""
    return PICTURES / f"{name}.png"


def title_of(name):
    """Return the title of the page of an example."""
    return re.sub(r"\b(rnn|ode)\b", lambda m: m[0].upper(), name.replace("_", " ").capitalize())


def has_page(place):
    """Tell whether a file of the repository is an example with a page."""
    return place.endswith(".py") and Path(place).stem in examples()


def example_page(name):
    """Return the page of an example: what it says of itself, its picture, its code."""
    source = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    title, _, rest = ast.get_docstring(tree).partition("\n")
    drawn = f"![What the script draws](../pictures/{name}.png)\n"
    return "\n".join(
        [
            "---\nhide: [toc]\n---\n",  # there is room for lines of 100 columns
            f"# {title_of(name)}",
            f"\n{title}\n{rest}\n",
            drawn if picture_of(name).exists() else "",
            f"```python\n{source.rstrip()}\n```\n",
            *beside(tree),
            "Read next: [the other examples](../gallery.md).\n",
        ]
    )


def beside(tree):
    """Yield a block for each module of the same folder that an example imports."""
    for node in ast.walk(tree):
        path = ROOT / "examples" / f"{getattr(node, 'module', None)}.py"
        if isinstance(node, ast.ImportFrom) and path.exists():
            source = path.read_text(encoding="utf-8").rstrip()
            yield f'It imports this module:\n\n```python title="{path.name}"\n{source}\n```\n'


def pages_of(package):
    """Return the pages of errors of a package, which stand in its own folder, in order."""
    return sorted((ERRORS / package).glob("*.md"))


def on_config(config):
    """Add the pages of errors and examples to the navigation."""
    gallery = [{title_of(name): f"gallery/{name}.md"} for name in examples()]
    packages = ["zygote_lite", "rulescore"]  # in the order of the page of errors
    found = [*ERRORS.glob("*.md"), *(p for name in packages for p in pages_of(name))]
    errors = [path.relative_to(ROOT / "docs").as_posix() for path in found]
    for entry in config.nav:
        if "Gallery" in entry:
            entry["Gallery"] += gallery
        if "Reference" in entry and errors:
            entry["Reference"].append({"Errors": errors})
    return config


def on_files(files: Files, config):
    """Add the pages that are files elsewhere in the repository."""
    for place, page in PAGES.items():
        text = (ROOT / place).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "reference/rules.md", content=page_of_rules()))
    for name in modules():
        files.append(File.generated(config, f"cases/{name}.md", content=case_page(name)))
    for name in examples():
        files.append(File.generated(config, f"gallery/{name}.md", content=example_page(name)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Make links lead to pages of the site, or to the repository."""
    path = page.file.src_uri
    if path.startswith(("gallery/", "cases/")):
        return markdown
    if path.startswith("errors/"):  # a message is one long line, which `extra.css` wraps
        markdown = markdown.replace("```text\n", "``` { .text .message }\n")
    markdown = PRINTED_CODE.sub("```python\n", markdown)  # an output, in colors as other code
    elsewhere = {site: place for place, site in PAGES.items()}
    name = elsewhere.get(path, f"docs/{path}")
    found = rewritten(markdown, name, path, config.repo_url.rstrip("/"), has_page)
    return f"{found}\n{READ_NEXT.get(path, '')}\n"


def on_page_content(html, page, config, files):
    """Leave out the types of parameters: words say what they are, the signature has defaults."""
    return TYPE_OF_PARAMETER.sub(r"\1", html)
