"""A plain client of the protocol: JSON over HTTP, credentials, and trying again when all is not well."""

import base64
import datetime
import hashlib
import http.client
import json
import os
import subprocess
import tempfile
import time

RETRIED = {429, 500, 503}
PATIENCE_SECONDS = 60


class Refused(Exception):
    """An answer that trying again does not change."""

    def __init__(self, status, body):
        super().__init__(f"{status}: {body[:500]!r}")
        self.status = status
        self.body = body


class APIClient:
    """One keep-alive connection; use from one thread.

    A request is sent again when its answer is lost or asks for it, for as long as a minute: the caller
    sends only what may be done twice.
    """

    def __init__(self, server, path, credentials):
        self.server = server
        self.path = path
        self.credentials = credentials
        self.connection = None

    def call(self, endpoint, body):
        data = json.dumps(body, ensure_ascii=False).encode()
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return self.send(endpoint, data)
            except (OSError, http.client.HTTPException, Retry):
                if self.connection:
                    self.connection.close()
                self.connection = None
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)

    def send(self, endpoint, data):
        if self.connection is None:
            self.connection = http.client.HTTPConnection(*self.server.address, timeout=30)
        target, headers = self.credentials(self.path + endpoint, data)
        self.connection.request("POST", target, body=data, headers=headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status in RETRIED:
            raise Retry(answer.status)
        if answer.status != 200:
            raise Refused(answer.status, text)
        return json.loads(text)


class Retry(Exception):
    pass


class WebToken:
    """An API token with the web tokens of two devices of one user."""

    def __init__(self, api_token, first, second):
        self.api_token = api_token
        self.tokens = (first, second)

    def first(self, target, data):
        return self.with_token(target, self.tokens[0])

    def second(self, target, data):
        return self.with_token(target, self.tokens[1])

    def with_token(self, target, token):
        return f"{target}?ckAPIToken={self.api_token}&ckWebAuthToken={token}", {}


class Signer:
    """Signs requests with a P-256 key, by openssl."""

    def __init__(self, key_id, key_file):
        self.key_id = key_id
        self.key_file = key_file

    @staticmethod
    def make(server, container, environment="development"):
        stem = os.path.join(server.folder, f"{container}.{environment}")
        key, public = f"{stem}.key.pem", f"{stem}.public.pem"
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key)
        openssl("ec", "-in", key, "-pubout", "-out", public)
        answer = server.command(
            "server-key", "add", container, environment, "--public-key", public
        )
        return Signer(answer["keyID"], key)

    def __call__(self, target, data):
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        signature = openssl(
            "dgst", "-sha256", "-sign", self.key_file, given=signed_text(now, data, target)
        )
        return target, {
            "X-Apple-CloudKit-Request-KeyID": self.key_id,
            "X-Apple-CloudKit-Request-ISO8601Date": now,
            "X-Apple-CloudKit-Request-SignatureV1": base64.b64encode(signature).decode(),
        }


def signed_text(date, data, target):
    digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
    return f"{date}:{digest}:{target}".encode()


def openssl(*arguments, given=b""):
    return subprocess.run(
        ["openssl", *arguments], input=given, capture_output=True, check=True
    ).stdout


def check_signing():
    """The text that is signed, against an example worked out by hand; and openssl's own verdict."""
    empty = base64.b64encode(hashlib.sha256(b"").digest()).decode()
    assert empty == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    assert signed_text("2024-03-01T09:05:07Z", b"", "/database/1/c") == (
        f"2024-03-01T09:05:07Z:{empty}:/database/1/c".encode()
    )
    with tempfile.TemporaryDirectory() as folder:
        key, public, signature = (os.path.join(folder, name) for name in ("k", "p", "s"))
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key)
        openssl("ec", "-in", key, "-pubout", "-out", public)
        _, headers = Signer("id", key)("/t", b"{}")
        with open(signature, "wb") as file:
            file.write(base64.b64decode(headers["X-Apple-CloudKit-Request-SignatureV1"]))
        text = signed_text(headers["X-Apple-CloudKit-Request-ISO8601Date"], b"{}", "/t")
        openssl("dgst", "-sha256", "-verify", public, "-signature", signature, given=text)


if __name__ == "__main__":
    check_signing()
