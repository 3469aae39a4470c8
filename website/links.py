"""Links between files of the repository, and what becomes of them on the site.

Pages link to files as they lie in the repository, so that the links work where the repository is
read. On the site a link to a page of it leads there; one to any other file, to the repository.
"""

import posixpath
import re
from collections.abc import Callable

DISTRIBUTIONS = ("rulescore", "rules_base", "rules_nnlib", "rules_scipy", "rules_torch",
                 "rules_jax", "zygote_lite")  # fmt: skip
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    **{f"{name}/README.md": f"packages/{name}.md" for name in DISTRIBUTIONS},
}
CASES = "tests/zygote_lite/constructs/"  # its modules of cases have pages
CODE = re.compile(r"(?ms)^```.*?^```$|`[^`\n]+`")
ABSOLUTE = re.compile(r"https://repository\.invalid/(?:blob|raw)/main/")  # on pages for PyPI
LINK = re.compile(
    r"\]\((?!mailto:|#|(?!https://repository\.invalid/(?:blob|raw)/)https?:)([^)\s]+)\)"
)


def outside_code(text: str) -> str:
    """Return a page without its code."""
    return CODE.sub("", text)


def place_of(name: str, target: str) -> tuple[str, str]:
    """Return the path in the repository that a link in the file `name` leads to, and its anchor."""
    path, _, anchor = target.partition("#")
    if ABSOLUTE.match(path):
        return ABSOLUTE.sub("", path), anchor
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path)), anchor


def on_site(place: str, examples: Callable[[str], bool]) -> str | None:
    """Return the path on the site of a file of the repository, or None if it is not there."""
    if place in PAGES:
        return PAGES[place]
    if place.startswith("docs/"):
        return place.removeprefix("docs/")
    if place.startswith("examples/") and examples(place):
        return f"gallery/{posixpath.basename(place).removesuffix('.py')}.md"
    if place.startswith(CASES):
        return f"cases/{posixpath.basename(place).removesuffix('.py')}.md"
    if posixpath.join(place, "README.md") in PAGES:  # a folder of a distribution
        return PAGES[posixpath.join(place, "README.md")]
    return None


def rewritten(
    text: str, name: str, page: str, repository: str, examples: Callable[[str], bool]
) -> str:
    """Return the text of the file `name` with links as they are on the page `page` of the site.

    Arguments:
        text: Markdown.
        name: the path of the file in the repository.
        page: the path of the page on the site.
        repository: the address of the repository.
        examples: tells whether an example has a page of its own.
    """

    def leads(match: re.Match[str]) -> str:
        place, anchor = place_of(name, match[1])
        found = on_site(place, examples)
        if found is None:
            return f"]({repository}/blob/main/{place})"
        relative = posixpath.relpath(found, posixpath.dirname(page) or ".")
        return f"]({relative}{'#' if anchor else ''}{anchor})"

    parts, last = [], 0
    for code in CODE.finditer(text):
        parts += [LINK.sub(leads, text[last : code.start()]), code[0]]
        last = code.end()
    return "".join([*parts, LINK.sub(leads, text[last:])])
