"""Charts in the console, held against the requests that were made: zoomed, beside the time before, with what happened
meanwhile, told apart, and from an error to its lines."""

import os
import tempfile
import time

from console import CONTAINER, PASSWORD, Run, held

SCHEMA = 'DEFINE SCHEMA RECORD TYPE Trip ( "___recordID" REFERENCE QUERYABLE, to STRING );'
COUNTED_SECONDS = 300
MARKS = ("schema changed", "server started", "backup")


class Telemetry(Run):
    parts = ("requests", "charts", "zoom", "missing")
    looks = 6

    def requests(self):
        """What Ann's app asks for, and a schema that changes meanwhile."""
        self.server.command("container", "create", CONTAINER)
        self.server.make_person("ann", PASSWORD)
        self.ask("ann", "development", "zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": "Trips"}}}]})
        for _ in range(3):
            self.ask("ann", "development", "records/query", {"query": {"recordType": "Trip"}})
        with tempfile.NamedTemporaryFile("w", suffix=".ckdb") as file:
            file.write(SCHEMA)
            file.flush()
            self.server.command("schema", "import", CONTAINER, "development", file.name)
        self.server.command("server", "backup")

    def counted(self, page, wanted):
        """What was asked is counted minute by minute: looks again until so many requests, and all marks, are shown."""
        until = time.monotonic() + COUNTED_SECONDS
        while True:
            page.wait_for_function("() => document.querySelector('telemetry-screen')?.before")
            told, marks = page.evaluate("""() => {
              const {told, marks} = document.querySelector('telemetry-screen');
              return [told, marks.map(({words}) => words)];
            }""")
            if told and told["total"]["requests"] >= wanted and all(
                    any(mark in words for words in marks) for mark in MARKS):
                return told
            assert time.monotonic() < until, (told, marks)
            page.wait_for_timeout(1000)
            page.get_by_role("button", name="Look again").click()

    def charts(self):
        """Totals are the requests that were made, the points add up to them, and so do the groups."""
        page = self.signed_in("op@example.org", f"/console/telemetry?container={CONTAINER}&hours=1")
        told = self.counted(page, 4)
        total = told["total"]["requests"]
        assert total == 4 and told["total"]["errors"] == 3, told["total"]
        assert sum(point["requests"] for point in told["points"]) == total
        assert page.locator(".about dd").first.inner_text().startswith(f"{total:,} "), page.locator(".about").inner_text()
        before = page.evaluate("document.querySelector('telemetry-screen').before")
        assert before["to"] <= told["from"] and before["total"]["requests"] == 0, (before["to"], told["from"])
        for mark in MARKS:
            page.get_by_label("What happened meanwhile").get_by_text(mark).first.wait_for()
        self.look(page, "telemetry")
        row = page.get_by_role("row", name="records/query")
        row.get_by_role("cell", name="3", exact=True).first.wait_for()
        for group in ("Client", "Version", "Database"):
            page.get_by_role("button", name=group, exact=True).click()
            page.wait_for_url(f"**group={group.lower()}s**")
        page.get_by_role("row", name="private").get_by_role("cell", name="4", exact=True).wait_for()
        page.get_by_role("button", name="Error", exact=True).focus()
        page.keyboard.press("Enter")
        page.get_by_role("link", name="NOT_FOUND").click()
        page.wait_for_url("**/logs?**error=NOT_FOUND**")
        page.get_by_role("cell", name="records/query").first.wait_for()
        assert page.locator("logs-screen tbody tr").count() == 3
        page.go_back()
        # The logs have a field of that name, too.
        page.locator("telemetry-screen .chart canvas").first.wait_for()
        page.get_by_role("textbox", name="Operation").fill("records/query")
        page.get_by_role("button", name="Show").click()
        page.wait_for_url("**operation=records%2Fquery**")
        page.locator(".chart canvas").nth(3).wait_for()
        page.get_by_role("link", name="The requests themselves").click()
        page.get_by_role("cell", name="records/query").first.wait_for()
        assert page.errors == [], page.errors
        page.context.close()

    def missing(self):
        """What could not be had of what happened meanwhile is said, and hides no chart."""
        page = self.signed_in("op@example.org", f"/console/telemetry?container={CONTAINER}&hours=24")
        marked = page.get_by_label("What happened meanwhile")
        marked.get_by_text("schema changed").wait_for()
        page.route("**/console/api/schema/history", lambda route: route.abort())
        page.get_by_role("button", name="Look again").click()
        page.get_by_role("alert").get_by_text("cannot be reached").wait_for()
        marked.get_by_text("server started").wait_for()
        assert marked.get_by_text("schema changed").count() == 0
        page.locator(".chart canvas").first.wait_for()
        page.unroute("**/console/api/schema/history")
        page.get_by_role("button", name="Try again").click()
        marked.get_by_text("schema changed").wait_for()
        assert page.get_by_role("alert").count() == 0 and page.errors == [], page.errors
        page.context.close()

    def zoom(self):
        """By dragging over a chart and by the keyboard; the address has what is shown."""
        page = self.signed_in("op@example.org", f"/console/telemetry?container={CONTAINER}&hours=24")
        over = page.locator(".chart .u-over").first
        # The charts are drawn anew when the time before has come.
        page.wait_for_function("() => document.querySelector('telemetry-screen')?.before")
        page.wait_for_function("() => getComputedStyle(document.querySelector('.chart .u-over')).position === 'absolute'")
        over.scroll_into_view_if_needed()
        box = over.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 40)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 40, steps=5)
        page.mouse.up()
        page.wait_for_url("**hours=6&until=**")
        page.wait_for_function("() => document.querySelector('telemetry-screen')?.told")
        told = page.evaluate("document.querySelector('telemetry-screen').told")
        assert told["to"] - told["from"] == 6 * 3_600_000, told
        page.get_by_role("button", name="Earlier").focus()
        page.keyboard.press("Enter")
        page.wait_for_function("from => document.querySelector('telemetry-screen').told?.from < from", arg=told["from"])
        page.get_by_role("button", name="Zoom in").click()
        page.wait_for_url("**hours=3&until=**")
        page.go_back()
        page.wait_for_url("**hours=6&until=**")
        page.get_by_role("button", name="Day", exact=True).click()
        page.wait_for_url("**hours=24")
        assert page.errors == [], page.errors
        page.context.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LENTICULAR_BACKUPS_TO"] = os.path.join(folder, "backups")
        held(Telemetry)
