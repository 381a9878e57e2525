"""What is typed into the console outlives a slow network and a server that dies meanwhile.

Each form is filled over a network as slow as a train's. The server is killed before the form is sent, and said not to be
reached; what was typed is still there, and goes its way once the server is back.
"""

import json
import os
import stat
import tempfile

from console import CONTAINER, NAUGHTY, PASSWORD, Run, held, say

AT = f"container={CONTAINER}&environment=development"
ANN = "ann@example.org"
SCHEMA = """DEFINE SCHEMA
RECORD TYPE Note ( "___recordID" REFERENCE QUERYABLE, title STRING QUERYABLE, GRANT READ, WRITE TO _world, GRANT CREATE TO _icloud );
"""
LONG = "What took an hour to write. " * 40
SLOW = {"offline": False, "latency": 300, "downloadThroughput": 60_000, "uploadThroughput": 30_000}

# Where, what opens the form, what is typed by label, what sends it, what answers a question, and what says that it is done.
FORMS = [
    ("a record", f"data?{AT}&type=Note&record=note", [], {"title STRING": LONG}, "Save", None, "Changed"),
    ("a new record", f"data?{AT}&type=Note&new=1", [], {"Name": "fresh", "title STRING": NAUGHTY[0]}, "Save", None, "fresh"),
    ("a schema's text", f"schema?{AT}&view=text", [], {"Schema": SCHEMA.replace("title", "subtitle STRING, title")}, "Import…", "Import", None),
    ("a container", "start", [], {"ID": "iCloud.org.example.Slow", "Name of the app": NAUGHTY[0], "Origin of the web app": "https://slow.example.org"},
     "Make container and token", None, "Your token"),
    ("a webhook", f"delivery?{AT}&view=webhooks", ["Add a webhook"], {"URL": "http://127.0.0.1:9/in", "Name": "slow"}, "Add", None, "Signing key"),
    ("an alert", "operations?view=alerts", ["Add an alert"], {"Name": "slow", "Threshold": "5", "Operation": "records/query", "E-mail address": ANN},
     "Add", None, "records/query"),
    ("a letter", "operations?view=checks", [], {"E-mail address": ANN}, "Send", None, "handed on"),
    ("an API token", f"tokens?{AT}", ["New API token…"], {"Name": "slow", "Origins, one a line": "https://slow.example.org"}, "Make", None, "The API token"),
    ("an operator", "tokens?view=operators", ["Invite an operator…"], {"E-mail address": "new@example.org"}, "Invite", None, "on its way"),
    ("an invitation", "people", ["Invite somebody"], {"E-mail address": "guest@example.org"}, "Invite", None, "on its way"),
    ("a restore", "operations", [], {"E-mail address": ANN}, "Show what would come back", None, "come back"),
]


