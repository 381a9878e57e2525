"""People in the console: their accounts, their devices, why they show old data, and their data on their behalf."""

from console import CONTAINER, PASSWORD, Run, held


class People(Run):
    parts = ("people",)
    looks = 18

    def people(self):
        """Somebody's account, their devices, and their data on their behalf."""
        self.server.command("container", "create", CONTAINER)
        self.server.make_person("ann", PASSWORD)
        self.ask("ann", "development", "zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": "Trips"}}}]})
        # What nobody has brought to production.
        self.ask("ann", "production", "records/modify", {"operations": [
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


if __name__ == "__main__":
    held(People)
