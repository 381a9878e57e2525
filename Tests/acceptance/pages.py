"""Every page for people in another language than English, in a real browser; and accounts by phone.

A language's file is made out of what `config texts` prints: each text stands between two signs, so that what is
not out of the file is seen. Chromium, driven by Playwright at the width of a phone, goes through the pages: an
account is made by phone number, codes come as text messages to a small receiver, a password is replaced, and
what has ended says so. On each page axe-core finds nothing, the language is named, and every heading, label and
button is out of the file. A file that is wrong stops the start.
"""

import json
import os
import queue
import re
import subprocess

from chromium import with_chromium
from listener import Handler, Listener
from server import BINARY, Server, free_port
from viewer import PHONE, Viewer, driven

CONTAINER = "iCloud.org.example.Notes"
PASSWORD = "correct horse battery"
NUMBER = "+49 171 234-5678"
SECONDS_MAX = 60
# Of the pages' own words; what people and apps are called is their own.
OWN = "h1, h2, label, button, legend, summary, a, .quiet, [role=alert], [role=status], dt"


class Receiver(Listener):
    """Takes text messages as a provider's gateway would."""

    def __init__(self):
        self.messages = queue.Queue()
        super().__init__(Messages)

    def next(self, number):
        """The text of the next message, which has to be for a number."""
        message = self.messages.get(timeout=SECONDS_MAX)
        assert message["to"] == number, message
        return message["text"]


class Messages(Handler):
    def do_POST(self):
        message = json.loads(self.body())
        self.answer(b"")
        self.server.messages.put(message)


def texts(folder):
    """A language with every text between two signs, and one from right to left with a single text."""
    printed = subprocess.run(
        [BINARY, "config", "texts"], check=True, capture_output=True, text=True).stdout
    made = re.sub(r'(?m)^(  \w+: ")(.*)(",)$', r"\1⟦\2⟧\3", printed)
    assert made.count("⟦") > 150, "the printed texts have another form"
    with open(os.path.join(folder, "de.json5"), "w", encoding="utf-8") as file:
        file.write(made)
    with open(os.path.join(folder, "he.json5"), "w", encoding="utf-8") as file:
        file.write('{signIn: "כניסה"}')
    return made


def refused(folder, made):
    """A wrong text stops the start, and its line and key are named."""
    bad = os.path.join(folder, "bad")
    os.mkdir(bad)
    line = next(n for n, text in enumerate(made.splitlines(), 1) if "waitSeconds:" in text)
    with open(os.path.join(bad, "de.json5"), "w", encoding="utf-8") as file:
        file.write(made.replace("{count} seconds", "some seconds", 1))
    for words in (["config", "check"], ["serve", "--data", os.path.join(folder, "none")]):
        outcome = subprocess.run(
            [BINARY, *words], capture_output=True, text=True, timeout=SECONDS_MAX,
            env={**os.environ, "LENTICULAR_PAGES_TEXTS_FOLDER": bad})
        assert outcome.returncode == 1, outcome
        assert f"de.json5, line {line}" in outcome.stderr, outcome.stderr
        assert "waitSeconds: expected {count} in it" in outcome.stderr, outcome.stderr


