"""Pages for people in a real browser: Chromium, driven by Playwright, with axe-core looking at each page.

With a folder as argument, a script keeps pictures of its pages there.
"""

import contextlib
import os
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

PHONE = {"width": 390, "height": 780}
TIMEOUT_MS = 300_000


def patient(browser):
    """The browser, whose pages wait for as long as a busy machine takes."""
    def waits(make):
        def made(*arguments, **options):
            context_or_page = make(*arguments, **options)
            context_or_page.set_default_timeout(TIMEOUT_MS)
            return context_or_page
        return made

    browser.new_context, browser.new_page = waits(browser.new_context), waits(browser.new_page)
    return browser


@contextlib.contextmanager
def driven(program):
    """A browser that the script drives."""
    with sync_playwright() as playwright:
        browser = patient(playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"]))
        yield browser
        browser.close()


class Viewer:
    """Somebody who sees the pages of a server."""

    def __init__(self, server, host="127.0.0.1"):
        self.server = server
        self.base = f"http://{host}:{server.address[1]}"
        self.pictures = sys.argv[1] if len(sys.argv) > 1 else None
        self.looked_at = 0

    def look(self, page, name):
        """Lets axe-core look at a page as it is, light and dark, and keeps pictures of it."""
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = Axe().run(page)
            assert found.violations_count == 0, f"{name}, {scheme}: {found.generate_report()}"
            self.looked_at += 1
            if self.pictures:
                page.screenshot(
                    path=os.path.join(self.pictures, f"{name}-{scheme}.png"), full_page=True)
        widest = page.evaluate("""[...document.querySelectorAll('*')].filter(
          element => element.getBoundingClientRect().right > innerWidth).map(e => e.outerHTML)""")
        assert not widest, f"{name} is wider than its window: {widest}"
