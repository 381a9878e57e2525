"""How people show who they are, in a real browser: codes of an app, a provider, passkeys, and going.

Chromium, driven by Playwright, signs in by codes of an authenticator app and by a recovery code, by way of an
OpenID Connect provider that is made with Authlib and checks what a strict one checks, and by a virtual
authenticator; takes its data along, deletes the account and takes that back.
"""

import base64
import hashlib
import hmac
import io
import json
import os
import subprocess
import time
import zipfile

from chromium import Origin, with_chromium
from provider import Provider
from server import BINARY, Server, free_port
from sign_in import CONTAINER, PAGE, PASSWORD
from viewer import PHONE, Viewer, driven


def time_code(secret, moment=None):
    """The code that an authenticator app shows (RFC 6238)."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    step = int((time.time() if moment is None else moment) // 30)
    digest = hmac.new(key, step.to_bytes(8, "big"), hashlib.sha1).digest()
    start = digest[-1] & 15
    number = int.from_bytes(digest[start:start + 4], "big") & 0x7FFFFFFF
    return f"{number % 1_000_000:06d}"


class Run(Viewer):
    def __init__(self, server):
        # Browsers bind passkeys to a name, never to a number.
        super().__init__(server, "localhost")

    def context(self, browser, **more):
        return browser.new_context(viewport=PHONE, **more)

    def sign_in(self, page, email, password=PASSWORD):
        page.goto(f"{self.base}/sign-in")
        page.get_by_label("E-mail address").fill(email)
        page.get_by_label("Password", exact=True).fill(password)
        page.get_by_role("button", name="Sign in", exact=True).click()

    def codes(self, browser):
        """Two-factor authentication and recovery codes, without any script."""
        context = self.context(browser, java_script_enabled=True)
        page = context.new_page()
        self.sign_in(page, "ann@example.org")
        page.wait_for_url("**/account")
        page.goto(f"{self.base}/account/second-factor")
        secret = page.locator("main > p > code").text_content()
        self.look(page, "second-factor")
        page.get_by_label("Code from the app").fill("000000")
        page.get_by_role("button", name="Turn on").click()
        page.get_by_role("alert").wait_for()
        page.get_by_label("Code from the app").fill(time_code(secret))
        page.get_by_role("button", name="Turn on").click()
        page.get_by_text("Save these recovery codes").wait_for()
        recovery = page.locator("#codes").text_content().split()
        assert len(recovery) == 10, recovery
        self.look(page, "recovery-codes")
        context.close()

        context = self.context(browser, java_script_enabled=False)
        page = context.new_page()
        self.sign_in(page, "ann@example.org")
        page.get_by_label("Authentication code").fill(recovery[0])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/account")
        assert "9 recovery codes are left" in page.content()
        context.close()

        context = self.context(browser)
        page = context.new_page()
        self.sign_in(page, "ann@example.org")
        page.get_by_label("Authentication code").wait_for()
        self.look(page, "second-factor-asked")
        page.get_by_label("Authentication code").fill(recovery[0])
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("alert").wait_for()
        # The next step's code: the one of now may have set it up.
        page.get_by_label("Authentication code").fill(time_code(secret, time.time() + 30))
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/account")
        self.look(page, "account-security")
        page.goto(f"{self.base}/account/prove?to=second-factor")
        self.look(page, "prove")
        context.close()
        answer = self.server.command("user", "second-factor", "ann@example.org")
        assert answer["secondFactor"] is True and answer["recoveryCodes"] == 9, answer
        self.server.command("user", "second-factor", "ann@example.org", "--remove")

    @staticmethod
    def is_kept(context):
        """Whether the browser stays signed in when it is closed."""
        return any(cookie["name"].endswith("lenticular-session") and cookie["expires"] > 0
                   for cookie in context.cookies())

    def passkeys(self, browser):
        context = self.context(browser)
        page = context.new_page()
        session = context.new_cdp_session(page)
        session.send("WebAuthn.enable")
        session.send("WebAuthn.addVirtualAuthenticator", {"options": {
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
            "hasUserVerification": True, "isUserVerified": True,
            "automaticPresenceSimulation": True}})
        self.sign_in(page, "ann@example.org")
        page.wait_for_url("**/account")
        page.goto(f"{self.base}/account/passkeys")
        page.get_by_role("button", name="Create a passkey").click()
        page.get_by_role("button", name="Remove").wait_for()
        self.look(page, "passkeys")
        page.goto(f"{self.base}/account")
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.wait_for_url("**/sign-in")
        self.look(page, "sign-in-passkey")
        page.get_by_label("Stay signed in").check()
        page.get_by_role("button", name="Sign in with a passkey").click()
        page.wait_for_url("**/account")
        assert "ann@example.org" in page.content()
        assert self.is_kept(context)
        # A second one of the same authenticator is refused by it.
        page.goto(f"{self.base}/account/passkeys")
        page.get_by_role("button", name="Create a passkey").click()
        page.get_by_role("alert").wait_for()
        page.get_by_role("button", name="Remove").click()
        page.get_by_text("No passkeys yet.").wait_for()
        page.goto(f"{self.base}/account")
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.get_by_role("button", name="Sign in with a passkey").click()
        page.get_by_role("alert").first.wait_for()
        assert page.url.endswith("/sign-in"), page.url
        context.close()

    def provider(self, browser, provider):
        """Links a provider, signs in by it, and is refused whatever a dishonest one says."""
        context = self.context(browser)
        page = context.new_page()
        self.sign_in(page, "ann@example.org")
        page.wait_for_url("**/account")
        page.goto(f"{self.base}/account/identities")
        page.get_by_role("button", name="Link Stand-in account").click()
        page.wait_for_url("**/account")
        page.goto(f"{self.base}/account/identities")
        page.get_by_role("button", name="Unlink: Stand-in").wait_for()
        self.look(page, "identities")
        context.close()
        for post in (False, True):
            provider.form_post = post
            context = self.context(browser, java_script_enabled=post)
            page = context.new_page()
            page.goto(f"{self.base}/sign-in")
            if not post:
                # The picture is of a page without scripts, where axe-core would not run.
                page.get_by_role("button", name="Sign in with Stand-in").wait_for()
            else:
                self.look(page, "sign-in-provider")
            if post:
                page.get_by_label("Stay signed in").check()
            page.get_by_role("button", name="Sign in with Stand-in").click()
            page.wait_for_url("**/account")
            assert "ann@example.org" in page.content()
            assert self.is_kept(context) == post
            context.close()
        provider.form_post = False
        refusals = ("none", "hs256", "nonce", "issuer", "audience", "expired", "early", "key",
                    "subject", "code")
        for lie in refusals:
            provider.lie = lie
            context = self.context(browser)
            page = context.new_page()
            page.goto(f"{self.base}/sign-in")
            page.get_by_role("button", name="Sign in with Stand-in").click()
            page.get_by_role("alert").wait_for()
            page.goto(f"{self.base}/account")
            assert page.url.endswith("/sign-in"), f"{lie}: {page.url}"
            context.close()
        provider.lie = None
        assert provider.verifiers_refused == 0, "a wrong verifier was sent"
        print(f"security.py: {len(refusals)} lies of a provider refused")

    def apart(self, browser, app):
        """A provider in a window of its own leaves the bond between an app and its window whole."""
        context = self.context(browser)
        page = context.new_page()
        page.goto(f"http://localhost:{app.server_port}/")
        with context.expect_page() as opened:
            page.click("#in")
        popup = opened.value
        with context.expect_page() as opened:
            popup.get_by_role("button", name="Sign in with Stand-in").click()
        away = opened.value
        away.wait_for_url("**/sign-in/done")
        self.look(away, "provider-done")
        assert away.evaluate("window.opener") is None
        away.close()
        popup.get_by_role("link", name="Continue after signing in").click()
        popup.get_by_role("button", name="Allow").click()
        page.wait_for_function("document.getElementById('seen').textContent !== ''")
        seen = json.loads(page.text_content("#seen"))
        assert seen["messages"] == [[self.base, "ckSession,ckWebAuthToken"]], seen
        assert seen["first"] == "Ann" and seen["header"], seen
        context.close()

    def going(self, browser):
        context = self.context(browser, accept_downloads=True)
        page = context.new_page()
        self.sign_in(page, "ann@example.org")
        page.wait_for_url("**/account")
        page.goto(f"{self.base}/account/export")
        self.look(page, "export")
        with page.expect_download() as waiting:
            page.get_by_role("button", name="Download ZIP file").click()
        with open(waiting.value.path(), "rb") as file:
            archive = zipfile.ZipFile(io.BytesIO(file.read()))
        assert archive.testzip() is None
        account = json.loads(archive.read("account.json"))
        assert account["addresses"][0]["address"] == "ann@example.org", account
        page.goto(f"{self.base}/account/delete")
        self.look(page, "delete")
        page.get_by_label("Delete it").check()
        page.get_by_role("button", name="Delete my account").click()
        page.get_by_text("Your account is scheduled for deletion").wait_for()
        self.look(page, "deleted")
        page.goto(f"{self.base}/account")
        assert page.url.endswith("/sign-in"), page.url
        self.sign_in(page, "ann@example.org")
        page.wait_for_url("**/account")
        context.close()
        what = [entry["what"] for entry in self.server.command("audit", "list")["entries"]]
        for action in ("second factor added", "passkey added", "identity added",
                       "account exported", "account deletion asked for",
                       "account deletion taken back"):
            assert action in what, (action, what)


class LocalServer(Server):
    """A server that is reached by a name, and may speak to the provider beside it."""

    def started(self, arguments, **outputs):
        environment = {
            **os.environ, "LENTICULAR_OUTGOING_ALLOWED_NETWORKS": "127.0.0.1",
            "LENTICULAR_PUBLIC_BASE_URL": "http://localhost:%d" % self.address[1]}
        return subprocess.Popen(arguments, env=environment, **outputs)


def main(program):
    with LocalServer() as server, Provider() as provider, Origin() as app:
        server.address = ("127.0.0.1", free_port())
        server.start()
        server.make_person("ann", PASSWORD)
        added = subprocess.run(
            [BINARY, "identity-provider", "add", "Stand-in", provider.issuer, provider.client,
             "--secret-stdin", "--data", server.data, "--json"],
            input=provider.secret.encode(), check=True, stdout=subprocess.PIPE)
        provider.redirect = json.loads(added.stdout)["redirectURL"]
        server.command("container", "create", CONTAINER)
        api = server.command(
            "api-token", "create", CONTAINER, "development", "--origin",
            f"http://localhost:{app.server_port}")["apiToken"]
        run = Run(server)
        app.page = PAGE.replace("SETTINGS", json.dumps({
            "api": api, "database": f"{run.base}/database/1/{CONTAINER}/development"}))
        with driven(program) as browser:
            run.codes(browser)
            run.passkeys(browser)
            run.provider(browser, provider)
            run.apart(browser, app)
            run.going(browser)
        assert run.looked_at == 26, run.looked_at
        server.stop()


if __name__ == "__main__":
    with_chromium(main)
