"""Charts in the console, held against the requests that were made."""

from console import CONTAINER, PASSWORD, Run, held


class Telemetry(Run):
    parts = ("requests", "telemetry")
    looks = 6

    def requests(self):
        """What Ann's app asks for."""
        self.server.command("container", "create", CONTAINER)
        self.server.make_person("ann", PASSWORD)
        self.ask("ann", "development", "zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": "Trips"}}}]})
        for _ in range(3):
            self.ask("ann", "development", "records/query", {"query": {"recordType": "Trip"}})

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


if __name__ == "__main__":
    held(Telemetry)
