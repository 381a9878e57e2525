"""OpenStack Swift with its S3 API, as processes in a folder and on ports of their own.

Chosen because PyPI and Debian carry it whole, it is what runs in data centres, it checks every signature
(moto's server does not by default), and it needs no cluster, as Ceph's gateway does.
"""

import datetime
import hashlib
import hmac
import http.client
import os
import pwd
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

REGION = "eu-test-1"
ACCESS_KEY = "tests:tests"
SECRET = "a-secret-of-tests"
KINDS = ("account", "container", "object", "proxy")

COMMON = """[DEFAULT]
user = {user}
swift_dir = {folder}
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
log_level = WARNING
"""
STORAGE = """devices = {folder}/devices
mount_check = false
disable_fallocate = true
fallocate_reserve = 0
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""
FILTERS = "catch_errors gatekeeper healthcheck listing_formats bulk s3api tempauth slo dlo".split()
OPTIONS = {
    "s3api": f"location = {REGION}\n",
    "tempauth": f"user_tests_tests = {SECRET} .admin\n",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ObjectStore:
    def __init__(self):
        self.keeper = tempfile.TemporaryDirectory()
        self.folder = self.keeper.name
        self.binaries = os.path.dirname(sys.executable)
        self.ports = {kind: free_port() for kind in KINDS}
        self.processes = {}
        os.makedirs(f"{self.folder}/devices/d1")
        self.write(
            "swift.conf",
            "[swift-hash]\nswift_hash_path_suffix = tests\nswift_hash_path_prefix = tests\n"
            "[storage-policy:0]\nname = one\ndefault = yes\n",
        )
        for kind in KINDS:
            text = COMMON.format(
                user=pwd.getpwuid(os.getuid()).pw_name, folder=self.folder, port=self.ports[kind]
            )
            if kind == "proxy":
                text += "[pipeline:main]\npipeline = " + " ".join([*FILTERS, "proxy-server\n"])
                text += "[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\n"
                for name in FILTERS:
                    text += f"[filter:{name}]\nuse = egg:swift#{name}\n" + OPTIONS.get(name, "")
            else:
                text += STORAGE.format(folder=self.folder, kind=kind)
                self.make_ring(kind)
            self.write(f"{kind}.conf", text)

    @staticmethod
    def is_installed():
        return os.path.exists(os.path.join(os.path.dirname(sys.executable), "swift-proxy-server"))

    def __enter__(self):
        for kind in KINDS:
            self.start(kind)
        return self

    def __exit__(self, *failure):
        for kind in KINDS:
            self.kill(kind)
        self.keeper.cleanup()

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.ports['proxy']}"

    def write(self, name, text):
        with open(f"{self.folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text)

    def make_ring(self, kind):
        builder = f"{self.folder}/{kind}.builder"
        place = f"r1z1-127.0.0.1:{self.ports[kind]}/d1"
        for words in (["create", "4", "1", "0"], ["add", place, "1"], ["rebalance"]):
            made = subprocess.run(
                [f"{self.binaries}/swift-ring-builder", builder, *words], capture_output=True
            )
            # 1 is a warning.
            assert made.returncode <= 1, made.stdout

    def start(self, kind):
        with open(f"{self.folder}/{kind}.log", "ab") as log:
            self.processes[kind] = subprocess.Popen(
                [f"{self.binaries}/swift-{kind}-server", f"{self.folder}/{kind}.conf"],
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.ports[kind]), 5).close()
                return
            except OSError:
                assert self.processes[kind].poll() is None, f"{kind} has stopped: {self.folder}"
                assert time.monotonic() < until, f"{kind} does not answer"
                time.sleep(0.05)

    def kill(self, kind):
        process = self.processes.pop(kind, None)
        if process:
            process.kill()
            process.wait()

    def call(self, method, path, query=""):
        """One signed request without a body; status and body of its answer."""
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        empty = hashlib.sha256(b"").hexdigest()
        host = f"127.0.0.1:{self.ports['proxy']}"
        names = "host;x-amz-content-sha256;x-amz-date"
        canonical = (
            f"{method}\n{path}\n{query}\nhost:{host}\nx-amz-content-sha256:{empty}\n"
            f"x-amz-date:{now}\n\n{names}\n{empty}"
        )
        scope = f"{now[:8]}/{REGION}/s3/aws4_request"
        text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n" + hashlib.sha256(canonical.encode()).hexdigest()
        key = ("AWS4" + SECRET).encode()
        for part in scope.split("/") + [text]:
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        connection = http.client.HTTPConnection("127.0.0.1", self.ports["proxy"], timeout=30)
        connection.request(
            method,
            path + (f"?{query}" if query else ""),
            headers={
                "x-amz-date": now,
                "x-amz-content-sha256": empty,
                "Authorization": f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/{scope},"
                f"SignedHeaders={names},Signature={key.hex()}",
            },
        )
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def keys(self, bucket, prefix):
        """The keys of the objects with a prefix, fewer than a thousand."""
        query = "list-type=2&prefix=" + urllib.parse.quote(prefix, safe="")
        status, body = self.call("GET", f"/{bucket}", query)
        assert status == 200, body
        return re.findall(r"<Key>([^<]*)</Key>", body.decode())
