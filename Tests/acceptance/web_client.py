"""The JavaScript client in a real browser, on pages of other sites, as the server hands it out.

Chromium, driven by Playwright. Somebody signs in by a window, by the window's coming back to the app,
and by a redirect; stays signed in over a reload; signs out in one of two tabs. A page under a strict
policy, with integrity hashes and Trusted Types, does it without a violation. A link with a token of
somebody else, and messages of other windows, sign nobody in. Two people use the guide's example.
"""

import json
import os
import re
import urllib.parse
import urllib.request

from chromium import with_chromium
from listener import Handler, Listener
from server import Server, free_port
from viewer import Viewer, driven

CONTAINER = "iCloud.org.example.Web"
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Examples/board.html")
PASSWORD = "correct horse battery"
STRINGS = [
    "", "\u202e\u0000\u0001", "<img src=x onerror=alert(1)>", "${f} %00", "👩‍👩‍👧‍👦 ﷺ", "__proto__"]

SETUP = """
const params = new URLSearchParams(location.search);
const by = params.get('by') ?? 'popup';
CloudKit.configure({
  ...CONFIGURATION, services: {logger: console},
  containers: [{containerIdentifier: CONTAINER, environment: 'development', apiTokenAuth: {
    apiToken: TOKENS[by], persist: params.get('persist') !== 'no',
    signIn: by === 'redirect' ? 'redirect' : 'popup',
    signInButton: {id: 'in', theme: 'white-with-outline'}, signOutButton: {id: 'out'}}}]});
const container = CloudKit.getDefaultContainer();
const seen = document.getElementById('seen');
window.app = {CloudKit, container, violations: []};
document.addEventListener('securitypolicyviolation', event => {
  app.violations.push(event.violatedDirective + ' ' + event.blockedURI);
});
const show = user => { seen.textContent = user ? 'Hello ' + user.nameComponents.givenName : 'Nobody'; };
const follow = async () => {
  for (;;) {
    show(await container.whenUserSignsIn());
    await container.whenUserSignsOut();
    show(null);
  }
};
const start = async () => {
  const user = await container.setUpAuth();
  show(user);
  if (user) {
    await container.whenUserSignsOut();
    show(null);
  }
  await follow();
};
start().catch(error => { seen.textContent = String(error); });
"""
BODY = """<!doctype html><html lang="en"><meta charset="utf-8"><title>App</title>
<meta name="viewport" content="width=device-width"><main><h1>App</h1>
<div id="in"></div><div id="out"></div><p id="seen" role="status"></p></main>%s</html>"""


class App(Listener):
    """A site with pages of an app: by a module, and by a classic script under a strict policy."""

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
        if self.path.startswith("/strict"):
            self.send_header("Content-Security-Policy", self.server.policy)
        super().end_headers()


