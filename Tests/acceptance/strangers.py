#!/usr/bin/env python3
"""Measures what 5,000 connections without credentials cost in memory, whatever they send.

Each attack runs against a server of its own, as far as the limit on open files goes, from several loopback
addresses. The resident memory may grow by 32 MiB at most, over that of the server at rest.
"""

import base64
import gzip
import os
import resource
import select
import socket
import sys
import time
import zlib

from server import Server

CONNECTIONS = 5_000
GROWTH_MIB_MAX = 32
SECONDS = 6
ADDRESSES = [f"127.0.0.{number}" for number in range(1, 5)]

BASE = "/database/1/iCloud.org.example.Tea/development/public/records/query"
BOMB = gzip.compress(bytes(14_000_000), 9)
# Of good form and of now: only the key is nobody's, which the server may not show.
SIGNATURE = base64.b64encode(bytes.fromhex("30440220" + "11" * 32 + "0220" + "22" * 32)).decode()
SIGNED = (
    "X-Apple-CloudKit-Request-KeyID: " + "0" * 64 + "\r\n"
    "X-Apple-CloudKit-Request-ISO8601Date: "
    + time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()) + "\r\n"
    "X-Apple-CloudKit-Request-SignatureV1: " + SIGNATURE + "\r\n"
)


def head(fields, target=BASE):
    return f"POST {target} HTTP/1.1\r\nHost: a\r\n{fields}\r\n".encode()


def bodies_without_end():
    yield head("Content-Length: 16000000\r\n")
    while True:
        yield b"x" * 65_536


def signed_bodies_without_end():
    yield head(SIGNED + "Content-Length: 16000000\r\n")
    while True:
        yield b"x" * 65_536


def chunks_without_end():
    yield head("Transfer-Encoding: chunked\r\n")
    while True:
        yield b"8000\r\n" + b"x" * 32_768 + b"\r\n"


def half_heads():
    yield b"POST " + BASE.encode() + b" HTTP/1.1\r\nHost: a\r\nA: "
    for _ in range(15):
        yield b"a" * 1_000


def gzip_bombs():
    fields = f"Content-Encoding: gzip\r\nContent-Length: {len(BOMB) + 1}\r\n"
    yield head(fields) + BOMB


def signed_gzip_bombs():
    fields = SIGNED + f"Content-Encoding: gzip\r\nContent-Length: {len(BOMB) + 1}\r\n"
    yield head(fields) + BOMB


def half_signed_gzip():
    compressor = zlib.compressobj(9, zlib.DEFLATED, 31)
    begun = compressor.compress(os.urandom(40_000)) + compressor.flush(zlib.Z_SYNC_FLUSH)
    yield head(SIGNED + "Content-Encoding: gzip\r\nContent-Length: 1000000\r\n") + begun


def many_fields():
    fields = b"".join(b"a%d: b\r\n" % number for number in range(95))
    yield b"POST " + BASE.encode() + b" HTTP/1.1\r\nHost: a\r\n" + fields


def pipelined_and_unread():
    while True:
        yield b"GET /database/1/a HTTP/1.1\r\nHost: a\r\n\r\n" * 1_500


def slow_small_bodies():
    yield head(SIGNED + "Content-Length: 70000\r\n") + b"x" * 60_000


ATTACKS = [
    bodies_without_end, signed_bodies_without_end, chunks_without_end, half_heads, gzip_bombs,
    signed_gzip_bombs, half_signed_gzip, many_fields, pipelined_and_unread, slow_small_bodies,
]


def resident_mib(process):
    with open(f"/proc/{process}/status") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    raise AssertionError("no resident memory is told")


class Stranger:
    def __init__(self, number, address, attack):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        self.socket.bind((ADDRESSES[number % len(ADDRESSES)], 0))
        self.socket.connect(address)
        self.socket.setblocking(False)
        self.pieces = attack()
        self.unsent = b""
        self.is_over = False

    def send(self):
        """Sends what goes; false when there is nothing more to send."""
        try:
            while True:
                if not self.unsent:
                    self.unsent = next(self.pieces)
                self.unsent = self.unsent[self.socket.send(self.unsent):]
        except BlockingIOError:
            return True
        except (StopIteration, OSError):
            self.is_over = True
            return False


def measure(attack, count):
    with Server() as server:
        server.start()
        before = resident_mib(server.process.pid)
        strangers = [Stranger(number, server.address, attack) for number in range(count)]
        highest, until = before, time.monotonic() + SECONDS
        sending = {stranger.socket.fileno(): stranger for stranger in strangers}
        poll = select.poll()
        for descriptor in sending:
            poll.register(descriptor, select.POLLOUT)
        while time.monotonic() < until:
            began = time.monotonic()
            for descriptor, _ in poll.poll(100):
                if not sending[descriptor].send():
                    poll.unregister(descriptor)
                if time.monotonic() - began > 0.3:
                    break
            assert server.process.poll() is None, f"{attack.__name__} ended the server"
            highest = max(highest, resident_mib(server.process.pid))
        for stranger in strangers:
            stranger.socket.close()
        server.stop()
        return highest - before


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(CONNECTIONS, hard - 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count + 200), hard))
    chosen = [attack for attack in ATTACKS if attack.__name__ in sys.argv[1:]] or ATTACKS
    failed = []
    for attack in chosen:
        growth = measure(attack, count)
        print(f"{attack.__name__}: {count} connections, {growth:.1f} MiB", flush=True)
        if growth > GROWTH_MIB_MAX:
            failed.append(attack.__name__)
    assert not failed or os.environ.get("ONLY_MEASURE"), f"over {GROWTH_MIB_MAX} MiB: {failed}"


if __name__ == "__main__":
    main()
