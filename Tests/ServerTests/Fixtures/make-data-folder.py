"""Makes a small data folder with a given binary, twice, and notes what its clients were told.

    make.py BINARY NAME.tar.gz

`clean` is what a stopped server leaves, `killed` what one leaves that is killed while it shares a large
tree and fills an index. Beside them, `clean.json` and `killed.json` hold the requests to send again and
the answers that they got: tokens and markers in them were handed out by that binary.
"""

import base64
import http.client
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

CONTAINER = "iCloud.org.example.Notes"
STORE = "containers/icloud.org.example.notes/development/store.sqlite"
YEAR_SECONDS = 31_536_000
CROWD = 900


class Made:
    """A server with its data folder, and the notes of what it answered."""

    def __init__(self, binary, folder):
        self.binary = binary
        self.folder = folder
        self.data = os.path.join(folder, "data")
        self.config = os.path.join(folder, "lenticular.json5")
        with open(self.config, "w") as file:
            # So that a large tree takes long to share.
            json.dump({"limits": {"shareStepRecordsMax": 1}}, file)
        self.notes = []
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, "serve", "--data", self.data, "--listen", "127.0.0.1:0",
             "--config", self.config], stdout=subprocess.PIPE, stderr=sys.stderr)
        for line in self.process.stdout:
            event = json.loads(line)
            if event.get("message") == "serving":
                host, port = event["listen"].rsplit(":", 1)
                self.address = (host, int(port))
                break
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait()

    def command(self, *words, given=None):
        output = subprocess.run(
            [self.binary, *words, "--data", self.data, "--json"], capture_output=True, text=True,
            input=given)
        assert output.returncode == 0, (words, output.stderr)
        return json.loads(output.stdout) if output.stdout.strip() else {}

    def keep(self, name, archive):
        """Puts the folder and the notes into the archive."""
        for left in ["lock", "control.sock", "reserve"]:
            if os.path.lexists(os.path.join(self.data, left)):
                os.remove(os.path.join(self.data, left))
        # The log's index is made anew from the log.
        archive.add(self.data, name,
                    filter=lambda file: None if file.name.endswith("-shm") else file)
        path = os.path.join(self.folder, "notes.json")
        with open(path, "w") as file:
            json.dump({"madeAtMilliseconds": int(time.time() * 1000), "requests": self.notes}, file,
                      indent=1)
        archive.add(path, f"{name}.json")


class User:
    def __init__(self, made, api_token, email, environment="development"):
        self.made = made
        self.environment = environment
        token = made.command("web-token", "create", CONTAINER, environment, email,
                             "--expires", str(YEAR_SECONDS))
        self.name = token["userRecordName"]
        self.query = f"?ckAPIToken={api_token}&ckWebAuthToken={token['webAuthToken']}"

    def post(self, path, body):
        target = f"/database/1/{CONTAINER}/{self.environment}/{path}{self.query}"
        connection = http.client.HTTPConnection(*self.made.address, timeout=60)
        connection.request("POST", target, json.dumps(body))
        answer = connection.getresponse()
        found = json.loads(answer.read())
        assert answer.status == 200, (path, body, found)
        for item in found.get("records", []) + found.get("zones", []):
            assert "serverErrorCode" not in item, (path, item)
        return found

    def note(self, path, body):
        """Asks, and notes the answer for those who ask again."""
        found = self.post(path, body)
        target = f"/database/1/{CONTAINER}/{self.environment}/{path}{self.query}"
        self.made.notes.append({"target": target, "body": body, "answer": found})
        return found

    def zone(self, name, kind="create"):
        self.post("private/zones/modify",
                  {"operations": [{"operationType": kind, "zone": {"zoneID": {"zoneName": name}}}]})

    def modify(self, operations, zone="Notes", database="private", owner=None):
        given = {"zoneName": zone, **({"ownerRecordName": owner} if owner else {})}
        return self.post(f"{database}/records/modify",
                         {"zoneID": given, "operations": operations})["records"]

    def upload(self, data):
        asked = {"tokens": [{"recordType": "Photo", "fieldName": "file"}],
                 "zoneID": {"zoneName": "Notes"}}
        url = self.post("private/assets/upload", asked)["tokens"][0]["url"]
        connection = http.client.HTTPConnection(*self.made.address, timeout=60)
        connection.request("POST", url[url.index("/assets/"):], data)
        return json.loads(connection.getresponse().read())["singleFile"]


