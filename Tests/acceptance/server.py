"""The release server as a process, on a folder and port of its own."""

import json
import os
import random
import shutil
import socket
import subprocess
import tempfile
import threading
import time

BINARY = os.environ.get("SERVER_BINARY") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../.build/release/lenticular"
)
START_SECONDS = 120
# A query that a busy machine held up comes out as any other.
os.environ.setdefault("LENTICULAR_LIMITS_INDEX_WAIT_MILLISECONDS", "30000")
os.environ.setdefault("LENTICULAR_LIMITS_QUERY_MILLISECONDS_MAX", "600000")


def database():
    """What has a server keep its stores in a new database, where the tests are run on PostgreSQL; else nothing."""
    folder = os.environ.get("TEST_POSTGRES")
    if not folder:
        return {}
    name = f"test{os.getpid()}x{random.randrange(1 << 32)}"
    subprocess.run(
        ["createdb", "-h", folder, "-U", "postgres", name], check=True, stdin=subprocess.DEVNULL, timeout=120)
    return {
        "LENTICULAR_STORAGE_ENGINE": "postgres",
        "LENTICULAR_STORAGE_POSTGRES_URL": f"postgresql://postgres@/{name}?host={folder}"}


def free_port():
    """A port that nobody has, below those that outgoing connections take until it is listened at."""
    while True:
        with socket.socket() as probe:
            try:
                probe.bind(("", random.randrange(12_000, 32_000)))
                return probe.getsockname()[1]
            except OSError:
                continue


class Server:
    def __init__(self):
        self.folder = tempfile.mkdtemp()
        self.storage = database()
        self.process = None
        self.address = None
        # Where it listens, in place of a port of this machine.
        self.socket = None
        self.lock = threading.Lock()

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if failure[0] is None:
            shutil.rmtree(self.folder)
        else:
            print(f"the server's files are kept in {self.folder}")

    @property
    def data(self):
        return os.path.join(self.folder, "data")

    def start(self):
        """Waits until the log says where the server listens; later starts use the same port."""
        os.environ |= self.storage
        listen = "127.0.0.1:%d" % (self.address[1] if self.address else 0)
        path = os.path.join(self.folder, "log")
        with open(path, "wb") as log, open(os.path.join(self.folder, "errors"), "ab") as errors:
            place = f"unix:{self.socket}" if self.socket else listen
            arguments = [BINARY, "serve", "--data", self.data, "--listen", place]
            self.process = self.started(arguments, stdout=log, stderr=errors)
        until = time.monotonic() + START_SECONDS
        while True:
            with open(path, "rb") as log:
                for line in log:
                    event = json.loads(line) if line.endswith(b"\n") else {}
                    if event.get("message") == "serving":
                        if self.socket:
                            return
                        host, port = event["listen"].split(",")[0].rsplit(":", 1)
                        self.address = (host, int(port))
                        return
            ended = self.process.poll()
            assert ended is None, f"the server has ended with {ended}: {self.folder}/errors"
            assert time.monotonic() < until, "the server does not say where it listens"
            time.sleep(0.02)

    def started(self, arguments, **outputs):
        return subprocess.Popen(arguments, **outputs)

    def kill_and_restart(self):
        with self.lock:
            self.process.kill()
            self.process.wait()
            self.start()

    def stop(self):
        self.process.terminate()
        assert self.process.wait() == 0, self.process.returncode

    def command(self, *words):
        """Runs one command on the data folder; its answer as JSON."""
        os.environ |= self.storage
        output = subprocess.run(
            [BINARY, *words, "--data", self.data, "--json"], capture_output=True, text=True
        )
        assert output.returncode == 0, output.stderr
        return json.loads(output.stdout)

    def make_person(self, name, password, *more):
        """Somebody who signs in by a password, as NAME@example.org."""
        os.environ |= self.storage
        subprocess.run(
            [BINARY, "user", "create", f"{name}@example.org", "--given-name", name.title(),
             *more, "--password-stdin", "--data", self.data],
            input=password.encode(), check=True, stdout=subprocess.DEVNULL)
