"""Strings that try to run a script, in every name and value that somebody outside may choose, on every screen of the console.

None runs, is taken for markup, or makes a screen wider than a phone.
"""

import json
import urllib.request

from console import CONTAINER, NAUGHTY, PASSWORD, Run, held, say

AT = f"container={CONTAINER}&environment=development"
ANN = "ann@example.org"
PHONE = {"width": 390, "height": 780}
# What is a header, and so has no letter beyond ASCII.
HEADERS = [text for text in NAUGHTY if text.isascii()]
# Names of records and zones are of ASCII, and do not begin by _.
NAMED = [text for text in HEADERS if not text.startswith("_")]
# What the server takes as a name that people read.
NAMES = [text for text in NAUGHTY if text.isprintable()]
# Where, and which of the strings a reader finds there.
SCREENS = [
    ("containers", NAMES), (f"data?{AT}&type=Thing", NAUGHTY), (f"data?{AT}&view=changes", NAMED), (f"data?{AT}&type=Thing&record=r-0", []),
    (f"schema?{AT}", []), (f"schema?{AT}&view=text", []), (f"schema?{AT}&view=history", []), ("people", NAMES),
    (f"people?person={ANN}&{AT}", HEADERS[:1]), (f"telemetry?{AT}&hours=1&group=clients", []), (f"telemetry?{AT}&hours=1&group=versions", []),
    (f"logs?container={CONTAINER}&columns=operation,app,device,zones,user", HEADERS), ("tokens", NAMES), (f"tokens?view=sessions&{AT}", []),
    ("tokens?view=operators", []), ("tokens?view=scripts", []), (f"delivery?{AT}", []), (f"delivery?{AT}&view=webhooks", []),
    (f"delivery?{AT}&view=subscriptions", NAUGHTY), ("operations?view=alerts", NAMES), ("operations?view=audit", []),
    ("operations?view=settings", []), ("", []),
]


class Naughty(Run):
    parts = ("prepare", "screens", "hers")
    looks = 0

    def prepare(self):
        self.server.command("container", "create", CONTAINER)
        self.server.make_person("ann", PASSWORD)
        records = []
        for index, text in enumerate(NAMES):
            self.server.command("container", "create", f"iCloud.org.example.C{index}")
            self.server.command("container", "set", f"iCloud.org.example.C{index}", f"name={text}")
            self.server.make_person(f"p{index}", PASSWORD, "--family-name", text)
            self.server.command("api-token", "create", CONTAINER, "development", "--name", text)
            self.server.command("alert", "add", f"a{index}", "--metric", "errors", "--above", "5", "--operation", text,
                                "--mail", ANN)
        for index, text in enumerate(NAUGHTY):
            records.append({"recordName": f"r-{index}", "recordType": "Thing", "fields": {
                "text": {"value": text}, "list": {"value": NAUGHTY, "type": "STRING_LIST"}}})
        records += [{"recordName": text, "recordType": "Thing", "fields": {
            "next": {"value": {"recordName": text, "action": "NONE"}, "type": "REFERENCE"}}} for text in NAMED]
        self.server.save(records)
        self.ask("ann", "development", "zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": text}}} for text in NAMED]})
        self.ask("ann", "development", "subscriptions/modify", {"operations": [{"operationType": "create", "subscription": {
            "subscriptionID": text, "subscriptionType": "query", "firesOn": ["create"], "query": {"recordType": f"Thing{index}"}}}
            for index, text in enumerate(NAUGHTY)]})
        token = self.server.command("api-token", "create", CONTAINER, "development")["apiToken"]
        for text in HEADERS:
            urllib.request.urlopen(urllib.request.Request(
                f"http://{self.server.address[0]}:{self.server.address[1]}/database/1/{CONTAINER}/development/public/"
                f"records/lookup?ckAPIToken={token}", json.dumps({"records": [{"recordName": text}]}).encode(),
                {"X-Client-ID": text, "User-Agent": text}))

    def screens(self):
        self.screen = page = self.signed_in("op@example.org", "/console/containers")
        page.set_viewport_size(PHONE)
        for path, texts in SCREENS:
            page.goto(f"{self.base}/console/{path}")
            self.still(path, texts)
        say(f"{len(SCREENS)} screens run nothing")

    def hers(self):
        """Her zones and shares, on her behalf."""
        page = self.screen
        page.goto(f"{self.base}/console/sharing?{AT}")
        page.get_by_label("On behalf of").fill(ANN)
        page.get_by_role("button", name="Look").click()
        page.get_by_text("They share nothing.").wait_for()
        self.still("sharing", [])
        page.goto(f"{self.base}/console/data?{AT}&database=private")
        page.locator("aside").first.wait_for()
        page.evaluate("document.querySelector('aside details').open = true")
        self.still("zones", NAMED)
        page.context.close()

    def still(self, name, texts):
        """What is looked for has come, the strings are there as they are, and nothing has run."""
        page = self.screen
        page.wait_for_function("""() => document.querySelector('main#screen h1') && !document.querySelector('main .waiting')""")
        for text in texts:
            page.wait_for_function("""text => [...document.querySelectorAll('main *')].some(each => each.textContent.includes(text)
              || each.value?.includes?.(text))""", arg=text)
        assert page.title() != "ran", name
        assert page.locator("main script, main img[onerror], main [onload]").count() == 0, name
        assert page.errors == [], (name, page.errors)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than a phone"


if __name__ == "__main__":
    held(Naughty)
