"""How fast notices leave once they are found, each sealed or signed as it would be, at an nginx of one worker."""

import re
import subprocess

import machine
from nginx import Nginx
from programs import REPOSITORY

WEBHOOKS = "notices.sent.webhooks"
APPLE_PUSH = "notices.sent.applePush"

GOALS = [
    ("webhooks that leave, 8 connections, /s", f"{WEBHOOKS}.perSecond",
     lambda figures: figures[f"{WEBHOOKS}.perSecond"], ">=", 5_000),
    ("posts to Apple's service that leave, one connection, /s", f"{APPLE_PUSH}.perSecond",
     lambda figures: figures[f"{APPLE_PUSH}.perSecond"], ">=", 15_000),
]

HOW = "swift build -c release --traits ApplePush --product SendingBenchmark"

SERVER = """
    server {{
        listen 127.0.0.1:{tls_port} ssl http2;
        ssl_certificate {folder}/certificate.pem;
        ssl_certificate_key {folder}/key.pem;
        http2_max_concurrent_streams 1000;
        location / {{ return 200; }}
    }}
    server {{ listen 127.0.0.1:{hook_port}; location / {{ return 204; }} }}
"""


class DeliveryMeasures:
    """Runs the program of the folder `sending`, which is built beside the server."""

    def __init__(self, sizes, folder, program=REPOSITORY / ".build/release/SendingBenchmark"):
        self.count, self.folder, self.program = sizes.deliveries, folder, program
        self.figures = {}

    def run(self):
        if not self.program.exists():
            print(f"benchmark: {self.program} is missing: {HOW}", flush=True)
            return {}
        self.folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
             "-keyout", self.folder / "key.pem", "-out", self.folder / "certificate.pem"],
            check=True, stderr=subprocess.DEVNULL)
        ports = {"tls_port": machine.free_port(), "hook_port": machine.free_port()}
        servers = SERVER.format(folder=self.folder, **ports)
        with Nginx(self.folder, workers=1, servers=servers):
            self.send(WEBHOOKS, "webhooks", f"http://127.0.0.1:{ports['hook_port']}/in")
            self.send(
                APPLE_PUSH, "apple-push", f"https://localhost:{ports['tls_port']}",
                self.folder / "certificate.pem")
        return self.figures

    def send(self, name, kind, place, *more):
        done = subprocess.run(
            [self.program, kind, place, str(self.count), *more],
            capture_output=True, text=True)
        if "--traits" in done.stderr:
            print(f"benchmark: {kind} is not in this build: {HOW}", flush=True)
            return
        found = re.search(r": (\d+)/s", done.stdout)
        # What was not taken stands below.
        if not found or len(done.stdout.strip().splitlines()) != 1:
            raise RuntimeError(f"{kind}: {done.stdout}{done.stderr}")
        self.figures[f"{name}.perSecond"] = int(found[1])
