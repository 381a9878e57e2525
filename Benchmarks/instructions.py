#!/usr/bin/env python3
"""Counts the instructions of requests by callgrind, over all threads of the server.

    Benchmarks/instructions.py [--binary FILE] [--requests N] [--keep FOLDER] [NAME[=VALUE,…] …]

Each NAME is a server of its own with the settings given to it as environment variables; without any, one with what it
keeps and counts of requests turned off, one with each of both, and one with both. It needs valgrind. `--keep` leaves
callgrind's files there, for callgrind_annotate.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

from lenticular import Lenticular

BINARY = pathlib.Path(__file__).resolve().parent.parent / ".build/release/lenticular"
LINES_OFF, TELEMETRY_OFF = "LENTICULAR_REQUESTS_BYTES_MAX=0", "LENTICULAR_TELEMETRY_SERIES=0"
SERVERS = [f"neither={LINES_OFF},{TELEMETRY_OFF}", f"lines={TELEMETRY_OFF}", f"telemetry={LINES_OFF}", "both"]
ROUNDS = 3
# As an app on a phone sends them.
HEADERS = (
    "Host: sync.example.org\r\nContent-Type: application/json\r\nAccept: */*\r\n"
    "User-Agent: Notes/12.4 CFNetwork/1410.1 Darwin/22.6.0\r\nAccept-Language: en-GB,en;q=0.9\r\n"
)
CLIENT = "&clientId=6F9619FF-8B86-D011-B42D-00C04FC964FF"


def fields(number):
    return {
        "title": {"value": f"Note {number}"}, "body": {"value": "word " * 60},
        "size": {"value": number}, "ratio": {"value": number / 7}, "kind": {"value": f"kind {number % 9}"},
        "made": {"value": 1_700_000_000_000 + number, "type": "TIMESTAMP"},
        "done": {"value": number % 2}, "author": {"value": "Ann Example"},
    }


class Connection:
    """One connection that sends each request in one piece."""

    def __init__(self, server):
        self.server = server
        self.socket = socket.create_connection(("127.0.0.1", server.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def prepare(self, operation, body):
        content = json.dumps(body, separators=(",", ":"))
        target = self.server.target(operation, query=self.server.query + CLIENT)
        return f"POST {target} HTTP/1.1\r\n{HEADERS}Content-Length: {len(content)}\r\n\r\n{content}".encode()

    def ask(self, request):
        self.socket.sendall(request)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.socket.recv(1 << 20)
        head, _, body = answer.partition(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE).group(1))
        while len(body) < length:
            body += self.socket.recv(1 << 20)
        if not head.startswith(b"HTTP/1.1 200") or b"serverErrorCode" in body[:4096]:
            raise RuntimeError(f"{head[:200]} {body[:400]}")
        return body


class Works:
    """What is asked, each with how many of the requests."""

    def __init__(self, connection, count):
        self.connection, self.count, self.next = connection, count, 0
        self.zone = {"zoneName": "Items"}
        self.all = {
            "lookup of one record": (1, self.lookup_of(1)), "lookup of 200": (20, self.lookup_of(200)),
            "single save, a new record": (2, self.save), "page of 200 changes": (10, self.page),
        }

    def save(self):
        self.next += 1
        return self.modify([f"note-{self.next}"])

    def modify(self, names):
        operations = [
            {"operationType": "forceUpdate", "record": {
                "recordName": name, "recordType": "Note", "fields": fields(number)}}
            for number, name in enumerate(names)]
        return "records/modify", {"zoneID": self.zone, "operations": operations}

    def lookup_of(self, many):
        def request():
            self.next += 1
            records = [{"recordName": f"base-{(self.next * 7 + n) % 2_000}"} for n in range(many)]
            return "records/lookup", {"zoneID": self.zone, "records": records}
        return request

    def page(self):
        return "changes/zone", {"zones": [{"zoneID": self.zone, "resultsLimit": 200}]}

    def send(self, work):
        divisor, make = self.all[work]
        requests = [self.connection.prepare(*make()) for _ in range(max(5, self.count // divisor))]
        for request in requests:
            self.connection.ask(request)
        return len(requests)


class Counted(Lenticular):
    """The server under callgrind."""

    def __init__(self, binary, folder, settings):
        super().__init__(binary, folder, 200)
        self.environment.update(settings)
        self.folder = folder
        self.plain = binary

    def start_counted(self, port):
        self.port = port
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                ["valgrind", "--tool=callgrind", "--compress-strings=no", f"--callgrind-out-file={self.folder}/callgrind.out",
                 self.plain, "serve", "--data", str(self.data), "--listen", f"127.0.0.1:{port}"],
                stdout=log, stderr=log, env=self.environment)
        deadline = time.monotonic() + 120
        while not self.answers_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(self.log.read_text()[-2_000:])
            time.sleep(0.2)

    def control(self, *words):
        subprocess.run(["callgrind_control", *words, str(self.pid)], check=True, capture_output=True)

    def count(self):
        """The instructions of the last dump, and its file."""
        newest = max(self.folder.glob("callgrind.out.*"), key=lambda file: int(file.suffix[1:]))
        total = re.search(r"^(?:totals|summary): (\d+)", newest.read_text(), re.MULTILINE)
        return int(total.group(1)), newest


def measure(binary, folder, settings, count, keep):
    server = Counted(binary, folder, settings)
    server.start()
    server.provision()
    server.create_zone("Items")
    works = Works(Connection(server), count)
    for start in range(0, 2_000, 200):
        operation, body = works.modify([f"base-{number}" for number in range(start, start + 200)])
        works.connection.ask(works.connection.prepare(operation, body))
    server.stop()
    server.start_counted(server.port)
    works.connection = Connection(server)
    found = {}
    for work in works.all:
        # Until memory that grows with what comes in a second has grown.
        works.send(work)
        time.sleep(2)
        totals = []
        for _ in range(ROUNDS):
            # What is written a second later is part of it.
            time.sleep(3)
            server.control("-z")
            sent = works.send(work)
            time.sleep(3)
            server.control("-d")
            total, file = server.count()
            totals.append(total / sent)
            if keep and totals[-1] == min(totals):
                shutil.copy(file, f"{keep}.{work.replace(' ', '-').replace(',', '')}")
        # What a thread does once a minute is in none.
        found[work] = min(totals)
    server.stop()
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=str(BINARY))
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--keep")
    parser.add_argument("servers", nargs="*")
    arguments = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory(dir=BINARY.parent.parent) as folder:
        binary = f"{folder}/lenticular"
        # valgrind reads no debug sections of Swift.
        subprocess.run(["strip", "-g", "-o", binary, arguments.binary], check=True)
        for spoken in arguments.servers or SERVERS:
            name, _, settings = spoken.partition("=")
            place = pathlib.Path(folder, name)
            place.mkdir()
            keep = arguments.keep and os.path.join(arguments.keep, name)
            rows[name] = measure(
                binary, place, dict(s.split("=") for s in settings.split(",") if s), arguments.requests, keep)
            print(name, {work: round(found) for work, found in rows[name].items()}, flush=True)
    first = next(iter(rows.values()))
    print(f"\n| request | {' | '.join(rows)} |\n|{'---|' * (len(rows) + 1)}")
    for work, base in first.items():
        cells = [f"{round(row[work], -2):,.0f} ({row[work] / base - 1:+.1%})" for row in rows.values()]
        print(f"| {work} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