def save(name, kind="Note", action="create", parent=None, tag=None, **fields):
    record = {"recordName": name, "recordType": kind,
              "fields": {key: value if isinstance(value, dict) and "value" in value
                         else {"value": value} for key, value in fields.items()}}
    if parent:
        record["parent"] = {"recordName": parent}
    if tag:
        record["recordChangeTag"] = tag
    return {"operationType": action, "record": record}


def share(name, root, **more):
    record = {"recordName": name, "recordType": "cloudkit.share", "fields": {}, **more}
    if root:
        record["forRecord"] = {"recordName": root}
    return {"operationType": "create", "record": record}


def delete(name):
    return {"operationType": "forceDelete", "record": {"recordName": name}}


def note_text(number):
    return save(
        f"note-{number:02}", text=f"Größe {number} of the sea", n=number, weight=number / 4,
        when={"value": 1_700_000_000_000 + number, "type": "TIMESTAMP"},
        where={"value": {"latitude": 50 + number / 10, "longitude": 7.5}, "type": "LOCATION"},
        tags={"value": [f"t{number % 3}", "all"], "type": "STRING_LIST"},
        raw={"value": base64.b64encode(bytes([number] * 9)).decode(), "type": "BYTES"})


def queries(user, database="private"):
    """One for each kind of index, and the marker of a page."""
    where = {"zoneID": {"zoneName": "Notes"}} if database == "private" else {}
    for filters, sorts in [
        ([{"fieldName": "text", "comparator": "EQUALS", "fieldValue": {"value": "größe 4 of the sea"}}], []),
        ([{"fieldName": "n", "comparator": "GREATER_THAN", "fieldValue": {"value": 3}}],
         [{"fieldName": "n", "ascending": False}]),
        ([{"fieldName": "text", "comparator": "CONTAINS_ALL_TOKENS", "fieldValue": {"value": "sea"}}],
         []),
        ([{"fieldName": "where", "comparator": "NEAR", "fieldValue": {
            "value": {"latitude": 50.3, "longitude": 7.5}, "type": "LOCATION"}, "distance": 20_000}],
         []),
        ([{"fieldName": "tags", "comparator": "LIST_CONTAINS", "fieldValue": {"value": "t1"}}], []),
    ]:
        query = {"recordType": "Note", "filterBy": filters, "sortBy": sorts}
        first = user.note(f"{database}/records/query", {**where, "query": query, "resultsLimit": 2})
        if "continuationMarker" in first:
            user.note(f"{database}/records/query", {
                **where, "query": query, "resultsLimit": 200,
                "continuationMarker": first["continuationMarker"]})


class Follower:
    """Follows the feeds of one database, and keeps every token that it was given on the way."""

    def __init__(self, user, database, zones, owner=None):
        self.user, self.database, self.owner = user, database, owner
        self.zones = zones
        self.token = None
        self.asked = {}

    def follow(self):
        while True:
            body = {"resultsLimit": 1, **({"syncToken": self.token} if self.token else {})}
            page = self.user.post(f"{self.database}/changes/database", body)
            self.token = page["syncToken"]
            if not page["moreComing"]:
                break
        for zone in self.zones:
            name = {"zoneName": zone, **({"ownerRecordName": self.owner} if self.owner else {})}
            more = {}
            while True:
                body = {"zones": [{"zoneID": name, "resultsLimit": 3, **more}]}
                page = self.user.post(f"{self.database}/changes/zone", body)["zones"][0]
                more = {"syncToken": page["syncToken"]}
                # Once more for each token later on, in an answer of any length.
                self.asked[page["syncToken"]] = {"zoneID": name, **more}
                if not page["moreComing"]:
                    break

    def note_what_is_new(self, but=()):
        """Notes what each token leads to by now."""
        for zone in self.asked.values():
            if zone["zoneID"]["zoneName"] not in but:
                self.user.note(f"{self.database}/changes/zone", {"zones": [zone]})
        self.user.note(f"{self.database}/changes/database", {"syncToken": self.token})


