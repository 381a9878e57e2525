"""Going back to the version before an upgrade, by the commands of docs/operating/upgrades.md.

The newer version is one that has copied each database and brought it to a form with one migration more. This server
refuses that form, and goes on from the copies: what was saved before the upgrade is there, the catalog and what it
opens too, and a device that knows more than the copy is told so.
"""

import glob
import http.client
import json
import os
import re
import sqlite3
import subprocess

import server
from server import Server

CONTAINER = "iCloud.org.example.Notes"
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/operating/upgrades.md")


def commands_of_page(data):
    """The block of the section, for a data folder elsewhere that no system runs."""
    with open(PAGE) as file:
        section = file.read().split("## Going back")[1]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL).group(1)
    for old, new in (("systemctl stop lenticular", ":"), ("/var/lib/lenticular", data)):
        assert old in block, f"the page does not say {old}"
        block = block.replace(old, new)
    return block


class Device:
    def __init__(self, running, query):
        self.running, self.query = running, query

    def ask(self, endpoint, body):
        connection = http.client.HTTPConnection(*self.running.address, timeout=60)
        path = f"/database/1/{CONTAINER}/development/private/{endpoint}{self.query}"
        connection.request("POST", path, body=json.dumps(body).encode())
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def save(self, name):
        record = {"recordName": name, "recordType": "Note", "fields": {"text": {"value": "Tea"}}}
        answer = self.ask("records/modify", {
            "zoneID": {"zoneName": "Notes"},
            "operations": [{"operationType": "create", "record": record}]})
        assert "serverErrorCode" not in json.dumps(answer), answer

    def changes(self, token=None):
        zone = {"zoneID": {"zoneName": "Notes"}, **({"syncToken": token} if token else {})}
        return self.ask("changes/zone", {"zones": [zone]})["zones"][0]


def main():
    with Server() as running:
        running.start()
        running.command("container", "create", CONTAINER)
        token = running.command("api-token", "create", CONTAINER, "development")["apiToken"]
        running.command("user", "create", "ada@example.org")
        user = running.command("web-token", "create", CONTAINER, "development", "ada@example.org")
        device = Device(running, f"?ckAPIToken={token}&ckWebAuthToken={user['webAuthToken']}")
        zone = {"zoneID": {"zoneName": "Notes"}}
        device.ask("zones/modify", {"operations": [{"operationType": "create", "zone": zone}]})
        device.save("before")
        early = device.changes()["syncToken"]
        running.stop()
        # What was counted is in no backup, and no upgrade copies it.
        databases = [
            path for path in glob.glob(f"{running.data}/**/*.sqlite", recursive=True)
            if os.path.basename(path) != "telemetry.sqlite"
        ]
        assert len(databases) == 2, databases

        # As the newer version does: a copy, then the migration; and something more is saved.
        copies = [f"{path}.before-0002-later" for path in databases]
        for path, copy in zip(databases, copies):
            connection = sqlite3.connect(path)
            connection.execute("VACUUM INTO ?", (copy,))
            connection.close()
        running.start()
        device.save("after")
        late = device.changes()["syncToken"]
        running.stop()
        for path in databases:
            connection = sqlite3.connect(path)
            connection.execute("INSERT INTO migrations VALUES (2, '0002-later', 7)")
            connection.commit()
            connection.close()

        refused = subprocess.run(
            [server.BINARY, "serve", "--data", running.data, "--listen", "127.0.0.1:0"],
            capture_output=True, text=True)
        assert refused.returncode == 1 and "0002-later" in refused.stderr, refused
        # What a crash has left of a copy is none.
        open(f"{databases[0]}.before-0003-no.unfinished", "w").close()
        subprocess.run(["bash", "-euo", "pipefail", "-c", commands_of_page(running.data)], check=True)
        assert not any(os.path.exists(copy) for copy in copies)

        running.start()
        names = [record["recordName"] for record in device.changes()["records"]]
        assert names == ["before"], names
        assert device.changes(early)["records"] == []
        told = device.changes(late)
        assert "serverErrorCode" in told, told
        device.save("again")
        names = [record["recordName"] for record in device.changes(early)["records"]]
        assert names == ["again"], names
        running.stop()
        checked = subprocess.run(
            [server.BINARY, "check", "--data", running.data, "--json"], capture_output=True, text=True)
        problems = json.loads(checked.stdout)["problems"]
        assert len(problems) == 1 and "lost what was acknowledged" in problems[0], problems


main()
