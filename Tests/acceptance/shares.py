"""Sharing by link in a real browser: two users, one of them new and invited by another address.

Ann shares by e-mail with an address that Bob proves in the page; she gives a link away that is good once; Cleo
asks to take part and is approved; by the sheet of the page Ann invites and ends it, and Bob leaves. Chromium, driven by Playwright, at phone width, and once without
scripts, of which the pages need none.
"""

import base64
import http.client
import json
import os
import re
import stat
import struct
import time
import urllib.parse
import zlib

from chromium import with_chromium
from server import Server, free_port
from viewer import PHONE, Viewer, driven

CONTAINER = "iCloud.org.example.Notes"
PASSWORD = "correct horse battery"


def picture(width=96, height=54):
    """A picture as PNG, in base64."""
    rows = b"".join(
        b"\0" + b"".join(bytes((40 + x, 90 + 2 * y, 160 - x // 2)) for x in range(width))
        for y in range(height))

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    file = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))
    return base64.b64encode(file).decode()


class Owner:
    """Ann, whose app speaks the protocol."""

    def __init__(self, server, token):
        self.server = server
        made = server.command("web-token", "create", CONTAINER, "development", "ann@example.org")
        self.query = f"?ckAPIToken={token}&ckWebAuthToken={made['webAuthToken']}"
        self.post("private/zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": "Notes"}}}]})

    def post(self, endpoint, body):
        connection = http.client.HTTPConnection(*self.server.address, timeout=30)
        connection.request("POST", f"/database/1/{CONTAINER}/development/{endpoint}{self.query}",
                           body=json.dumps(body).encode())
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        assert answer.status == 200, f"{endpoint}: {answer.status} {text}"
        return json.loads(text)

    def save(self, operations):
        answer = self.post("private/records/modify", {
            "zoneID": {"zoneName": "Notes"}, "operations": operations})
        assert all("serverErrorCode" not in item for item in answer["records"]), answer
        return answer["records"]

    def share(self, name, title, **members):
        return self.save([
            {"operationType": "create", "record": {
                "recordName": name, "recordType": "Note", "fields": {}}},
            {"operationType": "create", "record": {
                "recordName": f"share-{name}", "recordType": "cloudkit.share",
                "forRecord": {"recordName": name}, "fields": {
                    "cloudkit.title": {"value": title},
                    "cloudkit.type": {"value": "org.example.list"},
                    "cloudkit.thumbnailImageData": {"value": picture(), "type": "BYTES"}},
                **members}}])[1]

    def lookup(self, name):
        return self.post("private/records/lookup", {
            "zoneID": {"zoneName": "Notes"},
            "records": [{"recordName": f"share-{name}"}]})["records"][0]

    def change(self, name, **members):
        return self.save([{"operationType": "update", "record": {
            "recordName": f"share-{name}", "recordType": "cloudkit.share",
            "recordChangeTag": self.lookup(name)["recordChangeTag"], **members}}])[0]


