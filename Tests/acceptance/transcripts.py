"""Runs every transcript of docs/protocol against a development server and compares the answers.

A transcript is a block marked `http` (a line with method, database/endpoint and perhaps `as NAME`, then
the body), and perhaps a block marked `json` after it with the answer; a status other than 200 follows the
word json. What differs from run to run (times, names, tokens) compares equal; `$syncToken`, `$shortGUID`
and `$apnsToken` in a request stand for the first one of the last answer that had any, the endpoint `courier` for its
URL, `"_alice"` for her user record name. The lines below a GET are headers. An answer that is an event stream stands in a
block marked `events`, up to its first event.
With --write the answers are written into the pages.
"""

import http.client
import json
import os
import re
import sys

from client import Signer
from server import Server

PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/protocol")
CONTAINER = "iCloud.org.example.Notes"
BLOCK = re.compile(r"^```(http|json|events)( \d+)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WIDTH = 96

# What varies, and what stands for it in a page.
VARYING = [
    (re.compile(r'"timestamp":\d+'), '"timestamp":1767225600000'),
    (re.compile(r'"(syncToken|metaSyncToken)":"[A-Za-z0-9+/]+=*"'), r'"\1":"AQFh…"'),
    (re.compile(r'"continuationMarker":"[A-Za-z0-9+/]+=*"'), '"continuationMarker":"AcE9…"'),
    (re.compile(r'"participantId":"[0-9a-f-]{36}"'), '"participantId":"6f1e2a34-…"'),
    (re.compile(r'"0[A-Za-z0-9_-]{24}"'), '"0L0kQ7…"'),
    (re.compile(r'"url":"[^"]+/up/[^"]+"'), '"url":"http://127.0.0.1:8080/assets/…/up/AQAA…"'),
    (re.compile(r'"apnsToken":"[^"]+"'), '"apnsToken":"tiXi…"'),
    (re.compile(r'"webcourierURL":"https?://[^/]+(/[^?]+)[^"]+"'), r'"webcourierURL":"http://127.0.0.1:8080\1?tok=b625…"'),
    (re.compile(r'"nid":"[0-9a-f-]{36}"'), '"nid":"2740957a-…"'),
    (re.compile(r'"uuid":"[0-9a-f-]{36}"'), '"uuid":"5f0c41d2-…"'),
    (re.compile(r'"redirectURL":"[^"]+/sign-in/[^"]*"'), '"redirectURL":"http://127.0.0.1:8080/sign-in/…"'),
]


class Session:
    """One development server with two users."""

    def __init__(self, server):
        self.server = server
        server.start()
        server.command("container", "create", CONTAINER)
        self.token = server.command("api-token", "create", CONTAINER, "development")["apiToken"]
        self.signer = Signer.make(server, CONTAINER)
        self.users = {"stranger": "x" * 104}
        self.names = {}
        for name, given, family in [("alice", "Alice", "Archer"), ("bob", "Bob", "Baker")]:
            email = f"{name}@example.com"
            server.command("user", "create", email, "--given-name", given, "--family-name", family)
            made = server.command("web-token", "create", CONTAINER, "development", email)
            self.users[name] = made["webAuthToken"]
            self.names[made["userRecordName"]] = f"_{name}"
        self.sync_token = ""
        self.short_guid = ""
        self.apns_token = ""
        self.courier = ""

    def run(self, text):
        head, _, body = text.partition("\n")
        method, endpoint, *rest = head.split(" ")
        caller = rest[1] if rest else "alice"
        body = body.replace("$syncToken", self.sync_token).replace("$shortGUID", self.short_guid)
        body = body.replace("$apnsToken", self.apns_token)
        for name, alias in self.names.items():
            body = body.replace(f'"{alias}"', f'"{name}"')
        data = "".join(body.splitlines()).encode()
        target = f"/database/1/{CONTAINER}/development/{endpoint}"
        headers = {}
        if method == "GET":
            headers, data = dict(line.split(": ", 1) for line in body.splitlines()), b""
        if caller == "forger":
            _, headers = self.signer(target, data + b" ")
        else:
            target += f"?ckAPIToken={self.token}"
            if caller != "nobody":
                target += f"&ckWebAuthToken={self.users[caller]}"
        if endpoint == "courier":
            target = self.courier
        connection = http.client.HTTPConnection(*self.server.address, timeout=30)
        connection.request(method, target, body=data or None, headers=headers)
        answer = connection.getresponse()
        if answer.getheader("Content-Type") == "text/event-stream":
            text = first_event(answer)
        else:
            text = answer.read().decode()
        connection.close()
        token = re.search(r'"(?:metaSyncToken|syncToken)":"([^"]+)"', text)
        self.sync_token = token[1] if token else self.sync_token
        guid = re.search(r'"shortGUID":"([^"]+)"', text)
        self.short_guid = guid[1] if guid else self.short_guid
        given = re.search(r'"apnsToken":"([^"]+)","webcourierURL":"https?://[^/]+([^"]+)"', text)
        if given:
            self.apns_token, self.courier = given[1], given[2]
        return answer.status, self.masked(text)

    def masked(self, text):
        for name, alias in self.names.items():
            text = text.replace(name, alias)
        for pattern, form in VARYING:
            text = pattern.sub(form, text)
        return text


def first_event(answer):
    """What comes of an event stream, which stays open, until an event is whole."""
    lines = []
    while not (lines and lines[-1] == "" and any(line.startswith("data: ") for line in lines)):
        lines.append(answer.readline().decode().rstrip("\n"))
    return "\n".join(lines)


def fields(text):
    """The fields of an event stream; data, which a page may lay out over several lines, as JSON."""
    found = []
    for block in text.strip().split("\n\n"):
        head, mark, data = block.partition("data: ")
        found += [line.split(": ", 1) for line in head.splitlines()]
        if mark:
            found.append(["data", json.loads(data)])
    # Which position an event has depends on what the server did before.
    return [[name, "7" if name == "id" else value] for name, value in found]


def events_layout(text):
    lines = []
    for name, value in fields(text):
        lines.append(f"{name}: {layout(value) if name == 'data' else value}")
        if name == "retry":
            lines.append("")
    return "\n".join(lines)


def layout(value, indent=0, after=0):
    """JSON on as few lines as fit; `after` characters stand before it on its line."""
    flat = json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
    if len(flat) + indent + after <= WIDTH or not isinstance(value, (dict, list)) or not value:
        return flat
    space = " " * (indent + 2)
    if isinstance(value, list):
        parts = [space + layout(item, indent + 2) for item in value]
        return "[\n" + ",\n".join(parts) + "\n" + " " * indent + "]"
    parts = []
    for key, item in value.items():
        name = json.dumps(key) + ": "
        parts.append(space + name + layout(item, indent + 2, len(name)))
    return "{\n" + ",\n".join(parts) + "\n" + " " * indent + "}"


def run_page(page, writes):
    path = os.path.join(PAGES, page)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not BLOCK.search(text):
        return 0
    count = 0
    with Server() as server:
        session = Session(server)
        answer = None

        def visit(match):
            nonlocal answer, count
            kind, status, content = match[1], int(match[2] or 200), match[3]
            if kind == "http":
                answer = session.run(content)
                count += 1
                return match[0]
            assert answer is not None, f"{page}: an answer without a request"
            got_status, got = answer
            answer = None
            if kind == "events":
                if writes:
                    return f"```events\n{events_layout(got)}\n```"
                assert fields(got) == fields(content), f"{page}: the events are\n{got}\nnot\n{content}"
                return match[0]
            if writes:
                note = "" if got_status == 200 else f" {got_status}"
                return f"```json{note}\n{layout(json.loads(got))}\n```"
            assert got_status == status, f"{page}: status {got_status}, the page says {status}: {got}"
            want = json.loads(content)
            assert json.loads(got) == want, f"{page}: the answer is\n{got}\nthe page says\n{content}"
            return match[0]

        changed = BLOCK.sub(visit, text)
        server.stop()
    if writes:
        with open(path, "w", encoding="utf-8") as file:
            file.write(changed)
    return count


def main():
    writes = "--write" in sys.argv[1:]
    total = 0
    for page in sorted(name for name in os.listdir(PAGES) if name.endswith(".md")):
        total += run_page(page, writes)
    assert total > 0
    print(f"transcripts.py: {total} requests answered as docs/protocol says")


if __name__ == "__main__":
    main()
