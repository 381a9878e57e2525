"""Sharing in the console: what somebody shares and has joined, on their behalf, with people, links and requests."""

import json
import re
import urllib.parse
import urllib.request

from console import CONTAINER, NAUGHTY, OTHER, PASSWORD, Run, held


class Sharing(Run):
    parts = ("nothing_yet", "share_a_record", "join", "one_time", "requests", "a_zone", "naughty", "rights")
    looks = 36

    def open(self, user="ann@example.org", email="op@example.org"):
        page = self.signed_in(email, f"/console/sharing?container={CONTAINER}")
        if user:
            page.get_by_label("On behalf of").fill(user)
            page.get_by_role("button", name="Look").click()
        return page

    def shares(self, name):
        return self.server.command("share", "list", CONTAINER, "development", f"{name}@example.org")["shares"]

    def share(self, zone, share, *records):
        """Makes a share as Ann's app does, with its root in one request."""
        self.ask("ann", "development", "records/modify", {"zoneID": {"zoneName": zone}, "operations": [
            {"operationType": "create", "record": record} for record in (*records, {"recordType": "cloudkit.share", **share})]})

    def nothing_yet(self):
        self.server.command("container", "create", CONTAINER)
        for name in ("ann", "bob", "cy"):
            self.server.make_person(name, PASSWORD)
        page = self.open(user="")
        page.get_by_text("Name a person to see").wait_for()
        self.look(page, "sharing-whose")
        page.get_by_label("On behalf of").fill("nobody@example.org")
        page.keyboard.press("Enter")
        page.get_by_role("alert").first.wait_for()
        page.get_by_label("On behalf of").fill("ann@example.org")
        page.get_by_role("button", name="Look").click()
        page.get_by_text("They share nothing.").wait_for()
        self.look(page, "sharing-none")
        page.context.close()
        self.ask("ann", "development", "zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": zone}}} for zone in ("Trips", "Home")]})
        self.share("Trips", {"forRecord": {"recordName": "rome"}}, {"recordName": "rome", "recordType": "Trip"})

    def share_a_record(self):
        """The share sheet invites, lets everybody with the link in, and has its link and QR code."""
        page = self.open()
        sheet = self.open_sheet(page)
        sheet.get_by_label("E-mail address or phone number").fill("bob@example.org")
        page.keyboard.press("Enter")
        sheet.get_by_text("You have invited").wait_for()
        [entry] = self.shares("ann")
        assert entry["rootRecordName"] == "rome" and len(entry["share"]["participants"]) == 2, entry
        sheet.get_by_label("Anyone with the link").check()
        sheet.get_by_label("People with the link").wait_for()
        sheet.get_by_text("QR code of the link").click()
        sheet.get_by_role("img", name="QR code of the link").wait_for()
        self.look(page, "sharing-sheet")
        assert self.shares("ann")[0]["share"]["publicPermission"] == "READ_ONLY"
        page.get_by_role("link", name="← All shares").click()
        page.get_by_role("link", name="rome").wait_for()
        page.get_by_text("everybody with the link may view").wait_for()
        self.look(page, "sharing-list")
        page.get_by_role("link", name="rome").click()
        page.get_by_role("link", name="Its records").click()
        page.wait_for_url("**/console/data?**zone=Trips**")
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("heading", name="rome").wait_for()
        self.ask("ann", "development", "records/modify", {"zoneID": {"zoneName": "Trips"}, "operations": [
            {"operationType": "create", "record": {"recordName": "day", "recordType": "Trip", "parent": {"recordName": "rome"}}}]})
        # From a part to its parent, and from that to its share, and back.
        page.goto(page.url.replace("record=rome", "record=day"))
        for name, whose in (("Parent", "rome"), ("Share", entry["share"]["recordName"])):
            dialog.locator("dl div", has=page.locator("dt", has_text=re.compile(f"^{name}$"))).get_by_role("button").click()
            dialog.get_by_role("heading", name=whose).wait_for()
        page.go_back()
        dialog.get_by_role("heading", name="rome").wait_for()
        page.context.close()

    def join(self):
        """By the link, on somebody's behalf; and out again by the sheet."""
        link = self.shares("ann")[0]["share"]["shortGUID"]
        page = self.open("cy@example.org")
        page.get_by_label("Link to a share").fill("https://else.example/share/nowhere")
        page.get_by_role("button", name="Join…").click()
        page.get_by_role("button", name="Join", exact=True).click()
        page.get_by_role("alert").get_by_text("NOT_FOUND").wait_for()
        page.get_by_label("Link to a share").fill(f"https://else.example/share/{link}")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Join", exact=True).focus()
        page.keyboard.press("Enter")
        page.get_by_role("link", name="rome").wait_for()
        assert [each["databaseScope"] for each in self.shares("cy")] == ["SHARED"]
        page.get_by_role("link", name="rome").click()
        sheet = page.locator("share-sheet")
        sheet.get_by_role("button", name="Leave").click()
        self.look(page, "sharing-leave")
        sheet.locator("dialog").get_by_role("button", name="Leave").click()
        page.get_by_text("This is not shared, or not any more.").wait_for()
        assert self.shares("cy") == []
        page.context.close()

    def open_sheet(self, page, name="rome"):
        page.get_by_role("link", name=name).click()
        sheet = page.locator("share-sheet")
        sheet.get_by_text("Who has access").wait_for()
        return sheet

    def one_time(self):
        page = self.open()
        sheet = self.open_sheet(page)
        sheet.get_by_role("button", name="Create one-time link").focus()
        page.keyboard.press("Enter")
        sheet.get_by_text("It works for the first person who uses it.").wait_for()
        link = sheet.locator("li code").text_content()
        assert link.startswith("http") and "~" in link, link
        self.look(page, "sharing-one-time")
        page.context.close()
        self.server.command("share", "accept", CONTAINER, "development", "cy@example.org", link)
        assert len(self.shares("cy")) == 1

    def requests(self):
        """People who ask are let in or declined."""
        page = self.open()
        sheet = self.open_sheet(page)
        # Somebody has joined by the link, who loses access.
        sheet.get_by_label("Only people you invite").click()
        sheet.locator("dialog").get_by_role("button", name="Make private").click()
        sheet.get_by_label("People without access can request it").wait_for()
        # "Saved." may still be there of what was saved before.
        with page.expect_response("**/api/record/save"):
            sheet.get_by_label("People without access can request it").click()
        self.server.make_person("dee", PASSWORD)
        guid = self.shares("ann")[0]["share"]["shortGUID"]
        self.ask_public("dee", "records/requestAccess", {"shortGUIDs": [{"value": guid}]})
        page.reload()
        sheet.get_by_text("Requests for access").wait_for()
        self.look(page, "sharing-requests")
        sheet.get_by_role("button", name="Let ").click()
        sheet.get_by_text("Requests for access").wait_for(state="detached")
        page.get_by_role("link", name="← All shares").click()
        page.get_by_role("link", name="rome").wait_for()
        page.context.close()

    def ask_public(self, name, operation, body):
        token = self.server.command("api-token", "create", CONTAINER, "development")["apiToken"]
        web = self.server.command("web-token", "create", CONTAINER, "development", f"{name}@example.org")["webAuthToken"]
        urllib.request.urlopen(urllib.request.Request(
            f"http://{self.server.address[0]}:{self.server.address[1]}/database/1/{CONTAINER}/development/public/"
            f"{operation}?ckAPIToken={token}&ckWebAuthToken={urllib.parse.quote(web, safe='')}", json.dumps(body).encode()))

    def a_zone(self):
        """A whole zone is shared, and no more."""
        self.share("Home", {"recordName": "cloudkit.zoneshare"})
        page = self.open()
        sheet = self.open_sheet(page, "Home")
        sheet.get_by_label("E-mail address or phone number").fill("bob@example.org")
        sheet.get_by_role("button", name="Invite", exact=True).click()
        sheet.get_by_text("You have invited").wait_for()
        assert len(self.shares("ann")) == 2
        sheet.get_by_role("button", name="Stop sharing").click()
        sheet.locator("dialog").get_by_role("button", name="Stop sharing").click()
        page.get_by_text("This is not shared, or not any more.").wait_for()
        assert len(self.shares("ann")) == 1
        page.context.close()

    def naughty(self):
        for index, name in enumerate(NAUGHTY):
            self.share("Home", {"recordName": f"share-{index}", "forRecord": {"recordName": name},
                                "fields": {"cloudkit.title": {"value": name}}}, {"recordName": name, "recordType": "Thing"})
        page = self.open()
        page.get_by_role("link", name=NAUGHTY[0], exact=True).wait_for()
        self.look(page, "sharing-naughty")
        page.get_by_role("link", name=NAUGHTY[1], exact=True).click()
        page.locator("share-sheet").get_by_role("heading", name=NAUGHTY[1]).wait_for()
        assert page.title() != "ran" and page.errors == []
        page.goto(f"{self.base}/console/sharing?container={CONTAINER}&open=%7B%22a")
        page.get_by_role("link", name="← All shares").wait_for()
        page.context.close()

    def rights(self):
        self.server.command("container", "create", OTHER)
        self.operator("reader", "--read-only")
        self.operator("other", "--container", OTHER)
        page = self.open(email="reader@example.org")
        page.get_by_role("link", name="rome").click()
        page.get_by_role("cell", name="owner").wait_for()
        for name in ("Share", "Join", "Leave", "Invite", "Stop sharing"):
            assert page.locator("#screen").get_by_role("button", name=name, exact=True).count() == 0, name
        assert page.locator("share-sheet").count() == 0 and "~" not in page.locator("#screen").text_content()
        self.look(page, "sharing-reader")
        page.context.close()
        page = self.open(email="other@example.org")
        page.get_by_role("alert").first.wait_for()
        assert "rome" not in page.locator("#screen").text_content()
        page.context.close()


if __name__ == "__main__":
    held(Sharing)
