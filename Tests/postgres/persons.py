"""People whom an app lets in by itself, by requests that a key of its own signs; each request may rename them."""

import json
import sys
from pathlib import Path

from servers import CONTAINER, Caller, must

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "Tests/acceptance"))
from client import Signer, openssl  # noqa: E402

TARGET = f"/accounts/1/{CONTAINER}/development/web-token"
ZONE = {"zoneID": {"zoneName": "Named"}}


def openssl_key(folder, name):
    """A key that signs, by no ID yet, and the file of its public half."""
    key, public = folder / f"{name}.pem", folder / f"{name}.public.pem"
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(key))
    openssl("ec", "-in", str(key), "-pubout", "-out", str(public))
    return Signer(None, str(key)), public


class App:
    """Has a key that may let people in, and an API token."""

    def __init__(self, server):
        self.signer, public = openssl_key(server.data, "app")
        self.signer.key_id = server.command(
            "server-key", "add", CONTAINER, "development", "--public-key", str(public), "--scope", "container")["keyID"]
        self.token = server.command("api-token", "create", CONTAINER, "development")["apiToken"]

    def let_in(self, server, external_id, name):
        """The query and the record name of who is let in; None where the server has said TRY_AGAIN_LATER."""
        body = json.dumps({"externalID": external_id, "givenName": name, "expires": 86_400})
        target, headers = self.signer(TARGET, body.encode())
        status, content = server.send("POST", target, body, headers)
        answer = json.loads(content)
        if status != 200:
            if answer.get("serverErrorCode") != "TRY_AGAIN_LATER":
                raise RuntimeError(f"{TARGET}: {status} {answer}")
            return None
        return f"?ckAPIToken={self.token}&ckWebAuthToken={answer['ckWebAuthToken']}", answer["userRecordName"]


class Person:
    """One of an app's people, who shares a record and is shown as its owner."""

    def __init__(self, app, servers, external_id):
        self.app, self.external_id = app, external_id
        self.caller = Caller(servers, "")
        must(lambda: self.rename(servers[0], "New"))
        must(lambda: self.caller.post(
            "zones/modify", {"operations": [{"operationType": "create", "zone": ZONE}]}))
        share = {"recordName": "share", "recordType": "cloudkit.share", "publicPermission": "READ_ONLY",
                 "forRecord": {"recordName": "shared"}}
        saved = must(lambda: self.caller.post("records/modify", ZONE | {"atomic": True, "operations": [
            {"operationType": "forceUpdate", "record": record}
            for record in ({"recordName": "shared", "recordType": "Note"}, share)]}))["records"]
        if any("serverErrorCode" in record for record in saved):
            raise RuntimeError(f"{saved}")

    def rename(self, server, name):
        """False where the server has said TRY_AGAIN_LATER."""
        if let_in := self.app.let_in(server, self.external_id, name):
            self.caller.query, _ = let_in
        return let_in is not None

    def name(self, server):
        """What a server shows them to be called; None where it has said TRY_AGAIN_LATER."""
        found = self.caller.post_to(server, "records/lookup", ZONE | {"records": [{"recordName": "share"}]})
        return found and found["records"][0]["owner"]["userIdentity"]["nameComponents"]["givenName"]
