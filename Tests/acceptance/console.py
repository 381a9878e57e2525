"""What the scripts of the console share: a server with its console, operators in a real browser, and looks at screens.

A script of a screen makes a class of `Run` with its parts, and hands it to `held`. On each screen axe-core finds
nothing, light and dark, at three widths. With a folder as argument, pictures of the screens are kept there.
"""

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from axe_playwright_python.sync_playwright import Axe

from chromium import with_chromium
from security import time_code
from server import BINARY, Server, free_port
from viewer import driven

CONTAINER = "iCloud.org.example.Atlas"
OTHER = "iCloud.org.example.Other"
PASSWORD = "correct horse battery"
WIDTHS = (390, 820, 1280)
NARROWEST = 360
NAUGHTY = [
    "<script>document.title='ran'</script>", "<img src=x onerror=\"document.title='ran'\">", "javascript:alert(1)",
    "'\"><svg onload=document.title='ran'>", "${7*7}{{7*7}}<%= 7*7 %>", "\u202eesrever", "&lt;b&gt;", "__proto__",
]


def say(text):
    print(f"{os.path.basename(sys.argv[0])}: {text}", flush=True)


class ConsoleServer(Server):
    """A server that tells its first operator's link and where its console is."""

    def __init__(self):
        super().__init__()
        # No other takes these while the server is away for a moment.
        self.address = ("127.0.0.1", free_port())
        self.console = f"127.0.0.1:{free_port()}"

    def started(self, arguments, **outputs):
        environment = {**os.environ, "LENTICULAR_CONSOLE_LISTEN": self.console}
        return subprocess.Popen(arguments, env=environment, **outputs)

    def start(self):
        super().start()
        with open(os.path.join(self.folder, "log"), "rb") as log:
            events = [json.loads(line) for line in log if line.endswith(b"\n")]
        self.console = next(event["console"] for event in events if event["message"] == "serving")

    def first_link(self):
        until = time.monotonic() + 120
        while time.monotonic() < until:
            with open(os.path.join(self.folder, "errors"), encoding="utf-8") as errors:
                found = re.search(r"^https?://\S+/sign-in/first#\S+$", errors.read(), re.MULTILINE)
            if found:
                return found[0]
            time.sleep(0.05)
        raise AssertionError("no link for the first operator")

    def save(self, records, container=CONTAINER):
        text = "\n".join(json.dumps(record) for record in records) + "\n"
        done = subprocess.run(
            [BINARY, "record", "save", container, "development", "public", "-", "--data", self.data, "--json"],
            input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr + done.stdout[:500]
        return json.loads(done.stdout)["records"]

    def damage(self, text):
        """The record that has a text decays on the disk."""
        if self.storage:
            return self.damage_row(text)
        path = os.path.join(self.data, "containers", CONTAINER.lower(), "development", "store.sqlite")
        with contextlib.closing(sqlite3.connect(path, timeout=60)) as store, store:
            done = store.execute("UPDATE version_rows SET content = CAST(replace(content, ?, ?) AS BLOB) WHERE instr(content, ?)",
                                 (text.encode(), text.upper().encode(), text.encode()))
            assert done.rowcount == 1, done.rowcount

    def damage_row(self, text):
        """The same in PostgreSQL."""
        within = f"position('{text}'::bytea IN body)"
        changed = subprocess.run(
            ["psql", "-At", "-d", self.storage["LENTICULAR_STORAGE_POSTGRES_URL"], "-c",
             f"UPDATE stores.records SET body = overlay(body PLACING '{text.upper()}'::bytea FROM {within}) WHERE {within} > 0"],
            check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120).stdout
        assert changed == "UPDATE 1\n", changed


class Run:
    """An operator at the console. `parts` are the names of a script's methods, in order; `looks` how many they look at."""

    parts = ()
    looks = 0

    def __init__(self, server, browser):
        self.server, self.browser = server, browser
        self.base = f"http://{server.console}"
        self.pictures = sys.argv[1] if len(sys.argv) > 1 else None
        self.looked_at = 0
        self.codes = {}

    def page(self, width=1280):
        context = self.browser.new_context(viewport={"width": width, "height": 820}, accept_downloads=True)
        page = context.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("console", lambda line: page.errors.append(line.text) if "Content Security" in line.text else None)
        # That a page is left while something is typed is asked by the browser, too.
        page.on("dialog", lambda dialog: dialog.accept() if dialog.type == "beforeunload" else page.errors.append(dialog.message))
        return page

    def look(self, page, name):
        """Lets axe-core look at a screen at three widths, light and dark, and keeps pictures of it."""
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 820})
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                found = Axe().run(page)
                assert found.violations_count == 0, f"{name} {width} {scheme}: {found.generate_report()}"
                self.looked_at += 1
                if self.pictures:
                    page.screenshot(path=os.path.join(self.pictures, f"{name}-{width}-{scheme}.png"))
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than {width}"
        page.set_viewport_size({"width": NARROWEST, "height": 820})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than {NARROWEST}"
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1280, "height": 820})
        assert page.errors == [], page.errors

    def thread_time(self, page):
        """Tells, each time that it is called, how many milliseconds of its own time the page's thread has had.

        A busy machine does not make that longer.
        """
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        return lambda: next(metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]
                            if metric["name"] == "TaskDuration") * 1000

    def second_factor(self, page, email):
        """Sets one up at the server's own pages, and keeps the recovery codes."""
        page.goto(f"http://{self.server.address[0]}:{self.server.address[1]}/account/second-factor")
        secret = page.locator("main > p > code").text_content()
        page.get_by_label("Code from the app").fill(time_code(secret))
        page.get_by_role("button", name="Turn on").click()
        page.get_by_text("Save these recovery codes").wait_for()
        self.codes[email] = page.locator("#codes").text_content().split()

    def first_operator(self):
        page = self.page()
        page.goto(self.server.first_link())
        page.get_by_label("E-mail address").fill("op@example.org")
        page.locator("input[type=password]").fill(PASSWORD)
        page.locator("main button").last.click()
        page.wait_for_url("**/account/second-factor")
        self.second_factor(page, "op@example.org")
        page.context.close()

    def operator(self, name, *more):
        self.server.make_person(name, PASSWORD)
        email = f"{name}@example.org"
        self.server.command("operator", "create", email, *more)
        page = self.page()
        page.goto(f"http://{self.server.address[0]}:{self.server.address[1]}/sign-in")
        page.get_by_label("E-mail address").fill(email)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url("**/account")
        self.second_factor(page, email)
        page.context.close()

    def fill_sign_in(self, page, email, password=PASSWORD):
        page.get_by_label("E-mail address").fill(email)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.get_by_label("Code of your authenticator app").fill(self.codes[email].pop())
        page.get_by_role("button", name="Sign in", exact=True).click()

    def signed_in(self, email, path="/console/"):
        page = self.page()
        page.goto(self.base + path)
        self.fill_sign_in(page, email)
        page.get_by_text(email).first.wait_for()
        return page

    def ask(self, name, environment, operation, body):
        """Asks somebody's private database as their app does; it is told what is wrong, as an item's error or not."""
        token = self.server.command("api-token", "create", CONTAINER, environment)["apiToken"]
        web = self.server.command("web-token", "create", CONTAINER, environment, f"{name}@example.org")["webAuthToken"]
        request = urllib.request.Request(
            f"http://{self.server.address[0]}:{self.server.address[1]}/database/1/{CONTAINER}/{environment}/private/"
            f"{operation}?ckAPIToken={token}&ckWebAuthToken={urllib.parse.quote(web, safe='')}",
            json.dumps(body).encode(), {"X-Client-ID": "phone", "User-Agent": "Trips/2.1 iOS/19.0"})
        try:
            urllib.request.urlopen(request)
        except urllib.error.HTTPError as error:
            assert error.code < 500, error.code

    def shown(self, page, field, value):
        """Waits until the open record has a value, as the server has answered it."""
        page.wait_for_function(
            """([field, value]) => {
              const {record, busy} = document.querySelector('record-panel')?.state ?? {};
              return !busy && record?.fields?.[field]?.value === value;
            }""", arg=[field, value])

    def stored(self, name, field):
        records = self.server.command("record", "get", CONTAINER, "development", "public", name)["records"]
        return records[0]["fields"].get(field, {}).get("value")

    def tag(self, name):
        return self.server.command(
            "record", "get", CONTAINER, "development", "public", name)["records"][0]["recordChangeTag"]


def held(kind):
    """Runs a script's parts on a server of their own, whose first operator is `op@example.org`."""
    def main(program):
        with ConsoleServer() as server:
            server.start()
            with driven(program) as browser:
                run = kind(server, browser)
                for name in ("first_operator", *kind.parts):
                    getattr(run, name)()
                    say(f"{name} holds")
            assert run.looked_at >= kind.looks, run.looked_at
            server.stop()

    with_chromium(main)
