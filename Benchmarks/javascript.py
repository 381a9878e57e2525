"""The JavaScript client's store in Chromium against the release server: speed, memory, and the size of its files."""

import gzip
import json
import os
import subprocess

from programs import REPOSITORY

PYTHON = REPOSITORY / ".build/acceptance-venv/bin/python"
CLIENT = REPOSITORY / "Clients/JavaScript"
TIMEOUT_SECONDS = 1_200

# Work, the figure, at least or at most, the goal.
FIGURES = [
    ("first sync of 10,000 into IndexedDB, records/s",
     "firstSync.browser.recordsPerSecond", ">=", 15_000),
    ("the same into memory, records/s", "firstSync.memory.recordsPerSecond", ">=", 60_000),
    ("10,000 records, from open() to the first query, ms", "reload.milliseconds", "<=", 150),
    ("a remote change on screen after its commit, p50 ms",
     "remoteChange.p50milliseconds", "<=", 50),
    ("a filter over 10,000, ms", "query.filter.milliseconds", "<=", 2),
    ("the first 50 of 10,000 in order, ms", "query.limit.milliseconds", "<=", 2),
    ("all of 10,000 in order, ms", "query.sorted.milliseconds", "<=", 2),
    ("memory for 10,000 records of 500 B, MB", "memory.megabytes", "<=", 30),
    ("names that apps know, gzipped bytes", "size.cloudkit.bytes", "<=", 25_000),
    ("store, gzipped bytes", "size.store.bytes", "<=", 25_000),
    ("elements, gzipped bytes", "size.elements.bytes", "<=", 15_000),
]
PREFIX = "javascript."


def value_of(name):
    return lambda figures: figures[PREFIX + name]


GOALS = [(f"JavaScript: {work}", PREFIX + name, value_of(name), direction, goal)
         for work, name, direction, goal in FIGURES]


class JavaScriptMeasures:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        folder.mkdir(parents=True)

    def run(self):
        written = self.folder / "figures.json"
        subprocess.run(
            [str(PYTHON), str(REPOSITORY / "Tests/acceptance/web_store.py"),
             "--figures", str(written)],
            check=True, timeout=TIMEOUT_SECONDS,
            env=dict(os.environ, SERVER_BINARY=str(self.binary)))
        figures = json.loads(written.read_text())
        for name in ("cloudkit", "store", "elements"):
            figures[f"size.{name}.bytes"] = len(gzip.compress((CLIENT / f"{name}.js").read_bytes()))
        return {PREFIX + name: value for name, value in figures.items()}
