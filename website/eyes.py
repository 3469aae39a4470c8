"""Open each page of the built site in Chromium: narrow and wide, light and dark.

    nox -s eyes -- shots

What a reader would stumble over is an error: a page that is wider than the window, a picture that
is not there, a file that cannot be fetched, an error of a script, a page that is more than two
clicks away from the first one. Screenshots go into the folder that is named.
"""

import contextlib
import functools
import http.server
import shutil
import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTHS = {"narrow": 400, "wide": 1280}
FAULTS = """() => {
    const wide = document.documentElement.scrollWidth > innerWidth + 1
        ? ["is wider than the window"] : [];
    const pictures = [...document.images].filter(i => !i.complete || !i.naturalWidth)
        .map(i => "has a picture that is not there: " + i.src);
    return [...wide, ...pictures];
}"""
SEEN_LINKS = """() => [...document.querySelectorAll("a[href]")]
    .filter(a => a.checkVisibility({opacityProperty: true, visibilityProperty: true}))
    .map(a => a.href.split("#")[0])"""
MOST_CLICKS = 2
PATIENCE = 300_000  # milliseconds: the machine may be busy
SCHEMES = ("light", "dark")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serve files, and say nothing of it."""

    def log_message(self, *_):
        """Leave out the line that says what was asked for."""


@contextlib.contextmanager
def served(site):
    """Serve a folder, and yield its address."""
    handler = functools.partial(Quiet, directory=site)
    with http.server.ThreadingHTTPServer(("localhost", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()


def note_failure(heard, asked):
    """Note a file that could not be fetched, unless the page was left meanwhile."""
    if asked.failure != "net::ERR_ABORTED":
        heard.append(f"cannot fetch {asked.url}: {asked.failure}")


def far_away(links, first):
    """Yield the pages that take more clicks than they may, by the links that are seen on pages."""
    near = {first}
    for _ in range(MOST_CLICKS):
        near |= {link for page in near for link in links.get(page, ())}
    for page in sorted(links.keys() - near):
        yield f"{page.removeprefix(first)} is more than {MOST_CLICKS} clicks away"


def look(site, shots=None):
    """Return what is wrong with pages, and write a picture of each into the folder `shots`."""
    pages = sorted(path.relative_to(site).parent.as_posix() for path in site.rglob("index.html"))
    found = []
    with served(site) as address, sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=shutil.which("chromium"))
        for scheme in SCHEMES:
            for name, width in WIDTHS.items():
                page = browser.new_page(
                    viewport={"width": width, "height": 900}, color_scheme=scheme
                )
                page.set_default_timeout(PATIENCE)
                heard, links = [], {}
                page.on("pageerror", lambda error, heard=heard: heard.append(str(error)))
                page.on("requestfailed", functools.partial(note_failure, heard))
                for place in pages:
                    page.goto(f"{address}{place}/", wait_until="load")
                    faults = [*page.evaluate(FAULTS), *heard]
                    found += [f"{place} ({name}, {scheme}): {fault}" for fault in faults]
                    heard.clear()
                    links[page.url] = page.evaluate(SEEN_LINKS)
                    if shots:
                        page.wait_for_timeout(200)  # what fades in is there
                        stem = place.replace("/", "__").strip(".") or "index"
                        file = f"{stem}.{name}.{scheme}.png"
                        page.screenshot(path=shots / file, full_page=True)
                page.close()
                if name == "wide":
                    found += [f"{told} ({scheme})" for told in far_away(links, address)]
        browser.close()
    return found


def main(site, shots=None):
    """Look at all pages of a folder, print what is wrong, and return whether anything is."""
    if shots:
        Path(shots).mkdir(parents=True, exist_ok=True)
    found = look(Path(site), shots and Path(shots))
    print("\n".join(found) or "nothing is wrong with the pages")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
