"""A real Chromium, if the machine has one; pages opened from disk with the network watched."""

import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"]


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


class Opened:
    """A page and everything that went wrong on it."""

    def __init__(self, context):
        context.set_default_timeout(180_000)  # a busy machine is slow to draw
        self.page, self.errors, self.requests = context.new_page(), [], []
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.errors.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def violations(self, within="html"):
        """What axe-core finds wrong with the page, or a part of it, as it stands."""
        from pathlib import Path

        import axe_playwright_python

        # The page's own policy forbids foreign scripts; axe is put in by the debugger, not by the page.
        axe = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
        self.page.evaluate(axe)
        found = self.page.evaluate("within => axe.run(within, {resultTypes: ['violations']})", within)
        return [(rule["id"], node["html"][:120]) for rule in found["violations"] for node in rule["nodes"]]


@pytest.fixture
def open_page(browser):
    contexts = []

    def opened(path, width=1280, dark=False):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", reduced_motion="reduce"
        )
        contexts.append(context)
        found = Opened(context)
        found.page.goto(path.as_uri())
        return found

    yield opened
    for context in contexts:
        context.close()
