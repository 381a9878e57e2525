"""The overview, and operations, in the console: what needs attention, backups, checks, settings, alerts and the audit log.

A server that makes backups loses somebody's record, which is taken out of a backup again; what a webhook has refused, and
an alert that was told of, come first on the overview. Who only looks sees no button that changes anything, and who has
another container neither the server nor what is not theirs.
"""

import os
import stat
import tempfile
import time

from console import CONTAINER, NAUGHTY, OTHER, PASSWORD, Run, held
from listener import Handler, Listener

WHERE = (CONTAINER, "development")


class Receiver(Handler):
    def do_POST(self):
        self.body()
        self.answer(b"", 410)


class Operations(Run):
    parts = ("empty", "prepare", "backups", "checks", "indexes", "settings", "alerts", "audit", "about", "overview", "states", "rights")
    looks = 50

    def until(self, holds):
        end = time.monotonic() + 300
        while not holds():
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.1)

    def kept(self):
        return self.server.command("server", "show").get("backups", {}).get("kept", [])

    def empty(self):
        """The first page after signing in, of a server that holds nothing."""
        page = self.op("/console/")
        page.get_by_role("heading", name="Overview").wait_for()
        page.get_by_text("No container is here yet").wait_for()
        page.get_by_role("heading", name="Server", exact=True).wait_for()
        self.look(page, "overview-empty")
        page.get_by_role("link", name="New container").first.click()
        page.get_by_role("heading", name="New container").wait_for()

    def op(self, path):
        """The first operator's page, who signs in once: further codes are few."""
        if not hasattr(self, "operator_page"):
            self.operator_page = self.signed_in("op@example.org", path)
        else:
            self.operator_page.goto(self.base + path)
        return self.operator_page

    def prepare(self):
        for name in (CONTAINER, OTHER):
            self.server.command("container", "create", name)
        self.server.make_person("ann", PASSWORD)
        self.server.save([{"recordName": "n", "recordType": "Note", "fields": {"title": {"value": "Hello"}}}])
        self.change("create", {"recordName": "trip", "recordType": "Trip", "fields": {"to": {"value": "Rome"}}})
        self.until(lambda: self.kept())

    def change(self, kind, record):
        self.ask("ann", "development", "records/modify", {"operations": [{"operationType": kind, "record": record}]})

    def anns(self):
        return self.server.command("record", "list", *WHERE, "private", "--user", "ann@example.org")["records"]

    def backups(self):
        """One now; then somebody's record out of it."""
        before = len(self.kept())
        assert len(self.anns()) == 1
        page = self.op("/console/operations")
        page.get_by_role("button", name="Back up now").click()
        page.get_by_text(f"{before + 1} backups kept").wait_for()
        page.get_by_role("button", name="Back up now").focus()
        page.keyboard.press("Enter")
        page.get_by_text(f"{before + 2} backups kept").wait_for()
        assert len(self.kept()) == before + 2
        self.change("forceDelete", {"recordName": "trip"})
        assert self.anns() == []
        self.look(page, "backups")
        page.get_by_label("E-mail address").fill("ann@example.org")
        page.get_by_label("Container", exact=True).select_option(CONTAINER)
        page.get_by_role("button", name="Show what would come back").click()
        page.get_by_role("button", name="Bring them back").wait_for()
        self.look(page, "restore")
        page.get_by_role("button", name="Bring them back").click()
        page.get_by_role("button", name="Cancel").click()
        assert self.anns() == []
        page.get_by_role("button", name="Bring them back").focus()
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Bring the records back?").wait_for()
        page.get_by_role("button", name="Bring back", exact=True).press("Enter")
        page.get_by_role("heading", name="Done for ann@example.org").wait_for()
        assert [record["recordName"] for record in self.anns()] == ["trip"]
        page.get_by_label("E-mail address").fill("nobody@example.org")
        page.get_by_role("button", name="Show what would come back").press("Enter")
        page.get_by_role("alert").first.wait_for()

    def checks(self):
        page = self.op("/console/operations?view=checks")
        page.get_by_role("rowheader", name="disk").first.wait_for()
        page.get_by_role("button", name="Check everything").click()
        page.get_by_text("No problems.").wait_for()
        page.get_by_role("button", name="Check everything").focus()
        page.keyboard.press("Enter")
        page.get_by_text("No problems.").wait_for()
        page.get_by_label("E-mail address").fill("ann@example.org")
        page.get_by_role("button", name="Send").click()
        page.get_by_text("is handed on").first.wait_for()
        with open(os.environ["LETTER"], encoding="utf-8") as letter:
            assert "Subject: Test letter" in letter.read()
        page.get_by_label("E-mail address").fill("ann@example.org")
        page.keyboard.press("Enter")
        page.get_by_text("is handed on").first.wait_for()
        self.look(page, "checks")

    def indexes(self):
        """Which indexes are being filled, and how far they are, until none is; a container that cannot be asked is said."""
        page = self.op("/console/containers")
        index = {"type": "Note", "field": "title", "kind": "queryable", "state": "filling", "percent": 40}
        bodies = [{"indexes": [index]}]

        def answer(route):
            if CONTAINER in route.request.post_data and "development" in route.request.post_data:
                route.fulfill(json=bodies[0])
            else:
                route.continue_()

        page.route("**/console/api/schema/indexes", answer)
        page.goto(f"{self.base}/console/operations")
        page.get_by_role("link", name="Index work").press("Enter")
        page.get_by_role("row", name=CONTAINER).get_by_text("being filled, 40 %").wait_for()
        self.look(page, "operations-indexes")
        bodies[0] = {"indexes": [{**index, "percent": 90}]}
        page.get_by_text("being filled, 90 %").wait_for()
        bodies[0] = {"indexes": []}
        page.get_by_text("No index is being filled").wait_for()
        page.route("**/console/api/schema/indexes", lambda route: route.fulfill(
            status=503, json={"error": "UNAVAILABLE", "reason": "too much at a time"}))
        page.get_by_role("button", name="Look again").click()
        page.get_by_role("alert").get_by_text(f"{CONTAINER}: too much").wait_for()
        page.unroute("**/console/api/schema/indexes")
        page.get_by_role("button", name="Look again").press("Enter")
        page.get_by_role("alert").wait_for(state="detached")
        page.get_by_text("No index is being filled").wait_for()
        sizes = self.server.command("size", CONTAINER)["environments"]
        assert [size["environment"] for size in sizes] == ["development"], "looking begins no environment"

    def settings(self):
        page = self.op("/console/operations?view=settings")
        page.get_by_role("rowheader", name="http.bodyBytesMax").wait_for()
        page.get_by_label("Setting", exact=True).fill("BACKUPS.TO")
        page.keyboard.press("Enter")
        page.get_by_text("1 setting", exact=True).wait_for()
        page.get_by_role("cell", name="LENTICULAR_BACKUPS_TO").wait_for()
        page.get_by_label("Setting", exact=True).fill("")
        page.get_by_role("button", name="Search").click()
        page.get_by_label("Only those that somebody has set").press("Space")
        page.get_by_role("rowheader", name="http.bodyBytesMax").wait_for(state="detached")
        page.get_by_role("rowheader", name="metrics.bearerToken").wait_for()
        assert "verysecret" not in page.content(), "no secret is shown"
        self.look(page, "settings")
        page.goto(f"{self.base}/console/operations?view=settings&search=none-is-so")
        page.get_by_text("No setting is so.").wait_for()

    def alerts(self):
        page = self.op("/console/operations?view=alerts")
        page.get_by_text("Nobody is told of anything yet.").wait_for()
        page.get_by_role("button", name="Add an alert").click()
        page.get_by_label("Name", exact=True).fill("errors")
        page.get_by_label("What is counted").select_option("errors")
        page.get_by_label("Threshold").fill("5")
        page.get_by_label("Operation", exact=True).fill(NAUGHTY[0])
        self.look(page, "alert-new")
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_role("alert").get_by_text("mail").wait_for()
        page.get_by_label("E-mail address").fill("op@example.org")
        page.keyboard.press("Enter")
        page.get_by_role("rowheader", name="errors").wait_for()
        page.get_by_role("cell", name=NAUGHTY[0]).wait_for()
        page.get_by_role("button", name="Test errors").click()
        page.get_by_text("Told:").first.wait_for()
        page.get_by_role("button", name="Test errors").press("Enter")
        page.get_by_text("Told:").first.wait_for()
        self.look(page, "alerts")
        page.locator("button[aria-label='Remove errors']:enabled").press("Enter")
        page.get_by_role("button", name="Remove", exact=True).click()
        page.get_by_text("Nobody is told of anything yet.").wait_for()
        assert page.title() != "ran" and page.errors == [], page.errors

    def audit(self):
        page = self.op("/console/operations?view=audit")
        page.get_by_role("cell", name="alert remove").wait_for()
        moments = [each.get_attribute("datetime") for each in page.locator("tbody time").all()]
        assert moments == sorted(moments, reverse=True), "the latest is not the first"
        self.look(page, "audit")
        page.get_by_label("Begins with").fill("server backup")
        page.keyboard.press("Enter")
        page.get_by_role("cell", name="alert remove").wait_for(state="detached")
        page.get_by_text("2 entries").wait_for()
        account = self.server.command("user", "list", "--search", "ann@example.org")["users"][0]["accountID"]
        page.get_by_label("Begins with").fill(account)
        page.get_by_role("button", name="Search").click()
        page.get_by_role("cell", name="user restore").first.wait_for()
        page.get_by_role("cell", name="server backup").first.wait_for(state="detached")
        whose = page.locator("tbody td:nth-child(4)").all_text_contents()
        assert whose and {text.strip() for text in whose} == {account}, whose
        page.get_by_label("Begins with").fill("none is so")
        page.get_by_role("button", name="Search").click()
        page.get_by_text("Nothing is noted.").wait_for()

    def about(self):
        page = self.op("/console/operations?view=about")
        page.get_by_text(self.server.command("server", "show")["version"], exact=True).first.wait_for()
        for name in ("lit", "uPlot", "SQLite", "OpenSSL", "zlib"):
            page.get_by_role("link", name=f"Licence of {name}:").wait_for()
        self.look(page, "about")

    def overview(self):
        """What a webhook has refused comes first, with a way to it; then what each container holds."""
        with Listener(Receiver) as receiver:
            self.server.command(
                "webhook", "add", *WHERE, f"http://127.0.0.1:{receiver.server_address[1]}/in", "--name", "hook")
            self.server.save([{"recordName": "m", "recordType": "Note", "fields": {"title": {"value": NAUGHTY[0]}}}])
            self.until(lambda: self.server.command("webhook", "list", *WHERE)["webhooks"][0]["givenUp"] > 0)
        page = self.op("/console/")
        page.get_by_role("link", name=CONTAINER).first.wait_for()
        page.get_by_text("Looking at disk").wait_for(state="detached")
        page.get_by_role("listitem").get_by_text("given up").wait_for()
        page.get_by_role("rowheader", name=CONTAINER).wait_for()
        self.look(page, "overview")
        page.get_by_role("button", name="Look again").press("Enter")
        page.get_by_role("listitem").get_by_role("link", name="Webhooks").click()
        page.get_by_role("heading", name="Given up for hook").wait_for()
        page.go_back()
        page.get_by_role("heading", name="Overview").wait_for()
        self.many()
        page.get_by_role("link", name="All containers").press("Enter")
        page.get_by_role("heading", name="Containers").wait_for()

    def many(self):
        """What is beyond the first twenty containers is measured when it is asked for."""
        # Before both by their names.
        for index in range(43):
            self.server.command("container", "create", f"iCloud.org.example.A{index}")
        page = self.op("/console/")
        more = page.get_by_role("button", name="Measure more")
        page.get_by_text("45 containers, of which 20 are measured").wait_for()
        more.click()
        page.get_by_text("45 containers, of which 40 are measured").wait_for()
        assert page.get_by_role("rowheader", name=CONTAINER).count() == 0
        more.press("Enter")
        page.get_by_role("rowheader", name=CONTAINER).first.wait_for()
        assert more.count() == 0

    def states(self):
        """A part that cannot be had is said, and tried again."""
        page = self.op("/console/containers")
        asked = []
        page.route("**/console/api/server/show", lambda route: asked.append(route))
        page.goto(f"{self.base}/console/operations")
        page.get_by_text("Looking at the backups…").wait_for()
        self.until(lambda: page.wait_for_timeout(50) or asked)
        asked[0].abort()
        page.unroute("**/console/api/server/show")
        page.get_by_role("alert").get_by_text("cannot be reached").first.wait_for()
        page.get_by_role("button", name="Try again").click()
        page.get_by_role("button", name="Back up now").wait_for()
        page.get_by_role("alert").wait_for(state="detached")

    def rights(self):
        self.operator("reader", "--read-only")
        self.operator("other", "--container", OTHER)
        page = self.signed_in("reader@example.org", "/console/operations")
        page.locator("summary", has_text="kept").wait_for()
        for view, shown, missing in (
                ("", "One person’s data", "Back up now"), ("checks", "Check everything", "Send"),
                ("alerts", "Alerts", "Add an alert"), ("settings", "Settings", "Change"), ("audit", "Audit", "Remove")):
            page.goto(f"{self.base}/console/operations?view={view}")
            page.get_by_text(shown).first.wait_for()
            assert page.get_by_role("button", name=missing, exact=True).count() == 0, missing
        page.context.close()
        page = self.signed_in("other@example.org")
        page.get_by_text("Nothing.").wait_for()
        assert page.get_by_role("link", name="Operations").count() == 0
        assert CONTAINER not in page.content() and page.get_by_role("heading", name="Server", exact=True).count() == 0
        page.goto(f"{self.base}/console/operations")
        page.get_by_text("You have no right to this.").first.wait_for()
        self.look(page, "overview-no-right")
        page.context.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "send")
        os.environ["LETTER"] = os.path.join(folder, "letter")
        with open(program, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\ncat > '{os.environ['LETTER']}'\n")
        os.chmod(program, stat.S_IRWXU)
        os.environ |= {
            "LENTICULAR_BACKUPS_TO": os.path.join(folder, "backups"), "LENTICULAR_MAIL_SENDER": "program",
            "LENTICULAR_MAIL_PROGRAM": program, "LENTICULAR_MAIL_FROM": "server@example.org",
            "LENTICULAR_METRICS_BEARER_TOKEN": "verysecretbearertoken",
            "LENTICULAR_OUTGOING_ALLOWED_NETWORKS": "127.0.0.1"}
        held(Operations)
