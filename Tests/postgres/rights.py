"""Kinds of pairs in which somebody gets a right by one server and loses it: another server knows of both at once."""

import json
import subprocess

from persons import openssl_key
from servers import CONTAINER

CALLER = f"/database/1/{CONTAINER}/development/public/users/caller"
# Of so many pairs of web tokens, one has the user's password changed, which takes a while.
PASSWORD_TURNS = 8
OTHER = "bea@example.org"


class Rights:
    """What a thread of pairs does with tokens, keys, accounts and shares.

    Each kind has the other server use the right before it ends, so that it has it in memory.
    """

    turns = 0
    signer = user = api_token = None

    def web(self, writer, reader, name):
        """A web token ends by its ID, with all others of its user, or as the user's password changes."""
        if self.user is None:
            self.user = f"user{self.number}@example.org"
            writer.command("user", "create", self.user)
            self.api_token = writer.command("api-token", "create", CONTAINER, "development")["apiToken"]
        query = self.web_query(writer, self.user)
        if not self.is_let_in(reader, query):
            return False
        self.turns += 1
        if self.turns % PASSWORD_TURNS == 0:
            subprocess.run(
                [writer.binary, "user", "password", self.user, "--password-stdin", "--data", str(writer.data)],
                input=f"the words of {name}", text=True, check=True, stdout=subprocess.DEVNULL, env=writer.environment)
        elif self.turns % 2:
            tokens = writer.command("web-token", "list", CONTAINER, "development", self.user)["webTokens"]
            for token in tokens:
                writer.command("web-token", "revoke", CONTAINER, "development", self.user, token["tokenID"])
        else:
            writer.command("web-token", "revoke", CONTAINER, "development", self.user, "--all")
        return self.is_refused(reader, query, 421)

    def api(self, writer, reader, name):
        token = writer.command("api-token", "create", CONTAINER, "development", "--name", name)["apiToken"]
        query = f"?ckAPIToken={token}&{self.pairs.owner.query.split('&')[1]}"
        if not self.is_let_in(reader, query):
            return False
        writer.command("api-token", "revoke", name)
        return self.is_refused(reader, query, 401)

    def key(self, writer, reader, name):
        """A server key that has ended before, too: then the other one knows that there is none."""
        if self.signer is None:
            self.signer, self.public = openssl_key(writer.data, f"thread{self.number}")
        self.signer.key_id = writer.command(
            "server-key", "add", CONTAINER, "development", "--public-key", str(self.public))["keyID"]
        if not self.is_let_in(reader, signer=self.signer):
            return False
        writer.command("server-key", "revoke", self.signer.key_id)
        return self.is_refused(reader, "", 401, self.signer)

    def account(self, writer, reader, name):
        """A user is deleted, who was here a moment ago."""
        address = f"{name}@example.org"
        writer.command("user", "create", address)
        if self.api_token is None:
            self.api_token = writer.command("api-token", "create", CONTAINER, "development")["apiToken"]
        query = self.web_query(writer, address)
        if not self.is_let_in(reader, query):
            return False
        writer.command("user", "delete", address, "--yes")
        return self.is_refused(reader, query, 421)

    def unshare(self, writer, reader, name):
        """Another user loses what is shared: by the end of the share, to the public, or as one who is removed."""
        way = self.chosen.choice(["end", "close", "remove"])
        invited = {"userIdentity": {"lookupInfo": {"emailAddress": OTHER}}, "permission": "READ_ONLY"}
        share = self.share_of(name, "NONE", invited) if way == "remove" else self.share_of(name, "READ_WRITE")
        record = self.save(writer, self.record(name), share)[0]
        if not self.accept(reader, record) or not self.is_seen(reader, record):
            return False
        if way == "end":
            self.save(writer, {"recordName": share["recordName"]}, kind="forceDelete")
        else:
            body = self.zone | {"records": [{"recordName": share["recordName"]}]}
            tag = self.ask(writer, "records/lookup", body)["records"][0]["recordChangeTag"]
            self.save(writer, self.share_of(name, "NONE") | {"recordChangeTag": tag}, kind="update")
        return not self.is_seen(reader, record)

    # MARK: Asking

    def web_query(self, writer, address):
        made = writer.command("web-token", "create", CONTAINER, "development", address)
        return f"?ckAPIToken={self.api_token}&ckWebAuthToken={made['webAuthToken']}"

    def called(self, reader, query, signer):
        """Status and answer of a request that says who asks."""
        target, headers = signer(CALLER, b"{}") if signer else (CALLER + query, {})
        status, content = reader.send("POST", target, "{}", headers)
        return status, json.loads(content)

    def is_let_in(self, reader, query="", signer=None):
        status, answer = self.called(reader, query, signer)
        return status == 200 and "userRecordName" in answer

    def is_refused(self, reader, query, status, signer=None):
        found, answer = self.called(reader, query, signer)
        if found not in (200, status):
            raise RuntimeError(f"{found} {answer}")
        return found == status