class Run(Viewer):
    def __init__(self, server, app):
        super().__init__(server)
        self.site = f"http://localhost:{app.server_port}"
        self.fill(app)

    def fill(self, app):
        make = ("api-token", "create", CONTAINER, "development", "--origin", self.site)
        callback = ("--callback", f"{self.site}/?by=")
        tokens = {"popup": self.server.command(*make)["apiToken"]}
        for by in ("return", "redirect"):
            tokens[by] = self.server.command(*make, callback[0], callback[1] + by)["apiToken"]
        elements = self.elements()
        module = re.search('href="([^"]+)"', elements[0]).group(1)
        texts = f"const CONTAINER = {json.dumps(CONTAINER)}, TOKENS = {json.dumps(tokens)};"
        # The module knows where it came from; the classic page says it.
        app.pages["/app.js"] = (
            f"import CloudKit from '{self.base}{module}';\n{texts}"
            + SETUP.replace("...CONFIGURATION,", ""))
        app.pages["/classic.js"] = "addEventListener('cloudkitloaded', () => {" + texts + SETUP.replace(
            "...CONFIGURATION", f"serverURL: '{self.base}'") + "});"
        preload = elements[0].replace('href="', f'href="{self.base}')
        script = elements[1].replace('src="', f'async src="{self.base}')
        app.pages["/"] = BODY % (preload + '<script type="module" src="/app.js"></script>')
        app.pages["/strict"] = BODY % ('<script src="/classic.js"></script>' + script)
        app.policy = (
            f"default-src 'none'; script-src 'self' {self.base}/client/; connect-src {self.base}; "
            "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
            "trusted-types 'none'")

    def elements(self):
        """How the server says that its files are loaded."""
        with urllib.request.urlopen(f"{self.base}/client") as answer:
            lines = answer.read().decode().splitlines()
        return [line for line in lines if line.startswith("<")]

    def sign_in(self, page, asks=True, name="ann"):
        """Types the password; the first time of an API token, people are asked, too."""
        page.get_by_label("E-mail address").fill(f"{name}@example.org")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        if asks:
            page.get_by_role("button", name="Allow", exact=True).click()

    def opened(self, page):
        with page.context.expect_page() as opened:
            page.get_by_role("button", name="Sign in").click()
        return opened.value

    def sees(self, page, text):
        page.get_by_role("status").get_by_text(text, exact=True).wait_for()

    def by_window(self, browser):
        """Signed in by a message, over a reload, and in the other tab; signed out in both."""
        context = browser.new_context(viewport={"width": 320, "height": 640})
        tabs = [context.new_page() for _ in range(2)]
        for tab in tabs:
            tab.goto(f"{self.site}/")
            self.sees(tab, "Nobody")
        self.look(tabs[0], "signed-out")
        # A window that somebody closes is no end: the button is there again.
        self.opened(tabs[0]).close()
        self.sign_in(self.opened(tabs[0]))
        for tab in tabs:
            self.sees(tab, "Hello Ann")
        self.look(tabs[0], "signed-in")
        tabs[1].reload()
        self.sees(tabs[1], "Hello Ann")
        self.two_tabs(tabs)
        tabs[1].get_by_role("button", name="Sign out").click()
        for tab in tabs:
            self.sees(tab, "Nobody")
        assert tabs[0].evaluate("document.cookie") == ""
        self.opened(tabs[0]).get_by_role("button", name="Continue").click()
        for tab in tabs:
            self.sees(tab, "Hello Ann")
        context.close()

    def two_tabs(self, tabs):
        """Many requests of both tabs while tokens follow each other: both stay signed in."""
        work = """async index => {
          const {privateCloudDatabase: database} = app.container;
          await database.saveRecordZones('Tab' + index);
          const saves = Array.from({length: 20}, (_, n) => database.saveRecords(
            {recordType: 'Note', fields: {text: {value: index + ' ' + n}}}, {zoneID: 'Tab' + index}));
          for (const {errors} of await Promise.all(saves)) if (errors.length) throw errors[0];
          return (await database.fetchAllRecordZones()).zones.length;
        }"""
        for round_ in range(3):
            for index, tab in enumerate(tabs):
                tab.evaluate(f"window.working = ({work})({index + 2 * round_})")
            for tab in tabs:
                assert tab.evaluate("working") >= 1
        for tab in tabs:
            self.sees(tab, "Hello Ann")
        cookies = {tab.evaluate("document.cookie") for tab in tabs}
        assert len(cookies) == 1 and CONTAINER in cookies.pop(), cookies

    def by_return(self, browser):
        """The API token has a callback: the window comes back to the app, which hands the token on."""
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{self.site}/?by=return")
        popup = self.opened(page)
        self.sign_in(popup)
        self.sees(page, "Hello Ann")
        if not popup.is_closed():
            popup.wait_for_event("close")
        context.close()

    def by_redirect(self, browser):
        """In the page's own place, where Ann says no at first."""
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{self.site}/?by=redirect&persist=no")
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{self.base}/sign-in/**")
        self.sign_in(page, asks=False)
        page.get_by_role("button", name="Cancel").click()
        page.wait_for_url(f"{self.site}/**")
        self.sees(page, "Nobody")
        assert page.url == f"{self.site}/?by=redirect", page.url
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("button", name="Allow", exact=True).click()
        page.wait_for_url(f"{self.site}/**")
        self.sees(page, "Hello Ann")
        assert page.url == f"{self.site}/?by=redirect", page.url
        context.close()

    def in_worker(self, browser, app, token):
        """Where there is no document: with a token that the app hands in."""
        module = re.search('href="([^"]+)"', self.elements()[0]).group(1)
        api = self.server.command("api-token", "create", CONTAINER, "development")["apiToken"]
        app.pages["/worker.js"] = f"""import CloudKit from '{self.base}{module}';
          const store = {{getToken: () => '{token}', putToken() {{}}}};
          const container = CloudKit.configure({{services: {{authTokenStore: store}}, containers: [{{
            containerIdentifier: '{CONTAINER}', environment: 'development',
            apiTokenAuth: {{apiToken: '{api}', persist: true}}}}]}}).getDefaultContainer();
          const refused = error => error.ckErrorCode;
          const user = await container.setUpAuth();
          postMessage([user.nameComponents.givenName, await container.signIn().catch(refused)]);"""
        page = browser.new_page()
        page.goto(f"{self.site}/")
        told = page.evaluate("""new Promise((done, fail) => {
          const worker = new Worker('/worker.js', {type: 'module'});
          worker.onmessage = ({data}) => done(data);
          worker.onerror = fail;
        })""")
        assert told == ["Eve", "SIGN_IN_FAILED"], told
        page.close()

    def strangers(self, browser, token):
        """Nobody is signed in by a link, nor by a message of another window."""
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{self.site}/?ckWebAuthToken={token}&ckSession={token}&keep=1")
        self.sees(page, "Nobody")
        assert page.url == f"{self.site}/?keep=1", page.url
        popup = self.opened(page)
        popup.get_by_label("E-mail address").wait_for()
        page.evaluate(f"""() => {{
          postMessage({{ckWebAuthToken: '{token}', ckSession: '{token}'}}, '*');
          const frame = document.createElement('iframe');
          frame.srcdoc = '<script>parent.postMessage({{ckSession: "{token}"}}, "*")</' + 'script>';
          document.body.append(frame);
          return new Promise(done => {{ frame.onload = () => setTimeout(done); }});
        }}""")
        self.sees(page, "Nobody")
        self.sign_in(popup, asks=False)
        self.sees(page, "Hello Ann")
        context.close()

    def strict(self, browser):
        """Under a policy that allows next to nothing, by a classic script with its integrity checked."""
        context = browser.new_context()
        page = context.new_page()
        wrong = []
        page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"{self.site}/strict")
        self.sees(page, "Nobody")
        self.sign_in(self.opened(page), asks=False)
        self.sees(page, "Hello Ann")
        saved = page.evaluate("""async strings => {
          const database = app.container.privateCloudDatabase;
          const {records, errors} = await database.saveRecords([
            ...strings.map(value => ({recordType: 'Text', fields: {text: {value}}})),
            {recordType: 'Text', fields: {file: {value: new Blob(['of a page'], {type: 'text/html'})}}}]);
          if (errors.length) throw errors[0];
          const {downloadURL} = records.at(-1).fields.file.value;
          const file = await (await fetch(downloadURL.replace('${f}', 'x'))).text();
          return [...records.slice(0, -1).map(({fields}) => fields.text.value), file];
        }""", STRINGS)
        assert saved == [*STRINGS, "of a page"], saved
        heard = page.evaluate("""async () => {
          const {container} = app;
          await container.publicCloudDatabase.saveSubscriptions({subscriptionID: 's',
            subscriptionType: 'query', firesOn: ['create'], query: {recordType: 'News'}});
          const told = new Promise(done => container.addNotificationListener(done));
          await container.registerForNotifications();
          app.told = told.then(({recordName}) => recordName);
          return container.isRegisteredForNotifications;
        }""")
        assert heard
        self.save_news(page)
        assert page.evaluate("app.told") == "news"
        # A 421 is written to the console by the browser itself.
        refused = [text for text in wrong if "421" not in text]
        assert page.evaluate("app.violations") == [] and refused == [], refused
        context.close()

    def board(self, browser, app):
        """The example of the guide: two people see each other's posts, at once and after a reload."""
        with open(EXAMPLE, encoding="utf-8") as file:
            text = file.read()
        api = self.server.command("api-token", "create", CONTAINER, "development")["apiToken"]
        for old, new in (("http://127.0.0.1:8080", self.base), ("iCloud.dev.lenticular.Notes", CONTAINER),
                         ("the API token that make serve has printed", api)):
            assert old in text, old
            text = text.replace(old, new)
        app.pages["/board"] = text
        pages = {}
        for name in ("ann", "eve"):
            page = browser.new_context(viewport={"width": 320, "height": 640}).new_page()
            page.goto(f"{self.site}/board")
            self.sees(page, "Sign in to write.")
            self.sign_in(self.opened(page), name=name)
            self.sees(page, f"Hello {name.title()}.")
            pages[name] = page
        for writer, reader in (("ann", "eve"), ("eve", "ann")):
            pages[writer].get_by_label("Post").fill(f"by {writer} <b>")
            pages[writer].get_by_role("button", name="Post").click()
            for page in (pages[writer], pages[reader]):
                page.get_by_role("listitem").get_by_text(f"by {writer} <b>").wait_for()
        self.look(pages["ann"], "board")
        pages["ann"].reload()
        for name in pages:
            pages["ann"].get_by_role("listitem").get_by_text(f"by {name} <b>").wait_for()
        for page in pages.values():
            page.context.close()

    def save_news(self, page):
        """Saves as another device of the same person."""
        token = re.search(r"~\d+~(\w+)", page.evaluate("document.cookie")).group(1)
        api = page.evaluate("app.container.getConfig().apiTokenAuth.apiToken")
        urllib.request.urlopen(urllib.request.Request(
            f"{self.base}/database/1/{CONTAINER}/development/public/records/modify"
            f"?ckAPIToken={api}&ckWebAuthToken={token}&clientId=other",
            json.dumps({"operations": [{"operationType": "create", "record": {
                "recordType": "News", "recordName": "news", "fields": {}}}]}).encode())).read()


def main(program):
    with Server() as server, App() as app:
        server.address = ("127.0.0.1", free_port())
        server.start()
        server.command("container", "create", CONTAINER)
        server.make_person("ann", PASSWORD)
        server.make_person("eve", PASSWORD)
        stranger = server.command(
            "web-token", "create", CONTAINER, "development", "eve@example.org")["webAuthToken"]
        run = Run(server, app)
        with driven(program) as browser:
            run.by_window(browser)
            run.by_return(browser)
            run.by_redirect(browser)
            run.strangers(browser, stranger)
            run.strict(browser)
            run.in_worker(browser, app, stranger)
            run.board(browser, app)
        server.stop()


if __name__ == "__main__":
    with_chromium(main)
