"""A Chromium without a screen, and a page of another origin than the server's."""

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time

from listener import Handler, Listener

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def with_chromium(main):
    """Hands a script Chromium's path; without a Chromium there is nothing to do."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        script = os.path.basename(sys.argv[0])
        print(f"LEFT OUT {script}: no Chromium is installed (Debian: chromium)", file=sys.stderr)
        return
    main(program)


@contextlib.contextmanager
def showing(program, address):
    """Shows an address to nobody, until the script leaves."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", f"--user-data-dir={profile}", address],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


class Origin(Listener):
    """Serves a page; what the page posts is in `told`, each with the moment at which it came."""

    def __init__(self, page=""):
        self.page, self.told = page, queue.Queue()
        super().__init__(Page)


class Page(Handler):
    def do_GET(self):
        self.answer(self.server.page.encode() if self.path == "/" else b"plain")

    def do_POST(self):
        body = self.body()
        self.answer(b"")
        self.server.told.put((time.monotonic(), json.loads(body)))
