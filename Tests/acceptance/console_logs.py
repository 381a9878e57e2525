"""Requests in the console, one by one: searched, kept, exported and live; and from a line to the person's sync."""

import json
import time

from console import CONTAINER, PASSWORD, Run, held


class Logs(Run):
    parts = ("requests", "searches", "columns", "live", "windows", "people")
    looks = 12

    def requests(self):
        """What Ann's app asks for."""
        self.server.command("container", "create", CONTAINER)
        self.server.make_person("ann", PASSWORD)
        self.ask("ann", "development", "zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": "Trips"}}}]})
        for _ in range(3):
            self.ask("ann", "development", "records/query", {"query": {"recordType": "Trip"}})

    def searches(self):
        page = self.signed_in("op@example.org", "/console/logs")
        page.get_by_role("cell", name="records/query").first.wait_for()
        page.get_by_role("textbox", name="Operation").fill("nothing/here")
        page.get_by_role("button", name="Search").click()
        page.get_by_text("No request is here").wait_for()
        self.look(page, "logs-none")
        page.get_by_role("textbox", name="Operation").fill("records/query")
        page.keyboard.press("Enter")
        page.get_by_role("cell", name="records/query").first.wait_for()
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        with open(download.value.path(), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        assert len(lines) == 3 and {line["operation"] for line in lines} == {"records/query"}, lines
        page.locator("summary", has_text="Keep").focus()
        page.keyboard.press("Enter")
        page.get_by_label("Name of this search").fill("Queries")
        page.keyboard.press("Enter")
        page.get_by_role("textbox", name="Operation").fill("")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("cell", name="zones/modify").first.wait_for()
        page.get_by_label("Saved").select_option("Queries")
        page.get_by_role("cell", name="zones/modify").first.wait_for(state="detached")
        assert "operation=records%2Fquery" in page.url, page.url
        page.reload()
        page.locator("summary", has_text="Keep").click()
        page.get_by_role("button", name="Forget Queries").click()
        page.get_by_label("Saved").wait_for(state="detached")
        page.context.close()

    def columns(self):
        page = self.signed_in("op@example.org", "/console/logs")
        page.get_by_role("cell", name="records/query").first.wait_for()
        page.locator("summary", has_text="Columns").click()
        page.get_by_role("checkbox", name="Zones").check()
        page.get_by_role("columnheader", name="Zones").wait_for()
        page.get_by_role("checkbox", name="App").uncheck()
        page.get_by_role("columnheader", name="App").wait_for(state="detached")
        page.reload()
        page.get_by_role("columnheader", name="Zones").wait_for()
        page.get_by_role("button", expanded=False).first.focus()
        page.keyboard.press("Enter")
        page.get_by_text("waitingMicroseconds").wait_for()
        self.look(page, "logs")
        page.context.close()

    def live(self):
        """What comes while one looks is there without being asked for again."""
        page = self.signed_in("op@example.org", "/console/logs")
        page.get_by_role("cell", name="records/query").first.wait_for()
        asked = []
        page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/api/logs") else None)
        page.get_by_role("button", name="Go live").click()
        page.get_by_role("button", name="Live", exact=True).wait_for()
        for name in ("one", "two"):
            self.ask("ann", "development", "records/lookup", {"records": [{"recordName": name}]})
            lines = 1 if name == "one" else 2
            page.wait_for_function("""lines => [...document.querySelectorAll('logs-screen td')].filter(
              cell => cell.textContent.trim() === 'records/lookup').length === lines""", arg=lines)
        assert len(asked) == 1, asked
        # Another search begins anew.
        page.get_by_role("textbox", name="Operation").fill("zones/modify")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("cell", name="zones/modify").first.wait_for()
        operations = page.evaluate("[...new Set(document.querySelector('logs-screen').entries.map(({operation}) => operation))]")
        assert operations == ["zones/modify"], operations
        page.get_by_role("button", name="Live", exact=True).focus()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Go live").wait_for()
        page.context.close()

    def windows(self):
        """From then and up to then, in the address."""
        now = int(time.time() * 1000)
        page = self.signed_in("op@example.org", f"/console/logs?since={now + 3_600_000}")
        page.get_by_text("No request is here").wait_for()
        page.goto(f"{self.base}/console/logs?until={now - 3_600_000}")
        page.get_by_text("No request is here").wait_for()
        page.get_by_label("Until").fill("")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("cell", name="records/query").first.wait_for()
        assert "until=" not in page.url
        page.context.close()

    def people(self):
        page = self.signed_in("op@example.org", f"/console/logs?container={CONTAINER}&operation=records%2Fquery")
        page.get_by_role("button", expanded=False).first.click()
        page.get_by_role("link", name="This user's sync").click()
        page.wait_for_url("**person=ann%40example.org**")
        page.get_by_role("heading", name="Devices").wait_for()
        assert page.errors == [], page.errors
        page.context.close()


if __name__ == "__main__":
    held(Logs)
