"""The release server as a process, and what an administrator and one client do with it."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import time

import machine

CONTAINER = "iCloud.dev.lenticular.Benchmark"
EMAIL = "benchmark@example.com"
READY_SECONDS_MAX = 30
METRIC_SECONDS_MAX = 60
BUILT_SECONDS_MAX = 300
METRICS_TOKEN = "benchmark-of-lenticular"


class Lenticular:
    def __init__(self, binary, folder, page_records_max):
        self.binary = str(binary)
        self.data = folder / "data"
        self.log = folder / "server.log"
        self.environment = dict(
            os.environ, LENTICULAR_LIMITS_RECORDS_PER_RESPONSE_MAX=str(page_records_max),
            # nginx beside it writes no access log either.
            LENTICULAR_LOG_LEVEL="warning",
            # Another server may have the usual port.
            LENTICULAR_METRICS_LISTEN="127.0.0.1:0",
            LENTICULAR_METRICS_BEARER_TOKEN=METRICS_TOKEN)
        self.query = ""

    def start(self):
        """Starts it and returns the milliseconds from there to the first 200 of /readyz."""
        self.port = machine.free_port()
        with self.log.open("ab") as log:
            began = time.perf_counter()
            self.process = subprocess.Popen(
                [self.binary, "serve", "--data", str(self.data),
                 "--listen", f"127.0.0.1:{self.port}"],
                stdout=log, stderr=log, env=self.environment)
        while not self.answers_ready():
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended with {self.process.returncode}")
            if time.perf_counter() > began + READY_SECONDS_MAX:
                raise RuntimeError("the server does not get ready")
            time.sleep(0.0005)
        return (time.perf_counter() - began) * 1000

    def answers_ready(self):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", self.port)) != 0:
                return False
            probe.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return probe.recv(4096).startswith(b"HTTP/1.1 200")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=60)

    @property
    def pid(self):
        return self.process.pid

    @property
    def store(self):
        found = list(self.data.glob("containers/*/development/store.sqlite"))
        if len(found) != 1:
            raise RuntimeError(f"{len(found)} stores in {self.data}")
        return found[0]

    def outbox_rows(self):
        """How many notices wait in the store."""
        address = f"file:{self.store}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as store:
            return store.execute("SELECT count(*) FROM outbox").fetchone()[0]

    def command(self, *arguments):
        done = subprocess.run(
            [self.binary, *arguments, "--data", str(self.data), "--json"],
            check=True, capture_output=True, text=True, env=self.environment)
        return json.loads(done.stdout or "{}")

    def provision(self):
        """Makes a container, an API token and a user, who is the caller from then on."""
        self.command("container", "create", CONTAINER)
        self.api_token = self.command(
            "api-token", "create", CONTAINER, "development")["apiToken"]
        self.user, self.query = self.make_user(EMAIL)

    def make_user(self, email):
        """Makes a user; returns their record's name, and the query that says that they call."""
        self.command("user", "create", email)
        web = self.command(
            "web-token", "create", CONTAINER, "development", email, "--expires", "86400")
        query = f"?ckAPIToken={self.api_token}&ckWebAuthToken={web['webAuthToken']}"
        return web["userRecordName"], query

    def target(self, operation, database="private", query=None):
        """The request target of an operation; called by the first user unless said otherwise."""
        return f"/database/1/{CONTAINER}/development/{database}/{operation}{query or self.query}"

    def post(self, operation, body, **place):
        return self.post_to(self.target(operation, **place), body)

    def post_to(self, target, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(
                "POST", target, json.dumps(body),
                {"Content-Type": "application/json"})
            answer = connection.getresponse()
            content = answer.read()
            if answer.status != 200 or b"serverErrorCode" in content[:4096]:
                raise RuntimeError(f"{target.partition('?')[0]}: {answer.status} {content[:500]!r}")
            return json.loads(content)
        finally:
            connection.close()

    def ask_records(self, body):
        """The answer to a query, or None while an index is being built."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("POST", self.target("records/query"), json.dumps(body))
            answer = connection.getresponse()
            content = json.loads(answer.read())
        finally:
            connection.close()
        if answer.status == 503 and "is being built" in content.get("reason", ""):
            return None
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} {content}")
        return content

    def build_indexes(self, body):
        """Asks until the indexes of a query are whole; the seconds."""
        began = time.monotonic()
        while self.ask_records(body) is None:
            if time.monotonic() > began + BUILT_SECONDS_MAX:
                raise RuntimeError("an index is not finished")
        return time.monotonic() - began

    def create_zone(self, name):
        zone = {"zoneID": {"zoneName": name}}
        self.post(
            "zones/modify", {"operations": [{"operationType": "create", "zone": zone}]})

    def reaches(self, metric, value):
        """Returns once a metric is at least so much."""
        deadline = time.monotonic() + METRIC_SECONDS_MAX
        while (found := self.metrics()[metric]) < value:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{metric} is {found} and does not reach {value}")
            time.sleep(0.01)

    def metrics(self):
        """Each metric without labels, and the sum over the labels of each with them."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(
            "GET", "/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
        text = connection.getresponse().read().decode()
        connection.close()
        values = {}
        for name, value in re.findall(r"^(\w+)(?:\{[^}\n]*\})? (\S+)$", text, re.MULTILINE):
            values[name] = values.get(name, 0.0) + float(value)
        return values
