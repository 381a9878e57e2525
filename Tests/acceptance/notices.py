"""The example page in a real browser: it shows another user's change within a second, by poll and by stream.

Chromium opens Examples/messages.html from another origin than the server's, signed in as Ann. Bob saves a
message, changes it and deletes it, and the page must show each change soon. The server is then started anew, and the
page must come back by itself and hear again. Without a Chromium there is nothing to do.
"""

import http.client
import http.server
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from server import Server

CONTAINER = "iCloud.org.example.Messages"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Examples/messages.html")
# The goal, and what a machine with other work may need.
SOON_SECONDS = 1
SECONDS_MAX = 60
ROUNDS = 10

# Tells this script what the page shows, whenever that changes.
WATCH = """<script type="module">
const tell = () => fetch('/shown', {method: 'POST', body: JSON.stringify({
  state: document.getElementById('state').textContent,
  messages: [...document.querySelectorAll('#messages li')].map(item => item.textContent)})});
new MutationObserver(tell).observe(
  document.body, {childList: true, subtree: true, characterData: true});
tell();
</script>"""


class PageServer(http.server.ThreadingHTTPServer):
    """The origin of the page, which also hears what it shows."""

    def __init__(self):
        with open(EXAMPLE, encoding="utf-8") as file:
            self.page = (file.read() + WATCH).encode()
        self.shown = queue.Queue()
        super().__init__(("127.0.0.1", 0), Pages)


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(self.server.page if self.path == "/" else b"")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(b"")
        self.server.shown.put((time.monotonic(), json.loads(body)))

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class World:
    """A server, and two people who use the app."""

    def __init__(self, server):
        self.server = server
        server.start()
        server.command("container", "create", CONTAINER)
        self.api = server.command("api-token", "create", CONTAINER, "development")["apiToken"]
        self.tokens = {}
        for name in ("ann", "bob"):
            server.command("user", "create", f"{name}@example.org")
            self.tokens[name] = server.command(
                "web-token", "create", CONTAINER, "development", f"{name}@example.org"
            )["webAuthToken"]

    def fragment(self, by):
        return urllib.parse.urlencode({
            "server": "http://%s:%d" % self.server.address, "container": CONTAINER,
            "apiToken": self.api, "webToken": self.tokens["ann"], "by": by})

    def modify(self, kind, record):
        query = urllib.parse.urlencode(
            {"ckAPIToken": self.api, "ckWebAuthToken": self.tokens["bob"]})
        connection = http.client.HTTPConnection(*self.server.address, timeout=30)
        connection.request(
            "POST", f"/database/1/{CONTAINER}/development/public/records/modify?{query}",
            json.dumps({"operations": [{"operationType": kind, "record": record}]}))
        answer = json.loads(connection.getresponse().read())
        connection.close()
        assert "serverErrorCode" not in answer["records"][0], answer

    def save(self, name, text):
        self.modify("forceReplace", {"recordType": "Message", "recordName": name,
                                     "fields": {"text": {"value": text}}})


def wait(pages, holds, what):
    """The moment at which the page first showed what is asked for."""
    until = time.monotonic() + SECONDS_MAX
    last = None
    while time.monotonic() < until:
        try:
            moment, last = pages.shown.get(timeout=1)
        except queue.Empty:
            continue
        if holds(last):
            return moment
    raise AssertionError(f"the page does not show {what}, but {last}")


def follow(world, pages, by):
    """How long each change of Bob's took to be shown."""
    wait(pages, lambda seen: "Waiting" in seen["state"], "that it waits")
    spent = []

    def timed(change, holds, what):
        began = time.monotonic()
        change()
        spent.append(wait(pages, holds, what) - began)

    for number in range(ROUNDS):
        name, text = f"{by}-{number}", f"message {number} by {by}"
        timed(lambda: world.save(name, text), lambda seen: text in seen["messages"], text)
        timed(lambda: world.save(name, text.upper()),
              lambda seen: text.upper() in seen["messages"], text.upper())
        timed(lambda: world.modify("forceDelete", {"recordName": name}),
              lambda seen: text.upper() not in seen["messages"], "that it has gone")
    # The server is started anew: the page comes back by itself, and nothing is lost.
    world.server.kill_and_restart()
    world.save(f"{by}-last", f"still there, {by}")
    wait(pages, lambda seen: f"still there, {by}" in seen["messages"], "what came after the restart")
    return spent


def visit(browser, world, by):
    with tempfile.TemporaryDirectory() as profile:
        pages = PageServer()
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        process = subprocess.Popen(
            [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", f"--user-data-dir={profile}",
             f"http://127.0.0.1:{pages.server_port}/#{world.fragment(by)}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return follow(world, pages, by)
        finally:
            process.terminate()
            process.wait()
            pages.shutdown()


def main():
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        print("LEFT OUT notices.py: no Chromium is installed (Debian: chromium)", file=sys.stderr)
        return
    with Server() as server:
        world = World(server)
        world.save("first", "what was there")
        for by in ("events", "polls"):
            spent = sorted(visit(browser, world, by))
            median = spent[len(spent) // 2]
            print(f"notices.py: by {by} a change is shown after {median * 1000:.0f} ms, "
                  f"{spent[-1] * 1000:.0f} ms at most")
            assert median <= SOON_SECONDS, spent
        server.stop()


if __name__ == "__main__":
    main()
