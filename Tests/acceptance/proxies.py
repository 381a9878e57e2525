"""The server behind nginx, Caddy and HAProxy, by the files in config/: records, assets, signatures and streams.

Each file is used as it stands, with this script's name, certificate, ports and socket in place of those that it
says to replace. The proxies that are not installed are left out, which is a failure where all must run.
"""

import hashlib
import http.client
import json
import os
import shutil
import ssl
import subprocess
import sys
import time
import urllib.parse

from client import Signer
from server import Server, free_port

CONFIG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../config")
CONTAINER = "iCloud.org.example.Notes"
ASSET_BYTES_MAX = 52_428_800
SECONDS_MAX = 60


class Proxy:
    """One proxy: its program, its file, and what a host would put into it."""

    def __init__(self, name, file, replaced, by_socket, command, around="CONFIG"):
        self.name = name
        self.file = file
        self.replaced = replaced
        self.by_socket = by_socket
        self.command = command
        self.around = around

    def configuration(self, place, socket):
        with open(os.path.join(CONFIG, self.file)) as file:
            text = file.read()
        for old, new in {**self.replaced, **(self.by_socket if socket else {})}.items():
            assert old in text, f"{self.file} does not say {old!r}"
            text = text.replace(old, new.format(**place))
        return self.around.replace("CONFIG", text).replace("FOLDER", place["folder"])


PROXIES = [
    Proxy(
        "nginx", "nginx.conf",
        {
            "listen 443": "listen 127.0.0.1:{port}", "    listen [::]:443 ssl http2;\n": "",
            "server_name sync.example.org": "server_name 127.0.0.1",
            "/etc/letsencrypt/live/sync.example.org/fullchain.pem": "{folder}/certificate.pem",
            "/etc/letsencrypt/live/sync.example.org/privkey.pem": "{folder}/key.pem",
            "proxy_pass http://127.0.0.1:8080;": "proxy_pass http://127.0.0.1:{upstream};",
        },
        {"proxy_pass http://127.0.0.1:8080;": "proxy_pass http://unix:{socket};"},
        ["nginx", "-c", "{file}", "-g", "daemon off;"],
        "pid FOLDER/pid; error_log stderr; events {} http { access_log off;"
        " client_body_temp_path FOLDER/body; proxy_temp_path FOLDER/proxied;"
        " fastcgi_temp_path FOLDER/f; uwsgi_temp_path FOLDER/u; scgi_temp_path FOLDER/s;\nCONFIG }",
    ),
    Proxy(
        "caddy", "Caddyfile",
        {
            "\nsync.example.org {":
                "\nhttps://127.0.0.1:{port} {{\n\ttls {folder}/certificate.pem {folder}/key.pem",
            "reverse_proxy 127.0.0.1:8080": "reverse_proxy 127.0.0.1:{upstream}",
        },
        {"reverse_proxy 127.0.0.1:8080": "reverse_proxy unix/{socket}"},
        ["caddy", "run", "--adapter", "caddyfile", "--config", "{file}"],
        "{\n\tadmin off\n\tauto_https disable_redirects\n}\nCONFIG",
    ),
    Proxy(
        "haproxy", "haproxy.cfg",
        {
            "bind :443": "bind 127.0.0.1:{port}",
            "/etc/haproxy/sync.example.org.pem": "{folder}/both.pem",
            "127.0.0.1:8080 check": "127.0.0.1:{upstream} check",
        },
        {"127.0.0.1:8080 check": "unix@{socket} check"},
        ["haproxy", "-db", "-f", "{file}"],
    ),
]


def certificate(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", "key.pem", "-out", "certificate.pem"],
        cwd=folder, check=True, capture_output=True)
    with open(os.path.join(folder, "both.pem"), "w") as both:
        for name in ("certificate.pem", "key.pem"):
            with open(os.path.join(folder, name)) as part:
                both.write(part.read())


