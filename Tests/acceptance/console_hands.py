"""Every action of the console once by the mouse and once by the keyboard, on every screen with real data.

Which actions there are, the pages say; and every word that the console's source puts on a button has to be among them.
Those that end something end what is made for it, once for each hand.
"""

import base64
import hashlib
import itertools
import json
import os
import re
import stat
import tempfile
import urllib.parse

from console import CONTAINER, NAUGHTY, PASSWORD, held, say
from console_actions import Walk
from listener import Handler, Listener

CONSOLE = os.path.join(os.path.dirname(__file__), "../../Console")
WHERE = {"container": CONTAINER, "environment": "development"}
AT = f"container={CONTAINER}&environment=development"
ANN = "ann@example.org"
BACK = ("Back", "Forward", "←", "→")
SCHEMA = """DEFINE SCHEMA CREATE ROLE Gardener;
RECORD TYPE Note ( "___recordID" REFERENCE QUERYABLE, title STRING QUERYABLE SORTABLE, code INT64, other REFERENCE, others LIST<REFERENCE>,
    place LOCATION, file ASSET, small ASSET, text STRING, GRANT READ, WRITE TO _world, GRANT CREATE TO _icloud, GRANT WRITE TO _creator );
"""
# Said while something is under way, when nothing can be pressed; and what only damage, an old backup or a Mac brings.
NOT_WALKED = {
    "A backup is being made…", "Exporting…", "Saving…", "Making…", "Signing in…", "Sending…", "Measuring…", "Reading the backup…",
    "←", "→", "is removed when you save", "Selected: press Ctrl-C", "Copied",
}


def words_of_the_source():
    """What stands on buttons and summaries, and what questions are answered by."""
    found = set()
    for name in sorted(os.listdir(CONSOLE)):
        if not name.endswith(".js") or name == "share-sheet.js":
            continue
        with open(os.path.join(CONSOLE, name), encoding="utf-8") as file:
            source = file.read()
        found |= {match for match in re.findall(r"button\('([^'$×]+)'", source)}
        found |= set(re.findall(r"(?:act|word): '([A-Z][^'$]+)'", source))
        found |= set(re.findall(r"<button[^>]*>([A-Z][^<$]*)</button>", source))
        found |= {" ".join(text.split()) for text in re.findall(r"<summary[^>]*>([A-Z][^<$]*)</summary>", source)}
        found |= set(re.findall(r"popup\('([^']+)'", source)) | set(re.findall(r"opener\('([^']+)'", source))
    return found - NOT_WALKED


class Receiver(Handler):
    def do_POST(self):
        self.body()
        self.answer(b"", 410)


