"""The example page in a real browser: it shows another user's change within a second, by poll and by stream.

Chromium opens Examples/messages.html from another origin than the server's, where Ann is signed in. Bob saves a
message, changes it and deletes it, and the page must show each change soon. What fails after a notice was taken loses
no message. The server is then started anew, and the page must come back by itself and hear again. Without a Chromium
there is nothing to do.
"""

import http.client
import json
import os
import queue
import time
import urllib.parse

from chromium import Origin, showing, with_chromium
from server import Server

CONTAINER = "iCloud.org.example.Messages"
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Examples/messages.html")
# The goal, and what a machine with other work may need.
SOON_SECONDS = 1
SECONDS_MAX = 300
ROUNDS = 10

# Tells this script what the page shows, whenever that changes.
WATCH = """<script type="module">
const tell = () => fetch('/', {method: 'POST', body: JSON.stringify({
  state: document.getElementById('state').textContent,
  messages: [...document.querySelectorAll('#messages li')].map(item => item.textContent)})});
new MutationObserver(tell).observe(
  document.body, {childList: true, subtree: true, characterData: true});
tell();
</script>"""

# Two messages of which the page hears, and gets nothing more: the lookup fails, and the notice breaks off on its way.
FAILING = """<script>
const real = fetch;
globalThis.fetch = async (url, options) => {
  if (url.includes('/records/lookup?') && options.body.includes('-lookup')) throw new TypeError('the lookup failed');
  const answer = await real(url, options);
  if (url.includes('/courier/') && (await answer.clone().text()).includes('-cut')) throw new TypeError('cut off');
  return answer;
};
</script>"""


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
            "apiToken": self.api, "by": by})

    def remembered(self):
        """What the page has kept of Ann's sign-in, which sign_in.py goes through."""
        return f"<script>sessionStorage.webToken ??= '{self.tokens['ann']}'</script>"

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


def wait(app, holds, what):
    """The moment at which the page first showed what is asked for."""
    until = time.monotonic() + SECONDS_MAX
    last = None
    while time.monotonic() < until:
        try:
            moment, last = app.told.get(timeout=1)
        except queue.Empty:
            continue
        if holds(last):
            return moment
    raise AssertionError(f"the page does not show {what}, but {last}")


def follow(world, app, by):
    """How long each change of Bob's took to be shown."""
    wait(app, lambda seen: "Waiting" in seen["state"], "that it waits")
    spent = []

    def timed(change, holds, what):
        began = time.monotonic()
        change()
        spent.append(wait(app, holds, what) - began)

    for number in range(ROUNDS):
        name, text = f"{by}-{number}", f"message {number} by {by}"
        timed(lambda: world.save(name, text), lambda seen: text in seen["messages"], text)
        timed(lambda: world.save(name, text.upper()),
              lambda seen: text.upper() in seen["messages"], text.upper())
        timed(lambda: world.modify("forceDelete", {"recordName": name}),
              lambda seen: text.upper() not in seen["messages"], "that it has gone")
    # Of what the page could not look up, or take as a whole, it hears no second time.
    for failing in ("lookup", "cut"):
        text = f"in spite of the {failing}, {by}"
        world.save(f"{by}-{failing}", text)
        wait(app, lambda seen: text in seen["messages"], text)
    # What was shown may be gone meanwhile.
    world.modify("forceDelete", {"recordName": f"{by}-cut"})
    world.save(f"{by}-lookup", f"anew, {by}")
    wait(app, lambda seen: f"anew, {by}" in seen["messages"] and text not in seen["messages"],
         "what is left")
    # The server is started anew: the page comes back by itself, and nothing is lost.
    world.server.kill_and_restart()
    world.save(f"{by}-last", f"still there, {by}")
    wait(app, lambda seen: f"still there, {by}" in seen["messages"], "what came after the restart")
    return spent


def visit(program, world, by):
    with open(EXAMPLE, encoding="utf-8") as file:
        page = world.remembered() + FAILING + file.read() + WATCH
    with Origin(page) as app:
        with showing(program, f"http://127.0.0.1:{app.server_port}/#{world.fragment(by)}"):
            return follow(world, app, by)


def main(program):
    with Server() as server:
        world = World(server)
        world.save("first", "what was there")
        for by in ("events", "polls"):
            spent = sorted(visit(program, world, by))
            median = spent[len(spent) // 2]
            print(f"notices.py: by {by} a change is shown after {median * 1000:.0f} ms, "
                  f"{spent[-1] * 1000:.0f} ms at most")
            assert median <= SOON_SECONDS, spent
        server.stop()


if __name__ == "__main__":
    with_chromium(main)
