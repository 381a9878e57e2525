#!/usr/bin/env python3
"""Measures an import and exports of many records, and what another user's requests take beside each.

    Benchmarks/transfers.py [--binary FILE] [--records N] [--alone-seconds S]

Records have four fields and 340 bytes, and names at random. The load says how much else the machine had to do. It ends
with 1 when a goal is missed: records a second, or others' p99, for which `fairness` says what is allowed.
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

from fairness import BESIDE_MS, LARGE_SAVES_MS, FairnessMeasures, percentile
from lenticular import CONTAINER, Lenticular

HERE = pathlib.Path(__file__).resolve().parent
BINARY = HERE.parent / ".build/release/lenticular"
IMPORT_PER_SECOND, EXPORT_PER_SECOND = 25_000, 100_000
EXPORTS = 4


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
        # Or else the system would write it while others are measured.
        lines.flush()
        os.fsync(lines.fileno())


def victim(asked, seconds, took):
    done = subprocess.run(
        [sys.executable, str(HERE / "victim.py"), json.dumps(asked | {"seconds": seconds})],
        check=True, stdout=subprocess.PIPE, text=True)
    for kind, values in json.loads(done.stdout).items():
        assert not values["failures"], values["failed"]
        took.setdefault(kind, []).extend(values["took"])


def tell(name, took, quiet=None, least=None):
    """Prints what it took; returns the kinds of requests whose p99 is beyond what is allowed beside what was quiet."""
    missed = []
    told = []
    for kind, values in took.items():
        p50, p99 = (percentile(values, part) * 1000 for part in (0.5, 0.99))
        text = f"{kind} p50 {p50:.1f} p99 {p99:.1f} ms of {len(values)}"
        if quiet:
            allowed = max(2 * percentile(quiet[kind], 0.99) * 1000, least.get(kind, BESIDE_MS))
            text += f" (allowed {allowed:.1f})"
            if p99 > allowed:
                missed.append(f"{kind} {name}")
        told.append(text)
    print(f"{name}: {', '.join(told)}; load {os.getloadavg()[0]:.1f}", flush=True)
    return missed


def timed(name, count, goal, server, *words):
    """Runs a command; returns its name where it was slower than the goal."""
    began = time.monotonic()
    done = subprocess.run(
        [server.binary, *words, "--data", str(server.data), "--json"], capture_output=True, text=True)
    seconds = time.monotonic() - began
    assert done.returncode == 0, done.stderr + done.stdout
    print(f"{name}: {count:,} in {seconds:.1f} s: {count / seconds:,.0f}/s (goal {goal:,}); "
          f"load {os.getloadavg()[0]:.1f}", flush=True)
    return [name] if count / seconds < goal else []


def beside(asked, work):
    """What the other user's requests take until the work is done, and what the work returns."""
    took, done = {}, threading.Event()

    def ask():
        while not done.is_set():
            victim(asked, 4, took)
    asking = threading.Thread(target=ask)
    asking.start()
    try:
        missed = work()
    finally:
        done.set()
        asking.join()
    return took, missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=str(BINARY))
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--alone-seconds", type=int, default=20)
    arguments = parser.parse_args()
    count = arguments.records
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        fill(place / "in.jsonl", count)
        server = Lenticular(arguments.binary, place, 200)
        server.start()
        try:
            server.provision()
            asked = {"port": server.port, "target": f"/database/1/{CONTAINER}/development/private/%s{server.query}"}
            FairnessMeasures.fill_victim(server, asked["target"])
            quiet = {}
            victim(asked, arguments.alone_seconds, quiet)
            tell("with neither", quiet)
            other = ("--user", "importer@example.com")
            server.make_user(other[1])

            def transfer(word, goal, file):
                return timed(
                    word, count, goal, server, word, CONTAINER, "development", str(place / file), *other)

            def exports():
                return sum((transfer("export", EXPORT_PER_SECOND, f"out{n}.jsonl") for n in range(EXPORTS)), [])
            took, missed = beside(asked, lambda: transfer("import", IMPORT_PER_SECOND, "in.jsonl"))
            missed += tell("beside the import", took, quiet, {"save": LARGE_SAVES_MS})
            took, slow = beside(asked, exports)
            missed += slow + tell("beside the exports", took, quiet, {})
            missed += transfer("export", EXPORT_PER_SECOND, "alone.jsonl")
        finally:
            server.stop()
    if missed:
        print("missed: " + ", ".join(missed))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
