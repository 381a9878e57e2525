"""How operators come in: from the first one's link to a container with its first token, and who does not come in.

What the console gives to paste is run. Operators who only look, and those of another container, try every command.
"""

import gzip
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request

from chromium import Origin
from console import CONTAINER, NAUGHTY, OTHER, PASSWORD, Run, held, say

CONSOLE = os.path.join(os.path.dirname(__file__), "../../Console")
GZIPPED_BYTES_MAX = 120_000
PAINT_MS_MAX = 300
PAINT_TURNS = 6
# In which a calm machine paints a page of text.
CALM_MS = 100
# What some commands want beside what they say that they require.
WANTED = {
    "container set": {"key=value": ["name=a"]}, "api-token set": {"any-origin": True}, "user password": {"password-stdin": PASSWORD},
    "web-token revoke": {"all": True}, "storage copy": {"from": "sqlite:/none", "to": "sqlite:/no"},
    "alert add": {"metric": "errors", "above": "5", "mail": "op@example.org"},
}
# Two style sheets, the charts, the modules that the document names, and the session.
PAINT_FILES_MAX = 11


class In(Run):
    parts = ("strangers", "weight", "paint", "start", "unreachable", "outside", "rights")
    looks = 36

    def strangers(self):
        """Nobody gets past the sign-in page, whatever address they come by."""
        self.server.make_person("stranger", PASSWORD)
        page = self.page()
        page.goto(f"{self.base}/console/people?person=op@example.org")
        page.get_by_role("heading", name="Sign in to the console").wait_for()
        assert page.locator("nav").count() == 0 and "op@example.org" not in page.content()
        self.look(page, "sign-in")
        for email, password in (("stranger@example.org", PASSWORD), ("op@example.org", "wrong horse")):
            page.get_by_label("E-mail address").fill(email)
            page.get_by_label("Password").fill(password)
            page.get_by_role("button", name="Sign in", exact=True).click()
            page.get_by_role("alert").get_by_text("no operator has").wait_for()
        page.context.close()

    def paint(self):
        """The first paint comes after one round of files, and within 300 ms.

        By the page's thread in any case. By the clock where the machine is calm: by turns with a page of text of the same
        server, only turns in which that one is painted at once are judged, and of those the best one.
        """
        blank = self.base + self.files + "lit.txt"
        judged, works = [], []
        for _ in range(PAINT_TURNS):
            before = self.painted(blank)[0]
            shown, files, work = self.painted(f"{self.base}/console/")
            after = self.painted(blank)[0]
            works.append(work)
            # No script that is loaded asks for another one, and nothing is asked of the interface but who is signed in.
            assert len(files) <= PAINT_FILES_MAX, files
            if max(before, after) <= CALM_MS:
                judged.append(shown)
            if judged and min(judged) <= PAINT_MS_MAX:
                break
        told = f"{min(judged):.0f} ms" if judged else "a time that is not judged, as the machine is busy"
        say(f"first paint after {told}; the page's thread has worked for {min(works):.0f} ms by then")
        assert min(works) <= PAINT_MS_MAX and (len(judged) < 2 or min(judged) <= PAINT_MS_MAX), (judged, works)

    def painted(self, address):
        """When a page is first painted in a browser that knows nothing of it, what it has loaded by then, but pictures, and
        how long its thread has worked."""
        page = self.page()
        spent = self.thread_time(page)
        page.goto(address)
        page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
        paint, files = page.evaluate("""() => {
          const {startTime} = performance.getEntriesByName('first-contentful-paint')[0];
          const files = performance.getEntriesByType('resource').filter(
            ({responseEnd, initiatorType}) => responseEnd <= startTime && initiatorType !== 'img');
          return [startTime, files.map(({name}) => name)];
        }""")
        work = spent()
        page.context.close()
        return paint, files, work

    def weight(self):
        """All that a browser ever loads of the console, as the server sends it."""
        document, total = self.loaded("/console/")
        folder = self.files = re.search(rb'name="lenticular-files" content="([^"]+)"', document)[1].decode()
        names = sorted(os.listdir(CONSOLE))
        names = [name for name in names if name.endswith((".js", ".css"))]
        for name in names + ["pages.css", "lit-core.min.js", "uPlot.iife.min.js", "uPlot.min.css"]:
            served, size = self.loaded(folder + name)
            total += size
            if name in names:
                self.whole(name, served)
        assert total <= GZIPPED_BYTES_MAX, total
        say(f"{total} bytes gzipped in all")

    def loaded(self, path):
        """What is served at a path, and how many bytes a browser gets of it."""
        request = urllib.request.Request(self.base + path, headers={"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request) as answer:
            body = answer.read()
            assert answer.headers["Content-Encoding"] == "gzip", path
            assert answer.headers["Vary"] == "Accept-Encoding", path
        plain = urllib.request.urlopen(self.base + path).read()
        assert gzip.decompress(body) == plain, path
        return plain, len(body)

    def whole(self, name, served):
        """What a browser gets of a file is the file, without comments, spaces and, of a script, line breaks."""
        with open(os.path.join(CONSOLE, name), "rb") as file:
            source = file.read()
        lines = [line.lstrip(b" ") for line in source.split(b"\n")]
        source = b"".join(line + b"\n" for line in lines if line and not line.startswith(b"//"))
        bare = (text.translate(None, b" \n") for text in (served, source))
        assert served == source if name.endswith(".css") else next(bare) == next(bare), name

    def start(self):
        """A container, its token and its origin; and what there is to paste is right."""
        with Origin() as app:
            self.make(app, f"http://127.0.0.1:{app.server_address[1]}")

    def make(self, app, origin):
        began = time.monotonic()
        page = self.signed_in("op@example.org")
        page.get_by_text("No container is here yet").wait_for()
        self.look(page, "no-container")
        page.get_by_role("link", name="New container").first.click()
        page.get_by_label("ID", exact=True).fill("not an ID")
        page.get_by_role("button", name="Make container and token").click()
        assert page.get_by_label("ID", exact=True).evaluate("field => !field.validity.valid")
        page.get_by_label("ID", exact=True).fill(CONTAINER)
        page.get_by_label("Name of the app").fill("Atlas")
        page.get_by_label("Origin of the web app").fill(origin)
        self.look(page, "new-container")
        page.get_by_role("button", name="Make container and token").click()
        page.get_by_role("heading", name="Your token").wait_for()
        say(f"a container with its token after {time.monotonic() - began:.0f} s, pictures included")
        self.look(page, "token")
        token = page.get_by_label("API token").text_content()
        page.get_by_role("cell", name=origin).wait_for()
        web = page.get_by_label("Web code").text_content()
        page.get_by_role("tab", name="Web").focus()
        for name in ("Swift", "Python"):
            page.keyboard.press("ArrowRight")
            page.get_by_role("tab", name=name, selected=True).wait_for()
        python = [sys.executable, "-c", page.get_by_label("Python code").text_content()]
        page.get_by_role("tab", name="curl").click()
        curl = ["bash", "-c", page.get_by_label("curl code").text_content()]
        # There is no record yet, as the code says; then the page for the web saves one of somebody's own, and so makes its type.
        self.pasted(python, "NOT_FOUND")
        self.pasted(curl, "NOT_FOUND")
        app.page = web
        self.web(origin)
        self.pasted(python, "'records': []")
        self.server.save([{"recordName": "n", "recordType": "Note", "fields": {"title": {"value": "Hello"}}}])
        self.pasted(python, "Hello")
        self.pasted(curl, "Hello")
        page.reload()
        page.get_by_role("button", name="Revoke").wait_for()
        assert token not in page.content(), "a token is shown this once"
        page.context.close()

    def pasted(self, command, expected):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0 and expected in done.stdout, done.stderr + done.stdout

    def web(self, origin):
        """The page for the web at its origin: somebody signs in, and their record is there."""
        page = self.page()
        page.goto(f"{origin}/")
        with page.expect_popup() as popup:
            page.locator("#apple-sign-in-button").get_by_text("Sign in").click()
        window = popup.value
        window.get_by_label("E-mail address").fill("stranger@example.org")
        window.get_by_label("Password", exact=True).fill(PASSWORD)
        window.get_by_role("button", name="Sign in", exact=True).click()
        window.get_by_role("button", name="Allow").click()
        page.wait_for_function("() => document.body.innerText.includes(' has saved ')")
        name = page.locator("body").inner_text().split()[-1]
        records = self.server.command("record", "get", CONTAINER, "development", "private", name,
                                      "--user", "stranger@example.org")["records"]
        assert records[0]["fields"]["title"]["value"] == "Hello", records
        page.context.close()

    def unreachable(self):
        """Where the containers could not be had, it is said, and they come when somebody asks again or goes to another screen."""
        page = self.signed_in("op@example.org")
        list_of_containers = "**/console/api/container/list"
        card = page.get_by_role("link", name="Data of Atlas")
        for again in (lambda: page.get_by_role("button", name="Try again").click(),
                      lambda: (page.get_by_role("link", name="People").click(), page.get_by_role("link", name="Containers", exact=True).click())):
            page.route(list_of_containers, lambda route: route.abort())
            page.goto(f"{self.base}/console/containers")
            page.get_by_role("alert").get_by_text("cannot be reached").wait_for()
            assert page.get_by_text("Looking for containers").count() == card.count() == 0
            page.unroute(list_of_containers)
            again()
            card.wait_for()
            assert page.get_by_role("alert").count() == 0
        self.parts_missing(page)
        self.signing_out(page)
        page.context.close()

    def signing_out(self, page):
        """Who could not be signed out is told so until they are."""
        page.route("**/console/api/session", lambda route: route.abort())
        page.locator(".who summary").click()
        page.get_by_role("button", name="Sign out").click()
        for _ in range(2):
            page.get_by_role("alert").get_by_text("cannot be reached").wait_for()
            with page.expect_request("**/console/api/session"):
                page.get_by_role("button", name="Try again").click()
        page.get_by_role("alert").get_by_text("cannot be reached").wait_for()
        page.unroute("**/console/api/session")
        page.get_by_role("button", name="Try again").click()
        page.get_by_role("heading", name="Sign in to the console").wait_for()

    def parts_missing(self, page):
        """Of what the overview could not look at it says neither that it is empty nor that it is in order."""
        shown = {"size": page.get_by_role("rowheader", name=CONTAINER).first, "doctor": page.get_by_text("Nothing.", exact=True)}
        said = {"size": page.get_by_text("No container holds anything yet"), "doctor": shown["doctor"]}
        for command in shown:
            page.route(f"**/console/api/{command}", lambda route: route.abort())
            page.goto(f"{self.base}/console/")
            page.get_by_role("alert").get_by_text("cannot be reached").wait_for()
            page.get_by_text("Looking at disk").wait_for(state="detached")
            assert said[command].count() == 0, command
            page.unroute(f"**/console/api/{command}")
            page.get_by_role("button", name="Try again").click()
            shown[command].wait_for()
            assert page.get_by_role("alert").count() == 0

    def outside(self):
        """Who is no operator, or none any more, by every route of the interface, whatever they carry."""
        self.operator("former")
        page = self.signed_in("former@example.org")
        commands = page.evaluate("async () => (await (await fetch('/console/api')).json()).commands.map(({path}) => path)")
        routes = [("POST", path) for path in commands] + [
            ("GET", "/console/api"), ("GET", "/console/api/session"), ("DELETE", "/console/api/session"),
            ("POST", "/console/api/session/acting"), ("DELETE", "/console/api/session/acting")]
        number = page.evaluate("async () => (await (await fetch('/console/api/session')).json()).page")
        ended = "; ".join(f"{each['name']}={each['value']}" for each in page.context.cookies())
        self.server.command("operator", "remove", "former@example.org")
        page.context.close()
        page = self.page()
        account = f"http://{self.server.address[0]}:{self.server.address[1]}/account"
        page.goto(account)
        page.get_by_label("E-mail address").fill("stranger@example.org")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url("**/account")
        cookie = "; ".join(f"{each['name']}={each['value']}" for each in page.context.cookies())
        assert cookie, "somebody has signed in"
        page.context.close()
        web = self.server.command("web-token", "create", CONTAINER, "development", "stranger@example.org")["webAuthToken"]
        carried = [{}, {"Cookie": ended, "X-Console-Page": number}, {"Cookie": cookie, "X-Console-Page": number},
                   {"Authorization": f"Bearer {web}"}]
        # The same secrets under the console's own name.
        carried += [{"Cookie": f"lenticular-console={pair.split('=', 1)[1]}", "X-Console-Page": number} for pair in cookie.split("; ")]
        for method, path in routes:
            for headers in carried:
                request = urllib.request.Request(self.base + path, b"{}" if method == "POST" else None, {
                    "Content-Type": "application/json", **headers}, method=method)
                try:
                    raise AssertionError((method, path, headers, urllib.request.urlopen(request).read()))
                except urllib.error.HTTPError as error:
                    answer = json.load(error)
                    assert (error.code, answer["error"]) == (401, "UNAUTHENTICATED"), (method, path, headers, answer)
        say(f"{len(routes)} routes are shut to {len(carried)} kinds of strangers")

    def rights(self):
        """Who only looks, and who has another container, by every command of the list."""
        self.server.command("container", "create", OTHER)
        self.server.save([{"recordName": "city-1", "recordType": "City", "fields": {"name": {"value": "Rome"}}}])
        self.server.command("container", "set", OTHER, f"name={NAUGHTY[0]}")
        self.operator("reader", "--read-only")
        self.operator("other", "--container", OTHER)
        page = self.signed_in("reader@example.org", f"/console/data?container={CONTAINER}&type=City")
        page.get_by_role("button", name="city-").first.wait_for()
        for name in ("New record", "Delete", "Import", "Undo"):
            assert page.get_by_role("button", name=name).count() == 0, name
        page.locator("[data-at='0.1']").focus()
        page.keyboard.press("F2")
        assert page.locator(".inline").count() == 0
        self.refused(page, {})
        page.context.close()
        page = self.signed_in("other@example.org", "/console/containers")
        page.get_by_role("link", name=f"Data of {NAUGHTY[0]}").wait_for()
        self.look(page, "containers")
        assert CONTAINER not in page.content()
        page.goto(f"{self.base}/console/data?container={CONTAINER}&type=City")
        page.get_by_text("You have no right to this.").first.wait_for()
        self.look(page, "no-right")
        self.refused(page, {"container": CONTAINER, "environment": "development", "database": "public"})
        page.context.close()

    def refused(self, page, values):
        """Every command that is said to be out of reach is; and each of another's container."""
        answers = page.evaluate("""async ([values, wanted]) => {
          const {page} = await (await fetch('/console/api/session')).json();
          const {commands} = await (await fetch('/console/api')).json();
          const seen = [];
          for (const {name, path, may, streams, arguments: takes} of commands) {
            const isAbout = takes.some(({key}) => key === 'container') && values.container;
            if (may && !isAbout) continue;
            const body = Object.fromEntries(takes.filter(({required}) => required).map(({key, choices, repeatable, form}) => [
              key, values[key] ?? (choices[0] || (form === 'flag' ? true : repeatable ? ['a'] : key.includes('email') ? 'op@example.org' : 'a'))]));
            if (isAbout) body.container = values.container;
            body.yes = takes.some(({key}) => key === 'yes') || undefined;
            const text = JSON.stringify({...body, ...wanted[name]});
            const isRead = streams === 'body';
            const answer = await fetch(isRead ? `${path}?arguments=${encodeURIComponent(text)}` : path, {method: 'POST', body: isRead ? '' : text,
              headers: {'Content-Type': 'application/json', 'X-Console-Page': page}});
            seen.push([name, answer.status, (await answer.json()).error]);
          }
          return seen;
        }""", [values, WANTED])
        assert len(answers) > 20, answers
        # A build without ApplePush refuses this to everybody, before it looks who asks.
        answers = [each for each in answers if each[:1] + each[2:] != ["push key add", "REFUSED"]]
        wrong = [each for each in answers if each[2] != "FORBIDDEN"]
        assert not wrong, wrong
        say(f"{len(answers)} commands are refused to {page.locator('.who summary').text_content()}")


if __name__ == "__main__":
    held(In)
