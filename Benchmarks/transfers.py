#!/usr/bin/env python3
"""Measures an import and an export of many records, and what another user's requests take beside each.

    Benchmarks/transfers.py [--binary FILE] [--records N] [--alone-seconds S]

Records have four fields and 340 bytes, and names at random. The load says how much else the machine had to do.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

from fairness import FairnessMeasures
from lenticular import CONTAINER, Lenticular

HERE = pathlib.Path(__file__).resolve().parent
BINARY = HERE.parent / ".build/release/lenticular"


def fill(path, count):
    chosen = random.Random(7)
    with path.open("w") as lines:
        for number in range(count):
            lines.write(json.dumps({
                "recordName": f"{chosen.getrandbits(128):032x}", "recordType": "Note", "fields": {
                    "title": {"value": f"Note {number}", "type": "STRING"},
                    "text": {"value": "word " * 12, "type": "STRING"},
                    "n": {"value": number, "type": "INT64"},
                    "at": {"value": 1_700_000_000_000 + number, "type": "TIMESTAMP"}}}) + "\n")


def victim(asked, seconds, took):
    done = subprocess.run(
        [sys.executable, str(HERE / "victim.py"), json.dumps(asked | {"seconds": seconds})],
        check=True, stdout=subprocess.PIPE, text=True)
    for kind, values in json.loads(done.stdout).items():
        assert not values["failures"], values["failed"]
        took.setdefault(kind, []).extend(values["took"])


def tell(name, took):
    print(f"{name}: " + ", ".join(
        f"{kind} p50 {sorted(values)[len(values) // 2] * 1000:.1f} p99 "
        f"{sorted(values)[len(values) * 99 // 100] * 1000:.1f} ms of {len(values)}"
        for kind, values in took.items()) + f"; load {os.getloadavg()[0]:.1f}", flush=True)


def timed(name, count, server, *words):
    began = time.monotonic()
    done = subprocess.run(
        [server.binary, *words, "--data", str(server.data), "--json"], capture_output=True, text=True)
    seconds = time.monotonic() - began
    assert done.returncode == 0, done.stderr + done.stdout
    print(f"{name}: {count:,} in {seconds:.1f} s: {count / seconds:,.0f}/s; "
          f"load {os.getloadavg()[0]:.1f}", flush=True)
    return seconds


def beside(name, asked, work):
    """What the other user's requests take until the work is done."""
    took, done = {}, threading.Event()

    def ask():
        while not done.is_set():
            victim(asked, 4, took)
    asking = threading.Thread(target=ask)
    asking.start()
    try:
        work()
    finally:
        done.set()
        asking.join()
    tell(name, took)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=str(BINARY))
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--alone-seconds", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        fill(place / "in.jsonl", arguments.records)
        server = Lenticular(arguments.binary, place, 200)
        server.start()
        try:
            server.provision()
            asked = {"port": server.port, "target": f"/database/1/{CONTAINER}/development/private/%s{server.query}"}
            FairnessMeasures.fill_victim(server, asked["target"])
            alone = {}
            victim(asked, arguments.alone_seconds, alone)
            tell("with neither", alone)
            other = ("--user", "importer@example.com")
            server.make_user(other[1])
            beside("beside the import", asked, lambda: timed(
                "import", arguments.records, server, "import", CONTAINER, "development",
                str(place / "in.jsonl"), *other))
            beside("beside the export", asked, lambda: timed(
                "export", arguments.records, server, "export", CONTAINER, "development",
                str(place / "out.jsonl"), *other))
            timed("export, alone", arguments.records, server, "export", CONTAINER, "development",
                  str(place / "again.jsonl"), *other)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
