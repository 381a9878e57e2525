"""Signing in with a real browser: a page of another site gets a user's token and nobody else does.

Chromium, driven by Playwright. A page asks for the caller, gets 421, opens the pop-up, somebody signs in
and agrees, the page receives the message and calls the private database. The same by a callback without
scripts, and with code and challenge. axe-core looks at every page, light and dark, wide and narrow. With a
folder as argument, pictures of the pages are kept there.
"""

import base64
import hashlib
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import urllib.parse
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from server import BINARY, Server

CONTAINER = "iCloud.org.example.Notes"
PASSWORD = "correct horse battery"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

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


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.server.page.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Run:
    def __init__(self, server, app, pictures):
        self.server, self.app, self.pictures = server, app, pictures
        self.base = "http://%s:%d" % server.address
        self.looked_at = 0

    def look(self, page, name):
        """Lets axe-core look at a page as it is, and keeps a picture of it."""
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = Axe().run(page)
            assert found.violations_count == 0, f"{name}, {scheme}: {found.generate_report()}"
            self.looked_at += 1
            if self.pictures:
                page.screenshot(path=os.path.join(self.pictures, f"{name}-{scheme}.png"))
        widest = page.evaluate("""[...document.querySelectorAll('*')].filter(
          element => element.getBoundingClientRect().right > innerWidth).map(e => e.outerHTML)""")
        assert not widest, f"{name} is wider than its window: {widest}"

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
        context = browser.new_context(viewport={"width": 390, "height": 780})
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
        popup.get_by_text("see your name").wait_for()
        self.look(popup, "consent")
        # By keyboard alone.
        popup.get_by_role("button", name="Continue").focus()
        popup.keyboard.press("Enter")
        page.wait_for_function("document.getElementById('seen').textContent !== ''")
        seen = json.loads(page.text_content("#seen"))
        assert seen["messages"] == [[self.base, "ckSession,ckWebAuthToken"]], seen
        assert seen["first"] == "Ann" and seen["zones"] == 1 and seen["header"], seen
        # Opened again, the page asks for nothing but whether to go on.
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

    def by_callback(self, browser, api):
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(self.redirect_url(api))
        self.sign_in(page)
        page.get_by_role("button", name="Continue").click()
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
        assert "not sign you in this way" in page.content()
        context.close()


def main():
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        print("LEFT OUT sign_in.py: no Chromium is installed (Debian: chromium)", file=sys.stderr)
        return
    pictures = sys.argv[1] if len(sys.argv) > 1 else None
    app = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    # Another site than the server's, which has a number for its name.
    origin = f"http://localhost:{app.server_port}"
    with Server() as server:
        server.address = ("127.0.0.1", free_port())
        server.start()
        server.command("container", "create", CONTAINER)
        api = server.command(
            "api-token", "create", CONTAINER, "development", "--origin", origin)["apiToken"]
        other = server.command(
            "api-token", "create", CONTAINER, "development",
            "--callback", f"{origin}/back")["apiToken"]
        subprocess.run(
            [BINARY, "user", "create", "ann@example.org", "--given-name", "Ann",
             "--password-stdin", "--data", server.data],
            input=PASSWORD.encode(), check=True, stdout=subprocess.DEVNULL)
        run = Run(server, origin, pictures)
        database = f"{run.base}/database/1/{CONTAINER}/development"
        app.page = PAGE.replace("SETTINGS", json.dumps({"api": api, "database": database}))
        threading.Thread(target=app.serve_forever, daemon=True).start()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
            run.by_message(browser)
            run.by_callback(browser, other)
            browser.close()
        app.shutdown()
        assert run.looked_at == 12, run.looked_at
        server.stop()


if __name__ == "__main__":
    main()