def people(made):
    made.command("container", "create", CONTAINER)
    made.command("container", "create", "iCloud.org.example.Unused")
    made.command("container", "set", CONTAINER, "publicChanges=true")
    key = os.path.join(made.folder, "key.pem")
    subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key],
                   check=True, stderr=subprocess.DEVNULL)
    public = subprocess.run(["openssl", "ec", "-in", key, "-pubout"], check=True,
                            capture_output=True, text=True).stdout
    path = os.path.join(made.folder, "public.pem")
    with open(path, "w") as file:
        file.write(public)
    made.command("server-key", "add", CONTAINER, "development", "--public-key", path)
    for email, given in [("ida@example.org", "Ida"), ("mo@example.org", "Mo"),
                         ("gone@example.org", "Gone")]:
        made.command("user", "create", email, "--given-name", given, "--password-stdin",
                     given="a long password\n")
    token = made.command("api-token", "create", CONTAINER, "development")["apiToken"]
    return [User(made, token, email) for email in
            ["ida@example.org", "mo@example.org", "gone@example.org"]]


def life(made, ida, mo, gone):
    """Everything that a store can hold, in a few records."""
    for user, zones in [(ida, ["Notes", "Shared", "Whole", "Leaving", "Twice"]), (gone, ["Notes"])]:
        for zone in zones:
            user.zone(zone)
    follower = Follower(ida, "private", ["Notes", "Shared", "Whole", "Twice"])
    gone.modify([save("secret", text="mine")])
    ida.modify([note_text(number) for number in range(8)])
    ida.modify([save("a", text="by default")], zone="_defaultZone")
    ida.modify([save("public", text="for all", n=1), save("fleeting", text="gone")],
               zone="_defaultZone", database="public")
    ida.modify([delete("fleeting")], zone="_defaultZone", database="public")
    ida.modify([save("left", text="behind")], zone="Leaving")
    ida.modify([save("first", text="of the name")], zone="Twice")
    small, large = ida.upload(b"a small file"), ida.upload(bytes(range(256)) * 300)
    ida.modify([save("photo", "Photo", file={"value": small, "type": "ASSETID"}),
                save("album", "Photo", files={"value": [large, small], "type": "ASSETID_LIST"}),
                save("torn", "Photo", file={"value": large, "type": "ASSETID"})])
    ida.upload(b"a file that a receipt alone holds")
    follower.follow()
    root = ida.modify([
        save("root", text="Tree"),
        share("tree", "root", publicPermission="READ_WRITE")], zone="Shared")
    ida.modify([save(f"leaf-{n}", text=f"Leaf {n}", parent="root") for n in range(4)],
               zone="Shared")
    invited = {"userIdentity": {"lookupInfo": {"emailAddress": "nobody@example.org"}},
               "type": "USER", "permission": "READ_ONLY"}
    whole = ida.modify([share("cloudkit.zoneshare", None, publicPermission="READ_ONLY",
                              participants=[invited])], zone="Whole")
    ida.modify([save("w", text="in a shared zone")], zone="Whole")
    guids = [{"value": root[0]["shortGUID"]}, {"value": whole[0]["shortGUID"]}]
    mo.post("public/records/accept", {"shortGUIDs": guids})
    viewer = Follower(mo, "shared", ["Shared", "Whole"], owner=ida.name)
    viewer.follow()
    mo.modify([save("leaf-mo", text="by Mo", parent="root")], "Shared", "shared", ida.name)
    follower.follow()
    ida.modify([delete("note-00"), delete("torn")])
    ida.modify([delete("leaf-3")], zone="Shared")
    ida.zone("Leaving", "delete")
    ida.zone("Twice", "delete")
    ida.zone("Twice")
    made.command("user", "delete", "gone@example.org", "--yes")
    return [follower, viewer]