class Hands(Walk):
    parts = ("prepare", "containers", "data", "record", "schema", "people", "delivery", "tokens", "operations", "telemetry",
             "sharing", "acting", "session", "complete")
    looks = 0
    numbers = itertools.count()
    fields = ()

    def text(self):
        """The schema of development, with the fields that were made for it to differ from production."""
        return SCHEMA.replace("code INT64", ", ".join(["code INT64", *(f"{name} STRING" for name in self.fields)]))

    def differs(self, page):
        self.fields = (*self.fields, f"y{next(self.numbers)}")
        self.api("schema import", **WHERE, file=self.text())

    def api(self, command, **values):
        """A command by the interface, as the operator who is signed in."""
        answer = self.screen.context.pages[0].evaluate("""async ([path, body]) => {
          const {page} = await (await fetch('/console/api/session')).json();
          const answer = await fetch(`/console/api/${path}`, {method: 'POST', body: JSON.stringify(body),
            headers: {'Content-Type': 'application/json', 'X-Console-Page': page}});
          return {...await answer.json(), status: answer.status};
        }""", [command.replace(" ", "/"), {name.replace("_", "-"): value for name, value in values.items()}])
        assert answer["status"] == 200, (command, answer)
        return answer

    def state(self, area, path, *steps, **more):
        """- before: what makes the data; - loads: whether the document is loaded anew; - but: actions that do nothing here."""
        self.both({"area": area, "path": path, "steps": steps, "but": (), **more})

    def press(self, name, **more):
        return lambda page: page.get_by_role("button", name=name, exact=True).first.click(**more)

    def typed(self, **fields):
        """Fills fields by their labels."""
        def fill(page):
            for label, value in fields.items():
                page.get_by_label(label.replace("_", " "), exact=True).fill(value)
        return fill

    def made(self, body):
        """Before each time that a page is reached: something to end, with a name of its own."""
        return lambda page: body(next(self.numbers))

    def prepare(self):
        self.server.command("container", "create", CONTAINER)
        for number in range(21):
            self.server.command("container", "create", f"iCloud.org.example.C{number}")
        with tempfile.NamedTemporaryFile("w", suffix=".ckdb") as file:
            file.write(SCHEMA)
            file.flush()
            self.server.command("schema", "import", CONTAINER, "development", file.name)
        for name in ("ann", "bob"):
            self.server.make_person(name, PASSWORD)
        self.fill()
        self.ask("ann", "development", "zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": "Trips"}}}]})
        self.ask("ann", "development", "records/modify", {"zoneID": {"zoneName": "Trips"}, "operations": [
            {"operationType": "create", "record": record} for record in (
                {"recordName": "rome", "recordType": "Note", "fields": {"title": {"value": "Rome"}}},
                {"recordType": "cloudkit.share", "forRecord": {"recordName": "rome"}})]})
        self.ask("ann", "development", "records/query", {"query": {"recordType": "Nothing"}})
        self.listening = Listener(Receiver)
        self.listening.__enter__()
        self.url = f"http://127.0.0.1:{self.listening.server_address[1]}/in"
        self.walk(self.signed_in("op@example.org", "/console/containers"))

    def fill(self):
        """Records with values of each kind, a file that is shown when asked for, and one that is shown at once."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "notes.jsonl")
            os.mkdir(path + ".assets")
            files = {}
            for name, body in (("file", b"x" * 2_000_100), ("small", b"%PDF-")):
                checksum = base64.b64encode(b"\x01" + hashlib.sha256(body).digest()[:20]).decode()
                files[name] = {"value": {"fileChecksum": checksum, "size": len(body)}, "type": "ASSETID"}
                with open(os.path.join(path + ".assets", checksum.replace("/", "_").replace("+", "-")), "wb") as asset:
                    asset.write(body)
            to = {"recordName": "n-1", "action": "NONE"}
            whole = {"title": {"value": NAUGHTY[0]}, "code": {"value": 7}, "other": {"value": to, "type": "REFERENCE"},
                     "others": {"value": [to], "type": "REFERENCE_LIST"}, "text": {"value": "long " * 5000},
                     "place": {"value": {"latitude": 41.9, "longitude": 12.5}, "type": "LOCATION"}, **files}
            with open(path, "w", encoding="utf-8") as lines:
                lines.write(json.dumps({"recordName": "whole", "recordType": "Note", "fields": whole}) + "\n")
                for number in range(250):
                    lines.write(json.dumps({"recordName": f"n-{number}", "recordType": "Note", "fields": {
                        "title": {"value": f"Note {number}"}}}) + "\n")
            self.server.command("import", CONTAINER, "development", path, "--create")

    def containers(self):
        self.state("overview", "", but=("#",))
        self.state("unreachable", "", loads=True, but=("#",), before=lambda page: page.route("**/console/api/container/list", lambda route: route.abort()))
        self.state("containers", "containers")
        self.state("start", f"start?container={CONTAINER}")
        self.state("start: token", f"start?container={CONTAINER}", self.press("Make a token"))
        self.state("new container", "start", lambda page: page.get_by_label("ID", exact=True).fill(
            f"iCloud.org.example.New{next(self.numbers)}"))
        self.state("revoke: start", f"start?container={CONTAINER}", lambda page: page.get_by_role(
            "button", name="Revoke").first.click(), before=self.made(lambda number: self.api("api-token create", **WHERE, name=f"s{number}")))

    def data(self):
        notes = f"data?{AT}&type=Note"
        kept = lambda page: page.evaluate("""localStorage.setItem('lenticular-console-queries', JSON.stringify(
          {Mine: {container: '%s', type: 'Note', sort: 'title ASC'}}))""" % CONTAINER)
        page = self.screen
        page.goto(f"{self.base}/console/containers")
        kept(page)
        self.state("data", notes)
        self.state("data: filtered", notes + "&filters=" + urllib.parse.quote(json.dumps(
            [{"field": "title", "comparator": "=", "value": "x", "type": "STRING"}])))
        for name in ("Filter", "Columns", "Keep", "Export"):
            self.state(f"data: {name}", notes, lambda page, name=name: page.locator("summary", has_text=name).click(),
                       before=lambda _: kept(self.screen) if name == "Keep" else None)
        self.state("data: no type", f"data?{AT}", lambda page: page.locator("summary", has_text="Export").click())
        self.state("data: private", f"data?{AT}&database=private")
        self.state("data: feed", f"data?{AT}&view=changes")
        self.state("data: feed, live", f"data?{AT}&view=changes", self.press("Go live"))
        self.state("data: exporting", notes, self.stuck, lambda page: page.locator("summary", has_text="Export").click(), self.press("JSON lines"))
        self.state("data: exported", notes, lambda page: page.locator("summary", has_text="Export").click(), self.press("JSON lines"))
        choose = lambda page: page.get_by_label(re.compile("^Select n-")).first.click()
        self.state("data: chosen", notes, choose)
        self.state("data: many", notes, choose, lambda page: page.get_by_role("button", name="Edit 1…").click())
        gone = self.made(lambda number: self.server.save([{"recordName": f"gone-{number}", "recordType": "Note", "fields": {}}]))
        self.state("data: deleting", notes, lambda page: page.get_by_label("Select gone-").first.click(),
                   lambda page: page.get_by_role("button", name="Delete 1…").click(), before=gone)
        self.state("data: undo", notes, self.edited)
        self.lacking()
        self.grid(notes)

    def stuck(self, page):
        """From now on no page of records comes."""
        page.route(re.compile("/console/api/record/(list|query)"), lambda route: None)
        self.held = True

    def edited(self, page):
        page.locator("[data-at='0.1']").click()
        page.keyboard.press("F2")
        page.locator(".inline").fill(str(1000 + next(self.numbers)))
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Undo").wait_for()

    def lacking(self):
        """An index that a query lacks."""
        path = f"data?{AT}&type=Note&filters=" + urllib.parse.quote(json.dumps(
            [{"field": "code", "comparator": "=", "value": "7", "type": "INT64"}]))

        def without(page):
            self.api("schema import", **WHERE, file=self.text())

        self.state("data: lacks an index", path, before=without)
        self.state("data: add an index", path, self.press("Add the index…"), before=without)

    def grid(self, notes):
        """What the grid does by its cells, of which one at a time is on the way of Tab."""
        page = self.screen
        self.reach({"path": notes})
        for way in (lambda: page.get_by_label(re.compile("^Select n-")).first.click(), lambda: (page.locator("[data-at='1.0']").focus(), page.keyboard.press("Space"))):
            way()
            page.get_by_role("button", name="Edit 1…").wait_for()
            self.reach({"path": notes})
        for way in (lambda: page.get_by_label("Select all").click(),
                    lambda: (page.locator("[data-at='0.0']").focus(), page.keyboard.press("Control+a"))):
            way()
            page.get_by_role("button", name="Delete 200…").wait_for()
            self.reach({"path": notes})
        for way in (lambda: page.locator("[data-at='0.0'] button").click(), lambda: (page.locator("[data-at='0.0']").focus(), page.keyboard.press("Enter"))):
            way()
            page.wait_for_url("**record=**")
            self.reach({"path": notes})
        page.get_by_role("columnheader", name="title").get_by_role("button").click()
        page.wait_for_url("**sort=title**")

    def record(self):
        path = f"data?{AT}&type=Note&record=whole"
        self.state("record", path, but=BACK)
        self.state("record: JSON", path, lambda page: page.get_by_role("tab", name="JSON").click(), but=BACK)
        linked = lambda page: page.locator("dialog").get_by_role("button", name="n-1").first.click()
        self.state("record: linked", path, linked, but=("Forward", "→"))
        self.state("record: back", path, linked, lambda page: page.go_back(), but=("Back", "←"))
        self.state("record: fields", path, lambda page: page.locator("summary", has_text="Add a field").click(),
                   lambda page: page.get_by_label("Name of the field").fill(f"more{next(self.numbers)}"), but=BACK)
        self.state("record: new", f"data?{AT}&type=Note&new=1", but=BACK)
        self.state("record: leaving", path, self.typed(code_INT64="8"), self.press("Close"))
        self.state("record: deleting", lambda: f"data?{AT}&type=Note&record={self.newest}", self.press("Delete…"), before=self.another)
        self.state("record: conflict", lambda: f"data?{AT}&type=Note&record={self.newest}",
                   lambda page: page.get_by_label("title STRING").fill("Mine"), lambda page: self.other_saves(),
                   self.press("Save"), before=self.another, but=BACK)

    def another(self, page):
        self.newest = f"another-{next(self.numbers)}"
        self.server.save([{"recordName": self.newest, "recordType": "Note", "fields": {"title": {"value": "Before"}}}])

    def other_saves(self):
        self.server.save([{"recordName": self.newest, "recordType": "Note", "recordChangeTag": self.tag(self.newest),
                           "fields": {"title": {"value": "Theirs"}}}])

    def schema(self):
        path = f"schema?{AT}&type=Note"
        field = self.typed(New_field="subtitle")
        self.state("schema", path)
        self.state("schema: changed", path, field, self.press("Add field"))
        self.state("schema: saving", path, field, self.press("Add field"), self.press("Save…"), before=lambda page: self.api(
            "schema import", **WHERE, file=self.text(), prune=True))
        self.state("schema: roles", f"{path}&view=roles")
        self.state("schema: text", f"{path}&view=text")
        text = lambda page: page.get_by_label("Schema", exact=True).fill(
            self.text().replace("code INT64", f"code INT64, x{next(self.numbers)} STRING"))
        self.state("schema: typed", f"{path}&view=text", text)
        self.state("schema: importing", f"{path}&view=text", text, self.press("Import…"))
        self.state("schema: deploy", f"{path}&view=deploy", before=self.differs)
        self.state("schema: deploying", f"{path}&view=deploy", self.press("Deploy to production…"), before=self.differs)
        self.state("schema: history", f"{path}&view=history&limit=1")
        self.state("schema: resetting", f"schema?container=iCloud.org.example.C1&view=deploy", self.press("Reset development…"),
                   lambda page: page.get_by_label("to go on").fill("iCloud.org.example.C1"))

    def people(self):
        person = f"people?person={ANN}&{AT}"
        self.state("people", "people")
        self.state("people: inviting", "people", self.press("Invite somebody"), lambda page: page.get_by_label(
            "E-mail address", exact=True).fill(f"new{next(self.numbers)}@example.org"))
        self.state("people: invited", "people", self.press("Invite somebody"), lambda page: page.get_by_label(
            "E-mail address", exact=True).fill(f"new{next(self.numbers)}@example.org"), self.press("Invite"))

        def signed_in(page):
            for _ in range(2):
                self.server.command("web-token", "create", CONTAINER, "development", ANN)
            self.api("user role remove", **WHERE, email=ANN, role="Gardener")

        # Who is signed in comes after what is told of their devices.
        ending = lambda page: page.get_by_role("button", name="End all").wait_for()
        self.state("person", person, ending, before=signed_in)
        self.state("person: roles", person, lambda page: page.get_by_role("button", name="Take the role Gardener").first.click(),
                   before=lambda page: self.api("user role add", **WHERE, email=ANN, role="Gardener"))

        def somebody(page):
            number = next(self.numbers)
            self.who = f"somebody{number}"
            self.server.make_person(self.who, PASSWORD, "--phone", f"+49301234{number:04}")

        # Nobody has confirmed their number yet.
        self.state("person: new", lambda: f"people?person={self.who}@example.org", before=somebody)
        self.state("person: erasing", lambda: f"people?person={self.who}@example.org", self.press("Erase…"),
                   lambda page: page.get_by_label("to go on").fill(f"{self.who}@example.org"), before=somebody)

        def factor(page):
            number = next(self.numbers)
            self.who = f"twice{number}"
            self.operator(self.who)

        self.state("person: factor", lambda: f"people?person={self.who}@example.org", lambda page: page.get_by_role(
            "term").filter(has_text="Second factor").locator("xpath=..").get_by_role("button").click(), before=factor)

    def delivery(self):
        hooks = f"delivery?{AT}&view=webhooks"
        self.state("delivery", f"delivery?{AT}&user={ANN}")
        self.state("delivery: subscriptions", f"delivery?{AT}&view=subscriptions")
        self.ask("ann", "development", "subscriptions/modify", {"operations": [{"operationType": "create", "subscription": {
            "subscriptionID": NAUGHTY[0], "subscriptionType": "query", "firesOn": ["create"], "query": {"recordType": "Note"}}}]})
        self.state("delivery: one subscription", f"delivery?{AT}&view=subscriptions")
        self.api("webhook add", **WHERE, url=self.url, name="hook")
        self.given_up()
        self.state("delivery: webhooks", hooks)
        self.state("delivery: given up", f"{hooks}&webhook=hook")
        self.state("delivery: adding", hooks, self.press("Add a webhook"), lambda page: (
            page.get_by_label("URL", exact=True).fill(self.url), page.get_by_label("Name", exact=True).fill(f"more{next(self.numbers)}")))
        self.state("delivery: added", hooks, self.press("Add a webhook"), lambda page: page.get_by_label("URL", exact=True).fill(self.url),
                   self.press("Add"))
        self.state("delivery: removing", hooks, lambda page: page.get_by_role("button", name="Remove gone").first.click(),
                   before=self.made(lambda number: self.api("webhook add", **WHERE, url=self.url, name=f"gone{number}")))
        self.state("delivery: keys", f"delivery?{AT}&view=keys")
        self.state("delivery: new key", f"delivery?{AT}&view=keys", self.press("Add a key"))

    def given_up(self):
        self.server.save([{"recordName": "told", "recordType": "Note", "fields": {"title": {"value": str(next(self.numbers))}}}])
        self.eventually(lambda: any(hook["givenUp"] for hook in self.api("webhook list", **WHERE)["webhooks"]))

    def eventually(self, holds):
        while not holds():
            self.screen.wait_for_timeout(100)

    def tokens(self):
        for view, make, command, values in (
                ("", "New API token", "api-token create", WHERE), ("keys", "Add a server key", None, {}),
                ("sessions", "New web token", "web-token create", {**WHERE, "email": ANN}),
                ("operators", "Make somebody an operator", None, {}),
                ("scripts", "New operator token", "operator-token create", {})):
            path = f"tokens?view={view}&{AT}"
            area = f"tokens {view}".strip()
            more = self.made(lambda number, command=command, values=values: command and self.api(
                command, **values, **({"name": f"a{number}"} if view != "sessions" else {})))
            self.state(area, path, before=more)
            self.state(f"{area}: making", path, self.press(f"{make}…"), before=more)
            if command and view != "operators":
                self.state(f"{area}: ending", path, lambda page: page.locator("tbody td:last-child button:last-child").first.click(), before=more)
        self.state("tokens: changing", f"tokens?{AT}", lambda page: page.get_by_role("button", name="Change a").first.click())
        self.state("tokens: made", f"tokens?{AT}", self.press("New API token…"), self.press("Make"))
        self.state("tokens operators: inviting", "tokens?view=operators", self.press("Invite an operator…"), lambda page: page.get_by_label(
            "E-mail address", exact=True).fill(f"op{next(self.numbers)}@example.org"))
        self.state("tokens operators: rights", "tokens?view=operators", lambda page: page.get_by_label("Change the rights of bob").click(),
                   before=lambda page: self.api("operator create", email="bob@example.org"))
        self.state("tokens operators: removing", "tokens?view=operators", lambda page: page.get_by_label("Remove bob").click(),
                   before=lambda page: self.api("operator create", email="bob@example.org"))

    def operations(self):
        self.state("backups", "operations", before=self.rested)
        lost = self.made(lambda number: (self.kept_trip(), self.ask("ann", "development", "records/modify", {
            "operations": [{"operationType": "forceDelete", "record": {"recordName": "trip"}}]})))
        look = (lambda page: page.locator("form.card").get_by_label("E-mail address").fill(ANN), self.press("Show what would come back"))
        self.state("backups: found", "operations", *look, before=lost)
        self.state("backups: restoring", "operations", *look, self.press("Bring them back"), before=lost)
        self.state("checks", "operations?view=checks")
        self.state("checks: damaged", "operations?view=checks", self.press("Check everything"), before=self.damage)
        self.state("checks: removing", "operations?view=checks", self.press("Check everything"), self.press("Remove damaged records…"),
                   before=self.damage)
        self.state("indexes", "operations?view=indexes")
        self.state("settings", "operations?view=settings")
        alert = self.made(lambda number: self.api("alert add", name=f"a{number}", metric="errors", above="5", mail=ANN))
        self.state("alerts", "operations?view=alerts", before=alert)
        self.state("alerts: adding", "operations?view=alerts", self.press("Add an alert"), lambda page: (
            page.get_by_label("Name", exact=True).fill(f"b{next(self.numbers)}"), page.get_by_label("Threshold").fill("5"),
            page.get_by_label("Operation", exact=True).fill("records/query")))
        self.state("alerts: removing", "operations?view=alerts", lambda page: page.get_by_role("button", name="Remove a").first.click(),
                   before=alert)
        for number in range(101):
            self.api("api-token create", **WHERE, name=f"noted{number}")
        self.state("audit", "operations?view=audit")
        self.state("about", "operations?view=about")

    def damage(self, page):
        """A record decays on the disk."""
        text = f"decays {next(self.numbers)}"
        self.server.save([{"recordName": text.replace(" ", "-"), "recordType": "Note", "fields": {"title": {"value": text}}}])
        self.server.damage(text)

    def rested(self, page):
        """Some backups are there, and none is being made."""
        while True:
            backups = self.api("server show")["backups"]
            if len(backups["kept"]) > 1 and not backups["isUnderWay"]:
                return
            if not backups["isUnderWay"]:
                self.api("server backup")
            self.screen.wait_for_timeout(100)

    def kept_trip(self):
        """A record of somebody's that a backup has."""
        if hasattr(self, "has_trip"):
            return
        self.has_trip = True
        self.ask("ann", "development", "records/modify", {"operations": [
            {"operationType": "create", "record": {"recordName": "trip", "recordType": "Note", "fields": {"title": {"value": "Rome"}}}}]})
        before = len(self.server.command("server", "show")["backups"]["kept"])
        self.api("server backup")
        self.eventually(lambda: len(self.api("server show")["backups"]["kept"]) > before)

    def telemetry(self):
        path = f"telemetry?{AT}&hours=24"
        self.state("telemetry", path)
        self.state("telemetry: before", lambda: f"{path}&until={int(self.screen.evaluate('Date.now()')) - 86_400_000}")
        self.state("telemetry: errors", f"{path}&group=errors")
        self.state("logs", f"logs?container={CONTAINER}")
        self.state("logs: a line", f"logs?container={CONTAINER}&user=", lambda page: page.locator("tbody button").first.click())
        self.state("logs: live", f"logs?container={CONTAINER}&live=1")
        for name in ("Columns", "Keep"):
            self.state(f"logs: {name}", f"logs?container={CONTAINER}", lambda page, name=name: page.locator("summary", has_text=name).click())

    def sharing(self):
        self.state("sharing", f"sharing?{AT}")
        def of(email):
            return self.typed(On_behalf_of=email), self.press("Look")

        self.state("sharing: ann", f"sharing?{AT}", *of(ANN), before=self.leaves_sheet)
        self.state("sharing: joining", f"sharing?{AT}", *of("bob@example.org"), lambda page: page.get_by_label("Link to a share").fill(
            f"http://127.0.0.1/share/none{next(self.numbers)}"), self.press("Join…"))
        self.state("sharing: a share", f"sharing?{AT}", *of(ANN), lambda page: page.locator("tbody a").first.click())

    def leaves_sheet(self, page):
        """The share sheet has tests of its own, in the apps that it is made for."""

    def acting(self):
        self.state("acting", f"people?person={ANN}&{AT}", lambda page: page.get_by_role("link", name="Act as them").or_(
            page.get_by_role("button", name="Act as them")).first.click(),
            lambda page: page.get_by_role("button", name="Trips", exact=True).wait_for(), but=("Act as them",))

    def session(self):
        """A sign-in that is asked for meanwhile; then the way out, and in again."""
        page = self.screen
        word = lambda page: page.get_by_label("begins with").fill("op")
        self.state("asked again", "people", lambda page: page.context.clear_cookies(), word, self.press("Search"),
                   lambda page: page.get_by_label("Password").fill("wrong horse"), loads=True)
        for way in ("click", "Enter"):
            self.reach({"path": "containers"})
            page.locator(".who summary").click()
            out = page.get_by_role("button", name="Sign out")
            out.click() if way == "click" else out.press("Enter")
            page.get_by_role("heading", name="Sign in to the console").wait_for()
            for label, value in (("E-mail address", "op@example.org"), ("Password", PASSWORD)):
                page.get_by_label(label).fill(value)
            enter = page.get_by_role("button", name="Sign in", exact=True)
            enter.click() if way == "click" else enter.press("Enter")
            page.get_by_label("Code of your authenticator app").fill(self.codes["op@example.org"].pop())
            enter.click() if way == "click" else page.keyboard.press("Enter")
            page.locator(".who summary").wait_for()
        self.done |= {"frame: button Sign out": "Sign out", "frame: button Sign in": "Sign in"}

    def complete(self):
        """No word of a button in the source is left out."""
        done = set(self.done.values())
        left = {word for word in words_of_the_source() if word not in done}
        assert not left and not self.wrong, f"by neither hand: {sorted(left)}; {self.wrong}"
        say(f"{len(self.done)} actions by the mouse and by the keyboard")
        self.listening.__exit__()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "send")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ncat > /dev/null\n")
        os.chmod(program, stat.S_IRWXU)
        os.environ |= {
            "LENTICULAR_BACKUPS_TO": os.path.join(folder, "backups"), "LENTICULAR_MAIL_SENDER": "program",
            "LENTICULAR_MAIL_PROGRAM": program, "LENTICULAR_MAIL_FROM": "server@example.org",
            "LENTICULAR_OUTGOING_ALLOWED_NETWORKS": "127.0.0.1"}
        held(Hands)
