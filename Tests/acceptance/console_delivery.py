"""Delivery in the console: what waits for whom, subscriptions, webhooks with what they refused, and the keys of pushes.

A webhook refuses what it is sent, which is looked at and sent again; somebody's device is tried by a push; and names
that try to run a script run none. Who only looks sees no button, and who has another container nothing.
"""

import json
import os
import time
import urllib.parse
import urllib.request

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from console import CONTAINER, NAUGHTY, OTHER, PASSWORD, Run, held
from listener import Handler, Listener

WHERE = (CONTAINER, "development")
PATH = f"/console/delivery?container={CONTAINER}"


class Receiver(Handler):
    status = 410

    def do_POST(self):
        self.body()
        self.answer(b"", Receiver.status)


class Delivery(Run):
    parts = ("prepare", "waiting", "subscriptions", "webhooks", "keys", "states", "rights")
    looks = 30

    def until(self, holds):
        end = time.monotonic() + 300
        while not holds():
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.1)

    def webhooks_there(self):
        return self.server.command("webhook", "list", *WHERE)["webhooks"]

    def prepare(self):
        self.server.command("container", "create", CONTAINER)
        self.server.command("container", "create", OTHER)
        self.server.make_person("ann", PASSWORD)
        self.listening = Listener(Receiver)
        self.listening.__enter__()
        self.url = f"http://127.0.0.1:{self.listening.server_address[1]}/in"

    def device(self, name):
        token = self.server.command("api-token", "create", *WHERE)["apiToken"]
        web = self.server.command("web-token", "create", *WHERE, f"{name}@example.org")["webAuthToken"]
        urllib.request.urlopen(urllib.request.Request(
            f"http://{self.server.address[0]}:{self.server.address[1]}/device/1/{CONTAINER}/development/tokens/create"
            f"?ckAPIToken={token}&ckWebAuthToken={urllib.parse.quote(web, safe='')}",
            json.dumps({"apnsEnvironment": "development", "clientId": NAUGHTY[0]}).encode(), {"Content-Type": "text/plain"}))

    def waiting(self):
        """Nothing waits at first; a device is tried, and then a notice waits for it."""
        page = self.signed_in("op@example.org", "/console/delivery")
        page.get_by_text("Choose a container").wait_for()
        page.locator(".where select").select_option(CONTAINER)
        page.get_by_text("Nothing waits.").wait_for()
        self.look(page, "delivery-nothing")
        page.get_by_label("User").fill("ann@example.org")
        page.keyboard.press("Enter")
        page.get_by_text("This user has no registered device or browser.").wait_for()
        self.device("ann")
        page.get_by_role("button", name="Look again").click()
        page.get_by_text("fetches by itself").wait_for()
        page.get_by_role("button", name="Send a test push").click()
        page.get_by_text("A notice is on its way to 1 device.").first.wait_for()
        page.get_by_role("cell", name="1", exact=True).wait_for()
        page.get_by_role("button", name="Send a test push").focus()
        page.keyboard.press("Enter")
        page.get_by_text("A notice is on its way to 1 device.").first.wait_for()
        self.look(page, "delivery-waiting")
        assert self.server.command("outbox", "list", *WHERE)["waiting"] == 1, "a test takes the place of the one before"
        page.get_by_label("User").fill("nobody@example.org")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("alert").first.wait_for()
        page.context.close()

    def subscriptions(self):
        for index, identifier in enumerate(NAUGHTY):
            self.ask("ann", "development", "subscriptions/modify", {"operations": [{
                "operationType": "create", "subscription": {
                    "subscriptionID": identifier, "subscriptionType": "query", "firesOn": ["create", "update"],
                    "query": {"recordType": f"Note{index}"}}}]})
        there = len(self.server.command("subscription", "list", *WHERE)["subscriptions"])
        assert there == len(NAUGHTY), there
        page = self.signed_in("op@example.org", PATH)
        page.get_by_role("link", name="Subscriptions").click()
        page.get_by_text(f"{there} subscriptions").wait_for()
        page.get_by_role("rowheader", name=NAUGHTY[0]).wait_for()
        self.look(page, "delivery-subscriptions")
        page.get_by_label("ID begins with").fill("<img")
        page.keyboard.press("Enter")
        page.get_by_text("1 subscription", exact=False).wait_for()
        page.get_by_role("link", name="ann@example.org").click()
        page.get_by_text("fetches by itself").wait_for()
        page.goto(f"{self.base}{PATH}&view=subscriptions&search=none")
        page.get_by_text("There is no such subscription.").wait_for()
        assert page.title() != "ran" and page.errors == [], page.errors
        page.context.close()

    def webhooks(self):
        """Added, tried, and what was given up sent again; then removed."""
        page = self.signed_in("op@example.org", f"{PATH}&view=webhooks")
        page.get_by_text("No webhook is here").wait_for()
        page.get_by_role("button", name="Add a webhook").click()
        page.get_by_label("URL", exact=True).fill(self.url)
        page.get_by_label("Name", exact=True).fill("a b")
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_role("alert").first.wait_for()
        assert page.get_by_label("URL", exact=True).input_value() == self.url, "what was typed stays"
        page.get_by_label("Name", exact=True).fill("hook")
        page.keyboard.press("Enter")
        key = page.get_by_label("Signing key").text_content()
        assert key.startswith("whsec_"), "the key is shown"
        self.look(page, "delivery-signing-key")
        page.get_by_role("button", name="Close").click()
        page.get_by_role("button", name="Test hook").click()
        page.get_by_role("alert").get_by_text("410").wait_for()
        self.server.save([{"recordName": "n", "recordType": "Note", "fields": {"title": {"value": "Hello"}}}])
        self.until(lambda: self.webhooks_there()[0]["givenUp"] > 0)
        page.reload()
        page.get_by_role("link", name="given up for hook").click()
        page.get_by_role("heading", name="Given up for hook").wait_for()
        page.get_by_role("cell", name="answered with 410", exact=False).first.wait_for()
        assert key not in page.content(), "a key is shown this once"
        self.look(page, "delivery-dead-letters")
        Receiver.status = 204
        page.get_by_role("button", name="Send all again").focus()
        page.keyboard.press("Enter")
        page.get_by_text("wait to be sent again").first.wait_for()
        self.until(lambda: self.webhooks_there()[0]["givenUp"] == 0 and self.webhooks_there()[0]["waiting"] == 0)
        page.get_by_role("button", name="Test hook").focus()
        page.keyboard.press("Enter")
        page.get_by_text("hook has taken it.").first.wait_for()
        page.get_by_role("button", name="Remove hook").click()
        page.get_by_role("button", name="Cancel").click()
        assert len(self.webhooks_there()) == 1
        page.get_by_role("button", name="Remove hook").focus()
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Remove the webhook?").wait_for()
        page.get_by_role("button", name="Remove", exact=True).press("Enter")
        page.get_by_text("No webhook is here").wait_for()
        assert self.webhooks_there() == []
        page.context.close()

    def keys(self):
        """The server's own key; and one for Apple's devices, where the build pushes there."""
        page = self.signed_in("op@example.org", f"{PATH}&view=keys")
        shown = page.get_by_label("Key for browsers").text_content()
        assert shown == self.server.command("push", "key", "list")["webPushKey"]
        page.get_by_role("button", name="Add a key").click()
        page.get_by_label("Bundle ID").fill("org.example.atlas")
        page.get_by_label("Key ID").fill("ABCDEFGHIJ")
        page.get_by_label("Team ID").fill("ABCDEFGHIJ")
        pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        page.get_by_label("Private key").set_input_files({"name": "key.p8", "mimeType": "text/plain", "buffer": pem})
        self.look(page, "delivery-keys")
        page.get_by_role("button", name="Add", exact=True).click()
        added = page.get_by_role("rowheader", name="org.example.atlas")
        added.or_(page.get_by_role("alert").get_by_text("does not push to Apple")).wait_for()
        if added.count():
            page.get_by_role("button", name="Remove org.example.atlas").click()
            page.get_by_role("button", name="Remove", exact=True).click()
            added.wait_for(state="detached")
        page.context.close()

    def states(self):
        """A slow network shows that something is awaited; a server that cannot be reached loses nothing."""
        page = self.signed_in("op@example.org", "/console/containers")
        asked = []
        page.route("**/console/api/outbox/list", lambda route: asked.append(route))
        page.goto(self.base + PATH)
        page.get_by_text("Looking for what waits…").wait_for()
        self.until(lambda: page.wait_for_timeout(50) or asked)
        asked[0].abort()
        page.unroute("**/console/api/outbox/list")
        page.get_by_role("alert").get_by_text("cannot be reached").first.wait_for()
        self.look(page, "delivery-unreachable")
        page.get_by_role("button", name="Try again").click()
        page.locator("p.quiet", has_text="wait").first.wait_for()
        page.get_by_role("alert").wait_for(state="detached")
        page.context.close()

    def rights(self):
        self.server.command("webhook", "add", *WHERE, self.url, "--name", "hook")
        self.operator("reader", "--read-only")
        self.operator("other", "--container", OTHER)
        page = self.signed_in("reader@example.org", f"{PATH}&user=ann@example.org")
        page.get_by_text("fetches by itself").wait_for()
        assert page.get_by_role("button", name="Send a test push").count() == 0
        page.get_by_role("link", name="Webhooks").click()
        page.get_by_role("rowheader", name="hook").wait_for()
        page.get_by_role("link", name="Push keys").click()
        page.get_by_label("Key for browsers").wait_for()
        for name in ("Add", "Remove", "Test", "Send all again"):
            assert page.get_by_role("button", name=name).count() == 0, name
        page.context.close()
        page = self.signed_in("other@example.org", f"{PATH}&view=webhooks")
        page.get_by_text("You have no right to this.").first.wait_for()
        assert "hook" not in page.locator("table").all_text_contents()
        page.locator(".where select").select_option(OTHER)
        page.get_by_text("No webhook is here").wait_for()
        page.context.close()
        self.listening.__exit__()


if __name__ == "__main__":
    os.environ["LENTICULAR_OUTGOING_ALLOWED_NETWORKS"] = "127.0.0.1"
    held(Delivery)
