"""The JavaScript client in Firefox: two tabs of one profile, a second profile, and a server that is killed.

Firefox ESR, driven by Selenium and by the geckodriver that PyPI has: Debian has none. The pages are those of
web_store.py, under their strict policy.
"""

import contextlib
import os
import shutil
import sys
import tempfile
import urllib.parse

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.firefox.service import Service
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.remote_connection import RemoteConnection
from selenium.webdriver.support.ui import WebDriverWait
from urllib3.exceptions import HTTPError

from server import Server, free_port
from web_store import CONTAINER, SECONDS_MAX, Site, World


class NoFirefox(Exception):
    """It is here, and does not start."""


@contextlib.contextmanager
def firefox(program, driver):
    """A Firefox with a profile of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        options = webdriver.FirefoxOptions()
        options.add_argument("-headless")
        options.binary_location = program
        service = Service(driver, env={**os.environ, "HOME": home}, log_output=os.devnull)
        try:
            service.start()
            # On a busy machine an answer of the driver takes its time, too.
            answers = ClientConfig(service.service_url, timeout=2 * SECONDS_MAX)
            browser = webdriver.Remote(RemoteConnection(client_config=answers), options=options)
        except (WebDriverException, HTTPError) as error:
            service.stop()
            raise NoFirefox(str(error)) from error
        try:
            browser.set_script_timeout(SECONDS_MAX)
            yield browser
        finally:
            with contextlib.suppress(WebDriverException, HTTPError):
                browser.quit()
            service.stop()



class Tab:
    """A tab of a browser with the page of a store."""

    def __init__(self, world, browser, token):
        self.browser = browser
        if browser.current_url != "about:blank":
            browser.switch_to.new_window("tab")
        self.handle = browser.current_window_handle
        browser.get(f"{world.site}/strict?{urllib.parse.urlencode({'token': token})}")
        self.wait()

    def wait(self):
        WebDriverWait(self.browser, SECONDS_MAX).until(
            lambda browser: browser.execute_script("return window.app !== undefined"))

    def run(self, expression, *values):
        """What an expression over its arguments `a` comes to, once that has settled."""
        self.browser.switch_to.window(self.handle)
        found, error = self.browser.execute_async_script(f"""
            const [done, a] = [arguments[arguments.length - 1], [...arguments].slice(0, -1)];
            const app = window.app;
            Promise.resolve().then(() => ({expression})).then(
              value => done([value === undefined ? null : value, null]),
              error => done([null, String(error)]));""", *values)
        assert error is None, f"{expression}: {error}"
        return found

    def save(self, name, text):
        self.run("app.save(a[0], a[1]).then(() => null)", name, text)

    def shows(self, text):
        self.run("app.shows(a[0])", text)


def follow(world, program, driver):
    name = world.person("fay")
    with firefox(program, driver) as browser, firefox(program, driver) as other:
        first, second = (Tab(world, browser, world.token(name)) for _ in range(2))
        first.run("app.is('isLeader', true)")
        assert [tab.run("app.store.status.isLeader") for tab in (first, second)] == [True, False]
        assert first.run("app.store.status.isPersistent")
        second.save("a", "of the second tab")
        first.shows("of the second tab")
        device = Tab(world, other, world.token(name))
        device.shows("of the second tab")
        device.save("b", "of another profile")
        for tab in (first, second):
            tab.shows("of another profile")
        world.server.kill_and_restart()
        device.save("c", "after the restart")
        for tab in (first, second):
            tab.shows("after the restart")
        # What a device has, it shows at once when it is opened again.
        device.run("app.store.sync()")
        other.refresh()
        device.wait()
        assert sorted(device.run("app.texts()")) == [
            "after the restart", "of another profile", "of the second tab"]
        saved = device.run("""app.notes.save({recordName: 'd', recordType: 'Note', fields: {
            file: {value: new Blob(['<b>a file'])}}, encryptedValues: {secret: {value: '<i>'}}})
          .then(() => app.store.sync()).then(() => app.notes.file('d', 'file')).then(file => file.text())""")
        assert saved == "<b>a file", saved
        for tab in (first, second, device):
            assert tab.run("app.violations") == []
        print(f"web_firefox.py: Firefox {browser.capabilities['browserVersion']}")


def main():
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    driver = os.environ.get("GECKODRIVER") or shutil.which("geckodriver")
    if not program or not driver:
        print("web_firefox.py: no Firefox here, or no geckodriver", file=sys.stderr)
        return
    with Server() as server, Site() as site:
        server.address = ("127.0.0.1", free_port())
        server.start()
        server.command("container", "create", CONTAINER)
        try:
            follow(World(server, site), os.path.realpath(program), driver)
        except NoFirefox as error:
            print(f"web_firefox.py: Firefox does not start: {error}", file=sys.stderr)
        server.stop()


if __name__ == "__main__":
    main()
