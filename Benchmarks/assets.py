"""Assets beside nginx serving the same files, and beside dd receiving them through a socket."""

import json
import os
import re
import selectors
import socket
import subprocess
import time

import machine

SMALL, LARGE = 102_400, 50_000_000
PARALLEL = 200
ROUNDS = 5

GOALS = [
    ("download of 100 KB files, 64 connections / nginx", "assets.download100k.bytesPerSecond",
     lambda figures: figures["assets.download100k.ratio"], ">=", 0.8),
    ("download of 50 MB files, 8 connections / nginx", "assets.download50m.bytesPerSecond",
     lambda figures: figures["assets.download50m.ratio"], ">=", 0.9),
    ("upload of 50 MB / dd conv=fsync through a socket", "assets.upload50m.bytesPerSecond",
     lambda figures: figures["assets.upload50m.ratio"], ">=", 0.6),
    ("200 uploads of 50 MB at once: more memory, MB", "assets.parallel.bytesPerSecond",
     lambda figures: figures["assets.parallel.moreBytes"] / 1_000_000, "<=", 64),
]
BESIDE = [
    ("nginx, 100 KB files, bytes/s", "nginx.download100k.bytesPerSecond"),
    ("nginx, 50 MB files, bytes/s", "nginx.download50m.bytesPerSecond"),
    ("dd conv=fsync of 50 MB through a socket, bytes/s", "dd.upload50m.bytesPerSecond"),
]


