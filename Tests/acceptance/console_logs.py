"""Requests in the console, one by one: searched, exported and live."""

import json

from console import CONTAINER, PASSWORD, Run, held


class Logs(Run):
    parts = ("requests", "logs")
    looks = 6

    def requests(self):
        """What Ann's app asks for."""
        self.server.command("container", "create", CONTAINER)
        self.server.make_person("ann", PASSWORD)
        self.ask("ann", "development", "zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": "Trips"}}}]})
        for _ in range(3):
            self.ask("ann", "development", "records/query", {"query": {"recordType": "Trip"}})

    def logs(self):
        page = self.signed_in("op@example.org", "/console/logs")
        page.get_by_role("cell", name="records/query").first.wait_for()
        page.get_by_role("button", expanded=False).first.click()
        self.look(page, "logs")
        page.get_by_label("Operation").fill("nothing/here")
        page.get_by_role("button", name="Search").click()
        page.get_by_text("No request is here").wait_for()
        page.get_by_label("Operation").fill("records/query")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("cell", name="records/query").first.wait_for()
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        with open(download.value.path(), encoding="utf-8") as file:
            assert {json.loads(line)["operation"] for line in file} == {"records/query"}
        page.context.close()


if __name__ == "__main__":
    held(Logs)
