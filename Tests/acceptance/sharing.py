"""The story of sharing with two users and a third who has no account yet, over HTTP.

Share a note by link, accept it, edit it from both sides, add a child, move one in and out, invite somebody
without an account, stop sharing, leave. After every step each device follows its feeds, and what it holds is
compared with what its user may see.
"""

import http.client
import json

from server import Server

CONTAINER = "iCloud.org.example.Notes"
ZONE = "Notes"


class User:
    """A signed-in user with one device: a copy of the shared notes that follows the feeds."""

    def __init__(self, server, token, email, given):
        self.server = server
        self.email = email
        server.command("user", "create", email, "--given-name", given, "--family-name", "Roe")
        made = server.command("web-token", "create", CONTAINER, "development", email)
        self.query = f"?ckAPIToken={token}&ckWebAuthToken={made['webAuthToken']}"
        self.name = made["userRecordName"]
        self.copy = {}
        self.database_token = None
        self.zone_token = None

    def post(self, endpoint, body, status=200):
        connection = http.client.HTTPConnection(*self.server.address, timeout=30)
        connection.request(
            "POST",
            f"/database/1/{CONTAINER}/development/{endpoint}{self.query}",
            body=json.dumps(body).encode(),
        )
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        assert answer.status == status, f"{endpoint}: {answer.status} {text}"
        return json.loads(text)

    def modify(self, operations, owner=None):
        """Saves or deletes records of the notes' zone; every one must succeed."""
        answer = self.post(*self.modification(operations, owner))
        for item in answer["records"]:
            assert "serverErrorCode" not in item, item
        return answer["records"]

    def refused(self, operation, code, owner=None):
        item = self.post(*self.modification([operation], owner))["records"][0]
        assert item.get("serverErrorCode") == code, item
        return item

    def modification(self, operations, owner):
        zone = {"zoneName": ZONE, **({"ownerRecordName": owner.name} if owner else {})}
        database = "shared" if owner else "private"
        return f"{database}/records/modify", {"zoneID": zone, "operations": operations}

    def look(self, name, owner=None):
        zone = {"zoneName": ZONE, **({"ownerRecordName": owner.name} if owner else {})}
        database = "shared" if owner else "private"
        body = {"zoneID": zone, "records": [{"recordName": name}]}
        return self.post(f"{database}/records/lookup", body)["records"][0]

    def follow(self, owner):
        """Brings the device's copy of the owner's zone up to now, as its shared database feeds tell."""
        while True:
            asked = {"syncToken": self.database_token} if self.database_token else {}
            page = self.post("shared/changes/database", asked)
            self.database_token = page["syncToken"]
            for zone in page["zones"]:
                assert zone["zoneID"]["ownerRecordName"] == owner.name, zone
                if zone.get("deleted"):
                    self.copy, self.zone_token = {}, None
                else:
                    self.follow_zone(zone["zoneID"])
            if not page["moreComing"]:
                return self.copy

    def follow_zone(self, zone):
        while True:
            asked = {"zoneID": zone, **({"syncToken": self.zone_token} if self.zone_token else {})}
            page = self.post("shared/changes/zone", {"zones": [asked]})["zones"][0]
            assert "serverErrorCode" not in page, page
            self.zone_token = page["syncToken"]
            for record in page["records"]:
                if record.get("deleted"):
                    self.copy.pop(record["recordName"], None)
                else:
                    self.copy[record["recordName"]] = record
            if not page["moreComing"]:
                return

    def expect(self, owner, *names):
        held = sorted(self.follow(owner))
        assert held == sorted(names), f"{self.email} holds {held}, not {sorted(names)}"


def note(kind, name, text, parent=None, tag=None):
    record = {"recordName": name, "recordType": "Note", "fields": {"text": {"value": text}}}
    if parent:
        record["parent"] = {"recordName": parent}
    if tag:
        record["recordChangeTag"] = tag
    return {"operationType": kind, "record": record}


def share(kind, tag=None, **more):
    record = {"recordName": "Share-list", "recordType": "cloudkit.share", "fields": {}, **more}
    if tag:
        record["recordChangeTag"] = tag
    return {"operationType": kind, "record": record}


def delete(name):
    return {"operationType": "delete", "record": {"recordName": name}}


def text(record):
    return record["fields"]["text"]["value"]


