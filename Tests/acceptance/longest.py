"""The longest legal value of each kind: it is saved, found, listed and deleted as short ones are.

Bytes are by chance, so that nothing could be made smaller, and have U+0000 where that is legal.
"""

import base64
import json
import random
import string
import sys
from http.client import HTTPConnection
from urllib.parse import quote

from client import APIClient, WebToken
from server import Server

CONTAINER = "iCloud.org.example.Longest"
NAME_MAX, CLIENT_TOKEN_MAX, SUBSCRIPTION_BYTES_MAX, RECORD_BYTES_MAX = 255, 1_024, 16_384, 1_048_576
LIST_MAX = 10_000
PRINTABLE = "".join(map(chr, range(0x20, 0x7f)))
IDENTIFIER = string.ascii_letters + string.digits + "_"
# Every length of UTF-8, and U+0000.
LETTERS = "\0aü中𝄞"


class Longest:
    def __init__(self, server, seed):
        self.server, self.chosen = server, random.Random(seed)
        server.command("container", "create", CONTAINER)
        api = server.command("api-token", "create", CONTAINER, "development")["apiToken"]
        server.command("user", "create", "ada@example.com")
        tokens = [
            server.command("web-token", "create", CONTAINER, "development", "ada@example.com")["webAuthToken"]
            for _ in range(2)]
        user, self.device = WebToken(api, *tokens), self.text(NAME_MAX)

        def sent(target, data):
            target, headers = user.first(target, data)
            return f"{target}&clientId={quote(self.device)}", headers

        self.client = APIClient(server, f"/database/1/{CONTAINER}/development/", sent)
        self.zone = {"zoneID": {"zoneName": self.text(NAME_MAX)}}
        self.type, self.field = self.identifier(), self.identifier()

    def text(self, length, letters=PRINTABLE):
        """No name begins with an underscore."""
        return "a" + "".join(self.chosen.choices(letters, k=length - 1))

    def identifier(self):
        return self.text(NAME_MAX, IDENTIFIER)

    def ask(self, operation, **body):
        answer = self.client.call(operation, body)
        for items in answer.values():
            for item in items if isinstance(items, list) else []:
                assert "serverErrorCode" not in item, f"{operation}: {str(item)[:600]}"
        return answer

    def save(self, name, fields, database="private", **more):
        record = {"recordName": name, "recordType": self.type, "fields": fields} | more
        zone = self.zone if database == "private" else {}
        return self.ask(f"{database}/records/modify", **zone, operations=[
            {"operationType": "forceUpdate", "record": record}])["records"][0]

    def lookup(self, name):
        return self.ask("private/records/lookup", **self.zone, records=[{"recordName": name}])["records"][0]

    def queried(self, field, value, comparator="EQUALS"):
        answer = self.ask("private/records/query", **self.zone, query={"recordType": self.type, "filterBy": [
            {"fieldName": field, "comparator": comparator, "fieldValue": {"value": value}}]})
        return [record["recordName"] for record in answer["records"]]

    def names_in_feed(self):
        names, token, more = set(), None, True
        while more:
            page = self.ask("private/changes/zone", zones=[self.zone | ({"syncToken": token} if token else {})])["zones"][0]
            for record in page["records"]:
                (names.discard if record.get("deleted") else names.add)(record["recordName"])
            token, more = page["syncToken"], page["moreComing"]
        return names

    # MARK: The kinds

    def zone_name(self):
        self.ask("private/zones/modify", operations=[{"operationType": "create", "zone": self.zone}])
        assert self.zone["zoneID"]["zoneName"] in [
            zone["zoneID"]["zoneName"] for zone in self.ask("private/zones/list")["zones"]]

    def names_of_record_type_and_field(self):
        name = self.text(NAME_MAX)
        self.save(name, {self.field: {"value": "short"}})
        assert self.lookup(name)["fields"][self.field]["value"] == "short"
        assert self.queried(self.field, "short") == [name]
        assert name in self.names_in_feed()

    def string(self):
        name = self.text(NAME_MAX)
        value = self.text((RECORD_BYTES_MAX - 4_096) // 4, LETTERS)
        self.save(name, {self.field: {"value": value}})
        assert self.lookup(name)["fields"][self.field]["value"] == value
        assert self.queried(self.field, value) == [name]
        assert self.queried(self.field, value[:-1]) == []

    def bytes(self):
        name, field = self.text(NAME_MAX), self.identifier()
        # A record is as long as its JSON.
        value = base64.b64encode(self.chosen.randbytes(RECORD_BYTES_MAX * 3 // 4 - 1_024)).decode()
        self.save(name, {field: {"value": value, "type": "BYTES"}})
        assert self.lookup(name)["fields"][field]["value"] == value

    def lists(self):
        name, (numbers, texts) = self.text(NAME_MAX), (self.identifier(), self.identifier())
        count = LIST_MAX // 2
        values = {
            numbers: [self.chosen.randrange(1 << 63) for _ in range(count)],
            texts: [self.text(20, LETTERS) for _ in range(count - 1)] + [self.text(40_000, LETTERS)]}
        self.save(name, {numbers: {"value": values[numbers], "type": "INT64_LIST"},
                         texts: {"value": values[texts], "type": "STRING_LIST"}})
        found = self.lookup(name)["fields"]
        for field, wanted in values.items():
            assert found[field]["value"] == wanted
            assert self.queried(field, wanted[-1], "LIST_CONTAINS") == [name]

    def links(self):
        target, sources = self.text(NAME_MAX), [self.text(NAME_MAX) for _ in range(20)]
        field = self.identifier()
        self.save(target, {})
        for source in sources:
            self.save(source, {field: {"value": {"recordName": target, "action": "DELETE_SELF"}}})
        child, parent = self.text(NAME_MAX), self.text(NAME_MAX)
        self.save(parent, {})
        self.save(child, {}, parent={"recordName": parent})
        assert self.lookup(child)["parent"]["recordName"] == parent
        assert sorted(self.queried(field, {"recordName": target})) == sorted(sources)
        self.ask("private/records/modify", **self.zone, operations=[
            {"operationType": "forceDelete", "record": {"recordName": target}}])
        assert not self.names_in_feed() & {target, *sources}

    def subscriptions(self):
        made = [
            ("private", {"subscriptionType": "zone", **self.zone}),
            ("public", {"subscriptionType": "query", "firesOn": ["create"], "query": {
                "recordType": self.type, "filterBy": [{
                    "fieldName": self.field, "comparator": "EQUALS",
                    "fieldValue": {"value": self.text(SUBSCRIPTION_BYTES_MAX - 1_024)}}]}})]
        for database, words in made:
            name = self.text(63, "ü中𝄞")[:63] + "z" * 3
            assert len(name.encode()) <= NAME_MAX
            name += "z" * (NAME_MAX - len(name.encode()))
            self.ask(f"{database}/subscriptions/modify", operations=[
                {"operationType": "create", "subscription": {"subscriptionID": name} | words}])
            found = self.ask(f"{database}/subscriptions/lookup", subscriptions=[{"subscriptionID": name}])
            assert found["subscriptions"][0]["subscriptionID"] == name
            assert name in [one["subscriptionID"] for one in self.ask(f"{database}/subscriptions/list")["subscriptions"]]

    def noticed(self):
        """A subscription with the longest value tells of a record that has it."""
        value = self.text(SUBSCRIPTION_BYTES_MAX - 1_024)
        self.ask("public/subscriptions/modify", operations=[
            {"operationType": "create", "subscription": {
                "subscriptionID": "longest", "subscriptionType": "query", "firesOn": ["create"], "query": {
                    "recordType": self.type, "filterBy": [{
                        "fieldName": self.field, "comparator": "EQUALS", "fieldValue": {"value": value}}]}}}])
        courier = self.ask("private/tokens/create", apnsEnvironment="development")
        # No device is told of what it does itself.
        self.device = self.text(NAME_MAX)
        self.save("short", {self.field: {"value": value}}, "public")
        waits = HTTPConnection(*self.server.address, timeout=120)
        told = b""
        while not told:
            # Nothing is told of a wait that has come to its end.
            waits.request("GET", courier["webcourierURL"][courier["webcourierURL"].index("/courier/"):])
            answer = waits.getresponse()
            assert answer.status == 200, answer.status
            told = answer.read()
        assert json.loads(told)["ck"]["qry"]["rid"] == "short", told
        waits.close()

    def client_token(self):
        data = base64.b64encode(self.chosen.randbytes(CLIENT_TOKEN_MAX)).decode()
        name = self.text(NAME_MAX)
        self.ask("private/records/modify", **self.zone, clientChangeTokenData=data, operations=[
            {"operationType": "forceUpdate", "record": {"recordName": name, "recordType": self.type, "fields": {}}}])
        token, more = None, True
        while more:
            page = self.ask("private/changes/zone", zones=[
                self.zone | ({"syncToken": token} if token else {})])["zones"][0]
            token, more = page["syncToken"], page["moreComing"]
        assert page["clientChangeTokenData"] == data, page.keys()

    def roles(self):
        schema = f"{self.server.folder}/schema.ckdb"
        self.server.command("schema", "export", CONTAINER, "development", schema)
        role = self.identifier()
        with open(schema) as file:
            text = file.read()
        with open(schema, "w") as file:
            file.write(text.replace("DEFINE SCHEMA", f"DEFINE SCHEMA\n\n    CREATE ROLE {role};", 1))
        self.server.command("schema", "import", CONTAINER, schema)
        self.server.command("user", "role", "add", "ada@example.com", CONTAINER, "development", role)
        assert role in open(schema).read()

    KINDS = [
        zone_name, names_of_record_type_and_field, string, bytes, lists, links, subscriptions, noticed, client_token, roles]


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(1 << 32)
    print(f"longest.py: seed {seed}", flush=True)
    with Server() as server:
        server.start()
        longest = Longest(server, seed)
        for kind in Longest.KINDS:
            kind(longest)
            print(f"longest.py: {kind.__name__.replace('_', ' ')}", flush=True)
        server.stop()
        problems = server.command("check")["problems"]
        assert problems == [], problems


if __name__ == "__main__":
    main()
