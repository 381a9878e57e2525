#!/usr/bin/env python3
"""What people cost a server: memory and disk for so many with so many records each, all of whom wait for changes.

Beside the benchmark, which measures how fast a server is: this one says how large one has to be. It prints a table.
The figures of memory and disk hold on a busy machine, too; the load is printed with them.
"""

import argparse
import base64
import concurrent.futures
import hashlib
import http.client
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import time
import uuid

import lenticular
import machine

BATCH = 200
CONNECTIONS = 8
ZONE = {"zoneName": "Notes"}
PATH = f"/{lenticular.CONTAINER}/development"


class Signed:
    """Makes people by a server key, as an app with accounts of its own does."""

    def __init__(self, server, folder):
        self.key = folder / "key.pem"
        self.openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.key)
        public = self.openssl("ec", "-in", self.key, "-pubout")
        (folder / "public.pem").write_bytes(public)
        self.key_id = server.command(
            "server-key", "add", lenticular.CONTAINER, "development", "--scope", "container",
            "--public-key", str(folder / "public.pem"))["keyID"]

    def openssl(self, *words, given=b""):
        return subprocess.run(
            ["openssl", *map(str, words)], input=given, capture_output=True, check=True).stdout

    def web_token(self, connection, name):
        target = f"/accounts/1{PATH}/web-token"
        body = json.dumps({"externalID": name, "expires": 86_400}).encode()
        date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        text = f"{date}:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:{target}"
        signature = self.openssl("dgst", "-sha256", "-sign", self.key, given=text.encode())
        head = {"KeyID": self.key_id, "ISO8601Date": date,
                "SignatureV1": base64.b64encode(signature).decode()}
        return ask(connection, target, body, {
            f"X-Apple-CloudKit-Request-{key}": value for key, value in head.items()})["ckWebAuthToken"]


def ask(connection, target, body, headers={}):
    connection.request("POST", target, body=body, headers=headers)
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 200 and b"serverErrorCode" not in text, text[:300]
    return json.loads(text)


def record():
    """About 450 bytes as it is sent."""
    fields = {f"field{n}": {"value": uuid.uuid4().hex[:20]} for n in range(8)}
    return {"operationType": "create", "record": {
        "recordName": str(uuid.uuid4()), "recordType": "Note", "fields": fields}}


class People:
    def __init__(self, server, folder):
        self.server, self.signed = server, Signed(server, folder)

    def make(self, numbers, records):
        """Makes some people with their zones and records; returns the query and the token of each."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=300)
        made = []
        for number in numbers:
            token = self.signed.web_token(connection, f"person-{number}")
            query = f"?ckAPIToken={self.server.api_token}&ckWebAuthToken={token}"

            def call(endpoint, body):
                target = self.server.target(endpoint, query=query)
                return ask(connection, target, json.dumps(body).encode())

            call("zones/modify", {"operations": [{"operationType": "create", "zone": {"zoneID": ZONE}}]})
            for start in range(0, records, BATCH):
                call("records/modify", {"zoneID": ZONE, "atomic": False, "operations": [
                    record() for _ in range(min(BATCH, records - start))]})
            feed = {"zones": [{"zoneID": ZONE}]}
            while True:
                page = call("changes/zone", feed)["zones"][0]
                feed["zones"][0]["syncToken"] = page["syncToken"]
                if not page["moreComing"]:
                    break
            made.append((query, page["syncToken"]))
        return made

    def wait(self, made):
        """A connection of each, which waits for changes."""
        sockets = []
        for query, token in made:
            body = json.dumps({"zones": [{"zoneID": ZONE, "syncToken": token}], "waitSeconds": 55})
            target = self.server.target("changes/zone", query=query)
            connection = socket.create_connection(("127.0.0.1", self.server.port))
            connection.sendall(
                f"POST {target} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            sockets.append(connection)
        return sockets


def disk_bytes(folder):
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=".build/release/lenticular")
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument("--records", type=int, default=500)
    options = parser.parse_args()
    pathlib.Path(".build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=".build") as name:
        folder = pathlib.Path(name)
        server = lenticular.Lenticular(options.binary, folder, 200)
        # All connections come from one address.
        server.environment["LENTICULAR_HTTP_CONNECTIONS_PER_ADDRESS_MAX"] = str(options.people + 100)
        server.environment["LENTICULAR_STORAGE_RESERVE_BYTES"] = "0"
        server.start()
        try:
            measure(server, folder, options)
        finally:
            server.stop()


def measure(server, folder, options):
    server.provision()
    people, idle = People(server, folder), machine.resident_bytes(server.pid)
    parts = [range(n, options.people, CONNECTIONS) for n in range(CONNECTIONS)]
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        made = sum(pool.map(lambda part: people.make(part, options.records), parts), [])
    seconds, filled = time.monotonic() - began, machine.resident_bytes(server.pid)
    sockets = people.wait(made)
    while server.metrics()["lenticular_requests_held"] < len(sockets):
        time.sleep(0.1)
    waiting = machine.resident_bytes(server.pid)
    for connection in sockets:
        connection.close()
    server.stop()
    rows = [
        ("people", f"{options.people:,}"), ("records of each", f"{options.records:,}"),
        ("resident before anybody came, MB", f"{idle / 1e6:.0f}"),
        ("resident after all was saved and read, MB", f"{filled / 1e6:.0f}"),
        ("resident while all wait for changes, MB", f"{waiting / 1e6:.0f}"),
        ("disk, MB", f"{disk_bytes(folder / 'data') / 1e6:.0f}"),
        ("seconds for all of it", f"{seconds:.0f}"),
        ("load of the machine at the end", f"{os.getloadavg()[0]:.1f}"),
    ]
    print("\n".join(f"| {name} | {value} |" for name, value in rows))


main()