def story(server):
    server.start()
    server.command("container", "create", CONTAINER)
    token = server.command("api-token", "create", CONTAINER, "development")["apiToken"]
    ida = User(server, token, "ida@example.com", "Ida")
    mo = User(server, token, "mo@example.com", "Mo")
    zone = {"zone": {"zoneID": {"zoneName": ZONE}}}
    ida.post("private/zones/modify", {"operations": [{"operationType": "create", **zone}]})
    ida.modify([note("create", "diary", "nobody's business")])

    # Share a note by link: whoever has the link may join.
    made = ida.modify([
        note("create", "list", "Tea"),
        share("create", forRecord={"recordName": "list"}, publicPermission="READ_WRITE"),
    ])
    link = {"value": made[0]["shortGUID"], "shouldFetchRootRecord": True}
    found = mo.post("public/records/resolve", {"shortGUIDs": [link]})["results"][0]
    assert found["participantType"] == "PUBLIC_USER" and text(found["rootRecord"]) == "Tea", found
    assert found["ownerIdentity"]["nameComponents"]["givenName"] == "Ida", found
    mo.expect(ida)

    # Accept: the note is in Mo's shared database, and nothing else of the zone is.
    mo.post("public/records/accept", {"shortGUIDs": [link]})
    mo.expect(ida, "list", "Share-list")
    assert mo.look("diary", ida)["serverErrorCode"] == "NOT_FOUND"

    # Edit from both sides: one copy, and a stale tag is a conflict.
    seen = mo.copy["list"]
    mo.modify([note("update", "list", "Tea, milk", tag=seen["recordChangeTag"])], ida)
    stale = note("update", "list", "Coffee", tag=seen["recordChangeTag"])
    conflict = ida.refused(stale, "CONFLICT")
    current = conflict["serverRecord"]
    assert text(current) == "Tea, milk" and current["modified"]["userRecordName"] == mo.name
    ida.modify([note("update", "list", "Tea, oat milk", tag=current["recordChangeTag"])])
    mo.expect(ida, "list", "Share-list")
    assert text(mo.copy["list"]) == "Tea, oat milk"

    # Add a child, from either side; a participant makes no roots.
    ida.modify([note("create", "item-1", "green", parent="list")])
    mo.modify([note("create", "item-2", "black", parent="list")], ida)
    mo.refused(note("create", "root", "no"), "ACCESS_DENIED", ida)
    mo.expect(ida, "list", "Share-list", "item-1", "item-2")
    assert text(ida.look("item-2")) == "black"

    # Move one in, with what lies below it, and out.
    ida.modify([note("create", "item-3", "white"), note("create", "item-3a", "silver", parent="item-3")])
    mo.expect(ida, "list", "Share-list", "item-1", "item-2")
    ida.modify([note("forceUpdate", "item-3", "white", parent="list")])
    mo.expect(ida, "list", "Share-list", "item-1", "item-2", "item-3", "item-3a")
    ida.modify([note("forceUpdate", "item-1", "green", parent="diary")])
    mo.expect(ida, "list", "Share-list", "item-2", "item-3", "item-3a")

    # Invite somebody without an account: a placeholder, until the address is found to be hers.
    current = ida.look("Share-list")
    invited = {
        "permission": "READ_ONLY",
        "userIdentity": {"lookupInfo": {"emailAddress": "Eve.Late@example.com"}},
    }
    ida.modify([
        share(
            "update", current["recordChangeTag"], publicPermission="NONE",
            participants=current["participants"] + [invited],
        )
    ])
    mo.expect(ida)
    refused = mo.post("public/records/resolve", {"shortGUIDs": [link]}, status=404)
    unknown = mo.post("public/records/resolve", {"shortGUIDs": [{"value": "x"}]}, status=404)
    assert refused["reason"] == unknown["reason"]
    eve = User(server, token, "eve@example.com", "Eve")
    eve.post("public/records/accept", {"shortGUIDs": [link]}, status=404)
    server.command("user", "verify", "eve@example.com", "eve.late@example.com")
    eve.post("public/records/accept", {"shortGUIDs": [link]})
    eve.expect(ida, "list", "Share-list", "item-2", "item-3", "item-3a")
    eve.refused(note("create", "item-4", "no", parent="list"), "ACCESS_DENIED", ida)
    people = ida.look("Share-list")["participants"]
    assert [one["userIdentity"].get("userRecordName") for one in people] == [ida.name, eve.name]
    shown = json.dumps(eve.copy)
    assert "ida@example.com" not in shown and "diary" not in shown

    # Leave: Eve loses the zone, the others and the records do not notice.
    eve.modify([delete("Share-list")], ida)
    eve.modify([delete("Share-list")], ida)
    eve.expect(ida)
    eve.post("public/records/accept", {"shortGUIDs": [link]})
    eve.expect(ida, "list", "Share-list", "item-2", "item-3", "item-3a")

    # Stop sharing: everybody but the owner loses all of it, and the link leads nowhere.
    ida.modify([delete("Share-list")])
    eve.expect(ida)
    root = ida.look("list")
    assert "share" not in root and root["shortGUID"] == link["value"], root
    assert text(ida.look("item-2")) == "black"
    eve.post("public/records/resolve", {"shortGUIDs": [link]}, status=404)
    server.stop()


if __name__ == "__main__":
    with Server() as running:
        story(running)
    print("sharing.py: shared, accepted, edited, moved, invited, left and ended")