class Run(Viewer):
    def __init__(self, server, letters):
        super().__init__(server)
        self.letters = letters

    def letter(self, address, pattern):
        """What a pattern finds in the last letter to an address."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            for text in reversed(self.read_letters()):
                found = re.search(pattern, text)
                if f"To: {address}" in text and found:
                    return found.group(1)
            time.sleep(0.1)
        raise AssertionError(f"no letter to {address}")

    def read_letters(self):
        return [open(os.path.join(self.letters, name), encoding="utf-8").read()
                for name in sorted(os.listdir(self.letters)) if name.endswith(".letter")]

    def sign_in(self, page, address):
        page.get_by_label("E-mail address").fill(address)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()

    def invited_by_another_address(self, context, owner):
        """Somebody who makes their account by one address is invited by another."""
        share = owner.share("trip", "Trip to the coast", participants=[
            {"permission": "READ_WRITE",
             "userIdentity": {"lookupInfo": {"emailAddress": "bob@work.example"}}}])
        link = f"{self.base}/share/{share['shortGUID']}"
        page = context.new_page()
        page.goto(link)
        assert "Trip" not in page.content()
        self.look(page, "share-closed")
        page.get_by_role("link", name="Create account").click()
        page.get_by_label("E-mail address").fill("bob@example.org")
        page.get_by_role("button", name="Send link").click()
        page.goto(self.letter("bob@example.org", r"(http://\S+/sign-in/welcome/\S+)"))
        page.get_by_label("First name").fill("Bob")
        page.get_by_label("New password").fill(PASSWORD)
        page.get_by_role("button", name="Create account").click()
        # Back at the share, without the link being opened again.
        page.wait_for_url(link)
        page.get_by_role("heading", name="Invited at another address?").wait_for()
        self.look(page, "share-not-for-you")
        page.get_by_label("Address of the invitation").fill("bob@work.example")
        page.get_by_role("button", name="Send code").click()
        page.get_by_label("Verification code").wait_for()
        self.look(page, "share-code")
        code = self.letter("bob@work.example", r"(?m)^([0-9]{4} [0-9]{4})\r?$")
        page.get_by_label("Verification code").fill(code)
        page.get_by_role("button", name="Verify").click()
        page.get_by_role("button", name="Join").wait_for()
        assert "Ann Archer" in page.content() and "Trip to the coast" in page.content()
        assert page.evaluate("document.querySelector('.card img').naturalWidth") == 96
        self.look(page, "share-invited")
        page.get_by_role("button", name="Join").click()
        page.get_by_text("shares this with you").wait_for()
        page.get_by_role("button", name="Leave").wait_for()
        page.get_by_text("Link and QR code").click()
        page.get_by_role("img", name="QR code of the link").wait_for()
        self.look(page, "share-joined")
        entries = {entry["acceptanceStatus"] for entry in owner.lookup("trip")["participants"]}
        assert entries == {"ACCEPTED"}, entries
        page.goto(f"{self.base}/account")
        assert "bob@work.example" in page.content()
        page.close()

    def one_time(self, context, other, owner):
        """A link for whoever comes first, and nothing for who comes next."""
        share = owner.share("list", "Shopping", participants=[
            {"type": "USER", "permission": "READ_ONLY", "oneTimeLink": True}])
        link = next(entry["oneTimeURL"] for entry in share["participants"]
                    if "oneTimeURL" in entry)
        self.server.command("container", "set", CONTAINER, f"fallbackURL={self.base}/readyz?s=")
        page = context.new_page()
        page.goto(link)
        page.get_by_role("button", name="Join").click()
        # On to the app's page, with what it needs to follow the link itself.
        page.wait_for_url("**/readyz?s=*")
        query = urllib.parse.parse_qs(urllib.parse.urlparse(page.url).query)
        assert query["s"] == [link.rsplit("/", 1)[1]], query
        self.server.command("container", "set", CONTAINER, "fallbackURL=")
        late = other.new_page()
        late.goto(link)
        self.sign_in(late, "cleo@example.org")
        late.get_by_text("This item is not available").wait_for()
        late.close()
        page.close()

    def approved(self, other, owner):
        """Somebody asks, the owner approves, they join: without scripts."""
        owner.share("garden", "Garden")
        share = owner.change("garden", allowsAccessRequests=True)
        link = f"{self.base}/share/{share['shortGUID']}"
        page = other.new_page()
        page.goto(link)
        page.get_by_role("button", name="Request access").click()
        page.get_by_text("If this item accepts requests").wait_for()
        self.look_without_scripts(page)
        until = time.monotonic() + 60
        while owner.lookup("garden")["recordChangeTag"] == share["recordChangeTag"]:
            assert time.monotonic() < until, "nobody was told"
            time.sleep(0.05)
        asking = owner.lookup("garden")["requesters"]
        assert [one["userIdentity"]["nameComponents"] for one in asking] == [
            {"givenName": "Cleo"}], asking
        owner.change("garden", approve=[asking[0]["userIdentity"]["userRecordName"]])
        page.goto(link)
        page.get_by_role("button", name="Join").click()
        page.get_by_text("shares this with you").wait_for()
        page.close()

    def look_without_scripts(self, page):
        assert page.locator("script").count() == 0

    def by_the_sheet(self, browser, phone, owner):
        """On the page of a share its owner invites, opens, closes and ends it; a participant leaves."""
        link = f"{self.base}/share/{owner.lookup('trip')['shortGUID']}"
        context = browser.new_context(viewport=PHONE)
        page, other = context.new_page(), phone.new_page()
        wrong = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        page.goto(link)
        self.sign_in(page, "ann@example.org")
        address = page.get_by_label("E-mail address or phone number")
        address.fill("dora@example.org")
        address.press("Enter")
        page.get_by_text("You have invited").wait_for()
        page.get_by_label("Anyone with the link").click()
        page.get_by_text("Saved.").wait_for()
        # The phone's user leaves meanwhile, so the next change is to a newer share.
        other.goto(link)
        other.get_by_role("button", name="Leave").click()
        other.get_by_role("alertdialog").get_by_role("button", name="Leave").click()
        other.get_by_role("button", name="Join again").wait_for()
        page.get_by_role("button", name=re.compile("Remove .*dora")).click()
        page.get_by_text("has been removed").wait_for()
        assert owner.lookup("trip")["publicPermission"] == "READ_ONLY"
        self.look(page, "share-owner")
        page.get_by_role("button", name="Stop sharing").focus()
        page.keyboard.press("Enter")
        page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
        page.get_by_role("button", name="Stop sharing").click()
        page.get_by_role("alertdialog").get_by_role("button", name="Stop sharing").click()
        page.get_by_text("This item is not available").wait_for()
        assert "serverErrorCode" in owner.lookup("trip")
        # The browser itself writes down that the page is a 404 by then.
        wrong = [text for text in wrong if "status of 404" not in text]
        assert wrong == [], wrong
        for each in (other, context):
            each.close()

    def open_to_all(self, browser, owner):
        share = owner.share("recipe", "Grandmother's recipes", publicPermission="READ_ONLY")
        context = browser.new_context(viewport=PHONE)
        page = context.new_page()
        answer = page.goto(f"{self.base}/share/{share['shortGUID']}")
        assert "nosnippet" in answer.headers["x-robots-tag"]
        assert page.title() == "Shared item · 127.0.0.1"
        assert "Grandmother" in page.content() and "Ann" not in page.content()
        self.look(page, "share-open")
        context.close()


def mail_program(folder):
    """A program that keeps each letter in a file."""
    path = os.path.join(folder, "mail.sh")
    with open(path, "w", encoding="utf-8") as script:
        script.write("#!/bin/sh\nset -e\nfile=$(mktemp \"%s/XXXXXX\")\ncat >\"$file\"\n"
                     "mv \"$file\" \"%s/$(date +%%s%%N).letter\"\n" % (folder, folder))
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def main(program):
    with Server() as server:
        letters = os.path.join(server.folder, "letters")
        os.mkdir(letters)
        os.environ.update({
            "LENTICULAR_MAIL_SENDER": "program", "LENTICULAR_MAIL_PROGRAM": mail_program(letters),
            "LENTICULAR_MAIL_FROM": "sync@example.org", "LENTICULAR_ACCOUNTS_SIGN_UP": "open"})
        server.address = ("127.0.0.1", free_port())
        server.start()
        server.command("container", "create", CONTAINER)
        token = server.command("api-token", "create", CONTAINER, "development")["apiToken"]
        server.make_person("ann", PASSWORD, "--family-name", "Archer")
        server.make_person("cleo", PASSWORD)
        owner = Owner(server, token)
        run = Run(server, letters)
        with driven(program) as browser:
            phone = browser.new_context(viewport=PHONE)
            plain = browser.new_context(java_script_enabled=False)
            run.invited_by_another_address(phone, owner)
            run.one_time(phone, plain, owner)
            run.approved(plain, owner)
            run.by_the_sheet(browser, phone, owner)
            run.open_to_all(browser, owner)
        assert run.looked_at == 14, run.looked_at
        server.stop()


if __name__ == "__main__":
    with_chromium(main)
