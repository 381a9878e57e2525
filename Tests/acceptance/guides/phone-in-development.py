"""The page of docs/guides/phone-in-development.md comes by TLS, and signs people in at the server's other port."""

import os
import re
import shutil
import ssl
import urllib.request

from chromium import with_chromium
from playwright.sync_api import sync_playwright
from viewer import patient

FOLDER = os.path.dirname(os.environ["MACHINE"])
SECONDS_MAX = 60


def tokens_and_link():
    """What the last block of commands but one has printed."""
    for name in sorted(os.listdir(FOLDER)):
        if name.isdigit():
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                text = file.read()
            if link := re.search(r"https://mylaptop\.local:8443/sign-in/\S+", text):
                return re.search(r"\b[0-9a-f]{64}\b", text).group(), link.group()
    raise AssertionError("no block has printed a link")


def main(program):
    shutil.copy(os.path.join(os.environ["REPOSITORY"], "Examples/shopping.html"), ".")
    trust = ssl.create_default_context(cafile="authority.pem")
    urllib.request.urlopen("https://mylaptop.local:8443/readyz", timeout=SECONDS_MAX, context=trust)
    token, link = tokens_and_link()
    with sync_playwright() as playwright:
        browser = patient(playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"]))
        # Python has looked at the certificates: this browser has no list of authorities to add one to.
        page = browser.new_context(ignore_https_errors=True).new_page()
        page.goto(link)
        page.get_by_label("First name").fill("Ada")
        page.get_by_label("New password").fill("correct horse battery")
        page.get_by_role("button", name="Create account").click()
        page.wait_for_url("**/account")
        page.goto("https://mylaptop.local:8444/shopping.html#server=https://mylaptop.local:8443"
                  f"&container=iCloud.org.example.Notes&apiToken={token}")
        with page.expect_popup() as opened:
            page.get_by_role("button", name="Sign in").click()
        opened.value.get_by_role("button", name="Allow").click()
        page.get_by_label("What to buy").fill("Tea")
        page.get_by_role("button", name="Add").click()
        page.locator("li", has_text="Tea").wait_for()
        browser.close()


with_chromium(main)