class Run(Viewer):
    def __init__(self, server, receiver):
        super().__init__(server, "localhost")
        self.receiver = receiver

    def look(self, page, name, tag="de"):
        """Looks for words, too, that are not out of the language's file."""
        super().look(page, name)
        assert page.get_attribute("html", "lang") == tag, name
        if tag != "de":
            return
        foreign = page.evaluate(
            """own => [...document.querySelectorAll(own)].map(e => e.textContent.trim()).filter(
              text => text && !text.includes('⟦'))""", OWN)
        assert not foreign, f"{name} says what is not in its language: {foreign}"
        assert "⟦" in page.title(), page.title()

    def open(self, page, path, name):
        page.goto(self.base + path)
        self.look(page, name)

    def make_account(self, page):
        self.open(page, "/sign-in", "sign-in")
        page.get_by_role("link", name="Create account").click()
        page.get_by_label("E-mail address or phone number").fill("0171 2345678")
        page.get_by_role("button", name="Send link").click()
        page.get_by_role("alert").wait_for()
        self.look(page, "new-refused")
        page.get_by_label("E-mail address or phone number").fill(NUMBER)
        page.get_by_role("button", name="Send link").click()
        page.get_by_text("Check your messages").wait_for()
        self.look(page, "new-sent")
        text = self.receiver.next("+491712345678")
        assert text.startswith("⟦localhost: ⟦You are invited."), text
        link = re.search(r"http://\S+/sign-in/welcome/[A-Za-z0-9_-]+", text).group()
        self.open(page, link[link.index("/sign-in"):], "welcome")
        page.get_by_label("First name").fill("Noor")
        page.get_by_label("New password").fill(PASSWORD)
        page.get_by_role("button", name="Create account").click()
        page.wait_for_url("**/account")
        self.look(page, "account")
        self.open(page, link[link.index("/sign-in"):], "link-ended")

    def add_number(self, page):
        page.goto(f"{self.base}/account")
        page.get_by_label("Add an address").fill("+1 555 010 0199")
        page.get_by_role("button", name="Send code").click()
        page.get_by_label("Verification code").wait_for()
        self.look(page, "number-code")
        text = self.receiver.next("+15550100199")
        page.get_by_label("Verification code").fill(re.search(r"\d{4} \d{4}", text).group())
        page.get_by_role("button", name="Verify").click()
        page.get_by_text("Address verified.").wait_for()
        self.look(page, "number-added")

    def account_pages(self, page):
        for path in ("second-factor", "passkeys", "identities", "export", "delete", "prove"):
            self.open(page, f"/account/{path}", f"account-{path}")
        self.open(page, "/account/nowhere", "nowhere")
        self.open(page, "/share/0abAbCdEfGhIjKlMnOpQrStUv", "share-none")

    def sign_in(self, context, page):
        page.goto(f"{self.base}/account")
        page.get_by_role("button", name="Sign out", exact=False).first.click()
        page.wait_for_url("**/sign-in")
        page.get_by_label("E-mail address or phone number").fill("+15550100199")
        page.get_by_label("Password", exact=False).fill("wrong horse")
        page.keyboard.press("Enter")
        page.get_by_role("alert").wait_for()
        self.look(page, "sign-in-refused")
        page.get_by_label("E-mail address or phone number").fill("+1 (555) 010-0199")
        page.get_by_label("Password", exact=False).fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/account")
        context.clear_cookies()
        self.open(page, "/share/0abAbCdEfGhIjKlMnOpQrStUv", "share-closed")
        self.open(page, "/sign-in/done", "done")
        self.open(page, "/sign-in/AAAA", "ticket-ended")

    def forgotten(self, page):
        self.open(page, "/sign-in/forgotten", "forgotten")
        page.get_by_label("E-mail address or phone number").fill("+491712345678")
        page.get_by_role("button", name="Send link").click()
        page.get_by_text("Check your messages").wait_for()
        text = self.receiver.next("+491712345678")
        while "/sign-in/reset/" not in text:
            # News of the sign-in before.
            text = self.receiver.next("+491712345678")
        link = re.search(r"/sign-in/reset/[A-Za-z0-9_-]+", text).group()
        self.open(page, link, "reset")
        page.get_by_label("New password").fill(PASSWORD + "!")
        page.get_by_role("button", name="Save password").click()
        page.wait_for_url("**/account")

    def chosen(self, browser):
        """An address may choose the language, whatever the browser asks for; and the other direction."""
        context = browser.new_context(locale="fr-FR", viewport=PHONE)
        page = context.new_page()
        page.goto(f"{self.base}/sign-in")
        self.look(page, "sign-in-english", "en")
        page.goto(f"{self.base}/sign-in?lang=he")
        self.look(page, "sign-in-right-to-left", "he")
        assert page.get_attribute("html", "dir") == "rtl"
        page.goto(f"{self.base}/sign-in/forgotten")
        assert page.get_attribute("html", "lang") == "he"
        context.close()


def main(program):
    with Server() as server, Receiver() as receiver:
        folder = os.path.join(server.folder, "texts")
        os.mkdir(folder)
        refused(server.folder, texts(folder))
        server.address = ("127.0.0.1", free_port())
        os.environ.update({
            "LENTICULAR_PAGES_TEXTS_FOLDER": folder, "LENTICULAR_ACCOUNTS_SIGN_UP": "open",
            "LENTICULAR_PUBLIC_BASE_URL": "http://localhost:%d" % server.address[1],
            "LENTICULAR_TEXT_MESSAGES_SENDER": "webhook", "LENTICULAR_MAIL_SENDER": "log",
            "LENTICULAR_TEXT_MESSAGES_URL": f"http://127.0.0.1:{receiver.server_port}/",
            "LENTICULAR_OUTGOING_ALLOWED_NETWORKS": "127.0.0.1"})
        server.start()
        run = Run(server, receiver)
        with driven(program) as browser:
            context = browser.new_context(locale="de-CH", viewport=PHONE)
            page = context.new_page()
            run.make_account(page)
            run.add_number(page)
            run.account_pages(page)
            run.sign_in(context, page)
            run.forgotten(page)
            run.chosen(browser)
        assert run.looked_at == 48, run.looked_at
        server.stop()


if __name__ == "__main__":
    with_chromium(main)
