"""The worst that one account, or one API token, does over 64 connections from 4 addresses of loopback."""

import gzip
import json
import os
import random
import socket
import sys
import threading
import time

CONNECTIONS = 64
ADDRESSES = 4
NICENESS = 10


def request(target, content, more=()):
    lines = [f"POST {target} HTTP/1.1", "Host: localhost", f"Content-Length: {len(content)}", *more]
    return "\r\n".join([*lines, "", ""]).encode() + content


def connect(asked, number):
    made = socket.create_connection(
        ("127.0.0.1", asked["port"]), timeout=10,
        source_address=(f"127.0.0.{2 + number % ADDRESSES}", 0))
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def exchange(connection, whole):
    """Sends a request and reads until the answer's head and whatever came with it are here."""
    connection.sendall(whole)
    answer = b""
    while b"\r\n\r\n" not in answer:
        got = connection.recv(65_536)
        if not got:
            raise ConnectionError
        answer += got
    head, _, rest = answer.partition(b"\r\n\r\n")
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    while len(rest) < length:
        got = connection.recv(262_144)
        if not got:
            raise ConnectionError
        rest += got


def save(name, more=None, kind="forceUpdate", **fields):
    record = {"recordName": name, "recordType": "Junk",
              "fields": {key: {"value": value} for key, value in fields.items()}}
    return {"operationType": kind, "record": record | (more or {})}


def chain(length):
    """A batch where each failing link of a reference fails the next."""
    operations = []
    for number in range(length):
        record = {"recordName": f"c{number}", "recordType": "Link", "fields": {"to": {"value": {
            "recordName": f"c{number + 1}", "action": "VALIDATE"}}}}
        operations.append({"operationType": "forceUpdate", "record": record})
    return {"operations": operations, "atomic": False, "zoneID": {"zoneName": "Abuser"}}


def share(count):
    participants = [{"userIdentity": {"lookupInfo": {"emailAddress": f"p{number}@example.org"}},
                     "permission": "READ_ONLY", "type": "USER"} for number in range(count)]
    return {"operations": [{"operationType": "create", "record": {
        "recordType": "cloudkit.share", "forRecord": {"recordName": "root"},
        "participants": participants}}], "zoneID": {"zoneName": "Abuser"}}


QUERY = {"query": {"recordType": "Junk", "filterBy": [{
    "fieldName": "text", "comparator": "CONTAINS_ALL_TOKENS",
    "fieldValue": {"value": "word", "type": "STRING"}}], "sortBy": [
        {"fieldName": "n", "ascending": False}]}, "resultsLimit": 200}


def heavy_query(asked, number, connection, _):
    """Asks what looks at everything, and hangs up at once."""
    connection.sendall(request(asked["public"] % "records/query", json.dumps(QUERY).encode()))
    raise ConnectionError


def gzip_body(asked, number, connection, kept):
    if "bomb" not in kept:
        kept["bomb"] = gzip.compress(b'{"operations":[' + b" " * 14_000_000 + b"]}")
    exchange(connection, request(
        asked["private"] % "records/modify", kept["bomb"], ["Content-Encoding: gzip"]))


def stranger(asked, number, connection, kept):
    body = kept.setdefault("body", b'{"a":"' + b"x" * 1_900_000 + b'"}')
    exchange(connection, request(asked["stranger"] % "records/modify", body))


def large_batch(asked, number, connection, kept):
    text = kept.setdefault("text", "x" * 9_000)
    operations = [save(f"l{number}-{index}", text=text) for index in range(180)]
    exchange(connection, request(asked["private"] % "records/modify", json.dumps(
        {"operations": operations, "zoneID": {"zoneName": "Abuser"}}).encode()))


def links(asked, number, connection, kept):
    body = kept.setdefault("chain", json.dumps(chain(200)).encode())
    exchange(connection, request(asked["private"] % "records/modify", body))


def shares(asked, number, connection, kept):
    body = kept.setdefault("share", json.dumps(share(15_000)).encode())
    exchange(connection, request(asked["private"] % "records/modify", body))


def pages(asked, number, connection, kept):
    exchange(connection, request(asked["private"] % "changes/zone", json.dumps(
        {"zones": [{"zoneID": {"zoneName": "Abuser"}, "resultsLimit": 100_000}]}).encode()))


def uploads(asked, number, connection, kept):
    body = kept.setdefault("file", os.urandom(4_000_000))
    exchange(connection, request(
        random.choice(asked["uploads"]), body, ["Content-Type: application/octet-stream"]))


def connections(asked, number, connection, _):
    connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
    raise ConnectionError


def endpoint(asked, number, connection, kept):
    """The largest request to an endpoint; a poll of the courier would wait, so it is hung up at once."""
    if "request" not in kept:
        with open(asked["largest"], encoding="utf-8") as file:
            kept["target"], content, headers = json.load(file)
        kept["request"] = request(kept["target"], content.encode(), headers)
    if kept["target"].startswith("/courier/"):
        connection.sendall(kept["request"])
        raise ConnectionError
    exchange(connection, kept["request"])


ABUSES = {
    "queries": heavy_query, "gzip": gzip_body, "strangers": stranger, "batches": large_batch,
    "chains": links, "shares": shares, "pages": pages, "uploads": uploads,
    "connections": connections, "endpoint": endpoint,
}


def abuse(asked, number, ends):
    kept, connection = {}, None
    while time.monotonic() < ends:
        try:
            connection = connection or connect(asked, number)
            ABUSES[asked["abuse"]](asked, number, connection, kept)
        except OSError:
            if connection:
                connection.close()
            connection = None


def main():
    os.nice(NICENESS)
    asked = json.loads(sys.argv[1])
    ends = time.monotonic() + asked["seconds"]
    threads = [threading.Thread(target=abuse, args=(asked, number, ends), daemon=True)
               for number in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    time.sleep(asked["seconds"])


if __name__ == "__main__":
    main()
