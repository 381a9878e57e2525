"""Actions of several screens of the console, each once by mouse and once by keyboard, which have the same effect."""

from console import CONTAINER, NAUGHTY, PASSWORD, Run, held

WHERE = f"container={CONTAINER}"


class Hands(Run):
    parts = ("prepare", "schema", "roles", "telemetry", "tokens", "people")
    looks = 0

    def prepare(self):
        self.server.command("container", "create", CONTAINER)
        self.server.make_person("ann", PASSWORD)
        self.server.save([{"recordName": "n", "recordType": "Note", "fields": {"title": {"value": NAUGHTY[0]}}}])
        self.ask("ann", "development", "records/query", {"query": {"recordType": "Note"}})
        self.screen = self.signed_in("op@example.org", "/console/containers")

    def by_both(self, name, act):
        """Does an action twice, by a click and by Enter; `act` gets what does it, given a button."""
        act(lambda: self.screen.get_by_role("button", name=name, exact=True).click())
        act(lambda: self.screen.get_by_role("button", name=name, exact=True).press("Enter"))

    def opened(self, path):
        self.screen.goto(f"{self.base}/console/{path}")
        return self.screen

    def schema(self):
        page = self.opened(f"schema?{WHERE}&type=Note")

        def add_type(press):
            page.get_by_label("New type").fill("Place")
            press()
            page.get_by_role("heading", name="Place").wait_for()
            page.get_by_role("button", name="Give up", exact=True).press("Enter")
            page.get_by_text("Not saved yet").wait_for(state="detached")

        def add_field(press):
            page.get_by_label("New field").fill("subtitle")
            press()
            page.get_by_role("rowheader", name="subtitle").wait_for()
            page.get_by_role("button", name="Give up", exact=True).click()
            page.get_by_role("rowheader", name="subtitle").wait_for(state="detached")

        def remove_type(press):
            page.get_by_role("heading", name="Note", exact=True).wait_for()
            press()
            page.get_by_role("link", name="Note").wait_for(state="detached")
            page.get_by_role("button", name="Give up", exact=True).click()
            page.get_by_role("link", name="Note").wait_for()

        self.by_both("Add field", add_field)
        self.by_both("Remove type", remove_type)
        self.by_both("Add type", add_type)

    def roles(self):
        page = self.opened(f"schema?{WHERE}&view=roles")

        def add_role(press):
            page.get_by_label("New role").fill("Editors")
            press()
            remove = page.get_by_role("button", name="Remove the role Editors")
            remove.wait_for()
            remove.press("Enter")
            remove.wait_for(state="detached")

        self.by_both("Add role", add_role)

    def telemetry(self):
        page = self.opened(f"telemetry?{WHERE}&hours=24")
        for name, hours in (("Earlier", "24"), ("Zoom out", "48"), ("Zoom in", "12")):
            def move(press, hours=hours):
                page.goto(f"{self.base}/console/telemetry?{WHERE}&hours=24")
                page.get_by_role("button", name="Zoom out").wait_for()
                before = page.url
                press()
                page.wait_for_function("before => location.href !== before", arg=before)
                assert f"hours={hours}" in page.url, page.url
            self.by_both(name, move)

    def tokens(self):
        page = self.opened(f"start?{WHERE}")

        def another(press):
            page.get_by_role("button", name="Make a token").click()
            page.get_by_role("heading", name="Your token").wait_for()
            press()
            page.get_by_role("heading", name="Your token").wait_for(state="detached")
            page.get_by_role("button", name="Make a token").wait_for()

        self.by_both("Another token", another)

    def people(self):
        page = self.opened(f"people?{WHERE}&person=ann@example.org")

        def end_all(press):
            for _ in range(2):
                self.server.command("web-token", "create", CONTAINER, "development", "ann@example.org")
            page.get_by_role("button", name="Look again").click()
            page.get_by_role("button", name="End all").wait_for()
            press()
            page.get_by_role("button", name="End all").wait_for(state="detached")
            page.get_by_text("All sessions are ended.").wait_for(state="attached")

        self.by_both("End all", end_all)


if __name__ == "__main__":
    held(Hands)