def production(made):
    made.command("schema", "deploy", CONTAINER, "--yes")
    token = made.command("api-token", "create", CONTAINER, "production")["apiToken"]
    mo = User(made, token, "mo@example.org", "production")
    mo.modify([save("live", text="in production", n=5)], zone="_defaultZone", database="public")
    mo.note("public/records/lookup", {"records": [{"recordName": "live"}]})


def look(ida, mo):
    names = ["note-00", "note-01", "note-07", "photo", "album"]
    for user, path, body in [
        (ida, "private/records/query", {"zoneWide": True, "query": {"recordType": "Photo"}}),
        (ida, "private/zones/list", {}), (mo, "shared/zones/list", {}),
        (ida, "public/records/query", {"query": {"recordType": "Note"}}),
        (mo, "users/current", {}),
        (mo, "public/records/lookup", {"records": [{"recordName": "public"}]}),
    ]:
        user.note(path, body)
    found = [name for name in names if name != "note-00"]
    ida.note("private/records/lookup", {"zoneID": {"zoneName": "Notes"},
                                        "records": [{"recordName": name} for name in found]})


def interrupt(made, ida, mo):
    """Kills the server while it fills an index and takes a large tree into a share."""
    ida.zone("Crowd")
    root = ida.modify([save("crowd-root", "Head", text="Crowd")], zone="Crowd")[0]
    for first in range(0, CROWD, 150):
        ida.modify([save(f"c{n}", "Member", parent="crowd-root", n=n)
                    for n in range(first, first + 150)], zone="Crowd")
    path = os.path.join(made.data, STORE)
    head = {"recordName": "crowd-root", "recordChangeTag": root["recordChangeTag"]}
    ida.modify([share("crowd", None, forRecord=head, publicPermission="READ_ONLY")], zone="Crowd")
    query = {"recordType": "Member", "filterBy": [
        {"fieldName": "n", "comparator": "EQUALS", "fieldValue": {"value": 5}}]}

    def ask():
        try:
            ida.post("private/records/query", {"zoneID": {"zoneName": "Crowd"}, "query": query})
        except (OSError, http.client.HTTPException):
            pass

    threading.Thread(target=ask, daemon=True).start()
    reader = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    while not reader.execute("SELECT 1 FROM indexes WHERE state = 0 AND filled_through > 0"
                             ).fetchall():
        pass
    made.end(signal.SIGKILL)
    reader.close()


def require_half(path):
    """On a copy: opening the files would move the log."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(os.path.dirname(path), os.path.join(folder, "copy"))
        store = sqlite3.connect(os.path.join(copy, "store.sqlite"))
        (work,) = store.execute("SELECT count(*) FROM work WHERE kind = 1").fetchone()
        (filling,) = store.execute("SELECT count(*) FROM indexes WHERE state = 0").fetchone()
        store.close()
    assert work and filling, (work, filling)
    assert os.path.getsize(path + "-wal") > 0


def main():
    binary, target = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, tarfile.open(target, "w:gz") as archive:
        made = Made(binary, folder)
        ida, mo, gone = people(made)
        followers = life(made, ida, mo, gone)
        production(made)
        queries(ida)
        look(ida, mo)
        for follower in followers:
            # A zone made anew is another one: its tokens have expired.
            follower.note_what_is_new(but=["Twice"])
        made.end(signal.SIGTERM)
        made.keep("clean", archive)

        made.start()
        interrupt(made, ida, mo)
        # What the rest of the work moves is told by the check, not by the feeds of its owner.
        made.notes = [note for note in made.notes if "changes/database" not in note["target"]
                      and "zones/list" not in note["target"]]
        require_half(os.path.join(made.data, STORE))
        made.keep("killed", archive)
    print(f"{target}: {os.path.getsize(target)} bytes")


main()
