"""The schema in the console: types and indexes, roles, the text with its mistakes, production, history and reset."""

import json
import subprocess
import tempfile

from console import CONTAINER, NAUGHTY, OTHER, Run, held
from server import BINARY

BIG = "iCloud.org.example.Big"
BIG_RECORDS = 20_000
# Each may have an index filled once; a fast machine needs another try.
BIG_FIELDS = "abcd"

WRONG = 'DEFINE SCHEMA\n\n    RECORD TYPE Trip (\n        "___recordID" REFERENCE,\n        title STRONG\n    );\n'


class Schema(Run):
    parts = ("nothing_yet", "types", "filling", "roles", "text", "production", "rights")
    looks = 48

    def open(self, email="op@example.org", view="", environment="development"):
        return self.signed_in(
            email, f"/console/schema?container={CONTAINER}&environment={environment}" + (f"&view={view}" if view else ""))

    def exported(self, environment="development"):
        return " ".join(self.server.command("schema", "export", CONTAINER, environment)["schema"].split())

    def nothing_yet(self):
        self.server.command("container", "create", CONTAINER)
        self.server.command("container", "set", CONTAINER, f"name={NAUGHTY[0]}")
        page = self.signed_in("op@example.org", "/console/schema")
        page.get_by_text("Choose a container.").wait_for()
        self.look(page, "schema-none")
        page.locator(".where select").select_option(CONTAINER)
        page.get_by_role("heading", name="Users").wait_for()
        page.context.close()

    def types(self):
        """Made, changed and removed, by mouse and by keyboard; what is not saved is saved or given up."""
        self.server.save([{"recordName": f"n{number}", "recordType": "Note", "fields": {
            "title": {"value": f"Note {number}"}, "stars": {"value": number, "type": "INT64"}}} for number in range(50)])
        # An index is made when a query first needs it.
        self.server.command("record", "query", CONTAINER, "development", "public", "--type", "Note", "--filter", "stars > 10")
        page = self.open()
        page.get_by_role("link", name="Note").click()
        page.wait_for_url("**type=Note**")
        page.get_by_role("row", name="stars").get_by_text("values: complete, 50 entries").wait_for()
        self.look(page, "schema-types")
        page.get_by_role("checkbox", name="title searchable").uncheck()
        page.get_by_text("Not saved yet").wait_for()
        page.get_by_role("button", name="Give up").click()
        page.get_by_text("Not saved yet").wait_for(state="detached")
        assert page.get_by_role("checkbox", name="title searchable").is_checked()

        page.get_by_label("New field").focus()
        page.keyboard.type("due")
        page.keyboard.press("Tab")
        page.keyboard.press("t")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.get_by_role("row", name="due").wait_for()
        page.get_by_role("checkbox", name="due sortable").focus()
        page.keyboard.press("Space")
        self.look(page, "schema-changed")
        page.get_by_role("button", name="Save…").focus()
        page.keyboard.press("Enter")
        page.get_by_role("dialog").get_by_text("due").wait_for()
        self.look(page, "schema-save")
        page.get_by_role("button", name="Save", exact=True).focus()
        page.keyboard.press("Enter")
        page.get_by_text("Not saved yet").wait_for(state="detached")
        page.get_by_text("The schema is saved.").wait_for(state="attached")
        assert "due TIMESTAMP SORTABLE" in self.exported(), self.exported()

        page.get_by_label("New type").fill("Trip")
        page.get_by_role("button", name="Add type").click()
        page.get_by_role("heading", name="Trip").wait_for()
        page.get_by_role("button", name="Save…").click()
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_text("Not saved yet").wait_for(state="detached")
        assert "RECORD TYPE Trip" in self.exported()
        # What records have stays, and is said.
        page.get_by_role("link", name="Note").click()
        page.get_by_role("button", name="Remove title").click()
        page.get_by_role("button", name="Save…").click()
        page.get_by_role("alert").first.wait_for()
        assert "title" in self.exported()
        page.get_by_role("button", name="Give up").click()
        page.get_by_role("button", name="Remove title").wait_for()
        page.get_by_role("button", name="Remove due").click()
        # The server dies meanwhile: what was changed stays.
        self.server.process.kill()
        self.server.process.wait()
        page.get_by_role("button", name="Save…").click()
        page.get_by_text("The server cannot be reached").first.wait_for()
        self.server.start()
        page.get_by_role("button", name="Save…").click()
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_text("Not saved yet").wait_for(state="detached")
        assert " due " not in self.exported()
        page.context.close()

    def query(self, field):
        return subprocess.Popen(
            [BINARY, "record", "query", BIG, "development", "public", "--type", "Note", "--filter", f"{field} > 10", "--limit", "1",
             "--data", self.server.data], stdout=subprocess.DEVNULL)

    def filling(self):
        """How far an index is that is being filled: the page gets what the server has answered meanwhile."""
        self.server.command("container", "create", BIG)
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            for number in range(BIG_RECORDS):
                file.write(json.dumps({"recordName": f"n{number}", "recordType": "Note", "fields": {
                    field: {"value": number, "type": "INT64"} for field in BIG_FIELDS}}) + "\n")
            file.flush()
            self.server.command("import", BIG, "development", file.name, "--create")
        page = self.signed_in("op@example.org")
        left, queries = list(BIG_FIELDS), []

        def answer(route):
            while left:
                queries.append(self.query(left[0]))
                state = None
                while state is None:
                    response = route.fetch()
                    state = next((index["state"] for index in response.json()["indexes"] if index["field"] == left[0]), None)
                if state == "filling":
                    route.fulfill(response=response)
                    return
                left.pop(0)
            route.abort()

        page.route("**/console/api/schema/indexes", answer)
        page.goto(f"{self.base}/console/schema?container={BIG}&type=Note")
        page.get_by_text("being filled, ").wait_for()
        assert left, "each index was filled before it was looked at"
        self.look(page, "schema-filling")
        for query in queries:
            assert query.wait() == 0
        page.unroute("**/console/api/schema/indexes")
        page.reload()
        page.get_by_role("row").filter(has_text="values: complete, 20,000 entries").first.wait_for()
        assert page.get_by_text("being filled").count() == 0
        page.context.close()

    def roles(self):
        page = self.open(view="roles")
        page.get_by_label("New role").fill("Editor")
        page.keyboard.press("Enter")
        page.get_by_role("checkbox", name="Editor may write Note").focus()
        page.keyboard.press("Space")
        page.get_by_role("checkbox", name="Everybody may read Note").uncheck()
        self.look(page, "schema-roles")
        page.get_by_role("button", name="Save…").click()
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_text("Not saved yet").wait_for(state="detached")
        text = self.exported()
        note = text[text.index("RECORD TYPE Note"):text.index(");", text.index("RECORD TYPE Note"))]
        assert "CREATE ROLE Editor" in text and "GRANT WRITE TO Editor" in note and "_world" not in note, text
        page.get_by_role("button", name="Remove the role Editor").click()
        page.get_by_role("button", name="Save…").click()
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_text("Not saved yet").wait_for(state="detached")
        assert "Editor" not in self.exported()
        page.context.close()

    def text(self):
        page = self.open(view="text")
        area = page.get_by_label("Schema", exact=True)
        area.wait_for()
        page.wait_for_function("document.querySelector('textarea').value.includes('RECORD TYPE Note')")
        before = area.input_value()
        area.fill(WRONG)
        page.get_by_role("button", name="Check").click()
        page.get_by_role("alert").get_by_text("Line 5, column 15").wait_for()
        assert page.evaluate("document.activeElement.selectionStart") == WRONG.index("STRONG")
        assert page.locator(".numbers .bad").text_content().strip() == "5"
        self.look(page, "schema-wrong")
        for text in NAUGHTY:
            area.fill(text)
            page.get_by_role("button", name="Check").click()
            page.get_by_role("alert").get_by_text("Line 1").wait_for()
        assert page.title() != "ran"
        area.fill(before.replace("RECORD TYPE Trip (", "RECORD TYPE Trip (\n        place LOCATION QUERYABLE,"))
        page.get_by_role("button", name="Check").focus()
        page.keyboard.press("Enter")
        page.get_by_role("status").get_by_text("It would change").wait_for()
        self.look(page, "schema-right")
        area.focus()
        page.keyboard.press("Control+s")
        page.get_by_role("button", name="Import", exact=True).click()
        page.get_by_text("The schema is imported.").wait_for(state="attached")
        assert "place" in self.exported()
        with page.expect_download() as download:
            page.get_by_role("button", name="Download").click()
        with open(download.value.path(), encoding="utf-8") as file:
            assert "LOCATION QUERYABLE" in file.read()
        page.locator("input[type=file]").set_input_files(
            {"name": "s.ckdb", "mimeType": "text/plain", "buffer": WRONG.encode()})
        page.get_by_role("alert").get_by_text("Line 5").wait_for()
        page.get_by_role("button", name="Give up changes").click()
        page.get_by_role("alert").wait_for(state="detached")
        page.context.close()

    def production(self):
        page = self.open(view="deploy")
        page.get_by_role("button", name="Deploy to production…").wait_for()
        page.get_by_text("Indexes are made when a query first needs them").wait_for()
        self.look(page, "schema-deploy")
        page.get_by_role("button", name="Deploy to production…").click()
        page.get_by_role("button", name="Cancel").click()
        assert "Trip" not in self.exported("production")
        page.get_by_role("button", name="Deploy to production…").focus()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Deploy", exact=True).click()
        page.get_by_text("Production has all that development has.").wait_for()
        assert "Trip" in self.exported("production")
        page.get_by_role("link", name="History").click()
        page.get_by_role("listitem").get_by_text("+ type Trip").first.wait_for()
        self.look(page, "schema-history")
        page.get_by_role("link", name="To production").click()
        page.get_by_role("button", name="Reset development…").click()
        page.get_by_role("dialog").wait_for()
        self.look(page, "schema-reset")
        page.get_by_role("button", name="Reset", exact=True).click()
        assert page.get_by_role("dialog").is_visible(), "its name has to be typed"
        page.get_by_label(f"Type {CONTAINER} to go on").fill(CONTAINER)
        page.keyboard.press("Enter")
        page.get_by_text("Development is reset.").wait_for(state="attached")
        found = self.server.command("record", "list", CONTAINER, "development", "public")["records"]
        assert found == [], found
        page.get_by_role("button", name="production").click()
        page.get_by_role("link", name="Types").click()
        page.get_by_text("Production takes only").wait_for()
        assert page.get_by_role("checkbox").count() == 0
        self.look(page, "schema-production")
        page.context.close()

    def rights(self):
        """Who only looks has no button that changes; who has another container sees nothing."""
        self.server.command("container", "create", OTHER)
        self.operator("reader", "--read-only")
        self.operator("other", "--container", OTHER)
        page = self.open("reader@example.org")
        page.get_by_role("heading", name="Note").wait_for()
        assert page.get_by_role("checkbox").count() == 0
        for view, there in (("Roles", "What roles may do"), ("Text", "Download"), ("To production", "Also remove")):
            page.get_by_role("link", name=view).click()
            page.get_by_text(there).first.wait_for()
            for name in ("Save", "Add", "Remove", "Import", "Check", "Deploy", "Reset"):
                assert page.get_by_role("button", name=name).count() == 0, (view, name)
        page.context.close()
        page = self.open("other@example.org")
        page.get_by_text("You have no right to this.").first.wait_for()
        assert "Note" not in page.locator("#screen").text_content()
        page.context.close()


if __name__ == "__main__":
    held(Schema)
