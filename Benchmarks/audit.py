#!/usr/bin/env python3
"""Measures how long `audit list` takes on an audit log of 10,000,000 lines, through the command line.

    Benchmarks/audit.py [LINES]

The log is made in a folder of its own, which takes 4 GB for 10,000,000 lines. The first search makes the index; it is
measured apart. Each other time is the median of five runs of the whole command, from its start to its end, and of the
processor's time that they took.
"""

import hashlib
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BINARY = os.environ.get("SERVER_BINARY") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../.build/release/lenticular"
)
ACTIONS = ["user export", "user erase", "record get", "record save", "sign-in failed", "role add"]
START, STEP = 1_700_000_000_000, 3_000


def account(number):
    return hashlib.md5(b"%d" % number).hexdigest()


def fill(path, count):
    previous, lines = "0" * 64, []
    with open(path, "wb", 1 << 20) as log:
        for number in range(count):
            start = (
                f'{{"previous":"{previous}","time":{START + number * STEP},"who":"user {number % 7}",'
                f'"what":"{ACTIONS[number % 6]}","account":"{account(number)}",'
                f'"detail":"iCloud.org.example.App{number % 1000} production"'
            )
            previous = hashlib.sha256(start.encode()).hexdigest()
            log.write(f'{start},"hash":"{previous}"}}\n'.encode())


def processor():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(data, *words):
    began, before = time.monotonic(), processor()
    ended = subprocess.run(
        [BINARY, "audit", "list", "--data", data, *words], capture_output=True, text=True)
    seconds = time.monotonic() - began
    assert ended.returncode == 0, ended.stderr
    return seconds, processor() - before, len([line for line in ended.stdout.splitlines() if "more:" not in line])


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    folder = tempfile.mkdtemp(dir=os.environ.get("TMPDIR"))
    try:
        data = os.path.join(folder, "data")
        os.mkdir(data, 0o700)
        subprocess.run(
            ["timeout", "-s", "TERM", "5", BINARY, "serve", "--data", data, "--listen",
             f"unix:{folder}/socket"], stdout=subprocess.DEVNULL)
        fill(os.path.join(data, "audit.log"), count)
        size = os.path.getsize(os.path.join(data, "audit.log"))
        print(f"{count:,} lines, {size / 1e6:,.0f} MB, load {os.getloadavg()[0]:.1f}")
        seconds, used, _ = run(data, "--search", "nobody")
        index = os.path.getsize(os.path.join(data, "audit.log.index"))
        print(f"first search, which makes the index of {index / 1e6:,.0f} MB: {seconds:.1f} s, "
              f"{used:.1f} s of the processor")
        middle = time.strftime(
            "%Y-%m-%dT%H:%M:%SZ", time.gmtime((START + (count - 200) * STEP) / 1000))
        for name, words in [
            ("an old account", ["--search", account(count // 10)]),
            ("the first account", ["--search", account(0)]),
            ("nobody", ["--search", "nobody at all"]),
            ("a container", ["--search", "iCloud.org.example.App77 "]),
            ("an action", ["--search", "role add"]),
            ("an operator", ["--search", "user 3"]),
            ("since lately", ["--since", middle]),
            ("nothing", []),
        ]:
            runs = [run(data, *words) for _ in range(5)]
            whole = statistics.median(seconds for seconds, _, _ in runs) * 1_000
            used = statistics.median(used for _, used, _ in runs) * 1_000
            print(f"{name}: {whole:.0f} ms, {used:.0f} ms of the processor, {runs[0][2]} lines")
    finally:
        shutil.rmtree(folder)


main()