class Input(Run):
    parts = ("prepare", "forms", "link", "file", "typing", "around")
    looks = 0

    def prepare(self):
        self.server.command("container", "create", CONTAINER)
        with tempfile.NamedTemporaryFile("w", suffix=".ckdb") as file:
            file.write(SCHEMA)
            file.flush()
            self.server.command("schema", "import", CONTAINER, "development", file.name)
        self.server.make_person("ann", PASSWORD)
        self.server.save([{"recordName": "note", "recordType": "Note", "fields": {"title": {"value": "Before"}}}])
        self.ask("ann", "development", "records/modify", {"operations": [
            {"operationType": "create", "record": {"recordName": "mine", "recordType": "Note", "fields": {}}}]})
        self.screen = self.signed_in("op@example.org", "/console/containers")
        network = self.screen.context.new_cdp_session(self.screen)
        network.send("Network.enable")
        network.send("Network.emulateNetworkConditions", SLOW)

    def field(self, label):
        return self.screen.locator("main, dialog[open]").last.get_by_label(label, exact=True)

    def forms(self):
        for form in FORMS:
            self.sent_again(*form)
            say(f"{form[0]} is still there, and is sent again")
        assert self.stored("note", "title") == LONG and self.stored("fresh", "title") == NAUGHTY[0]
        assert "subtitle" in self.server.command("schema", "export", CONTAINER, "development")["schema"]
        hooks = self.server.command("webhook", "list", CONTAINER, "development")["webhooks"]
        assert [hook["name"] for hook in hooks] == ["slow"], "it was made once"

    def link(self):
        """A link that is typed on somebody's behalf, whom the server forgets when it dies."""
        page, label, link = self.screen, "Link to a share", "https://else.example/share/nowhere"
        page.goto(f"{self.base}/console/sharing?{AT}")
        page.get_by_label("On behalf of").fill(ANN)
        page.get_by_role("button", name="Look").click()
        self.field(label).fill(link)
        self.server.process.kill()
        self.server.process.wait()
        self.send("Join…", "Join")
        page.get_by_role("alert").get_by_text("cannot be reached").first.wait_for()
        assert self.field(label).input_value() == link
        self.server.start()
        self.send("Join…", "Join")
        page.get_by_role("alert").get_by_text("do not act").wait_for()
        assert page.get_by_label("On behalf of").input_value() == ANN
        page.get_by_role("button", name="Look").click()
        self.field(label).wait_for()
        assert self.field(label).input_value() == link
        self.send("Join…", "Join")
        page.get_by_role("alert").get_by_text("NOT_FOUND").wait_for()
        page.get_by_role("button", name="Stop acting as them").click()
        page.get_by_text("Name a person to see").wait_for()
        say("a link to a share is still there, and is sent again")

    def file(self):
        """An import in whose middle the server dies goes on where it stopped."""
        page = self.screen
        saves = []

        def save(route):
            saves.append(route.request)
            if len(saves) == 2:
                self.server.process.kill()
                self.server.process.wait()
            route.continue_()

        page.route("**/console/api/record/save", save)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "many.jsonl")
            with open(path, "w", encoding="utf-8") as lines:
                for number in range(300):
                    lines.write(json.dumps({"recordName": f"many-{number}", "recordType": "Note", "fields": {
                        "title": {"value": str(number)}}}) + "\n")
            page.goto(f"{self.base}/console/data?{AT}&type=Note")
            page.get_by_role("heading", name="Zones").wait_for()
            page.get_by_label("Import", exact=True).set_input_files(path)
            page.get_by_text("import the file again to go on").wait_for()
            self.server.start()
            page.get_by_label("Import", exact=True).set_input_files(path)
            page.get_by_text("200 records are saved, and 100 were read before.").wait_for()
        page.unroute_all(behavior="wait")
        assert len(saves) == 4, len(saves)
        assert all(self.stored(f"many-{number}", "title") == str(number) for number in (0, 99, 100, 199, 200, 299))
        say("an import goes on where it stopped")

    def held(self, path):
        """Holds back what the page asks for by a path from now on."""
        held = []
        self.screen.route(f"**/api/{path}", lambda route: held.append(route))
        return held

    def first(self, held):
        while not held:
            self.screen.wait_for_timeout(50)
        return held[0]

    def typing(self):
        """Keys go where somebody types, however late the schema comes and however long a text gets."""
        page, text = self.screen, "and more of it " * 10
        schema = self.held("schema/export")
        page.goto(f"{self.base}/console/data?{AT}&type=Note&record=fresh")
        page.wait_for_function("() => document.querySelector('record-panel')?.state.record")
        dialog, title = page.get_by_role("dialog"), self.field("title STRING")
        assert dialog.get_by_text("Looking for the record…").count() == 1 and title.count() == 0
        self.first(schema).continue_()
        title.press("End")
        page.keyboard.type(text)
        assert title.input_value() == NAUGHTY[0] + text, title.input_value()
        saves = self.held("record/save")
        dialog.get_by_role("button", name="Save").click()
        dialog.get_by_role("button", name="Delete…", disabled=True).wait_for()
        self.first(saves).continue_()
        self.shown(page, "title", NAUGHTY[0] + text)
        page.unroute_all()
        # A field that the schema has further up by now, and a schema that cannot be had.
        dialog.locator("summary", has_text="Add a field").click()
        dialog.get_by_label("Name of the field").fill("alpha")
        dialog.get_by_role("button", name="Add", exact=True).click()
        self.field("alpha STRING").fill("first")
        for number, ends in enumerate(("continue_", "abort")):
            schema = self.held("schema/export")
            if ends == "continue_":
                dialog.get_by_role("button", name="Save").click()
            else:
                page.evaluate("() => { document.querySelector('data-screen').lookAround(); }")
            self.first(schema)
            title.press("End")
            page.keyboard.type(f"{number}")
            getattr(schema[0], ends)()
            page.wait_for_function("() => ['schema', 'aroundFailure'].some(name => document.querySelector('data-screen')[name])")
            page.keyboard.type(f"{number}")
            page.unroute_all()
        assert title.input_value() == NAUGHTY[0] + text + "0011", title.input_value()
        assert self.field("alpha STRING").input_value() == "first"
        say("keys go where somebody types")

    def around(self):
        """How far an import is stays to be seen where the zones beside cannot be had."""
        page = self.screen
        zones, saves = self.held("zone/list"), self.held("record/save")
        page.goto(f"{self.base}/console/data?{AT}&type=Note")
        page.get_by_label("Import", exact=True).set_input_files({
            "name": "one.jsonl", "mimeType": "application/json",
            "buffer": json.dumps({"recordName": "one", "recordType": "Note", "fields": {"title": {"value": "1"}}}).encode()})
        self.first(saves)
        self.first(zones).abort()
        page.get_by_role("alert").get_by_text("cannot be reached").first.wait_for()
        assert page.get_by_label("Progress").count() == 1
        saves[0].continue_()
        page.get_by_text("1 records are saved").wait_for()
        page.unroute_all()
        say("an import is seen to its end")

    def sent_again(self, name, path, opens, typed, send, answer, done):
        page = self.screen
        page.goto(f"{self.base}/console/{path}")
        # Forms choose among the containers, which come by themselves.
        page.wait_for_function("() => document.querySelector('console-app')?.containers")
        for word in opens:
            page.get_by_role("button", name=word, exact=True).click()
        for label, value in typed.items():
            self.field(label).fill(value)
        page.wait_for_function("() => !document.querySelector('.waiting')")
        self.server.process.kill()
        self.server.process.wait()
        self.send(send, answer)
        page.get_by_role("alert").get_by_text("cannot be reached").first.wait_for()
        for label, value in typed.items():
            assert self.field(label).input_value() == value, f"{name}: {label}"
        # What is said first may be of another request, which the page makes by itself.
        page.locator("main, dialog[open]").last.get_by_role("button", name=send, exact=True, disabled=False).wait_for()
        self.server.start()
        self.send(send, answer)
        if done is None:
            page.get_by_text("is imported").wait_for(state="attached")
        elif done == "Changed":
            self.shown(page, "title", LONG)
        else:
            page.get_by_text(done).or_(page.get_by_label(done)).first.wait_for()

    def send(self, word, answer):
        page = self.screen
        page.locator("main, dialog[open]").last.get_by_role("button", name=word, exact=True).click()
        if answer:
            question = page.locator("confirm-dialog").get_by_role("button", name=answer, exact=True)
            question.or_(page.get_by_role("alert").get_by_text("cannot be reached")).first.wait_for()
            if question.count():
                question.click()


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
        held(Input)
