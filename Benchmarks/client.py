"""The Swift client against the release server: speed and memory, each work in its own process."""

import json
import os
import subprocess

from lenticular import CONTAINER, Lenticular
from programs import REPOSITORY

PACKAGE = REPOSITORY / "Clients/Swift"
MEGABYTES = 100
IDLE_SECONDS = 5

GOALS = [
    ("client: feed into records, records/s", "client.feed.recordsPerSecond",
     lambda figures: figures["client.feed.recordsPerSecond"], ">=", 60_000),
    ("client: saving 10,000, records/s", "client.save.recordsPerSecond",
     lambda figures: figures["client.save.recordsPerSecond"], ">=", 8_000),
    ("client: 100 MB up and down, MB more memory", "client.files.moreBytes",
     lambda figures: figures["client.files.moreBytes"] / 1_000_000, "<=", 16),
    ("client: an idle event stream, KB more memory", "client.idle.moreBytes",
     lambda figures: figures["client.idle.moreBytes"] / 1_000, "<=", 100),
]

BESIDE = [
    ("client: a page's bytes into records, without network, records/s",
     "client.page.recordsPerSecond"),
    ("client: the same page by Foundation into dictionaries, records/s",
     "client.page.foundationRecordsPerSecond"),
    ("client: bytes of a record on the wire", "client.page.bytesPerRecord"),
    ("client: a program's first event stream, bytes more memory than requests alone",
     "client.idle.firstMoreBytes"),
]


class ClientMeasures:
    def __init__(self, sizes, binary, folder):
        self.sizes, self.folder = sizes, folder
        folder.mkdir(parents=True)
        self.server = Lenticular(binary, folder, page_records_max=200)
        self.server.environment["LENTICULAR_ASSETS_BYTES_MAX"] = str(2 * MEGABYTES * 1_000_000)
        self.figures = {}

    @staticmethod
    def build():
        """Builds the program that is measured; returns its path."""
        command = ["swift", "build", "-c", "release", "--package-path", str(PACKAGE)]
        subprocess.run([*command, "--product", "client-speed"], check=True)
        shown = subprocess.run(
            [*command, "--show-bin-path"], check=True, capture_output=True, text=True)
        return f"{shown.stdout.strip()}/client-speed"

    def run(self):
        self.program = self.build()
        try:
            self.server.start()
            self.server.provision()
            self.write_service_file()
            records = min(10_000, self.sizes.records // 10)
            self.note("save", str(records))
            self.note("feed", str(self.sizes.records * 3))
            self.note("page")
            self.note("files", str(MEGABYTES))
            self.note("idle", str(IDLE_SECONDS))
        finally:
            self.server.stop()
        return self.figures

    def write_service_file(self):
        web_token = self.server.query.rpartition("ckWebAuthToken=")[2]
        self.service = self.folder / "service.json"
        self.service.write_text(json.dumps({CONTAINER: {
            "url": f"http://127.0.0.1:{self.server.port}",
            "apiToken": self.server.api_token, "webAuthToken": web_token}}))

    def note(self, work, *arguments):
        done = subprocess.run(
            [self.program, work, *arguments], check=True, capture_output=True, text=True,
            timeout=600, env=dict(
                os.environ, LENTICULAR_SERVICE_FILE=str(self.service), HOME=str(self.folder)))
        for name, value in json.loads(done.stdout).items():
            self.figures[f"client.{work}.{name}"] = value
