"""What one abuser does to another user: lookups, queries and saves beside each abuse, and quiet."""

import http.client
import json
import subprocess
import sys
from pathlib import Path

import endpoints
from lenticular import CONTAINER, Lenticular
from measures import READER_CACHE_KIB

HERE = Path(__file__).parent
KINDS = ("lookup", "query", "save")
ABUSES = {
    "queries": "queries hung up at once", "gzip": "gzip bodies of 14 MB",
    "strangers": "strangers' bodies of 1.9 MB", "batches": "batches over 1 MB",
    "chains": "chains of VALIDATE references", "shares": "shares of 15,000 participants",
    "pages": "large pages", "uploads": "uploads", "connections": "half-sent requests",
}
PLACES = {"same": "the same container", "other": "another container"}
OTHER = CONTAINER + ".Other"
JUNK = 10_000
PER_REQUEST = 200
# What is allowed beside an abuser, in ms: twice the quiet value, or this.
BESIDE_MS = 20
LARGE_SAVES_MS = 100


def beside(name, kind, least):
    """How far it is from what is allowed: 1 is just that."""
    def value(figures):
        quiet = figures[f"fairness.quiet.{kind}.p99ms"]
        return figures[f"{name}.{kind}.p99ms"] / max(2 * quiet, least)
    return value


def least(abuse, place, kind):
    large = abuse == "batches" and place == "same" and kind == "save"
    return LARGE_SAVES_MS if large else BESIDE_MS


def worst(name):
    """Of the kinds, how far the one farthest from what is allowed is."""
    return lambda figures: max(beside(name, kind, BESIDE_MS)(figures) for kind in KINDS)


ENDPOINTS = {name: f"endpoint.{name.replace('/', '-')}" for name in endpoints.NAMES}

GOALS = [
    (f"{kind} beside {what}, {where}, p99 / allowed", f"fairness.{abuse}.{place}.{kind}.p99ms",
     beside(f"fairness.{abuse}.{place}", kind, least(abuse, place, kind)), "<=", 1)
    for abuse, what in ABUSES.items() for place, where in PLACES.items() for kind in KINDS
] + [
    (f"all three beside `{name}`, worst p99 / allowed", f"fairness.{row}.lookup.p99ms",
     worst(f"fairness.{row}"), "<=", 1) for name, row in ENDPOINTS.items()
]

BESIDE = [
    *((f"fairness, {kind} quiet, {name} ms", f"fairness.quiet.{kind}.{name}ms")
      for kind in KINDS for name in ("p50", "p99")),
    *((f"fairness, {kind} beside {what}, {where}, p50 ms",
       f"fairness.{abuse}.{place}.{kind}.p50ms")
      for abuse, what in ABUSES.items() for place, where in PLACES.items() for kind in KINDS),
    *((f"before, {kind} beside {what}, {where}, p99 ms",
       f"before.{abuse}.{place}.{kind}.p99ms")
      for abuse, what in ABUSES.items() for place, where in PLACES.items() for kind in KINDS),
    *((f"before, {kind} beside `{name}`, p99 ms", f"before.{row}.{kind}.p99ms")
      for name, row in ENDPOINTS.items() for kind in KINDS),
]


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


