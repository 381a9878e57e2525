"""One of several clients that write and follow a zone while its store moves and its server is killed."""

import hashlib
import http.client
import json
import random
import time

# A server that is started again is waited for so long.
SECONDS_MAX = 60
PACE_SECONDS = 0.004
PASSING = "TRY_AGAIN_LATER"


def digest(record):
    """What a record says, apart from the form in which it is written."""
    text = json.dumps(record, sort_keys=True).encode()
    return hashlib.blake2b(text, digest_size=8).digest()


class Lost(Exception):
    """The connection broke, and nobody knows what became of the request."""


class Client:
    """Saves some records, each of which no other client saves, and follows all of the zone."""

    def __init__(self, number, place, port, names, token):
        self.number, self.place, self.port = number, place, port
        self.names, self.token = names, token
        self.random = random.Random(number)
        self.connection = None
        self.saves, self.made = 0, 0
        # Texts by names: what was acknowledged, and what may be there as well.
        self.acknowledged, self.possible = {}, {}
        # What the feed has shown since the token that it began with.
        self.copy = {}
        self.errors, self.refusals = [], 0
        self.latencies = {"save": [], "lookup": [], "follow": []}

    def ask(self, operation, body):
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(
                    "127.0.0.1", self.port.value, timeout=SECONDS_MAX)
            self.connection.request(
                "POST", self.place.target(operation), json.dumps(body),
                {"Content-Type": "application/json"})
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            if self.connection is not None:
                self.connection.close()
            self.connection = None
            raise Lost() from error

    def one(self, operation, body, key, kind=None):
        """The one item of an answer; None for one that is to be asked for again."""
        began = time.perf_counter()
        status, answer = self.ask(operation, body)
        if kind:
            self.latencies[kind].append((time.time(), time.perf_counter() - began))
        found = answer.get(key)
        item = found[0] if found else answer
        code = item.get("serverErrorCode")
        if code == PASSING or status == 503:
            self.refusals += 1
            return None
        if code or status != 200 or item.get("changeTokenExpired"):
            self.errors.append(f"{operation}: {status} {json.dumps(item)[:300]}")
            return None
        return item

    def save(self):
        self.saves += 1
        if self.random.random() < 0.2:
            self.made += 1
            name = f"new-{self.number}-{self.made}"
        else:
            name = self.random.choice(self.names)
        text = f"{self.number} {self.saves}"
        self.possible.setdefault(name, []).append(text)
        record = {"recordName": name, "recordType": self.place.type,
                  "fields": {"title": {"value": text}}}
        body = {"zoneID": self.place.zone, "operations": [
            {"operationType": "forceReplace", "record": record}]}
        if self.one("records/modify", body, "records", "save"):
            self.acknowledged[name], self.possible[name] = text, []

    def look_up(self):
        name = self.random.choice(self.names)
        body = {"zoneID": self.place.zone, "records": [{"recordName": name}]}
        found = self.one("records/lookup", body, "records", "lookup")
        if found and name in self.acknowledged:
            self.require(name, found["fields"]["title"]["value"])

    def require(self, name, text):
        """What is there is what was acknowledged, or what a lost request has brought after it."""
        if text != self.acknowledged.get(name) and text not in self.possible.get(name, []):
            self.errors.append(f"{name} is '{text}', not '{self.acknowledged.get(name)}'")

    def follow(self):
        """A page of the feed; whether there is more."""
        asked = {"zoneID": self.place.zone, "syncToken": self.token, "resultsLimit": 200}
        page = self.one("changes/zone", {"zones": [asked]}, "zones", "follow")
        if page is None:
            return True
        for record in page["records"]:
            self.copy[record["recordName"]] = digest(record)
        self.token = page["syncToken"]
        return page["moreComing"]

    def step(self):
        {0: self.look_up, 1: self.follow}.get(self.random.randrange(4), self.save)()

    def wait_for_server(self):
        end = time.monotonic() + SECONDS_MAX
        while True:
            try:
                return self.ask("zones/list", {})
            except Lost:
                if time.monotonic() > end:
                    raise RuntimeError("the server does not come back") from None
                time.sleep(0.01)

    def run(self, ending):
        while not ending.is_set():
            try:
                self.step()
                time.sleep(PACE_SECONDS)
            except Lost:
                self.wait_for_server()
        while self.follow():
            pass


def run_client(arguments, ending, outcomes):
    client = Client(*arguments)
    try:
        client.run(ending)
    except Exception as error:  # Whatever it is, who waits for the outcome is told.
        client.errors.append(f"{type(error).__name__}: {error}")
    outcomes.put({key: getattr(client, key) for key in (
        "number", "acknowledged", "possible", "copy", "errors", "refusals", "latencies", "token")})
