"""Tokens and keys in the console: API tokens, server keys, web tokens, operators and their tokens."""

import subprocess
import urllib.error
import urllib.request

from console import CONTAINER, NAUGHTY, OTHER, PASSWORD, Run, held


class Tokens(Run):
    parts = ("api_tokens", "server_keys", "web_tokens", "operators", "scripts", "naughty", "rights")
    looks = 60

    def open(self, email="op@example.org", view=""):
        return self.signed_in(email, "/console/tokens" + (f"?view={view}" if view else ""))

    def shown_once(self, page, name, is_secret=True):
        """The secret that the page shows; it is gone once the operator is done with it."""
        page.get_by_role("heading", name=name).wait_for()
        secret = page.locator(f"pre[aria-label='{name}']").text_content()
        page.get_by_role("button", name="Close").focus()
        page.keyboard.press("Enter")
        page.get_by_role("heading", name=name).wait_for(state="detached")
        assert not is_secret or secret not in page.content()
        return secret

    def lets_in(self, token, origin):
        """Whether an app's page gets so far that somebody is asked to sign in."""
        request = urllib.request.Request(
            f"http://{self.server.address[0]}:{self.server.address[1]}/database/1/{CONTAINER}/development/public/zones/list"
            f"?ckAPIToken={token}", headers={"Origin": origin})
        try:
            urllib.request.urlopen(request)
        except urllib.error.HTTPError as error:
            assert error.code in (401, 421), error.code
            return error.code == 421
        raise AssertionError("nobody has signed in")

    def api_tokens(self):
        self.server.command("container", "create", CONTAINER)
        page = self.open()
        page.get_by_text("No app has a token yet.").wait_for()
        self.look(page, "tokens-none")
        page.get_by_role("button", name="New API token…").click()
        page.get_by_label("Name", exact=True).fill("web")
        page.get_by_label("Origins, one a line").fill("https://a.example\nhttps://b.example")
        self.look(page, "tokens-new")
        page.get_by_role("button", name="Make", exact=True).click()
        token = self.shown_once(page, "The API token")
        page.get_by_role("row", name="web").get_by_text("https://b.example").wait_for()
        assert self.lets_in(token, "https://b.example") and not self.lets_in(token, "https://c.example")

        page.get_by_role("button", name="Change web").focus()
        page.keyboard.press("Enter")
        origins = page.get_by_label("Origins, one a line")
        assert origins.input_value() == "https://a.example\nhttps://b.example"
        origins.fill("no origin")
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_role("alert").first.wait_for()
        origins.fill("https://c.example")
        page.get_by_label("Where sign-in delivers").fill("")
        page.keyboard.press("Enter")
        page.get_by_text("The token is changed.").wait_for()
        page.get_by_role("row", name="web").get_by_text("https://c.example").wait_for()
        assert self.lets_in(token, "https://c.example") and not self.lets_in(token, "https://b.example")
        self.look(page, "tokens-api")

        page.get_by_label("Name begins with").fill("none of them")
        page.get_by_role("button", name="Search").click()
        page.get_by_text("None begins so.").wait_for()
        page.get_by_label("Name begins with").fill("")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("button", name="Revoke web").click()
        page.get_by_role("button", name="Cancel").click()
        assert self.lets_in(token, "https://c.example")
        page.get_by_role("button", name="Revoke web").click()
        self.look(page, "tokens-revoke")
        page.get_by_role("button", name="Revoke", exact=True).last.click()
        page.get_by_text("No app has a token yet.").wait_for()
        assert not self.lets_in(token, "https://c.example")
        page.context.close()

    def server_keys(self):
        page = self.open(view="keys")
        page.get_by_text("No server has a key yet.").wait_for()
        page.get_by_role("button", name="Add a server key…").click()
        page.get_by_label("Public key").fill("no key")
        page.get_by_role("button", name="Make", exact=True).click()
        page.get_by_role("alert").first.wait_for()
        key = subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout"], capture_output=True, check=True)
        pem = subprocess.run(["openssl", "ec", "-pubout"], input=key.stdout, capture_output=True, check=True).stdout.decode()
        page.get_by_label("Name", exact=True).fill("importer")
        page.get_by_label("Public key").fill(pem)
        page.get_by_label("all databases").check()
        self.look(page, "tokens-key-new")
        page.get_by_role("button", name="Make", exact=True).click()
        key_id = self.shown_once(page, "The key ID", is_secret=False)
        page.get_by_role("row", name="importer").get_by_text("all databases").wait_for()
        self.look(page, "tokens-keys")
        assert self.server.command("server-key", "list")["keyID"] == [key_id]
        page.get_by_role("button", name="Revoke importer").focus()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Revoke", exact=True).last.focus()
        page.keyboard.press("Enter")
        page.get_by_text("No server has a key yet.").wait_for()
        assert self.server.command("server-key", "list")["keyID"] == []
        page.context.close()

    def web_tokens(self):
        self.server.make_person("ann", PASSWORD)
        page = self.open(view="sessions")
        page.get_by_text("Choose a container to see").wait_for()
        page.locator(".query select").select_option(CONTAINER)
        page.get_by_text("Nobody is signed in.").wait_for()
        page.get_by_role("button", name="New web token…").click()
        page.get_by_label("E-mail address of the user").fill("ann@example.org")
        page.keyboard.press("Enter")
        assert len(self.shown_once(page, "The web token")) > 50
        page.get_by_role("cell", name="ann@example.org").wait_for()
        self.look(page, "tokens-web")
        page.get_by_role("button", name="End ").click()
        page.get_by_role("button", name="End", exact=True).last.click()
        page.get_by_text("Nobody is signed in.").wait_for()
        page.context.close()

    def operators(self):
        self.server.make_person("bob", PASSWORD)
        page = self.open(view="operators")
        page.get_by_role("row", name="op@example.org").get_by_text("changes everything").wait_for()
        page.get_by_role("button", name="Make somebody an operator…").click()
        page.get_by_label("E-mail address").fill("bob@example.org")
        page.get_by_label("May look, and").check()
        page.get_by_label("Containers").select_option([CONTAINER])
        self.look(page, "tokens-operator-new")
        page.get_by_role("button", name="Make", exact=True).click()
        page.get_by_role("row", name="bob@example.org").get_by_text("looks at").wait_for()
        page.get_by_role("button", name="Change the rights of bob@example.org").focus()
        page.keyboard.press("Enter")
        assert page.get_by_label("May look, and").is_checked()
        page.get_by_label("May look, and").focus()
        page.keyboard.press("Space")
        page.get_by_role("button", name="Save", exact=True).focus()
        page.keyboard.press("Enter")
        page.get_by_role("row", name="bob@example.org").get_by_text("changes").wait_for()
        self.look(page, "tokens-operators")
        listed = {each["email"]: each for each in self.server.command("operator", "list")["operators"]}
        assert listed["bob@example.org"]["containers"] == [CONTAINER] and not listed["bob@example.org"]["readOnly"], listed
        page.get_by_label("Account ID or whole address").fill("bob@example.org")
        page.keyboard.press("Enter")
        page.get_by_role("row", name="op@example.org").wait_for(state="detached")
        page.get_by_role("row", name="bob@example.org").wait_for()
        page.get_by_label("Account ID or whole address").fill("")
        page.keyboard.press("Enter")
        page.get_by_role("row", name="op@example.org").wait_for()
        page.get_by_role("button", name="Invite an operator…").click()
        page.get_by_label("E-mail address").fill("cy@example.org")
        page.get_by_role("button", name="Invite", exact=True).click()
        assert "http" in self.shown_once(page, "The invitation")
        page.get_by_role("button", name="Remove bob@example.org").click()
        page.get_by_role("button", name="Remove", exact=True).last.click()
        page.get_by_role("row", name="bob@example.org").wait_for(state="detached")
        assert "bob@example.org" not in self.server.command("operator", "list")["email"]
        page.context.close()

    def scripts(self):
        page = self.open(view="scripts")
        page.get_by_text("No script acts as an operator.").wait_for()
        page.get_by_role("button", name="New operator token…").focus()
        page.keyboard.press("Enter")
        page.get_by_label("Name", exact=True).fill("nightly")
        page.get_by_label("Days until it ends").fill("2")
        page.get_by_label("May look, and").check()
        page.get_by_role("button", name="Make", exact=True).click()
        token = self.shown_once(page, "The operator token")
        request = urllib.request.Request(f"{self.base}/console/api", headers={"Authorization": f"Bearer {token}"})
        assert urllib.request.urlopen(request).status == 200
        page.get_by_role("row", name="nightly").get_by_text("looks at everything").wait_for()
        self.look(page, "tokens-scripts")
        page.get_by_role("button", name="Revoke nightly").click()
        page.get_by_role("button", name="Revoke", exact=True).last.click()
        page.get_by_text("No script acts as an operator.").wait_for()
        try:
            urllib.request.urlopen(request)
            raise AssertionError("a revoked token goes on")
        except urllib.error.HTTPError as error:
            assert error.code == 401, error.code
        page.context.close()

    def naughty(self):
        """Names that would run a script are texts; those that the server refuses are refused in words."""
        self.server.command("container", "set", CONTAINER, f"name={NAUGHTY[0]}")
        page = self.open()
        made = 0
        for name in NAUGHTY:
            page.get_by_role("button", name="New API token…").click()
            page.get_by_label("Name", exact=True).fill(name)
            page.get_by_role("button", name="Make", exact=True).click()
            page.locator("form.card .problem, form.card pre[aria-label^='The']").first.wait_for()
            if page.locator("form.card pre[aria-label^='The']").count():
                self.shown_once(page, "The API token")
                page.get_by_role("rowheader", name=name, exact=True).wait_for()
                made += 1
            else:
                page.get_by_role("button", name="Cancel").click()
        assert made >= 6 and page.title() != "ran", made
        self.look(page, "tokens-naughty")
        page.context.close()

    def rights(self):
        self.server.command("container", "create", OTHER)
        self.server.command("api-token", "create", OTHER, "development", "--name", "of-other")
        self.operator("reader", "--read-only")
        self.operator("other", "--container", OTHER)
        page = self.open("reader@example.org")
        page.get_by_role("rowheader", name="of-other").wait_for()
        for view in ("Server keys", "Operators", "Operator tokens", "API tokens"):
            page.get_by_role("link", name=view, exact=True).click()
            page.locator("#screen table, #screen .empty").first.wait_for()
            for name in ("New", "Add", "Make", "Invite", "Change", "Rights", "Revoke", "Remove"):
                assert page.locator("#screen").get_by_role("button", name=name).count() == 0, (view, name)
        page.context.close()
        page = self.open("other@example.org")
        page.get_by_role("rowheader", name="of-other").wait_for()
        assert page.get_by_role("rowheader").count() == 1 and CONTAINER not in page.locator("#screen").text_content()
        assert page.get_by_role("link", name="Operators").count() == 0
        page.goto(f"{self.base}/console/tokens?view=operators")
        page.get_by_text("You have no right to this.").wait_for()
        self.look(page, "tokens-no-right")
        page.context.close()


if __name__ == "__main__":
    held(Tokens)