class Client:
    """Asks through the proxy, believing its certificate alone."""

    def __init__(self, folder, port):
        self.context = ssl.create_default_context(cafile=os.path.join(folder, "certificate.pem"))
        self.port = port

    def open(self):
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=SECONDS_MAX, context=self.context)

    def send(self, method, target, body=None, headers={}):
        connection = self.open()
        connection.request(method, target, body=body, headers=headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text

    def call(self, target, body, headers={}):
        status, text = self.send("POST", target, json.dumps(body).encode(), headers)
        assert status == 200 and b"serverErrorCode" not in text, f"{target}: {status} {text[:300]}"
        return json.loads(text)


def wait_until_ready(client, process, output):
    until = time.monotonic() + SECONDS_MAX
    while True:
        try:
            if client.send("GET", "/readyz") == (200, b"ready\n"):
                return
        except OSError:
            pass
        if process.poll() is not None or time.monotonic() > until:
            with open(output) as file:
                raise AssertionError(f"the proxy does not answer: {file.read()}")
        time.sleep(0.05)


def sync(server, client, base):
    """A record with the largest asset there may be, its way back, and one that is larger."""
    server.command("container", "create", CONTAINER)
    api = server.command("api-token", "create", CONTAINER, "development")["apiToken"]
    server.command("user", "create", "ada@example.org")
    web = server.command("web-token", "create", CONTAINER, "development", "ada@example.org")
    query = urllib.parse.urlencode({"ckAPIToken": api, "ckWebAuthToken": web["webAuthToken"]})
    path = f"/database/1/{CONTAINER}/development"

    def ask(endpoint, body):
        return client.call(f"{path}/private/{endpoint}?{query}", body)

    zone = {"zoneName": "Notes"}
    ask("zones/modify", {"operations": [{"operationType": "create", "zone": {"zoneID": zone}}]})
    notices = listen(client, ask)

    def address():
        token = {"recordType": "Note", "recordName": "one", "fieldName": "file"}
        url = ask("assets/upload", {"zoneID": zone, "tokens": [token]})["tokens"][0]["url"]
        assert url.startswith(base + "/"), f"{url} does not begin with {base}"
        return url.removeprefix(base)

    contents = os.urandom(1 << 20) * (ASSET_BYTES_MAX >> 20)
    status, text = client.send("POST", address(), contents)
    assert status == 200, f"an asset of the largest size: {status} {text[:300]}"
    record = {
        "recordName": "one", "recordType": "Note",
        "fields": {"title": {"value": "Tea"}, "file": {"value": json.loads(text)["singleFile"]}}}
    ask("records/modify",
        {"zoneID": zone, "operations": [{"operationType": "create", "record": record}]})
    hear(notices)
    found = ask("changes/zone", {"zones": [{"zoneID": zone}]})["zones"][0]["records"][0]
    assert found["fields"]["title"]["value"] == "Tea", found
    url = found["fields"]["file"]["value"]["downloadURL"].replace("${f}", "file")
    status, text = client.send("GET", url.removeprefix(base))
    assert status == 200 and hashlib.sha256(text).digest() == hashlib.sha256(contents).digest()
    status = refused(client, address(), contents + bytes(4 << 20))
    assert status in (413, None), f"an asset that is too large: {status}"


def refused(client, target, contents):
    """The status of the answer, or nothing where the connection was ended before it could be read."""
    connection = client.open()
    try:
        connection.request("POST", target, body=contents)
    except OSError:
        pass  # It was answered before all of it was sent.
    try:
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def listen(client, ask):
    """An open stream of notices of the private database."""
    ask("subscriptions/modify", {"operations": [{"operationType": "create", "subscription": {
        "subscriptionID": "all", "subscriptionType": "database"}}]})
    courier = ask("tokens/create", {"apnsEnvironment": "development", "clientId": "tab"})
    connection = client.open()
    target = urllib.parse.urlsplit(courier["webcourierURL"])
    connection.request(
        "GET", f"{target.path}?{target.query}", headers={"Accept": "text/event-stream"})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    return answer


def hear(notices):
    """Reads until a notice has come, which no proxy may hold back until there are more."""
    while True:
        line = notices.readline()
        assert line, "the stream has ended"
        if line.startswith(b"data:"):
            assert b'"all"' in line, line
            return notices.close()


def check_signature(server, client):
    signer = Signer.make(server, CONTAINER)
    target = f"/database/1/{CONTAINER}/development/public/records/lookup"
    body = json.dumps({"records": [{"recordName": "none"}]}).encode()
    _, headers = signer(target, body)
    status, text = client.send("POST", target, body, headers)
    assert status == 200, f"a signed request: {status} {text[:300]}"


def check(proxy, socket):
    with Server() as server:
        os.chmod(server.folder, 0o755)
        port, upstream = free_port(), free_port()
        base = f"https://127.0.0.1:{port}"
        place = {
            "folder": server.folder, "port": port, "upstream": upstream,
            "socket": os.path.join(server.folder, "http.sock"),
            "file": os.path.join(server.folder, "proxy.conf")}
        certificate(server.folder)
        os.environ["LENTICULAR_PUBLIC_BASE_URL"] = base
        os.environ["LENTICULAR_HTTP_TRUSTED_PROXIES"] = "unix" if socket else "127.0.0.1"
        server.address = ("127.0.0.1", upstream)
        server.socket = place["socket"] if socket else None
        server.start()
        if socket:
            os.chmod(place["socket"], 0o666)
        with open(place["file"], "w") as file:
            file.write(proxy.configuration(place, socket))
        output = os.path.join(server.folder, "proxy.log")
        command = [word.format(**place) for word in proxy.command]
        environment = {**os.environ, "XDG_DATA_HOME": server.folder, "HOME": server.folder}
        with open(output, "w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        try:
            client = Client(server.folder, port)
            wait_until_ready(client, process, output)
            sync(server, client, base)
            check_signature(server, client)
        finally:
            process.kill()
            process.wait()
        server.stop()


def main():
    for proxy in PROXIES:
        program = shutil.which(proxy.name, path=os.environ["PATH"] + ":/usr/sbin")
        if not program:
            print(f"LEFT OUT {proxy.name}: it is not installed", file=sys.stderr)
            assert os.environ.get("CI_REQUIRE_ALL") != "1"
            continue
        proxy.command[0] = program
        for socket in (False, True):
            check(proxy, socket)


main()
