"""Signing in with a real browser: a page of another site gets a user's token and nobody else does.

Chromium, driven by Playwright. A page asks for the caller, gets 421, opens the pop-up, somebody signs in
and agrees, the page receives the message and calls the private database. The same by a callback without
scripts, and with code and challenge.
"""

import base64
import hashlib
import json
import os
import urllib.parse
import urllib.request

from chromium import Origin, with_chromium
from server import Server, free_port
from viewer import PHONE, Viewer, driven

CONTAINER = "iCloud.org.example.Notes"
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Examples/messages.html")
PASSWORD = "correct horse battery"

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>App</title>
<button id="in">Sign in</button><p id="seen"></p><script type="module">
const {api, database} = SETTINGS;
const ask = (path, token) => fetch(`${database}/${path}?ckAPIToken=${api}` +
  (token ? `&ckWebAuthToken=${token}` : ''));
const messages = [];
addEventListener('message', async event => {
  messages.push([event.origin, Object.keys(event.data).sort().join()]);
  if (!event.data.ckSession) { seen.textContent = JSON.stringify({messages}); return; }
  const answer = await ask('private/zones/list', event.data.ckSession);
  const caller = await (await ask('public/users/caller', event.data.ckWebAuthToken)).json();
  document.getElementById('seen').textContent = JSON.stringify({
    messages, zones: (await answer.json()).zones.length, first: caller.firstName,
    header: answer.headers.get('X-Apple-CloudKit-Web-Auth-Token') === event.data.ckSession});
});
document.getElementById('in').onclick = async () => {
  const answer = await ask('public/users/caller');
  const {redirectURL} = await answer.json();
  if (answer.status === 421) open(redirectURL, 'sign-in', 'width=640,height=525');
};
</script></html>"""


class Run(Viewer):
    def __init__(self, server, app):
        super().__init__(server)
        self.app = app

    def sign_in(self, page):
        page.get_by_label("E-mail address").fill("ann@example.org")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()

    def redirect_url(self, api, origin=None):
        request = urllib.request.Request(
            f"{self.base}/database/1/{CONTAINER}/development/public/users/caller?ckAPIToken={api}",
            headers={"Origin": origin} if origin else {})
        try:
            urllib.request.urlopen(request)
        except urllib.error.HTTPError as error:
            assert error.code == 421, error.code
            return json.load(error)["redirectURL"]
        raise AssertionError("signed in without anything")

    def caller(self, api, token):
        address = (f"{self.base}/database/1/{CONTAINER}/development/public/users/caller"
                   f"?ckAPIToken={api}&ckWebAuthToken={token}")
        return json.load(urllib.request.urlopen(address))

    def by_message(self, browser):
        context = browser.new_context(viewport=PHONE)
        page = context.new_page()
        page.goto(f"{self.app}/")
        with context.expect_page() as opened:
            page.click("#in")
        popup = opened.value
        popup.wait_for_load_state()
        self.look(popup, "sign-in")
        popup.get_by_label("E-mail address").fill("ann@example.org")
        popup.get_by_label("Password", exact=True).fill("wrong")
        popup.keyboard.press("Enter")
        popup.get_by_role("alert").wait_for()
        self.look(popup, "sign-in-refused")
        self.sign_in(popup)
        popup.get_by_text("See your name").wait_for()
        self.look(popup, "consent")
        # By keyboard alone.
        popup.get_by_role("heading", name=f"Allow {CONTAINER} to access your account?").wait_for()
        popup.get_by_role("button", name="Allow").focus()
        popup.keyboard.press("Enter")
        page.wait_for_function("document.getElementById('seen').textContent !== ''")
        seen = json.loads(page.text_content("#seen"))
        assert seen["messages"] == [[self.base, "ckSession,ckWebAuthToken"]], seen
        assert seen["first"] == "Ann" and seen["zones"] == 1 and seen["header"], seen
        # Opened again, the page asks for nothing but whether to go on.
        if not popup.is_closed():
            popup.wait_for_event("close")
        page.reload()
        with context.expect_page() as opened:
            page.click("#in")
        popup = opened.value
        popup.get_by_role("button", name="Continue").wait_for()
        self.look(popup, "continue")
        popup.get_by_role("button", name="Continue").click()
        page.wait_for_function("document.getElementById('seen').textContent !== ''")
        assert json.loads(page.text_content("#seen"))["first"] == "Ann"
        page.goto(f"{self.base}/account")
        self.look(page, "account")
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.wait_for_url("**/sign-in")
        # Signed out, it asks for everything.
        page.goto(f"{self.app}/")
        with context.expect_page() as opened:
            page.click("#in")
        opened.value.get_by_label("Password", exact=True).wait_for()
        opened.value.close()
        page.goto(f"{self.base}/sign-in/forgotten")
        self.look(page, "forgotten")
        context.close()

    def by_example(self, browser, api):
        """The example page in a container that has nothing yet: it signs somebody in, and two see each other."""
        with open(EXAMPLE, encoding="utf-8") as file, Origin(file.read()) as app:
            address = f"http://127.0.0.1:{app.server_port}/#" + urllib.parse.urlencode(
                {"server": self.base, "container": CONTAINER, "apiToken": api})
            pages = []
            for _ in range(2):
                context = browser.new_context()
                page = context.new_page()
                page.goto(address)
                with context.expect_page() as opened:
                    page.get_by_role("button", name="Sign in").click()
                self.sign_in(opened.value)
                if not pages:
                    opened.value.get_by_role("button", name="Allow").click()
                page.get_by_text("Waiting by an event stream.").wait_for()
                pages.append(page)
            pages[0].get_by_label("Message").fill("Hello")
            pages[0].get_by_role("button", name="Send").click()
            for page in pages:
                page.get_by_role("listitem").get_by_text("Hello").wait_for()
            pages[1].reload()
            pages[1].get_by_text("Waiting by an event stream.").wait_for()
            for page in pages:
                page.context.close()

    def by_callback(self, browser, api):
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(self.redirect_url(api))
        self.sign_in(page)
        page.get_by_role("button", name="Allow").click()
        page.wait_for_url(f"{self.app}/back**")
        query = urllib.parse.parse_qs(urllib.parse.urlparse(page.url).query)
        assert query["ckWebAuthToken"] == query["ckSession"], query
        assert self.caller(api, query["ckSession"][0])["firstName"] == "Ann"
        verifier = base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=")
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest())
        wish = urllib.parse.urlencode({
            "callback": f"{self.app}/back", "state": "s 1", "code_challenge_method": "S256",
            "code_challenge": challenge.decode().rstrip("=")})
        page.goto(f"{self.redirect_url(api)}?{wish}")
        page.get_by_role("button", name="Continue").click()
        page.wait_for_url(f"{self.app}/back?code=**")
        query = urllib.parse.parse_qs(urllib.parse.urlparse(page.url).query)
        assert query["state"] == ["s 1"], query
        body = json.dumps({"code": query["code"][0], "code_verifier": verifier}).encode()
        made = json.load(urllib.request.urlopen(f"{self.base}/sign-in/token", body))
        assert self.caller(api, made["ckWebAuthToken"])["firstName"] == "Ann"
        try:
            urllib.request.urlopen(f"{self.base}/sign-in/token", body)
            raise AssertionError("a code worked twice")
        except urllib.error.HTTPError as error:
            assert error.code == 400
        page.goto(f"{self.redirect_url(api)}?callback=https%3A%2F%2Fevil.example%2F")
        assert "sign-in request is invalid" in page.content()
        context.close()


def main(program):
    with Server() as server, Origin() as app:
        server.address = ("127.0.0.1", free_port())
        server.start()
        # Another site than the server's, which has a number for its name.
        origin = f"http://localhost:{app.server_port}"
        server.command("container", "create", CONTAINER)
        api = server.command(
            "api-token", "create", CONTAINER, "development", "--origin", origin)["apiToken"]
        other = server.command(
            "api-token", "create", CONTAINER, "development",
            "--callback", f"{origin}/back")["apiToken"]
        server.make_person("ann", PASSWORD)
        run = Run(server, origin)
        database = f"{run.base}/database/1/{CONTAINER}/development"
        app.page = PAGE.replace("SETTINGS", json.dumps({"api": api, "database": database}))
        with driven(program) as browser:
            run.by_message(browser)
            run.by_callback(browser, other)
            example = server.command("api-token", "create", CONTAINER, "development")["apiToken"]
            run.by_example(browser, example)
        assert run.looked_at == 12, run.looked_at
        server.stop()


if __name__ == "__main__":
    with_chromium(main)
