"""The server of docs/guides/first-server.md with the page that it leads to, as the guide says to open it."""

import os
import re
import shutil
import subprocess

from chromium import with_chromium
from playwright.sync_api import Error, sync_playwright
from viewer import patient

FOLDER = os.path.dirname(os.environ["MACHINE"])


def printed_token():
    for name in sorted(os.listdir(FOLDER)):
        if name.isdigit():
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                found = re.search(r"\b[0-9a-f]{64}\b", file.read())
            if found:
                return found.group()
    raise AssertionError("no block has printed a token")


def main(program):
    shutil.copy(os.path.join(os.environ["REPOSITORY"], "Examples/shopping.html"), ".")
    pages = subprocess.Popen(["python3", "-m", "http.server", "8000", "--bind", "127.0.0.1"])
    with sync_playwright() as playwright:
        browser = patient(playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"]))
        page = browser.new_page()
        address = "http://127.0.0.1:8000/shopping.html#container=iCloud.org.example.Shopping"
        while True:
            try:
                page.goto(f"{address}&apiToken={printed_token()}")
                break
            except Error:
                assert pages.poll() is None
        with page.expect_popup() as opened:
            page.get_by_role("button", name="Sign in").click()
        window = opened.value
        window.get_by_label("E-mail address").fill("ada@example.org")
        window.get_by_label("Password", exact=False).fill("correct horse battery")
        window.keyboard.press("Enter")
        window.get_by_role("button", name="Allow").click()
        page.get_by_label("What to buy").fill("Tea")
        page.get_by_role("button", name="Add").click()
        page.locator("li", has_text="Tea").wait_for()
        browser.close()
    pages.terminate()


with_chromium(main)