def rate(program, url, connections, seconds):
    """Bytes a second that wrk reads."""
    done = subprocess.run(
        ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--timeout", "30s", url],
        check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in done or "Socket errors" in done:
        raise RuntimeError(f"{program}: {done}")
    size, unit = re.search(r"Transfer/sec:\s+([\d.]+)(\w+)", done).groups()
    return float(size) * {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}[unit]


def middle(values):
    return sorted(values)[len(values) // 2]


class Assets:
    """Downloads and uploads of one server, each in turn with what it is held against."""

    def __init__(self, measures):
        self.measures, self.server = measures, measures.server
        self.figures, self.folder = measures.figures, measures.folder
        self.seconds = measures.sizes.seconds

    def run(self, nginx):
        self.downloads(nginx)
        self.uploads()
        self.parallel()

    # Downloads

    def downloads(self, nginx):
        for name, size, connections in (("100k", SMALL, 64), ("50m", LARGE, 8)):
            path = nginx.folder / "files" / f"asset{name}"
            path.write_bytes(os.urandom(size))
            link = self.saved(name, path)
            others, own = [], []
            for _ in range(ROUNDS):
                others.append(rate(
                    "nginx", f"http://127.0.0.1:{nginx.port}/asset{name}", connections,
                    self.seconds_each))
                own.append(rate("the server", link, connections, self.seconds_each))
            self.figures[f"assets.download{name}.bytesPerSecond"] = middle(own)
            self.figures[f"nginx.download{name}.bytesPerSecond"] = middle(others)
            self.figures[f"assets.download{name}.ratio"] = middle(
                [mine / other for mine, other in zip(own, others)])

    @property
    def seconds_each(self):
        return max(1, round(self.seconds / 2))

    def saved(self, name, path):
        """A link to a file's bytes, uploaded and made the field of a record."""
        value = json.loads(self.put(path, path.stat().st_size)[1])["singleFile"]
        record = {"recordName": f"asset{name}", "recordType": "Asset",
                  "fields": {"file": {"value": value}}}
        answer = self.server.post("records/modify", {
            "operations": [{"operationType": "forceReplace", "record": record}]})
        url = answer["records"][0]["fields"]["file"]["value"]["downloadURL"]
        return f"http://127.0.0.1:{self.server.port}" + self.path_of(url)

    # Uploads

    def uploads(self):
        """The same client sends the same file: to dd, which waits for the disk, and to the server."""
        path = self.folder / "upload"
        ratios, own_rates, dd_rates = [], [], []
        for _ in range(2 * ROUNDS):
            path.write_bytes(os.urandom(LARGE))
            os.sync()
            other = self.through_dd(path)
            os.sync()
            own, _ = self.put(path, LARGE)
            ratios.append(other / own)
            own_rates.append(LARGE / own)
            dd_rates.append(LARGE / other)
        self.figures["assets.upload50m.bytesPerSecond"] = middle(own_rates)
        self.figures["dd.upload50m.bytesPerSecond"] = middle(dd_rates)
        self.figures["assets.upload50m.ratio"] = middle(ratios)

    def through_dd(self, path):
        """Seconds until dd, reading a socket, has the file on disk."""
        target = self.folder / "dd"
        with socket.create_server(("127.0.0.1", 0)) as listener, path.open("rb") as file:
            began = time.perf_counter()
            sender = socket.create_connection(listener.getsockname())
            receiver, _ = listener.accept()
            dd = subprocess.Popen(
                ["dd", f"of={target}", "bs=64k", "conv=fsync", "status=none"], stdin=receiver)
            receiver.close()
            sender.sendfile(file)
            sender.close()
            if dd.wait() != 0:
                raise RuntimeError("dd failed")
            seconds = time.perf_counter() - began
        if target.stat().st_size != LARGE:
            raise RuntimeError("dd has not all of it")
        target.unlink()
        return seconds

    def put(self, path, size):
        """Seconds until the server has the file on disk and says so, and its answer."""
        target = self.upload_path()
        with path.open("rb") as file:
            began = time.perf_counter()
            sender = socket.create_connection(("127.0.0.1", self.server.port))
            sender.sendall(self.head(target, size))
            sender.sendfile(file)
            body = self.answer(sender)
            seconds = time.perf_counter() - began
            sender.close()
        return seconds, body

    @staticmethod
    def head(target, size):
        return (f"PUT {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n"
                ).encode()

    @staticmethod
    def answer(connection):
        content = b""
        while True:
            piece = connection.recv(65_536)
            if not piece:
                raise RuntimeError(f"the connection ended: {content!r}")
            content += piece
            head, behind, body = content.partition(b"\r\n\r\n")
            if not behind:
                continue
            length = int(re.search(rb"(?i)content-length: (\d+)", head).group(1))
            if len(body) >= length:
                if not head.startswith(b"HTTP/1.1 200"):
                    raise RuntimeError(f"not taken: {content!r}")
                return body

    def upload_path(self):
        return self.upload_paths(1)[0]

    def upload_paths(self, count):
        token = {"recordType": "Asset", "fieldName": "file"}
        answer = self.server.post("assets/upload", {"tokens": [token] * count})
        return [self.path_of(item["url"]) for item in answer["tokens"]]

    @staticmethod
    def path_of(url):
        return url[url.index("/assets/"):]

    # Many at once

    def parallel(self):
        path = self.folder / "upload"
        paths = self.upload_paths(PARALLEL)
        before = machine.resident_bytes(self.server.pid)
        # From here on the kernel notes the most anew.
        with open(f"/proc/{self.server.pid}/clear_refs", "w") as control:
            control.write("5")
        began = time.perf_counter()
        with path.open("rb") as file:
            self.send_all(paths, file)
        seconds = time.perf_counter() - began
        most = machine.resident_bytes_most(self.server.pid)
        self.figures["assets.parallel.moreBytes"] = most - before
        self.figures["assets.parallel.bytesPerSecond"] = PARALLEL * LARGE / seconds

    def send_all(self, paths, file):
        waiting, sent_whole = selectors.DefaultSelector(), []
        for path in paths:
            connection = socket.create_connection(("127.0.0.1", self.server.port))
            connection.sendall(self.head(path, LARGE))
            connection.setblocking(False)
            waiting.register(connection, selectors.EVENT_WRITE, 0)
        left = len(paths)
        while left:
            for key, _ in waiting.select():
                sent = os.sendfile(
                    key.fd, file.fileno(), key.data, min(262_144, LARGE - key.data))
                if key.data + sent < LARGE:
                    waiting.modify(key.fileobj, selectors.EVENT_WRITE, key.data + sent)
                    continue
                waiting.unregister(key.fileobj)
                key.fileobj.setblocking(True)
                left -= 1
                sent_whole.append(key.fileobj)
        for connection in sent_whole:
            self.answer(connection)
            connection.close()
