"""People in the console: their accounts, roles and devices, why they show old data, and acting as one of them.

Acting as somebody is a state that an operator enters and leaves: while it holds, a line on every screen says so, what is
looked at and changed is the person's, and each look is noted of their account; once it is left, nothing is.
"""

import json
import tempfile
import zipfile

from console import CONTAINER, NAUGHTY, PASSWORD, Run, held
from console_actions import STOP_ACTING

SCHEMA = """DEFINE SCHEMA CREATE ROLE Gardener; CREATE ROLE Mason;
RECORD TYPE Trip ( "___recordID" REFERENCE QUERYABLE, to STRING QUERYABLE SORTABLE,
    GRANT READ TO _world, GRANT CREATE TO _icloud, GRANT WRITE TO _creator );
"""
ANN = "ann@example.org"


class People(Run):
    parts = ("prepare", "list", "roles", "away", "sync", "acting", "over", "leaving", "ending")
    looks = 24

    def prepare(self):
        self.server.command("container", "create", CONTAINER)
        with tempfile.NamedTemporaryFile("w", suffix=".ckdb") as file:
            file.write(SCHEMA)
            file.flush()
            self.server.command("schema", "import", CONTAINER, "development", file.name)
        self.server.make_person("ann", PASSWORD, "--family-name", NAUGHTY[1], "--phone", "+4912345")
        self.ask("ann", "development", "zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": "Trips"}}}]})
        # What nobody has brought to production.
        self.ask("ann", "production", "records/modify", {"operations": [
            {"operationType": "create", "record": {"recordType": "Trip", "fields": {"to": {"value": "Rome"}}}}]})

    def list(self):
        page = self.signed_in("op@example.org", "/console/people")
        page.get_by_role("link", name=ANN).wait_for()
        self.look(page, "people")
        page.get_by_label("begins with").fill("ann")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="op@example.org").wait_for(state="detached")
        page.get_by_label("begins with").fill("zoe")
        page.get_by_role("button", name="Search").click()
        page.get_by_text("Nobody has such an address").wait_for()
        page.get_by_role("button", name="Invite somebody").click()
        page.get_by_label("E-mail address", exact=True).fill("new@example.org")
        page.keyboard.press("Enter")
        page.get_by_label("Invitation link").wait_for()
        self.look(page, "invite")
        page.context.close()

    def apps(self):
        return {app["environment"]: app for app in self.server.command("user", "apps", ANN)["apps"]}

    def roles(self):
        """A role is given by the keyboard and taken by the mouse; a further address is verified."""
        page = self.signed_in("op@example.org", f"/console/people?person={ANN}")
        page.get_by_role("heading", name="Apps").wait_for()
        select = page.get_by_label(f"Role to give in development of {CONTAINER}")
        select.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Take the role Mason in development").wait_for()
        assert self.apps()["development"]["roles"] == ["Mason"]
        self.look(page, "person")
        page.get_by_role("button", name="Take the role Mason in development").click()
        page.get_by_role("button", name="Take", exact=True).click()
        page.get_by_role("button", name="Take the role Mason in development").wait_for(state="detached")
        assert self.apps()["development"]["roles"] == []
        page.get_by_role("button", name="Verify").focus()
        page.keyboard.press("Enter")
        page.get_by_role("main").get_by_text("The address is verified.").wait_for()
        page.get_by_role("button", name="Verify").wait_for(state="detached")
        page.context.close()

    def away(self):
        """Back at a person, one sees what is so by now, even where the screen between has not come; and no question stays open."""
        page = self.signed_in("op@example.org", f"/console/people?person={ANN}")
        give = page.get_by_label(f"Role to give in development of {CONTAINER}")
        give.wait_for()
        held = []
        page.route("**/containers.js", lambda route: held.append(route))
        page.get_by_role("navigation").get_by_role("link", name="Containers").click()
        give.wait_for(state="detached")
        self.server.command("user", "role", "add", ANN, CONTAINER, "development", "Mason")
        page.go_back()
        page.get_by_role("button", name="Take the role Mason in development").wait_for()
        for route in held:
            route.continue_()
        self.server.command("user", "role", "remove", ANN, CONTAINER, "development", "Mason")
        page.get_by_role("link", name="← People").click()
        page.get_by_role("link", name="op@example.org").click()
        page.get_by_role("button", name="Erase…").click()
        question = page.get_by_role("heading", name="Erase this person?")
        question.wait_for()
        page.go_back()
        question.wait_for(state="detached")
        page.get_by_role("heading", name="People", level=1).wait_for()
        page.context.close()

    def sync(self):
        page = self.signed_in("op@example.org", f"/console/people?person={ANN}")
        page.get_by_role("combobox", name="App").select_option(CONTAINER)
        page.get_by_role("heading", name="Devices").wait_for()
        page.get_by_role("button", name="End session").first.wait_for()
        page.get_by_role("button", name="production").click()
        page.get_by_role("listitem").get_by_text("schema").first.wait_for()
        self.look(page, "sync")
        page.context.close()

    def noted(self):
        """What is noted of Ann's account, the oldest first."""
        account = self.server.command("user", "list", "--search", "ann")["users"][0]["accountID"]
        entries = self.server.command("audit", "list", "--limit", "1000")["entries"]
        return [entry["what"] for entry in entries if entry.get("account") == account]

    def told(self, page):
        """Keeps what the page asks for from now on: the command, and on whose behalf."""
        asked = []

        def tell(request):
            if request.method == "POST" and "/console/api/" in request.url and "/session" not in request.url:
                name = request.url.split("/console/api/")[1].replace("/", " ")
                asked.append((name, json.loads(request.post_data or "{}").get("user")))

        page.on("request", tell)
        return asked

    def acting(self):
        """Each action on data as Ann, by what she may, and noted."""
        page = self.signed_in("op@example.org", f"/console/people?person={ANN}&container={CONTAINER}")
        asked = self.told(page)
        before = self.noted()
        page.get_by_role("button", name="Act as them").focus()
        page.keyboard.press("Enter")
        banner = page.get_by_role("region", name="On behalf of somebody")
        banner.get_by_text(ANN).wait_for()
        page.get_by_role("button", name="Trips", exact=True).click()
        page.get_by_text("No record is here yet").wait_for()
        self.look(page, "acting")
        dialog = page.get_by_role("dialog").first
        page.get_by_role("button", name="New record").click()
        dialog.get_by_label("Record type").fill("Trip")
        dialog.get_by_label("Name", exact=True).fill("rome")
        dialog.get_by_label("Name", exact=True).press("Tab")
        dialog.get_by_label("to STRING").fill("Rome")
        page.keyboard.press("Control+s")
        page.get_by_role("button", name="rome", exact=True).click()
        dialog.get_by_label("to STRING").fill("Roma")
        dialog.get_by_role("button", name="Save").click()
        self.shown(page, "to", "Roma")
        dialog.get_by_role("button", name="Close").click()
        record = self.hers("rome")
        name = self.apps()["development"]["userRecordName"]
        assert record["fields"]["to"]["value"] == "Roma" and record["modified"]["userRecordName"] == name, record
        page.get_by_role("button", name="Trip", exact=True).click()
        page.locator("#filter summary").click()
        page.locator("#filter-value").fill("Roma")
        page.get_by_role("button", name="Add", exact=True).click()
        page.wait_for_url("**filters=**")
        page.get_by_role("button", name="rome", exact=True).wait_for()
        page.get_by_role("button", name="Changes", exact=True).click()
        page.get_by_label("Changes").get_by_role("button", name="rome").wait_for()
        page.get_by_role("button", name="Records", exact=True).click()
        page.get_by_role("button", name="rome", exact=True).click()
        dialog.get_by_role("button", name="Delete").click()
        page.get_by_role("button", name="Delete", exact=True).last.click()
        page.get_by_role("button", name="rome", exact=True).wait_for(state="detached")
        wanted = {"zone list", "record list", "record query", "record get", "record changes", "record save",
                  "record delete"}
        of_data = [each for each in asked if each[0].split()[0] in ("record", "zone")]
        assert wanted <= {each for each, _ in of_data}, of_data
        assert all(user == ANN for _, user in of_data), of_data
        noted = self.noted()
        assert wanted <= set(noted[len(before):]), noted
        for screen in ("Containers", "People", "Telemetry", "Logs", "Sharing", "Delivery", "Operations"):
            page.get_by_role("navigation").get_by_role("link", name=screen, exact=True).click()
            page.get_by_role("heading", name=screen, level=1).wait_for()
            assert banner.get_by_text(ANN).count() == 1, screen
        page.reload()
        banner.get_by_text(ANN).wait_for()
        page.context.close()

    def hers(self, name):
        return self.server.command("record", "get", CONTAINER, "development", "private", name, "--user", ANN,
                                   "--zone", "Trips")["records"][0]

    def over(self):
        """When the server has ended it, the page says so by itself once its time is over."""
        page = self.signed_in("op@example.org")
        page.clock.install()
        page.goto(f"{self.base}/console/people?person={ANN}&container={CONTAINER}")
        page.get_by_role("button", name="Act as them").click()
        banner = page.get_by_role("region", name="On behalf of somebody")
        banner.get_by_text(ANN).wait_for()
        page.get_by_role("button", name="Trips", exact=True).wait_for()
        # While it goes on, the page asks in vain.
        page.clock.fast_forward(11 * 60_000)
        assert banner.count() == 1
        assert page.evaluate(STOP_ACTING)
        asked = self.told(page)
        page.clock.fast_forward(11 * 60_000)
        banner.wait_for(state="detached")
        page.get_by_text("Say whose records to look at.").wait_for()
        assert not [name for name, _ in asked if name.startswith("record")], asked
        assert page.errors == [], page.errors
        page.context.close()

    def leaving(self):
        """Once it is left, by mouse, by keyboard or with the session, nothing is asked on her behalf any more."""
        address = f"/console/people?person={ANN}&container={CONTAINER}"
        page = self.signed_in("op@example.org", address)
        banner = page.get_by_role("region", name="On behalf of somebody")
        stop = page.get_by_role("button", name="Stop acting as them")
        for leave in (stop.click, lambda: (stop.focus(), page.keyboard.press("Enter"))):
            page.goto(self.base + address)
            page.get_by_role("button", name="Act as them").click()
            page.get_by_role("button", name="Trips", exact=True).wait_for()
            leave()
            banner.wait_for(state="detached")
            asked = self.told(page)
            before = self.noted()
            page.get_by_text("No record is here yet").wait_for()
            page.get_by_role("button", name="Private", exact=True).click()
            page.get_by_text("Say whose records to look at").wait_for()
            for screen in ("People", "Data"):
                page.get_by_role("navigation").get_by_role("link", name=screen, exact=True).click()
                page.get_by_role("heading", name=screen, level=1).wait_for()
            page.get_by_text("No record is here yet").wait_for()
            assert "as=" not in page.url and banner.count() == 0, page.url
            assert asked and all(user is None for _, user in asked), asked
            assert self.noted() == before, "nothing more is noted of her"
        page.goto(self.base + address)
        page.get_by_role("button", name="Act as them").click()
        banner.wait_for()
        page.locator(".who summary").click()
        page.get_by_role("button", name="Sign out").click()
        page.get_by_role("heading", name="Sign in to the console").wait_for()
        assert "as=" not in page.url, page.url
        page.context.close()

    def ending(self):
        """Her sessions, all that is kept of her, and her account."""
        page = self.signed_in("op@example.org", f"/console/people?person={ANN}&container={CONTAINER}")
        page.get_by_role("button", name="End session").first.click()
        page.get_by_role("heading", name="Signed in").wait_for(state="detached")
        assert self.server.command("web-token", "list", CONTAINER, "development", ANN)["webTokens"] == []
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        with zipfile.ZipFile(download.value.path()) as archive:
            assert "account.json" in archive.namelist()
        page.get_by_role("button", name="Erase").focus()
        page.keyboard.press("Enter")
        page.get_by_label(f"Type {ANN} to go on").fill(ANN)
        page.get_by_role("button", name="Erase", exact=True).click()
        page.get_by_role("heading", name="People").wait_for()
        assert ANN not in self.server.command("user", "list")["email"]
        assert page.errors == [], page.errors
        page.context.close()


if __name__ == "__main__":
    held(People)
