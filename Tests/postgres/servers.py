"""Servers on one PostgreSQL as processes of a test's own, and what one user asks of them."""

import http.client
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import time

CONTAINER = "iCloud.dev.lenticular.Proof"
READY_SECONDS_MAX = 120


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Server:
    """One of several, in a data folder of its own; it shares the key of the first, and its assets unless settings say
    where they are."""

    def __init__(self, binary, folder, database, number=0, settings=None):
        self.binary, self.data = binary, folder / f"data{number}"
        self.log = folder / f"server{number}.log"
        if number > 0:
            self.data.mkdir(mode=0o700)
            if settings is None:
                (self.data / "containers").symlink_to(folder / "data0/containers")
            shutil.copy(folder / "data0/secrets.key", self.data)
        self.environment = os.environ | {
            "LENTICULAR_STORAGE_ENGINE": "postgres", "LENTICULAR_STORAGE_POSTGRES_URL": database,
            "LENTICULAR_CONSOLE_LISTEN": "", "LENTICULAR_METRICS_LISTEN": "",
            # A query that a busy machine held up comes out as any other.
            "LENTICULAR_LIMITS_INDEX_WAIT_MILLISECONDS": "30000", "LENTICULAR_LIMITS_QUERY_MILLISECONDS_MAX": "600000",
        } | (settings or {})
        self.port = free_port()

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [self.binary, "serve", "--data", str(self.data), "--listen", f"127.0.0.1:{self.port}"],
                stdout=log, stderr=log, env=self.environment)
        self.wait_until_ready()

    def wait_until_ready(self):
        end = time.monotonic() + READY_SECONDS_MAX
        while time.monotonic() < end:
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.02)
        raise RuntimeError(f"the server does not get ready: {self.log.read_text()[-2000:]}")

    def ask(self, method, path, body=None):
        """Status and answer; as JSON, where a body goes."""
        if body is None:
            return self.send(method, path)
        status, content = self.send(method, path, json.dumps(body))
        return status, json.loads(content)

    def send(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except http.client.HTTPException as error:
            raise ConnectionError(str(error)) from error
        finally:
            connection.close()

    def command(self, *words):
        done = subprocess.run(
            [self.binary, *words, "--data", str(self.data), "--json"],
            capture_output=True, text=True, env=self.environment)
        if done.returncode != 0:
            raise RuntimeError(f"{words}: {done.stderr}")
        return json.loads(done.stdout or "{}")

    def identity(self):
        """As which process the others know it."""
        return next(one["process"] for one in self.command("server", "show")["processes"] if one["isOwn"])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=120)


class Caller:
    """What a user asks, of one server after the other; a failure to be tried again is none."""

    def __init__(self, servers, query):
        self.servers, self.query, self.turns = servers, query, itertools.count()

    def post(self, operation, body):
        return self.post_to(self.servers[next(self.turns) % len(self.servers)], operation, body)

    def path(self, operation, database="private"):
        return f"/database/1/{CONTAINER}/development/{database}/{operation}{self.query}"

    def post_to(self, server, operation, body, database="private"):
        status, answer = server.ask("POST", self.path(operation, database), body)
        if answer.get("serverErrorCode") not in (None, "TRY_AGAIN_LATER"):
            raise RuntimeError(f"{operation}: {status} {answer}")
        return answer if status == 200 else None


def leases(database):
    """Number and holder of each lease that a server has, by the store that it is of and its name."""
    rows = database.ask(
        "SELECT store || ' ' || convert_from(name, 'UTF8'), number, encode(holder, 'hex') FROM stores.leases"
        " WHERE holder <> ''")
    return {name: (int(number), holder) for name, number, holder in (row.split("|") for row in rows.splitlines())}


def provision(servers):
    """Makes a container and a user; a caller for them."""
    first = servers[0]
    first.command("container", "create", CONTAINER)
    return enter(servers, "ada@example.org")


def enter(servers, address):
    """Makes a user; a caller for them."""
    first = servers[0]
    token = first.command("api-token", "create", CONTAINER, "development")["apiToken"]
    first.command("user", "create", address)
    web = first.command(
        "web-token", "create", CONTAINER, "development", address, "--expires", "86400")
    return Caller(servers, f"?ckAPIToken={token}&ckWebAuthToken={web['webAuthToken']}")


def must(ask):
    """What comes of it, asked until it is done."""
    while not (done := ask()):
        time.sleep(0.02)
    return done


def until(words, seconds, holds):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise RuntimeError(f"waited for {seconds} s in vain until {words}")
        time.sleep(0.1)