class FairnessMeasures:
    """Each abuse meets a server of its own, so that nothing of the one before is left."""

    def __init__(self, sizes, binary, folder, before=None, rows=None):
        """Rows: names of abuses and endpoints, or "abuses" or "endpoints" for all of these."""
        self.sizes = sizes
        self.binary = binary
        self.before = before
        self.folder = folder
        self.rows = rows or ["abuses", "endpoints"]
        unknown = set(self.rows) - {"abuses", "endpoints", *ABUSES, *ENDPOINTS}
        if unknown:
            raise SystemExit(f"--rows: the part fairness has no row {', '.join(sorted(unknown))}")

    def run(self):
        servers = {"fairness": self.binary} | ({"before": self.before} if self.before else {})
        figures = {}
        took = {prefix: {kind: [] for kind in KINDS} for prefix in servers}
        # The two by turns in each row, for the machine may be busier in the next.
        for abuse in ABUSES:
            for place in PLACES:
                for prefix in servers if self.has(abuse, "abuses") else ():
                    figures |= self.row(
                        prefix, servers[prefix], f"{abuse}.{place}", place, took[prefix])
        for name, row in ENDPOINTS.items():
            for prefix in servers if self.has(name, "endpoints") else ():
                figures |= self.row(prefix, servers[prefix], row, "same", took[prefix], name)
        for prefix in servers:
            for kind, values in took[prefix].items():
                figures |= self.figures(f"{prefix}.quiet.{kind}", values)
        return figures

    def has(self, name, group):
        return name in self.rows or group in self.rows

    def row(self, prefix, binary, row, place, took, endpoint=None):
        """One abuse beside one server; what is quiet there goes into `took`."""
        folder = self.folder / prefix / row
        folder.mkdir(parents=True)
        server = Lenticular(binary, folder, 100_000)
        server.environment["LENTICULAR_STORAGE_SQLITE_READER_CACHE_KIB"] = str(READER_CACHE_KIB)
        server.start()
        try:
            asked = self.prepare(server, place)
            quiet = self.sizes.seconds_quiet
            if endpoint:
                quiet = quiet / 4
                asked["abuser"]["largest"] = self.largest(server, asked, folder, endpoint)
            for kind, values in self.victim(asked, quiet).items():
                took[kind] += values["took"]
            return self.beside(
                f"{prefix}.{row}", asked, "endpoint" if endpoint else row.partition(".")[0])
        finally:
            server.stop()

    @staticmethod
    def largest(server, asked, folder, name):
        """The file with the largest request to an endpoint, which has been answered once."""
        made = endpoints.prepare(server, asked["user"], asked["query"], folder)
        target, content, headers = endpoints.largest(name, made)
        if name != endpoints.COURIER:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request(
                "POST", target, content, dict(line.split(": ", 1) for line in headers))
            answer = connection.getresponse()
            text = answer.read()
            connection.close()
            # Some endpoints are limited by the day.
            if answer.status not in (200, 429):
                raise RuntimeError(f"{name}: {answer.status} {text[:300]!r}")
        path = folder / "largest.json"
        path.write_text(json.dumps([target, content, headers]))
        return str(path)

    @staticmethod
    def figures(name, took):
        return {f"{name}.p50ms": percentile(took, 0.5) * 1000,
                f"{name}.p99ms": percentile(took, 0.99) * 1000}

    def beside(self, name, asked, abuse):
        took = {kind: [] for kind in KINDS}
        failures = 0
        seconds = self.sizes.fairness_seconds
        if abuse == "endpoint":
            seconds = min(seconds, self.sizes.endpoint_seconds)
        for _ in range(self.sizes.fairness_rounds):
            abuser = subprocess.Popen(
                [sys.executable, str(HERE / "abuser.py"), json.dumps(
                    asked["abuser"] | {"abuse": abuse, "seconds": seconds + 1})])
            try:
                for kind, values in self.victim(asked, seconds).items():
                    took[kind] += values["took"]
                    failures += values["failures"]
            finally:
                abuser.kill()
                abuser.wait()
        figures = {f"{name}.failures": failures}
        for kind, values in took.items():
            figures |= self.figures(f"{name}.{kind}", values)
        print(f"  {name}: " + ", ".join(
            f"{kind} p50 {figures[f'{name}.{kind}.p50ms']:.1f} p99"
            f" {figures[f'{name}.{kind}.p99ms']:.1f} ms" for kind in KINDS)
            + f", {failures} failed", flush=True)
        return figures

    @staticmethod
    def victim(asked, seconds):
        done = subprocess.run(
            [sys.executable, str(HERE / "victim.py"),
             json.dumps(asked["victim"] | {"seconds": seconds})],
            check=True, stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)

    def prepare(self, server, place):
        """A victim with a zone of 100 records; an abuser with a zone and 10,000 public records."""
        server.provision()
        user, abuser = server.make_user("abuser@example.com")
        container, token, victim = CONTAINER, server.api_token, server.query
        if place == "other":
            container = OTHER
            server.command("container", "create", OTHER)
            token = server.command("api-token", "create", OTHER, "development")["apiToken"]
            web = server.command(
                "web-token", "create", OTHER, "development", "benchmark@example.com")
            victim = f"?ckAPIToken={token}&ckWebAuthToken={web['webAuthToken']}"
        target = f"/database/1/{container}/development/private/%s{victim}"
        self.fill_victim(server, target)
        uploads = self.fill_abuser(server, abuser)
        own = f"/database/1/{CONTAINER}/development"
        return {
            "user": user, "query": abuser,
            "victim": {"port": server.port, "target": target},
            "abuser": {
                "port": server.port, "private": f"{own}/private/%s{abuser}", "uploads": uploads,
                "public": f"{own}/public/%s?ckAPIToken={server.api_token}",
                "stranger": f"{own}/private/%s?ckAPIToken=" + "0" * 64}}

    @staticmethod
    def fill_victim(server, target):
        def post(operation, body):
            return server.post_to(target % operation, body)
        post("zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": "Victim"}}}]})
        post("records/modify", {"zoneID": {"zoneName": "Victim"}, "operations": [
            {"operationType": "create", "record": {
                "recordName": f"v{number}", "recordType": "Thing", "fields": {
                    "n": {"value": number}, "text": {"value": f"number {number}"}}}}
            for number in range(100)]})

    @staticmethod
    def fill_abuser(server, query):
        server.post("zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": "Abuser"}}}]}, query=query)
        for database, zone in (("public", None), ("private", "Abuser")):
            for start in range(0, JUNK, PER_REQUEST):
                body = {"operations": [{"operationType": "create", "record": {
                    "recordName": f"j{number}", "recordType": "Junk", "fields": {
                        "n": {"value": number}, "text": {"value": f"word number {number} " * 20}}}}
                    for number in range(start, start + PER_REQUEST)]}
                if zone:
                    body["zoneID"] = {"zoneName": zone}
                server.post("records/modify", body, database=database, query=query)
        server.post("records/modify", {"zoneID": {"zoneName": "Abuser"}, "operations": [
            {"operationType": "create", "record": {"recordName": "root", "recordType": "Junk"}}]},
            query=query)
        tokens = server.post("assets/upload", {
            "zoneID": {"zoneName": "Abuser"},
            "tokens": [{"recordType": "Junk", "fieldName": "file"}] * 64}, query=query)["tokens"]
        return ["/assets/" + token["url"].split("/assets/", 1)[1] for token in tokens]
