"""The elements of the JavaScript client in a real browser, and the sheet in a frame that shareWithUI opens.

Chromium, driven by Playwright, on pages of other sites under a policy with Trusted Types. An owner
invites, changes, removes, makes links, lets somebody in and ends sharing, by keyboard and at 320 px; a participant sees
their part and leaves. Then the same in the server's frame, which only the origins of the API token may show, and
which other frames, other windows and repeated messages move to nothing. axe-core looks at all of it.
"""

import json
import os
import re
import time
import urllib.parse
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from chromium import with_chromium
from listener import Handler, Listener
from playwright.sync_api import expect
from server import Server, free_port
from viewer import Viewer, driven

CONTAINER = "iCloud.org.example.Shared"
GUIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/guides/web.md")
PASSWORD = "correct horse battery"
NAUGHTY = "<img src=x onerror='ran=1'>\u202e${f} 👩‍👩‍👧‍👦 ﷺ \"'`</bdi><script>ran=1</script>"
SCRIPT_NAME = "<img src=x onerror=ran=1> \"'`</bdi><script>ran=1</script>"
PHONE = {"width": 320, "height": 700}
# On a busy machine an answer takes its time.
SECONDS_MAX = 120
expect.set_options(timeout=SECONDS_MAX * 1000)

SCRIPT = """
const params = new URLSearchParams(location.search);
const tokens = TOKENS;
const container = CloudKit.configure({
  serverURL: SERVER, services: {authTokenStore: {getToken: () => tokens[params.get('as')] ?? null, putToken() {}}},
  containers: [{containerIdentifier: CONTAINER, environment: 'development',
    apiTokenAuth: {apiToken: APIS[params.get('api') ?? 'own'], persist: true}}]}).getDefaultContainer();
window.app = {container, shareSource, violations: [], told: [], heard: []};
for (const name of ['share-change', 'share-done', 'share-error', 'signed-in', 'signed-out']) {
  document.addEventListener(name, ({detail}) => app.told.push([name, detail]));
}
document.addEventListener('securitypolicyviolation', event => {
  app.violations.push(event.violatedDirective + ' ' + event.blockedURI);
});
addEventListener('message', ({data}) => { app.heard.push(data); });
document.documentElement.dir = params.get('dir') ?? 'ltr';
if (params.get('lang')) document.documentElement.lang = params.get('lang');
app.show = (database, record, zoneID, title) => {
  const sheet = document.createElement('share-sheet');
  sheet.source = shareSource({database, record, zoneID, serverURL: SERVER, title});
  document.getElementById('app').replaceChildren(sheet);
  app.sheet = sheet;
};
app.open = options => {
  app.result = container.privateCloudDatabase.shareWithUI(options).then(
    result => result, ({ckErrorCode, reason}) => ({ckErrorCode, reason}));
};
const button = document.querySelector('sign-in-button');
if (button) button.container = container;
app.isReady = true;
"""
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>App</title>
<meta name="viewport" content="width=device-width"><main><h1>App</h1>
<div id="app">%s</div></main><script type="module" src="/app.js"></script></html>"""


class App(Listener):
    """A site whose pages stand under a policy that allows next to nothing."""

    def __init__(self):
        self.pages, self.policy = {}, ""
        super().__init__(AppPage)


class AppPage(Handler):
    def do_GET(self):
        path = urllib.parse.urlparse(self.path).path
        text = self.server.pages.get(path)
        if text is None:
            return self.answer(b"", status=404)
        self.answer(
            text.encode(), content_type="text/javascript" if path.endswith(".js") else "text/html")

    def end_headers(self):
        if not self.path.startswith("/loose"):
            self.send_header("Content-Security-Policy", self.server.policy)
        super().end_headers()


class Run(Viewer):
    def __init__(self, server, app, other):
        super().__init__(server)
        self.site = f"http://localhost:{app.server_port}"
        self.other = f"http://localhost:{other.server_port}"
        self.tokens = {
            name: server.command("web-token", "create", CONTAINER, "development",
                                 f"{name}@example.org")["webAuthToken"]
            for name in ("ann", "bob", "eve")}
        make = ("api-token", "create", CONTAINER, "development")
        self.apis = {
            "own": server.command(*make, "--origin", self.site)["apiToken"],
            "any": server.command(*make)["apiToken"]}
        for listener in (app, other):
            self.fill(listener)
        zone = {"zoneID": {"zoneName": "Notes"}}
        self.ask("ann", "private/zones/modify", {"operations": [
            {"operationType": "create", "zone": zone}]})
        self.ask("ann", "private/records/modify", {**zone, "operations": [
            {"operationType": "create", "record": {"recordType": "Note", "recordName": name, "fields": {}}}
            for name in ("note", "framed", "evil")]})

    def fill(self, app):
        with urllib.request.urlopen(f"{self.base}/client") as answer:
            folder = re.search(r"/client/[^/]+", answer.read().decode()).group(0)
        app.pages["/app.js"] = f"""
            import CloudKit from '{self.base}{folder}/cloudkit.js';
            import {{shareSource}} from '{self.base}{folder}/elements.js';
            """ + SCRIPT.replace("TOKENS", json.dumps(self.tokens)).replace(
                "APIS", json.dumps(self.apis)).replace("SERVER", json.dumps(self.base)).replace(
                "CONTAINER", json.dumps(CONTAINER))
        app.pages["/"] = PAGE % ""
        app.pages["/button"] = PAGE % "<sign-in-button></sign-in-button>"
        app.pages["/loose"] = PAGE % ""
        app.policy = (
            f"default-src 'none'; script-src 'self' {self.base}/client/; connect-src {self.base}; "
            f"frame-src {self.base}; img-src data:; base-uri 'none'; form-action 'none'; "
            "require-trusted-types-for 'script'; trusted-types 'none'")

    def ask(self, name, endpoint, body):
        """What an app of somebody asks the server."""
        query = urllib.parse.urlencode({
            "ckAPIToken": self.apis["any"], "ckWebAuthToken": self.tokens[name]})
        with urllib.request.urlopen(urllib.request.Request(
                f"{self.base}/database/1/{CONTAINER}/development/{endpoint}?{query}",
                json.dumps(body).encode())) as answer:
            return json.load(answer)

    def share_of(self, record):
        """The share of a record as its owner gets it; None where there is none."""
        def find(name):
            return self.ask("ann", "private/records/lookup", {
                "zoneID": {"zoneName": "Notes"}, "records": [{"recordName": name}]})["records"][0]
        share = find(record).get("share")
        return share and find(share["recordName"])

    def page(self, browser, address="/?as=ann", site=None, **options):
        """A page that has to keep to its policy, with a list of what goes wrong there."""
        context = browser.new_context(viewport=PHONE, **options)
        page = context.new_page()
        page.goto((site or self.site) + address)
        self.until(page, "window.app?.isReady")
        return page

    def until(self, page, expression):
        """Looks until something holds. A policy without eval keeps wait_for_function out."""
        end = time.monotonic() + SECONDS_MAX
        while not page.evaluate(expression):
            assert time.monotonic() < end, expression
            time.sleep(0.02)

    def is_whole(self, page):
        """Nothing ran that was typed, and no policy was broken."""
        assert page.evaluate("[app.violations, window.ran]") == [[], None]

    def sheet(self, browser):
        """An owner's whole way, by keyboard where a hand would slip."""
        page = self.page(browser)
        page.evaluate("title => app.show(app.container.privateCloudDatabase, 'note', 'Notes', title)", NAUGHTY)
        expect(page.get_by_role("heading", name="Who has access")).to_have_count(0)
        expect(page.get_by_text("Nobody else has access.")).to_be_visible()
        self.look(page, "sheet-new")
        address = page.get_by_label("E-mail address or phone number")
        address.fill("nobody")
        address.press("Enter")
        expect(page.get_by_role("alert").get_by_text("Enter a valid")).to_be_visible()
        expect(address).to_be_focused()
        expect(address).to_have_attribute("aria-invalid", "true")
        self.look(page, "sheet-refused")
        for name in ("bob", "carl", "dora"):
            address.fill(f"{name}@example.org")
            address.press("Enter")
            expect(page.get_by_role("status")).to_contain_text(f"{name}@example.org")
            expect(address).to_be_focused()
        share = self.share_of("note")
        assert share["fields"]["cloudkit.title"]["value"] == NAUGHTY, share
        assert len(share["participants"]) == 4 and share["publicPermission"] == "NONE", share
        self.change_people(page)
        self.links(page)
        self.requests(page)
        self.look(page, "sheet-full")
        page.evaluate("document.documentElement.dir = 'rtl'")
        self.look(page, "sheet-right-to-left")
        page.evaluate("document.documentElement.dir = 'ltr'")
        self.conflict(page)
        self.as_participant(browser)
        self.stop(page)
        self.is_whole(page)
        page.context.close()

    def change_people(self, page):
        def of(person):
            return next(each for each in self.share_of("note")["participants"] if each.get(
                "userIdentity", {}).get("lookupInfo", {}).get("emailAddress") == f"{person}@example.org")
        permission = page.get_by_role("combobox", name="bob@example.org")
        permission.focus()
        permission.select_option("Can edit")
        expect(page.get_by_role("status")).to_have_text("Saved.")
        expect(permission).to_be_focused()
        assert of("bob")["permission"] == "READ_WRITE", of("bob")
        inviting = page.get_by_role("switch", name="carl@example.org")
        inviting.focus()
        inviting.press("Space")
        self.until(page, "app.sheet.share.participants.some(({type}) => type === 'ADMINISTRATOR')")
        expect(inviting).to_be_focused()
        assert of("carl")["type"] == "ADMINISTRATOR", of("carl")
        # The focus goes on to whoever is next.
        rows = page.get_by_role("button", name="Remove")
        names = [row.get_attribute("aria-label") for row in rows.all()]
        index = next(at for at, name in enumerate(names) if "dora" in name)
        rows.nth(index).focus()
        rows.nth(index).press("Enter")
        expect(rows).to_have_count(2)
        after = names[index + 1] if index + 1 < len(names) else names[index - 1]
        expect(page.get_by_role("button", name=after, exact=True)).to_be_focused()
        expect(page.get_by_role("status")).to_contain_text("has been removed")

    def links(self, page):
        """One for everybody, and one for the first who uses it, as text and as a picture."""
        self.choose(page, "Anyone with the link", "READ_ONLY")
        page.get_by_role("combobox", name="People with the link").select_option("Can edit")
        self.until(page, "app.sheet.share.publicPermission === 'READ_WRITE'")
        share = self.share_of("note")
        assert share["publicPermission"] == "READ_WRITE", share
        expect(page.get_by_text(f"{self.base}/share/{share['shortGUID']}", exact=True)).to_be_visible()
        page.get_by_text("QR code of the link").first.click()
        expect(page.get_by_role("img", name="QR code of the link")).to_be_visible()
        page.get_by_role("button", name="Create one-time link").click()
        expect(page.get_by_text(f"{share['shortGUID']}~")).to_be_visible()
        page.get_by_role("button", name="Remove \u2068One-time link").click()
        expect(page.get_by_text(f"{share['shortGUID']}~")).to_have_count(0)
        # Closing it would take bob's access, who has come by the link: that is asked first.
        self.ask("bob", "public/records/accept", {"shortGUIDs": [{"value": share["shortGUID"]}]})
        self.ask("eve", "public/records/accept", {"shortGUIDs": [{"value": share["shortGUID"]}]})
        page.evaluate("app.sheet.reload()")
        expect(page.get_by_text("Joined by the link")).to_be_visible()
        page.get_by_label("Only people you invite").click()
        expect(page.get_by_role("alertdialog", name="Make it private?")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_label("Anyone with the link")).to_be_checked()
        page.get_by_label("Only people you invite").click()
        page.get_by_role("button", name="Make private").click()
        self.until(page, "app.sheet.share.publicPermission === 'NONE'")
        assert "PUBLIC_USER" not in str(self.share_of("note"))

    def choose(self, page, label, permission):
        page.get_by_label(label).focus()
        page.keyboard.press("Space")
        self.until(page, f"app.sheet.share?.publicPermission === '{permission}'")
        expect(page.get_by_label(label, exact=True)).to_be_checked()

    def requests(self, page):
        """Eve asks, is blocked, let go, asks anew, and comes in."""
        page.get_by_role("switch", name="People without access can request it").click()
        self.until(page, "app.sheet.share.allowsAccessRequests === true")
        guid = {"shortGUIDs": [{"value": self.share_of("note")["shortGUID"]}]}
        for press, left in (("Block", "Unblock"), ("Unblock", None), ("Let", None)):
            if press != "Unblock":
                self.ask("eve", "public/records/requestAccess", guid)
                page.evaluate("app.sheet.reload()")
            button = page.get_by_role("button", name=re.compile(f"^{press} .*ran=1"))
            button.click()
            expect(button).to_have_count(0)
            if left:
                expect(page.get_by_role("button", name=re.compile(f"^{left} "))).to_be_visible()
        eve = [each for each in self.share_of("note")["participants"] if each.get("isApprovedRequester")]
        assert len(eve) == 1, self.share_of("note")

    def conflict(self, page):
        """Somebody else changed the share meanwhile: what was done here is done to theirs."""
        share = self.share_of("note")
        self.ask("ann", "private/records/modify", {
            "zoneID": {"zoneName": "Notes"}, "atomic": True, "operations": [
                {"operationType": "update", "record": {
                    "recordType": "cloudkit.share", "recordName": share["recordName"],
                    "recordChangeTag": share["recordChangeTag"], "allowsAccessRequests": True,
                    "fields": {"cloudkit.title": {"value": "Other"}}}}]})
        address = page.get_by_label("E-mail address or phone number")
        address.fill("+1 555 010 0199")
        page.get_by_role("button", name="Invite", exact=True).click()
        expect(page.get_by_role("heading", name="Other")).to_be_visible()
        assert "+15550100199" in str(self.share_of("note")["participants"])

    def as_participant(self, browser):
        """Bob sees whose it is, who takes part and what he may, and leaves."""
        page = self.page(browser, "/?as=bob")
        owner = self.share_of("note")["owner"]["userIdentity"]["userRecordName"]
        show = "owner => app.show(app.container.sharedCloudDatabase, 'note', {zoneName: 'Notes', ownerRecordName: owner})"
        page.evaluate(show, owner)
        expect(page.get_by_text("Shared by")).to_be_visible()
        expect(page.get_by_text("You can view and edit it.")).to_be_visible()
        expect(page.get_by_role("button", name="Invite")).to_have_count(0)
        expect(page.get_by_role("button", name="Remove")).to_have_count(0)
        self.look(page, "sheet-participant")
        page.get_by_role("button", name="Leave").click()
        expect(page.get_by_role("button", name="Cancel")).to_be_focused()
        self.look(page, "sheet-leave")
        page.get_by_role("alertdialog").get_by_role("button", name="Leave").click()
        expect(page.get_by_role("status")).to_contain_text("not available any more")
        self.is_whole(page)
        page.context.close()

    def stop(self, page):
        stop = page.get_by_role("button", name="Stop sharing")
        stop.focus()
        stop.press("Enter")
        expect(page.get_by_role("alertdialog", name="Stop sharing this item?")).to_be_visible()
        expect(page.get_by_role("button", name="Cancel")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.get_by_role("alertdialog")).to_have_count(0)
        assert self.share_of("note")
        stop.press("Enter")
        page.get_by_role("alertdialog").get_by_role("button", name="Stop sharing").click()
        expect(page.get_by_role("status")).to_have_text("This item is not shared any more.")
        assert self.share_of("note") is None

    def button(self, browser):
        """Ann signs in by the element, and out again."""
        page = self.page(browser, "/button")
        self.look(page, "button")
        with page.context.expect_page() as opened:
            page.get_by_role("button", name="Sign in").click()
        opened.value.close()
        page.get_by_role("button", name="Sign in").wait_for()
        self.is_whole(page)
        page.context.close()
        page = self.page(browser, "/button?as=ann")
        page.get_by_role("button", name="Sign out").wait_for()
        assert page.evaluate("app.told[0][0]") == "signed-in"
        page.context.close()

    def framed(self, browser):
        """From an app's page: invites somebody, hands the share back. Other frames are not heard."""
        page = self.page(browser)
        page.evaluate("title => app.open({record: 'framed', zoneID: 'Notes', shareTitle: title, "
                      "supportedPermissions: ['READ_ONLY']})", NAUGHTY)
        frame = page.frame_locator("iframe")
        address = frame.get_by_label("E-mail address or phone number")
        address.wait_for()
        inside = next(each for each in page.frames if each.url.startswith(self.base))
        found = Axe().run(inside)
        assert found.violations_count == 0, found.generate_report()
        assert self.apis["own"] in inside.url and self.tokens["ann"] not in inside.url
        assert frame.get_by_role("combobox", name="Access", exact=True).locator("option").count() == 1
        self.strangers(page, inside)
        # As high as what is in it, or as the window.
        self.until(page, "document.querySelector('iframe').getBoundingClientRect().height > 600")
        address.fill("bob@example.org")
        address.press("Enter")
        expect(frame.get_by_role("status")).to_contain_text("You have invited")
        expect(frame.get_by_role("button", name="Remove")).to_have_count(1)
        # Whatever was done, the frame never heard the page's token.
        assert self.tokens["ann"] not in json.dumps(inside.evaluate("seen"))
        link = f"{self.base}/share/{self.share_of('framed')['shortGUID']}"
        expect(frame.get_by_text(link, exact=True)).to_be_visible()
        frame.get_by_role("button", name="Done").click()
        result = page.evaluate("app.result")
        share = self.share_of("framed")
        assert result["share"]["recordChangeTag"] == share["recordChangeTag"], result
        assert share["fields"]["cloudkit.title"]["value"] == NAUGHTY
        assert page.locator("iframe").count() == 0
        self.again(page)
        self.is_whole(page)
        page.context.close()

    def strangers(self, page, inside):
        """Messages of others: a frame beside it, the page to itself, and the frame's own once more."""
        inside.evaluate("window.seen = []; addEventListener('message', ({data}) => { seen.push(data); })")
        before = page.evaluate("app.heard.length")
        page.evaluate("""() => {
          const frame = document.createElement('iframe');
          frame.src = '%s/sign-in/nowhere';
          window.beside = frame;
        }""" % self.base)
        asked = {"jsonrpc": "2.0", "id": 1, "method": "request", "params": {
            "endpoint": "records/modify", "body": {"operations": [{"operationType": "create", "record": {
                "recordType": "Note", "recordName": "forged", "fields": {}}}]}}}
        # To the page, from itself: as an answer to what it asked, and as a question.
        page.evaluate("asked => { postMessage(asked, '*'); postMessage("
                      "{jsonrpc: '2.0', id: 1, result: {share: {forged: true}}}, '*'); }", asked)
        # From the frame: what the sheet never asks for, an answer with no question, and noise.
        inside.evaluate("""() => {
          for (const message of [
            {jsonrpc: '2.0', id: 'x', method: 'request', params: {endpoint: 'users/caller', body: {}}},
            {jsonrpc: '2.0', id: 'y', method: 'constructor'}, {jsonrpc: '2.0', id: 99, result: {}},
            {jsonrpc: '1.0', id: 1, result: {share: null}}, null, 7, 'x', [],
            {jsonrpc: '2.0', method: 'channelDidOpen'}, {jsonrpc: '2.0', method: 'applicationIsReady', params: {}},
          ]) parent.postMessage(message, '*');
        }""")
        # To the frame, from a window beside the page.
        page.evaluate("""() => new Promise(done => {
          const frame = document.createElement('iframe');
          frame.onload = done;
          frame.src = '%s/healthz';
          document.body.append(frame);
        })""" % self.base)
        # That a frame of another site has come is told apart.
        while not (beside := next((each for each in page.frames if each.url.endswith("/healthz")), None)):
            page.wait_for_timeout(50)
        beside.evaluate("""() => {
          const sheet = parent.frames[0];
          sheet.postMessage({jsonrpc: '2.0', id: 5, method: 'close'}, '*');
          sheet.postMessage({jsonrpc: '2.0', id: 6, method: 'run', params: {record: 'evil'}}, '*');
          parent.postMessage(%s, '*');
        }""" % json.dumps(asked))
        self.until(inside, "seen.filter(({id}) => id === 'x' || id === 'y').length === 2")
        answers = inside.evaluate("seen.filter(({id}) => id === 'x' || id === 'y').map(({error}) => Boolean(error))")
        assert answers == [True, True], answers
        self.until(page, f"app.heard.length >= {before + 12}")
        page.evaluate("document.querySelectorAll('body > iframe').forEach(frame => frame.remove())")
        records = self.ask("ann", "private/records/lookup", {
            "zoneID": {"zoneName": "Notes"}, "records": [{"recordName": "forged"}]})
        assert records["records"][0]["serverErrorCode"] == "NOT_FOUND", records

    def again(self, page):
        """A second time, in another language, closed by the Escape key; and with nobody signed in."""
        page.evaluate("app.open({record: {recordName: 'framed', zoneID: {zoneName: 'Notes'}}})")
        frame = page.frame_locator("iframe")
        frame.get_by_role("button", name="Stop sharing").wait_for()
        # The frame goes with the key: the browser may never say that a key of its own was pressed.
        frame.get_by_label("E-mail address or phone number").evaluate("""field => {
          const key = new KeyboardEvent('keydown', {key: 'Escape', bubbles: true, composed: true, cancelable: true});
          setTimeout(() => field.dispatchEvent(key));
        }""")
        assert page.evaluate("app.result")["share"]["recordType"] == "cloudkit.share"
        for wrong in ("{}", "{record: 'x'}", "{zoneID: {}}"):
            page.evaluate(f"app.open({wrong})")
            assert page.evaluate("app.result")["ckErrorCode"] == "INVALID_ARGUMENTS", wrong

    def guide(self, browser):
        """What the guide adds to its page: twice, as a list that is there already is shared as well."""
        with open(GUIDE, encoding="utf-8") as file:
            code = re.search(r"```javascript\n(  document.getElementById\('share'\).*?)```", file.read(), re.S).group(1)
        page = self.page(browser)
        page.evaluate("""() => {
          const button = document.createElement('button');
          button.id = 'share';
          button.textContent = 'Share my list';
          document.getElementById('app').append(button);
        }""")
        page.evaluate("() => { const {container} = app; %s }" % code)
        for _ in range(2):
            page.locator("#share").click()
            frame = page.frame_locator("iframe")
            frame.get_by_label("Anyone with the link").check()
            frame.get_by_text("QR code of the link").wait_for()
            frame.get_by_role("button", name="Done").click()
            expect(page.get_by_role("button", name="Shared")).to_be_visible()
        page.context.close()

    def signed_out(self, browser):
        """Without the page's token nothing is read, though its user is signed in to the server itself."""
        page = self.page(browser, "/?as=nobody")
        page.goto(f"{self.base}/sign-in")
        page.get_by_label("E-mail address").fill("ann@example.org")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("button", name="Sign out", exact=True).first.wait_for()
        self.same_picture(browser, page)
        page.goto(f"{self.site}/?as=nobody")
        self.until(page, "window.app?.isReady")
        page.evaluate("app.open({record: 'framed', zoneID: 'Notes'})")
        frame = page.frame_locator("iframe")
        expect(frame.get_by_role("alert").first).to_contain_text("Something went wrong")
        expect(frame.get_by_text("bob@example.org")).to_have_count(0)
        frame.get_by_role("button", name="Done").click()
        assert page.evaluate("app.result") == {"share": None}
        page.context.close()

    def same_picture(self, browser, page):
        """The sheet's QR code of a link is the one that the page for shares has."""
        pictures = []
        page.goto(f"{self.base}/share/{self.share_of('framed')['shortGUID']}")
        pictures.append(page.locator("svg path").get_attribute("d"))
        sheet = self.page(browser)
        sheet.evaluate("app.show(app.container.privateCloudDatabase, 'framed', 'Notes')")
        pictures.append(sheet.locator("svg path").get_attribute("d"))
        sheet.context.close()
        dark = [{(int(left) + right, int(top)) for left, top, count in re.findall(r"M(\d+) (\d+)h(\d+)", each)
                 for right in range(int(count))} for each in pictures]
        assert dark[0] == dark[1] and len(dark[0]) > 200, pictures

    def refused(self, browser):
        """A site that the API token does not name, and a token that names none, show no frame."""
        pages = [self.page(browser, "/loose?as=ann", self.other), self.page(browser, "/loose?as=ann&api=any")]
        for page in pages:
            page.evaluate("app.open({record: 'framed', zoneID: 'Notes'})")
        for page in pages:
            assert page.evaluate("app.result")["ckErrorCode"] == "SHARE_UI_TIMEOUT"
            assert page.evaluate("app.heard") == []
            assert page.locator("iframe").count() == 0
            page.context.close()

    def alone(self, browser):
        """As a page of its own the sheet does nothing, whoever opened it and whatever they say."""
        page = self.page(browser, "/loose?as=ann")
        with page.context.expect_page() as opened:
            page.evaluate("window.opened = open('%s/share-sheet?ckAPIToken=%s')" % (self.base, self.apis["own"]))
        expect(opened.value.get_by_role("alert")).to_contain_text("cannot be shared")
        page.evaluate("opened.postMessage({jsonrpc: '2.0', id: 1, method: 'run', params: {record: 'evil', "
                      "zoneID: 'Notes'}}, '*')")
        expect(opened.value.locator("share-sheet")).to_have_count(0)
        assert page.evaluate("app.heard") == []
        page.context.close()


def main(program):
    with Server() as server, App() as app, App() as other:
        server.address = ("127.0.0.1", free_port())
        server.start()
        server.command("container", "create", CONTAINER)
        server.make_person("ann", PASSWORD)
        server.make_person("bob", PASSWORD)
        server.command("user", "create", "eve@example.org", "--given-name", SCRIPT_NAME)
        run = Run(server, app, other)
        with driven(program) as browser:
            run.sheet(browser)
            run.button(browser)
            run.framed(browser)
            run.guide(browser)
            run.signed_out(browser)
            run.refused(browser)
            run.alone(browser)
        server.stop()


if __name__ == "__main__":
    with_chromium(main)
